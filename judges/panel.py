"""One or several models that are asked whether statements on an episode are true, and what their answers come to.

One answer for each statement, keyed by its id, with the events it rests on. What cannot be read, is missing or failed
is ungraded. The record that they are shown is data between fences that nobody in the conversation can know.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.models.contract import ChatMessage, Finish, ModelClient, ModelRequest, Role, Speaker
from harness.models.faults import BudgetSpent, FatalFault, ModelFault, NotRecorded
from harness.verdict import Feeds, Stage, Standing, Verdict

_READINGS: Final = 3
"""How often a model is asked again when its answer cannot be read."""

_FENCE: Final = re.compile(r"\A\s*```(?:json)?\s*\n|\n\s*```\s*\Z")
"""Marks that some models put around JSON."""


class Answer(BaseModel):
    """One verdict as a model writes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    verdict: Literal["pass", "fail"]
    events: tuple[Annotated[int, Field(ge=0)], ...] = ()
    reason: str


class Answers(BaseModel):
    """All verdicts of one reply."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    verdicts: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one model says of one statement; `standing` is ungraded where it gave no readable answer."""

    judge: str
    standing: Standing
    reason: str
    events: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """Models that judge.

    Attributes
    ----------
    clients
        The models, by the names under which their opinions stand.
    """

    clients: tuple[tuple[str, ModelClient], ...]

    def ask(self, text: str, ids: Collection[str], event_count: int) -> dict[str, list[Opinion]]:
        """Ask every model about the same statements, in one call each.

        Parameters
        ----------
        text
            What they are shown.
        ids
            Of the statements.
        event_count
            Events of the episode; an answer that rests on others cannot be read.

        Raises
        ------
        ModelFault
            Only where the run must stop: a refused key, an unknown model, a spent budget, a call that is not recorded.
        """
        opinions: dict[str, list[Opinion]] = {key: [] for key in ids}
        for name, client in self.clients:
            for key, opinion in _ask(name, client, text, set(ids), event_count).items():
                opinions[key].append(opinion)
        return opinions


def fence_of(record: str) -> str:
    """Return a fence for a record; it is drawn from all of it, so that nobody in it can have written it."""
    return hashlib.sha256(record.encode()).hexdigest()[:16]


def _ask(name: str, client: ModelClient, text: str, wanted: set[str], event_count: int) -> Mapping[str, Opinion]:
    problem = ""
    for reading in range(_READINGS):
        purpose = f"judge/{'+'.join(sorted(wanted))}/{reading}"
        request = ModelRequest(
            Role.JUDGE, purpose, (ChatMessage(Speaker.USER, text),), answer_schema=Answers.model_json_schema()
        )
        try:
            reply = client.complete(request)
        except (FatalFault, BudgetSpent, NotRecorded):
            raise
        except ModelFault as fault:
            problem = f"{type(fault).__name__}: {fault}"
            break
        if reply.finish in (Finish.REFUSAL, Finish.CONTENT_FILTER):
            problem = f"the model gave no answer ({reply.finish_said})"
            break
        found, problem = _read(reply.message.text, wanted, event_count)
        if found is not None:
            return {key: _opinion(name, answer) for key, answer in found.items()}
    reason = f"{name} gave no readable verdict: {problem}"
    return {key: Opinion(name, Standing.UNGRADED, reason, ()) for key in wanted}


def _opinion(name: str, answer: Answer) -> Opinion:
    return Opinion(name, Standing(answer.verdict), answer.reason, answer.events)


def _read(text: str, wanted: set[str], event_count: int) -> tuple[dict[str, Answer] | None, str]:
    """Return the verdicts of a reply by statement, or None and what is wrong with it."""
    try:
        answers = Answers.model_validate_json(_FENCE.sub("", text)).verdicts
    except ValidationError as error:
        first: Any = error.errors(include_url=False)[0]
        return None, f"{'/'.join(map(str, first['loc'])) or 'reply'}: {first['msg']}"
    given = Counter(answer.id for answer in answers)
    if set(given) != wanted or max(given.values(), default=0) > 1:
        return None, f"expected one verdict on each of {', '.join(sorted(wanted))}, found {', '.join(given) or 'none'}"
    beyond = [event for answer in answers for event in answer.events if event >= event_count]
    if beyond:
        return None, f"rests on event {beyond[0]}, which is not in the record"
    return {answer.id: answer for answer in answers}, ""


def ruled(
    check: str, stage: Stage, feeds: Feeds, judge: str, *, statement: str, opinions: Sequence[Opinion]
) -> Verdict:
    """Go by the majority of those who answered; a tie, or nobody, is ungraded. Disagreement stands in the reason."""
    votes = Counter(opinion.standing for opinion in opinions if opinion.standing is not Standing.UNGRADED)
    passed, failed = votes[Standing.PASS], votes[Standing.FAIL]
    standing = Standing.UNGRADED
    if passed != failed:
        standing = Standing.PASS if passed > failed else Standing.FAIL
    voices = [opinion for opinion in opinions if opinion.standing is standing] or list(opinions)
    reason = voices[0].reason
    if len(opinions) > 1:
        reason = f"{passed} of {len(opinions)} pass, {failed} fail: {reason}"
    return Verdict(
        check=check,
        stage=stage,
        feeds=feeds,
        standing=standing,
        reason=reason,
        events=tuple(sorted({event for opinion in voices for event in opinion.events})),
        judge=judge,
        statement=statement,
        opinions={opinion.judge: opinion.standing for opinion in opinions},
    )
