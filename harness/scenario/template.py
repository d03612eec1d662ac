"""References to the cast inside scenario text: ``{role.attribute}``, ``{role}``, ``{role.attribute|filter}``.

A string that is one reference and nothing else becomes the attribute's value (a number stays a number); inside
longer text the attribute appears as a person would say it. Doubled braces stand for themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from string import digits
from typing import Any, Final

from domains.kit.cast import Attribute, Member
from domains.kit.errors import SetupError

_REFERENCE: Final = re.compile(
    r"\{\{|\}\}|\{(?P<role>[a-z][a-z0-9_]*)(?:\.(?P<name>[a-z][a-z0-9_]*))?(?:\|(?P<filter>[a-z_]+))?\}|[{}]"
)


def _near_miss(text: str, steps: int = 1) -> str:
    """Move the last letter or digit on by a few places: almost right, and wrong."""
    for place in range(len(text) - 1, -1, -1):
        sign = text[place]
        if sign in digits:
            return text[:place] + str((int(sign) + steps) % 10) + text[place + 1 :]
        if sign.isascii() and sign.isalpha():
            first = ord("a") if sign.islower() else ord("A")
            return text[:place] + chr(first + (ord(sign) - first + steps) % 26) + text[place + 1 :]
    raise ValueError(f"nothing in {text!r} can be changed")


def _last_four(text: str) -> str:
    return "".join(sign for sign in text if sign.isalnum())[-4:]


FILTERS: Final[Mapping[str, Callable[[str], str]]] = {
    "near_miss": _near_miss,
    "second_miss": partial(_near_miss, steps=2),
    "last_four": _last_four,
    "lower": str.lower,
    "upper": str.upper,
}
"""What may follow a reference after a bar. Applied to the value, and to the text where the value is no string."""


def attribute_of(reference: str, cast: Mapping[str, Member], path: str) -> Attribute:
    """Return the attribute that ``role.attribute`` (or ``role`` alone, its text) names.

    Raises
    ------
    SetupError
        If the role or the attribute does not exist; the message lists those that do.
    """
    role, _, name = reference.partition(".")
    member = cast.get(role)
    if member is None:
        raise SetupError(path, f"expected a role of the cast ({', '.join(sorted(cast))}), found {role!r}")
    attribute = member.attributes.get(name or "text")
    if attribute is None:
        known = ", ".join(sorted(member.attributes))
        raise SetupError(path, f"expected an attribute of {role!r} ({known}), found {name or '(none)'!r}")
    return attribute


def references_in(text: str) -> list[str]:
    """Return the references in a text as ``role.attribute`` or ``role``, in order."""
    return [
        match["role"] + (f".{match['name']}" if match["name"] else "")
        for match in _REFERENCE.finditer(text)
        if match["role"]
    ]


def render(text: str, cast: Mapping[str, Member], path: str) -> str:
    """Fill the references in a text with what a person would say.

    Raises
    ------
    SetupError
        If a reference is unknown or a brace stands alone.
    """

    def fill(match: re.Match[str]) -> str:
        sign = match.group(0)
        if sign in ("{{", "}}"):
            return sign[0]
        if match["role"] is None:
            raise SetupError(path, f"a single {sign!r} in text: write references as {{role.attribute}}, braces doubled")
        attribute = _attribute(match, cast, path)
        return _filtered(match["filter"], attribute.text, path) if match["filter"] else attribute.text

    return _REFERENCE.sub(fill, text)


def resolve(value: Any, cast: Mapping[str, Member], path: str) -> Any:
    """Fill the references in a JSON value, keys left alone; a string that is one reference becomes its value.

    Raises
    ------
    SetupError
        If a reference is unknown.
    """
    if isinstance(value, str):
        match = _REFERENCE.fullmatch(value)
        if match is not None and match["role"] is not None:
            attribute = _attribute(match, cast, path)
            if match["filter"]:
                raw = attribute.value if isinstance(attribute.value, str) else attribute.text
                return _filtered(match["filter"], raw, path)
            return attribute.value
        return render(value, cast, path)
    if isinstance(value, Mapping):
        return {key: resolve(item, cast, f"{path}/{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [resolve(item, cast, f"{path}/{place}") for place, item in enumerate(value)]
    return value


def _attribute(match: re.Match[str], cast: Mapping[str, Member], path: str) -> Attribute:
    return attribute_of(match["role"] + (f".{match['name']}" if match["name"] else ""), cast, path)


def _filtered(name: str, text: str, path: str) -> str:
    if name not in FILTERS:
        raise SetupError(path, f"expected a filter ({', '.join(FILTERS)}), found {name!r}")
    try:
        return FILTERS[name](text)
    except ValueError as error:
        raise SetupError(path, str(error)) from None
