"""Attacks of ART and foolbox behind our contract of an attack, so that one function judges theirs and ours alike.

Each is run as its users run it: a network in the library's class for torch, trees in XGBoost's front for scikit-learn,
rows in single precision and in one batch. What is asked passes our counter by, so the rivals count for themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tabular_bench.attack import AttackContext
from tabular_bench.detectors.boosting import XgboostDetector
from tabular_bench.detectors.network import NetworkDetector
from tabular_bench.schema import FloatArray
from tabular_bench.threat import Access

BATCH = 100_000
_NO_BOUND = 1e10


@dataclass
class Counted:
    """What ART's black-box attacks share: the detector in ART's terms, and how many rows it was asked about."""

    detector: NetworkDetector | XgboostDetector
    access: Access = "decision"
    asked: int = field(default=0, init=False)

    def classifier(self, shape: tuple[int, ...], ends: tuple[Any, Any]) -> Any:
        """Return the detector for rows of that shape; what exceeds its columns is cut off."""
        width = len(self.detector.feature_names)
        if isinstance(self.detector, NetworkDetector):
            return self._torch_classifier(self.detector, width, shape, ends)
        import xgboost
        from art.estimators.classification import BlackBoxClassifierNeuralNetwork

        trees = xgboost.XGBClassifier(n_jobs=1)
        trees.load_model(bytearray(self.detector.model))
        trees.set_params(n_jobs=1)

        def probabilities(rows: FloatArray) -> FloatArray:
            self.asked += len(rows)
            found: FloatArray = trees.predict_proba(rows.reshape(len(rows), -1)[:, :width])
            return found

        return BlackBoxClassifierNeuralNetwork(probabilities, shape, 2, channels_first=True, clip_values=ends)

    def _torch_classifier(
        self, detector: NetworkDetector, width: int, shape: tuple[int, ...], ends: tuple[Any, Any]
    ) -> Any:
        import torch
        from art.estimators.classification import PyTorchClassifier

        class Images(torch.nn.Module):
            def __init__(self, rival: Counted) -> None:
                super().__init__()
                self.network, self.rival = torch_network(detector), rival

            def forward(self, images: Any) -> Any:
                self.rival.asked += len(images)
                return self.network(images.reshape(len(images), -1)[:, :width])

        return PyTorchClassifier(
            Images(self), torch.nn.CrossEntropyLoss(), shape, 2, clip_values=ends, device_type="cpu"
        )


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

        count, width = context.rows.shape
        side = max(math.ceil(math.sqrt(width)), 5) + self.margin
        images = np.zeros((count, side * side), dtype=np.float32)
        images[:, :width] = context.rows
        classifier = self.classifier((1, side, side), (-_NO_BOUND, _NO_BOUND))
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

        scaler = context.projection.problem.scaler
        ends = tuple(scaler.to_scaled(end).astype(np.float32) for end in (scaler.lowest, scaler.highest))
        attack = HopSkipJump(
            self.classifier(context.rows.shape[1:], (ends[0], ends[1])),
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
    layers = (
        (first.T, first_bias),
        (second.T, second_bias),
        (torch.stack([torch.zeros_like(last), last]), torch.stack([torch.zeros_like(last_bias), last_bias])),
    )
    linear = []
    for weights, bias in layers:
        layer = torch.nn.Linear(weights.shape[1], weights.shape[0])
        layer.weight.data, layer.bias.data = weights.contiguous(), bias
        linear.append(layer)
    return torch.nn.Sequential(linear[0], torch.nn.ReLU(), linear[1], torch.nn.ReLU(), linear[2]).eval()


@dataclass
class ArtPgd:
    """ART's PGD on the network, all rows in one batch."""

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
