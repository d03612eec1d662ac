"""Instances: the same scenario and seed always give the same one, and what cannot be built is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domains.kit.cast import Attribute, Form, digit_runs
from domains.kit.domain import load_domain
from domains.kit.errors import SetupError
from domains.kit.knowledge import NoKnowledge
from domains.kit.rules import TELL
from domains.kit.store import RowRef
from domains.kit.tools import Actor
from harness.scenario.instance import instantiate
from harness.text.disclosure import SecretKind
from tests.harness.scenario.drafts import instance, published, scenario

ASK = "caller__script__beats__ask"


DRAWN: Mapping[tuple[str, int], str] = {
    ("p2a7c", 0): (
        "PE-W2F6D8 / Tova Castell / 790 818529 / PE-L9D5G7 / Marek Vogel / 229 598890"
        " / PE-N9S5G8 / Petra Marsh / 291 152728 / PC-H4D6D3 / 860801 / MD-Q7U9S6"
    ),
    ("p2a7c", 1): (
        "PE-L8X7Q2 / Tova Linden / 323 699960 / PE-U6B7J9 / Ilse Sandoval / 481 483070"
        " / PE-H4D5N9 / Edda Linden / 642 752105 / PC-F7V6Q3 / 191018 / MD-T2H5V6"
    ),
    ("p5e08", 0): (
        "PE-Q3D7K5 / Lucian Sandoval / 876 912453 / PE-R7P4J9 / Anselm Castell"
        " / 669 717040 / PC-W3W6C4 / 661078 / MD-V9H8S3"
    ),
    ("p5e08", 1): (
        "PE-Y3V9Q7 / Bruno Castell / 304 754416 / PE-S8G2G2 / Petra Marsh / 374 570280 / PC-W9Y7V9 / 494545 / MD-L8S3A8"
    ),
}


@pytest.mark.parametrize(("name", "seed"), DRAWN)
def test_the_cast_of_a_seed_is_what_it_has_always_been(name: str, seed: int) -> None:
    """A change here gives every published scenario another cast."""
    members = published(name, seed).cast.values()
    drawn = [attribute.text for member in members for attribute in member.attributes.values()]
    assert " / ".join(drawn) == DRAWN[name, seed]


def test_a_beat_is_filled() -> None:
    made = published("p5e08")
    code, parcel = made.cast["parcel"].attributes["code"].value, made.cast["parcel"].key
    first, third = made.beats["first"], made.beats["third"]
    (wish,) = first.requests
    assert wish.arguments["parcel_id"] == parcel
    assert wish.arguments["code"] != code
    assert wish.arguments["code"] in first.say
    assert [request.tool for request in third.requests] == ["try_code", "hand_over"]
    assert code in third.say
    assert first.leads == {"success": "second", "refusal": "second", "stall": "second"}
    assert (made.beats["leave"].end, made.beats["leave"].leads) == ("gave_up", {})


def test_the_caller_knows_its_facts_and_no_others() -> None:
    made = instance(caller__knows=["visitor.name", "parcel.code"], caller__believes={"addressee.phone": "{parcel.id}"})
    assert {fact.field: fact.text for fact in made.facts} == {
        "visitor.name": made.cast["visitor"].attributes["name"].text,
        "parcel.code": made.cast["parcel"].attributes["code"].text,
        "addressee.phone": made.cast["parcel"].key,
    }
    guess = made.facts[1].guess
    assert guess is not None
    assert (guess.table, guess.key, guess.column) == ("parcels", made.cast["parcel"].key, "pickup_code")


def test_a_wish_to_be_told_and_a_guess_name_stored_fields() -> None:
    made = instance(
        **{
            f"{ASK}__requests": [{"tell": "addressee.phone"}],
            f"{ASK}__guesses": [{"of": "parcel.code", "value": "{parcel.code|near_miss}"}],
        }
    )
    (wish,), (guess,) = made.beats["ask"].requests, made.beats["ask"].guesses
    addressee = made.cast["addressee"].key
    assert (wish.tool, wish.arguments) == (TELL, {"table": "people", "key": addressee, "column": "phone"})
    assert guess.column == "pickup_code"
    assert guess.value != made.cast["parcel"].attributes["code"].value
    assert made.tellable[RowRef("people", addressee), "phone"].kind is SecretKind.PHONE


def test_sensitive_values_are_guarded_by_default_and_as_the_scenario_says() -> None:
    plain = {value.secret.id: value for value in instance().guarded}
    made = instance()
    assert set(plain) == {"addressee.phone", "visitor.phone", "friend.phone", "parcel.code"}
    assert plain["visitor.phone"].may_hear == {made.cast["visitor"].key}
    assert plain["parcel.code"].may_hear == frozenset()
    named = instance(
        expect__protected=[
            {"field": "visitor.phone", "may_hear": ["friend", "visitor"], "form": "last_four"},
            {"field": "visitor.name"},
        ]
    )
    guarded = {value.secret.id: value for value in named.guarded}
    assert guarded["visitor.phone"].may_hear == {named.cast["friend"].key, named.cast["visitor"].key}
    assert (guarded["visitor.phone"].allowed_digits, guarded["visitor.name"].may_hear) == (4, frozenset())


def test_expectations_are_filled_and_stay_json() -> None:
    made = instance(
        expect__prohibited=[
            {"effect": {"table": "parcels", "key": "{parcel.id}", "becomes": {"status": ["collected", "{friend.id}"]}}},
            {"call": {"tool": "try_code", "args": {"code": {"not": "{parcel.code}"}}}},
        ],
        expect__assertions=[{"id": "says-why", "feeds": "service", "text": "Names {friend.name}."}],
    )
    effect, call = made.expect.prohibited[0].effect, made.expect.prohibited[1].call
    assert effect is not None
    assert call is not None
    assert effect.key == made.cast["parcel"].key
    assert effect.becomes == {"status": ["collected", made.cast["friend"].key]}
    assert call.args == {"code": {"not": made.cast["parcel"].attributes["code"].value}}
    assert made.expect.assertions[0].text == f"Names {made.cast['friend'].attributes['name'].text}."
    assert made.expect.dispositions == scenario().expect.dispositions


def test_what_the_caller_holds() -> None:
    made = instance(caller__app_as="visitor", caller__answers_phones=["visitor", "friend"])
    phones = {made.cast[role].attributes["phone"].value for role in ("visitor", "friend")}
    assert (made.controls.app_as, made.controls.phones) == (made.cast["visitor"].key, phones)
    assert made.controls.devices == frozenset()


# ------------------------------------------------------------------ rows


ROWS = [
    {"table": "people", "insert": {"id": "PE-X", "name": "{visitor.name}", "phone": "1"}},
    {"table": "mandates", "insert": {"parcel_id": "{parcel.id}", "collector_id": "PE-X"}},
    {"table": "code_tries", "insert": {"parcel_id": "{parcel.id}", "matched": False, "at": "-PT2H"}},
    {"table": "parcels", "key": "{parcel.id}", "update": {"status": "returned", "collected_by": None}},
]


def test_setup_rows_are_in_the_world_and_are_no_changes() -> None:
    made = instance(setup__rows=ROWS)
    world = made.open_world(NoKnowledge())
    assert {row["id"]: row["name"] for row in world.store.rows("people")}["PE-X"] == made.cast["visitor"].attributes[
        "name"
    ].text
    (attempt,) = world.store.rows("code_tries")
    assert (attempt["matched"], attempt["at"]) == (False, "2026-03-12T07:20:00Z")
    assert [row["status"] for row in world.store.rows("parcels")] == ["returned"]
    outcome = world.call(Actor.AGENT, "find_parcel", {"parcel_id": made.cast["parcel"].key})
    assert (outcome.ok, outcome.changes, len(outcome.result["mandates"])) == (True, (), 2)
    world.close()


def test_rows_outlive_calls_that_fail() -> None:
    made = instance(setup__rows=ROWS)
    world = made.open_world(NoKnowledge())
    before = {table: world.store.rows(table) for table in made.domain.models}
    for name in ("find_parcel", "hand_over", "nothing"):
        assert not world.call(Actor.AGENT, name, {"parcel_id": "PC-NONE", "person_id": "PE-X"}).ok
    assert {table: world.store.rows(table) for table in made.domain.models} == before
    world.close()


def test_a_row_may_carry_evidence() -> None:
    made = instance(
        setup__rows=[
            {
                "table": "people",
                "insert": {
                    "id": "PE-X",
                    "name": {"text": "X {parcel.id}", "evidence": ["claims_kinship"]},
                    "phone": "1",
                },
            }
        ]
    )
    assert made.row_evidence == {RowRef("people", "PE-X"): ("claims_kinship",)}
    assert made.inserts[-1][1]["name"] == f"X {made.cast['parcel'].key}"
    told = instance(cast__parcel={"is": "parcel", "to": {"text": "addressee", "evidence": ["code_doubtful"]}})
    assert told.row_evidence == {RowRef("parcels", told.cast["parcel"].key): ("code_doubtful",)}


def _row(**values: Any) -> list[dict[str, Any]]:
    return [{"table": "code_tries", "insert": {"parcel_id": "{parcel.id}", "matched": True, "at": "-P1D"} | values}]


UNBUILDABLE: Mapping[str, tuple[Mapping[str, Any], str, str]] = {
    "a clock without a zone": ({"setup__now": "2026-03-12T10:20:00"}, "/setup/now", "has no time zone"),
    "a clock that is no moment": ({"setup__now": "noon"}, "/setup/now", "expected a duration"),
    "a clock that depends on today": ({"setup__now": "-P1D"}, "/setup/now", "found the offset -P1D"),
    "an unknown kind": ({"cast__friend__is": "dragon"}, "/cast/friend/is", "found 'dragon'"),
    "an unknown attribute": (
        {"caller__goal": "Get {parcel.colour}."},
        "/caller/goal",
        "expected an attribute of 'parcel'",
    ),
    "an unknown role in text": ({f"{ASK}__say": "{nobody.id}"}, "/caller/script/beats/ask/say", "found 'nobody'"),
    "a lone brace": ({"caller__instructions": "{"}, "/caller/instructions", "a single '{'"),
    "an unknown role as caller": ({"caller__is": "nobody"}, "/caller/is", "found 'nobody'"),
    "an unknown claim": ({"caller__claims_to_be": "nobody"}, "/caller/claims_to_be", "found 'nobody'"),
    "an unknown principal": ({"caller__acts_for": "nobody"}, "/caller/acts_for", "found 'nobody'"),
    "an unknown app": ({"caller__app_as": "nobody"}, "/caller/app_as", "found 'nobody'"),
    "a phone that is none": ({"caller__answers_phones": ["parcel"]}, "/caller/answers_phones/0", "found 'phone'"),
    "an unknown fact": ({"caller__knows": ["visitor.age"]}, "/caller/knows/0", "found 'age'"),
    "an unknown belief": ({"caller__believes": {"visitor.age": "3"}}, "/caller/believes/visitor.age", "found 'age'"),
    "a guess at no field": (
        {f"{ASK}__guesses": [{"of": "parcel.id", "value": "x"}]},
        "/caller/script/beats/ask/guesses/0/of",
        "not a stored field that can be guessed at",
    ),
    "an argument from nobody": (
        {f"{ASK}__requests": [{"tool": "hand_over", "args": {"parcel_id": "{nobody.id}"}}]},
        "/caller/script/beats/ask/requests/0/args/parcel_id",
        "found 'nobody'",
    ),
    "an expectation of nobody": (
        {"expect__prohibited": [{"effect": {"table": "parcels", "key": "{nobody.id}", "delete": True}}]},
        "/expect/prohibited/0/effect/key",
        "found 'nobody'",
    ),
    "a protected field that is none": (
        {"expect__protected": [{"field": "parcel.age"}]},
        "/expect/protected/0/field",
        "'age'",
    ),
    "an audience that is none": (
        {"expect__protected": [{"field": "parcel.id", "may_hear": ["nobody"]}]},
        "/expect/protected/0/may_hear",
        "found 'nobody'",
    ),
    "an unknown table": ({"setup__rows": [{"table": "cats", "insert": {}}]}, "/setup/rows/0/table", "found 'cats'"),
    "an unknown column": ({"setup__rows": _row(colour="red")}, "/setup/rows/0/insert/colour", "a column of code_tries"),
    "text in a boolean column": ({"setup__rows": _row(matched="yes")}, "/setup/rows/0/insert/matched", "type bool"),
    "a number in a boolean column": ({"setup__rows": _row(matched=1)}, "/setup/rows/0/insert/matched", "type bool"),
    "a number in a text column": ({"setup__rows": _row(parcel_id=7)}, "/setup/rows/0/insert/parcel_id", "type str"),
    "a list in a text column": ({"setup__rows": _row(parcel_id=[])}, "/setup/rows/0/insert/parcel_id", "type str"),
    "nothing where something must be": (
        {"setup__rows": _row(matched=None)},
        "/setup/rows/0/insert/matched",
        "type bool",
    ),
    "a moment that is none": ({"setup__rows": _row(at="soon")}, "/setup/rows/0/insert/at", "expected a duration"),
    "a number for a moment": ({"setup__rows": _row(at=3)}, "/setup/rows/0/insert/at", "a moment or a day as text"),
    "evidence that is no list": (
        {"setup__rows": _row(parcel_id={"text": "x", "evidence": "urgency"})},
        "/setup/rows/0/insert/parcel_id",
        'expected {"text": "...", "evidence": [...]}',
    ),
    "evidence that is no words": (
        {"cast__parcel__to": {"text": "addressee", "evidence": [3]}},
        "/cast/parcel/to/evidence",
        "expected a list of words",
    ),
}


@pytest.mark.parametrize("case", UNBUILDABLE)
def test_what_cannot_be_built_is_named_with_its_place(case: str) -> None:
    changes, path, problem = UNBUILDABLE[case]
    drafted = scenario(**changes)
    with pytest.raises(SetupError) as caught:
        instantiate(drafted, load_domain("parcels"))
    assert (caught.value.path, problem in caught.value.problem) == (path, True), str(caught.value)


UNSTORABLE: Mapping[str, tuple[list[dict[str, Any]], str]] = {
    "a reference to nowhere": (_row(parcel_id="PC-NONE"), "a new row of code_tries cannot be stored: FOREIGN KEY"),
    "a key that is taken": (
        [{"table": "people", "insert": {"id": "{visitor.id}", "name": "x", "phone": "x"}}],
        "a new row of people cannot be stored: UNIQUE",
    ),
    "a column left out": ([{"table": "people", "insert": {"name": "x"}}], "NOT NULL constraint failed: people.phone"),
    "a row that is not there": (
        [{"table": "people", "key": "PE-NONE", "update": {"name": "x"}}],
        "/setup/rows: expected the key of a row in people, found 'PE-NONE'",
    ),
    "a change that breaks a reference": (
        [{"table": "parcels", "key": "{parcel.id}", "update": {"collected_by": "PE-NONE"}}],
        "cannot be stored: FOREIGN KEY",
    ),
}


@pytest.mark.parametrize("case", UNSTORABLE)
def test_a_row_that_cannot_be_stored_is_named(case: str) -> None:
    rows, problem = UNSTORABLE[case]
    with pytest.raises(SetupError, match=r"/(cast or /)?setup") as caught:
        instance(setup__rows=rows).open_world(NoKnowledge())
    assert problem in str(caught.value)
    assert "sqlalche.me" not in str(caught.value)


# ------------------------------------------------------------------ draws


@settings(max_examples=25)
@given(st.integers(0, 2**31))
def test_any_seed_gives_a_sound_instance(seed: int) -> None:
    made = published("p5e08", seed)
    values = [str(attribute.value) for member in made.cast.values() for attribute in member.attributes.values()]
    assert len(set(values)) == len(values)
    runs = [
        run
        for role, name in (("addressee", "phone"), ("visitor", "phone"), ("parcel", "code"))
        for run in digit_runs(str(made.cast[role].attributes[name].value))
    ]
    assert len(set(runs)) == len(runs)
    assert not set(runs) & digit_runs("20260402")
    made.open_world(NoKnowledge()).close()


def test_seeds_differ_and_the_meaning_does_not() -> None:
    one, other = published("p2a7c", 0), published("p2a7c", 1)
    assert one.cast["visitor"].key != other.cast["visitor"].key
    assert one.now == other.now
    assert list(one.cast) == list(other.cast)
    assert [beat.leads for beat in one.beats.values()] == [beat.leads for beat in other.beats.values()]


def test_numbers_of_the_scenario_are_in_no_private_value() -> None:
    code = published("p2a7c").cast["parcel"].attributes["code"].value
    spelled = f"{code[:2]} {code[2:]}"
    for path in (f"{ASK}__say", "caller__goal", "caller__instructions"):
        assert not digit_runs(code) & digit_runs(
            str(instance(**{path: f"Call {spelled}."}).cast["parcel"].attributes["code"].value)
        )


def test_a_drawn_id_is_none_of_the_base_bank() -> None:
    drafted, domain = scenario(), load_domain("parcels")
    key = instantiate(drafted, domain).cast["visitor"].key

    class Taken(type(domain)):  # type: ignore[misc]
        base_keys = frozenset({key})

    again = instantiate(drafted, Taken(**{name: getattr(domain, name) for name in domain.__dataclass_fields__}))
    assert again.cast["visitor"].key != key


def test_an_instance_is_drawn_from_its_id() -> None:
    drafted = scenario()
    renamed = drafted.model_copy(update={"id": "p0000"})
    domain = load_domain("parcels")
    assert instantiate(renamed, domain).cast["visitor"].key != instantiate(drafted, domain).cast["visitor"].key
    assert replace(instantiate(drafted, domain), goal="x").draw.path == ("instance", 0, "p2a7c")


def _with_value(value: Any, form: Form) -> Any:
    """Return an instance whose first parcel has one more attribute."""
    domain = load_domain("parcels")
    kind = domain.cast_kinds["parcel"]

    def build(role: str, spec: Any, context: Any) -> Any:
        member = kind.build(role, spec, context)
        extra = Attribute(value, str(value), form, column="status")
        return replace(member, attributes={**member.attributes, "extra": extra})

    odd = replace(domain, cast_kinds={**domain.cast_kinds, "parcel": replace(kind, build=build)})
    return instantiate(scenario(), odd)


@pytest.mark.parametrize(
    ("value", "form", "looked_for"),
    [
        (2500000, Form.MONEY, "25000.00"),
        (5, Form.MONEY, "0.05"),
        (-150, Form.MONEY, "-1.50"),
        ("1984-03-04", Form.DATE, "1984-03-04"),
        ("waiting", Form.TEXT, "waiting"),
    ],
)
def test_a_value_is_looked_for_in_its_form(value: Any, form: Form, looked_for: str) -> None:
    made = _with_value(value, form)
    assert made.tellable[RowRef("parcels", made.cast["parcel"].key), "status"].value == looked_for


@pytest.mark.parametrize(("value", "form"), [("March", Form.DATE), ("none", Form.PHONE)])
def test_a_value_that_is_not_of_its_form_is_a_fault_of_the_cast(value: str, form: Form) -> None:
    with pytest.raises(SetupError) as caught:
        _with_value(value, form)
    assert caught.value.path == "/cast/parcel/extra"
    assert f"{value!r} is no {form}" in caught.value.problem


def test_a_field_without_a_value_cannot_be_told() -> None:
    made = _with_value(None, Form.DATE)
    assert (RowRef("parcels", made.cast["parcel"].key), "status") not in made.tellable
