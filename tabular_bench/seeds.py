"""Random state from names: every draw is reproducible and independent of the order in which things run."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.random import Generator


def derive_seed(*parts: str | int) -> int:
    """Hash what a stream of random numbers is for into its seed.

    Parameters
    ----------
    *parts
        A seed and the names of what is drawn: ``derive_seed(42, "lcld", "split")``.

    Returns
    -------
    int
        128 bits, the same on every machine.
    """
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def generator(*parts: str | int) -> Generator:
    """Return a new random generator for the stream that `parts` name.

    Parameters
    ----------
    *parts
        As for `derive_seed`.

    Returns
    -------
    Generator
        PCG64, seeded with `derive_seed`.
    """
    import numpy as np

    return np.random.Generator(np.random.PCG64(derive_seed(*parts)))
