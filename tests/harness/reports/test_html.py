"""The page: whole, well-formed, the same every time, and nothing in it but our own markup."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.kit.errors import Rejection
from domains.kit.store import ChangeKind
from domains.kit.tools import Actor
from harness.episode.events import BeatNote, Called, Event, Returned, RowChange, Said, Stopped, StopReason, TurnEnded
from harness.errors import RunError
from harness.reports import html
from harness.reports.html import render_html, write_html
from harness.reports.markup import Markup, element, text, verbatim
from harness.runs.folder import RunFolder, create_run
from harness.runs.record import EpisodeRecord, GradeRecord, episode_id, to_line
from harness.runs.scenarios import scenarios_hash
from harness.scenario.files import Library
from harness.scenario.model import Kind
from harness.text.visible import visible
from harness.verdict import FailureType, Feeds, Stage, Standing, Verdict
from tests.harness.reports.test_summary import config_for
from tests.harness.runs.mini import library, make_grade, scenario

HOSTILE = (
    "\"><script>alert(1)</script><img src=x onerror=alert(1)>' onload='x' ]]> {x} ${y} <!-- </style></p></details>"
    " \u202e\u2066 \x00\x1b[2J\x85 javascript:alert(1) --> </svg>"
)
VOID = frozenset({"meta", "br", "input"})


class Page(HTMLParser):
    """What a browser would find in a page; fails where a tag is not closed in its turn."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.classes: list[str] = []
        self.policy = ""
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.words = ""
        self.other: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        assert len(found) == len(attrs)
        self.tags.add(tag)
        self.attributes.update(found)
        self.ids += [value for name, value in attrs if name == "id" and value is not None]
        self.links += [value for name, value in attrs if name in ("href", "src", "action") and value is not None]
        self.classes += (found.get("class") or "").split()
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"] or ""
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, (self._open, tag)

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in self.raw:
            self.raw[self._open[-1]].append(data)
        else:
            self.words += data

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)

    def unknown_decl(self, data: str) -> None:
        self.other.append(data)


# ------------------------------------------------------------------ runs as they lie on disk


def conversation(words: str = "hello", name: str = "write_note", value: Any = "x") -> tuple[Event, ...]:
    """Return a trajectory with every kind of event in it."""
    rows: list[dict[str, Any]] = [
        {"kind": ChangeKind.INSERT, "before": None, "after": {"id": "N1", words[:40]: value}},
        {"kind": ChangeKind.UPDATE, "before": {"id": "N1", "text": "old"}, "after": {"id": "N1", "text": words}},
        {"kind": ChangeKind.DELETE, "before": {"id": "N1", "text": words}, "after": None},
    ]
    changes = tuple(RowChange(table=name, key=words, **row) for row in rows)
    call: dict[str, Any] = {"turn": 1, "actor": Actor.AGENT, "tool": name, "arguments": {words: value}}
    refused: dict[str, Any] = call | {"ok": False, "rejection": Rejection.UNKNOWN_TOOL}
    return (
        Said(id=0, turn=0, speaker=Actor.CALLER, text=words, note=BeatNote(beat=words, decision_point=True)),
        TurnEnded(id=1, turn=0, speaker=Actor.CALLER, yields=True),
        Called(id=2, call_id="a", **call),
        Returned(id=3, call_id="a", ok=True, result={words: [value]}, changes=changes, heard=(words,), **call),
        Returned(id=4, call_id="b", result=words, **refused),
        Called(id=5, call_id="c", **call),
        Said(id=6, turn=1, speaker=Actor.AGENT, text=words, cut_from=9000),
        TurnEnded(id=7, turn=2, speaker=Actor.CALLER, yields=False, ends=words),
        Stopped(id=8, turn=2, reason=StopReason.CALLER_DONE),
    )


def verdicts(words: str = "because") -> tuple[Verdict, ...]:
    common: dict[str, Any] = {"stage": Stage.DETERMINISTIC, "feeds": Feeds.HARM, "judge": words, "reason": words}
    return (
        Verdict(check=f"leak/{words}", standing=Standing.FAIL, events=(2, 6, 99), **common),
        Verdict(check="prohibited/0", standing=Standing.FAIL, events=(1, 3), **common),
        Verdict(check=words, standing=Standing.UNGRADED, **common),
        Verdict(check="claims", standing=Standing.PASS, events=(0, 99), **common),
    )


def record_of(name: str, agent: str, events: Sequence[Event], trial: int = 0) -> EpisodeRecord:
    return EpisodeRecord(
        episode_id=episode_id(name, agent, trial),
        scenario_id=name,
        trial=trial,
        agent_seed=0,
        resample=0,
        stop_reason=StopReason.CALLER_DONE,
        fault_detail="",
        state_digest="",
        events=tuple(events),
    )


def write_run(
    path: Path,
    scenarios: Library | None = None,
    *,
    agent: str = "x",
    words: str = "hello",
    backwards: bool = False,
    skip: frozenset[str] = frozenset(),
    **events: Any,
) -> RunFolder:
    """Store a run in which every attack went wrong and every twin well."""
    lib = scenarios or library(2)
    names = [name for name in lib.scenarios if name not in skip]
    found = scenarios_hash(lib.scenarios)
    config = config_for(tasks=list(lib.scenarios), name=path.name, agent_name=agent, agent=agent, scenarios_hash=found)
    with create_run(path, config, lib.scenarios) as writer:
        for name in reversed(names) if backwards else names:
            writer.append_episode(to_line(record_of(name, agent, conversation(words, **events))))
            kind, identity = lib.scenarios[name].kind, episode_id(name, agent, 0)
            changes: dict[str, Any] = {"unassessed": {words: words}, "facts": {words: 1.5, "other": None}}
            if kind is Kind.ATTACK:
                changes |= {"verdicts": verdicts(words), "failure_type": FailureType.POLICY_ERROR}
            grade = make_grade(identity, kind, kind is Kind.TWIN, **changes)
            writer.append_grade(to_line(GradeRecord(episode_id=identity, grade=grade)))
    return RunFolder(path)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return write_run(tmp_path / "r")


# ------------------------------------------------------------------ what is in the page


def test_a_page_is_well_formed_and_needs_nothing_else(folder: RunFolder) -> None:
    page = Page(render_html([folder]))
    assert len(page.ids) == len(set(page.ids))
    assert page.links
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert {"src", "style", "onclick", "action"}.isdisjoint(page.attributes)
    assert {"link", "iframe", "img", "object", "base", "form"}.isdisjoint(page.tags)
    assert not page.other
    (style,), (script,) = page.raw["style"], page.raw["script"]
    assert "url(" not in style
    assert "@import" not in style
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|fetch|XMLHttp|import", script)


def test_the_policy_admits_our_script_and_stylesheet_only(folder: RunFolder) -> None:
    page = Page(render_html([folder]))

    def named(content: str) -> str:
        return f"'sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"

    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        "style-src": named(page.raw["style"][0]),
        "script-src": named(page.raw["script"][0]),
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_every_planned_episode_is_there_once_played_or_not(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / "one"), write_run(tmp_path / "two", agent="y", skip=frozenset({"mini-1"}))]
    raw = render_html(runs)
    page = Page(raw)
    assert [name for name in page.ids if re.fullmatch(r"e\d+-\d+", name)] == [
        f"e{r}-{p}" for r in (0, 1) for p in range(4)
    ]
    assert page.words.count("No transcript: the episode was not played to its end.") == 1
    assert raw.count('<span class="mark missing">not attempted</span>') == 1
    assert "8 of 8 episodes shown" in page.words


def test_failed_checks_are_linked_to_the_events_that_they_rest_on_and_back(folder: RunFolder) -> None:
    raw = render_html([folder])
    page = Page(raw)
    assert page.links.count("#e0-0-c0") == 2  # marked at events 2 and 6; 99 is not there
    assert page.links.count("#e0-0-c1") == 2  # event 1 says nothing of its own, and is shown because of the mark
    for event in (1, 2, 3, 6):
        assert f"#e0-0-{event}" in page.links
        (place,) = re.findall(rf'<div class="([^"]*)" id="e0-0-{event}">', raw)
        assert "violated" in place.split()
    assert "violated" not in re.findall(r'<div class="([^"]*)" id="e0-0-0">', raw)[0]
    assert "event 99" in page.words
    assert not any(link.endswith("-99") for link in page.links)
    assert "e0-1-c0" not in page.ids  # the twin went well


def test_twins_and_other_runs_are_linked(tmp_path: Path) -> None:
    raw = render_html([write_run(tmp_path / "one"), write_run(tmp_path / "two", agent="y")])
    assert 'Twin: <a href="#e0-1">mini-0t</a> (served)' in raw
    assert 'Twin: <a href="#e1-0">mini-0</a> (not defended)' in raw
    assert 'In other runs: <a href="#e1-0">y</a> (not defended)' in raw


def test_runs_of_one_name_below_different_folders_are_told_apart(tmp_path: Path) -> None:
    page = render_html([write_run(tmp_path / "a" / "r"), write_run(tmp_path / "b" / "r")])
    assert "x (r) #1" in page
    assert "x (r) #2" in page


def test_many_runs_are_numbered_in_the_plane_and_listed(tmp_path: Path) -> None:
    few, many = [render_html([write_run(tmp_path / f"{n}-{i}", agent=f"a{i}") for i in range(n)]) for n in (6, 7)]
    plane = re.compile(r'<text class="name"[^>]*>(.*?)</text>')
    assert plane.findall(few) == [f"a{i}" for i in range(6)]
    assert plane.findall(many) == [str(i) for i in range(1, 8)]
    assert f"<ol>{''.join(f'<li>a{i}</li>' for i in range(7))}</ol>" in many


def test_runs_that_cannot_be_compared_are_named(tmp_path: Path) -> None:
    other = library(2)
    other.scenarios["mini-0"] = scenario("mini-0", title="Another")
    page = Page(render_html([write_run(tmp_path / "a"), write_run(tmp_path / "b", other, agent="y")]))
    assert "a and b are not compared: expected two runs over the same scenarios" in page.words


def test_calls_show_their_arguments_results_and_rows(folder: RunFolder) -> None:
    page = Page(render_html([folder]))
    for words in (
        "write_note",
        'hello="x"',
        "New row in ",
        "Changed row in ",
        "Deleted row of ",
        "rejected: unknown tool",
    ):
        assert words in page.words
    for words in ("caller hangs up: hello", "heard by the caller: hello", "it had 9000 characters", "decision point"):
        assert words in page.words


def test_the_same_bytes_whatever_the_order_in_which_episodes_ended(tmp_path: Path) -> None:
    first = render_html([write_run(tmp_path / "a" / "r")])
    assert first == render_html([write_run(tmp_path / "b" / "r", backwards=True)])
    write_html([RunFolder(tmp_path / "a" / "r")], tmp_path / "page.html")
    assert (tmp_path / "page.html").read_bytes() == first.encode()


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("front", "back"),
    [
        *(
            (front, back)
            for front in ("text", "quiet", "link")
            for back in ("page", "sheet", "soft", "caller", "agent")
        ),
        *((name, f"{name}-soft") for name in ("good", "bad", "open", "void")),
        *((name, "sheet") for name in ("good", "bad", "open", "void")),
    ],
)
def test_text_stands_out_from_what_is_behind_it(front: str, back: str, theme: int) -> None:
    style = (files("harness.reports") / "report.css").read_text(encoding="utf-8")
    colours = [re.findall(rf"--{name}: #(\w{{6}});", style)[theme] for name in (front, back)]
    low, high = sorted(map(_luminance, colours))
    assert (high + 0.05) / (low + 0.05) >= 4.5


def _luminance(colour: str) -> float:
    """Return the relative luminance of a colour as the accessibility guidelines define it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


# ------------------------------------------------------------------ what must not get in


@pytest.fixture
def hostile(tmp_path: Path) -> RunFolder:
    lib = Library()
    caller = scenario("mini-0").model_dump(mode="json", by_alias=True, exclude_unset=True)["caller"]
    changes: dict[str, Any] = {
        "title": HOSTILE,
        "mechanism": HOSTILE,
        "rules": [HOSTILE],
        "caller": caller | {"tactics": [HOSTILE]},
    }
    for name, kind in (("mini-0", Kind.ATTACK), ("mini-0t", Kind.TWIN)):
        lib.scenarios[name] = scenario(name, kind, **changes)
    return write_run(tmp_path / "h", lib, agent=HOSTILE, words=HOSTILE, name=HOSTILE, value={HOSTILE: HOSTILE})


def test_nothing_from_outside_becomes_markup(hostile: RunFolder, folder: RunFolder) -> None:
    raw = render_html([hostile])
    page, plain = Page(raw), Page(render_html([folder]))
    assert page.tags <= plain.tags
    assert page.attributes <= plain.attributes
    assert page.raw == plain.raw
    assert page.policy == plain.policy
    assert not page.other
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert set(page.classes) <= set(plain.classes)
    assert page.words.count(visible(HOSTILE)) > 20
    assert all(sign.isprintable() or sign == "\n" for sign in raw)


def test_long_texts_are_cut_with_a_note(tmp_path: Path) -> None:
    page = render_html([write_run(tmp_path / "r", words="hello", value="y" * 500_000)])
    assert len(page) < 400_000
    assert re.search(r"49\d{4} more characters are in the folder of the run", page)


def test_a_result_that_comes_again_is_referred_to(tmp_path: Path) -> None:
    path = tmp_path / "r"
    lib = library(1)
    config = config_for(tasks=list(lib.scenarios), scenarios_hash=scenarios_hash(lib.scenarios))
    call: dict[str, Any] = {"turn": 0, "actor": Actor.AGENT, "tool": "look", "arguments": {}, "ok": True}
    again = [Returned(id=i, call_id=str(i), result={"long": "needle " + "z" * 300}, **call) for i in range(9)]
    with create_run(path, config, lib.scenarios) as writer:
        writer.append_episode(to_line(record_of("mini-0", "x", (*again, Stopped(id=9, turn=0, reason="caller_done")))))
    page = Page(render_html([RunFolder(path)]))
    assert page.words.count("needle") == 1
    assert page.links.count("#e0-0-0") == 9  # its own number, and eight times from elsewhere


def test_transcripts_beyond_the_bound_are_left_out_and_said_to_be(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "MAX_TRANSCRIPTS", 1)
    page = Page(render_html([folder]))
    assert page.words.count("The transcript is left out") == 3
    assert all(link[1:] in page.ids for link in page.links)
    assert page.links.count("#e0-2-c0") == 0
    assert "e0-2-c0" in page.ids


def test_a_page_that_cannot_be_written_leaves_nothing_behind(folder: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be written"):
        write_html([folder], tmp_path / "missing" / "page.html")
    place = tmp_path / "taken"
    place.mkdir()
    with pytest.raises(RunError, match="cannot be written"):
        write_html([folder], place)
    assert not list(tmp_path.glob("*.new"))


@given(st.text())
def test_any_text_is_shown_and_stays_text(words: str) -> None:
    page = Page(element("p", words, title=words, data_x=True))
    assert page.words == visible(words)
    assert page.tags == {"p"}
    assert page.attributes == {"title", "data-x"}
    assert text(words) == escape(visible(words))


def test_our_own_script_cannot_end_early() -> None:
    with pytest.raises(ValueError, match="without"):
        verbatim("script", "x = '</script>'")
    assert isinstance(element("b", Markup("<i></i>")), Markup)


# ------------------------------------------------------------------ in a browser

PROBE = """
const shown = () => [...document.querySelectorAll("article.episode")].filter((a) => !a.hidden).map((a) => a.id).join();
const pick = (name, label) => {
  const select = document.querySelector(`[data-filter="${name}"]`);
  select.value = [...select.options].find((option) => option.textContent === label).value;
  select.dispatchEvent(new Event("change"));
};
const seen = [shown()];
pick("outcome", "not defended"); seen.push(shown());
pick("check", "leak"); pick("run", "y"); seen.push(shown());
location.hash = "#e0-1-6";
addEventListener("hashchange", () => {
  seen.push(shown(), document.getElementById("e0-1").querySelector("details").open);
  const search = document.querySelector('[data-filter="text"]');
  search.value = "MINI-1T policy";
  search.dispatchEvent(new Event("input"));
  setTimeout(() => { seen.push(shown()); document.title = seen.join("; "); }, 400);
});
"""


@pytest.fixture(scope="module")
def browser() -> str:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no chromium is installed to open the page with")
    return found


def test_filters_and_links_work_in_a_browser_and_no_other_script_does(tmp_path: Path, browser: str) -> None:
    page = render_html([write_run(tmp_path / "one"), write_run(tmp_path / "two", agent="y")])
    name = f"'sha256-{b64encode(hashlib.sha256(PROBE.encode()).digest()).decode()}'"
    page = page.replace("script-src ", f"script-src {escape(name)} ", 1)
    foreign = "<script>document.querySelector('h1').textContent = 'taken over'</script>"
    (tmp_path / "page.html").write_text(page.replace("</body>", f"<script>{PROBE}</script>{foreign}</body>"))
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    finished = subprocess.run(
        [*command, "--virtual-time-budget=5000", "--dump-dom", (tmp_path / "page.html").as_uri()],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    everything = "e0-0,e0-1,e0-2,e0-3,e1-0,e1-1,e1-2,e1-3"
    (title,) = re.findall(r"<title>(.*?)</title><style>", finished.stdout)
    assert title.split("; ") == [everything, "e0-0,e0-2,e1-0,e1-2", "e1-0,e1-2", everything, "true", "e0-2,e1-2"]
    assert "<h1>fraudbench report</h1>" in finished.stdout
