"""Splits a Markdown file into front matter and text. Files are untrusted: bounded, plain YAML, each key once."""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from harness.errors import CorpusError

MAX_FILE_BYTES: Final = 256 * 1024
_MAX_FRONT_MATTER_CHARACTERS: Final = 32 * 1024
_MAX_DEPTH: Final = 6

# The marker lines stand alone; the first one opens the file.
_PARTS: Final = re.compile(r"\A---[ \t]*\n(?P<head>.*?\n)---[ \t]*\n(?P<text>.*)\Z", re.DOTALL)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

# The parser in C, where PyYAML was built with it, is ten times faster.
_Base: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _DuplicateKey(ValueError):
    """A mapping says the same thing twice."""


class _Loader(_Base):  # type: ignore[misc]  # the base depends on how PyYAML was built
    """Safe YAML whose mappings have plain text keys, each once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag != "tag:yaml.org,2002:str":
                raise ValueError(f"a key that is not plain text, in line {key.start_mark.line + 2}")
            if key.value in seen:
                raise _DuplicateKey(key.value)
            seen.add(key.value)
        found: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return found


def split(file: str, data: bytes) -> tuple[dict[str, Any], str]:
    """Return the front matter and the text of a document.

    Parameters
    ----------
    file
        Its name, for messages.
    data
        Its content.

    Raises
    ------
    CorpusError
        If the file is too large, is not UTF-8, has no front matter, or that is not plain YAML.
    """
    if len(data) > MAX_FILE_BYTES:
        raise CorpusError(file, "", f"at most {MAX_FILE_BYTES} bytes", "a larger file", "Split the document.")
    try:
        content = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise CorpusError(file, "", "text in UTF-8", f"another byte at position {error.start}") from None
    if (control := _CONTROL.search(content)) is not None:
        line = content.count("\n", 0, control.start()) + 1
        raise CorpusError(file, "", "printable text", f"the control character {control[0]!r} in line {line}")
    parts = _PARTS.match(content)
    if parts is None:
        hint = "Start the file with a line ---, then the front matter, then another line ---, then the text."
        raise CorpusError(file, "", "YAML front matter between two lines ---", "none", hint)
    return _parse(file, parts["head"]), parts["text"].strip()


def _parse(file: str, head: str) -> dict[str, Any]:
    if len(head) > _MAX_FRONT_MATTER_CHARACTERS:
        raise CorpusError(
            file, "", f"front matter of at most {_MAX_FRONT_MATTER_CHARACTERS} characters", f"{len(head)}"
        )
    try:
        _check_shape(head)
        found = yaml.load(head, Loader=_Loader)  # noqa: S506 - derived from the safe loader
    except _DuplicateKey as error:
        key = str(error)
        raise CorpusError(file, f"/{key}", "each key once", f"{key!r} twice", "Delete one of the two.") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f" in line {mark.line + 2}" if mark else ""
        raise CorpusError(file, "", "valid YAML in the front matter", f"{error.problem}{place}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise CorpusError(file, "", "plain YAML in the front matter", " ".join(str(error).split())) from None
    if not isinstance(found, dict):
        raise CorpusError(file, "", "front matter of keys and values", f"a {type(found).__name__}")
    return found


def _check_shape(head: str) -> None:
    """Refuse nesting and references before anything is built from them."""
    depth = 0
    for event in yaml.parse(head, Loader=_Base):
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            raise ValueError(f"the anchor or alias {event.anchor!r}")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise ValueError(f"more than {_MAX_DEPTH} levels")
