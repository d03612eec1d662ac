"""The few array functions that relations need, once for NumPy and once for torch.

Both hold the same names with the same meaning, so there is one evaluator; which one applies is told by the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

# A NumPy array or a torch tensor: torch may not be installed, so the type checker cannot know it.
Array = Any


@dataclass(frozen=True, slots=True)
class Backend:
    """Array functions of one library.

    Attributes
    ----------
    absolute, expm1, log1p, log2, round_half_even
        Element by element.
    maximum, minimum
        Of two arrays, element by element.
    where
        Chooses between two arrays by a third.
    full
        An array of the shape of the first argument, filled with the number that is the second.
    stack
        Arrays of shape ``(n,)`` become the columns of one of shape ``(n, k)``.
    """

    absolute: Callable[[Array], Array]
    expm1: Callable[[Array], Array]
    log1p: Callable[[Array], Array]
    log2: Callable[[Array], Array]
    round_half_even: Callable[[Array], Array]
    maximum: Callable[[Array, Array], Array]
    minimum: Callable[[Array, Array], Array]
    where: Callable[[Array, Array, Array], Array]
    full: Callable[[Array, float], Array]
    stack: Callable[[list[Array]], Array]


NUMPY = Backend(
    absolute=np.abs,
    expm1=np.expm1,
    log1p=np.log1p,
    log2=np.log2,
    round_half_even=np.round,
    maximum=np.maximum,
    minimum=np.minimum,
    where=np.where,
    # Not full_like, which would round the number for an array of integers.
    full=lambda like, number: np.full(like.shape, number, dtype=np.float64),
    stack=lambda arrays: np.stack(arrays, axis=1),
)


def backend_of(rows: Array) -> Backend:
    """Return the functions for the library that `rows` belongs to."""
    return NUMPY if isinstance(rows, np.ndarray) else _torch_backend()


def _torch_backend() -> Backend:
    import torch

    return Backend(
        absolute=torch.abs,
        expm1=torch.expm1,
        log1p=torch.log1p,
        log2=torch.log2,
        round_half_even=torch.round,
        maximum=torch.maximum,
        minimum=torch.minimum,
        where=torch.where,
        full=torch.full_like,
        stack=lambda arrays: torch.stack(arrays, dim=1),
    )
