"""Every check of scenarios catches the fault it is there for, and names file and place."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.checks import house, run
from harness.checks.case import Case
from harness.checks.playing import Rehearsal
from harness.checks.run import PLAYED_CHECKS, STATIC_CHECKS, SUITE_CHECKS, CheckReport, check_library
from harness.cli.grading import grader_for
from harness.problem import Problem
from harness.resources import data_root
from harness.runs.executors import Executor, Processes, Threads
from harness.scenario.files import load_library
from harness.scenario.instance import instantiate


@pytest.fixture(autouse=True)
def _small_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pad to fewer documents where search is not what is tested."""
    monkeypatch.setattr(house, "CORPUS_SIZE", 20)


PARCELS = data_root("tasks") / "parcels"
Scenario = dict[str, Any]


def check(folder: Path, seeds: int = 1) -> CheckReport:
    return check_library(load_library([folder], lenient=True), data_root("corpus"), grader_for, range(seeds))


def plant(folder: Path, name: str, change: Callable[[Scenario], None]) -> Path:
    for file in PARCELS.glob("*.json"):
        shutil.copy(file, folder)
    path = folder / f"{name}.json"
    scenario = json.loads(path.read_text())
    change(scenario)
    path.write_text(json.dumps(scenario))
    return path


def at(*path: str | int, to: Any) -> Callable[[Scenario], None]:
    """Change the value at a path."""

    def change(scenario: Scenario) -> None:
        target: Any = scenario
        for part in path[:-1]:
            target = target[part]
        target[path[-1]] = to

    return change


def without(*path: str | int) -> Callable[[Scenario], None]:
    """Drop the value at a path."""

    def change(scenario: Scenario) -> None:
        target: Any = scenario
        for part in path[:-1]:
            target = target[part]
        del target[path[-1]]

    return change


def _as_adaptive(scenario: Scenario) -> None:
    scenario["tier"] = "adaptive"
    scenario["caller"]["script"]["beats"]["ask"]["on"] = {"any": "hurry"}


class Fault(NamedTuple):
    check: str
    file: str
    change: Callable[[Scenario], None]
    path: str
    words: str


BEATS = ("caller", "script", "beats")
SINGLE, SINGLE_TWIN = "p2a7c", "p9d41"
ADAPTIVE, ADAPTIVE_TWIN = "p5e08", "p1f66"

FAULTS = [
    Fault("format", SINGLE, at("surprise", to=1), "/surprise", "only keys"),
    Fault("format", SINGLE, without("title"), "/title", "a value"),
    Fault("format", SINGLE, at("caller", "script", "max_turns", to="6"), "/caller/script/max_turns", "integer"),
    Fault("format", SINGLE, at(*BEATS, "ask", "on", to={"any": "nowhere"}), "/caller/script", "nowhere"),
    Fault("format", SINGLE, at(*BEATS, "ask", "on", to={"success": "thanks"}), "/caller/script", "refusal"),
    Fault("format", SINGLE_TWIN, at("twin_of", to="nobody"), "/twin_of", "id of an attack"),
    Fault("format", SINGLE_TWIN, at("flip", "path", to="/cast/nobody/name"), "/flip/path", "nobody"),
    Fault("format", SINGLE_TWIN, at("flip", "to", to="friend"), "/flip/to", "differs"),
    Fault("vocabularies", SINGLE, at("mechanism", to="magic"), "/mechanism", "code_guessing"),
    Fault("vocabularies", SINGLE, at("annotations", "stage", to="lunch"), "/annotations/stage", "collection"),
    Fault("vocabularies", SINGLE, at("caller", "tactics", to=["charm"]), "/caller/tactics/0", "familiarity"),
    Fault(
        "vocabularies", SINGLE, at(*BEATS, "ask", "evidence", to=["hat"]), "/caller/script/beats/ask/evidence/0", "hat"
    ),
    Fault("vocabularies", SINGLE, at("expect", "reason_codes", to=["mood"]), "/expect/reason_codes/0", "no_mandate"),
    Fault("rules and documents", SINGLE, at("rules", to=["PCL-09"]), "/rules/0", "PCL-09"),
    Fault("rules and documents", SINGLE, at("documents", to=["handing"]), "/documents/0", "handing-over"),
    Fault("rules and documents", SINGLE, at("documents", to=["pickup-codes"]), "/rules/0", "states"),
    Fault(
        "rules and documents", SINGLE, at("setup", "now", to="2024-03-12T10:20:00+01:00"), "/documents/0", "in force"
    ),
    Fault("tools", SINGLE, at(*BEATS, "ask", "requests", 0, "tool", to="give"), "/requests/0/tool", "hand_over"),
    Fault("tools", SINGLE, at(*BEATS, "ask", "requests", 0, "args", to={"who": "x"}), "/args/who", "parcel_id"),
    Fault(
        "tools", SINGLE, at(*BEATS, "ask", "calls", to=[{"tool": "hand_over", "args": {}}]), "/calls/0/tool", "caller"
    ),
    Fault(
        "tools", SINGLE, at("expect", "reads_before_decision", 0, "tool", to="peek"), "/reads_before_decision/0", "peek"
    ),
    Fault("tables", SINGLE, at("expect", "prohibited", 0, "effect", "table", to="boxes"), "/effect/table", "parcels"),
    Fault(
        "tables", SINGLE, at("expect", "prohibited", 0, "effect", "becomes", to={"colour": "red"}), "/colour", "status"
    ),
    Fault("beats", SINGLE, at("expect", "intervention", "latest_beat", to="tea"), "/latest_beat", "hurry"),
    Fault("beats", SINGLE, without(*BEATS, "hurry", "decision_point"), "/caller/script/beats", "decision_point"),
    Fault("beats", SINGLE, at("expect", "dispositions", to=[]), "/expect/dispositions", "at least one"),
    Fault("beats", SINGLE_TWIN, at("expect", "wanted", to=[]), "/expect/wanted", "at least one"),
    Fault("beats", SINGLE, at(*BEATS, "ask", "decision_point", to=True), "/caller/script/beats", "ask, hurry"),
    Fault(
        "rows", SINGLE, at("expect", "prohibited", 0, "effect", "key", to="{visitor.id}"), "/effect/key", "of parcels"
    ),
    Fault("people", SINGLE, at("caller", "claims_to_be", to="parcel"), "/caller/claims_to_be", "a person or firm"),
    Fault("people", SINGLE, at("caller", "acts_for", to="mandate"), "/caller/acts_for", "a person or firm"),
    Fault("knowledge", SINGLE, at(*BEATS, "ask", "say", to="Call {addressee.phone}."), "/beats/ask/say", "phone"),
    Fault("knowledge", SINGLE, at("caller", "instructions", to="Say {parcel.code}."), "/instructions", "parcel.code"),
    Fault("paths", SINGLE, at(*BEATS, "ask", "on", to={"success": "thanks", "any": "leave"}), "/beats/leave", "path"),
    Fault("paths", SINGLE, at(*BEATS, "spare", to={"say": "Hm.", "end": "gave_up"}), "/beats/spare", "no way"),
    Fault("paths", SINGLE, at("caller", "script", "max_turns", to=2), "/caller/script/max_turns", "at least 3"),
    Fault("paths", ADAPTIVE, at(*BEATS, "first", "on", to={"success": "thanks", "any": "second"}), "/thanks", "path"),
    Fault("give-aways", SINGLE, at("id", to="fraud-1"), "/id", "fraud"),
    Fault("clock", SINGLE, at("cast", "parcel", "arrived", to="P3D"), "arrived_at", "future"),
    Fault("clock", SINGLE, at("setup", "now", to="2026-07-13T10:20:00+01:00"), "/setup/now", "+02:00"),
    Fault("flip", ADAPTIVE_TWIN, at("flip", "path", to="/caller/script/beats/third"), "/flip/path", "decision point"),
    Fault("setup", SINGLE, at("cast", "parcel", "to", to="nobody"), "/cast/parcel/to", "nobody"),
    Fault("setup", SINGLE, at("cast", "parcel", "is", to="ship"), "/cast/parcel/is", "parcel"),
    Fault(
        "setup", SINGLE, at("setup", "rows", to=[{"table": "ships", "insert": {}}]), "/setup/rows/0/table", "parcels"
    ),
    Fault(
        "setup", SINGLE, at("setup", "rows", to=[{"table": "people", "insert": {"age": 3}}]), "/setup/rows/0", "column"
    ),
    Fault("setup", SINGLE, at(*BEATS, "ask", "say", to="I am {nobody.name}."), "/beats/ask/say", "nobody"),
    Fault("setup", SINGLE, at("cast", "parcel", "colour", to="red"), "/cast/parcel/colour", "a field of parcel"),
    Fault("setup", SINGLE, at("setup", "now", to="2026-03-12T10:20:00"), "/setup/now", "has no time zone"),
    Fault("brackets", SINGLE, at("cast", "mandate", "collector", to="visitor"), "/expect", "oracle"),
    Fault("brackets", SINGLE, lambda scenario: _as_adaptive(scenario), "/expect", "myopic"),
    Fault("brackets", ADAPTIVE, at("tier", to="single_control"), "/expect", "myopic"),
    Fault("brackets", SINGLE, at("rules", to=["PCL-01", "PCL-02"]), "/rules/1", "PCL-02"),
    Fault("brackets", SINGLE, at("expect", "reason_codes", to=["code_guessed"]), "/expect", "documented"),
    Fault(
        "brackets",
        SINGLE_TWIN,
        at("expect", "wanted", 0, "effect", "becomes", to={"status": "waiting"}),
        "/expect",
        "complier",
    ),
    Fault("pairs", SINGLE_TWIN, at("twin_of", to=ADAPTIVE), "/id", "exactly one twin"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.check}-{fault.path.strip('/').replace('/', '.')}")
def test_a_planted_fault_is_reported_with_file_and_place(fault: Fault, tmp_path: Path) -> None:
    plant(tmp_path, fault.file, fault.change)
    problems = check(tmp_path).problems
    assert any(
        Path(problem.file).stem in (fault.file, SINGLE, ADAPTIVE)
        and fault.path in problem.path
        and fault.words in str(problem)
        for problem in problems
    ), "\n".join(map(str, problems)) or "nothing was reported"


def test_every_check_has_a_planted_fault() -> None:
    planted = {fault.check for fault in FAULTS} | {"boundary", "blindness", "retrievable", "near-copies"}
    assert planted >= {*STATIC_CHECKS, *PLAYED_CHECKS, *SUITE_CHECKS, "setup", "brackets"}


def test_the_parcels_suite_is_sound() -> None:
    report = check(PARCELS, seeds=3)
    assert report.problems == ()
    assert report.checked == 4


@pytest.mark.parametrize(
    ("column", "word"), [("becomes", {"status": "settld"}), ("becomes", {"status": ["settled", "relased"]})]
)
def test_a_misspelt_word_of_the_bank_is_reported(tmp_path: Path, column: str, word: dict[str, Any]) -> None:
    source = data_root("tasks") / "banking" / "core"
    for name in ("s7f3a", "s1c90"):
        shutil.copy(source / f"{name}.json", tmp_path)
    moved = json.loads((tmp_path / "s7f3a.json").read_text())
    moved["expect"]["prohibited"][0]["effect"][column] = word
    moved["setup"]["rows"] = [{"table": "payments", "key": "{due.id}", "update": {"status": "waitng"}}]
    (tmp_path / "s7f3a.json").write_text(json.dumps(moved))
    places = [problem.path for problem in check(tmp_path).problems]
    assert {"/expect/prohibited/0/effect/becomes/status", "/setup/rows/0/status"} <= set(places)


@pytest.mark.parametrize("year", ["2024", "2028"])
def test_a_day_beyond_the_holiday_table_is_reported_once_and_clearly(tmp_path: Path, year: str) -> None:
    source = data_root("tasks") / "banking" / "core"
    for name in ("s7f3a", "s1c90"):
        text = (source / f"{name}.json").read_text()
        (tmp_path / f"{name}.json").write_text(
            text.replace("2026-03-12T11:20:00-04:00", f"{year}-03-15T11:20:00-04:00")
        )
    found = [problem for problem in check(tmp_path).problems if problem.path == "/setup/now"]
    assert [(problem.found, problem.file.endswith(("s7f3a.json", "s1c90.json"))) for problem in found] == [
        (f"{year}-03-15", True)
    ] * 2
    assert all("2025 to 2027" in problem.expected for problem in found)


def test_harm_that_never_happens_is_reported_though_the_complier_is_not_secure(tmp_path: Path) -> None:
    def elsewhere(scenario: Scenario) -> None:
        scenario["expect"]["prohibited"][0]["effect"] |= {"becomes": {"status": "returned"}}

    plant(tmp_path, SINGLE, elsewhere)
    assert any("harm_free = False for the complier" in problem.expected for problem in check(tmp_path).problems)


@pytest.mark.parametrize(("broken", "whole"), [(SINGLE, SINGLE_TWIN), (SINGLE_TWIN, SINGLE)])
def test_half_a_pair_that_cannot_be_read_is_no_fault_of_the_other(tmp_path: Path, broken: str, whole: str) -> None:
    plant(tmp_path, broken, at("surprise", to=1))
    report = check(tmp_path)
    assert [(Path(problem.file).stem, problem.path) for problem in report.problems] == [(broken, "/surprise")]
    assert report.checked == 4
    assert whole not in str(report.problems)


def test_near_copies_are_reported(tmp_path: Path) -> None:
    plant(tmp_path, SINGLE, lambda scenario: None)
    scenario = json.loads((tmp_path / f"{SINGLE}.json").read_text())
    (tmp_path / "copy.json").write_text(json.dumps(scenario | {"id": "p77aa"}))
    patch = json.loads((tmp_path / f"{SINGLE_TWIN}.json").read_text())
    (tmp_path / "copy-twin.json").write_text(json.dumps(patch | {"id": "p88bb", "twin_of": "p77aa"}))
    problems = [problem for problem in check(tmp_path).problems if "shared with" in problem.found]
    assert [Path(problem.file).stem for problem in problems] in (["copy"], ["p2a7c"])


def test_an_undiscoverable_document_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house, "CORPUS_SIZE", 700)

    def mute(scenario: Scenario) -> None:
        for beat in scenario["caller"]["script"]["beats"].values():
            beat["say"] = "Mhm."

    plant(tmp_path, SINGLE, mute)
    corpus = tmp_path / "corpus"
    shutil.copytree(data_root("corpus") / "parcels", corpus / "parcels")
    page = corpus / "parcels" / "counter" / "handing-over.md"
    head, body = page.read_text().rsplit("---\n", 1)
    plain = "PCL-01 " + "zither quagmire xylophone " * 30
    page.write_text(head.replace("Handing parcels over at the counter", "Zither") + "---\n\n" + plain)
    report = check_library(load_library([tmp_path / "p2a7c.json"], lenient=True), corpus, grader_for, range(1))
    assert any("among the first 10" in problem.expected for problem in report.problems), report.problems
    assert body


@pytest.mark.parametrize(("attack", "twin", "off"), [("s7f3a", "s1c90", 2499000), ("d5c18", "d0f94", "2022-08")])
def test_a_boundary_twin_off_its_boundary_is_reported(tmp_path: Path, attack: str, twin: str, off: object) -> None:
    source = data_root("tasks") / "banking" / "core"
    for name in (attack, twin):
        shutil.copy(source / f"{name}.json", tmp_path)
    moved = json.loads((tmp_path / f"{twin}.json").read_text())
    moved["flip"]["to"] = off
    (tmp_path / f"{twin}.json").write_text(json.dumps(moved))
    assert any(problem.path == "/flip/to" for problem in check(tmp_path).problems)


def test_an_agent_that_reads_the_answer_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.agents.load import REFERENCE_AGENTS
    from harness.checks import answers, playing
    from harness.episode.turn import Turn

    peeked: list[object] = []

    class Peeking:
        def __init__(self, brief: object) -> None:
            self._brief = brief

        def respond(self, view: Any) -> Turn:
            return Turn(f"I know {peeked[-1]}.")

    instantiated = playing.Environment

    def spying(instance: Any, *rest: Any) -> Any:
        peeked.append(instance.scenario.tier)
        return instantiated(instance, *rest)

    monkeypatch.setattr(playing, "Environment", spying)
    agents = {**REFERENCE_AGENTS, "peeking": Peeking}
    monkeypatch.setattr(answers, "REFERENCE_AGENTS", agents)
    monkeypatch.setattr(playing, "REFERENCE_AGENTS", agents)
    report = check(PARCELS)
    assert any("does not depend on the answer" in problem.expected for problem in report.problems)


@pytest.mark.parametrize("executor", [Processes(2), Threads(2)])
def test_every_executor_finds_the_same(executor: Executor, tmp_path: Path) -> None:
    plant(tmp_path, SINGLE, at("tier", to="adaptive"))
    library = load_library([tmp_path], lenient=True)
    seen: list[str] = []
    report = check_library(library, data_root("corpus"), grader_for, range(1), seen.append, executor)
    assert report == check(tmp_path)
    assert report.problems
    assert sorted(seen) == sorted(library.scenarios)


def test_a_check_that_breaks_costs_its_scenario_and_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(case: Case) -> Iterator[Problem]:
        if case.scenario.id == SINGLE:
            raise ZeroDivisionError("the check is broken")
        yield case.problem("/title", "another title", case.scenario.title, "")

    monkeypatch.setattr(run, "STATIC_CHECKS", {"broken": broken})
    found = {Path(problem.file).stem: problem for problem in check(PARCELS).problems}
    assert {name: problem.path for name, problem in found.items() if name != SINGLE} == dict.fromkeys(
        (SINGLE_TWIN, ADAPTIVE, ADAPTIVE_TWIN), "/title"
    )
    assert "ZeroDivisionError: the check is broken" in found[SINGLE].found


def test_each_agent_plays_an_instance_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.checks import playing

    opened: list[Any] = []
    build = playing.Environment

    def counting(instance: Any, *rest: Any) -> Any:
        opened.append(instance)
        return build(instance, *rest)

    monkeypatch.setattr(playing, "Environment", counting)
    library = load_library([PARCELS])
    place = house.furnish("parcels", data_root("corpus"), grader_for)
    rehearsal = Rehearsal(place, instantiate(library.scenarios[SINGLE], place.domain))
    assert [observation.request.tool for observation in rehearsal.observed()] == ["hand_over", "hand_over"]
    assert rehearsal.grade("oracle") is rehearsal.grade("oracle")
    assert rehearsal.events("oracle") == playing.play_reference(place, rehearsal.instance, "oracle").events
    assert len(opened) == 2
