"""Attacks of ART and foolbox behind our contract of an attack, so that one function judges theirs and ours alike.

Each works on the detector itself and counts for itself how often it asked; the counter of the bench stays at 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tabular_bench.attack import AttackContext
from tabular_bench.detector import Detector
from tabular_bench.detectors.network import NetworkDetector
from tabular_bench.schema import FloatArray
from tabular_bench.threat import Access

BATCH = 100_000
_NO_BOUND = 1e10


@dataclass
class Counted:
    """What all rivals share: the detector as two columns of probabilities, and how many rows it was asked about."""

    detector: Detector
    access: Access = "decision"
    asked: int = field(default=0, init=False)

    def two_columns(self, rows: FloatArray) -> FloatArray:
        self.asked += len(rows)
        scores = self.detector.predict_proba(np.asarray(rows, dtype=np.float64))
        return np.stack([1 - scores, scores], axis=1)


@dataclass
class ArtSquare(Counted):
    """ART's Square, which takes images only.

    Rows are laid out as square images of one channel, padded with zeros, as published code does. The last row and the
    last column of an image are never drawn by it; `margin` adds as many, so that all features can be reached.
    """

    iterations: int = 100
    margin: int = 0

    def perturb(self, context: AttackContext) -> FloatArray:
        from art.attacks.evasion import SquareAttack
        from art.estimators.classification import BlackBoxClassifierNeuralNetwork

        count, width = context.rows.shape
        side = max(math.ceil(math.sqrt(width)), 5) + self.margin
        images = np.zeros((count, side * side), dtype=np.float32)
        images[:, :width] = context.rows
        classifier = BlackBoxClassifierNeuralNetwork(
            lambda asked: self.two_columns(asked.reshape(len(asked), -1)[:, :width]),
            input_shape=(1, side, side),
            nb_classes=2,
            channels_first=True,
            clip_values=(-_NO_BOUND, _NO_BOUND),
        )
        epsilon = context.projection.budget.epsilon
        attack = SquareAttack(classifier, eps=epsilon, max_iter=self.iterations, batch_size=BATCH, verbose=False)
        found = attack.generate(images.reshape(count, 1, side, side), y=np.eye(2)[context.targets])
        return np.asarray(found.reshape(count, -1)[:, :width], dtype=np.float64)


@dataclass
class ArtHopSkipJump(Counted):
    """ART's HopSkipJump, with the range of the training rows as the values that it may draw."""

    iterations: int = 5
    initial_probes: int = 50
    most_probes: int = 200

    def perturb(self, context: AttackContext) -> FloatArray:
        from art.attacks.evasion import HopSkipJump
        from art.estimators.classification import BlackBoxClassifier

        scaler = context.projection.problem.scaler
        ends = tuple(scaler.to_scaled(end).astype(np.float32) for end in (scaler.lowest, scaler.highest))
        width = context.rows.shape[1]
        classifier = BlackBoxClassifier(self.two_columns, input_shape=(width,), nb_classes=2, clip_values=ends)
        attack = HopSkipJump(
            classifier,
            batch_size=BATCH,
            norm=np.inf,
            max_iter=self.iterations,
            init_eval=self.initial_probes,
            max_eval=self.most_probes,
            verbose=False,
        )
        found = attack.generate(context.rows.astype(np.float32), y=np.eye(2)[context.targets])
        return np.asarray(found, dtype=np.float64)


def torch_network(detector: NetworkDetector) -> Any:
    """Return the detector as a torch module of two logits."""
    import torch

    first, first_bias, second, second_bias, last, last_bias = (torch.tensor(array) for array in detector.parameters)

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.Sequential(
                torch.nn.Linear(*first.shape), torch.nn.ReLU(), torch.nn.Linear(*second.shape), torch.nn.ReLU()
            )
            self.last = torch.nn.Linear(len(last), 2)
            layers = ((self.layers[0], first, first_bias), (self.layers[2], second, second_bias))
            for layer, weights, bias in layers:
                layer.weight.data, layer.bias.data = weights.T.contiguous(), bias
            self.last.weight.data = torch.stack([torch.zeros_like(last), last])
            self.last.bias.data = torch.stack([torch.zeros_like(last_bias), last_bias])

        def forward(self, rows: Any) -> Any:
            return self.last(self.layers(rows))

    return Network().eval()


@dataclass
class ArtPgd:
    """ART's PGD on the network as a torch module, all rows in one batch."""

    detector: NetworkDetector
    steps: int
    step_share: float
    access: Access = "decision"

    def perturb(self, context: AttackContext) -> FloatArray:
        import torch
        from art.attacks.evasion import ProjectedGradientDescent
        from art.estimators.classification import PyTorchClassifier

        rows, epsilon = context.rows.astype(np.float32), context.projection.budget.epsilon
        classifier = PyTorchClassifier(
            torch_network(self.detector), torch.nn.CrossEntropyLoss(), rows.shape[1:], 2, device_type="cpu"
        )
        attack = ProjectedGradientDescent(
            classifier,
            eps=epsilon,
            eps_step=self.step_share * epsilon,
            max_iter=self.steps,
            num_random_init=1,
            batch_size=len(rows),
            verbose=False,
        )
        return np.asarray(attack.generate(rows, y=np.eye(2)[context.targets]), dtype=np.float64)


@dataclass
class FoolboxPgd:
    """foolbox's PGD on the same module."""

    detector: NetworkDetector
    steps: int
    step_share: float
    access: Access = "decision"

    def perturb(self, context: AttackContext) -> FloatArray:
        import foolbox
        import torch

        model = foolbox.PyTorchModel(torch_network(self.detector), bounds=(-_NO_BOUND, _NO_BOUND), device="cpu")
        attack = foolbox.attacks.LinfPGD(rel_stepsize=self.step_share, steps=self.steps, random_start=True)
        rows = torch.from_numpy(context.rows.astype(np.float32))
        targets = torch.from_numpy(context.targets.astype(np.int64))
        _, clipped, _ = attack(model, rows, targets, epsilons=context.projection.budget.epsilon)
        return np.asarray(clipped.numpy(), dtype=np.float64)
