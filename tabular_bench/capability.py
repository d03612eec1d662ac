"""Which attacks apply to which models, known before anything is trained."""

from __future__ import annotations

from typing import get_type_hints

from tabular_bench.attack import Attack
from tabular_bench.attacks.catalogue import ATTACKS
from tabular_bench.detectors.model import Model
from tabular_bench.detectors.models import MODELS, TRIVIAL_MODELS
from tabular_bench.threat import WHITE_BOX, ThreatModel


def gives_gradients(model: Model) -> bool:
    """Tell whether the detectors that a model of the bench trains have gradients.

    Parameters
    ----------
    model
        One of `MODELS` or `TRIVIAL_MODELS`, whose training says what it returns.
    """
    return hasattr(get_type_hints(model.train)["return"], "gradient")


def why_not(attack: Attack, model: Model, threat: ThreatModel = WHITE_BOX) -> str | None:
    """Say why an attack does not apply to a model; None if it does.

    Parameters
    ----------
    attack
        Says what it has to be given.
    model
        One of `MODELS` or `TRIVIAL_MODELS`.
    threat
        What the attacker is given.
    """
    if not threat.allows(attack.access):
        return f"it needs {attack.access}s, the threat model {threat.name} gives {threat.access}s"
    if attack.access == "gradient" and not gives_gradients(model):
        return "it needs gradients, the model has none"
    return None


def matrix(threat: ThreatModel = WHITE_BOX) -> dict[str, dict[str, bool]]:
    """Return, by attack and model, whether the attack applies.

    Parameters
    ----------
    threat
        What the attacker is given.
    """
    models = MODELS | TRIVIAL_MODELS
    return {
        name: {kind: why_not(entry.make(), model, threat) is None for kind, model in models.items()}
        for name, entry in ATTACKS.items()
    }
