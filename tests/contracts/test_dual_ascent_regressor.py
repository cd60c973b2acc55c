"""DualAscentRegressor: the dual of support vector regression over a window, against its reference and a solver."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import LinearSVR

from onmargin import DualAscentRegressor, PassiveAggressiveRegressor, reference
from onmargin.theory import certify

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((60, 5)) * (RANDOM.random((60, 5)) < 0.8)
X[7] = 0
X[9] = X[8]
Y = X @ RANDOM.standard_normal(5) + 0.5 * RANDOM.standard_normal(60)


@pytest.mark.parametrize("sweeps", [1, 3, None])
@pytest.mark.parametrize("window", [1, 4, None])
@pytest.mark.parametrize("C", [0.05, 2.0])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_equals_twin(container, C, window, sweeps):
    n = 25 if window is None and sweeps is None else 60
    model = DualAscentRegressor(C=C, epsilon=0.2, window=window, sweeps=sweeps, fit_intercept=False)
    totals = model.partial_fit(container(X[:n]), Y[:n]).totals_
    run = reference.dual_ascent_regression(X[:n], Y[:n], C=C, epsilon=0.2, window=window, sweeps=sweeps)
    np.testing.assert_allclose(model.coef_, run.weights, atol=1e-5)
    assert (totals.rounds, totals.mistakes) == (run.rounds, run.mistakes)
    assert (totals.loss, totals.dual_value) == pytest.approx((run.loss, run.dual_value), rel=1e-5)


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_one_example_is_the_passive_aggressive_step(C):
    model = DualAscentRegressor(C=C, window=1).partial_fit(X, Y)
    plain = PassiveAggressiveRegressor(C=C).partial_fit(X, Y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-10)
    assert model.totals_.dual_value == pytest.approx(plain.totals_.dual_value)


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("C", [0.03, 1.0])
def test_all_examples_are_support_vector_regression(C, epsilon):
    """FoReL: after each round the weights minimize |w|^2 / 2 + C times the losses so far."""
    model = DualAscentRegressor(C=C, epsilon=epsilon, window=None, fit_intercept=False).partial_fit(X, Y)
    machine = LinearSVR(C=C, epsilon=epsilon, fit_intercept=False, tol=1e-10, max_iter=10**6).fit(X, Y)
    np.testing.assert_allclose(model.coef_, machine.coef_, atol=1e-4)
    losses = np.maximum(np.abs(Y - X @ model.coef_) - epsilon, 0)
    losses[7] = 0  # a row of zeros is not in the dual
    objective = model.coef_ @ model.coef_ / 2 + C * losses.sum()
    assert model.totals_.dual_value == pytest.approx(objective, rel=1e-8)  # no gap
    assert np.abs(model.dual_coef_).max() <= C * (1 + 1e-12)


@pytest.mark.full
def test_long_windows_need_no_inner_products():
    """Beyond 512 examples the weights move with every variable."""
    rows, targets = RANDOM.standard_normal((600, 3)), RANDOM.standard_normal(600)
    model = DualAscentRegressor(C=0.1, window=None, sweeps=1, fit_intercept=False).partial_fit(rows, targets)
    run = reference.dual_ascent_regression(rows, targets, C=0.1, epsilon=0.1, sweeps=1)
    np.testing.assert_allclose(model.coef_, run.weights, atol=1e-9)


@given(st.lists(st.integers(0, 60), max_size=4), st.sampled_from([1, 5, None]))
def test_cuts_make_no_difference(cuts, window):
    whole = DualAscentRegressor(window=window, sweeps=2).partial_fit(X, Y)
    pieces, ends = DualAscentRegressor(window=window, sweeps=2), sorted({0, 60, *cuts})
    for start, stop in itertools.pairwise(ends):
        pieces = pickle.loads(pickle.dumps(pieces.partial_fit(X[start:stop], Y[start:stop])))
    assert pieces.coef_.tolist() == whole.coef_.tolist()
    assert pieces.totals_ == whole.totals_
    assert pieces.dual_coef_.tolist() == whole.dual_coef_.tolist()


def test_dual_value_never_falls_and_certifies():
    model = DualAscentRegressor(C=0.3, window=6)
    values = [model.partial_fit(X[i : i + 1], Y[i : i + 1]).totals_.dual_value for i in range(60)]
    assert (np.diff(values) >= 0).all()
    certificate = certify(DualAscentRegressor(C=0.3, window=6), X, Y)
    assert certificate.holds
    assert certificate.theorem == "[PD] Thm. 3"


def test_weights_of_examples_scale_c():
    weight = RANDOM.choice([0.0, 0.5, 2.0], 60)
    model = DualAscentRegressor(C=0.1, window=1).partial_fit(X, Y, sample_weight=weight)
    plain = PassiveAggressiveRegressor(C=0.1).partial_fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-10)


@pytest.mark.parametrize("C", [0.03, 1.0])
def test_more_examples_than_dimensions_reach_the_maximum(C):
    """The dual equals the primal at every C, and a change of rounding size has an effect of that size."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 6))
    rows[:, 5] = rows[:, :5].sum(axis=1)
    numbers = rows @ rng.standard_normal(6) + rng.standard_normal(300)
    models = [
        DualAscentRegressor(C=C, window=None, fit_intercept=False).partial_fit(rows * (1 + error), numbers)
        for error in (0, 1e-13 * rng.standard_normal(rows.shape))
    ]
    losses = [model.totals_.loss for model in models]
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-9, atol=1e-9)
    w = models[0].coef_
    primal = w @ w / 2 + C * np.maximum(np.abs(numbers - rows @ w) - 0.1, 0).sum()
    assert models[0].totals_.dual_value == pytest.approx(primal, rel=1e-9)
