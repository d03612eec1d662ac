"""The contract between a domain and the harness that drives it.

A domain is one package with a factory ``domain() -> Domain``, announced under the entry-point group
``fraudbench.domains``. The harness knows nothing else of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Final, Protocol
from zoneinfo import ZoneInfo

from sqlmodel import SQLModel

from domains.kit.cast import CastKind, digit_runs
from domains.kit.draw import Draw
from domains.kit.errors import UnknownDomain
from domains.kit.json import JsonValue
from domains.kit.knowledge import Knowledge
from domains.kit.rules import TELL, Contact, Finding, Guess, Outcome, Request, Rule
from domains.kit.store import StoreTemplate
from domains.kit.tools import Tool
from domains.kit.world import Controls, World

ENTRY_POINTS: Final = "fraudbench.domains"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that somebody means to make; locked tools are named plainly, not wrapped."""

    tool: str
    arguments: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Remedy:
    """A way to cure a finding within the conversation: ask for something, challenge, hand out a form.

    Attributes
    ----------
    calls
        What the agent does first.
    words
        What it then says to the caller.
    """

    calls: tuple[Call, ...]
    words: str


@dataclass(frozen=True, slots=True)
class Vocabularies:
    """The closed vocabularies of a domain; scenarios and records may use no other word.

    Attributes
    ----------
    stored_words
        Words that columns hold: kinds, statuses, results. Documents may name them.
    """

    mechanisms: frozenset[str]
    evidence: frozenset[str]
    tactics: frozenset[str]
    stages: frozenset[str]
    reason_codes: frozenset[str]
    references: Mapping[str, frozenset[str]] = field(default_factory=dict)
    stored_words: frozenset[str] = frozenset()


class Planner(Protocol):
    """How work is done in a domain, for agents that have no language model. It decides nothing."""

    def receive(self, guesses: Sequence[Guess], world: World) -> Sequence[Call]:
        """Return the calls that put down what the caller gave to identify themselves."""
        ...

    def plan(self, request: Request, world: World) -> Sequence[Call]:
        """Return the look-ups that a request needs before it is decided, searches of the corpus apart."""
        ...

    def remedy(self, finding: Finding, request: Request, world: World, contact: Contact) -> Remedy | None:
        """Return a cure for a finding that the conversation has not tried yet, or None."""
        ...

    def enact(self, finding: Finding, request: Request, world: World) -> Sequence[Call]:
        """Return the calls by which a finding is carried out (hold, case, escalation), its record apart."""
        ...

    def react(self, world: World) -> Sequence[Call]:
        """Return the caller's calls that answer whatever now waits on what the caller holds."""
        ...


@dataclass(frozen=True, eq=False)
class Domain:
    """Everything that the harness needs of a domain. Each is one of a kind: equal to itself only.

    Attributes
    ----------
    template
        Builds the prepared store; called once per process.
    policy
        What every agent is told at the start, the same in every scenario.
    look_up
        By table: the agent tool that shows one of its rows, and the name of the tool's key argument.
    protective_rows
        By outcome: the tables in which a new row shows that the outcome was carried out.
    verified_by
        The keys of the persons whom the speaker has proved to be in a contact. Grades who may hear what.
    text_rules
        Rules that only a reader can apply, id to title: they are written in the corpus and have no predicate.
    private_columns
        By table: the columns of the base rows that identify somebody.
    calendar_years
        The first and the last year that the domain's calendar covers; None if it has none that ends.
    """

    name: str
    title: str
    zone: ZoneInfo
    tools: Mapping[str, Tool]
    rules: Mapping[str, Rule]
    cast_kinds: Mapping[str, CastKind[Any]]
    vocabularies: Vocabularies
    template: Callable[[], StoreTemplate]
    planner: Planner
    policy: str
    look_up: Mapping[str, tuple[str, str]]
    protective_rows: Mapping[Outcome, frozenset[str]]
    verified_by: Callable[[Contact], frozenset[str]]
    text_rules: Mapping[str, str] = field(default_factory=dict)
    private_columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    calendar_years: tuple[int, int] | None = None
    resources: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that every name in it exists: a rule on a tool that is misspelt would never fire.

        Raises
        ------
        TypeError
            Naming every name that does not.
        """
        known = {*self.tools, TELL}
        faults = [f"rule {rule.id}: no tool {tool!r}" for rule in self.rules.values() for tool in rule.tools - known]
        faults += [
            f"rule {rule.id}: no reason code {rule.reason_code!r}"
            for rule in self.rules.values()
            if rule.reason_code not in self.vocabularies.reason_codes | {"none"}
        ]
        faults += [
            f"rule {rule.id}: no evidence {word!r}"
            for rule in self.rules.values()
            for word in rule.evidence - self.vocabularies.evidence
        ]
        faults += [
            f"look_up of {table}: no tool {tool!r} with an argument {argument!r}"
            for table, (tool, argument) in self.look_up.items()
            if tool not in self.tools or argument not in self.tools[tool].arguments.model_fields
        ]
        if faults:
            raise TypeError(f"domain {self.name}: {'; '.join(sorted(faults))}")

    def open(self, now: datetime, knowledge: Knowledge, controls: Controls, draw: Draw) -> World:
        """Open a fresh world."""
        return World(
            tools=self.tools,
            store=_template(self).open(),
            now=now,
            zone=self.zone,
            knowledge=knowledge,
            controls=controls,
            draw=draw,
            vocabularies={
                "decision": frozenset(Outcome),
                "rule_id": self.rule_ids | {"none"},
                "reason_code": self.vocabularies.reason_codes | {"none"},
            },
            resources=self.resources,
        )

    @property
    def rule_ids(self) -> frozenset[str]:
        """The ids of all written rules."""
        return frozenset(self.rules) | frozenset(self.text_rules)

    @property
    def models(self) -> Mapping[str, type[SQLModel]]:
        """The mapped class of every table."""
        return _template(self).models

    @property
    def base_runs(self) -> frozenset[str]:
        """Runs of four digits in the base rows' private values; no drawn private value may have one of them."""
        return _base_runs(self)

    @property
    def base_keys(self) -> frozenset[str]:
        """The keys of the base rows; no drawn record id may be one of them."""
        return _template(self).keys


@cache
def _template(domain: Domain) -> StoreTemplate:
    return domain.template()


@cache
def _base_runs(domain: Domain) -> frozenset[str]:
    store = _template(domain).open()
    try:
        return frozenset(
            run
            for table, columns in domain.private_columns.items()
            for row in store.rows(table)
            for column in columns
            for run in digit_runs(str(row[column] or ""))
        )
    finally:
        store.close()


@cache
def load_domain(name: str) -> Domain:
    """Return an installed domain by name; each process builds it once.

    Raises
    ------
    UnknownDomain
        If none of that name is installed, or it cannot be built.
    """
    found = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if name not in found:
        raise UnknownDomain(f"expected an installed domain ({', '.join(sorted(found)) or 'none'}), found {name!r}")
    try:
        built = found[name].load()()
    except Exception as error:
        raise UnknownDomain(f"domain {name!r} cannot be built: {type(error).__name__}: {error}") from error
    if not isinstance(built, Domain):
        raise UnknownDomain(f"domain {name!r}: its factory must return a Domain, not {type(built).__name__}")
    return built
