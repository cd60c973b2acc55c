"""DualAscentClassifier(kernel=...): the dual over a window in the feature space of a kernel."""

import pickle
from functools import cache
from itertools import pairwise
from math import sqrt
from unittest import mock

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel, sigmoid_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from onmargin import DualAscentClassifier, reference
from onmargin.models import kernel_learner
from tests.contracts.test_kernel import EXPECTED_FAILURES, OF_PRECOMPUTED

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((60, 5)) * (RANDOM.random((60, 5)) < 0.8)
Y = np.where((X[:, :2] ** 2).sum(axis=1) + 0.3 * RANDOM.standard_normal(60) > 1, 1.0, -1.0)
SEVERAL = (np.abs(X[:, :3]) + 0.3 * RANDOM.standard_normal((60, 3))).argmax(axis=1).astype(float)
LABELS = pytest.mark.parametrize("y", [Y, SEVERAL], ids=["two classes", "three classes"])
HOW = {"gamma": 0.3, "degree": 2, "coef0": 0.5}
KERNELS = {
    "poly": lambda A, B: polynomial_kernel(A, B, **HOW),
    "rbf": lambda A, B: rbf_kernel(A, B, gamma=0.3),
    "sigmoid": lambda A, B: sigmoid_kernel(A, B, gamma=0.3, coef0=0.5),
}
JOINT = [(1, None), (3, None), (None, None)]
SWEEPS = [(1, 1), (4, 1), (4, 3), (None, 2)]


@parametrize_with_checks(
    [
        DualAscentClassifier(kernel="rbf", fit_intercept=True),
        DualAscentClassifier(kernel="poly", window=None, sweeps=1),
        DualAscentClassifier(kernel="precomputed"),
    ],
    expected_failed_checks=lambda model: OF_PRECOMPUTED if model.kernel == "precomputed" else EXPECTED_FAILURES,
)
def test_check_of_scikit_learn(estimator, check):
    if "class_weight" in str(check):
        pytest.skip("it makes a thousand passes, each of which brings new examples to keep")
    check(estimator)


@LABELS
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("window", "sweeps"), [*JOINT, *SWEEPS])
def test_linear_kernel_is_the_linear_learner(window, sweeps, container, intercept, y):
    how = {"window": window, "sweeps": sweeps, "C": 0.3, "fit_intercept": intercept}
    plain, expanded = (DualAscentClassifier(kernel=kernel, **how) for kernel in (None, "linear"))
    for part in (slice(25), slice(25, 26), slice(26, None)):
        for model in (plain, expanded):
            model.partial_fit(container(X[part]), y[part], np.unique(y))
    # Joint windows of several classes stop at a small gain, and the maximum is nearly flat.
    tolerance = 1e-12 if sweeps or window == 1 or y is Y else 1e-6
    assert_allclose(expanded.coef_, plain.coef_, atol=tolerance)
    assert_allclose(expanded.intercept_, plain.intercept_, atol=tolerance)
    assert_allclose(expanded.decision_function(X), plain.decision_function(X), atol=10 * tolerance)
    assert_allclose(expanded._learner.kept.alpha, plain._learner.kept.alpha, atol=tolerance)
    assert expanded.totals_.mistakes == plain.totals_.mistakes
    for name in ("loss", "squared_loss", "dual_value", "max_squared_norm"):
        assert getattr(expanded.totals_, name) == pytest.approx(getattr(plain.totals_, name), rel=tolerance)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("window", "sweeps", "y"), [(*case, Y) for case in JOINT + SWEEPS] + [(*case, SEVERAL) for case in SWEEPS]
)
def test_equals_twin(kernel, window, sweeps, y):
    n, settings = 20, {"C": 0.4, "window": window, "sweeps": sweeps}
    if kernel == "sigmoid" and sweeps is None:
        pytest.skip("no inner product, and so no joint maximum")
    model = DualAscentClassifier(kernel=kernel, **HOW, **settings).partial_fit(X[:n], y[:n], np.unique(y))
    K = KERNELS[kernel](X[:n], X[:n])
    columns = 3 if y is SEVERAL else 1
    run = reference.dual_ascent_kernel(K, y[:n], margin=1.0, columns=columns, **settings)
    coef = np.zeros((n, columns))
    coef[model.support_] = model.dual_coef_.T
    # The joint maximum determines only the scores.
    assert_allclose(K @ coef, K @ run.weights, atol=1e-8 if sweeps else 1e-4)
    if sweeps:
        assert_allclose(coef, run.weights, atol=1e-8)
    assert model.totals_.mistakes == run.mistakes
    assert model.totals_.loss == pytest.approx(run.loss, rel=1e-5)
    assert model.totals_.dual_value == pytest.approx(run.dual_value, rel=1e-7)
    assert model.totals_.max_squared_norm == pytest.approx(K.diagonal().max())


def test_twin_with_kernel_values_is_the_twin_with_rows():
    for y, columns in ((Y, 1), (SEVERAL, 3)):
        settings = {"C": 0.4, "margin": 1.0, "columns": columns, "window": 4, "sweeps": 2}
        plain = reference.dual_ascent(X[:9], y[:9], reference.pnorm(2), **settings)
        expanded = reference.dual_ascent_kernel(X[:9] @ X[:9].T, y[:9], **settings)
        assert_allclose(X[:9].T @ expanded.weights, plain.weights, atol=1e-10)
        assert expanded.dual_value == pytest.approx(plain.dual_value)


@pytest.mark.parametrize("C", [0.05, 0.5, 5.0])
def test_the_leader_solves_the_dual(C):
    """window=None: max sum_i alpha_i - |sum_i alpha_i y_i phi(x_i)|^2 / 2 over 0 <= alpha_i <= C."""
    K = rbf_kernel(X, gamma=0.3)
    model = DualAscentClassifier(kernel="rbf", gamma=0.3, window=None, C=C).partial_fit(X, Y)
    alpha = cp.Variable(60)
    value = cp.sum(alpha) - cp.quad_form(cp.multiply(Y, alpha), cp.psd_wrap(K)) / 2
    best = cp.Problem(cp.Maximize(value), [alpha >= 0, alpha <= C]).solve(solver="CLARABEL")
    assert model.totals_.dual_value == pytest.approx(best, rel=1e-6)
    assert_allclose(Y[model.support_] * model.dual_coef_[0], alpha.value[model.support_], atol=1e-4 * C)
    assert model.n_support_ == (alpha.value > 1e-4 * C).sum()


@pytest.mark.parametrize("C", [0.05, 0.5])
def test_the_leader_of_several_classes_solves_the_dual(C):
    """max sum_ir alpha_ir - sum_c |sum_i m_ic phi(x_i)|^2 / 2, where m_i moves the variables of rivals to the class."""
    K, y = rbf_kernel(X[:25], gamma=0.3), SEVERAL[:25].astype(int)
    model = DualAscentClassifier(kernel="rbf", gamma=0.3, window=None, C=C).partial_fit(X[:25], y, [0, 1, 2])
    alpha = cp.Variable((25, 3))
    right = np.eye(3)[y]
    m = cp.multiply(right, cp.sum(alpha, axis=1, keepdims=True) @ np.ones((1, 3))) - alpha
    value = cp.sum(alpha) - sum(cp.quad_form(m[:, c], cp.psd_wrap(K)) for c in range(3)) / 2
    limits = [alpha >= 0, cp.sum(alpha, axis=1) <= C, cp.multiply(right, alpha) == 0]
    best = cp.Problem(cp.Maximize(value), limits).solve(solver="CLARABEL")
    assert model.totals_.dual_value == pytest.approx(best, rel=1e-6)


def test_examples_whose_variables_are_zero_are_not_supports():
    """Supports are added, removed and added again: the slots of removed ones are freed."""
    random = np.random.default_rng(1)
    rows = random.standard_normal((700, 3))
    y = np.where((rows**2).sum(axis=1) > 2, 1, -1)
    model = DualAscentClassifier(kernel="rbf", gamma=0.5, window=300, sweeps=2, C=5.0)
    for start in range(0, 700, 50):
        model.partial_fit(rows[start : start + 50], y[start : start + 50], [-1, 1])
    used = model._learner.kept.keys[model._learner.kept.alpha[:, 0] > 0]
    assert set(used) == {key for key in model.support_ if key >= model._learner.kept.keys[0]}
    assert model.dual_coef_.all()
    assert model._learner.geometry.n_slots <= 1.25 * model.n_support_ + 64
    assert_array_equal(model.support_vectors_, rows[model.support_])
    expected = rbf_kernel(rows, model.support_vectors_, gamma=0.5) @ model.dual_coef_[0]
    assert_allclose(model.decision_function(rows), expected, atol=1e-9)


CUT = {"kernel": "rbf", "gamma": 0.3, "sweeps": 2}
CUT_WEIGHT = np.random.default_rng(3).integers(1, 3, 60).astype(float)


@cache
def learned_at_once(several, window, as_sparse):
    rows = sparse.csr_array(X) if as_sparse else X
    labels, classes = (SEVERAL, [0, 1, 2]) if several else (Y, [-1, 1])
    return DualAscentClassifier(**CUT, window=window).partial_fit(rows, labels, classes, CUT_WEIGHT)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("window", [1, 3, 40, None])
@given(cuts=st.lists(st.integers(0, 60), max_size=5), as_sparse=st.booleans(), block=st.sampled_from([1, 7, 192]))
def test_cuts_make_no_difference(several, window, cuts, as_sparse, block):
    rows = sparse.csr_array(X) if as_sparse else X
    labels, classes = (SEVERAL, [0, 1, 2]) if several else (Y, [-1, 1])
    whole = learned_at_once(several, window, as_sparse)
    pieces = DualAscentClassifier(**CUT, window=window)
    with mock.patch.object(kernel_learner, "BLOCK", block):
        for start, stop in pairwise(sorted({0, 60, *cuts})):
            pieces.partial_fit(rows[start:stop], labels[start:stop], classes, CUT_WEIGHT[start:stop])
            pieces = pickle.loads(pickle.dumps(pieces))
    one, other = np.argsort(whole.support_), np.argsort(pieces.support_)  # one that is added again may have a new slot
    assert_array_equal(pieces.support_[other], whole.support_[one])
    assert_allclose(pieces.dual_coef_[:, other], whole.dual_coef_[:, one], atol=1e-9)
    assert_allclose(pieces.decision_function(X), whole.decision_function(X), atol=1e-9)
    assert dict(pieces.totals_) == pytest.approx(dict(whole.totals_), rel=1e-9)


def test_rows_of_weight_zero_are_only_counted():
    """`support_` counts all rows received, of any weight and in any split."""
    weight = np.ones(60)
    weight[::3] = 0
    model = DualAscentClassifier(kernel="rbf", gamma=0.3, window=5)
    for part in (slice(31), slice(31, None)):
        model.partial_fit(X[part], Y[part], [-1, 1], weight[part])
    assert (weight[model.support_] > 0).all()
    assert_array_equal(model.support_vectors_, X[model.support_])
    alone = DualAscentClassifier(kernel="rbf", gamma=0.3, window=5).partial_fit(X[weight > 0], Y[weight > 0])
    assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-12)


@LABELS
def test_precomputed_and_callable(y):
    how = {"window": 6, "sweeps": 2, "C": 0.5}
    weight = np.ones(60)
    weight[::4] = 0
    rbf, given, function = (
        DualAscentClassifier(kernel=kernel, gamma=0.3, **how)
        for kernel in ("rbf", "precomputed", lambda A, B: rbf_kernel(A, B, gamma=0.3))
    )
    K = rbf_kernel(X, gamma=0.3)
    rbf.fit(X, y, sample_weight=weight)
    given.fit(K, y, sample_weight=weight)
    function.fit(X, y, sample_weight=weight)
    assert_allclose(given.decision_function(K), rbf.decision_function(X), atol=1e-10)
    assert_allclose(function.decision_function(X), rbf.decision_function(X), atol=1e-10)
    assert given.support_.tolist() == rbf.support_.tolist()


@pytest.mark.parametrize("window", [600, None])
@pytest.mark.parametrize("several", [False, True])
def test_windows_too_large_for_their_inner_products(window, several):
    rows = np.random.default_rng(0).standard_normal((530, 3))
    y = np.abs(rows).argmax(axis=1) if several else np.where(rows[:, 0] + rows[:, 1] > 0, 1, -1)
    plain, expanded = (DualAscentClassifier(kernel=k, window=window, sweeps=1) for k in (None, "linear"))
    for model in (plain, expanded):
        model.partial_fit(rows[:500], y[:500]).partial_fit(rows[500:], y[500:])
    assert_allclose(expanded.coef_, plain.coef_, atol=1e-9)
    assert dict(expanded.totals_) == pytest.approx(dict(plain.totals_), rel=1e-9)


@st.composite
def streams(draw):
    n, d = draw(st.integers(1, 20)), draw(st.integers(2, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    return random.integers(-2, 3, (n, d)) / 2, random.choice([-1.0, 1.0], n), random


windows = st.sampled_from([1, 3, None])


@given(streams(), windows, st.sampled_from([1, None]), st.sampled_from(["linear", "poly", "rbf"]))
def test_dual_never_falls_and_stays_below_every_primal(stream, window, sweeps, kernel):
    """B23, against any expansion over the rows."""
    rows, y, random = stream
    model = DualAscentClassifier(kernel=kernel, C=0.7, window=window, sweeps=sweeps, **HOW)
    before = 0.0
    for x, label in zip(rows, y, strict=True):
        model.partial_fit(x[None, :], [label], classes=[-1, 1])
        assert model.totals_.dual_value >= before - 1e-12
        before = model.totals_.dual_value
    K = rows @ rows.T if kernel == "linear" else KERNELS[kernel](rows, rows)
    u = random.standard_normal(len(rows))
    assert before <= u @ K @ u / 2 + 0.7 * np.maximum(1 - y * (K @ u), 0).sum() + 1e-9
    coef = np.zeros(len(rows))
    coef[model.support_] = model.dual_coef_[0]
    assert before == pytest.approx(np.abs(coef).sum() - coef @ K @ coef / 2, abs=1e-9)
    assert (y * coef >= 0).all()
    assert np.abs(coef).max(initial=0) <= 0.7 * (1 + 1e-12)


@given(streams(), windows, st.floats(0.05, 3), st.sampled_from(["poly", "rbf"]))
def test_mean_loss_with_the_largest_k(stream, window, C, kernel):
    """B27 with R^2 = max K(x, x): of phi(x) / R with C R^2, whose competitor is R u, the losses are the same."""
    rows, y, random = stream
    K = KERNELS[kernel](rows, rows)
    u = random.standard_normal(len(rows)) * random.choice([0.1, 1.0])
    model = DualAscentClassifier(kernel=kernel, window=window, C=C, **HOW).partial_fit(rows, y, classes=[-1, 1])
    rounds, squared_radius = len(y), model.totals_.max_squared_norm
    assert squared_radius == pytest.approx(K.diagonal().max())
    scaled = C * squared_radius
    target = np.maximum(1 - y * (K @ u), 0).mean() + squared_radius * (u @ K @ u) / 2 / (scaled * rounds)
    bound = target + scaled / 2 if target >= scaled / 2 else sqrt(2 * scaled * target)
    assert model.totals_.loss / rounds <= bound * (1 + 1e-9) + 1e-9


def test_attributes():
    model = DualAscentClassifier(kernel="rbf", window=None).fit(X, SEVERAL)
    assert model.dual_coef_.shape == (3, model.n_support_)
    assert model.support_vectors_.shape == (model.n_support_, 5)
    assert_allclose(model.dual_coef_.sum(axis=0), 0, atol=1e-12)
    with pytest.raises(AttributeError, match="coef_ is only available with a linear kernel"):
        _ = model.coef_
    with pytest.raises(AttributeError, match="there are no supports with kernel=None"):
        _ = DualAscentClassifier().fit(X, Y).support_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"geometry": "entropic"}, "geometry='entropic' needs kernel=None"),
        ({"geometry": "pnorm"}, "geometry='pnorm' needs kernel=None"),
        ({"kernel": "cosine"}, "kernel must be"),
        ({"gamma": 0.0}, "gamma must be"),
        ({"kernel": "precomputed"}, "needs X to be a square array"),
        ({"kernel": lambda A, B: np.full((A.shape[0], B.shape[0]), np.nan)}, "values that are not finite"),
        ({"kernel": lambda A, B: np.ones(3)}, "the kernel must give a matrix of numbers"),
    ],
    ids=lambda given: given if isinstance(given, str) else "-".join(given),
)
def test_errors_change_nothing(parameters, message):
    model = DualAscentClassifier(kernel="rbf").fit(X, Y)
    before = model.decision_function(X).tolist(), model._learner.kept, model.totals_
    model.set_params(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    assert (model.decision_function(X).tolist(), model._learner.kept, model.totals_) == before


@pytest.mark.parametrize("change", [{"kernel": "poly"}, {"gamma": 3.0}, {"kernel": None}, {"degree": 5}], ids=str)
def test_kernel_cannot_change_after_the_first_example(change):
    model = DualAscentClassifier(kernel="rbf").partial_fit(X, Y)
    with pytest.raises(ValueError, match="cannot change after training has started"):
        model.set_params(**change).partial_fit(X, Y)
    model.set_params(**change).fit(X, Y)


def test_a_call_that_fails_changes_nothing():
    """The kernel fails in a later block, after some rounds."""
    calls = []

    def kernel(A, B):
        calls.append(1)
        if len(calls) > 12:
            raise RuntimeError("out of order")
        return rbf_kernel(A, B)

    model = DualAscentClassifier(kernel=kernel, window=4).partial_fit(X, Y)
    before, totals = pickle.dumps(model._learner.geometry), model.totals_
    with mock.patch.object(kernel_learner, "BLOCK", 7), pytest.raises(RuntimeError, match="out of order"):
        model.partial_fit(X, Y)
    assert pickle.dumps(model._learner.geometry) == before
    assert model.totals_ == totals
    calls.clear()
    model.partial_fit(X, Y)
    assert model.totals_.rounds == 120
