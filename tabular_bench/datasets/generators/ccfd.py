"""Card payments as principal components: 28 of them with falling variance, an amount and a time.

Legitimate components have heavier tails than the normal distribution. A fraud shifts a dozen components, by a common
strength that is large for most frauds and next to nothing for some, which no detector can find.
"""

from __future__ import annotations

import numpy as np

from tabular_bench.datasets.generators.drawing import exact_labels, finish
from tabular_bench.datasets.raw import RawTable
from tabular_bench.seeds import generator

PREVALENCE = 0.0017
COMPONENTS = 28
SECONDS = 172_800

# How many deviations a fraud of full strength shifts a component by.
_SHIFTS = {
    1: -1.4,
    2: 1.3,
    3: -2.9,
    4: 2.9,
    7: -2.2,
    9: -2.0,
    10: -3.8,
    11: 3.4,
    12: -4.7,
    14: -5.4,
    16: -2.9,
    17: -5.0,
}


def generate(count: int, seed: int) -> RawTable:
    """Generate payments.

    Parameters
    ----------
    count
        Of rows.
    seed
        Of the draw.

    Returns
    -------
    RawTable
        30 columns without gaps.
    """
    rng = generator(seed, "ccfd")
    labels = exact_labels(count, PREVALENCE, rng)
    deviations = 1.95 * 0.95 ** np.arange(COMPONENTS)
    heavy = rng.standard_t(5, (count, COMPONENTS)) / np.sqrt(5 / 3)
    strength = np.where(labels, rng.beta(1.4, 0.7, count), 0.0)
    # A few legitimate payments look a little like fraud.
    odd = ~labels & (rng.random(count) < 0.004)
    strength = np.where(odd, rng.beta(1.2, 4.0, count), strength)
    for number, shift in _SHIFTS.items():
        heavy[:, number - 1] += shift * strength * rng.gamma(6, 1 / 6, count)
    hour = (rng.normal(14, 5, count) % 24) + 24 * rng.integers(0, 2, count)
    columns = {"Time": np.floor(np.where(labels, rng.random(count) * SECONDS, hour * 3600) % SECONDS)}
    columns |= {f"V{number + 1}": heavy[:, number] * deviations[number] for number in range(COMPONENTS)}
    amount = rng.lognormal(np.where(labels, 3.0, 3.2), np.where(labels, 2.0, 1.6))
    columns["Amount"] = np.round(np.minimum(amount, 25_000), 2)
    return finish(columns, labels, "CCFD")
