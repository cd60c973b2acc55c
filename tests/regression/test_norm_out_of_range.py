"""Losses were divided by squared norms that underflow or overflow, and weights and totals became infinite or NaN."""

import numpy as np
import pytest

from onmargin import PassiveAggressiveClassifier
from tests.streams import RULES, Rule, Stream


@pytest.mark.parametrize("exponent", [-38, -30, -20, -15, 15, 20, 30, 38])
def test_norm_is_right_where_squares_overflow(exponent):
    X = (10.0**exponent * np.array([[1.0, 1e-3, 0.0, -2.0] * 9])).astype(np.float32)
    learner = Stream("binary", X, np.array([1.0])).learned(Rule(1.0))
    assert learner.totals.max_squared_norm == pytest.approx((X.astype(np.float64) ** 2).sum(), rel=1e-6)


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-160, 1e-155, 1e155, 1e160, 1e200, 1e308])
def test_rows_whose_norm_overflows_do_no_harm(size, rule):
    """If squares vanish, are subnormal or overflow, the row may be ignored, but nothing becomes infinite."""
    stream = Stream("binary", np.array([[size, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0]))
    learner = stream.learned(rule)
    assert np.isfinite(learner.geometry.weights).all()
    assert learner.geometry.weights[0, 1] < 0
    assert np.isfinite(learner.totals.dual_value)


@pytest.mark.parametrize("size", [0.0, 1e-320, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("update", ["simperc", "conproj", "simproj", "simopt", "conopt", "exact"])
def test_simultaneous_updates_of_such_rows_do_no_harm(update, size):
    model = PassiveAggressiveClassifier(update=update, fit_intercept=False)
    model.partial_fit([[size, 0.0], [0.0, 1.0]], [0, 1], classes=[0, 1, 2])
    assert np.isfinite(model.coef_).all()
    assert model.coef_[1, 1] > 0
    assert np.isfinite(model.totals_.dual_value)
