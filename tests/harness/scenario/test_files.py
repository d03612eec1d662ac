"""Scenario files: whatever is wrong with one is said with its file and its place, and never ends in a traceback."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ScenarioError
from harness.scenario.files import MAX_BYTES, MAX_DEPTH, load_library, parse_scenario, read_json, scenario_files
from tests.harness.scenario.drafts import ATTACK, GONE, TASKS, TWIN, spoiled, write

TEXT = json.dumps(ATTACK)

UNREADABLE: Mapping[str, tuple[Any, str, str]] = {
    "empty": ("", "", "well-formed JSON"),
    "no JSON": ("{'id': 1}", "", "well-formed JSON, found Expecting property name"),
    "cut off": (TEXT[:-2], "", "well-formed JSON"),
    "a trailing comma": ('{"a": 1,}', "", "well-formed JSON"),
    "something behind": (TEXT + "{}", "", "Extra data"),
    "a list": ("[]", "", "a JSON object, found list"),
    "a text": ('"x"', "", "a JSON object, found str"),
    "not UTF-8": (TEXT.encode("utf-16"), "", "UTF-8 text, found byte 0 is not"),
    "a stray byte": (TEXT.encode()[:20] + b"\xff" + TEXT.encode()[20:], "", "UTF-8 text, found byte 20 is not"),
    "a key twice": ('{"caller": {"script": [{"a": 1, "a": 2}]}}', "/caller/script/0/a", "each key once"),
    "a key with a slash twice": ('{"a/b~": 1, "a/b~": 1}', "/a~1b~0", "each key once"),
    "NaN": ('{"setup": {"x": NaN}}', "/setup/x", "a finite number, found nan"),
    "infinity": ('{"x": [-Infinity]}', "/x/0", "a finite number, found -inf"),
    "a number beyond floats": ('{"x": 1e999}', "/x", "a finite number, found inf"),
    "a huge number": ('{"x": 100000000000000000}', "/x", "numbers up to 9007199254740991"),
    "an endless number": ('{"x": ' + "9" * 5000 + "}", "", "well-formed JSON"),
    "half a surrogate pair": ('{"x": {"y": "\\ud83d"}}', "/x/y", "text, found half of a surrogate pair"),
    "half a surrogate pair as key": ('{"\\ud83d": 1}', "", "text, found half of a surrogate pair"),
    "a control character": ('{"x": "\x01"}', "", "well-formed JSON"),
    "deep": ('{"x": ' + "[" * 30 + "]" * 30 + "}", "/x" + "/0" * 23, f"at most {MAX_DEPTH} levels"),
    "very deep": ('{"x": ' + "[" * 5000 + "]" * 5000 + "}", None, f"at most {MAX_DEPTH} levels"),
    "bottomless": ("[" * 100_000, None, ""),
    "too large": (" " * (MAX_BYTES + 1), "", f"at most {MAX_BYTES} bytes"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_an_unreadable_file_is_named_with_the_place(tmp_path: Path, case: str) -> None:
    content, place, problem = UNREADABLE[case]
    path = write(tmp_path, "x", content)
    with pytest.raises(ScenarioError) as caught:
        read_json(path)
    assert caught.value.file == str(path)
    if place is not None:
        assert caught.value.path == place
    assert str(caught.value).startswith(str(path))
    assert problem in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_file_that_is_not_there_or_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="a readable file, found No such file"):
        read_json(tmp_path / "none.json")
    with pytest.raises(ScenarioError, match="a readable file, found Is a directory"):
        read_json(tmp_path)
    with pytest.raises(ScenarioError, match="a folder or file of scenarios, found nothing there"):
        load_library([tmp_path / "none"])


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    assert read_json(write(tmp_path, "x", b"\xef\xbb\xbf" + TEXT.encode())) == ATTACK


def test_as_deep_as_allowed(tmp_path: Path) -> None:
    nest = "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1)
    assert read_json(write(tmp_path, "x", '{"x": ' + nest + "}"))["x"] is not None


BEAT = "/caller/script/beats/ask"

MALFORMED: Mapping[str, tuple[Mapping[str, Any], str, str]] = {
    "no id": ({"/id": GONE}, "/id", "a value, found nothing"),
    "an id of another form": ({"/id": "P 1"}, "/id", "text of the form"),
    "an id with a line end": ({"/id": "p2a7c\n"}, "/id", "text of the form"),
    "an unknown key": ({"/expct": {}}, "/expct", "only keys of the format, found 'expct'"),
    "an unknown key within": ({f"{BEAT}/says": "x"}, f"{BEAT}/says", "only keys of the format, found 'says'"),
    "another version": ({"/schema_version": 2}, "/schema_version", "1"),
    "true for 1": ({"/schema_version": True}, "/schema_version", "the whole number 1, found True"),
    "1.0 for 1": ({"/schema_version": 1.0}, "/schema_version", "the whole number 1, found 1.0"),
    "text for a number": ({"/caller/script/max_turns": "6"}, "/caller/script/max_turns", 'a valid integer, found "6"'),
    "text with an exponent": (
        {"/annotations/cost/amount_at_risk_cents": "1e3"},
        "/annotations/cost/amount_at_risk_cents",
        'a valid integer, found "1e3"',
    ),
    "a float": ({"/caller/script/max_turns": 6.0}, "/caller/script/max_turns", "a valid integer, found 6.0"),
    "a boolean": ({"/caller/script/max_turns": True}, "/caller/script/max_turns", "a valid integer, found true"),
    "too many turns": ({"/caller/script/max_turns": 41}, "/caller/script/max_turns", "less than or equal to 40"),
    "a negative cost": (
        {"/annotations/cost/amount_at_risk_cents": -1},
        "/annotations/cost/amount_at_risk_cents",
        "greater than or equal to 0",
    ),
    "number for a boolean": ({f"{BEAT}/decision_point": 1}, f"{BEAT}/decision_point", "a valid boolean, found 1"),
    "padded word": ({"/tier": " surface"}, "/tier", 'found " surface"'),
    "padded text": ({"/title": "A title "}, "/title", "text without blanks at its ends, found 'A title '"),
    "blank text": ({"/caller/goal": " "}, "/caller/goal", "text without blanks at its ends"),
    "empty text": ({f"{BEAT}/say": ""}, f"{BEAT}/say", "a length of at least 1"),
    "long text": ({"/title": "x" * 201}, "/title", "a length of at most 200, found 201"),
    "no rule": ({"/rules": []}, "/rules", "a length of at least 1"),
    "text for a list": ({"/rules": "PCL-01"}, "/rules", 'a valid array, found "PCL-01"'),
    "list for an object": ({"/setup": []}, "/setup", "found []"),
    "no such kind": ({"/kind": "assault"}, "/kind", "'attack' or 'twin', found \"assault\""),
    "a role with a capital": ({"/cast/Friend": {"is": "person"}}, "/cast/Friend/[key]", "text of the form"),
    "a role of another form": ({"/caller/is": "the visitor"}, "/caller/is", "text of the form"),
    "a field of another form": ({"/caller/knows/0": "visitor"}, "/caller/knows/0", "text of the form"),
    "knows and believes": (
        {"/caller/believes": {"visitor.name": "x"}},
        "/caller/believes/visitor.name",
        "a field that `knows` does not list",
    ),
    "no such start": ({"/caller/script/start": "begin"}, "/caller/script/start", "a beat (ask, hurry, thanks, leave)"),
    "no such next": ({f"{BEAT}/on/any": "later"}, f"{BEAT}/on/any", "found 'later'"),
    "no way on": ({f"{BEAT}/on": {"success": "thanks"}}, f"{BEAT}/on", "a way on for refusal, stall, or `any`"),
    "nowhere": ({f"{BEAT}/on": {}}, f"{BEAT}/on", "a way on for refusal, stall, success"),
    "neither on nor end": ({f"{BEAT}/on": GONE}, BEAT, "either `on`"),
    "both on and end": ({f"{BEAT}/end": "got_it"}, BEAT, "found both"),
    "no such end": ({"/caller/script/beats/leave/end": "tired"}, "/caller/script/beats/leave/end", "'gave_up'"),
    "a wish for nothing": ({f"{BEAT}/requests/0": {}}, f"{BEAT}/requests/0", "either `tool` (with `args`) or `tell`"),
    "a wish for two things": (
        {f"{BEAT}/requests/0/tell": "visitor.name"},
        f"{BEAT}/requests/0",
        "either `tool` (with `args`) or `tell`, found both",
    ),
    "a row that does nothing": ({"/setup/rows": [{"table": "people"}]}, "/setup/rows/0", "found neither"),
    "an update without a key": (
        {"/setup/rows": [{"table": "people", "update": {"name": "x"}}]},
        "/setup/rows/0",
        "`key`, the row to update",
    ),
    "an insert with a key": (
        {"/setup/rows": [{"table": "people", "key": "x", "insert": {"name": "x"}}]},
        "/setup/rows/0",
        "`key`, the row to update",
    ),
    "an effect without effect": (
        {"/expect/prohibited/0/effect": {"table": "x"}},
        "/expect/prohibited/0/effect",
        "one of",
    ),
    "nothing that happens": ({"/expect/prohibited/0": {}}, "/expect/prohibited/0", "either `effect` or `call`"),
    "no such outcome": ({"/expect/dispositions/0": "ignore"}, "/expect/dispositions/0", 'found "ignore"'),
    "one assertion twice": (
        {"/expect/assertions": [{"id": "says-why", "feeds": "harm", "text": "x"}] * 2},
        "/expect/assertions/1",
        "'says-why' twice",
    ),
    "one field protected twice": (
        {"/expect/protected": [{"field": "visitor.name"}] * 2},
        "/expect/protected/1",
        "'visitor.name' twice",
    ),
    "an attack with a flip": ({"/flip": {"path": "/cast/x", "to": 1}}, "/flip", "in a twin and nowhere else"),
    "an attack that answers another": ({"/twin_of": "p1111"}, "/twin_of", "in a twin and nowhere else"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_attack_is_named_with_the_place(tmp_path: Path, case: str) -> None:
    changes, place, problem = MALFORMED[case]
    path = write(tmp_path, "x", spoiled(ATTACK, changes))
    with pytest.raises(ScenarioError) as caught:
        load_library([path])
    assert (caught.value.file, caught.value.path) == (str(path), place)
    assert problem in str(caught.value)
    assert caught.value.hint
    assert pickle.loads(pickle.dumps(caught.value)).path == place  # noqa: S301


def test_how_many_more_problems_there_are_is_said(tmp_path: Path) -> None:
    path = write(tmp_path, "x", spoiled(ATTACK, {"/title": 1, "/rules": 1, "/documents": 1}))
    with pytest.raises(ScenarioError, match=r"2 more problem\(s\) behind this one"):
        load_library([path])


PARTS = sorted(
    {f"/{a}/{b}" if b else f"/{a}" for a in ATTACK for b in ("", *(ATTACK[a] if type(ATTACK[a]) is dict else ()))}
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=150)
@given(st.sampled_from(PARTS), JSON)
def test_any_value_anywhere_is_a_scenario_or_a_scenario_error(place: str, value: Any) -> None:
    raw = spoiled(ATTACK, {place: value})
    error = _fault(lambda: parse_scenario(raw, Path("x.json")))
    assert error is None or (error.file == "x.json" and error.path.startswith("/"))


def _fault(read: Callable[[], object]) -> ScenarioError | None:
    try:
        read()
    except ScenarioError as error:
        return error
    return None


@settings(max_examples=100)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "x.json"
    path.write_bytes(content)
    error = _fault(lambda: read_json(path))
    assert error is None or error.file == str(path)


# ------------------------------------------------------------------ libraries


def test_the_published_scenarios_of_the_counter() -> None:
    library = load_library([TASKS])
    assert list(library.scenarios) == ["p1f66", "p2a7c", "p5e08", "p9d41"]
    assert library.files["p1f66"] == TASKS / "p1f66.json"
    twin = library.twin_for("p2a7c")
    assert twin is not None
    assert twin.id == "p9d41"
    assert library.twin_for("p9d41") is None
    assert library.content_hash == load_library([TASKS / "p2a7c.json", TASKS]).content_hash


def test_the_same_file_by_two_ways_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a", ATTACK)
    monkeypatch.chdir(tmp_path)
    assert len(scenario_files([Path(), Path("a.json"), tmp_path, tmp_path / "." / "a.json"])) == 1
    assert list(load_library([Path(), tmp_path]).scenarios) == ["p2a7c"]


def test_the_published_schema_is_no_scenario(tmp_path: Path) -> None:
    write(tmp_path, "schema", {})
    (tmp_path / "folder.json").mkdir()
    assert scenario_files([tmp_path]) == []


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_an_id_stands_once(tmp_path: Path, names: tuple[str, str]) -> None:
    write(tmp_path, names[0], ATTACK)
    write(tmp_path, names[1], spoiled(ATTACK, {"/title": "Another title"}))
    with pytest.raises(
        ScenarioError, match=r"b\.json: /id: expected an id of its own, found 'p2a7c'.*a\.json has the same"
    ):
        load_library([tmp_path])


def test_a_twin_may_not_bear_its_attacks_id(tmp_path: Path) -> None:
    write(tmp_path, "a", ATTACK)
    write(tmp_path, "b", spoiled(TWIN, {"/id": "p2a7c"}))
    with pytest.raises(ScenarioError, match=r"b\.json: /id: expected an id of its own"):
        load_library([tmp_path])


def test_a_twin_needs_its_attack(tmp_path: Path) -> None:
    write(tmp_path, "b", TWIN)
    with pytest.raises(ScenarioError, match=r"/twin_of: expected the id of an attack, found 'p2a7c'"):
        load_library([tmp_path])


def test_a_lenient_load_keeps_what_is_sound(tmp_path: Path) -> None:
    write(tmp_path, "a", "{")
    write(tmp_path, "b", ATTACK)
    write(tmp_path, "c", TWIN)
    write(tmp_path, "d", spoiled(TWIN, {"/id": "p0000", "/twin_of": "p1111"}))
    write(tmp_path, "e", spoiled(TWIN, {"/id": "p0001", "/flip/path": "/cast/nobody/x"}))
    library = load_library([tmp_path], lenient=True)
    assert list(library.scenarios) == ["p2a7c", "p9d41"]
    assert [(Path(problem.file).stem, problem.path) for problem in library.problems] == [
        ("a", ""),
        ("d", "/twin_of"),
        ("e", "/flip/path"),
    ]
