"""A comparison with NaN is a mistake, never a success."""

import numpy as np
import pytest

from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.rounds import Totals, run
from onmargin._core.rows import Rows
from onmargin._core.steps.step import Projection
from onmargin._core.tasks.task import Binary, CostSensitive, Indicators, Multiclass, OneVsRest, Regression, Softmax

ONE, THREE = 1, 3


@pytest.mark.parametrize(
    ("task", "n_columns"),
    [
        (Binary(), ONE),
        (Regression(0.1), ONE),
        (Softmax(), ONE),
        (Softmax(), THREE),
        (Indicators(), ONE),
        (Indicators(), THREE),
        (Multiclass(), THREE),
        (Multiclass(every=True), THREE),
        (OneVsRest(), THREE),
        (CostSensitive(1 - np.eye(3), False), THREE),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, int) else str(value),
)
def test_nan_scores_are_mistakes(task, n_columns):
    geometry, totals = Euclidean(2, n_columns, np.float64), Totals()
    geometry.weights[...] = np.nan
    run(task, Projection(), geometry, totals, Rows(np.ones((4, 2)), 2), np.ones(4))
    assert totals.mistakes == totals.rounds == 4
