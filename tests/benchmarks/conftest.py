"""One table of all figures, printed at the end; a promise that is not kept fails the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

_WIDTH = 62


@dataclass(frozen=True, slots=True)
class _Figure:
    what: str
    measured: float
    unit: str
    at_most: float | None
    at_least: float | None

    @property
    def is_kept(self) -> bool:
        is_low_enough = self.at_most is None or self.measured <= self.at_most
        return is_low_enough and (self.at_least is None or self.measured >= self.at_least)

    @property
    def is_promised(self) -> bool:
        return self.at_most is not None or self.at_least is not None

    def line(self) -> str:
        limit = self.at_least if self.at_most is None else self.at_most
        promised = "" if limit is None else f"{limit:>7g}  {'pass' if self.is_kept else 'MISSED'}"
        return f"{self.what:<{_WIDTH}} {self.measured:>9.3f} {self.unit:<6} {promised}".rstrip()


class Table:
    """The figures measured so far."""

    def __init__(self) -> None:
        self.figures: list[_Figure] = []

    def add(
        self,
        what: str,
        measured: float,
        unit: str,
        at_most: float | None = None,
        *,
        at_least: float | None = None,
    ) -> None:
        """Add a figure, with the most or the least that is promised where something is."""
        self.figures.append(_Figure(what, measured, unit, at_most, at_least))

    @property
    def is_kept(self) -> bool:
        """Whether every promise is kept."""
        return all(figure.is_kept for figure in self.figures)

    def lines(self) -> Iterator[str]:
        """Yield the table line by line."""
        yield f"{'':<{_WIDTH}} {'measured':>9} {'':<6} promised"
        for figure in sorted(self.figures, key=lambda figure: not figure.is_promised):
            yield figure.line()


_TABLE = pytest.StashKey[Table]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_TABLE] = Table()


@pytest.fixture
def table(pytestconfig: pytest.Config) -> Table:
    """The table of this run."""
    return pytestconfig.stash[_TABLE]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    terminalreporter.write_line("")
    for line in config.stash[_TABLE].lines():
        terminalreporter.write_line(line)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.exitstatus == pytest.ExitCode.OK and not session.config.stash[_TABLE].is_kept:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
