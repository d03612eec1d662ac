"""The contract of a defence: it is given a model and what to train it on, and returns a detector. No more.

A defence never sees a test row, and it does not say what it is worth: its detector is attacked like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol as Contract

from tabular_bench.attack import Attack
from tabular_bench.budget import Budget
from tabular_bench.detector import Detector
from tabular_bench.detectors.model import Model
from tabular_bench.detectors.training import TrainingSet
from tabular_bench.problem import Problem
from tabular_bench.protocol import Protocol


@dataclass(frozen=True, slots=True)
class DefenceContext:
    """What a defence may know.

    Attributes
    ----------
    problem
        Columns, relations, spaces; measured on training rows.
    find_attack
        Returns an attack by its name, to train against.
    budget
        How far that attack may go: the one of the evaluation, if the defender guesses it rightly.
    protocol
        Under which it works. By default the ball alone, which is the cheapest.
    """

    problem: Problem
    find_attack: Callable[[str], Attack]
    budget: Budget = field(default_factory=Budget)
    protocol: Protocol = field(default_factory=lambda: Protocol("A"))


class Defence(Contract):
    """Makes a detector that is harder to fool."""

    def train(self, model: Model, training: TrainingSet, context: DefenceContext) -> Detector:
        """Return a detector of scaled rows.

        Parameters
        ----------
        model
            To be defended.
        training
            Rows to train it on.
        context
            What the defence may know and use.

        Raises
        ------
        NotApplicable
            If this model cannot be defended so.
        """
        ...
