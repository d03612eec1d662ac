"""Online payments with the platform's own features: counts (C), time gaps (D), matches (M) and 339 others (V).

A few hidden traits of a payment (how often the card and the address were seen, how new the device is, whether names
match) drive whole blocks of columns, which are then missing together, more often for some products than for others.
Frauds come in kinds that differ in their traits; a part of them has none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tabular_bench.datasets.generators.drawing import choose, exact_labels, finish, with_gaps
from tabular_bench.datasets.raw import RawTable
from tabular_bench.schema import BoolArray, FloatArray
from tabular_bench.seeds import generator

PREVALENCE = 0.035
SECONDS = 15_811_131
TRAITS = 8

# The last column of each block of V that is missing together, and how often it is.
_V_BLOCKS = (
    (11, 0.47),
    (34, 0.13),
    (52, 0.28),
    (74, 0.13),
    (94, 0.15),
    (137, 0.005),
    (166, 0.86),
    (216, 0.76),
    (278, 0.78),
    (321, 0.02),
    (339, 0.86),
)
_D_GAPS = (0, 0.47, 0.44, 0.28, 0.52, 0.87, 0.93, 0.87, 0.87, 0.13, 0.47, 0.89, 0.89, 0.89, 0.15)
_DOMAINS = """
gmail.com 228 yahoo.com 101 hotmail.com 45 anonymous.com 37 aol.com 28 comcast.net 8 icloud.com 6 outlook.com
5 msn.com 4 att.net 4 live.com 3 sbcglobal.net 3 verizon.net 3 ymail.com 2.4 bellsouth.net 1.9 yahoo.com.mx
1.5 me.com 1.5 cox.net 1.4 optonline.net 1 charter.net .8 live.com.mx .7 rocketmail.com .7 mail.com .6
earthlink.net .5 gmail .5 outlook.es .4 mac.com .4 juno.com .3 aim.com .3 hotmail.es .3 roadrunner.com .3
windstream.net .3 hotmail.fr .3 frontier.com .3 embarqmail.com .26 web.de .24 netzero.com .23 twc.com .23
prodigy.net.mx .2 centurylink.net .2 netzero.net .2 frontiernet.net .2 q.com .2 suddenlink.net .17 cfl.rr.com
.17 sc.rr.com .16 cableone.net .16 gmx.de .15 yahoo.fr .14 yahoo.es .13 hotmail.co.uk .11 protonmail.com .08
yahoo.de .07 ptd.net .07 live.fr .06 yahoo.co.uk .05 hotmail.de .04 servicios-ta.com .04 yahoo.co.jp .03
"""

# Of each kind of fraud: its share, and how it shifts the hidden traits.
_KINDS = (
    (0.36, (2.9, 0.0, 2.2, 0.0, 0.0, 0.8, 0.0, 0.0)),
    (0.27, (0.0, 3.1, 0.0, -2.0, 0.0, 0.0, 1.5, 0.0)),
    (0.19, (-0.8, 1.0, 0.0, 0.0, 2.7, 0.0, 0.0, 1.8)),
    (0.18, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
)

Columns = dict[str, NDArray[Any]]


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
        392 columns, most with gaps.
    """
    rng = generator(seed, "ieee-cis")
    labels = exact_labels(count, PREVALENCE, rng)
    traits = _traits(labels, rng)
    product = np.where(
        labels,
        choose(("W", "C", "R", "H", "S"), (52, 30, 7, 9, 2), count, rng),
        choose(("W", "C", "R", "H", "S"), (75, 11, 6.4, 5.6, 2), count, rng),
    )
    columns = _payment(labels, product, traits, rng)
    columns |= _platform(product, traits, rng)
    columns |= _vendor(product, traits, rng)
    return finish(columns, labels, "IEEE-CIS")


def _traits(labels: BoolArray, rng: Generator) -> FloatArray:
    count = len(labels)
    # Heavier tails than normal: the odd customer exists.
    traits: FloatArray = rng.standard_t(6, (count, TRAITS)) / np.sqrt(1.5)
    edges = np.cumsum([share for share, _ in _KINDS])
    kind = np.minimum(np.searchsorted(edges, rng.random(count)), len(_KINDS) - 1)
    shifts = np.array([shift for _, shift in _KINDS])[kind]
    strength = np.where(labels, rng.gamma(5, 0.2, count), 0.0)
    shifted: FloatArray = traits + strength[:, None] * shifts
    return shifted


def _payment(labels: BoolArray, product: NDArray[Any], traits: FloatArray, rng: Generator) -> Columns:
    count = len(labels)
    middle = np.select([product == "W", product == "C", product == "R", product == "H"], [4.5, 3.3, 4.9, 4.1], 3.9)
    amount = np.exp(middle + np.where(labels, 0.12, 0.0) + rng.normal(0, 0.8, count))
    domains = _DOMAINS.split()
    names, weights = domains[::2], [float(weight) for weight in domains[1::2]]
    is_remote = product != "W"
    return {
        "TransactionDT": 86_400 + np.sort(np.floor(rng.random(count) * SECONDS)),
        "TransactionAmt": np.round(np.clip(amount, 0.3, 30_000), 3),
        "ProductCD": product,
        "card1": np.floor(1_000 + 17_000 * rng.beta(1.3, 1.1, count)),
        "card2": with_gaps(np.floor(100 + 500 * rng.beta(1.1, 1.0, count)), 0.015, rng),
        "card3": with_gaps(np.where((product == "C") & (rng.random(count) < 0.7), 185.0, 150.0), 0.003, rng),
        "card4": with_gaps(
            choose(("visa", "mastercard", "american express", "discover"), (65, 32, 1.4, 1.1), count, rng), 0.003, rng
        ),
        "card5": with_gaps(np.array([226.0, 224.0, 166.0, 102.0, 117.0])[rng.integers(0, 5, count)], 0.007, rng),
        "card6": with_gaps(
            np.where(
                rng.random(count) < np.where(labels, 0.48, 0.25),
                "credit",
                choose(("debit", "debit or credit", "charge card"), (99.99, 0.005, 0.003), count, rng),
            ).astype(object),
            0.003,
            rng,
        ),
        "addr1": with_gaps(np.floor(100 + 440 * rng.beta(1.5, 1.2, count)), np.where(is_remote, 0.42, 0.01), rng),
        "addr2": with_gaps(np.where(rng.random(count) < 0.99, 87.0, 60.0), np.where(is_remote, 0.42, 0.01), rng),
        "dist1": with_gaps(
            np.floor(np.exp(2.2 + 0.25 * traits[:, 6] + rng.normal(0, 1.5, count))),
            np.where(is_remote, 1.0, 0.46),
            rng,
        ),
        "dist2": with_gaps(
            np.floor(np.exp(3.2 + 0.25 * traits[:, 6] + rng.normal(0, 1.7, count))), np.where(is_remote, 0.75, 1.0), rng
        ),
        "P_emaildomain": with_gaps(choose(names, weights, count, rng), 0.16, rng),
        "R_emaildomain": with_gaps(
            choose([*names, "scranton.edu"], [*weights, 0.02], count, rng), np.where(is_remote, 0.13, 0.985), rng
        ),
    }


def _platform(product: NDArray[Any], traits: FloatArray, rng: Generator) -> Columns:
    count = len(product)
    columns: Columns = {}
    for number in range(1, 15):
        driver = 0.55 * traits[:, number % 2] + 0.3 * traits[:, 2 + number % 3]
        level = -0.2 if number in (3, 7) else 0.7
        columns[f"C{number}"] = np.floor(np.exp(level + driver + rng.normal(0, 0.45, count)))
    for number, gap in enumerate(_D_GAPS, 1):
        driver = 1.1 * traits[:, 3 + number % 2]
        days = np.exp(3.4 + driver + rng.normal(0, 1.2, count)) * (rng.random(count) > 0.3)
        columns[f"D{number}"] = with_gaps(np.floor(np.minimum(days, 800)), gap, rng)
    is_shop = product == "W"
    for number in (1, 2, 3, 5, 6, 7, 8, 9):
        odds = np.clip(0.75 - 0.1 * traits[:, number % TRAITS], 0.05, 0.97)
        matches = np.where(rng.random(count) < odds, "T", "F").astype(object)
        columns[f"M{number}"] = with_gaps(matches, np.where(is_shop, 0.25 if number < 7 else 0.45, 0.95), rng)
    suspicion = traits[:, 4] + rng.normal(0, 1, count)
    match = np.select([suspicion < 0, suspicion < 1.3], ["M0", "M1"], "M2").astype(object)
    columns["M4"] = with_gaps(match, 0.48, rng)
    return columns


def _vendor(product: NDArray[Any], traits: FloatArray, rng: Generator) -> Columns:
    count = len(product)
    is_shop = product == "W"
    columns: Columns = {}
    start = 1
    for block, (stop, gap) in enumerate(_V_BLOCKS):
        # Blocks that are mostly missing belong to remote products.
        share = np.where(is_shop, min(1.0, gap * 1.15), max(0.0, gap * 0.5)) if gap > 0.5 else np.full(count, gap)
        absent = rng.random(count) < share
        for number in range(start, stop + 1):
            first, second = (block + number) % TRAITS, (3 * number) % TRAITS
            driver = 0.5 * traits[:, first] + 0.25 * traits[:, second]
            level = -1.1 + 0.45 * (number % 5)
            values = np.exp(level + driver + rng.normal(0, 0.6, count))
            # Counts mostly; every ninth column is an amount.
            values = np.round(30 * values, 4) if number % 9 == 0 else np.floor(values)
            columns[f"V{number}"] = np.where(absent, np.nan, values)
        start = stop + 1
    return columns
