"""The defences by name."""

from __future__ import annotations

from collections.abc import Callable

from tabular_bench.defence import Defence
from tabular_bench.defences.hardening import AdversarialTraining
from tabular_bench.defences.simple import Ensemble, InputValidation, NoDefence
from tabular_bench.errors import InputError, UnknownName

DEFENCES: dict[str, Callable[[], Defence]] = {
    "none": NoDefence,
    "adversarial_training": AdversarialTraining,
    "clip": lambda: InputValidation("clip"),
    "reject": lambda: InputValidation("reject"),
    "ensemble": Ensemble,
}


def find_defence(name: str) -> Defence:
    """Return a defence by its name.

    Parameters
    ----------
    name
        A key of `DEFENCES`; ``adversarial_training=capgd`` trains against that attack and not the usual one.

    Raises
    ------
    UnknownName
        If there is no such defence.
    InputError
        If an attack is named for a defence that trains against none.
    """
    kind, equals, attack = name.partition("=")
    if kind not in DEFENCES:
        raise UnknownName("defence", kind, DEFENCES)
    if not equals:
        return DEFENCES[kind]()
    if kind != "adversarial_training" or not attack:
        raise InputError(f"expected adversarial_training=ATTACK or a defence by its name alone, found {name!r}")
    return AdversarialTraining(attack, attack)
