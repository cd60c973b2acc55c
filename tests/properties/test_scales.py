"""Rows of any size that a number can have: the weights stay finite, and small or large, a step goes where it should."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin.learner import as_rows
from tests.streams import PA, RULES, Rule, Stream, current, dtypes, geometries, rules, streams


@given(streams(scales=(-30, 30)), rules, geometries, dtypes)
def test_weights_stay_finite(stream, rule, geometry, dtype):
    learner = stream.cast(dtype).learned(rule, **geometry)
    for array in (*current(learner), *learner.geometry.mean()):
        assert np.isfinite(array).all()


@given(streams(scales=(-30, 30)), rules, geometries)
def test_totals_stay_finite_in_double_precision(stream, rule, geometry):
    assert np.isfinite(list(dict(stream.learned(rule, **geometry).totals).values())).all()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", [-30, -20, -10, 10, 20, 30])
@pytest.mark.parametrize(
    ("task", "columns"), [("binary", 1), ("multiclass", 3), ("multiclass", 33), ("one_vs_rest", 3)]
)
def test_projection_reaches_the_margin_at_any_scale(task, columns, exponent, dtype, sparse):
    """tau = l / |x|^2 may leave the range of a float where tau x does not."""
    X = (10.0**exponent * np.array([[1.0, 0.0, -2.0]])).astype(dtype)
    learner = Stream(task, X, np.array([1.0]), columns).learned(PA, sparse=sparse)
    scores = learner.scores(as_rows(X))[0]
    margin = scores[0] if task == "binary" else scores[1] if task == "one_vs_rest" else scores[1] - scores[0]
    assert margin == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize("exponent", [-38, -30, -20, -15, 15, 20, 30, 38])
def test_norm_is_right_where_squares_leave_the_range_of_a_float(exponent):
    X = (10.0**exponent * np.array([[1.0, 1e-3, 0.0, -2.0] * 9])).astype(np.float32)
    learner = Stream("binary", X, np.array([1.0])).learned(Rule(1.0))
    assert learner.totals.max_squared_norm == pytest.approx((X.astype(np.float64) ** 2).sum(), rel=1e-6)


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-160, 1e-155, 1e155, 1e160, 1e200, 1e308])
def test_rows_whose_norm_has_no_number_do_no_harm(size, rule):
    """Squares that vanish, are subnormal or overflow: the row may be ignored, but nothing becomes infinite."""
    stream = Stream("binary", np.array([[size, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0]))
    learner = stream.learned(rule)
    assert np.isfinite(learner.geometry.weights).all()
    assert learner.geometry.weights[0, 1] < 0
    assert np.isfinite(learner.totals.dual_value)


@given(streams("binary", "multiclass", "one_vs_rest"), st.sampled_from([2.0**-40, 2.0**40]), st.booleans())
def test_units_do_not_matter(stream, unit, squared):
    """Rows in other units, with C to match: the same losses, and weights in the inverse unit."""
    rule = Rule(0.25, squared)
    other = Stream(stream.task, unit * stream.X, stream.y, stream.columns).learned(Rule(0.25 / unit**2, squared))
    learner = stream.learned(rule)
    assert (other.geometry.weights * unit == learner.geometry.weights).all()
    assert other.totals.loss == learner.totals.loss
