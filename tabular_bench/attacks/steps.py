"""Steps along the gradient: one (FGSM), several (BIM), several from random points (PGD), and PGD as published."""

from __future__ import annotations

from dataclasses import dataclass

from tabular_bench.attack import AttackContext
from tabular_bench.attacks.moves import Moves
from tabular_bench.attacks.search import Search
from tabular_bench.schema import FloatArray
from tabular_bench.threat import Access

_STRIDE = 2.5  # epsilons that all steps together may go: to the far side of the ball and some way back


@dataclass(frozen=True, slots=True)
class Fgsm:
    """One step along the gradient, to the edge of the ball.

    Attributes
    ----------
    switch_trials
        How many single category switches are tried together with the step, at least 0.
    """

    switch_trials: int = 4

    def __post_init__(self) -> None:
        _demand(self, self.switch_trials >= 0, "switch_trials >= 0")

    @property
    def access(self) -> Access:
        """Gradients."""
        return "gradient"

    def perturb(self, context: AttackContext) -> FloatArray:
        """Return the end of the step, or the row itself where that is not taken for more wrong."""
        search, moves = Search(context, self.switch_trials), Moves(context)
        of = search.active()
        gradients = search.gradients(context.rows[of], of)
        search.advance(moves.farthest(gradients, of), gradients, of)
        return search.best


@dataclass(frozen=True, slots=True)
class Bim:
    """Several steps along the gradient, from the clean row.

    Attributes
    ----------
    steps
        At least 1.
    step_share
        The length of a step as a share of epsilon, more than 0; None is ``2.5 / steps``. No row gets farther than
        ``steps * step_share * epsilon``, so that a product under 1 leaves the edge of the ball out of reach.
    switch_trials
        How many single category switches are tried with each step, at least 0.
    """

    steps: int = 10
    step_share: float | None = None
    switch_trials: int = 2

    def __post_init__(self) -> None:
        _demand_steps(self, self.steps, self.step_share)
        _demand(self, self.switch_trials >= 0, "switch_trials >= 0")

    @property
    def access(self) -> Access:
        """Gradients."""
        return "gradient"

    def perturb(self, context: AttackContext) -> FloatArray:
        """Return the best row on the way of each row."""
        search = Search(context, self.switch_trials)
        _walk(search, Moves(context), context.rows.copy(), self.steps, _step_length(self.steps, self.step_share))
        return search.best


@dataclass(frozen=True, slots=True)
class Pgd:
    """Several steps along the gradient, from a random point of the ball.

    On a linear model and from the clean row, a column gets ``min(1, steps * step_share) * epsilon`` away: 10 steps of
    0.01 reach 0.1, which is all of a ball of radius 0.1 and a third of one of 0.3. With the default length, steps
    reach every corner from everywhere.

    Attributes
    ----------
    steps
        At least 1.
    step_share
        The length of a step as a share of epsilon, more than 0; None is ``2.5 / steps``.
    restarts
        How often rows that are not done start again from a random point, at least 0.
    random_start
        Whether the first start, too, is a random point, and not the clean row.
    switch_trials
        How many single category switches are tried with each step, at least 0.
    """

    steps: int = 20
    step_share: float | None = None
    restarts: int = 0
    random_start: bool = True
    switch_trials: int = 2

    def __post_init__(self) -> None:
        _demand_steps(self, self.steps, self.step_share)
        _demand(self, self.restarts >= 0 and self.switch_trials >= 0, "restarts and switch_trials >= 0")

    @property
    def access(self) -> Access:
        """Gradients."""
        return "gradient"

    def perturb(self, context: AttackContext) -> FloatArray:
        """Return the best row on the ways of each row."""
        search, moves = Search(context, self.switch_trials), Moves(context)
        for start in range(1 + self.restarts):
            of, rows = search.begin(), context.rows.copy()
            if start or self.random_start:
                rows[of] = moves.random(of)
            _walk(search, moves, rows, self.steps, _step_length(self.steps, self.step_share))
        return search.best


@dataclass(frozen=True, slots=True)
class PublishedCapgd:
    """What FraudBench's released code runs under the name of CAPGD.

    PGD from a uniform random point, in steps of a fixed length, without momentum, halving, restarts or constraint
    loss. It never asks for a score: every row walks to the end, and where it ends is returned, better or not. It
    switches no category, since a signed step cannot.

    Attributes
    ----------
    steps
        At least 1.
    step_share
        The length of a step as a share of epsilon, more than 0.
    """

    steps: int = 10
    step_share: float = 0.25

    def __post_init__(self) -> None:
        _demand_steps(self, self.steps, self.step_share)

    @property
    def access(self) -> Access:
        """Gradients."""
        return "gradient"

    def perturb(self, context: AttackContext) -> FloatArray:
        """Return where the last step of each row led."""
        moves, every, detector = Moves(context), context.all_rows, context.detector
        rows = context.project(moves.random(every), every)
        for _ in range(self.steps):
            of = every[detector.left(every) > 0]
            gradients = context.pull_back(rows[of], detector.gradients(rows[of], of))
            rows[of] = context.project(rows[of] + self.step_share * moves.direction(gradients, rows[of]), of)
        return rows


def _walk(search: Search, moves: Moves, rows: FloatArray, steps: int, length: float) -> None:
    """Take steps of equal length, in epsilons, with every row that is not done; changes `rows`, shape ``(n, d)``."""
    going = rows.copy()
    for _ in range(steps):
        of = search.active()
        if not of.size:
            return
        gradients = search.gradients(rows[of], of)
        reached = moves.clip(going[of] + length * moves.direction(gradients, going[of]), of)
        place = search.advance(reached, gradients, of)
        rows[of], going[of] = place.rows, place.going


def _step_length(steps: int, step_share: float | None) -> float:
    return _STRIDE / steps if step_share is None else step_share


def _demand_steps(attack: object, steps: int, step_share: float | None) -> None:
    _demand(attack, steps >= 1 and (step_share is None or step_share > 0), "steps >= 1 and step_share > 0")


def _demand(attack: object, is_met: bool, expected: str) -> None:
    if not is_met:
        raise ValueError(f"expected {expected}, found {attack}")
