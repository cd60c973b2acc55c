"""The expert of AutoClassifier that predicts the last label."""

import numpy as np
import pytest

from onmargin import AutoClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1000, 4))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_runs_of_labels(n_classes):
    """Where only the order tells the labels, it leads, and the vote is hardly worse."""
    y = np.repeat(RNG.integers(0, n_classes, size=100), 10)
    model = AutoClassifier().partial_fit(X, y)
    results = model.experts_
    changes = int((y[1:] != y[:-1]).sum())
    expert = results.names.index("last label")
    assert results.leader == expert
    assert changes <= results.mistakes[expert] <= changes + 2  # the first example, and that of a tie
    assert model.totals_.mistakes <= 1.2 * changes + 10
