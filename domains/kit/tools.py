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
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import ModuleType
from typing import Any, Final, TypeVar, get_type_hints

from docstring_parser import parse_from_object
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError

from domains.kit.errors import CallRejected, Rejection
from domains.kit.json import JsonValue, canonical

_MARK: Final = "__tool_declaration__"
_PROBLEMS_SHOWN: Final = 5
_LARGEST_NUMBER: Final = 2**53 - 1
_BY_NAME: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_NAMED_PARTS: Final = frozenset({"properties", "$defs"})


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
        """Return the JSON Schema of the arguments, a copy of the reader's own, without pydantic's titles."""
        schema: dict[str, JsonValue] = json.loads(self.schema_text())
        return schema

    def schema_text(self) -> str:
        """Return the JSON Schema of the arguments as text."""
        return _schema_text(self.arguments)

    def parse(self, arguments: Mapping[str, JsonValue]) -> dict[str, Any]:
        """Check arguments against the schema and return them as Python values.

        Raises
        ------
        CallRejected
            If an argument is missing, of another type or unknown, or is nothing that JSON can write. Whole numbers
            beyond what every JSON reader keeps exact (2**53) are refused, so that none is too large for the store.
        """
        try:
            # JSON mode: strict about types, yet text may stand for the dates and enums that JSON cannot write.
            parsed = self.arguments.model_validate_json(canonical(arguments))
            _check_numbers(arguments)
        except (TypeError, ValueError, RecursionError) as error:
            expected = ", ".join(self.arguments.model_fields) or "no arguments"
            raise CallRejected(
                Rejection.BAD_ARGUMENTS, f"{self.name} was not called: {_problems(error)}. It takes: {expected}."
            ) from None
        return {name: getattr(parsed, name) for name in type(parsed).model_fields}


def _problems(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    found = [f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors(include_input=False)]
    more = [f"and {len(found) - _PROBLEMS_SHOWN} more"] if len(found) > _PROBLEMS_SHOWN else []
    return "; ".join(found[:_PROBLEMS_SHOWN] + more)


def _check_numbers(value: JsonValue) -> None:
    if isinstance(value, int) and abs(value) > _LARGEST_NUMBER:
        raise ValueError(f"{value:.3e} is too large for a whole number here")
    if isinstance(value, Mapping):
        for item in value.values():
            _check_numbers(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_numbers(item)


@cache
def _schema_text(arguments: type[BaseModel]) -> str:
    schema = _untitled(arguments.model_json_schema())
    return canonical(
        {
            "type": "object",
            "properties": schema.get("properties", {}),
            "required": schema.get("required", []),
            "additionalProperties": False,
            **({"$defs": schema["$defs"]} if "$defs" in schema else {}),
        }
    )


def _untitled(schema: Any) -> Any:
    """Drop the titles that pydantic makes of names; a property may well be called title."""
    if isinstance(schema, list):
        return [_untitled(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    named = {key: {name: _untitled(item) for name, item in schema[key].items()} for key in _NAMED_PARTS & schema.keys()}
    return {key: named.get(key) or _untitled(item) for key, item in schema.items() if key != "title"}


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
        If the function is not declared, takes no world, or a parameter has no type, no description, or a name or a
        type that a schema cannot have; if the docstring describes a parameter that is not there.
    """
    declaration = getattr(function, _MARK, None)
    name = function.__name__
    if not isinstance(declaration, _Declaration):
        raise TypeError(f"{name} is not declared with @tool")
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or any(parameter.kind not in _BY_NAME for parameter in parameters):
        raise TypeError(f"tool {name}: its first parameter is the world, and each can be given by name")
    documentation = parse_from_object(function)
    described = {
        parameter.arg_name: " ".join((parameter.description or "").split()) for parameter in documentation.params
    }
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in parameters[1:]:
        if parameter.name not in hints or not described.get(parameter.name):
            raise TypeError(f"tool {name}: parameter {parameter.name} needs a type and a description")
        if parameter.name.startswith("_") or hasattr(BaseModel, parameter.name):
            raise TypeError(f"tool {name}: a parameter cannot be called {parameter.name}")
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (
            hints[parameter.name],
            Field(default, description=described[parameter.name]),
        )
    unknown = (declaration.hears | described.keys()) - fields.keys()
    if unknown or not documentation.short_description:
        raise TypeError(
            f"tool {name}: needs a summary line, and its docstring and `hears` name its own parameters only"
            f" (unknown: {sorted(unknown)})"
        )
    summary = " ".join(filter(None, (documentation.short_description, documentation.long_description)))
    try:
        arguments = create_model(name, __config__=ConfigDict(strict=True, extra="forbid", frozen=True), **fields)
        arguments.model_json_schema()
    except PydanticUserError as error:
        raise TypeError(f"tool {name}: a parameter's type cannot be written as JSON: {error.message}") from error
    return Tool(
        name=name,
        summary=" ".join(summary.split()),
        actor=declaration.actor,
        access=declaration.access,
        writes=declaration.writes,
        hears=declaration.hears,
        arguments=arguments,
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
