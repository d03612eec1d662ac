"""A cell: everything that decides one number of a table."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from tabular_bench.budget import Budget
from tabular_bench.protocol import PRESETS, Protocol, ProtocolName
from tabular_bench.threat import WHITE_BOX, ThreatModel, find_threat

Attacked = Literal["positives", "both"]


@dataclass(frozen=True, slots=True)
class CellSpec:
    """One cell of the bench, by names that registries know.

    Attributes
    ----------
    dataset, model, defence, attack
        Names; a model, defence or attack of one's own is ``package.module:factory``.
    protocol
        ``A``, ``B``, ``C1`` or ``C2``.
    preset
        ``strict`` or ``published``.
    threat
        The name of a threat model.
    budget
        Of the attack.
    seed
        Of split, model and attack.
    attacked
        ``positives``: fraud is hidden, the rest stays clean. ``both``: every row is moved to the other side, so that
        a robust score measures how far the whole ranking can be turned round.
    max_rows
        At most so many test rows are attacked, a stratified draw; None for all.
    """

    dataset: str
    model: str
    attack: str
    protocol: ProtocolName = "C2"
    defence: str = "none"
    preset: str = "strict"
    threat: str = WHITE_BOX.name
    budget: Budget = field(default_factory=Budget)
    seed: int = 42
    attacked: Attacked = "positives"
    max_rows: int | None = None

    @property
    def resolved_protocol(self) -> Protocol:
        """The protocol under its preset."""
        return Protocol(self.protocol, PRESETS[self.preset])

    @property
    def resolved_threat(self) -> ThreatModel:
        """The threat model."""
        return find_threat(self.threat)

    def to_json(self) -> dict[str, Any]:
        """Return the cell as plain values, as a registry line holds it."""
        return asdict(self)

    @property
    def key(self) -> str:
        """A digest of the whole cell: two cells have the same key if and only if they ask for the same number."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]
