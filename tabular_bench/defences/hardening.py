"""Training against an attack: inside the loop where a model learns in batches, by added rows where it does not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular_bench.attack import Attack, AttackContext
from tabular_bench.counting import CountedDetector
from tabular_bench.defence import DefenceContext
from tabular_bench.detector import Detector
from tabular_bench.detectors.model import Model
from tabular_bench.detectors.training import TrainingSet
from tabular_bench.errors import NotApplicable
from tabular_bench.projection import Projection
from tabular_bench.schema import FloatArray, IntArray
from tabular_bench.seeds import generator
from tabular_bench.threads import one_thread
from tabular_bench.threat import WHITE_BOX

# No score is below the first or at least the second: a row of that class never counts as flipped.
_UNREACHABLE = {1: 0.0, 0: 2.0}
MAX_ADDED_ROWS_OF_A_CLASS = 1_000


@dataclass(frozen=True, slots=True)
class AdversarialTraining:
    """Learns rows that an attack has moved as being what they were.

    A model that learns in batches is attacked in every batch as it then is. Any other is trained, attacked, and
    trained once more with the moved rows beside the clean ones.

    Attributes
    ----------
    batch_attack
        The name of the attack on batches.
    row_attack
        The name of the attack on a trained model.
    """

    batch_attack: str = "pgd"
    row_attack: str = "square"

    def train(self, model: Model, training: TrainingSet, context: DefenceContext) -> Detector:
        """Train the model against the attack that its kind of training allows."""
        if model.train_against is None:
            return self._with_added_rows(model, training, context)
        attack = context.find_attack(self.batch_attack)

        def adversary(detector: Detector, rows: FloatArray, labels: NDArray[np.int8], batch: int) -> FloatArray:
            return worst_rows(attack, detector, rows, labels, context, (training.seed, "batch", batch))

        return model.train_against(training, adversary)

    def _with_added_rows(self, model: Model, training: TrainingSet, context: DefenceContext) -> Detector:
        chosen = _as_many_of_each(training)
        rows, labels = training.rows[chosen], training.labels[chosen]
        attack = context.find_attack(self.row_attack)
        with one_thread():
            moved = worst_rows(attack, model.train(training), rows, labels, context, (training.seed, "added rows"))
        return model.train(training.extended(moved, labels))


def worst_rows(
    attack: Attack,
    detector: Detector,
    rows: FloatArray,
    labels: NDArray[np.int8],
    context: DefenceContext,
    stream: tuple[str | int, ...],
) -> FloatArray:
    """Move rows as far to the wrong side as an attack can.

    Attacks leave a row alone once it is flipped. Here each class has a threshold that is never crossed, so that they
    go on to the end.

    Parameters
    ----------
    attack
        Proposes rows.
    detector
        To be fooled; expects scaled rows.
    rows
        Shape ``(n, d)``, in scaled space.
    labels
        Shape ``(n,)``: the true ones.
    context
        Has budget and protocol.
    stream
        Seed and names of the random stream.

    Returns
    -------
    FloatArray
        Shape ``(n, d)``, in scaled space, where the protocol allows them.

    Raises
    ------
    NotApplicable
        If the attack needs gradients and the detector has none, or works by decisions alone, which never change here.
    """
    if attack.access == "decision":
        raise NotApplicable("to train against, expected an attack by gradients or scores, found one by decisions")
    moved = rows.copy()
    for label, threshold in _UNREACHABLE.items():
        of = np.flatnonzero(labels == label)
        if of.size:
            moved[of] = _attacked(attack, detector, rows[of], label, threshold, context, (*stream, label))
    return moved


def _attacked(
    attack: Attack,
    detector: Detector,
    rows: FloatArray,
    label: int,
    threshold: float,
    context: DefenceContext,
    stream: tuple[str | int, ...],
) -> FloatArray:
    problem, budget = context.problem, context.budget
    targets = np.full(len(rows), label, dtype=np.int64)
    projection = Projection(problem, context.protocol, budget, WHITE_BOX, problem.scaler.to_problem(rows))
    counted = CountedDetector(detector, targets, threshold, WHITE_BOX, budget.max_queries)
    attacked = AttackContext(projection.clean_scaled, targets, counted, projection, generator(*stream))
    return projection(attack.perturb(attacked), attacked.all_rows)


def _as_many_of_each(training: TrainingSet) -> IntArray:
    """Draw as many rows of the one label as of the other."""
    rng = generator(training.seed, "rows to be attacked")
    by_label = [rng.permutation(np.flatnonzero(training.labels == label)) for label in (0, 1)]
    count = min(MAX_ADDED_ROWS_OF_A_CLASS, *(len(rows) for rows in by_label))
    return np.sort(np.concatenate([rows[:count] for rows in by_label]))
