"""Ridge regression and random Fourier features: the core equals the NumPy references."""

import pickle
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from onmargin import AutoClassifier, reference
from onmargin._core.geometries.as_double import AsDouble
from onmargin._core.geometries.fourier import Fourier
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.geometries.ridge import Ridge
from onmargin._core.geometries.standardized import Standardized
from onmargin._core.steps.step import Residual
from onmargin._core.tasks.task import Indicators, Regression
from onmargin.learner import Learner, as_rows
from tests.streams import CONTAINERS, gaussian, uneven_weights

every_container = pytest.mark.parametrize("container", ["dense", "csr_array"])


def with_coordinate(X, bias):
    return np.hstack([np.full((len(X), 1), bias), X])


@every_container
@pytest.mark.parametrize("forecast", [False, True])
@pytest.mark.parametrize("forgetting", [0.0, 0.02])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_regression_equals_the_solution_of_each_round(container, forecast, forgetting, dtype):
    stream, bias = gaussian("regression", 1, dtype=dtype), 0.7
    weight = uneven_weights(len(stream.y))
    options = {"alpha": 0.5, "forgetting": forgetting, "forecast": forecast}
    ridge = Ridge(stream.X.shape[1], 1, np.float64, bias=bias, **options)
    learner = Learner(Regression(0.0), Residual(), AsDouble(ridge) if dtype is np.float32 else ridge)
    learner.learn(as_rows(CONTAINERS[container](stream.X)), stream.y, weight)
    X = with_coordinate(stream.X.astype(np.float64), bias)
    live = weight > 0
    run = reference.ridge(X[live], stream.y[live, None], weight=weight[live], **options)
    assert_allclose(ridge.weights[0], run.weights[1:, 0], rtol=1e-8, atol=1e-10)
    assert_allclose(ridge.intercept[0], bias * run.weights[0, 0], rtol=1e-8)
    assert_allclose(ridge.full(), run.inverse, rtol=1e-7, atol=1e-12)
    if forgetting:
        assert_allclose(options["alpha"] * ridge.faded, run.penalties)
    assert learner.totals.loss == pytest.approx(np.abs(run.predictions[:, 0] - stream.y[live]).sum(), rel=1e-9)
    scores = X @ run.weights
    if forecast:
        scores /= 1 + np.einsum("ij,jk,ik->i", X, run.inverse, X)[:, None]
    assert_allclose(learner.scores(as_rows(stream.X)), scores, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("columns", [1, 4])
def test_classes_are_indicators(columns):
    stream = gaussian("binary" if columns == 1 else "multiclass", columns)
    ridge = Ridge(stream.X.shape[1], columns, np.float64, bias=0.3, alpha=0.1)
    learner = Learner(Indicators(), Residual(), ridge)
    learner.learn(as_rows(stream.X), stream.y)
    Y = stream.y[:, None] if columns == 1 else np.eye(columns)[stream.y.astype(int)]
    X = with_coordinate(stream.X, 0.3)
    run = reference.ridge(X, Y, 0.1)
    assert_allclose(ridge.weights, run.weights[1:].T, rtol=1e-8, atol=1e-10)
    if columns == 1:
        mistakes = stream.y * run.predictions[:, 0] <= 0
    else:
        right = run.predictions[np.arange(len(Y)), stream.y.astype(int)]
        mistakes = (run.predictions >= right[:, None] - 1e-12).sum(axis=1) > 1
    assert learner.totals.mistakes == mistakes.sum()
    np.testing.assert_array_equal(learner.predict(as_rows(stream.X)), Indicators().decode(X @ run.weights))


@given(
    rows=st.integers(1, 12).flatmap(lambda n: arrays(np.float64, (n, 4), elements=st.floats(-10, 10))),
    alpha=st.sampled_from([0.1, 1.0, 10.0]),
)
def test_forecasts_lose_no_more_than_their_bound(rows, alpha):
    """This holds for any sequence; the last column is the target."""
    X, y = np.ascontiguousarray(rows[:, :3]), rows[:, 3].copy()
    learner = Learner(Regression(0.0), Residual(), Ridge(3, 1, np.float64, alpha=alpha, forecast=True))
    learner.learn(as_rows(X), y)
    assert learner.totals.squared_loss <= reference.ridge_regret_bound(X, y, alpha) * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("n_features", [2, 9])
def test_other_numbers_of_features(n_features):
    stream = gaussian("regression", 1)
    shared = min(n_features, stream.X.shape[1])
    learner = Learner(Regression(0.0), Residual(), Ridge(stream.X.shape[1], 1, np.float64, bias=0.3, alpha=2.0))
    learner.learn(as_rows(stream.X), stream.y)
    before = learner.geometry.full()
    other = learner.geometry.resize(n_features)
    known = slice(shared + 1)
    assert_allclose(other.full()[known, known], before[known, known])
    if n_features > shared:
        assert_allclose(other.full()[shared + 1 :, shared + 1 :], np.eye(n_features - shared) / 2.0)
    assert_allclose(other.weights[0, :shared], learner.geometry.weights[0, :shared])


@pytest.mark.parametrize("forecast", [False, True])
def test_features_that_are_zero_change_no_bit(forecast):
    """Rows are sparse: features that appear later are zero before."""
    stream = gaussian("regression", 1)
    n = stream.X.shape[1]

    def learned(more):
        ridge = Ridge(n + more, 1, np.float64, bias=0.3, alpha=2.0, forgetting=0.02, forecast=forecast)
        learner = Learner(Regression(0.0), Residual(), ridge)
        X = np.hstack([stream.X, np.zeros((len(stream.X), more))])
        learner.learn(as_rows(CONTAINERS["csr_array"](X)), stream.y)
        return learner, ridge.weights[0, :n].tolist(), ridge.full()[: n + 1, : n + 1].tolist()

    learner, *expected = learned(0)
    for more in range(1, 10):
        other, *found = learned(more)
        assert found == expected
        assert other.totals == learner.totals
        np.testing.assert_array_equal(np.diag(other.geometry.full())[n + 1 :], 0.5)


def test_ridge_has_a_limit():
    with pytest.raises(ValueError, match="at most 1000 features; got 1001"):
        Ridge(1001, 1, np.float64)
    assert [Ridge(n, 1, np.float64).room(n + 1) for n in (0, 3, 501, 1000)] == [1, 6, 1000, 1001]


def test_ridge_needs_double_precision():
    for options in ({"dtype": np.float32}, {"dtype": np.float64, "average": 1}):
        with pytest.raises(ValueError, match="double precision"):
            Ridge(3, 1, **options)


@every_container
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fourier_features_equal_the_twin(container, dtype):
    X = np.random.default_rng(0).normal(size=(20, 5)).astype(dtype) * 30
    inner = Euclidean(64, 64, dtype)
    inner.weights[...] = np.eye(64)
    learner = Learner(Regression(0.0), Residual(), Fourier(inner, 5, 0.4, 7))
    expected = reference.fourier(X.astype(np.float64), 64, 0.4, 7)
    tolerance = 3e-4 if dtype is np.float32 else 1e-8
    assert_allclose(learner.scores(as_rows(CONTAINERS[container](X))), expected, atol=tolerance)


def test_fourier_features_approximate_the_kernel():
    """<z(x), z(x')> -> exp(-gamma |x - x'|^2)."""
    X = np.random.default_rng(1).normal(size=(30, 4))
    Z = reference.fourier(X, 20_000, 0.3)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    assert_allclose(Z @ Z.T, np.exp(-0.3 * squares), atol=0.05)


def test_new_features_do_not_change_the_frequencies_of_others():
    X = np.random.default_rng(2).normal(size=(10, 3))
    inner = Euclidean(16, 16, np.float64)
    inner.weights[...] = np.eye(16)
    few = Learner(Regression(0.0), Residual(), Fourier(inner, 3, 0.4, 7))
    many = Learner(Regression(0.0), Residual(), few.geometry.resize(8))
    wide = np.ascontiguousarray(np.hstack([X, np.zeros((10, 5))]))
    np.testing.assert_array_equal(few.scores(as_rows(X)), many.scores(as_rows(wide)))


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_curved_experts_learn_from_standardized_fourier_features(task):
    columns = 1 if task == "binary" else 3
    stream = gaussian(task, columns)
    X, y, n = stream.X * 10 + 3, stream.y.astype(int), stream.X.shape[1]
    model = AutoClassifier().partial_fit(X, y, classes=np.unique(y))
    for curve in (0.3, 1.0):
        alone = Standardized(Fourier(Ridge(200, columns, np.float64, bias=nan, alpha=0.1), n, curve / n))
        learner = Learner(Indicators(), Residual(), alone)
        learner.learn(as_rows(X), stream.y)
        m = model.experts_.names.index(f"ridge, curved {curve:g}")
        assert model.experts_.mistakes[m] == learner.totals.mistakes
        assert model.experts_.coef[m] is None
    again = pickle.loads(pickle.dumps(model)).partial_fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), model.partial_fit(X, y).decision_function(X))


def test_curved_boundaries_are_learned():
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    curved, linear = (AutoClassifier(experts=word).partial_fit(X, y).totals_.mistakes for word in ("all", "linear"))
    assert linear > 700
    assert curved < 200


@pytest.mark.parametrize(
    ("n_features", "left_out"),
    [(301, ("curved", "ridge", "neighbors")), (1025, ("curved", "ridge", "neighbors", "ferns", "forest", "boosted"))],
)
def test_rows_of_many_features_have_fewer_nonlinear_experts(n_features, left_out):
    X = np.random.default_rng(0).normal(size=(10, n_features))
    names = AutoClassifier().partial_fit(X, np.arange(10) % 2).experts_.names
    assert not any(word in name for word in left_out for name in names)


def test_weights_are_those_of_a_linear_expert():
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 2))
    model = AutoClassifier().partial_fit(X, (X[:, 0] * X[:, 1] > 0).astype(int))
    assert any(
        word in model.experts_.names[model.experts_.leader] for word in ("curved", "ferns", "forest", "neighbors")
    )
    assert model.coef_.shape == (1, 2)
    model.retire(1)
    with pytest.raises(AttributeError, match="no expert that is left weighs features"):
        model.coef_  # noqa: B018
    assert model.predict(X[:3]).shape == (3,)


@pytest.mark.parametrize("forecast", [False, True])
def test_reading_the_matrix_changes_no_bit(forecast):
    """An update of the matrix may be deferred to the next round; reading it before applies the update."""
    random = np.random.default_rng(3)
    X, y = random.normal(size=(60, 37)), random.normal(size=60)
    one, other = (
        Learner(Regression(0.0), Residual(), Ridge(37, 1, np.float64, bias=0.5, forecast=forecast)) for _ in range(2)
    )
    one.learn(as_rows(X), y)
    for i in range(len(X)):
        other.learn(as_rows(X[i : i + 1]), y[i : i + 1])
        assert other.geometry.inverse.shape == (38, 40)
        other = pickle.loads(pickle.dumps(other)) if i % 7 == 0 else other
    np.testing.assert_array_equal(one.geometry.weights, other.geometry.weights)
    np.testing.assert_array_equal(one.geometry.inverse, other.geometry.inverse)
    precision = np.eye(38) + np.column_stack([np.full(60, 0.5), X]).T @ np.column_stack([np.full(60, 0.5), X])
    np.testing.assert_allclose(np.linalg.inv(one.geometry.full()), precision, rtol=1e-8, atol=1e-8)
