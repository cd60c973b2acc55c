"""Public API of GradientDescentRegressor and ExponentiatedGradientRegressor."""

from math import inf, nan

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from onmargin import ExponentiatedGradientRegressor, GradientDescentRegressor
from tests.streams import public_state

EXPECTED_FAILURES = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "a weight scales the rate in one round: an example of weight 2 is not two examples",
)
random = np.random.default_rng(0)
X = random.standard_normal((60, 5)) * (random.random((60, 5)) < 0.7)
Y = X @ np.array([0.5, 0.0, -0.3, 0.2, 0.0]) + 0.05 * random.standard_normal(60)
MODELS = {
    "gradient": GradientDescentRegressor(),
    "simplex": ExponentiatedGradientRegressor(),
    "balanced": ExponentiatedGradientRegressor(balanced=True),
}
every = pytest.mark.parametrize("name", MODELS)
containers = pytest.mark.parametrize("container", [np.ascontiguousarray, sparse.csr_array])


@parametrize_with_checks(
    [
        GradientDescentRegressor(),
        GradientDescentRegressor(rate=1e-3, shuffle=False),
        ExponentiatedGradientRegressor(),
        ExponentiatedGradientRegressor(balanced=True),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_check_of_scikit_learn(estimator, check):
    check(estimator)


@containers
def test_proven_rates(container):
    """The rates are 1 / (2 X^2), and 2 / R^2 with zeros in the spread; for balanced weights the spread of (x, -x)."""
    rows = np.array([[3.0, 0.0, 4.0], [0.0, -2.0, 3.0], [1.0, 1.0, 1.0]])
    y = np.array([1.0, 2.0, 3.0])
    assert GradientDescentRegressor().partial_fit(container(rows), y).rate_ == 1 / (2 * 25)
    assert ExponentiatedGradientRegressor().partial_fit(container(rows), y).rate_ == 2 / 5**2
    assert ExponentiatedGradientRegressor(balanced=True).partial_fit(container(rows), y).rate_ == 2 / 8**2
    constant = ExponentiatedGradientRegressor().partial_fit(container(rows[2:]), y[2:])
    assert constant.rate_ == 1
    for model in MODELS.values():
        assert clone(model).partial_fit(container(np.zeros((2, 3))), y[:2]).rate_ == 1
        assert clone(model).set_params(rate=0.125).partial_fit(container(rows), y).rate_ == 0.125


@every
def test_the_first_call_decides_the_rate(name):
    model = clone(MODELS[name]).partial_fit(X[:10], Y[:10])
    rate = model.rate_
    assert model.partial_fit(10 * X[10:], Y[10:]).rate_ == rate
    fitted = clone(MODELS[name]).set_params(max_iter=1, tol=None, shuffle=False).fit(X, Y)
    assert public_state(fitted) == public_state(clone(MODELS[name]).partial_fit(X, Y))


@every
def test_a_rate_that_is_set_later_takes_effect(name):
    model = clone(MODELS[name]).partial_fit(X[:10], Y[:10])
    rate = model.rate_
    assert model.set_params(rate=0.01).partial_fit(X[10:], Y[10:]).rate_ == 0.01 != rate
    assert model.set_params(rate=None).partial_fit(X, Y).rate_ == 0.01


@containers
def test_gradient_descent_equals_its_definition(container):
    model = GradientDescentRegressor(rate=0.07).partial_fit(container(X), Y)
    w, loss = np.zeros(5), 0.0
    for x, y in zip(X, Y, strict=True):
        loss += (w @ x - y) ** 2
        w -= 0.07 * (w @ x - y) * x
    np.testing.assert_allclose(model.coef_, w, rtol=1e-12, atol=1e-14)
    assert model.totals_.squared_loss == pytest.approx(loss)
    np.testing.assert_allclose(model.predict(container(X)), X @ w, rtol=1e-12, atol=1e-14)


@containers
@pytest.mark.parametrize("balanced", [False, True])
def test_exponentiated_gradient_equals_its_definition(balanced, container):
    model = ExponentiatedGradientRegressor(rate=0.07, balanced=balanced).partial_fit(container(X), Y)
    wide = np.column_stack([X, -X]) if balanced else X
    w = np.full(wide.shape[1], 1 / wide.shape[1])
    for x, y in zip(wide, Y, strict=True):
        w = w * np.exp(-0.07 * (w @ x - y) * x)
        w /= w.sum()
    np.testing.assert_allclose(model.coef_, w[:5] - w[5:] if balanced else w, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(model.predict(container(X)), X @ model.coef_, rtol=1e-10, atol=1e-13)


@every
@pytest.mark.parametrize("rate", [0.0, -1.0, inf, nan, "auto"])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_rates(method, rate, name):
    model = clone(MODELS[name]).set_params(rate=rate)
    with pytest.raises(ValueError, match="rate must be a number greater than 0 and less than inf, or None"):
        getattr(model, method)(X, Y)
    assert not hasattr(model, "rate_")


def test_bad_flag():
    with pytest.raises(ValueError, match="balanced must be True or False"):
        ExponentiatedGradientRegressor(balanced=1.5).fit(X, Y)


@every
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (lambda x, y: (x * nan, y), "NaN"),
        (lambda x, y: (x, y * inf), "infinity|inf"),
        (lambda x, y: (x[:, :2], y), "features"),
        (lambda x, y: (x, y[:-1]), "inconsistent numbers of samples"),
    ],
    ids=["nan", "inf", "features", "length"],
)
def test_a_call_that_raises_changes_nothing(name, bad, message):
    model = clone(MODELS[name]).partial_fit(X, Y)
    before, rate = public_state(model), model.rate_
    with pytest.raises(ValueError, match=message), np.errstate(invalid="ignore"):
        model.partial_fit(*bad(X, Y))
    assert public_state(model) == before
    assert model.rate_ == rate


@every
def test_examples_of_weight_zero_are_ignored(name):
    weight = np.arange(60) % 3 / 2.0
    model = clone(MODELS[name]).set_params(rate=0.05)
    kept = weight > 0
    with_zeros = clone(model).partial_fit(X, Y, sample_weight=weight)
    assert public_state(with_zeros) == public_state(
        clone(model).partial_fit(X[kept], Y[kept], sample_weight=weight[kept])
    )


@every
def test_a_row_of_weight_zero_does_not_set_the_rate(name):
    """It is skipped, so it is not one of the learned rows."""
    weight = np.ones(60)
    weight[0] = 0
    rows = X.copy()
    rows[0] *= 1000
    model = clone(MODELS[name]).partial_fit(rows, Y, sample_weight=weight)
    assert model.rate_ == clone(MODELS[name]).partial_fit(X[1:], Y[1:]).rate_


@every
def test_a_weight_multiplies_the_rate(name):
    weighted = clone(MODELS[name]).set_params(rate=0.02).partial_fit(X, Y, sample_weight=np.full(60, 4.0))
    rated = clone(MODELS[name]).set_params(rate=0.08).partial_fit(X, Y)
    np.testing.assert_allclose(weighted.coef_, rated.coef_, rtol=1e-12)


@every
def test_warm_start_continues(name):
    options = {"max_iter": 1, "tol": None, "shuffle": False}
    warm = clone(MODELS[name]).set_params(warm_start=True, **options).fit(X, Y).fit(X, Y)
    cold = clone(MODELS[name]).set_params(**options | {"max_iter": 2}).fit(X, Y)
    assert public_state(warm) == public_state(cold)


@every
def test_it_learns(name):
    target = X @ np.array([0.5, 0.1, 0.2, 0.1, 0.1])
    model = clone(MODELS[name]).set_params(random_state=0, tol=1e-6).fit(X, target)
    assert model.score(X, target) > 0.95


def test_nothing_learned_yet():
    for model in MODELS.values():
        with pytest.raises(AttributeError, match="has not learned anything yet"):
            _ = clone(model).coef_
