"""A random forest. Its trees are kept as arrays and walked by all rows at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tabular_bench.detectors.training import TrainingSet, demand_rows
from tabular_bench.schema import FloatArray, IntArray
from tabular_bench.seeds import derive_seed

TREES = 100
MAX_DEPTH = 12
MIN_ROWS_OF_A_LEAF = 2
_ROWS_AT_ONCE = 256  # what a step touches then fits into the cache


@dataclass(frozen=True, eq=False)
class ForestDetector:
    """The mean over trees of the share of fraud in the leaf that a row falls into.

    The nodes of all trees stand one after the other in vectors of shape ``(k,)``.

    Attributes
    ----------
    feature_names
        The d columns.
    roots
        Shape ``(t,)``: the first node of each tree.
    column
        The column that a node asks about; any for a leaf.
    limit
        A row whose value, rounded to 32 bits, is at most this goes left; infinite for a leaf.
    left, right
        The nodes that follow; a leaf follows itself.
    share
        The weighted share of fraud in a node.
    """

    feature_names: tuple[str, ...]
    roots: IntArray
    column: IntArray
    limit: FloatArray
    left: IntArray
    right: IntArray
    share: FloatArray

    @cached_property
    def depth(self) -> int:
        """The number of questions on the longest way from a root to a leaf."""
        nodes, steps = self.roots, 0
        while (inner := nodes[self.left[nodes] != nodes]).size:
            nodes, steps = np.concatenate([self.left[inner], self.right[inner]]), steps + 1
        return steps

    @cached_property
    def _children(self) -> IntArray:
        return np.stack([self.left, self.right], axis=1).ravel()

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        """Score rows, shape ``(n, d)``; returns shape ``(n,)``."""
        demand_rows(rows, self.feature_names)
        parts = [self._score(rows[start : start + _ROWS_AT_ONCE]) for start in range(0, len(rows), _ROWS_AT_ONCE)]
        return np.concatenate([np.zeros(0), *parts])

    def _score(self, rows: FloatArray) -> FloatArray:
        values = rows.astype(np.float32).ravel()
        first = (np.arange(len(rows)) * rows.shape[1])[:, None]
        nodes = np.tile(self.roots, (len(rows), 1))
        for _ in range(self.depth):
            goes_right = values.take(self.column.take(nodes) + first) > self.limit.take(nodes)
            nodes = self._children.take(2 * nodes + goes_right)
        scores: FloatArray = self.share.take(nodes).mean(axis=1)
        return scores

    def to_arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return everything but the names."""
        return {name: getattr(self, name) for name in ("roots", "column", "limit", "left", "right", "share")}

    @classmethod
    def from_arrays(cls, feature_names: tuple[str, ...], arrays: dict[str, NDArray[np.generic]]) -> ForestDetector:
        """Rebuild from `to_arrays`."""
        return cls(
            feature_names,
            roots=arrays["roots"].astype(np.int64),
            column=arrays["column"].astype(np.int64),
            limit=arrays["limit"].astype(np.float64),
            left=arrays["left"].astype(np.int64),
            right=arrays["right"].astype(np.int64),
            share=arrays["share"].astype(np.float64),
        )


def train_forest(training: TrainingSet) -> ForestDetector:
    """Grow the trees, both classes weighted the same.

    Parameters
    ----------
    training
        Scaled rows.
    """
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(
        n_estimators=TREES,
        max_depth=MAX_DEPTH,
        min_samples_leaf=MIN_ROWS_OF_A_LEAF,
        class_weight="balanced",
        n_jobs=1,
        random_state=derive_seed(training.seed, "forest") % 2**32,
    )
    model.fit(training.rows, training.labels)
    trees = [member.tree_ for member in model.estimators_]
    sizes = np.array([tree.node_count for tree in trees])
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    column, limit, left, right, share = [], [], [], [], []
    for root, tree in zip(roots, trees, strict=True):
        is_leaf = tree.children_left < 0
        itself = np.arange(tree.node_count)
        column.append(np.where(is_leaf, 0, tree.feature))
        limit.append(np.where(is_leaf, np.inf, tree.threshold))
        left.append(root + np.where(is_leaf, itself, tree.children_left))
        right.append(root + np.where(is_leaf, itself, tree.children_right))
        weight = tree.value[:, 0, :]
        share.append(weight[:, 1] / weight.sum(axis=1))
    return ForestDetector(
        training.feature_names,
        roots,
        np.concatenate(column).astype(np.int64),
        np.concatenate(limit).astype(np.float64),
        np.concatenate(left).astype(np.int64),
        np.concatenate(right).astype(np.int64),
        # Rounding may leave a mean of ones a hair above 1.
        np.clip(np.concatenate(share).astype(np.float64), 0.0, 1.0),
    )
