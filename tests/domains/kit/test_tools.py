"""Tools: what their declaration must say, the schema that participants see, and arguments taken strictly."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date
from types import ModuleType
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domains.kit.errors import CallRejected, Rejection
from domains.kit.json import JsonValue
from domains.kit.tools import Access, Actor, build_tool, collect_tools, tool
from domains.kit.world import World
from tests.domains.kit.lab import TOOLS, Colour, hidden, look, open_lab, take_all

GOOD: dict[str, Any] = {"colour": "red", "size": "small", "number": 3, "ratio": 0.5, "flag": True, "names": ["a"]}


def test_the_schema_comes_from_signature_and_docstring() -> None:
    assert TOOLS["take_all"].summary == "Take an argument of every kind. Say what came. Nothing is written."
    schema = TOOLS["take_all"].schema()
    assert schema["required"] == list(GOOD)
    assert schema["additionalProperties"] is False
    properties = schema["properties"]
    assert properties["size"] == {"type": "string", "enum": ["small", "large"], "description": "One of two words."}
    assert properties["number"] == {"type": "integer", "description": "A whole number."}
    assert properties["names"] == {"type": "array", "items": {"type": "string"}, "description": "A list."}
    assert properties["title"]["default"] is None
    assert properties["title"]["description"] == "A text, or nothing."
    assert schema["$defs"]["Colour"] == {"type": "string", "enum": ["red", "blue"]}
    jsonschema.Draft202012Validator.check_schema(schema)


def test_a_tool_without_parameters_has_an_empty_schema() -> None:
    assert TOOLS["wave"].schema() == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }


def test_a_schema_is_the_readers_own() -> None:
    TOOLS["look"].schema()["properties"].clear()
    assert list(TOOLS["look"].schema()["properties"]) == ["thing_id"]


def test_a_declaration_says_who_calls_and_how() -> None:
    kinds = {name: (TOOLS[name].actor, TOOLS[name].access) for name in ("look", "hidden", "wave", "gift")}
    assert kinds == {
        "look": (Actor.AGENT, Access.BASE),
        "hidden": (Actor.AGENT, Access.DISCOVERABLE),
        "wave": (Actor.CALLER, Access.BASE),
        "gift": (Actor.CALLER, Access.DISCOVERABLE),
    }
    assert (TOOLS["make"].writes, TOOLS["look"].writes) == (True, False)
    assert TOOLS["send_message"].hears == {"words"}


def test_values_arrive_as_the_types_of_the_signature() -> None:
    given_ = GOOD | {"day": "2026-03-01", "at": "2026-03-01T10:00:00Z", "title": None, "ratio": 2}
    parsed = TOOLS["take_all"].parse(given_)
    assert parsed["colour"] is Colour.RED
    assert parsed["day"] == date(2026, 3, 1)
    assert (parsed["at"].tzinfo is not None, type(parsed["ratio"]), parsed["title"]) == (True, float, None)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({name: value for name, value in GOOD.items() if name != "size"}, "size: Field required"),
    "extra": (GOOD | {"amount": 3}, "amount: Extra inputs are not permitted"),
    "text for a number": (GOOD | {"number": "3"}, "number: Input should be a valid integer"),
    "float for a whole number": (GOOD | {"number": 3.0}, "number: Input should be a valid integer"),
    "boolean for a number": (GOOD | {"number": True}, "number: Input should be a valid integer"),
    "number for a boolean": (GOOD | {"flag": 1}, "flag: Input should be a valid boolean"),
    "number for text": (GOOD | {"title": 7}, "title: Input should be a valid string"),
    "null for a number": (GOOD | {"number": None}, "number: Input should be a valid integer"),
    "text for a list": (GOOD | {"names": "a"}, "names: Input should be a valid array"),
    "wrong item": (GOOD | {"names": ["a", 1]}, "names.1: Input should be a valid string"),
    "no such enum": (GOOD | {"colour": "green"}, "colour: Input should be 'red' or 'blue'"),
    "padded enum": (GOOD | {"colour": " red"}, "colour: Input should be 'red' or 'blue'"),
    "no such word": (GOOD | {"size": "huge"}, "size: Input should be 'small' or 'large'"),
    "no such day": (GOOD | {"day": "2026-02-30"}, "day: Input should be a valid date"),
    "number for a day": (GOOD | {"day": 1}, "day: Input should be a valid date"),
    "NaN": (GOOD | {"ratio": float("nan")}, "not JSON compliant"),
    "infinity": (GOOD | {"ratio": float("inf")}, "not JSON compliant"),
    "huge number": (GOOD | {"number": 10**30}, "1.000e+30 is too large"),
    "huge negative number": (GOOD | {"number": -(2**53)}, "too large"),
    "huge number within": (GOOD | {"names": [{"a": 2**70}]}, "names.0: Input should be a valid string"),
    "endless number": (GOOD | {"number": 10**5000}, "integer string conversion"),
    "no JSON": (GOOD | {"title": {1, 2}}, "not JSON serializable"),
    "keys that cannot be sorted": ({**GOOD, 1: 2}, "'<' not supported"),
    "half of a surrogate pair": (GOOD | {"title": "\ud800"}, "unable to parse raw data as a unicode string"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_turned_away(case: str) -> None:
    arguments, problem = WRONG[case]
    with pytest.raises(CallRejected) as caught:
        TOOLS["take_all"].parse(arguments)
    assert caught.value.reason is Rejection.BAD_ARGUMENTS
    message = str(caught.value)
    assert message.startswith("take_all was not called: ")
    assert problem in message
    assert message.endswith("It takes: colour, size, number, ratio, flag, names, day, at, title.")


def test_a_large_number_is_refused_wherever_it_stands() -> None:
    with pytest.raises(CallRejected, match="too large"):
        TOOLS["change"].parse({"thing_id": "TH-1", "values": {"count": [{"deep": 2**53}]}})
    assert TOOLS["change"].parse({"thing_id": "TH-1", "values": {"count": 2**53 - 1}})


def test_a_message_stays_short_however_much_is_wrong() -> None:
    with pytest.raises(CallRejected) as caught:
        TOOLS["take_all"].parse(GOOD | {"names": list(range(10_000))})
    assert len(str(caught.value)) < 600
    assert "and 9995 more" in str(caught.value)


def test_a_tool_that_takes_nothing_says_so() -> None:
    with pytest.raises(CallRejected, match=r"It takes: no arguments\."):
        TOOLS["wave"].parse({"loudly": True})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60)
@given(
    st.sampled_from(sorted(TOOLS)), st.dictionaries(st.sampled_from([*GOOD, "thing_id", "values"]), JSON, max_size=7)
)
def test_any_arguments_are_taken_or_turned_away(name: str, arguments: dict[str, Any]) -> None:
    try:
        parsed = TOOLS[name].parse(arguments)
    except CallRejected:
        return
    jsonschema.validate(arguments, TOOLS[name].schema())
    assert set(parsed) == set(TOOLS[name].arguments.model_fields)


@settings(max_examples=60)
@given(JSON, st.sampled_from(["number", "names", "title"]))
def test_any_call_has_an_outcome(value: Any, name: str) -> None:
    world = open_lab()
    outcome = world.call(Actor.AGENT, "take_all", GOOD | {name: value})
    assert outcome.ok or outcome.rejection is Rejection.BAD_ARGUMENTS
    world.close()


# ------------------------------------------------------------- declarations that are refused


def undocumented(world: World, thing_id: str) -> JsonValue:
    """Show a thing."""


def untyped(world: World, thing_id) -> JsonValue:  # type: ignore[no-untyped-def]
    """Show a thing.

    Parameters
    ----------
    thing_id
        The thing.
    """


def stale(world: World) -> JsonValue:
    """Show a thing.

    Parameters
    ----------
    thing_id
        A parameter that is gone.
    """


def silent(world: World) -> JsonValue:
    pass


def worldless() -> JsonValue:
    """Do nothing."""


def variadic(world: World, *things: str) -> JsonValue:
    """Show things.

    Parameters
    ----------
    *things
        The things.
    """


def keywords(world: World, **things: str) -> JsonValue:
    """Show things.

    Parameters
    ----------
    **things
        The things.
    """


def positional(world: World, thing: str, /) -> JsonValue:
    """Show a thing.

    Parameters
    ----------
    thing
        The thing.
    """


def shadowing(world: World, copy: str) -> JsonValue:
    """Show a thing.

    Parameters
    ----------
    copy
        Also the name of something that models have.
    """


def private(world: World, _thing: str) -> JsonValue:
    """Show a thing.

    Parameters
    ----------
    _thing
        The thing.
    """


def opaque(world: World, other: World) -> JsonValue:
    """Show a thing.

    Parameters
    ----------
    other
        Nothing that JSON can write.
    """


def callback(world: World, then: Callable[[], int]) -> JsonValue:
    """Show a thing.

    Parameters
    ----------
    then
        Nothing that a schema can describe.
    """


REFUSED = {
    undocumented: "parameter thing_id needs a type and a description",
    untyped: "parameter thing_id needs a type and a description",
    stale: r"unknown: \['thing_id'\]",
    silent: "needs a summary line",
    worldless: "its first parameter is the world",
    variadic: "each can be given by name",
    keywords: "each can be given by name",
    positional: "each can be given by name",
    shadowing: "a parameter cannot be called copy",
    private: "a parameter cannot be called _thing",
    opaque: "a parameter's type cannot be written as JSON",
    callback: "a parameter's type cannot be written as JSON",
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_a_faulty_declaration_is_a_type_error(function: Any) -> None:
    with pytest.raises(TypeError, match=rf"tool {function.__name__}: .*{REFUSED[function]}"):
        build_tool(tool()(function))


def test_an_undeclared_function_is_no_tool() -> None:
    with pytest.raises(TypeError, match="plain is not declared with @tool"):
        build_tool(plain)


def plain(world: World) -> JsonValue:
    """Do nothing."""


def test_hears_names_a_parameter() -> None:
    def speak(world: World) -> JsonValue:
        """Speak."""

    with pytest.raises(TypeError, match=r"unknown: \['words'\]"):
        build_tool(tool(hears=["words"])(speak))


def test_a_declared_function_stays_a_function() -> None:
    world = open_lab()
    assert hidden(world, number=3) == 3
    assert look(world, "TH-1") == world.call(Actor.AGENT, "look", {"thing_id": "TH-1"}).result
    assert (
        take_all(world, Colour.RED, "small", 1, 1.0, True, [])
        == ["Colour", "str", "int", "float", "bool", "list"] + ["NoneType"] * 3
    )
    world.close()


def test_a_module_offers_the_tools_that_it_defines_in_their_order() -> None:
    found = collect_tools(sys.modules[look.__module__])
    assert list(found)[:3] == ["look", "make", "change"]
    assert "kb_search" not in found


def test_two_tools_of_one_name_are_refused() -> None:
    one, other = ModuleType("one"), ModuleType("other")
    for module in (one, other):
        function = type(hidden)(hidden.__code__, hidden.__globals__, "hidden")
        function.__doc__, function.__annotations__ = hidden.__doc__, hidden.__annotations__
        function.__module__ = module.__name__
        module.hidden = tool()(function)  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="two tools are called hidden"):
        collect_tools(one, other)
