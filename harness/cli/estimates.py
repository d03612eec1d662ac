"""`fraudbench run --dry-run`: what a run would take, printed before anything is called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.output import say
from harness.episode.events import Event
from harness.models.config import Price, RoleConfig
from harness.reports.tables import Table
from harness.resources import data_root
from harness.runs.estimate import CHARS_PER_TOKEN, REFERENCE, Use, estimate
from harness.scenario.files import Library
from harness.scenario.instance import Instance
from judges.caller_audit import STATEMENTS, audit_prompt
from judges.semantic import asked_together, judge_prompt

if TYPE_CHECKING:
    from harness.runs.config import RunConfig

_UNKNOWN = "unknown"


def print_estimate(config: RunConfig, library: Library, corpus_root: Path | None) -> None:
    """Print episodes, calls, tokens and, where prices are known, cost of a run; nothing is called."""

    def judge_prompts(instance: Instance, events: Sequence[Event]) -> list[tuple[str, int]]:
        groups = asked_together(instance.expect.assertions, one_by_one=config.one_by_one)
        prompts = [(judge_prompt(group, events), len(group)) for group in groups]
        audit = [(audit_prompt(instance, events), len(STATEMENTS))] if config.audits_callers else []
        return [*prompts, *audit]

    uses = estimate(config, library, corpus_root or data_root("corpus"), judge_prompts)
    costs = {seat: _cost_usd(config.models.of(seat[0])[seat[1]], use) for seat, use in uses.items()}
    rows = [
        (f"{role} {config.models.of(role)[index].model}", *_cells(use, costs[role, index]))
        for (role, index), use in uses.items()
    ]
    if rows:
        known = [cost for cost in costs.values() if cost is not None]
        rows.append(("all", *_cells(_sum(list(uses.values())), sum(known) if len(known) == len(costs) else None)))
    notes = (
        f"Estimated from the conversations of the reference agent {REFERENCE} with the scripted caller: one call a "
        f"turn, with prompts, tools and what was said before, {CHARS_PER_TOKEN} characters a token, retrieval "
        f"{config.retrieval}. A model that searches, talks or thinks more takes more; --max-cost and --max-tokens "
        "bound it.",
        "Nothing was called and nothing was written.",
    )
    episodes = len(config.tasks) * config.trials
    title = f"{episodes} episodes: {len(config.tasks)} scenarios, {config.trials} of each"
    header = ("role and model", "calls", "input tokens", "output tokens", "cost")
    say(Table(title, header, tuple(rows), notes).as_text() if rows else f"{title}. No model plays a role.")


def _cells(use: Use, cost_usd: float | None) -> tuple[str, ...]:
    cost = _UNKNOWN if cost_usd is None else f"${cost_usd:,.2f}"
    return f"{use.calls:,}", f"{use.input_tokens:,}", f"{use.output_tokens:,}", cost


def _sum(uses: Sequence[Use]) -> Use:
    return Use(
        sum(use.calls for use in uses), sum(use.input_tokens for use in uses), sum(use.output_tokens for use in uses)
    )


def _cost_usd(config: RoleConfig, use: Use) -> float | None:
    price = _price(config)
    return None if price is None else price.of(use.input_tokens, use.output_tokens)


def _price(config: RoleConfig) -> Price | None:
    if config.price is not None or config.base_url is not None:
        return config.price
    from harness.models.build import litellm_provider

    # A price can be looked up without the key.
    return litellm_provider(config.model_copy(update={"api_key_env": None})).price
