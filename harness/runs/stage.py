"""What the episodes of a run share: each process builds it once, whatever the number of episodes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from domains.kit.domain import load_domain
from domains.kit.knowledge import Knowledge
from harness.agents.load import AgentResponder, AgentSpec, agent_responder, load_agent
from harness.agents.model import ModelAgent
from harness.callers.model import ModelCaller
from harness.callers.scripted import ScriptedCaller
from harness.callers.view import Caller
from harness.episode.turn import AgentBrief
from harness.errors import RunError, UnknownName
from harness.models.build import Models
from harness.models.config import ModelsConfig
from harness.models.contract import Role
from harness.models.session import Session
from harness.retrieval.conditions import CONDITIONS, Condition, make_condition
from harness.retrieval.corpus import Corpus, load_corpus
from harness.runs.config import RunConfig
from harness.scenario.instance import Instance, instantiate
from harness.scenario.model import Scenario

CALLERS: Final = {"scripted": ScriptedCaller}
"""How callers are built from the instance that they play, by name."""

_NO_CORPUS: Final = "none"
"""The retrieval condition that needs no documents to be there."""


class Stage:
    """Domains, instances, retrieval and participants of a run.

    Parameters
    ----------
    config
        The run's configuration.
    scenarios
        The chosen scenarios by id.
    corpus_root
        The folder with the documents of every domain.
    models
        The models that play roles; None if none does.

    Raises
    ------
    UnknownName
        If the configuration names a caller or retrieval condition that does not exist.
    """

    def __init__(
        self, config: RunConfig, scenarios: Mapping[str, Scenario], corpus_root: Path, models: Models | None = None
    ) -> None:
        if config.models.caller is None and config.caller not in CALLERS:
            raise UnknownName("caller", config.caller, CALLERS)
        if config.retrieval not in CONDITIONS:
            raise UnknownName("retrieval condition", config.retrieval, CONDITIONS)
        self.config = config
        self.models = models
        self._scenarios = scenarios
        self._corpus_root = corpus_root
        self._agent: AgentSpec | None = None
        self._conditions: dict[str, Condition] = {}
        self._instances: dict[str, Instance] = {}

    def __reduce__(self) -> tuple[type[Stage], tuple[RunConfig, Mapping[str, Scenario], Path, Models | None]]:
        """Travel without what was built: another process builds its own."""
        return Stage, (self.config, self._scenarios, self._corpus_root, self.models)

    def agent(self) -> AgentSpec:
        """Return the agent.

        Raises
        ------
        RunError
            If it cannot be found.
        """
        if self._agent is None:
            self._agent = load_agent(self.config.agent)
        return self._agent

    def prepare(self) -> None:
        """Build everything that is slow, so that processes forked from this one have it already.

        Raises
        ------
        RunError
            If the agent cannot be found.
        UnknownDomain
            If a scenario's domain is not installed.
        CorpusError
            If a corpus cannot be read.
        ModelFault
            If a model cannot be called as configured.
        """
        if self.config.models.agent is None:
            self.agent()
        if self.models is not None:
            self.models.prepare()
        for name in {scenario.domain for scenario in self._scenarios.values()}:
            self.condition(name)
            # Asking for the runs builds the domain's store as well.
            _ = load_domain(name).base_runs

    def with_reference(self, agent: str) -> Stage:
        """Return a stage over the same things on which a reference agent meets the scripted caller."""
        asked = {"agent": agent, "agent_name": agent, "caller": "scripted", "models": ModelsConfig(), "history": "full"}
        stage = Stage(self.config.model_copy(update=asked), self._scenarios, self._corpus_root)
        stage._conditions, stage._instances = self._conditions, self._instances
        return stage

    def instance(self, scenario_id: str) -> Instance:
        """Return the instance of a scenario.

        Raises
        ------
        SetupError
            If the scenario asks for something that its domain cannot build.
        """
        if scenario_id not in self._instances:
            scenario = self._scenarios[scenario_id]
            self._instances[scenario_id] = instantiate(scenario, load_domain(scenario.domain), self.config.resample)
        return self._instances[scenario_id]

    def condition(self, domain: str) -> Condition:
        """Return the retrieval condition over the documents of a domain.

        Raises
        ------
        CorpusError
            If the documents cannot be read.
        """
        if domain not in self._conditions:
            corpus = read_documents(self.config.retrieval, self._corpus_root, domain)
            self._conditions[domain] = make_condition(self.config.retrieval, corpus)
        return self._conditions[domain]

    def knowledge(self, scenario_id: str) -> Knowledge:
        """Return what an episode of a scenario can search and read.

        Raises
        ------
        UnknownName
            If the scenario names a document that the corpus does not have, and the condition looks at it.
        """
        scenario = self._scenarios[scenario_id]
        return self.condition(scenario.domain).knowledge(scenario.documents)

    def brief(self, scenario_id: str, agent_seed: int) -> AgentBrief:
        """Return what the agent is told before an episode."""
        instance = self.instance(scenario_id)
        domain = instance.domain
        text = self.condition(domain.name).prompt_text() or ""
        return AgentBrief(domain, domain.policy, text, instance.now, agent_seed)

    def session(self, episode: str) -> Session | None:
        """Return the models of one episode; None if no model plays a role."""
        return None if self.models is None else self.models.session(episode, self.config.limits.seconds)

    def responder(self, scenario_id: str, agent_seed: int, session: Session | None) -> AgentResponder:
        """Build the agent of an episode and say how it is asked for its turns.

        Raises
        ------
        RunError
            If it cannot be built.
        """
        brief = self.brief(scenario_id, agent_seed)
        if self.config.models.agent is None:
            return agent_responder(self.agent(), brief, self.config.history)
        client = _of(session).client(Role.AGENT)
        spec = AgentSpec(self.config.agent_name, structured=False, make=lambda brief: ModelAgent(brief, client))
        return agent_responder(spec, brief, self.config.history)

    def caller(self, scenario_id: str, session: Session | None) -> Caller:
        """Return a fresh caller for an episode."""
        instance = self.instance(scenario_id)
        if self.config.models.caller is None:
            return CALLERS[self.config.caller](instance)
        return ModelCaller(instance, _of(session).client(Role.CALLER))


def _of(session: Session | None) -> Session:
    if session is None:
        raise RunError("expected the models of the run: its configuration names a model for a role")
    return session


def read_documents(retrieval: str, root: Path, domain: str) -> Corpus:
    """Read the documents of a domain, unless the retrieval condition does without.

    Raises
    ------
    CorpusError
        If they cannot be read.
    """
    return Corpus.of(()) if retrieval == _NO_CORPUS else load_corpus(root, domain)
