"""Draws by hashing: the same labels give the same value on every machine and with every library version."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Draw:
    """A point in a tree of random draws; children are named, so adding one never moves another.

    Attributes
    ----------
    path
        The labels from the root, the seed first.
    """

    path: tuple[str | int, ...]

    def child(self, *labels: str | int) -> Draw:
        """Return the draw below this one with these labels."""
        return Draw(self.path + labels)

    def bits(self) -> int:
        """Return 256 uniform bits that depend on nothing but the path."""
        text = "\x1f".join(map(str, self.path))
        return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")

    def integer(self, low: int, high: int) -> int:
        """Return an integer in ``low..high``, both included.

        Raises
        ------
        ValueError
            If `high` is below `low`.
        """
        if high < low:
            raise ValueError(f"expected low <= high, found {low} and {high}")
        return low + self.bits() % (high - low + 1)

    def choice(self, options: Sequence[_T]) -> _T:
        """Return one of `options`, which must not be empty."""
        return options[self.integer(0, len(options) - 1)]

    def digits(self, count: int) -> str:
        """Return `count` decimal digits, the first of them not 0."""
        return str(self.integer(10 ** (count - 1), 10**count - 1))

    def code(self, pattern: str) -> str:
        """Fill a pattern: ``A`` becomes a letter, ``9`` a digit, everything else stands.

        Letters and digits that are mistaken for each other (I, O, 0, 1) are left out.
        """
        letters, numerals = "ABCDEFGHJKLMNPQRSTUVWXYZ", "23456789"
        pools = {"A": letters, "9": numerals}
        return "".join(
            self.child("code", place).choice(pools[sign]) if sign in pools else sign
            for place, sign in enumerate(pattern)
        )


def record_id(draw: Draw, prefix: str) -> str:
    """Return an opaque record id such as ``PM-K7R4T9``: no run of digits, nothing to guess from."""
    return f"{prefix}-{draw.child('id', prefix).code('A9A9A9')}"
