"""Required-document recall counts what searches returned and what was read."""

from __future__ import annotations

import pytest

from harness.retrieval.recall import NOTHING_REQUIRED, Recall, document_recall

TEN = [f"x{number}" for number in range(9)]


@pytest.mark.parametrize(
    ("required", "searches", "read", "expected"),
    [
        (["a"], [["a", "b"]], ["a"], Recall(1, 1, 1, 1)),
        (["a"], [["b", "a"]], [], Recall(0, 1, 1, 0)),
        (["a"], [["b"] * 4 + ["a"]], [], Recall(0, 1, 1, 0)),
        (["a"], [["b"] * 5 + ["a"]], [], Recall(0, 0, 1, 0)),
        (["a"], [[*TEN, "a"]], [], Recall(0, 0, 1, 0)),
        (["a"], [["y", *TEN, "a"]], [], Recall(0, 0, 0, 0)),
        (["a", "b"], [["a"], ["x", "b"]], ["b"], Recall(0.5, 1, 1, 0.5)),
        (["a", "b"], [["x", "a"], ["a", "x"]], ["a", "a"], Recall(0.5, 0.5, 0.5, 0.5)),
        (["a", "a"], [["a"]], [], Recall(1, 1, 1, 0)),
        (["a"], [], [], Recall(0, 0, 0, 0)),
        (["a"], [[]], ["a"], Recall(0, 0, 0, 1)),
        ([], [["a"]], ["a"], Recall(None, None, None, None, NOTHING_REQUIRED)),
    ],
)
def test_recall(required: list[str], searches: list[list[str]], read: list[str], expected: Recall) -> None:
    assert document_recall(required, searches, read) == expected
