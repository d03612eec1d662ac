"""Tools: what a participant may call. A tool is a function with a signature, a docstring and a declaration.

    @tool(writes=True)
    def release_payment(bank: Bank, payment_id: str) -> JsonValue:
        '''Release a payment that waits for approval.

        Parameters
        ----------
        payment_id
            The payment to release.
        '''

The first parameter is the world; the rest is the schema that participants see. The decorator declares and
registers nothing: a domain names the modules whose tools it offers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import ModuleType
from typing import Any, Final, TypeVar, get_type_hints

from docstring_parser import parse_from_object
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from domains.kit.errors import CallRejected, Rejection
from domains.kit.json import JsonValue, canonical

_MARK: Final = "__tool_declaration__"


class Actor(StrEnum):
    """Who acts: the two participants of every episode."""

    AGENT = "agent"
    CALLER = "caller"


class Access(StrEnum):
    """How a participant comes by a tool."""

    BASE = "base"
    DISCOVERABLE = "discoverable"
    """Agent tools: named in the corpus only, usable after `unlock_tool`. Caller tools: usable after the agent's
    `grant_tool`, and named in the corpus only."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as participants see it and as the world runs it.

    Attributes
    ----------
    arguments
        A strict pydantic model of the parameters after the world.
    hears
        The names of arguments whose text reaches the caller (an agent tool that sends a message, say); they
        count as things said when leaks are graded.
    """

    name: str
    summary: str
    actor: Actor
    access: Access
    writes: bool
    hears: frozenset[str]
    arguments: type[BaseModel]
    run: Callable[..., JsonValue]

    def schema(self) -> dict[str, JsonValue]:
        """Return the JSON Schema of the arguments, without pydantic's titles."""
        schema = self.arguments.model_json_schema()
        for field in schema.get("properties", {}).values():
            field.pop("title", None)
        return {
            "type": "object",
            "properties": schema.get("properties", {}),
            "required": schema.get("required", []),
            "additionalProperties": False,
            **({"$defs": schema["$defs"]} if "$defs" in schema else {}),
        }

    def parse(self, arguments: Mapping[str, JsonValue]) -> dict[str, Any]:
        """Check arguments against the schema and return them as Python values.

        Raises
        ------
        CallRejected
            If an argument is missing, of another type or unknown.
        """
        try:
            # JSON mode: strict about types, yet text may stand for the dates and enums that JSON cannot write.
            parsed = self.arguments.model_validate_json(canonical(arguments))
        except ValueError as error:
            problems = _problems(error)
            expected = ", ".join(self.arguments.model_fields) or "no arguments"
            raise CallRejected(
                Rejection.BAD_ARGUMENTS, f"{self.name} was not called: {problems}. It takes: {expected}."
            ) from None
        return {name: getattr(parsed, name) for name in type(parsed).model_fields}


def _problems(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors())


@dataclass(frozen=True, slots=True)
class _Declaration:
    actor: Actor
    access: Access
    writes: bool
    hears: frozenset[str]


_F = TypeVar("_F", bound=Callable[..., JsonValue])


def tool(
    *,
    writes: bool = False,
    actor: Actor = Actor.AGENT,
    discoverable: bool = False,
    hears: Iterable[str] = (),
) -> Callable[[_F], _F]:
    """Declare a function as a tool; the function itself stays as it is."""
    access = Access.DISCOVERABLE if discoverable else Access.BASE
    declaration = _Declaration(actor, access, writes, frozenset(hears))

    def declare(function: _F) -> _F:
        setattr(function, _MARK, declaration)
        return function

    return declare


def build_tool(function: Callable[..., JsonValue]) -> Tool:
    """Read a declared function's signature and docstring into a `Tool`.

    Raises
    ------
    TypeError
        If the function is not declared, or a parameter has no type or no description.
    """
    declaration = getattr(function, _MARK, None)
    name = function.__name__
    if not isinstance(declaration, _Declaration):
        raise TypeError(f"{name} is not declared with @tool")
    documentation = parse_from_object(function)
    described = {
        parameter.arg_name: " ".join((parameter.description or "").split()) for parameter in documentation.params
    }
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.name not in hints or not described.get(parameter.name):
            raise TypeError(f"tool {name}: parameter {parameter.name} needs a type and a description")
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (
            hints[parameter.name],
            Field(default, description=described[parameter.name]),
        )
    unknown = declaration.hears - fields.keys()
    if unknown or not documentation.short_description:
        raise TypeError(
            f"tool {name}: needs a summary line, and `hears` must name parameters (unknown: {sorted(unknown)})"
        )
    summary = " ".join(filter(None, (documentation.short_description, documentation.long_description)))
    return Tool(
        name=name,
        summary=" ".join(summary.split()),
        actor=declaration.actor,
        access=declaration.access,
        writes=declaration.writes,
        hears=declaration.hears,
        arguments=create_model(name, __config__=ConfigDict(strict=True, extra="forbid", frozen=True), **fields),
        run=function,
    )


def collect_tools(*modules: ModuleType) -> dict[str, Tool]:
    """Build every tool declared in these modules, in the order of their definition.

    Raises
    ------
    TypeError
        If two tools share a name.
    """
    tools: dict[str, Tool] = {}
    for module in modules:
        for function in vars(module).values():
            if callable(function) and hasattr(function, _MARK) and function.__module__ == module.__name__:
                built = build_tool(function)
                if built.name in tools:
                    raise TypeError(f"two tools are called {built.name}")
                tools[built.name] = built
    return tools
