"""Tables as text: aligned for a terminal, or in Markdown. Names come from files and participants and are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a title; the first column is text, the others are aligned to the right.

    Attributes
    ----------
    notes
        Sentences below it.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def as_text(self) -> str:
        """Return the table for a terminal; no line of it can do more than show characters."""
        rows = [[plain(cell) for cell in row] for row in (self.header, *self.rows)]
        widths = [max(len(row[place]) for row in rows) for place in range(len(self.header))]
        lines = ["  ".join(_aligned(row, widths)).rstrip() for row in rows]
        lines.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join([plain(self.title), "", *lines, *(plain(note) for note in self.notes)]) + "\n"

    def as_markdown(self) -> str:
        """Return the table in Markdown; text in it is text, and starts neither markup nor another cell."""
        rule = ["---", *["---:"] * (len(self.header) - 1)]
        rows = [[markdown(cell) for cell in row] for row in (self.header, *self.rows)]
        rows.insert(1, rule)
        lines = [f"| {' | '.join(row)} |" for row in rows]
        notes = [line for note in self.notes for line in ("", markdown(note))]
        return "\n".join([f"## {markdown(self.title)}", "", *lines, *notes]) + "\n"


def plain(text: str) -> str:
    """Return text in which everything that is not a visible character or a space is written as an escape."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def markdown(text: str) -> str:
    """Return text in which nothing is taken for Markdown or HTML."""
    return "".join(f"\\{sign}" if sign in r"\`*_[]<>|#~" else sign for sign in plain(text))


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *rest = zip(row, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
