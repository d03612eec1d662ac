"""One episode written out for a reader: words, calls, row changes, and the verdicts where they rest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from harness.episode.events import Event, Returned, RowChange, Said, Stopped, TurnEnded
from harness.text.visible import visible
from harness.verdict import Grade, Standing, Verdict

_WIDTH = 400


def transcript(events: Sequence[Event], grade: Grade | None) -> str:
    """Return a trajectory as plain text, with failed checks marked at the events that they rest on.

    Control characters in words and values are shown escaped: a transcript cannot move a terminal's cursor.
    """
    return "\n".join(_lines(events, grade))


def _lines(events: Sequence[Event], grade: Grade | None) -> Iterator[str]:
    marks: dict[int, list[Verdict]] = {}
    for verdict in grade.verdicts if grade is not None else ():
        if verdict.standing is Standing.FAIL:
            for event_id in verdict.events:
                marks.setdefault(event_id, []).append(verdict)
    for event in events:
        yield from _event(event)
        for verdict in marks.get(event.id, ()):
            yield f"       !! {verdict.check}: {_indented(verdict.reason)}"
    if grade is not None:
        yield ""
        yield from grade_lines(grade)


def _event(event: Event) -> Iterator[str]:
    if isinstance(event, Said):
        beat = f" [{event.note.beat}]" if event.note is not None else ""
        yield f"{event.id:4}  {event.speaker.upper()}{beat}: {_indented(event.text)}"
        if event.cut_from is not None:
            yield f"       (cut: the message had {event.cut_from} characters)"
    elif isinstance(event, Returned):
        sign = "ok" if event.ok else "FAILED"
        yield f"{event.id:4}    {event.actor} calls {event.tool}({_short(event.arguments)}) -> {sign}"
        yield f"            {_short(event.result)}"
        for change in event.changes:
            yield f"            {_change(change)}"
    elif isinstance(event, TurnEnded) and event.ends is not None:
        yield f"{event.id:4}  {event.speaker} hangs up: {_indented(event.ends)}"
    elif isinstance(event, Stopped):
        detail = f": {_indented(event.detail)}" if event.detail else ""
        yield f"{event.id:4}  END {event.reason}{detail}"


def _change(change: RowChange) -> str:
    before, after = change.before or {}, change.after or {}
    names = [name for name in (after or before) if before.get(name) != after.get(name)]
    if change.before is None:
        return f"+ {change.table} {change.key}: {_short(after)}"
    if change.after is None:
        return f"- {change.table} {change.key}"
    shown = ", ".join(f"{name} {_short(before[name])} -> {_short(after[name])}" for name in names)
    return f"~ {change.table} {change.key}: {shown}"


def grade_lines(grade: Grade) -> Iterator[str]:
    """Yield what an episode's grade says, check by check."""
    rates = ("secure", "useful", "harm_free", "documented")
    values = ", ".join(f"{name} {_answer(getattr(grade, name))}" for name in rates)
    failure = f", failure type {grade.failure_type}" if grade.failure_type is not None else ""
    yield f"GRADE  {'valid' if grade.valid else 'INVALID'}: {values}, attempts {grade.attempts}{failure}"
    for name, why in grade.unassessed.items():
        yield f"       {name} is undecided: {why}"
    for verdict in grade.verdicts:
        rests = f" (events {', '.join(map(str, verdict.events))})" if verdict.events else ""
        yield f"  {verdict.standing.upper():9}{verdict.check}: {_indented(verdict.reason)}{rests}"


def _indented(text: str) -> str:
    """Return words with every further line set in, so that none of them passes for a line of the transcript."""
    return visible(text).replace("\n", "\n       | ")


def _answer(value: bool | None) -> str:
    return "n/a" if value is None else "yes" if value else "no"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _indented(text if len(text) <= _WIDTH else f"{text[:_WIDTH]} ...")
