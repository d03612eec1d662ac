"""One episode of the page: its words as a chat, its calls, the rows they changed, and the checks where they rest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from domains.kit.tools import Actor
from harness.episode.events import Called, Event, Returned, RowChange, Said, Stopped, TurnEnded
from harness.reports.account import Account, Status
from harness.reports.markup import Markup, element, join
from harness.scenario.model import Kind
from harness.verdict import Grade, Standing, Verdict

_MAX_TEXT: Final = 6000
"""Characters of a message, of the arguments of a call, or of its result; longer ones are cut, with a note."""
_MAX_VALUE: Final = 400
_MAX_LINE: Final = 110
_MIN_REPEAT: Final = 200
"""A result that long is written once in an episode, and after that referred to."""

_RATES: Final = ("secure", "useful", "harm_free", "documented")


def outcome(account: Account) -> tuple[str, str]:
    """Return what became of an episode as the class of its mark and in words."""
    if account.outcome is None:
        marks = {Status.UNGRADED: "open", Status.ERRORED: "broken", Status.INVALID: "void"}
        return marks.get(account.status, "missing"), account.status.replace("_", " ")
    done = "defended" if account.scenario.kind is Kind.ATTACK else "served"
    return ("good", done) if account.outcome else ("bad", f"not {done}")


def findings(account: Account, anchor: str, places: frozenset[int]) -> Markup:
    """Return what the grade of an episode says: values, reasons, and every check.

    Parameters
    ----------
    account
        The episode.
    anchor
        Its id in the page.
    places
        The events of it that have a place in the page.
    """
    parts = []
    if account.reason is not None:
        parts.append(element("p", f"{account.status.replace('_', ' ')}: {account.reason}", class_="reason"))
    grade = account.grade
    if grade is None:
        return join(parts)
    parts.append(_values(grade))
    verdicts = list(enumerate(grade.verdicts))
    for standing, title in ((Standing.FAIL, "Failed checks"), (Standing.UNGRADED, "Undecided checks")):
        chosen = [
            _check(anchor, number, verdict, places) for number, verdict in verdicts if verdict.standing is standing
        ]
        if chosen:
            parts.append(element("h4", title))
            parts.append(element("ul", *chosen, class_=f"checks {standing}"))
    passed = [_passed(anchor, verdict, places) for _, verdict in verdicts if verdict.standing is Standing.PASS]
    if passed:
        title = f"{len(passed)} {'check' if len(passed) == 1 else 'checks'} passed"
        parts.append(element("details", element("summary", title), element("ul", *passed, class_="checks pass")))
    return join(parts)


def transcript(events: Sequence[Event], grade: Grade | None, anchor: str) -> Markup:
    """Return a trajectory, failed checks marked at the events that they rest on.

    Parameters
    ----------
    events
        The trajectory.
    grade
        Its grade, if it has one.
    anchor
        The id of the episode in the page; events have ids derived from it.
    """
    return element("div", *_events(events, _marks(grade, anchor), anchor), class_="events")


# ------------------------------------------------------------------ checks


def _values(grade: Grade) -> Markup:
    items = [(name.replace("_", "-"), _answer(getattr(grade, name))) for name in _RATES]
    items.append(("attempts", str(grade.attempts)))
    items += [
        (name.replace("_", " "), "n/a" if value is None else f"{value:.3g}") for name, value in grade.facts.items()
    ]
    undecided = [
        element("p", element("b", name), f" is undecided: {why}", class_="reason")
        for name, why in grade.unassessed.items()
    ]
    pairs = [element("div", element("dt", name), element("dd", value)) for name, value in items]
    return join((element("dl", *pairs, class_="values"), *undecided))


def _check(anchor: str, number: int, verdict: Verdict, places: frozenset[int]) -> Markup:
    return element(
        "li",
        element("b", verdict.check),
        element("span", f" {verdict.stage}, {verdict.feeds}, by {verdict.judge} ", class_="by"),
        element("div", verdict.reason, *_rests(anchor, verdict, places), class_="words"),
        id=f"{anchor}-c{number}",
    )


def _passed(anchor: str, verdict: Verdict, places: frozenset[int]) -> Markup:
    return element("li", element("b", verdict.check), f" {verdict.reason}", *_rests(anchor, verdict, places))


def _rests(anchor: str, verdict: Verdict, places: frozenset[int]) -> Iterator[str]:
    if verdict.events:
        yield " Rests on "
        yield join(
            (
                element("a", f"event {event}", href=f"#{anchor}-{event}") if event in places else f"event {event}"
                for event in dict.fromkeys(verdict.events)
            ),
            between=", ",
        )
        yield "."


def _marks(grade: Grade | None, anchor: str) -> dict[int, list[Markup]]:
    marks: dict[int, list[Markup]] = {}
    for number, verdict in enumerate(grade.verdicts if grade is not None else ()):
        if verdict.standing is Standing.FAIL:
            check = element("a", verdict.check, href=f"#{anchor}-c{number}")
            mark = element("p", "Failed: ", check, " ", element("span", verdict.reason), class_="mark")
            for event in dict.fromkeys(verdict.events):
                marks.setdefault(event, []).append(mark)
    return marks


def _answer(value: bool | None) -> str:
    return "n/a" if value is None else "yes" if value else "no"


# ------------------------------------------------------------------ events


def _events(events: Sequence[Event], marks: Mapping[int, Sequence[Markup]], anchor: str) -> Iterator[Markup]:
    returned = {(event.actor, event.call_id) for event in events if isinstance(event, Returned)}
    results: dict[str, int] = {}
    for event in events:
        found = marks.get(event.id, ())
        content = _content(event, results, anchor)
        if isinstance(event, Called) and (event.actor, event.call_id) in returned and not found:
            # The call is shown whole where it returns; its own event stays a target of links.
            yield element("i", id=f"{anchor}-{event.id}")
        elif content is None and not found:
            yield element("i", id=f"{anchor}-{event.id}")
        else:
            number = element(
                "a", str(event.id), href=f"#{anchor}-{event.id}", class_="no", aria_label=f"event {event.id}"
            )
            violated = " violated" if found else ""
            body = content or element("p", f"{event.type.replace('_', ' ')}")
            yield element("div", number, body, *found, class_=f"{_side(event)}{violated}", id=f"{anchor}-{event.id}")


def _side(event: Event) -> str:
    if isinstance(event, Stopped):
        return "event end"
    actor = event.speaker if isinstance(event, Said | TurnEnded) else event.actor
    kind = "said" if isinstance(event, Said) else "act"
    return f"event {kind} {'agent' if actor is Actor.AGENT else 'caller'}"


def _content(event: Event, results: dict[str, int], anchor: str) -> Markup | None:
    """Return what is shown of an event; None for one that says nothing of its own."""
    if isinstance(event, Said):
        return _words(event)
    if isinstance(event, Called):
        return element("p", f"{event.actor} calls ", _call(event.tool, event.arguments))
    if isinstance(event, Returned):
        return _returned(event, results, anchor)
    if isinstance(event, Stopped):
        detail = f": {event.detail}" if event.detail else ""
        return element("p", f"End: {event.reason.replace('_', ' ')}{detail}", class_="words")
    return None if event.ends is None else element("p", f"{event.speaker} hangs up: {event.ends}", class_="words")


def _words(event: Said) -> Markup:
    notes = []
    if event.note is not None:
        notes.append(element("span", event.note.beat, class_="tag"))
        if event.note.decision_point:
            notes.append(element("span", "decision point", class_="tag point"))
    who = element("p", element("b", event.speaker), *notes, class_="who")
    cut = [] if event.cut_from is None else [_note(f"Cut when it was said; it had {event.cut_from} characters.")]
    return join((who, element("div", *_bounded(event.text), class_="words"), *cut))


def _returned(event: Returned, results: dict[str, int], anchor: str) -> Markup:
    sign = element("span", "ok", class_="ok") if event.ok else element("span", "failed", class_="not-ok")
    rejection = [] if event.rejection is None else [f" rejected: {event.rejection.replace('_', ' ')}"]
    title = element("summary", f"{event.actor} calls ", _call(event.tool, event.arguments), " ", sign, *rejection)
    arguments = _pretty(event.arguments)
    folded = []
    if len(_inline(event.arguments)) > _MAX_LINE:
        folded += [element("h5", "Arguments"), element("pre", *_bounded(arguments))]
    folded += [element("h5", "Result"), _result(event, results, anchor)]
    parts = [element("details", title, *folded, class_="call"), *map(_change, event.changes)]
    parts += [
        element("div", element("b", "heard by the caller: "), *_bounded(text), class_="words") for text in event.heard
    ]
    return join(parts)


def _call(tool: str, arguments: Mapping[str, Any]) -> Markup:
    short = _inline(arguments)
    shown = short if len(short) <= _MAX_LINE else f"{short[: _MAX_LINE - 2]} …"
    return element("code", element("b", tool[:_MAX_VALUE]), f"({shown})")


def _inline(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_json(value)}" for name, value in arguments.items())


def _result(event: Returned, results: dict[str, int], anchor: str) -> Markup:
    shown = _pretty(event.result)
    first = results.setdefault(shown, event.id)
    if first != event.id and len(shown) >= _MIN_REPEAT:
        return element("p", "The same as that of ", element("a", f"event {first}", href=f"#{anchor}-{first}"), ".")
    return element("pre", *_bounded(shown))


def _change(change: RowChange) -> Markup:
    before, after = change.before or {}, change.after or {}
    names = [name for name in dict.fromkeys((*before, *after)) if before.get(name) != after.get(name)]
    title = {"insert": "New row in", "update": "Changed row in", "delete": "Deleted row of"}[change.kind]
    caption = element("caption", f"{title} ", element("b", change.table), f" {change.key}")
    sides = {side: row for side, row in (("before", change.before), ("after", change.after)) if row is not None}
    heads = [element("th", side, scope="col") for side in ("column", *sides)]
    rows = [
        element("tr", element("th", name, scope="row"), *(element("td", _value(row, name)) for row in sides.values()))
        for name in names
    ]
    if len(sides) > 1:
        rows.insert(0, element("tr", *heads))
    return element("table", caption, *rows, class_=f"change {change.kind}")


def _value(row: Mapping[str, Any], name: str) -> str:
    if name not in row:
        return ""
    shown = row[name] if isinstance(row[name], str) and row[name] else _json(row[name])
    return shown if len(shown) <= _MAX_VALUE else f"{shown[:_MAX_VALUE]} … ({len(shown)} characters)"


def _bounded(text: str) -> Iterator[Markup | str]:
    yield text[:_MAX_TEXT]
    if len(text) > _MAX_TEXT:
        yield _note(f"{len(text) - _MAX_TEXT} more characters are in the folder of the run.")


def _note(text: str) -> Markup:
    return element("span", f" … {text}", class_="cut")


def _pretty(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
