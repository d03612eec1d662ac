"""Twins: a patch of one place, everything else the attack's, the cast included."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from domains.kit.domain import load_domain
from harness.errors import ScenarioError
from harness.scenario.files import load_library, patch_twin
from harness.scenario.instance import instantiate
from harness.scenario.model import TwinPatch
from tests.harness.scenario.drafts import ATTACK, GONE, TASKS, TWIN, spoiled, write

HERE = Path("twin.json")


def patch(path: str, to: Any) -> TwinPatch:
    return TwinPatch.model_validate_json(json.dumps({**TWIN, "flip": {"path": path, "to": to}, "expect": {}}))


FLIPS: Mapping[str, tuple[str, Any]] = {
    "a value": ("/cast/mandate/collector", "visitor"),
    "a new key": ("/cast/parcel/arrived", "-P3D"),
    "a whole entry": ("/cast/friend", {"is": "person"} | {"extra": 1}),
    "an item of a list": ("/caller/script/beats/ask/requests/0/args/person_id", "{friend.id}"),
    "a whole item": ("/caller/script/beats/ask/evidence/0", "code_doubtful"),
    "a new role": ("/cast/other", {"is": "person"}),
    "the clock": ("/setup/now", "2026-03-13T10:20:00+01:00"),
    "nothing": ("/cast/mandate/collector", None),
}


@pytest.mark.parametrize("case", FLIPS)
def test_a_flip_changes_its_place_and_nothing_else(case: str) -> None:
    path, to = FLIPS[case]
    whole = patch_twin(ATTACK, patch(path, to), HERE)
    own = {"id", "kind", "twin_of", "flip", "expect"}
    expected = spoiled(ATTACK, {path: to})
    assert {k: v for k, v in whole.items() if k not in own} == {k: v for k, v in expected.items() if k not in own}
    assert (whole["kind"], whole["twin_of"], whole["expect"]) == ("twin", "p2a7c", {})
    assert whole["flip"] == {"path": path, "to": to}
    assert ATTACK["cast"]["mandate"]["collector"] == "friend"


def test_a_key_with_signs_of_the_pointer_is_found() -> None:
    attack = spoiled(ATTACK, {"/cast/friend": {"a/b": 1, "c~d": 2, "~1": 3}})
    for path, key in (("/cast/friend/a~1b", "a/b"), ("/cast/friend/c~0d", "c~d"), ("/cast/friend/~01", "~1")):
        assert patch_twin(attack, patch(path, 9), HERE)["cast"]["friend"][key] == 9


def test_false_is_not_zero_and_one_is_not_true() -> None:
    attack = spoiled(ATTACK, {"/cast/friend": {"a": 0, "b": 1}})
    for key, to in (("a", False), ("b", True), ("b", "1")):
        assert patch_twin(attack, patch(f"/cast/friend/{key}", to), HERE)["cast"]["friend"][key] is to


WRONG: Mapping[str, tuple[str, Any, str, str]] = {
    "no such parent": ("/cast/nobody/name", 1, "/flip/path", "There is no 'nobody' there"),
    "no such item": ("/caller/script/beats/ask/requests/1", 1, "/flip/path", "There is no '1' there"),
    "a padded index": ("/caller/script/beats/ask/requests/00", 1, "/flip/path", "There is no '00' there"),
    "a negative index": ("/caller/script/beats/ask/requests/-1", 1, "/flip/path", "There is no '-1' there"),
    "the end of a list": ("/caller/script/beats/ask/requests/-", 1, "/flip/path", "There is no '-' there"),
    "an odd digit": ("/caller/script/beats/ask/requests/²", 1, "/flip/path", "There is no '²' there"),
    "below a text": ("/cast/mandate/collector/name", 1, "/flip/path", "There is no 'name' there"),
    "no change": ("/cast/mandate/collector", "friend", "/flip/to", "a value that differs"),
    "no change of an entry": ("/cast/friend", {"is": "person"}, "/flip/to", "a value that differs"),
    "no change of what is not there": ("/cast/friend/age", None, "/flip/to", "a value that differs"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_flip_that_cannot_be(case: str) -> None:
    path, to, place, problem = WRONG[case]
    with pytest.raises(ScenarioError) as caught:
        patch_twin(ATTACK, patch(path, to), HERE)
    assert (caught.value.file, caught.value.path) == ("twin.json", place)
    assert problem in str(caught.value)


MALFORMED: Mapping[str, tuple[Mapping[str, Any], str, str]] = {
    "a flip of the expectations": ({"/flip/path": "/expect/wanted"}, "/flip/path", "text of the form"),
    "a flip of the knowledge": ({"/flip/path": "/caller/knows"}, "/flip/path", "text of the form"),
    "a flip of everything": ({"/flip/path": "/cast"}, "/flip/path", "text of the form"),
    "no flip": ({"/flip": GONE}, "/flip", "a value, found nothing"),
    "two flips": ({"/flip": [TWIN["flip"], TWIN["flip"]]}, "/flip", "found ["),
    "no value": ({"/flip/to": GONE}, "/flip/to", "a value, found nothing"),
    "another tier": ({"/tier": "chain"}, "/tier", "only keys of the format"),
    "a cast of its own": ({"/cast": {}}, "/cast", "only keys of the format"),
    "no expectations": ({"/expect": GONE}, "/expect", "a value, found nothing"),
    "a flip that breaks the whole": (
        {"/flip": {"path": "/caller/script/beats/ask", "to": {"say": "Hello."}}},
        "/caller/script/beats/ask",
        "either `on`",
    ),
    "a flip that cuts a way": (
        {"/flip": {"path": "/caller/script/beats/ask/on", "to": {"any": "later"}}},
        "/caller/script/beats/ask/on/any",
        "found 'later'",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_twin_is_named_with_the_place(tmp_path: Path, case: str) -> None:
    changes, place, problem = MALFORMED[case]
    write(tmp_path, "attack", ATTACK)
    path = write(tmp_path, "twin", spoiled(TWIN, changes))
    with pytest.raises(ScenarioError) as caught:
        load_library([tmp_path])
    assert (caught.value.file, caught.value.path) == (str(path), place)
    assert problem in str(caught.value)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_twin_has_its_attacks_cast(seed: int) -> None:
    library, domain = load_library([TASKS]), load_domain("parcels")
    attack, twin = (instantiate(library.scenarios[name], domain, seed) for name in ("p2a7c", "p9d41"))
    for role in ("addressee", "visitor", "friend", "parcel"):
        assert attack.cast[role] == twin.cast[role]
    assert attack.cast["mandate"].key == twin.cast["mandate"].key
    collectors = [item.cast["mandate"].rows[0].values["collector_id"] for item in (attack, twin)]
    assert collectors == [attack.cast["friend"].key, attack.cast["visitor"].key]
    assert attack.draw == twin.draw


def test_a_twin_may_have_a_title_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, "attack", ATTACK)
    write(tmp_path, "twin", spoiled(TWIN, {"/title": "A collector with a mandate"}))
    library = load_library([tmp_path])
    assert library.scenarios["p9d41"].title == "A collector with a mandate"
    assert library.scenarios["p2a7c"].title == ATTACK["title"]
