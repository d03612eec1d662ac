"""What the bench knows a model by: how it is trained, and by which rule its scores become decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tabular_bench.detector import Detector
from tabular_bench.detectors.threshold import BEST_F1, ThresholdRule
from tabular_bench.detectors.training import Adversary, TrainingSet


@dataclass(frozen=True, slots=True)
class Model:
    """A kind of detector.

    Attributes
    ----------
    summary
        What it is, in one line.
    train
        Returns a detector of scaled rows.
    rule
        Sets the threshold on the validation rows, unless a run declares another.
    train_against
        The same against an adversary that moves the rows of each batch; None where training knows no batches.
    """

    summary: str
    train: Callable[[TrainingSet], Detector]
    rule: ThresholdRule = BEST_F1
    train_against: Callable[[TrainingSet, Adversary], Detector] | None = None
