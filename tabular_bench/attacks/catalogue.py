"""The attacks by name, and an attack with its hyper-parameters from one line of text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from tabular_bench.attack import Attack
from tabular_bench.attacks.capgd import Capgd
from tabular_bench.attacks.hopskipjump import HopSkipJump
from tabular_bench.attacks.noise import GaussianNoise
from tabular_bench.attacks.square import Square
from tabular_bench.attacks.steps import Bim, Fgsm, Pgd, PublishedCapgd
from tabular_bench.errors import InputError, UnknownName
from tabular_bench.factories import find_factory
from tabular_bench.threat import ACCESS_ORDER

_CALL = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AttackEntry:
    """One attack of the catalogue.

    Attributes
    ----------
    make
        The class of the attack; the fields of this dataclass are its hyper-parameters, all with defaults.
    summary
        One line for people.
    source
        Where the method comes from.
    """

    make: Callable[..., Attack]
    summary: str
    source: str

    @property
    def hyper_parameters(self) -> dict[str, Any]:
        """The names and default values of what can be set."""
        return {field.name: field.default for field in fields(self.make)}  # type: ignore[arg-type]


ATTACKS: dict[str, AttackEntry] = {
    "noise": AttackEntry(GaussianNoise, "random draws in the ball, the best is kept", "the baseline of chance"),
    "fgsm": AttackEntry(Fgsm, "one step along the gradient to the edge of the ball", "Goodfellow et al., 2015"),
    "bim": AttackEntry(Bim, "several steps along the gradient, from the clean row", "Kurakin et al., 2017"),
    "pgd": AttackEntry(Pgd, "several steps along the gradient, from random points", "Madry et al., 2018"),
    "capgd": AttackEntry(
        Capgd, "gradient steps that adapt, with momentum and a constraint loss", "Simonetto et al., 2024, corrected"
    ),
    "published_capgd": AttackEntry(
        PublishedCapgd, "what FraudBench's released code runs as CAPGD: plain PGD", "FraudBench, 2026, as released"
    ),
    "square": AttackEntry(
        Square, "random search by scores, in ever fewer columns", "Andriushchenko et al., 2020, for tables"
    ),
    "hopskipjump": AttackEntry(
        HopSkipJump, "a walk along the border, by decisions alone", "Chen et al., 2020, all rows at once"
    ),
}


def find_attack(text: str) -> Attack:
    """Return the attack that a line of text describes.

    Parameters
    ----------
    text
        ``name``; ``name(key=value, ...)`` with the hyper-parameters of that attack; or ``package.module:factory``,
        a callable without parameters that returns an attack.

    Raises
    ------
    UnknownName
        If there is no such attack, or the attack has no such hyper-parameter.
    InputError
        If the text or a value cannot be read, or a factory does not give an attack.
    """
    if ":" in text.partition("(")[0]:
        return _own(text)
    call = _CALL.fullmatch(text)
    if call is None:
        raise InputError(f"expected name, name(key=value, ...) or package.module:factory, found {text!r}")
    name, arguments = call.groups()
    if name not in ATTACKS:
        raise UnknownName("attack", name, [*ATTACKS, "package.module:factory"])
    make = ATTACKS[name].make
    try:
        return make(**_arguments(text, make, arguments or ""))
    except ValueError as error:
        raise InputError(f"{text}: {error}") from None


def _own(spec: str) -> Attack:
    factory = find_factory(spec)
    try:
        attack: Attack = factory()
    except TypeError as error:
        raise InputError(f"{spec}: expected a factory that is called without arguments: {error}") from error
    if not callable(getattr(attack, "perturb", None)) or getattr(attack, "access", None) not in ACCESS_ORDER:
        raise InputError(
            f"{spec}: expected an attack, with perturb(context) and an access of {', '.join(ACCESS_ORDER)}, "
            f"found {type(attack).__name__}"
        )
    return attack


def _arguments(text: str, make: Callable[..., Attack], arguments: str) -> dict[str, Any]:
    hints = get_type_hints(make)
    known = [field.name for field in fields(make)]  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in arguments.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise InputError(f"{text}: expected key=value, found {part!r}")
        if key not in known:
            raise UnknownName(f"hyper-parameter of {text.partition('(')[0].strip()}", key, known)
        if key in values:
            raise InputError(f"{text}: {key} is given twice")
        values[key] = _value(text, key, value, hints[key])
    return values


def _value(text: str, key: str, value: str, hint: Any) -> Any:
    if get_origin(hint) is Literal:
        expected = " or ".join(get_args(hint))
        if value in get_args(hint):
            return value
    else:
        kinds = get_args(hint) or (hint,)
        expected = " or ".join(_KINDS[kind][0] for kind in kinds)
        for kind in kinds:
            try:
                return _KINDS[kind][1](value)
            except (ValueError, KeyError):
                continue
    raise InputError(f"{text}: expected {expected} for {key}, found {value!r}")


def _finite(value: str) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(value)
    return number


# What each kind of hyper-parameter is called, and how it is read.
_KINDS: dict[Any, tuple[str, Callable[[str], Any]]] = {
    bool: ("true or false", lambda value: {"true": True, "false": False}[value.lower()]),
    int: ("a whole number", int),
    float: ("a number", _finite),
    NoneType: ("none", lambda value: {"none": None}[value.lower()]),
}
