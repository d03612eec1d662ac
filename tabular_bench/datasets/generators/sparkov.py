"""Card payments of simulated people: where they live, what they buy, where the shop stands, and when.

Each person has a home in a state, a sex and habits; each payment a category with its own amounts, a shop within a
degree of home and a time of day. A stolen card is used for a few days, at certain categories, mostly at night, and
mostly for amounts from a narrow range that belongs to the category; the rest of its payments look like anybody's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tabular_bench.datasets.generators.drawing import finish
from tabular_bench.datasets.raw import RawTable
from tabular_bench.schema import BoolArray, FloatArray, IntArray
from tabular_bench.seeds import generator

PREVALENCE = 0.0058
START_S = 1_546_300_800
DAYS = 536

# state, latitude and longitude of its middle, first digits of its zip codes, weight
_STATES = """
AL 32.8 -86.8 350 4  AK 61.4 -150 995 1  AZ 33.7 -111.6 850 3  AR 34.9 -92.4 716 3  CA 36.1 -119.7 900 9
CO 39.1 -105.3 800 2  CT 41.6 -72.8 60 1  DE 39.3 -75.5 197 1  DC 38.9 -77 200 1  FL 28.2 -81.9 320 6
GA 33 -83.6 300 4  HI 20.6 -157 967 1  ID 44.2 -114.4 832 1  IL 40.3 -89 600 6  IN 39.8 -86.3 460 4
IA 42 -93.2 500 4  KS 38.5 -96.7 660 3  KY 37.7 -84.7 400 4  LA 31.2 -91.9 700 3  ME 44.7 -69.4 39 2
MD 39 -76.8 206 4  MA 42.2 -71.5 10 2  MI 43.3 -84.5 480 7  MN 45.7 -93.9 550 5  MS 32.7 -89.7 386 3
MO 38.5 -92.3 630 6  MT 46.9 -110.5 590 2  NE 41.1 -98.3 680 4  NV 38.3 -117 889 1  NH 43.5 -71.6 30 1
NJ 40.3 -74.5 70 4  NM 34.8 -106.2 870 2  NY 42.2 -74.9 100 13  NC 35.6 -79.8 270 5  ND 47.5 -99.8 580 2
OH 40.4 -82.8 430 7  OK 35.6 -96.9 730 4  OR 44.6 -122.1 970 3  PA 40.6 -77.2 150 12  RI 41.7 -71.5 28 1
SC 33.9 -80.9 290 4  SD 44.3 -99.4 570 2  TN 35.7 -86.7 370 3  TX 31.1 -97.6 750 14  UT 40.1 -111.9 840 2
VT 44 -72.7 50 2  VA 37.8 -78.2 220 4  WA 47.4 -121.5 980 3  WV 38.5 -81 247 4  WI 44.3 -89.6 530 4
WY 42.8 -107.3 820 3
"""

# category, share of payments, middle amount, spread of its logarithm, share of frauds, middle amount of a fraud
_CATEGORIES = """
entertainment 72 48 .8 2 600  food_dining 70 43 .8 2 120  gas_transport 101 63 .25 6 12  grocery_net 35 47 .5 2 12
grocery_pos 95 95 .4 25 315  health_fitness 66 42 .8 2 20  home 95 47 .8 3 255  kids_pets 87 47 .8 3 20
misc_net 49 38 1.0 14 800  misc_pos 61 30 .9 3 210  personal_care 70 37 .8 3 25  shopping_net 75 45 1.0 27 1000
shopping_pos 90 43 1.0 12 880  travel 31 60 .9 2 10
"""


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
        11 columns without gaps.
    """
    rng = generator(seed, "sparkov")
    people = max(20, count // 130)
    home = _homes(people, rng)
    payer = rng.integers(0, people, count)
    labels, day = _thefts(payer, people, max(5, round(PREVALENCE * count)), rng)
    category, amount = _purchases(labels, rng)
    hour = np.where(labels & (rng.random(count) < 0.85), rng.normal(24, 1.3, count), rng.normal(15, 5, count)) % 24
    latitude, longitude = home["lat"][payer], home["long"][payer]
    columns = {
        "category": category,
        "amt": np.maximum(1.0, np.round(amount, 2)),
        "gender": home["gender"][payer],
        "state": home["state"][payer],
        "zip": home["zip"][payer].astype(np.float64),
        "lat": latitude,
        "long": longitude,
        "city_pop": home["city_pop"][payer],
        "unix_time": np.floor(START_S + 86_400.0 * day + 3600 * hour),
        "merch_lat": np.round(np.clip(latitude + rng.uniform(-1, 1, count), 18, 72), 6),
        "merch_long": np.round(np.clip(longitude + rng.uniform(-1, 1, count), -170, -65), 6),
    }
    return finish(columns, labels, "Sparkov")


def _homes(people: int, rng: Generator) -> dict[str, NDArray[Any]]:
    fields = np.array(_STATES.split(), dtype=object).reshape(-1, 5)
    numbers = fields[:, 1:].astype(np.float64)
    state = np.searchsorted(np.cumsum(numbers[:, 3]) / numbers[:, 3].sum(), rng.random(people))
    return {
        "state": fields[state, 0],
        "lat": np.round(np.clip(numbers[state, 0] + rng.normal(0, 1.1, people), 19, 71), 4),
        "long": np.round(np.clip(numbers[state, 1] + rng.normal(0, 1.4, people), -169, -66), 4),
        "zip": numbers[state, 2] * 100 + rng.integers(0, 100, people),
        "city_pop": np.floor(np.clip(rng.lognormal(8.0, 2.0, people), 23, 2_900_000)),
        "gender": np.where(rng.random(people) < 0.55, "F", "M").astype(object),
    }


def _thefts(payer: IntArray, people: int, frauds: int, rng: Generator) -> tuple[BoolArray, FloatArray]:
    """Return which payments are made with a stolen card, and the day of each payment."""
    day = rng.integers(0, DAYS, len(payer)).astype(np.float64)
    labels = np.zeros(len(payer), dtype=np.bool_)
    left = frauds
    for person in rng.permutation(people):
        own = rng.permutation(np.flatnonzero(payer == person))
        used = own[: min(left, int(rng.integers(6, 14)), max(1, len(own) // 3))]
        labels[used] = True
        day[used] = np.minimum(DAYS - 1, rng.integers(0, DAYS) + rng.integers(0, 3, len(used)))
        left -= len(used)
        if left <= 0:
            break
    return labels, day


def _purchases(labels: BoolArray, rng: Generator) -> tuple[NDArray[Any], FloatArray]:
    fields = np.array(_CATEGORIES.split(), dtype=object).reshape(-1, 6)
    share, middle, spread, fraud_share, fraud_middle = fields[:, 1:].astype(np.float64).T
    draw = rng.random(len(labels))
    usual = np.searchsorted(np.cumsum(share) / share.sum(), draw)
    stolen = np.searchsorted(np.cumsum(fraud_share) / fraud_share.sum(), draw)
    code = np.where(labels, stolen, usual)
    amount = middle[code] * np.exp(spread[code] * rng.normal(size=len(labels)))
    typical = labels & (rng.random(len(labels)) < 0.87)
    amount = np.where(typical, fraud_middle[code] * np.exp(0.17 * rng.normal(size=len(labels))), amount)
    return fields[code, 0], amount
