"""From a configuration to clients, built once a process and only when they are needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from harness.errors import RunError
from harness.models.budget import Budget
from harness.models.cassette import Cassette
from harness.models.config import ModelsConfig, RoleConfig
from harness.models.contract import Role
from harness.models.ledger import Ledger
from harness.models.provider import Provider
from harness.models.rate import RateLimit
from harness.models.retry import Clock
from harness.models.secrets import redactor_for
from harness.models.session import Common, Seat, Session


def litellm_provider(config: RoleConfig) -> Provider:
    """Return what calls a model by LiteLLM, which is imported now.

    Raises
    ------
    Unauthorised
        If the variable that should hold its key is not set.
    """
    from harness.models.litellm_client import LiteLLMClient

    return LiteLLMClient(config)


class Models:
    """The models of a run. Threads share it; worker processes get a copy with the same limits,
    budget and ledger.

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

    Attributes
    ----------
    ledger
        Of the calls that were made, in worker processes too.
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
        self._seed = seed
        self._budget = budget
        self._cassette = cassette
        self._make_provider = make_provider
        self._clock = clock or Clock()
        self._limits = _limits(config)
        self.ledger = Ledger()
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._providers: dict[tuple[Role, int], Provider] = {}
        self._common: Common | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Travel without what was built: another process builds its own."""
        built = ("_lock", "_providers", "_common")
        return {name: value for name, value in self.__dict__.items() if name not in built}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def prepare(self) -> None:
        """Build what every call needs, so that what is wrong with it shows before the first episode.

        Raises
        ------
        Unauthorised
            If a variable that should hold a key is not set.
        DataError
            If the cassette cannot be read.
        RunError
            If there is a budget of money and the price of a model is not known.
        """
        if self._shared().cassette is not None:
            return
        for role in Role:
            for index, config in enumerate(self.config.of(role)):
                price = self._provider(role, index).price
                if price is None and self._budget is not None and self._budget.limits_cost:
                    raise RunError(
                        f"expected a known price for every model of a run with a limit of cost, found none for "
                        f"{config.model} ({role.value}). Write its price into the configuration, or limit tokens."
                    )

    def session(self, episode_id: str, time_s: float | None = None) -> Session:
        """Return the models of one episode.

        Parameters
        ----------
        episode_id
            The episode.
        time_s
            Seconds from now after which no call may go on; None for no limit.

        Raises
        ------
        DataError
            If the cassette cannot be read.
        """
        return Session(self._shared(), self._seat, episode_id, time_s)

    def _seat(self, role: Role, index: int) -> Seat:
        models = self.config.of(role)
        if index >= len(models):
            raise RunError(f"expected a model for the {role.value}, found {len(models)}. Name one with --{role.value}.")
        config = models[index]
        return Seat(role, index, config, partial(self._provider, role, index), self._limits[_provider_name(config)])

    def _shared(self) -> Common:
        with self._lock:
            if self._common is None:
                self._common = Common(
                    seed=self._seed,
                    clock=self._clock,
                    redactor=redactor_for(self.config),
                    ledger=self.ledger,
                    budget=self._budget,
                    cassette=None if self._cassette is None else Cassette(self._cassette),
                )
            return self._common

    def _provider(self, role: Role, index: int) -> Provider:
        with self._lock:
            if (role, index) not in self._providers:
                self._providers[role, index] = self._make_provider(self.config.of(role)[index])
            return self._providers[role, index]


def _limits(config: ModelsConfig) -> dict[tuple[str, str], RateLimit]:
    """Build one limit for each provider; where roles share one, the tightest that any of them names counts."""
    sharing: dict[tuple[str, str], list[RoleConfig]] = {}
    for role in Role:
        for model in config.of(role):
            sharing.setdefault(_provider_name(model), []).append(model)
    return {
        name: RateLimit.of(
            min((model.requests_per_minute for model in models if model.requests_per_minute), default=None),
            min((model.tokens_per_minute for model in models if model.tokens_per_minute), default=None),
        )
        for name, models in sharing.items()
    }


def _provider_name(config: RoleConfig) -> tuple[str, str]:
    """Name what a provider's limits are for: an address, and a model at it."""
    return config.base_url or config.model.partition("/")[0], config.model
