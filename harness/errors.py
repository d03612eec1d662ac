"""Everything that can go wrong in the harness, by the boundary it crosses.

::

    HarnessError
    +-- UnknownName         a name that is not in the mapping it is looked up in
    +-- DataError           a file of the user is not what it must be: names file and place
    |   +-- CorpusError     a document of the corpus
    |   +-- ScenarioError   a scenario file
    |   +-- RecordError     a file of a run folder
    +-- RunError            a run cannot be started or continued as asked
    +-- ParticipantError    a participant broke its contract; ends its episode only
    +-- WorldFault          the domain failed under an episode; ends that episode only
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class HarnessError(Exception):
    """Root of the harness' exceptions."""


class UnknownName(HarnessError):
    """A name that is not in the mapping it is looked up in.

    Parameters
    ----------
    kind
        What was looked up, in the singular: ``"retrieval condition"``.
    name
        The name that is not known.
    known
        Every name that is.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        super().__init__(f"expected a {kind} ({', '.join(names) or 'there is none'}), found {name!r}{hint}")
        self.kind = kind
        self.name = name
        self.known = names

    def __reduce__(self) -> tuple[type[UnknownName], tuple[str, str, list[str]]]:
        """Rebuild from the parts, so that the error crosses to another process."""
        return type(self), (self.kind, self.name, self.known)


class DataError(HarnessError):
    """A file of the user is not what it must be.

    Parameters
    ----------
    file
        The file or folder, as the user would write it.
    path
        The place in it (``/facts/0/value``), empty for the whole file.
    expected, found
        What should stand there, and what does.
    hint
        What to do, as a sentence; may be empty.
    """

    def __init__(self, file: str, path: str, expected: str, found: str, hint: str = "") -> None:
        place = f"{file}: {path}" if path else file
        super().__init__(f"{place}: expected {expected}, found {found}" + (f". {hint}" if hint else ""))
        self.file = file
        self.path = path
        self.expected = expected
        self.found = found
        self.hint = hint

    def __reduce__(self) -> tuple[type[DataError], tuple[str, ...]]:
        """Rebuild from the parts, so that the error crosses to another process."""
        return type(self), (self.file, self.path, self.expected, self.found, self.hint)


class CorpusError(DataError):
    """A document of the corpus cannot be read."""


class ScenarioError(DataError):
    """A scenario file is malformed, or what it asks for cannot be built."""


class RecordError(DataError):
    """A file of a run folder cannot be read."""


class RunError(HarnessError):
    """A run cannot be started or continued as asked."""


class ParticipantError(HarnessError):
    """A participant broke its contract: it raised, or returned something that is no turn."""


class WorldFault(HarnessError):
    """A tool or planner raised something that is no refusal: a bug in the domain, not conduct of a participant."""
