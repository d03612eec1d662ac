"""What the attacker knows. It never changes what the checker enforces.

`ThreatModel` says what an attack is *given* (gradients, scores or only decisions; the detector itself or a stand-in;
the relations; the mask). What counts as feasible and as a success is the protocol's and the constraints' business and
is the same for every threat model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tabular_bench.errors import UnknownName

Access = Literal["gradient", "score", "decision"]

# From the least to the most that an attacker is given.
ACCESS_ORDER: tuple[Access, ...] = ("decision", "score", "gradient")


@dataclass(frozen=True, slots=True)
class ThreatModel:
    """The attacker's knowledge.

    Attributes
    ----------
    name
        As in tables.
    access
        The most that the attacked detector answers: ``gradient`` includes scores, ``score`` includes decisions.
    surrogate
        Whether the attack works on another detector and its rows are only then shown to the target, which is
        asked nothing.
    surrogate_model
        With a surrogate: the name of its model. It is trained under a seed of its own.
    training_share
        With a surrogate: the share of the target's training rows that the surrogate was trained on. None: on other
        rows of the same distribution.
    knows_relations
        Whether the projection that the attack uses in its loop knows the relations between features.
    knows_mask
        Whether it knows which features it can really change.
    """

    name: str
    access: Access = "gradient"
    surrogate: bool = False
    surrogate_model: str | None = None
    training_share: float | None = 1.0
    knows_relations: bool = True
    knows_mask: bool = True

    def allows(self, access: Access) -> bool:
        """Tell whether the attacker is given that much."""
        return ACCESS_ORDER.index(access) <= ACCESS_ORDER.index(self.access)


WHITE_BOX = ThreatModel("white_box")
SCORE_ONLY = ThreatModel("score_only", access="score")
DECISION_ONLY = ThreatModel("decision_only", access="decision")

THREAT_MODELS = {threat.name: threat for threat in (WHITE_BOX, SCORE_ONLY, DECISION_ONLY)}

# The attacker trains a detector on the rows of the target, attacks it by its gradients, and asks the target nothing.
TRANSFERS = {
    f"transfer_{model}": ThreatModel(f"transfer_{model}", surrogate=True, surrogate_model=model)
    for model in ("logistic", "mlp")
}


def find_threat(name: str) -> ThreatModel:
    """Return a threat model by its name.

    Parameters
    ----------
    name
        A key of `THREAT_MODELS` or `TRANSFERS`.

    Raises
    ------
    UnknownName
        If it is neither.
    """
    known = THREAT_MODELS | TRANSFERS
    if name not in known:
        raise UnknownName("threat model", name, known)
    return known[name]
