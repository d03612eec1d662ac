"""What participants read about the tools."""

from __future__ import annotations

import re

import pytest

from domains.banking.tools import bank_tools
from domains.kit.tools import Access, Actor, Tool

TOOLS = bank_tools()

BASE = {name: tool for name, tool in TOOLS.items() if tool.access is Access.BASE}
HIDDEN = set(TOOLS) - set(BASE)


def said(tool: Tool) -> str:
    """Return everything that the schema and the summary say."""
    return f"{tool.summary} {tool.schema()}"


def count(actor: Actor, access: Access) -> int:
    return sum(tool.actor is actor and tool.access is access for tool in TOOLS.values())


def test_there_are_as_many_tools_of_each_sort_as_promised() -> None:
    assert count(Actor.AGENT, Access.BASE) >= 17
    assert count(Actor.AGENT, Access.DISCOVERABLE) >= 10
    assert count(Actor.CALLER, Access.DISCOVERABLE) >= 5
    assert count(Actor.CALLER, Access.BASE) >= 6


@pytest.mark.parametrize("name", BASE)
def test_no_base_tool_names_one_that_is_to_be_discovered(name: str) -> None:
    assert set(re.findall(r"\w+", said(BASE[name]))) & HIDDEN == set()


@pytest.mark.parametrize("name", TOOLS)
def test_money_is_described_in_cents(name: str) -> None:
    for field, described in TOOLS[name].schema()["properties"].items():
        if field.endswith("_cents"):
            assert "in cents" in described["description"]


@pytest.mark.parametrize("name", TOOLS)
def test_a_description_tells_no_threshold(name: str) -> None:
    assert re.findall(r"\$|\b\d+ (?:hours|days|months|percent)\b", TOOLS[name].summary) == []


def test_only_readers_leave_the_bank_alone() -> None:
    reading = {name for name, tool in TOOLS.items() if not tool.writes}
    assert all(
        name.startswith(("get_", "list_", "find_", "kb_", "view_", "read_", "review_", "score_")) for name in reading
    )
