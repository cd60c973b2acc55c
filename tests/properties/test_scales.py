"""Rows of any magnitude: the weights stay finite, and steps are correct for small and large rows."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onmargin
from onmargin.learner import as_rows
from tests.examples import examples
from tests.streams import PA, Rule, Stream, current, dtypes, geometries, rules, streams


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
    """tau = l / |x|^2 may overflow a float where tau x does not."""
    X = (10.0**exponent * np.array([[1.0, 0.0, -2.0]])).astype(dtype)
    learner = Stream(task, X, np.array([1.0]), columns).learned(PA, sparse=sparse)
    scores = learner.scores(as_rows(X))[0]
    margin = scores[0] if task == "binary" else scores[1] if task == "one_vs_rest" else scores[1] - scores[0]
    assert margin == pytest.approx(1, rel=1e-5)


@given(streams("binary", "multiclass", "one_vs_rest"), st.sampled_from([2.0**-40, 2.0**40]), st.booleans())
def test_units_do_not_matter(stream, unit, squared):
    """Rows in other units, with C to match: the same losses, and weights in the inverse unit."""
    rule = Rule(0.25, squared)
    other = Stream(stream.task, unit * stream.X, stream.y, stream.columns).learned(Rule(0.25 / unit**2, squared))
    learner = stream.learned(rule)
    assert (other.geometry.weights * unit == learner.geometry.weights).all()
    assert other.totals.loss == learner.totals.loss


# Estimators of one model in a plain geometry, with what they learn.
ESTIMATORS = {
    "AROWClassifier": "classes",
    "AROWRegressor": "numbers",
    "DualAscentRegressor": "numbers",
    "ExponentiatedGradientRegressor": "numbers",
    "GradientDescentRegressor": "numbers",
    "NHERDClassifier": "classes",
    "OnlineLogisticClassifier": "classes",
    "OnlineRidgeRegressor": "numbers",
    "OrdinalRegressor": "classes",
    "PNormPerceptron": "classes",
    "PassiveAggressiveClassifier": "classes",
    "PassiveAggressiveRegressor": "numbers",
    "Perceptron": "classes",
    "QuasiAdditiveClassifier": "classes",
    "SCWClassifier": "classes",
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("span", [40, 100, 150, 300])
@pytest.mark.parametrize("extreme", ["rows", "weights"])
@examples(10)
@given(st.integers(0, 2**32 - 1))
def test_weights_of_estimators_stay_finite(name, span, extreme, seed):
    """A round whose gain is not finite moves nothing, and a refused row changes nothing."""
    random = np.random.default_rng(seed)
    sizes = 10.0 ** random.uniform(-span, span, (20, 4))
    X = sizes * random.choice([-1, 0, 1], (20, 4)) if extreme == "rows" else random.normal(size=(20, 4))
    weight = sizes[:, 0] if extreme == "weights" else np.ones(20)
    y = np.arange(20) % 3 if ESTIMATORS[name] == "classes" else sizes[:, 1] * random.choice([-1, 1], 20)
    begin = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 1.0]])
    model = getattr(onmargin, name)().partial_fit(begin, np.arange(3) if ESTIMATORS[name] == "classes" else np.ones(3))
    for i in range(20):
        with suppress(ValueError), np.errstate(all="ignore"):
            model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weight[i : i + 1])
    assert np.isfinite(model.coef_).all()
