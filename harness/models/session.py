"""The models of one episode: each call is answered by the cassette or by its provider, and kept either way."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from domains.kit.json import canonical, digest
from harness.models.budget import Budget
from harness.models.cassette import Cassette, RecordedEpisode, fault_of
from harness.models.config import RoleConfig
from harness.models.contract import ModelClient, ModelReply, ModelRequest, Role, Usage
from harness.models.faults import BudgetSpent, ModelFault
from harness.models.ledger import Ledger
from harness.models.provider import Answer, Provider
from harness.models.rate import RateLimit
from harness.models.record import CallTiming, Conversation, Fault, ModelCall, Sent
from harness.models.retry import Clock, Patience, patiently, pause_s
from harness.models.secrets import Redactor

_CHARS_PER_TOKEN: Final = 4
"""What a text is taken for before its provider has counted."""


@dataclass(frozen=True, slots=True)
class Common:
    """What all episodes of a process share.

    Attributes
    ----------
    seed
        For the pauses between tries.
    budget
        None for no limit.
    cassette
        Stands in for every provider; None to call them.
    """

    seed: int
    clock: Clock
    redactor: Redactor
    ledger: Ledger
    budget: Budget | None
    cassette: Cassette | None


@dataclass(frozen=True, slots=True)
class Seat:
    """One model of a role, and what keeps its calls within limits.

    Attributes
    ----------
    provider
        Builds what calls the model when it is first needed, and returns the same afterwards.
    """

    role: Role
    index: int
    config: RoleConfig
    provider: Callable[[], Provider]
    limit: RateLimit


class Session:
    """The models of one episode.

    Parameters
    ----------
    common
        What all episodes share.
    seat
        Returns a role's model by its number.
    episode_id
        The episode.
    time_s
        Seconds from now after which no call may go on; None for no limit.

    Attributes
    ----------
    timings
        How long each call took, in the order in which they ended.
    """

    def __init__(
        self, common: Common, seat: Callable[[Role, int], Seat], episode_id: str, time_s: float | None = None
    ) -> None:
        self.common = common
        self.episode_id = episode_id
        self.timings: list[CallTiming] = []
        self._seat = seat
        self._ends_at = None if time_s is None else common.clock.now() + time_s
        self._lock = threading.Lock()
        self._calls: list[ModelCall | None] = []
        self._asked: Counter[tuple[Role, int, str]] = Counter()
        self._clients: dict[tuple[Role, int], ModelClient] = {}
        self._recorded: RecordedEpisode | None = None

    def client(self, role: Role, index: int = 0) -> ModelClient:
        """Return the client of a role.

        Raises
        ------
        RunError
            If no model plays it.
        """
        with self._lock:
            if (role, index) not in self._clients:
                self._clients[role, index] = _Client(self, self._seat(role, index))
            return self._clients[role, index]

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        """Every call that has ended, in the order in which they began."""
        with self._lock:
            return tuple(call for call in self._calls if call is not None)

    @property
    def left_s(self) -> float | None:
        """Seconds until no call may go on; None for no limit."""
        return None if self._ends_at is None else self._ends_at - self.common.clock.now()

    def recorded(self, cassette: Cassette) -> RecordedEpisode:
        """Return what a cassette holds of this episode; it is read once."""
        with self._lock:
            if self._recorded is None:
                self._recorded = cassette.episode(self.episode_id)
            return self._recorded

    def begin(self, call: ModelCall) -> tuple[int, ModelCall]:
        """Keep a place for a call, and number it among its equals."""
        with self._lock:
            self._calls.append(None)
            asked = (call.role, call.index, call.key)
            numbered = replace(call, occurrence=self._asked[asked])
            self._asked[asked] += 1
            return len(self._calls) - 1, numbered

    def end(self, place: int, call: ModelCall, timing: CallTiming) -> None:
        """Put a call that has ended in its place."""
        with self._lock:
            self._calls[place] = call
            self.timings.append(timing)
        usage = None if call.reply is None else call.reply.usage
        self.common.ledger.add(call.role, usage, tries=call.tries, latency_s=timing.wall_s)


class _Client:
    """One model in one episode."""

    def __init__(self, session: Session, seat: Seat) -> None:
        self._session = session
        self._common = session.common
        self._seat = seat
        self._settings = digest([seat.role.value, seat.index, seat.config.model, seat.config.parameters])
        self._parameters = session.common.redactor.value(seat.config.parameters)
        self._conversation = Conversation()
        self._lock = threading.Lock()

    def complete(self, request: ModelRequest) -> ModelReply:
        """Return the model's reply; see `ModelClient`."""
        place, asked = self._session.begin(self._asked(request))
        now = self._common.clock.now
        began, waits = now(), [0.0]
        if self._common.cassette is not None:
            call = self._session.recorded(self._common.cassette).find(asked, request.messages)
        else:
            call = self._called(asked, request, waits)
        timing = CallTiming(role=call.role, purpose=request.purpose, wall_s=now() - began, waited_s=sum(waits))
        self._session.end(place, call, timing)
        if call.reply is None:
            assert call.fault is not None
            raise fault_of(call.fault)
        return call.reply

    def _asked(self, request: ModelRequest) -> ModelCall:
        with self._lock:
            known, same_tools = self._conversation.take(request.messages, request.tools)
            conversation = self._conversation.digest
        schema = None if request.answer_schema is None else canonical(request.answer_schema)
        sent = Sent(
            model=self._seat.config.model,
            known_messages=known,
            messages=tuple(map(self._common.redactor.message, request.messages[known:])),
            tools=None if same_tools else request.tools,
            answer_schema=request.answer_schema,
            parameters=self._parameters,
        )
        return ModelCall(
            role=self._seat.role,
            index=self._seat.index,
            purpose=request.purpose,
            key=digest([self._settings, conversation, schema], 32),
            sent=sent,
        )

    def _called(self, call: ModelCall, request: ModelRequest, waits: list[float]) -> ModelCall:
        common, seat, episode_id = self._common, self._seat, self._session.episode_id
        provider = seat.provider()
        thought = _tokens(request) if common.budget is not None or seat.limit.tokens is not None else 0
        failed: list[Fault] = []

        def admit() -> float:
            if common.budget is not None:
                common.budget.check()
            waits.append(seat.limit.wait(thought, common.clock))
            return waits[-1]

        try:
            answer = patiently(
                lambda timeout_s: provider.complete(request, timeout_s),
                self._patience(),
                lambda number: pause_s(common.seed, f"{episode_id}/{request.purpose}", number),
                admit=admit,
                failed=lambda fault: failed.append(self._recorded(fault)),
                clock=common.clock,
            )
        except BudgetSpent:
            # It is the run that ends, not the call: the episode is played anew when the run goes on.
            raise
        except ModelFault as fault:
            return replace(call, failed_tries=tuple(failed), fault=self._recorded(fault))
        self._settle(answer, thought, provider)
        sent = replace(call.sent, parameters=common.redactor.value(answer.parameters))
        return replace(call, sent=sent, failed_tries=tuple(failed), reply=common.redactor.reply(answer.reply))

    def _settle(self, answer: Answer, thought: int, provider: Provider) -> None:
        """Count what a call has used, or what it is taken for if its provider does not say."""
        usage, text = answer.reply.usage, answer.reply.message.text
        if usage.input_tokens is not None and usage.output_tokens is not None:
            self._seat.limit.settle(thought, usage.input_tokens + usage.output_tokens)
        if self._common.budget is not None:
            made = len(text) // _CHARS_PER_TOKEN + 1
            price = provider.price
            cost_usd = None if price is None else price.of(thought, made)
            self._common.budget.spend(usage, Usage(thought, made, cost_usd))

    def _patience(self) -> Patience:
        config, left_s = self._seat.config, self._session.left_s
        turn_s = config.turn_timeout_s if left_s is None else min(config.turn_timeout_s, left_s)
        return Patience(config.tries, config.call_timeout_s, turn_s)

    def _recorded(self, fault: ModelFault) -> Fault:
        return Fault(kind=type(fault).__name__, message=self._common.redactor.text(str(fault)))


def _tokens(request: ModelRequest) -> int:
    chars = sum(len(tool.schema_text) + len(tool.description) for tool in request.tools)
    for message in request.messages:
        chars += len(message.text) + sum(len(call.arguments) for call in message.tool_requests)
    return chars // _CHARS_PER_TOKEN + 1
