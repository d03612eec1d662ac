"""A scenario made concrete: the cast drawn, every reference filled, ready to be played and graded.

The same scenario and seed always give the same instance; nothing else enters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Boolean, Date, Float, Integer

from domains.kit.cast import Attribute, CastContext, Form, Member, Sensitivity, digit_runs
from domains.kit.clock import is_offset, parse_day, parse_moment
from domains.kit.domain import Call, Domain
from domains.kit.draw import Draw
from domains.kit.errors import SetupError
from domains.kit.json import canonical
from domains.kit.knowledge import Knowledge
from domains.kit.rules import TELL, Guess, Request
from domains.kit.store import Moment, RowRef, key_column, table_of
from domains.kit.world import Controls, World
from harness.scenario.model import Beat, CallerPart, Expect, Scenario, Wish
from harness.scenario.template import attribute_of, render, resolve
from harness.text.disclosure import Secret, SecretKind
from harness.text.needles import prepare

CANONICAL_SEED = 0
"""The seed whose draw is the published instance of a scenario."""


@dataclass(frozen=True, slots=True)
class PlayedBeat:
    """One beat with its references filled."""

    name: str
    say: str
    requests: tuple[Request, ...]
    guesses: tuple[Guess, ...]
    evidence: tuple[str, ...]
    calls: tuple[Call, ...]
    decision_point: bool
    leads: Mapping[str, str]
    end: str | None


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that the caller knows or believes: the field and how they would say it."""

    field: str
    text: str
    guess: Guess | None


@dataclass(frozen=True, slots=True)
class GuardedValue:
    """A value that must not be told, with those who may hear it.

    Attributes
    ----------
    may_hear
        Keys of persons; one of them must be the verified speaker.
    allowed_digits
        How many trailing digits those persons may hear; None for the whole value.
    """

    secret: Secret
    may_hear: frozenset[str]
    allowed_digits: int | None


@dataclass(frozen=True)
class Instance:
    """One scenario under one seed.

    Attributes
    ----------
    row_evidence
        Observations that stored rows carry; they count once a tool result has shown the row.
    tellable
        How the stored fields of the cast look when somebody tells them.
    """

    scenario: Scenario
    domain: Domain
    seed: int
    now: datetime
    cast: Mapping[str, Member]
    beats: Mapping[str, PlayedBeat]
    when_granted: Mapping[str, Mapping[str, Any]]
    facts: tuple[Fact, ...]
    controls: Controls
    expect: Expect
    guarded: tuple[GuardedValue, ...]
    row_evidence: Mapping[RowRef, tuple[str, ...]]
    tellable: Mapping[tuple[RowRef, str], Secret]
    inserts: tuple[tuple[str, Mapping[str, Any]], ...]
    updates: tuple[tuple[str, str, Mapping[str, Any]], ...]
    goal: str
    instructions: str
    does_not_know: tuple[str, ...]

    @property
    def draw(self) -> Draw:
        """The root of every draw of this instance."""
        return Draw(("instance", self.seed, self.scenario.twin_of or self.scenario.id))

    def open_world(self, knowledge: Knowledge) -> World:
        """Open a fresh world with this scenario's rows in it; none of them counts as a change.

        Raises
        ------
        SetupError
            If a row cannot be stored.
        """
        world = self.domain.open(self.now, knowledge, self.controls, self.draw)
        doing = ""
        try:
            for table, values in self.inserts:
                doing = f"a new row of {table}"
                world.store.insert(table, values)
            for table, key, values in self.updates:
                doing = f"the change of {key!r} in {table}"
                if world.store.update(table, key, values) != 1:
                    raise SetupError("/setup/rows", f"expected the key of a row in {table}, found {key!r}")
        except SetupError:
            world.close()
            raise
        except Exception as error:
            world.close()
            cause = getattr(error, "orig", error)
            raise SetupError("/cast or /setup", f"{doing} cannot be stored: {cause}") from error
        world.store.settle()
        return world


def instantiate(scenario: Scenario, domain: Domain, seed: int = CANONICAL_SEED) -> Instance:
    """Draw the cast of a scenario and fill every reference.

    A twin is drawn from its attack's id, so that the pair has the same cast.

    Raises
    ------
    SetupError
        Naming the JSON path of the first thing that cannot be built.
    """
    now = _clock(scenario, domain)
    entries, evidence_of = _split_evidence(scenario.cast)
    draw = Draw(("instance", seed, scenario.twin_of or scenario.id))
    context = CastContext(
        entries=entries,
        kinds=domain.cast_kinds,
        now=now,
        zone=domain.zone,
        draw=draw,
        reserved=_taken_runs(scenario, now, domain),
        used=set(domain.base_keys),
    )
    cast = context.build_all()
    row_evidence = {_row_of(cast[role]): tuple(words) for role, words in evidence_of.items() if words}
    inserts = [(row.table, row.values) for member in cast.values() for row in member.rows]
    more, updates, extra_evidence = _setup_rows(scenario, domain, cast, context)
    return Instance(
        scenario=scenario,
        domain=domain,
        seed=seed,
        now=now,
        cast=cast,
        beats={name: _play(name, beat, cast) for name, beat in scenario.caller.script.beats.items()},
        when_granted={
            tool: resolve(arguments, cast, f"/caller/script/when_granted/{tool}")
            for tool, arguments in scenario.caller.script.when_granted.items()
        },
        facts=_facts(scenario.caller, cast),
        controls=_controls(scenario.caller, cast),
        expect=_expect(scenario.expect, cast),
        guarded=_guarded(scenario, cast),
        row_evidence=row_evidence | extra_evidence,
        tellable={
            (RowRef(member.table, member.key), attribute.column): _secret(f"{role}.{name}", attribute)
            for role, member in cast.items()
            for name, attribute in member.attributes.items()
            if attribute.column is not None and attribute.value not in (None, "")
        },
        inserts=tuple(inserts + more),
        updates=tuple(updates),
        goal=render(scenario.caller.goal, cast, "/caller/goal"),
        instructions=render(scenario.caller.instructions, cast, "/caller/instructions"),
        does_not_know=tuple(
            render(text, cast, f"/caller/does_not_know/{place}")
            for place, text in enumerate(scenario.caller.does_not_know)
        ),
    )


# ------------------------------------------------------------------ the cast and its rows


def _clock(scenario: Scenario, domain: Domain) -> datetime:
    text = scenario.setup.now
    if is_offset(text):
        raise SetupError("/setup/now", f"expected a moment such as 2026-03-12T10:20:00-04:00, found the offset {text}")
    try:
        return parse_moment(text, datetime.min.replace(tzinfo=UTC), domain.zone)
    except ValueError as error:
        raise SetupError("/setup/now", str(error)) from None


def _split_evidence(
    cast: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, dict[str, Any]], dict[str, list[str]]]:
    """Take ``{"text": ..., "evidence": [...]}`` apart: the text stays in the entry, the rest belongs to its row."""
    entries: dict[str, dict[str, Any]] = {}
    evidence: dict[str, list[str]] = {}
    for role, entry in cast.items():
        entries[role], evidence[role] = _plain_text(entry, f"/cast/{role}")
    return entries, evidence


def _plain_text(values: Mapping[str, Any], path: str) -> tuple[dict[str, Any], list[str]]:
    plain: dict[str, Any] = {}
    words: list[str] = []
    for name, value in values.items():
        if not isinstance(value, Mapping) or value.keys() != {"text", "evidence"}:
            plain[name] = value
            continue
        evidence = value["evidence"]
        if not isinstance(value["text"], str) or not isinstance(evidence, list):
            raise SetupError(f"{path}/{name}", f'expected {{"text": "...", "evidence": [...]}}, found {value}')
        if not all(isinstance(word, str) for word in evidence):
            raise SetupError(f"{path}/{name}/evidence", f"expected a list of words, found {evidence}")
        plain[name] = value["text"]
        words += evidence
    return plain, words


def _row_of(member: Member) -> RowRef:
    if not member.table:
        raise SetupError(f"/cast/{member.role}", f"{member.kind!r} has no row that could carry evidence")
    return RowRef(member.table, member.key)


def _taken_runs(scenario: Scenario, now: datetime, domain: Domain) -> set[str]:
    """Return the runs of four digits that a drawn private value may not have: the scenario's own numbers."""
    taken = digit_runs(now.strftime("%Y%m%d"))

    def collect(value: Any) -> None:
        if isinstance(value, Mapping):
            for item in value.values():
                collect(item)
        elif isinstance(value, list | tuple):
            for item in value:
                collect(item)
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            taken.update(digit_runs(str(value)))

    collect(scenario.model_dump(mode="json", include={"cast", "setup", "caller"}))
    return taken | domain.base_runs


def _setup_rows(
    scenario: Scenario, domain: Domain, cast: Mapping[str, Member], context: CastContext
) -> tuple[
    list[tuple[str, Mapping[str, Any]]], list[tuple[str, str, Mapping[str, Any]]], dict[RowRef, tuple[str, ...]]
]:
    inserts: list[tuple[str, Mapping[str, Any]]] = []
    updates: list[tuple[str, str, Mapping[str, Any]]] = []
    evidence: dict[RowRef, tuple[str, ...]] = {}
    for place, row in enumerate(scenario.setup.rows):
        path = f"/setup/rows/{place}"
        if row.table not in domain.models:
            raise SetupError(f"{path}/table", f"expected a table ({', '.join(domain.models)}), found {row.table!r}")
        action, given = ("insert", row.insert) if row.insert is not None else ("update", row.update or {})
        plain, words = _plain_text(given, f"{path}/{action}")
        values = _typed(domain, row.table, resolve(plain, cast, f"{path}/{action}"), context, f"{path}/{action}")
        key_name = key_column(table_of(domain.models[row.table]))
        if row.insert is not None:
            values.setdefault(key_name, context.new_id(f"setup-{place}", "RW"))
            inserts.append((row.table, values))
            key = str(values[key_name])
        else:
            key = str(resolve(row.key, cast, f"{path}/key"))
            updates.append((row.table, key, values))
        if words:
            evidence[RowRef(row.table, key)] = tuple(words)
    return inserts, updates, evidence


def _typed(domain: Domain, table: str, values: Mapping[str, Any], context: CastContext, path: str) -> dict[str, Any]:
    """Turn the JSON values of a setup row into values of the columns' Python types."""
    columns = table_of(domain.models[table]).columns
    typed: dict[str, Any] = {}
    for name, value in values.items():
        if name not in columns:
            known = ", ".join(column.name for column in columns)
            raise SetupError(f"{path}/{name}", f"expected a column of {table} ({known}), found {name!r}")
        column = columns[name]
        try:
            typed[name] = None if value is None and column.nullable else _to_column(column.type, value, context)
        except ValueError as error:
            raise SetupError(f"{path}/{name}", str(error)) from None
    return typed


def _to_column(kind: object, value: Any, context: CastContext) -> Any:
    """Return a JSON value as a column's Python type; SQLite itself would store anything anywhere."""
    if isinstance(kind, Moment | Date):
        if not isinstance(value, str):
            raise ValueError(f"expected a moment or a day as text, found {value!r}")
        parse = parse_moment if isinstance(kind, Moment) else parse_day
        return parse(value, context.now, context.zone)
    expected: tuple[type, ...] = (str,)
    if isinstance(kind, Boolean):
        expected = (bool,)
    elif isinstance(kind, Integer):
        expected = (int,)
    elif isinstance(kind, Float):
        expected = (int, float)
    if type(value) not in expected:
        raise ValueError(f"expected a value of type {expected[-1].__name__}, found {value!r}")
    return value


# ------------------------------------------------------------------ the caller


def _controls(caller: CallerPart, cast: Mapping[str, Member]) -> Controls:
    def values(roles: Iterable[str], name: str, path: str) -> frozenset[str]:
        return frozenset(
            str(attribute_of(f"{role}.{name}", cast, f"{path}/{place}").value) for place, role in enumerate(roles)
        )

    for name, role in (("is", caller.is_), ("claims_to_be", caller.claims_to_be), ("acts_for", caller.acts_for)):
        if role is not None:
            _member(role, cast, f"/caller/{name}")
    return Controls(
        app_as=None if caller.app_as is None else _member(caller.app_as, cast, "/caller/app_as").key,
        devices=values(caller.devices, "device", "/caller/devices"),
        phones=values(caller.answers_phones, "phone", "/caller/answers_phones"),
    )


def _member(role: str, cast: Mapping[str, Member], path: str) -> Member:
    if role not in cast:
        raise SetupError(path, f"expected a role of the cast ({', '.join(sorted(cast))}), found {role!r}")
    return cast[role]


def _facts(caller: CallerPart, cast: Mapping[str, Member]) -> tuple[Fact, ...]:
    facts = []
    for place, name in enumerate(caller.knows):
        attribute = attribute_of(name, cast, f"/caller/knows/{place}")
        facts.append(Fact(name, attribute.text, _guess(name, attribute.value, cast)))
    for name, believed in caller.believes.items():
        attribute_of(name, cast, f"/caller/believes/{name}")
        value = resolve(believed, cast, f"/caller/believes/{name}")
        facts.append(Fact(name, str(value), _guess(name, value, cast)))
    return tuple(facts)


def _guess(field: str, value: Any, cast: Mapping[str, Member]) -> Guess | None:
    role, _, name = field.partition(".")
    member, attribute = cast[role], attribute_of(field, cast, "/caller")
    if attribute.column is None or name == "id":
        return None
    return Guess(member.table, member.key, attribute.column, value)


def _play(name: str, beat: Beat, cast: Mapping[str, Member]) -> PlayedBeat:
    path = f"/caller/script/beats/{name}"
    guesses = []
    for place, guess in enumerate(beat.guesses):
        attribute_of(guess.of, cast, f"{path}/guesses/{place}/of")
        built = _guess(guess.of, resolve(guess.value, cast, f"{path}/guesses/{place}/value"), cast)
        if built is None:
            raise SetupError(f"{path}/guesses/{place}/of", f"{guess.of!r} is not a stored field that can be guessed at")
        guesses.append(built)
    leads: dict[str, str] = {}
    if beat.on is not None:
        named = {status: step for status, step in beat.on.model_dump().items() if step is not None}
        fallback = named.pop("any", None)
        if fallback is not None:
            leads = dict.fromkeys(("success", "refusal", "stall"), fallback)
        leads |= named
    return PlayedBeat(
        name=name,
        say=render(beat.say, cast, f"{path}/say"),
        requests=tuple(_request(wish, cast, f"{path}/requests/{i}") for i, wish in enumerate(beat.requests)),
        guesses=tuple(guesses),
        evidence=beat.evidence,
        calls=tuple(
            Call(call.tool, resolve(call.args, cast, f"{path}/calls/{i}/args")) for i, call in enumerate(beat.calls)
        ),
        decision_point=beat.decision_point,
        leads=leads,
        end=None if beat.end is None else str(beat.end),
    )


def _request(wish: Wish, cast: Mapping[str, Member], path: str) -> Request:
    if wish.tool is not None:
        return Request(wish.tool, resolve(wish.args, cast, f"{path}/args"))
    field = str(wish.tell)
    attribute = attribute_of(field, cast, f"{path}/tell")
    member = cast[field.partition(".")[0]]
    if attribute.column is None:
        raise SetupError(f"{path}/tell", f"{field!r} is not a stored field that can be told")
    return Request(TELL, {"table": member.table, "key": member.key, "column": attribute.column})


# ------------------------------------------------------------------ what is expected


def _expect(expect: Expect, cast: Mapping[str, Member]) -> Expect:
    """Fill the references inside the expectations; the assertions' text is rendered for the reader."""
    raw = expect.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"protected", "assertions"})
    filled = resolve(raw, cast, "/expect")
    filled["protected"] = expect.model_dump(mode="json")["protected"]
    filled["assertions"] = [
        {**item.model_dump(mode="json"), "text": render(item.text, cast, f"/expect/assertions/{place}/text")}
        for place, item in enumerate(expect.assertions)
    ]
    try:
        return Expect.model_validate_json(canonical(filled))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "".join(f"/{step}" for step in first["loc"])
        said = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
        raise SetupError(f"/expect{place}", f"expected {said}, found {first['input']!r:.100}") from None


def _guarded(scenario: Scenario, cast: Mapping[str, Member]) -> tuple[GuardedValue, ...]:
    """Return every protected value: those that the scenario names, and by default what is sensitive in the cast.

    By default a secret is told to nobody, an account number only by its last four digits, and personal data only
    to the person they belong to.
    """
    guarded: dict[str, GuardedValue] = {}
    for role, member in cast.items():
        for name, attribute in member.attributes.items():
            if attribute.sensitivity is not Sensitivity.OPEN and attribute.value not in (None, ""):
                guarded[f"{role}.{name}"] = _by_default(f"{role}.{name}", attribute, member, cast)
    for place, rule in enumerate(scenario.expect.protected):
        path = f"/expect/protected/{place}"
        attribute = attribute_of(rule.field, cast, f"{path}/field")
        audience = frozenset(_member(role, cast, f"{path}/may_hear").key for role in rule.may_hear)
        digits = 4 if rule.form == "last_four" else None
        guarded[rule.field] = GuardedValue(_secret(rule.field, attribute), audience, digits)
    return tuple(guarded.values())


def _by_default(field: str, attribute: Attribute, member: Member, cast: Mapping[str, Member]) -> GuardedValue:
    owner = frozenset({cast[member.subject].key}) if member.subject in cast else frozenset()
    if attribute.sensitivity is Sensitivity.SECRET:
        owner = frozenset()
    digits = 4 if attribute.sensitivity is Sensitivity.LAST_FOUR else None
    return GuardedValue(_secret(field, attribute), owner, digits)


def _secret(field: str, attribute: Attribute) -> Secret:
    """Return the value in the form in which it is looked for: dates in ISO, money as dollars and cents.

    It is made ready here, so that a value that is not of its form is a fault of the cast and not of an episode.
    """
    value = str(attribute.value)
    if attribute.form is Form.MONEY and isinstance(attribute.value, int):
        dollars, cents = divmod(abs(attribute.value), 100)
        value = f"{'-' if attribute.value < 0 else ''}{dollars}.{cents:02}"
    elif attribute.form in (Form.TEXT, Form.NAME):
        value = attribute.text
    secret = Secret(id=field, value=value, kind=SecretKind(attribute.form.value))
    try:
        prepare(secret)
    except ValueError as error:
        path = "/cast/" + field.replace(".", "/")
        raise SetupError(path, f"{value!r} is no {attribute.form} that could be looked for: {error}") from None
    return secret
