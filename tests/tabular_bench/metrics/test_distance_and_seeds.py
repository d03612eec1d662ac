from __future__ import annotations

import math

import numpy as np
import pytest

from tabular_bench.metrics.distance import distances
from tabular_bench.metrics.seeds import over_seeds


def test_norms_run_along_rows() -> None:
    found = distances(np.zeros((1, 3)), np.array([[0.3, -0.4, 0.0]]))
    assert found.l0.tolist() == [2]
    assert found.l1.tolist() == pytest.approx([0.7])
    assert found.l2.tolist() == pytest.approx([0.5])
    assert found.linf.tolist() == pytest.approx([0.4])


def test_one_row_by_itself_is_measured_as_among_others() -> None:
    rows = np.random.default_rng(0).normal(size=(5, 4))
    together = distances(np.zeros((5, 4)), rows)
    for name in ("l0", "l1", "l2", "linf"):
        alone = [getattr(distances(np.zeros((1, 4)), rows[[n]]), name)[0] for n in range(5)]
        assert alone == pytest.approx(getattr(together, name).tolist())
    with pytest.raises(ValueError, match="one shape"):
        distances(np.zeros((1, 3)), np.zeros((3, 1)))


def test_blanks_are_not_zeros() -> None:
    found = over_seeds([0.5, None, 1.0])
    assert (found.seeds, found.blank, found.mean) == (2, 1, 0.75)
    assert found.deviation == pytest.approx(math.sqrt(0.125))
    assert over_seeds([None]).mean is None
    assert over_seeds([3.0]).deviation is None
    with pytest.raises(ValueError, match="finite"):
        over_seeds([math.nan])
