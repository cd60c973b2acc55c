"""Public API of OnlineRidgeRegressor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

import onmargin
from onmargin import OnlineRidgeRegressor, scale, stream
from onmargin.io import to_sklearn
from onmargin.scale import LocalEngine
from onmargin.theory import NoTheorem, certify
from tests.shards import cut

random = np.random.default_rng(0)
X = random.standard_normal((80, 5)) * [1.0, 10.0, 0.1, 1.0, 3.0]
X[:, 4] += X[:, 0]
Y = 5 + X @ np.array([0.5, 0.0, -3.0, 0.2, 1.0]) + 0.3 * random.standard_normal(80)
drawn = st.integers(1, 12).flatmap(lambda n: arrays(np.float64, (n, 4), elements=st.floats(-10, 10)))


@parametrize_with_checks([OnlineRidgeRegressor(), OnlineRidgeRegressor(forecast=True, alpha=0.1)])
def test_check_of_scikit_learn(estimator, check):
    check(estimator)


def with_ones(rows):
    """Append a coordinate of 1: the intercept is its weight, penalized like the others."""
    return np.hstack([rows, np.ones((len(rows), 1))])


@pytest.mark.parametrize("container", [np.ascontiguousarray, sparse.csr_array])
@pytest.mark.parametrize("forecast", [False, True])
def test_weights_are_those_of_ridge_regression_on_every_prefix(container, forecast):
    model = OnlineRidgeRegressor(alpha=0.7, forecast=forecast)
    for end in (1, 7, 80):
        start = int(getattr(model, "t_", 1)) - 1
        model.partial_fit(container(X[start:end]), Y[start:end])
        ridge = Ridge(alpha=0.7, fit_intercept=False).fit(with_ones(X[:end]), Y[:end])
        assert_allclose([*model.coef_, *model.intercept_], ridge.coef_, rtol=1e-8, atol=1e-10)
        if not forecast:
            assert_allclose(model.predict(container(X)), ridge.predict(with_ones(X)), rtol=1e-8)


def test_weights_of_examples_are_repetitions():
    weight = np.arange(80) % 3
    repeated = OnlineRidgeRegressor().fit(X.repeat(weight, axis=0), Y.repeat(weight))
    assert_allclose(OnlineRidgeRegressor().fit(X, Y, sample_weight=weight).coef_, repeated.coef_, rtol=1e-9)


def test_forgetting_is_weighted_ridge_regression():
    """Penalties decay to alpha / 100 and are restored in turn: with six coordinates they stay above 0.95^6 of that."""
    model = OnlineRidgeRegressor(alpha=2.0, forgetting=0.05)
    for rounds, least in (40, 0.95**40), (200, 0.01 * 0.95**6):
        A, y = np.tile(with_ones(X), (3, 1))[:rounds], np.tile(Y, 3)[:rounds]
        start = int(getattr(model, "t_", 1)) - 1
        model.partial_fit(A[start:, :-1], y[start:])
        faded, weight = np.roll(model._learner.geometry.faded, -1), 0.95 ** np.arange(1, rounds + 1)[::-1]
        assert faded.min() >= least * (1 - 1e-9)
        u = np.linalg.solve(2.0 * np.diag(faded) + A.T * weight @ A, A.T @ (weight * y))
        assert_allclose([*model.coef_, *model.intercept_], u, rtol=1e-8)
        if rounds == 40:
            ridge = Ridge(alpha=2.0 * 0.95**40, fit_intercept=False).fit(A, y, sample_weight=weight)
            assert_allclose([*model.coef_, *model.intercept_], ridge.coef_, rtol=1e-8)


def test_forgetting_works_with_collinear_and_vanished_features():
    """One of two towns is always present: with the intercept they are collinear."""
    model = stream.OnlineRidgeRegressor(forgetting=0.02)
    for i in range(3000):
        gone = {"gone": 1.0} if i < 50 else {}
        model.learn_one({"town": "Ulm" if i % 2 else "Bonn", **gone}, 10.0 if i < 2800 else 20.0)
    assert model.predict_one({"town": "Ulm"}) == pytest.approx(20, abs=0.5)
    assert np.linalg.cond(model._learner.geometry.full()) < 1e4


def test_forecasts_include_the_next_row():
    """The next row counts with a target of 0."""
    model = OnlineRidgeRegressor(forecast=True).fit(X, Y)
    for x in 3 * X[:5]:
        ridge = Ridge(fit_intercept=False).fit(with_ones(np.vstack([X, x])), [*Y, 0])
        assert_allclose(model.predict([x]), ridge.predict(with_ones(x[None])), rtol=1e-8)


@given(drawn, st.sampled_from([0.1, 1.0, 10.0]), st.booleans(), st.booleans())
def test_certificate_holds_on_any_stream(rows, alpha, forecast, fit_intercept):
    X, y = rows[:, :3], rows[:, 3]
    model = OnlineRidgeRegressor(alpha=alpha, forecast=forecast, fit_intercept=fit_intercept).partial_fit(X, y)
    certificate = certify(model, X, y)
    assert certificate.holds, str(certificate)
    A = with_ones(X) if fit_intercept else X
    u = np.linalg.solve(alpha * np.eye(A.shape[1]) + A.T @ A, A.T @ y)
    fit = alpha * u @ u + ((y - A @ u) ** 2).sum()
    volume = np.linalg.slogdet(np.eye(A.shape[1]) + A.T @ A / alpha)[1]
    errors = [
        abs(y[t] - clone(model).partial_fit(X[:t], y[:t]).predict(X[t : t + 1])[0]) if t else abs(y[0])
        for t in range(len(y))
    ]
    assert_allclose(model.totals_.squared_loss, np.square(errors).sum(), rtol=1e-7, atol=1e-9)
    largest = np.abs(y).max() if forecast else max(errors)
    assert certificate.best_bound == pytest.approx(fit + largest**2 * volume, rel=0.02, abs=1e-6)


def test_certificate_is_refused_where_rounds_are_forgotten():
    with pytest.raises(NoTheorem, match="forgetting=0"):
        certify(OnlineRidgeRegressor(forgetting=0.1), X, Y)


@pytest.mark.parametrize("forecast", [False, True])
def test_a_second_pass_changes_nothing(forecast):
    once, passes = (OnlineRidgeRegressor(forecast=forecast, max_iter=n).fit(X, Y) for n in (1, 3))
    assert_array_equal(passes.coef_, once.coef_)
    assert_array_equal(passes.predict(X), once.predict(X))
    assert passes.totals_.rounds == 3 * len(Y)


def test_a_zero_row_changes_nothing():
    model = OnlineRidgeRegressor(fit_intercept=False, forecast=True).partial_fit(X, Y)
    before = model.coef_.copy(), model._learner.geometry.full()
    model.partial_fit(np.zeros((3, 5)), [1.0, 2.0, 3.0])
    assert_array_equal(model.coef_, before[0])
    assert_array_equal(model._learner.geometry.full(), before[1])
    assert OnlineRidgeRegressor(fit_intercept=False).partial_fit(np.zeros((1, 5)), [9.0]).coef_.tolist() == [0] * 5


def test_too_many_features_are_refused():
    with pytest.raises(ValueError, match=r"at most 1000 features; got 1001: .*AROWRegressor"):
        OnlineRidgeRegressor().partial_fit(sparse.csr_array((1, 1001)), [1.0])
    model = stream.OnlineRidgeRegressor().learn_one({f"n{k}": 1.0 for k in range(700)}, 1.0)
    model.learn_one({f"n{k}": 1.0 for k in range(690, 1000)}, 2.0)
    weights = model.weights()
    with pytest.raises(ValueError, match="at most 1000 features; got 1001"):
        model.learn_one({"one more": 1.0}, 3.0)
    assert model.n_features_ == 1000
    assert model.weights() == weights
    assert model.learn_one({"n3": 1.0}, 3.0).totals_.rounds == 3


def test_options_that_may_change_during_training():
    model = OnlineRidgeRegressor().partial_fit(X, Y)
    model.set_params(forecast=True, forgetting=0.01).partial_fit(X, Y)
    assert model._learner.geometry.forgetting == 0.01
    assert not np.allclose(model.predict(X), X @ model.coef_ + model.intercept_, rtol=1e-6)
    with pytest.raises(onmargin.ParameterError, match="alpha cannot change"):
        model.set_params(alpha=2.0).partial_fit(X, Y)


def test_export():
    model = OnlineRidgeRegressor().fit(X, Y)
    assert_allclose(to_sklearn(model).predict(X), model.predict(X))
    with pytest.raises(TypeError, match="learn with forecast=False"):
        to_sklearn(OnlineRidgeRegressor(forecast=True).fit(X, Y))
    assert not hasattr(model, "sparsify")


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_shards_are_summed_exactly(fit_intercept):
    model = OnlineRidgeRegressor(fit_intercept=fit_intercept)
    whole = clone(model).partial_fit(X, Y)
    scale.fit(model, cut(sparse.csr_array(X), Y, 3), engine=LocalEngine(1), epochs=2)
    assert_allclose(model.coef_, whole.coef_, rtol=1e-8)
    assert_allclose(model.intercept_, whole.intercept_, rtol=1e-8)
    assert_allclose(model._learner.geometry.full(), whole._learner.geometry.full(), rtol=1e-8, atol=1e-14)
    assert_allclose(model.partial_fit(X, Y).coef_, whole.partial_fit(X, Y).coef_, rtol=1e-8)
    with pytest.raises(ValueError, match="cannot be mixed: with forgetting the order of rows counts"):
        scale.fit(OnlineRidgeRegressor(forgetting=0.1), cut(sparse.csr_array(X), Y, 3), engine=LocalEngine(1))
