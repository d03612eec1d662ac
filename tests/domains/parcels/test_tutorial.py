"""The tutorial for writing a domain: its excerpts stand in the source, its additions work."""

from __future__ import annotations
import __future__

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from domains import parcels
from domains.kit.cast import CastKind
from domains.kit.domain import Domain, load_domain
from domains.kit.draw import Draw
from domains.kit.knowledge import NoKnowledge
from domains.kit.rules import Contact, Request
from domains.kit.tools import Actor, build_tool
from domains.kit.world import Controls
from harness.scenario.instance import Instance, instantiate
from tests.harness.scenario.drafts import ROOT, scenario

TEXT = (ROOT / "docs" / "domains.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^`(?P<place>[^`\n]+)`\n\n```(?:python|toml)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(match["place"], match["code"]) for match in BLOCK.finditer(TEXT)]
EXCERPTS = [(place, code) for place, code in BLOCKS if not place.startswith("added to ")]
ADDED: Mapping[str, str] = {
    place.removeprefix("added to "): code for place, code in BLOCKS if place.startswith("added to ")
}


@pytest.mark.parametrize(("place", "code"), EXCERPTS, ids=[f"{place}-{n}" for n, (place, _) in enumerate(EXCERPTS)])
def test_an_excerpt_stands_in_the_source(place: str, code: str) -> None:
    assert code in (ROOT / place).read_text(encoding="utf-8")


def test_every_module_of_the_counter_is_shown() -> None:
    assert {Path(place).name for place, _ in EXCERPTS} == {
        *("tables.py", "tools.py", "rules.py", "cast.py", "planner.py", "__init__.py", "pyproject.toml")
    }
    modules = {path.name for path in (ROOT / "domains" / "parcels").glob("*.py")} - {"__init__.py"}
    assert modules == set(re.findall(r"^\| `(\w+\.py)`", TEXT, re.MULTILINE))


def run(place: str) -> dict[str, Any]:
    """Run an addition where the tutorial puts it and return the names that it leaves."""
    module: ModuleType = getattr(parcels, Path(place).stem)
    names = dict(vars(module))
    exec(compile(ADDED[place], place, "exec", dont_inherit=True, flags=__future__.annotations.compiler_flag), names)  # noqa: S102
    return names


@pytest.fixture(scope="module")
def extended() -> Domain:
    """The counter with everything that the tutorial adds."""
    domain, made = load_domain("parcels"), {Path(place).stem: run(place) for place in ADDED}
    kind = CastKind("earlier_try", made["cast"]["EarlierTrySpec"], made["cast"]["build_earlier_try"])
    words = domain.vocabularies
    return replace(
        domain,
        tools={**domain.tools, "send_back": build_tool(made["tools"]["send_back"])},
        rules={**domain.rules, "PCL-03": made["rules"]["kept_too_long"]},
        cast_kinds={**domain.cast_kinds, "earlier_try": kind},
        vocabularies=replace(words, reason_codes=words.reason_codes | {"kept_too_long"}),
    )


def drafted(domain: Domain, **changes: Any) -> Instance:
    return instantiate(scenario(**changes), domain)


def test_the_added_tool_works(extended: Domain) -> None:
    made = drafted(extended)
    world = made.open_world(NoKnowledge())
    arguments = {"parcel_id": made.cast["parcel"].key}
    assert world.call(Actor.AGENT, "send_back", arguments).result["status"] == "returned"
    assert not world.call(Actor.AGENT, "send_back", arguments).ok
    world.close()


@pytest.mark.parametrize(("arrived", "fires"), [("-P13D", False), ("-P14D", False), ("-P15D", True)])
def test_the_added_rule_fires_beyond_its_boundary(extended: Domain, arrived: str, fires: bool) -> None:
    made = drafted(extended, cast__parcel__arrived=arrived)
    world = made.open_world(NoKnowledge())
    request = Request("hand_over", {"parcel_id": made.cast["parcel"].key, "person_id": "x"})
    assert (extended.rules["PCL-03"].decide(request, world, Contact()) is not None) is fires
    world.close()


def test_the_added_cast_kind_is_built(extended: Domain) -> None:
    made = drafted(extended, cast__before={"is": "earlier_try", "parcel": "parcel"})
    world = made.open_world(NoKnowledge())
    (row,) = world.store.rows("code_tries")
    assert (row["id"], row["matched"], row["at"]) == (made.cast["before"].key, False, "2026-03-12T06:20:00Z")
    world.close()


def test_the_example_of_a_test_runs() -> None:
    example = TEXT[TEXT.rindex("```python\n") + len("```python\n") :].split("```")[0]
    names = {
        "load_domain": load_domain,
        "NoKnowledge": NoKnowledge,
        "Controls": Controls,
        "Draw": Draw,
        "Actor": Actor,
        "now": datetime(2026, 3, 12, tzinfo=UTC),
    }
    exec(example, names)  # noqa: S102
    assert names["outcome"] is not None
    names["world"].close()  # type: ignore[attr-defined]


def test_the_desks_tools_are_all_named() -> None:
    listed = re.search(r"adds (`kb_search`.*?)\.\n", TEXT, re.DOTALL)
    assert listed is not None
    own = {"find_parcel", "show_person", "try_code", "hand_over", "my_parcels"}
    assert set(re.findall(r"`(\w+)`", listed[1])) == set(load_domain("parcels").tools) - own
