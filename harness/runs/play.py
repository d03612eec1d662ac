"""Plays one episode: from the name of a scenario and a trial to the record of what happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Final

from domains.kit.draw import Draw
from harness.agents.load import AgentResponder
from harness.episode.environment import Environment
from harness.episode.events import Stopped, StopReason
from harness.episode.turn import Turn
from harness.errors import ParticipantError
from harness.models.faults import BudgetSpent, FatalFault, NotRecorded
from harness.models.session import Session
from harness.orchestrator import Trajectory, caller_responder, play, state_digest
from harness.runs.config import RunConfig
from harness.runs.record import EpisodeRecord, episode_id
from harness.runs.stage import Stage

_SEED_BITS: Final = 63
"""Seeds fit the signed integers of the libraries that agents hand them to."""

_rehearsed: Final[set[str]] = set()
"""Domains by name."""


def play_episode(stage: Stage, scenario_id: str, trial: int, session: Session | None = None) -> EpisodeRecord:
    """Play one episode from its first word to its end.

    Whatever goes wrong in it is in the record: participants' faults as theirs, everything else (rows that the store
    does not take, a document that is not there) as the world's.

    Parameters
    ----------
    stage
        What the episodes of the run share.
    scenario_id, trial
        Which episode.
    session
        The models of this episode, where models play roles.

    Raises
    ------
    FatalFault, BudgetSpent, NotRecorded
        If no further episode could be played.
    """
    seed = agent_seed(stage.config, scenario_id, trial)
    try:
        trajectory = _play(stage, scenario_id, seed, session)
    except (FatalFault, BudgetSpent, NotRecorded):
        raise
    except Exception as fault:  # noqa: BLE001 - the episode's boundary: its fault is recorded and ends no other
        detail = f"the episode could not begin: {type(fault).__name__}: {fault}"
        events = (Stopped(id=0, turn=0, reason=StopReason.WORLD_FAULT, detail=detail),)
        trajectory = Trajectory(events, state_digest(events))
    last = trajectory.events[-1]
    assert isinstance(last, Stopped)
    return EpisodeRecord(
        episode_id=episode_id(scenario_id, stage.config.agent_name, trial),
        scenario_id=scenario_id,
        trial=trial,
        agent_seed=seed,
        resample=stage.config.resample,
        stop_reason=last.reason,
        fault_detail=last.detail,
        state_digest=trajectory.state_digest,
        events=trajectory.events,
    )


def rehearse(stage: Stage, scenario_of: Mapping[str, str]) -> None:
    """Play a scenario of each domain with a reference agent for nobody, once in this process.

    Much is built when it is first needed: statements, schemas, patterns. Processes forked afterwards have it already.
    """
    quiet = stage.with_reference("complier")
    for domain in scenario_of.keys() - _rehearsed:
        _rehearsed.add(domain)
        play_episode(quiet, scenario_of[domain], 0)


def agent_seed(config: RunConfig, scenario_id: str, trial: int) -> int:
    """Return the seed of the agent in one episode; no two episodes of a run share theirs."""
    return Draw(("agent", config.seed, scenario_id, trial)).bits() >> (256 - _SEED_BITS)


def _play(stage: Stage, scenario_id: str, seed: int, session: Session | None) -> Trajectory:
    environment = Environment(stage.instance(scenario_id), stage.knowledge(scenario_id), stage.config.limits)
    agent = _BuiltAtFirstTurn(lambda: stage.responder(scenario_id, seed, session))
    with closing(environment), closing(agent):
        return play(environment, agent, caller_responder(stage.caller(scenario_id, session)))


class _BuiltAtFirstTurn:
    """An agent that is built when it is first asked, so that a fault in its making is its fault, as any other is."""

    def __init__(self, build: Callable[[], AgentResponder]) -> None:
        self._build = build
        self._built: AgentResponder | None = None

    def __call__(self, environment: Environment) -> Turn | str:
        try:
            if self._built is None:
                self._built = self._build()
            return self._built(environment)
        except SystemExit as exit_:
            raise ParticipantError(f"the agent asked Python to exit (status {exit_.code!r})") from exit_

    def close(self) -> None:
        """Tell the agent that its episode is over."""
        if self._built is not None:
            self._built.close()
