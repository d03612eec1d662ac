"""HTML as values. Markup is made here alone; every other text is text, and is escaped wherever it is put.

Names, titles, words and results come from scenarios, agents and models. A plain `str` handed to `element` can
therefore neither open a tag nor end an attribute, and its control and direction characters are shown as escapes.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from harness.text.visible import visible

_VOID: Final = frozenset({"br", "input", "meta"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: str) -> Markup:
    """Return text from anywhere as HTML that shows it."""
    # Most texts are plain; looking at every character of the others is what takes time on large pages.
    is_plain = value.isascii() and value.replace("\n", "").isprintable()
    return Markup(escape(value if is_plain else visible(value), quote=True))


def element(name: str, /, *content: str, **attributes: str | float | bool | None) -> Markup:
    """Return an element.

    Parameters
    ----------
    name
        Its name, from our own code.
    content
        Markup as it is, other text escaped.
    attributes
        Their names with `_` for ``-``, one at the end dropped (``class_``). True gives an attribute without a value,
        False and None give none.
    """
    opening = f"<{name}{''.join(_attribute(*item) for item in attributes.items())}>"
    if name in _VOID:
        return Markup(opening)
    return Markup(f"{opening}{join(content)}</{name}>")


def join(parts: Iterable[str], between: str = "") -> Markup:
    """Return parts one after the other; markup as it is, other text escaped."""
    return Markup(_safe(between).join(_safe(part) for part in parts))


def verbatim(name: str, content: str) -> Markup:
    """Return a ``style`` or ``script`` element with a text of this package, whose content HTML does not escape.

    Raises
    ------
    ValueError
        If the text would end the element.
    """
    if "</" in content or "<!--" in content:
        raise ValueError(f"expected the content of <{name}> without '</' and '<!--'")
    return Markup(f"<{name}>{content}</{name}>")


def _safe(part: str) -> str:
    return part if isinstance(part, Markup) else text(part)


def _attribute(name: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    shown = name.removesuffix("_").replace("_", "-")
    if value is True:
        return f" {shown}"
    return f' {shown}="{text(value) if isinstance(value, str) else f"{value:g}"}"'
