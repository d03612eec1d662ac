"""How constraints and capability enter an evaluation; everything else is shared by all protocols.

====  ==========================  ==================  =======================
      projection in the loop      capability mask     filtered afterwards
====  ==========================  ==================  =======================
A     no                          no                  no
B     no                          no                  yes (the samples of A)
C1    yes                         no                  no
C2    yes                         yes                 no
====  ==========================  ==================  =======================

Two presets fill in what the table leaves open. ``published`` reproduces the arithmetic of the code that the
literature's numbers come from; ``strict`` is the default and corrects it. Every difference is a field of `Preset`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tabular_bench.budget import Ball, Budget
from tabular_bench.schema import BoolArray, Schema

ProtocolName = Literal["A", "B", "C1", "C2"]


@dataclass(frozen=True, slots=True)
class Preset:
    """One reading of the protocols.

    Attributes
    ----------
    name
        As in tables.
    every_block
        Whether every one-hot block must be valid, or only those that the catalogue lists as checked in print.
    one_hot_tolerance
        How far the sum and the maximum of a block may be from 1.
    published_relations
        Whether relations are taken with the tolerances, and in the selection, of the published code.
    checks_bounds, checks_integers
        Whether bounds and whole numbers of the schema count towards feasibility.
    checks_ball
        Whether a row that repair has moved out of the ball is no success.
    repairs
        How C1 and C2 project: True, by `repair`, which stays in the ball; False, by overwriting derived columns and
        taking the largest entry of each checked block, once and last, wherever that leads.
    clips_to_training_range
        Whether every step of every protocol is clipped to the range of the training rows, column by column.
    switches
        Whether categories and binary columns switch under C1 and C2 by a budget of their own. Otherwise they lie in
        the epsilon ball, and a radius under one half can never change one.
    mask_by_prefix
        Whether an immutable feature ``x`` also freezes every feature named ``x_...``. In print it does.
    only_caught_fraud
        Whether only fraud that the detector catches counts as flipped, at a threshold of one half. Otherwise any
        attacked row that was classified rightly does, at the threshold the detector declares.
    reverts_infeasible
        Whether Protocol B scores every row, the infeasible ones in their clean form, or the feasible rows alone.
    """

    name: str
    every_block: bool
    one_hot_tolerance: float
    published_relations: bool
    checks_bounds: bool
    checks_integers: bool
    checks_ball: bool
    repairs: bool
    clips_to_training_range: bool
    switches: bool
    mask_by_prefix: bool
    only_caught_fraud: bool
    reverts_infeasible: bool


PUBLISHED = Preset(
    "published",
    every_block=False,
    one_hot_tolerance=0.01,
    published_relations=True,
    checks_bounds=False,
    checks_integers=False,
    checks_ball=False,
    repairs=False,
    clips_to_training_range=True,
    switches=False,
    mask_by_prefix=True,
    only_caught_fraud=True,
    reverts_infeasible=True,
)
STRICT = Preset(
    "strict",
    every_block=True,
    one_hot_tolerance=1e-9,
    published_relations=False,
    checks_bounds=True,
    checks_integers=True,
    checks_ball=True,
    repairs=True,
    clips_to_training_range=False,
    switches=True,
    mask_by_prefix=False,
    only_caught_fraud=False,
    reverts_infeasible=False,
)

PRESETS = {preset.name: preset for preset in (PUBLISHED, STRICT)}


@dataclass(frozen=True, slots=True)
class Protocol:
    """One protocol under one preset.

    Attributes
    ----------
    name
        ``A``, ``B``, ``C1`` or ``C2``.
    preset
        `STRICT` or `PUBLISHED`.
    """

    name: ProtocolName
    preset: Preset = STRICT

    def __post_init__(self) -> None:
        if self.name not in ("A", "B", "C1", "C2"):
            raise ValueError(f"expected the protocol A, B, C1 or C2, found {self.name!r}")

    @property
    def projects(self) -> bool:
        """Whether constraints enter the attack's loop."""
        return self.name in ("C1", "C2")

    @property
    def masks(self) -> bool:
        """Whether the attacker's capability limits what moves."""
        return self.name == "C2"

    @property
    def filters(self) -> bool:
        """Whether infeasible rows are taken out before the metrics."""
        return self.name == "B"

    def ball(self, schema: Schema, budget: Budget) -> Ball:
        """Return the set of rows that the budget allows under this protocol.

        Parameters
        ----------
        schema
            Of the rows.
        budget
            Of the attack.
        """
        return Ball(schema, budget, switches=self.projects and self.preset.switches)

    def mask(self, schema: Schema) -> BoolArray:
        """Return the columns that may be moved, shape ``(d,)``.

        Where the mask applies, a derived column is never moved directly: the projection lets it follow its sources.

        Parameters
        ----------
        schema
            Of the rows.
        """
        if not self.masks:
            return np.ones(schema.width, dtype=np.bool_)
        if not self.preset.mask_by_prefix:
            return schema.mutable.copy()
        frozen = {feature.name for feature in schema.features if feature.mutability != "mutable"}
        return np.array([not _is_prefixed(owner.name, frozen) for owner in schema.owners], dtype=np.bool_)


def _is_prefixed(name: str, frozen: set[str]) -> bool:
    parts = name.split("_")
    return any("_".join(parts[:length]) in frozen for length in range(1, len(parts) + 1))
