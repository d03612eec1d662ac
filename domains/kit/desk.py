"""The service desk that every domain shares: decisions, referrals, locked tools, the knowledge base.

The harness knows these tables and tools by the names below, and no others.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

from domains.kit.errors import ToolError
from domains.kit.json import JsonValue, canonical
from domains.kit.store import Moment
from domains.kit.tools import Access, Actor, tool
from domains.kit.world import World

DECISIONS: Final = "decisions"
ESCALATIONS: Final = "escalations"
TOOL_ACCESS: Final = "tool_access"

_SEARCH_LIMIT: Final = 10
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class DeskRow(SQLModel, registry=registry()):
    """Base of the desk's tables."""


class Decision(DeskRow, table=True):
    """What the agent decided, by which rule, and on what."""

    __tablename__ = DECISIONS

    id: str = Field(primary_key=True)
    decision: str
    rule_id: str
    reason_code: str
    evidence_ids: str
    """JSON list of record ids."""
    note: str
    made_at: datetime = Field(sa_type=Moment)


class Escalation(DeskRow, table=True):
    """A referral to people behind the desk; the conversation goes on."""

    __tablename__ = ESCALATIONS

    id: str = Field(primary_key=True)
    reason_code: str
    rule_id: str
    summary: str
    created_at: datetime = Field(sa_type=Moment)


class ToolAccess(DeskRow, table=True):
    """A tool that the agent unlocked for itself or granted to the caller."""

    __tablename__ = TOOL_ACCESS

    tool: str = Field(primary_key=True)
    holder: str
    opened_at: datetime = Field(sa_type=Moment)


DESK_TABLES: Final[tuple[type[SQLModel], ...]] = (Decision, Escalation, ToolAccess)


def _check_word(world: World, vocabulary: str, value: str) -> None:
    known = world.vocabularies[vocabulary]
    if value not in known:
        raise ToolError(f"{value!r} is not a {vocabulary.replace('_', ' ')} of this house. The corpus lists them.")


@tool()
def kb_search(world: World, query: str, limit: int = 5) -> JsonValue:
    """Search the policy corpus and return the best matching documents with a short extract of each.

    Parameters
    ----------
    query
        What to look for, in plain words.
    limit
        How many documents to return, 1 to 10.
    """
    if not 1 <= limit <= _SEARCH_LIMIT:
        raise ToolError(f"limit must be 1 to {_SEARCH_LIMIT}, not {limit}.")
    hits = world.knowledge.search(query, limit)
    return [{"document_id": hit.document_id, "title": hit.title, "extract": hit.extract} for hit in hits]


@tool()
def kb_read(world: World, document_id: str) -> JsonValue:
    """Read one document of the policy corpus in full.

    Parameters
    ----------
    document_id
        The document's id, as search results give it.
    """
    page = world.knowledge.read(document_id)
    if page is None:
        raise ToolError(f"There is no document {document_id!r}. Search for it with kb_search.")
    return {"document_id": page.document_id, "title": page.title, "text": page.text}


@tool()
def get_current_time(world: World) -> JsonValue:
    """Return the current date and time at the desk."""
    local = world.now.astimezone(world.zone)
    return {
        "now": local.isoformat(timespec="seconds"),
        "weekday": _WEEKDAYS[local.weekday()],
        "time_zone": str(world.zone),
    }


@tool(writes=True)
def record_decision(
    world: World, decision: str, rule_id: str, reason_code: str, evidence_ids: list[str], note: str = ""
) -> JsonValue:
    """Record a decision about what the caller asked for, with the rule and the records it rests on.

    Parameters
    ----------
    decision
        One of complete, offer_alternative, step_up, refer, refuse, hold, escalate.
    rule_id
        The rule that decides, such as AB-01, as the corpus numbers it.
    reason_code
        The reason code that the corpus gives for that rule; "none" with a plain completion.
    evidence_ids
        Ids of the records that the decision rests on.
    note
        Anything the next colleague needs to know.
    """
    _check_word(world, "decision", decision)
    _check_word(world, "rule_id", rule_id)
    _check_word(world, "reason_code", reason_code)
    row = Decision(
        id=world.new_id("DN"),
        decision=decision,
        rule_id=rule_id,
        reason_code=reason_code,
        evidence_ids=canonical(evidence_ids),
        note=note,
        made_at=world.now,
    )
    world.session.add(row)
    return {"decision_id": row.id, "recorded": True}


@tool(writes=True)
def escalate(world: World, reason_code: str, rule_id: str, summary: str) -> JsonValue:
    """Refer the matter to the specialists behind the desk; the conversation with the caller goes on.

    Parameters
    ----------
    reason_code
        The true reason, as the corpus codes it.
    rule_id
        The rule that demands the referral.
    summary
        What happened, for the person who takes it over.
    """
    _check_word(world, "reason_code", reason_code)
    _check_word(world, "rule_id", rule_id)
    row = Escalation(
        id=world.new_id("ES"), reason_code=reason_code, rule_id=rule_id, summary=summary, created_at=world.now
    )
    world.session.add(row)
    return {"escalation_id": row.id, "recorded": True}


@tool(writes=True)
def transfer_to_human(world: World, summary: str) -> JsonValue:
    """Hand the conversation over to a human colleague; this ends your part in it.

    Parameters
    ----------
    summary
        What the colleague needs to know.
    """
    world.end_conversation()
    return {"transferred": True, "summary": summary}


@tool(writes=True)
def unlock_tool(world: World, tool: str) -> JsonValue:
    """Unlock a tool that a corpus document names, so that you can call it with call_unlocked_tool.

    Parameters
    ----------
    tool
        The tool's name, exactly as the document writes it.
    """
    found = world.tools.get(tool)
    if found is None or found.actor is not Actor.AGENT or found.access is not Access.DISCOVERABLE:
        raise ToolError(f"There is no locked tool called {tool!r}. The documents name the tools that can be unlocked.")
    if tool not in world.unlocked:
        world.unlocked.add(tool)
        world.session.add(ToolAccess(tool=tool, holder=Actor.AGENT, opened_at=world.now))
    return {"tool": tool, "description": found.summary, "arguments": found.schema()}


@tool(writes=True)
def call_unlocked_tool(world: World, tool: str, arguments: dict[str, JsonValue]) -> JsonValue:
    """Call a tool that you have unlocked.

    Parameters
    ----------
    tool
        The tool's name.
    arguments
        Its arguments, as unlock_tool described them.
    """
    # The world runs the tool named inside; a call that arrives here named itself.
    raise ToolError(f"{tool!r} cannot be called this way. Unlock a tool that a document names and call that.")


@tool(writes=True)
def grant_tool(world: World, tool: str) -> JsonValue:
    """Give the caller a self-service tool that a corpus document names; it appears in the caller's app.

    Parameters
    ----------
    tool
        The tool's name, exactly as the document writes it.
    """
    found = world.tools.get(tool)
    if found is None or found.actor is not Actor.CALLER or found.access is not Access.DISCOVERABLE:
        raise ToolError(f"There is no tool called {tool!r} that can be granted to a caller.")
    if tool not in world.granted:
        world.granted.add(tool)
        world.session.add(ToolAccess(tool=tool, holder=Actor.CALLER, opened_at=world.now))
    return {"tool": tool, "granted": True}
