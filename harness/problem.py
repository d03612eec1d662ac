"""What a check of scenarios or of the corpus reports."""

from __future__ import annotations

from dataclasses import dataclass

from harness.errors import DataError


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong in a file.

    Attributes
    ----------
    path
        The place in the file, as a JSON path (``/facts/0/value``); ``text`` for the prose of a document, empty for
        the whole file.
    expected, found
        What should stand there, and what does.
    message
        The matter in one sentence, with what to do where that is not plain.
    """

    file: str
    path: str
    expected: str
    found: str
    message: str

    @staticmethod
    def of(error: DataError) -> Problem:
        """Report a file that could not be read."""
        message = error.hint or "The file cannot be read as it is."
        return Problem(error.file, error.path, error.expected, error.found, message)

    def __str__(self) -> str:
        place = f"{self.file}: {self.path}" if self.path else self.file
        return f"{place}: expected {self.expected}, found {self.found}. {self.message}"
