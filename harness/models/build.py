"""From a configuration to clients: cassette, budget, rate limit, retries, deadline and record around each call."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from domains.kit.json import canonical, digest
from harness.errors import RunError
from harness.models.budget import Budget
from harness.models.cassette import Cassette, fault_of
from harness.models.config import ModelsConfig, RoleConfig
from harness.models.contract import ModelClient, ModelReply, ModelRequest, Provider, Role
from harness.models.faults import BudgetSpent, ModelFault
from harness.models.ledger import Ledger
from harness.models.rate import RateLimit
from harness.models.record import CallTiming, Conversation, Fault, ModelCall, Sent
from harness.models.retry import Clock, Patience, patiently, pause_s
from harness.models.secrets import Redactor, redactor_for

_CHARS_PER_TOKEN: Final = 4
"""What a text is taken for before its provider has counted."""


def litellm_provider(config: RoleConfig) -> Provider:
    """Return the provider of a role, called by LiteLLM, which is imported now.

    Raises
    ------
    Unauthorised
        If the variable that should hold its key is not set.
    """
    from harness.models.litellm_client import LiteLLMClient

    return LiteLLMClient(config)


class Models:
    """The models of a run. Threads share it; other processes get a copy with the same limits and budget.

    Parameters
    ----------
    config
        Which models.
    seed
        For the pauses between tries.
    budget
        What the run may spend; None for no limit.
    cassette
        Recorded traffic that stands in for every provider; None to call them.
    make_provider
        Builds what calls the model of a role.
    clock
        None for that of the machine.
    """

    def __init__(
        self,
        config: ModelsConfig,
        *,
        seed: int = 0,
        budget: Budget | None = None,
        cassette: Path | None = None,
        make_provider: Callable[[RoleConfig], Provider] = litellm_provider,
        clock: Clock | None = None,
    ) -> None:
        self.config = config
        self.seed = seed
        self.budget = budget
        self.clock = clock or Clock()
        self.ledger = Ledger()
        self._cassette_path = cassette
        self._make_provider = make_provider
        self._limits = _limits(config)
        self._build()

    def _build(self) -> None:
        self.redactor = redactor_for(self.config)
        self._lock = threading.Lock()
        self._providers: dict[tuple[Role, int], Provider] = {}
        self._cassette: Cassette | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Travel without what was built: another process builds its own."""
        kept = ("config", "seed", "budget", "clock", "_cassette_path", "_make_provider", "_limits")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.ledger = Ledger()
        self._build()

    def prepare(self) -> None:
        """Build what every call needs, so that what is wrong with it shows before the first episode.

        Raises
        ------
        Unauthorised
            If a variable that should hold a key is not set.
        DataError
            If the cassette cannot be read.
        """
        if self.cassette is None:
            for role in Role:
                for index in range(len(self.config.of(role))):
                    self.provider(role, index)

    @property
    def cassette(self) -> Cassette | None:
        """The recorded traffic that stands in for the providers.

        Raises
        ------
        DataError
            If it cannot be read.
        """
        if self._cassette_path is None:
            return None
        with self._lock:
            if self._cassette is None:
                self._cassette = Cassette(self._cassette_path)
            return self._cassette

    def role(self, role: Role, index: int = 0) -> RoleConfig:
        """Return the configuration of a role's model.

        Raises
        ------
        RunError
            If none plays it.
        """
        models = self.config.of(role)
        if index >= len(models):
            raise RunError(f"expected a model for the {role.value}, found {len(models)}. Name one with --{role.value}.")
        return models[index]

    def provider(self, role: Role, index: int = 0) -> Provider:
        """Return what calls a role's model, one for the whole process.

        Raises
        ------
        RunError
            If no model plays the role.
        Unauthorised
            If the variable that should hold its key is not set.
        """
        with self._lock:
            if (role, index) not in self._providers:
                self._providers[role, index] = self._make_provider(self.role(role, index))
            return self._providers[role, index]

    def limit(self, config: RoleConfig) -> RateLimit:
        """Return the limits of a model's provider."""
        return self._limits[_provider_name(config)]

    def session(self, episode_id: str, time_s: float | None = None) -> Session:
        """Return the models of one episode.

        Parameters
        ----------
        episode_id
            The episode.
        time_s
            Seconds from now after which no call may go on; None for no limit.
        """
        return Session(self, episode_id, time_s)


class Session:
    """The models of one episode, with a record of their calls.

    Attributes
    ----------
    timings
        How long each call took, in the order in which they ended.
    """

    def __init__(self, models: Models, episode_id: str, time_s: float | None) -> None:
        self.models = models
        self.episode_id = episode_id
        self.timings: list[CallTiming] = []
        self._ends_at = None if time_s is None else models.clock.now() + time_s
        self._lock = threading.Lock()
        self._calls: list[ModelCall | None] = []
        self._asked: Counter[tuple[Role, int, str]] = Counter()
        self._clients: dict[tuple[Role, int], _Client] = {}

    def client(self, role: Role, index: int = 0) -> ModelClient:
        """Return the client of a role.

        Raises
        ------
        RunError
            If no model plays it.
        """
        with self._lock:
            if (role, index) not in self._clients:
                self._clients[role, index] = _Client(self, role, index)
            return self._clients[role, index]

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        """Every call that has ended, in the order in which they began."""
        with self._lock:
            return tuple(call for call in self._calls if call is not None)

    @property
    def left_s(self) -> float | None:
        """Seconds until no call may go on; None for no limit."""
        return None if self._ends_at is None else self._ends_at - self.models.clock.now()

    def _begin(self, call: ModelCall) -> tuple[int, ModelCall]:
        """Keep a place for a call, and number it among its equals."""
        with self._lock:
            self._calls.append(None)
            asked = (call.role, call.index, call.key)
            numbered = call.model_copy(update={"occurrence": self._asked[asked]})
            self._asked[asked] += 1
            return len(self._calls) - 1, numbered

    def _end(self, place: int, call: ModelCall, timing: CallTiming) -> None:
        with self._lock:
            self._calls[place] = call
            self.timings.append(timing)
        usage = None if call.reply is None else call.reply.usage
        self.models.ledger.add(call.role.value, usage, tries=call.tries, latency_s=timing.wall_s)


class _Client:
    """One role's model in one episode."""

    def __init__(self, session: Session, role: Role, index: int) -> None:
        self._session = session
        self._models = session.models
        self._role = role
        self._index = index
        self._config = session.models.role(role, index)
        self._settings = digest([self._config.model, self._config.parameters])
        self._conversation = Conversation()
        self._lock = threading.Lock()

    def complete(self, request: ModelRequest) -> ModelReply:
        """Return the model's reply, from the cassette or its provider."""
        place, call = self._session._begin(self._asked(request))
        started = self._models.clock.now()
        waited: list[float] = []
        if cassette := self._models.cassette:
            ended = cassette.find(self._session.episode_id, call, request.messages)
            call = ended.model_copy(update={"purpose": request.purpose})
        else:
            call = self._called(call, request, waited)
        timing = CallTiming(
            role=self._role,
            purpose=request.purpose,
            wall_s=self._models.clock.now() - started,
            waited_s=sum(waited),
        )
        self._session._end(place, call, timing)
        if call.reply is None:
            assert call.fault is not None
            raise fault_of(call.fault)
        return call.reply

    def _asked(self, request: ModelRequest) -> ModelCall:
        with self._lock:
            known, same_tools = self._conversation.take(request.messages, request.tools)
            conversation = self._conversation.digest
        schema = None if request.answer_schema is None else canonical(request.answer_schema)
        redactor = self._models.redactor
        sent = Sent(
            model=self._config.model,
            known_messages=known,
            messages=tuple(map(redactor.message, request.messages[known:])),
            tools=None if same_tools else request.tools,
            answer_schema=request.answer_schema,
            parameters=redactor.value(self._config.parameters),
        )
        key = digest([self._role.value, self._index, self._settings, conversation, schema], 32)
        return ModelCall(role=self._role, index=self._index, purpose=request.purpose, key=key, sent=sent)

    def _called(self, call: ModelCall, request: ModelRequest, waited: list[float]) -> ModelCall:
        models, config, redactor = self._models, self._config, self._models.redactor
        provider, limit = models.provider(self._role, self._index), models.limit(config)
        thought = _tokens_thought(request)
        failed: list[Fault] = []

        def admit() -> float:
            if models.budget is not None:
                models.budget.check()
            waited.append(limit.wait(thought, models.clock))
            return waited[-1]

        try:
            answer = patiently(
                lambda timeout_s: provider.complete(request, timeout_s),
                self._patience(),
                lambda number: pause_s(models.seed, f"{self._session.episode_id}/{request.purpose}", number),
                admit=admit,
                failed=lambda fault: failed.append(_recorded(fault, redactor)),
                clock=models.clock,
            )
        except BudgetSpent:
            raise
        except ModelFault as fault:
            return call.model_copy(update={"failed_tries": tuple(failed), "fault": _recorded(fault, redactor)})
        reply = redactor.reply(answer.reply)
        usage = reply.usage
        known = usage.input_tokens is not None and usage.output_tokens is not None
        limit.settle(thought, (usage.input_tokens or 0) + (usage.output_tokens or 0) if known else None)
        if models.budget is not None:
            models.budget.spend(usage, thought + len(reply.message.text) // _CHARS_PER_TOKEN)
        sent = call.sent.model_copy(update={"parameters": redactor.value(answer.parameters)})
        return call.model_copy(update={"sent": sent, "failed_tries": tuple(failed), "reply": reply})

    def _patience(self) -> Patience:
        left_s = self._session.left_s
        turn_s = self._config.turn_timeout_s
        return Patience(
            self._config.tries, self._config.call_timeout_s, turn_s if left_s is None else min(turn_s, left_s)
        )


def _recorded(fault: ModelFault, redactor: Redactor) -> Fault:
    return Fault(kind=type(fault).__name__, message=redactor.text(str(fault)))


def _tokens_thought(request: ModelRequest) -> int:
    chars = sum(
        len(message.text) + sum(len(call.arguments) for call in message.tool_requests) for message in request.messages
    )
    chars += sum(len(tool.schema_text) + len(tool.description) for tool in request.tools)
    return chars // _CHARS_PER_TOKEN + 1


def _limits(config: ModelsConfig) -> dict[tuple[str, str], RateLimit]:
    """Build one limit for each provider; where roles share one, the tightest that any of them names counts."""
    rates: dict[tuple[str, str], list[RoleConfig]] = {}
    for role in Role:
        for model in config.of(role):
            rates.setdefault(_provider_name(model), []).append(model)
    return {
        name: RateLimit.of(
            min((model.requests_per_minute for model in models if model.requests_per_minute), default=None),
            min((model.tokens_per_minute for model in models if model.tokens_per_minute), default=None),
        )
        for name, models in rates.items()
    }


def _provider_name(config: RoleConfig) -> tuple[str, str]:
    """Name what a provider's limits are for: an address and a model."""
    return config.base_url or config.model.partition("/")[0], config.model
