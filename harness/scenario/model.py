"""The scenario format, version 1: what one JSON file in `tasks/` may say.

Names inside a scenario (tools, tables, evidence, cast kinds) belong to its domain; `harness.scenario.instance`
resolves them. Here stands only the shape.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from domains.kit.rules import Outcome

SCHEMA_VERSION: Final = 1

Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{2,40}$")]
Role = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")]
FieldRef = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}\.[a-z][a-z0-9_]*$")]


def fault(expected: str, found: str, place: str = "") -> PydanticCustomError:
    """Return the error of a part that is wrong as a whole.

    Parameters
    ----------
    expected, found
        What should stand there, and what does.
    place
        JSON pointer from the part to the place, empty for the part itself.
    """
    context = {"expected": expected, "found": found, "place": place}
    return PydanticCustomError("scenario_fault", "expected {expected}, found {found}", context)


def _unpadded(text: str) -> str:
    if text != text.strip():
        raise fault("text without blanks at its ends", repr(text)[:120])
    return text


def _whole(version: object) -> object:
    if type(version) is not int:
        raise fault("the whole number 1", repr(version)[:120])
    return version


Text = Annotated[str, Field(min_length=1, max_length=4000), AfterValidator(_unpadded)]
Words = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_unpadded)]
Version = Annotated[Literal[1], BeforeValidator(_whole)]


class Part(BaseModel):
    """Base of every part: unknown keys are refused, values are not coerced."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Kind(StrEnum):
    """Whether the right outcome is to stop the caller or to serve them."""

    ATTACK = "attack"
    TWIN = "twin"


class Suite(StrEnum):
    """The two parts of the benchmark."""

    CORE = "core"
    CHAIN = "chain"


class Tier(StrEnum):
    """What makes a scenario difficult."""

    SURFACE = "surface"
    SINGLE_CONTROL = "single_control"
    ADAPTIVE = "adaptive"
    CHAIN = "chain"


class Split(StrEnum):
    """Whether a scenario is published or kept back."""

    PUBLIC = "public"
    HELD_OUT = "held_out"


class EndReason(StrEnum):
    """Why a caller hangs up."""

    GOT_IT = "got_it"
    GAVE_UP = "gave_up"
    SATISFIED = "satisfied"


class AssertionFeeds(StrEnum):
    """The rate that a semantic assertion counts towards: security, documented or utility."""

    HARM = "harm"
    PROCEDURE = "procedure"
    SERVICE = "service"


# ------------------------------------------------------------------- setup


class SetupRow(Part):
    """One row that the scenario adds to, or one that it changes on, the shared base bank."""

    table: Words
    key: str | None = None
    insert: dict[str, Any] | None = None
    update: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _one_action(self) -> SetupRow:
        if (self.insert is None) == (self.update is None):
            raise fault("either `insert` or `update`", "both" if self.insert is not None else "neither")
        if (self.update is None) != (self.key is None):
            raise fault("`key`, the row to update, beside `update` and nowhere else", f"`key` {self.key!r}")
        return self


class Setup(Part):
    """The clock and the extra rows."""

    now: Words
    rows: tuple[SetupRow, ...] = ()


# ------------------------------------------------------------------ caller


class CallPattern(Part):
    """A tool call, or a pattern of one: arguments that are not named may be anything."""

    tool: Words
    args: dict[str, Any] = {}


class Wish(Part):
    """What a beat asks for: a tool call, or to be told a stored value (`tell`)."""

    tool: Words | None = None
    args: dict[str, Any] = {}
    tell: FieldRef | None = None

    @model_validator(mode="after")
    def _one_wish(self) -> Wish:
        if (self.tool is None) == (self.tell is None) or (self.tell is not None and self.args):
            raise fault("either `tool` (with `args`) or `tell`", "both" if self.tell is not None else "neither")
        return self


class GuessAt(Part):
    """A value that the caller gives for a stored field of the cast."""

    of: FieldRef
    value: str


class Next(Part):
    """Where a beat leads by how the agent took it; `any` stands for every case not named."""

    success: str | None = None
    refusal: str | None = None
    question: str | None = None
    stall: str | None = None
    any: str | None = None


class Beat(Part):
    """One thing the caller says, its structured meaning beside it, and where it leads."""

    say: Text
    requests: tuple[Wish, ...] = ()
    guesses: tuple[GuessAt, ...] = ()
    evidence: tuple[Words, ...] = ()
    calls: tuple[CallPattern, ...] = ()
    decision_point: bool = False
    on: Next | None = None
    end: Annotated[EndReason, Field(strict=False)] | None = None

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Beat:
        if (self.on is None) == (self.end is None):
            found = "both" if self.on is not None else "neither"
            raise fault("either `on` (where it leads) or `end` (why the caller hangs up)", found)
        return self


class Script(Part):
    """The scripted caller's state machine.

    Attributes
    ----------
    when_granted
        Arguments with which the caller uses a tool once the agent has granted it.
    """

    start: Words
    max_turns: Annotated[int, Field(ge=1, le=40)]
    beats: dict[Words, Beat]
    when_granted: dict[str, dict[str, Any]] = {}

    @model_validator(mode="after")
    def _beats_exist(self) -> Script:
        targets = {"/start": self.start}
        for name, beat in self.beats.items():
            if beat.on is not None:
                steps = {status: step for status, step in beat.on.model_dump().items() if step is not None}
                targets |= {f"/beats/{name}/on/{status}": step for status, step in steps.items()}
                missing = {"success", "refusal", "stall"} - steps.keys()
                if missing and beat.on.any is None:
                    raise fault(f"a way on for {', '.join(sorted(missing))}, or `any`", "none", f"/beats/{name}/on")
        for place, step in targets.items():
            if step not in self.beats:
                raise fault(f"a beat ({', '.join(self.beats)})", repr(step), place)
        return self


class CallerPart(Part):
    """Who calls, what they hold and know, what they want, and how they go about it.

    Attributes
    ----------
    is_
        The role that the caller really is.
    claims_to_be
        The role they present themselves as, if another.
    acts_for
        The role on whose behalf they speak, with or without right.
    app_as
        The role whose app they hold, if any.
    devices, answers_phones
        The roles whose enrolled devices and telephones they control.
    knows
        The only facts of the cast that reach the caller.
    believes
        Values that they would give for fields they do not know, wrong ones included.
    """

    is_: Annotated[Role, Field(alias="is")]
    claims_to_be: Role | None = None
    acts_for: Role | None = None
    app_as: Role | None = None
    devices: tuple[Role, ...] = ()
    answers_phones: tuple[Role, ...] = ()
    goal: Text
    knows: tuple[FieldRef, ...] = ()
    believes: dict[FieldRef, str] = {}
    does_not_know: tuple[Text, ...] = ()
    tactics: tuple[Words, ...] = ()
    instructions: Text
    script: Script

    @model_validator(mode="after")
    def _knows_or_believes(self) -> CallerPart:
        for name in self.believes:
            if name in self.knows:
                raise fault("a field that `knows` does not list", repr(name), f"/believes/{name}")
        return self


# ------------------------------------------------------------------ expect


class Effect(Part):
    """A change of rows, at any time of the episode.

    `becomes` matches a row that comes to hold these values, inserted or updated; `insert` only new rows;
    `delete` rows that go. `key` and `where` narrow the rows down. Each value is a literal, a list of literals
    (any of them), or an object with one of `at_least`, `at_most`, `not`, `contains`.
    """

    table: Words
    key: str | None = None
    where: dict[str, Any] = {}
    becomes: dict[str, Any] | None = None
    insert: dict[str, Any] | None = None
    delete: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_effect(self) -> Effect:
        if sum(part is not None for part in (self.becomes, self.insert, self.delete)) != 1:
            raise fault("exactly one of `becomes`, `insert`, `delete`", "several or none")
        return self


class Happening(Part):
    """An effect on rows or a successful tool call."""

    effect: Effect | None = None
    call: CallPattern | None = None

    @model_validator(mode="after")
    def _one(self) -> Happening:
        if (self.effect is None) == (self.call is None):
            raise fault("either `effect` or `call`", "both" if self.effect is not None else "neither")
        return self


class Order(Part):
    """Two calls of which the first must have succeeded before the second is made."""

    first: CallPattern
    then: CallPattern


class StatePredicate(Part):
    """How many rows of the final bank match; `at_least` and `at_most` default to at least one."""

    table: Words
    where: dict[str, Any] = {}
    at_least: int | None = None
    at_most: int | None = None


class Protected(Part):
    """A value of the cast that must not be told, who may hear it, and in which form."""

    field: FieldRef
    may_hear: tuple[Role, ...] = ()
    form: Literal["full", "last_four"] = "full"


class Intervention(Part):
    """The last beat by which the agent must have stopped the caller."""

    latest_beat: Words


class Assertion(Part):
    """One fact about the conversation that only a reader can judge."""

    id: Identifier
    feeds: Annotated[AssertionFeeds, Field(strict=False)]
    text: Text


class Expect(Part):
    """What must and must not happen."""

    prohibited: tuple[Happening, ...] = ()
    wanted: tuple[Happening, ...] = ()
    required: tuple[Happening, ...] = ()
    order: tuple[Order, ...] = ()
    state: tuple[StatePredicate, ...] = ()
    protected: tuple[Protected, ...] = ()
    dispositions: tuple[Annotated[Outcome, Field(strict=False)], ...] = ()
    reason_codes: tuple[Words, ...] = ()
    reads_before_decision: tuple[CallPattern, ...] = ()
    intervention: Intervention | None = None
    assertions: tuple[Assertion, ...] = ()

    @model_validator(mode="after")
    def _told_apart(self) -> Expect:
        listed = {"protected": [item.field for item in self.protected], "assertions": [a.id for a in self.assertions]}
        for name, items in listed.items():
            for place, item in enumerate(items):
                if item in items[:place]:
                    raise fault("an entry of its own", f"{item!r} twice", f"/{name}/{place}")
        return self


# ------------------------------------------------------------- annotations


class Cost(Part):
    """What is at stake, in cents."""

    amount_at_risk_cents: Annotated[int, Field(ge=0)]
    investigation_cents: Annotated[int, Field(ge=0)] = 0
    friction_per_turn_cents: Annotated[int, Field(ge=0)] = 0


class Phases(Part):
    """A two-phase attack: what comes first, what would be valid without it, and how they hang together."""

    first: Text
    second: Text
    dependency: Text


class Annotations(Part):
    """What reports group and weigh by; nothing here reaches a participant."""

    stage: Words
    cost: Cost
    observable_evidence: tuple[Text, ...] = ()
    phases: Phases | None = None
    references: dict[str, tuple[Words, ...]] = {}


class Flip(Part):
    """The one thing in which a twin differs from its attack: a JSON pointer and the new value there."""

    path: Annotated[str, Field(pattern=r"^/(cast|setup|caller/script/beats)/.+")]
    to: Any


class Scenario(Part):
    """One scenario, whole. A twin is one too, once its patch has been applied."""

    schema_version: Version
    id: Identifier
    domain: Words = "banking"
    kind: Annotated[Kind, Field(strict=False)]
    mechanism: Words
    suite: Annotated[Suite, Field(strict=False)]
    tier: Annotated[Tier, Field(strict=False)]
    split: Annotated[Split, Field(strict=False)] = Split.PUBLIC
    title: Words
    rules: Annotated[tuple[Words, ...], Field(min_length=1)]
    documents: Annotated[tuple[Words, ...], Field(min_length=1)]
    cast: Annotated[dict[Role, dict[str, Any]], Field(min_length=1)]
    setup: Setup
    caller: CallerPart
    expect: Expect
    annotations: Annotations
    twin_of: Identifier | None = None
    flip: Flip | None = None

    @model_validator(mode="after")
    def _is_attack_or_twin(self) -> Scenario:
        for name, value in (("twin_of", self.twin_of), ("flip", self.flip)):
            if (value is not None) != (self.kind is Kind.TWIN):
                found = "nothing" if value is None else "a value"
                raise fault(f"{name!r} in a twin and nowhere else", found, f"/{name}")
        return self


class TwinPatch(Part):
    """The file of a twin: which attack it answers, the flip, and what is expected instead.

    `goal` and `instructions` tell a model-driven caller the twin's own story, where the attack's would not be honest.
    They reach no record and no scripted caller, so the two still differ by the flip alone.
    """

    schema_version: Version
    id: Identifier
    kind: Literal["twin"]
    twin_of: Identifier
    title: Words | None = None
    goal: Text | None = None
    instructions: Text | None = None
    flip: Flip
    expect: Expect
