"""A network of two hidden layers, both classes weighted the same, trained with torch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular_bench.detectors.training import Adversary, TrainingSet, demand_rows, logistic, torch_on_one_thread
from tabular_bench.schema import FloatArray
from tabular_bench.seeds import generator
from tabular_bench.threads import one_thread

WIDTH = 128
EPOCHS = 20
BATCH_ROWS = 256
LEARNING_RATE = 1e-3
CLEAN_SHARE = 0.5

_PARAMETERS = ("first", "first_bias", "second", "second_bias", "last", "last_bias")


@dataclass(frozen=True, eq=False)
class NetworkDetector:
    """Two layers of rectified linear units and one logit.

    Attributes
    ----------
    feature_names
        The d columns.
    parameters
        Float32: shapes ``(d, h)``, ``(h,)``, ``(h, h)``, ``(h,)``, ``(h,)`` and ``()``.
    """

    feature_names: tuple[str, ...]
    parameters: tuple[NDArray[np.float32], ...]

    @cached_property
    def _tensors(self) -> tuple[Any, ...]:
        import torch

        return tuple(torch.tensor(array) for array in self.parameters)

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        """Score rows, shape ``(n, d)``; returns shape ``(n,)``."""
        with torch_on_one_thread():
            _, _, logits = self._forward(rows)
        return logistic(logits.numpy().astype(np.float64))

    def gradient(self, rows: FloatArray, targets: NDArray[np.int8]) -> FloatArray:
        """Return the gradient of the signed logit, shape ``(n, d)``."""
        first, _, second, _, last, _ = self._tensors
        with torch_on_one_thread():
            hidden, deeper, _ = self._forward(rows)
            # Written out: two layers backwards take four lines and no graph.
            back = (deeper > 0) * last
            back = (hidden > 0) * (back @ second.T)
            gradients = (back @ first.T).numpy().astype(np.float64)
        sign = np.where(np.asarray(targets) == 1, -1.0, 1.0)
        signed: FloatArray = sign[:, None] * gradients
        return signed

    def _forward(self, rows: FloatArray) -> tuple[Any, Any, Any]:
        import torch

        demand_rows(rows, self.feature_names)
        with torch.inference_mode():
            return _layers(torch.from_numpy(rows.astype(np.float32)), self._tensors)

    def to_arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return everything but the names."""
        return dict(zip(_PARAMETERS, self.parameters, strict=True))

    @classmethod
    def from_arrays(cls, feature_names: tuple[str, ...], arrays: dict[str, NDArray[np.generic]]) -> NetworkDetector:
        """Rebuild from `to_arrays`."""
        return cls(feature_names, tuple(arrays[name].astype(np.float32) for name in _PARAMETERS))


def train_network(training: TrainingSet, adversary: Adversary | None = None, epochs: int = EPOCHS) -> NetworkDetector:
    """Train by Adam on shuffled batches.

    Parameters
    ----------
    training
        Scaled rows.
    adversary
        Moves the rows of each batch; clean and moved rows then count one half each.
    epochs
        How often each row is seen, at least 1.
    """
    import torch

    rng = generator(training.seed, "network")
    with one_thread():
        tensors = _initial(len(training.feature_names), rng)
        optimiser = torch.optim.Adam(tensors, lr=LEARNING_RATE)
        weight = torch.tensor(training.imbalance, dtype=torch.float32)
        rows, labels = training.rows.astype(np.float32), training.labels.astype(np.float32)
        batch_number = 0
        for _ in range(epochs):
            order = rng.permutation(len(rows))
            for start in range(0, len(order), BATCH_ROWS):
                batch = order[start : start + BATCH_ROWS]
                truth = torch.from_numpy(labels[batch])
                loss = _loss(tensors, rows[batch], truth, weight)
                if adversary is not None:
                    network = _snapshot(training.feature_names, tensors)
                    moved = adversary(network, training.rows[batch], training.labels[batch], batch_number)
                    hardened = _loss(tensors, moved.astype(np.float32), truth, weight)
                    loss = CLEAN_SHARE * loss + (1 - CLEAN_SHARE) * hardened
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                batch_number += 1
    return _snapshot(training.feature_names, tensors)


def _initial(columns: int, rng: np.random.Generator) -> list[Any]:
    """Draw parameters uniformly, as wide as the number of inputs of their layer suggests."""
    import torch

    shapes = ((columns, WIDTH), (WIDTH, WIDTH), (WIDTH,))
    tensors = []
    for shape in shapes:
        reach = shape[0] ** -0.5
        bias_shape = shape[1:]
        for drawn in (rng.uniform(-reach, reach, shape), np.asarray(rng.uniform(-reach, reach, bias_shape))):
            tensors.append(torch.tensor(drawn, dtype=torch.float32, requires_grad=True))
    return tensors


def _layers(rows: Any, tensors: Any) -> tuple[Any, Any, Any]:
    first, first_bias, second, second_bias, last, last_bias = tensors
    hidden = (rows @ first + first_bias).relu()
    deeper = (hidden @ second + second_bias).relu()
    return hidden, deeper, deeper @ last + last_bias


def _loss(tensors: Any, rows: NDArray[np.float32], truth: Any, weight: Any) -> Any:
    import torch

    _, _, logits = _layers(torch.from_numpy(rows), tensors)
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, truth, pos_weight=weight)


def _snapshot(feature_names: tuple[str, ...], tensors: Any) -> NetworkDetector:
    return NetworkDetector(feature_names, tuple(tensor.detach().numpy().copy() for tensor in tensors))
