"""DualAscentClassifier: the dual over a window, in every geometry, against its reference, a solver and the theorems."""

import pickle
from copy import deepcopy
from functools import cache
from itertools import pairwise
from math import log, sqrt

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from onmargin import DualAscentClassifier, PassiveAggressiveClassifier, QuasiAdditiveClassifier, reference
from tests.contracts.test_uniclass import EXPECTED_FAILURES

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((40, 5)) * (RANDOM.random((40, 5)) < 0.8)
Y = np.where(X[:, 0] + 0.4 * X[:, 1] + 0.5 * RANDOM.standard_normal(40) > 0, 1.0, -1.0)
SEVERAL = (X[:, :3] + 0.5 * RANDOM.standard_normal((40, 3))).argmax(axis=1).astype(float)
GEOMETRIES = {
    "euclidean": ({}, reference.pnorm(2), 1.0),
    "pnorm": ({"p": 3.0}, reference.pnorm(3), 1.0),
    "entropic": ({}, reference.balanced(), 0.1),
    "simplex": ({"geometry": "entropic", "balanced": False}, reference.entropic(), 0.1),
}


def model_of(geometry: str, **parameters) -> DualAscentClassifier:
    return DualAscentClassifier(**{"geometry": geometry, **GEOMETRIES[geometry][0], **parameters})


@parametrize_with_checks(
    [DualAscentClassifier(fit_intercept=True), DualAscentClassifier(geometry="entropic", window=3, sweeps=2)],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_check_of_scikit_learn(estimator, check):
    if "class_weight" in str(check):
        pytest.skip("it makes a thousand passes, each of which brings new examples to keep")
    check(estimator)


JOINT = [(1, None), (2, None), (3, None), (None, None)]
SWEEPS = [(1, 1), (4, 1), (4, 3), (None, 2)]


@cache
def twin_run(geometry, window, sweeps, columns):
    _, link, margin = GEOMETRIES[geometry]
    y = SEVERAL if columns == 3 else Y
    return reference.dual_ascent(
        X[:12], y[:12], link, margin=margin, columns=columns, C=0.4, window=window, sweeps=sweeps
    )


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("window", "sweeps", "y"), [(*case, Y) for case in JOINT + SWEEPS] + [(*case, SEVERAL) for case in SWEEPS]
)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_equals_twin(geometry, window, sweeps, y, container):
    columns = 3 if y is SEVERAL else 1
    model = model_of(geometry, C=0.4, window=window, sweeps=sweeps).partial_fit(
        container(X[:12]), y[:12], classes=np.unique(y[:12])
    )
    run = twin_run(geometry, window, sweeps, columns)
    tolerance = 1e-8 if sweeps else 1e-4  # the joint maximum is nearly flat
    np.testing.assert_allclose(model.coef_.T, run.weights, atol=tolerance)
    if columns == 1:  # rounding decides between rivals with equal updates
        assert model.totals_.mistakes == run.mistakes
    assert model.totals_.loss == pytest.approx(run.loss, rel=1e-5)
    assert model.totals_.dual_value == pytest.approx(run.dual_value, rel=1e-7)


@pytest.mark.parametrize("geometry", ["euclidean", "pnorm", "entropic"])
def test_window_of_one_is_the_optimal_step(geometry):
    parameters = GEOMETRIES[geometry][0]
    single = QuasiAdditiveClassifier(geometry=geometry, step="optimal", **parameters).partial_fit(X, Y)
    np.testing.assert_allclose(model_of(geometry, window=1).partial_fit(X, Y).coef_, single.coef_, atol=1e-12)


def test_window_of_one_with_several_classes_is_the_exact_update():
    single = PassiveAggressiveClassifier(update="exact", fit_intercept=False).partial_fit(X, SEVERAL, [0, 1, 2])
    model = DualAscentClassifier(window=1).partial_fit(X, SEVERAL, [0, 1, 2])
    np.testing.assert_allclose(model.coef_, single.coef_, atol=1e-12)
    assert model.totals_.dual_value == pytest.approx(single.totals_.dual_value)


@pytest.mark.parametrize("geometry", ["euclidean", "pnorm"])
@pytest.mark.parametrize("C", [0.05, 0.5])
def test_the_leader_of_several_classes_minimizes_the_sum_so_far(geometry, C):
    """window=None: min |W|_q^2 / 2 + C sum_i max_r [1 - (s_y - s_r)]_+, Crammer and Singer's machine where q is 2."""
    rows, y = X[:20], SEVERAL[:20].astype(int)
    model = model_of(geometry, window=None, C=C).partial_fit(rows, y, classes=np.unique(y))
    W = cp.Variable((3, 5))
    scores = rows @ W.T
    losses = [
        cp.max(cp.hstack([0, *(1 - scores[i, y[i]] + scores[i, r] for r in range(3) if r != y[i])])) for i in range(20)
    ]
    size = cp.norm(cp.vec(W, order="C"), {"euclidean": 2, "pnorm": 1.5}[geometry])
    best = cp.Problem(cp.Minimize(cp.square(size) / 2 + C * sum(losses))).solve(solver="CLARABEL")
    assert model.totals_.dual_value == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(model.coef_, W.value, atol=1e-3)
    assert model.dual_coef_.shape == (20, 3)
    assert model.dual_coef_.min() >= 0
    assert model.dual_coef_.sum(axis=1).max() <= C * (1 + 1e-12)
    assert not model.dual_coef_[np.arange(20), y].any()


@pytest.mark.parametrize("y", [Y, SEVERAL], ids=["two classes", "three classes"])
@pytest.mark.parametrize("window", [3, 8, None])
def test_inner_products_give_what_moving_the_weights_gives(window, y):
    """Plain weights are the p-norm geometry of p = 2, which has no inner products of rows."""
    plain = model_of("euclidean", window=window, sweeps=3, C=0.2).partial_fit(X, y)
    moved = model_of("pnorm", p=2.0, window=window, sweeps=3, C=0.2).partial_fit(X, y)
    np.testing.assert_allclose(plain.coef_, moved.coef_, atol=1e-9)
    np.testing.assert_allclose(plain.dual_coef_, moved.dual_coef_, atol=1e-9)
    assert plain.totals_.dual_value == pytest.approx(moved.totals_.dual_value, rel=1e-9)


@pytest.mark.parametrize("window", [600, None])
def test_windows_too_large_for_their_inner_products(window):
    rows = np.random.default_rng(0).standard_normal((530, 3))
    y = np.where(rows[:, 0] + rows[:, 1] > 0, 1, -1)
    model = DualAscentClassifier(window=window, sweeps=1).partial_fit(rows, y)
    other = DualAscentClassifier(geometry="pnorm", p=2.0, window=window, sweeps=1).partial_fit(rows, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-8)


@pytest.mark.parametrize("y", [Y, SEVERAL], ids=["two classes", "three classes"])
def test_intercept_is_a_coordinate(y):
    settings = {"window": 4, "sweeps": 2, "C": 0.3}
    model = DualAscentClassifier(fit_intercept=True, intercept_scaling=0.5, **settings).partial_fit(
        X[:12], y[:12], classes=np.unique(y[:12])
    )
    rows = reference.with_intercept(X[:12], 0.5)
    columns = len(model.coef_)
    run = reference.dual_ascent(rows, y[:12], reference.pnorm(2), margin=1.0, columns=columns, **settings)
    np.testing.assert_allclose(model.coef_.T, run.weights[:-1], atol=1e-9)
    np.testing.assert_allclose(model.intercept_, 0.5 * run.weights[-1], atol=1e-9)


@pytest.mark.parametrize("C", [0.05, 0.5, 5.0])
def test_the_leader_is_a_support_vector_machine(C):
    """window=None in the Euclidean geometry: the minimizer of |w|^2 / 2 + C sum of hinge losses so far."""
    model = DualAscentClassifier(window=None, C=C).partial_fit(X, Y)
    batch = LinearSVC(loss="hinge", C=C, fit_intercept=False, tol=1e-9, max_iter=10**6).fit(X, Y)
    np.testing.assert_allclose(model.coef_, batch.coef_, atol=1e-3)
    w = model.coef_[0]
    primal = w @ w / 2 + C * np.maximum(1 - Y * (X @ w), 0).sum()
    assert model.totals_.dual_value == pytest.approx(primal, rel=1e-5)


@st.composite
def streams(draw):
    n, d = draw(st.integers(1, 20)), draw(st.integers(2, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    rows = random.integers(-2, 3, (n, d)) / 2
    return rows, random.choice([-1.0, 1.0], n), random


@given(streams(), st.sampled_from(sorted(GEOMETRIES)), st.sampled_from([1, 3, None]), st.sampled_from([1, None]))
def test_dual_never_falls_and_stays_below_every_primal(stream, geometry, window, sweeps):
    """B23; the competitor is on the simplex, or of size at most 1, where the geometry is."""
    rows, y, random = stream
    margin, n = GEOMETRIES[geometry][2], rows.shape[1]
    model = model_of(geometry, C=0.7, window=window, sweeps=sweeps)
    before = 0.0
    for x, label in zip(rows, y, strict=True):
        model.partial_fit(x[None, :], [label], classes=[-1, 1])
        assert model.totals_.dual_value >= before - 1e-12
        before = model.totals_.dual_value
    u = random.dirichlet(np.ones(n)) if geometry in {"simplex", "entropic"} else random.standard_normal(n)
    size = {
        "euclidean": lambda: u @ u / 2,
        "pnorm": lambda: (np.abs(u) ** 1.5).sum() ** (4 / 3) / 2,
        "simplex": lambda: log(n) + (u * np.log(u)).sum(),
        "entropic": lambda: log(2 * n) + (u * np.log(u)).sum(),
    }[geometry]()
    assert before <= size + 0.7 * np.maximum(margin - y * (rows @ u), 0).sum() + 1e-9


@given(streams(), st.sampled_from([1, 3, None]), st.floats(0.05, 3))
def test_mean_loss(stream, window, C):
    """B27, for rows of norm at most 1: mean l <= mu^-1(mean l* + F(u) / (C T))."""
    rows, y, random = stream
    rows = rows / max(np.linalg.norm(rows, axis=1).max(), 1e-9)
    u = random.standard_normal(rows.shape[1])
    totals = DualAscentClassifier(window=window, C=C).partial_fit(rows, y, classes=[-1, 1]).totals_
    rounds = len(y)
    target = np.maximum(1 - y * (rows @ u), 0).mean() + u @ u / 2 / (C * rounds)
    assert totals.loss / rounds <= (target + C / 2 if target >= C / 2 else sqrt(2 * C * target)) * (1 + 1e-9)


@st.composite
def multiclass_streams(draw):
    n, d, k = draw(st.integers(1, 12)), draw(st.integers(2, 5)), draw(st.integers(3, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    return random.integers(-2, 3, (n, d)) / 2, random.integers(0, k, n), k


@given(multiclass_streams(), st.sampled_from(sorted(GEOMETRIES)), st.sampled_from([1, 3, None]))
def test_dual_of_several_classes_never_falls(stream, geometry, window):
    """Nor is a share of C negative, or more given out than there is; what is counted is the dual of the weights."""
    rows, y, k = stream
    model = model_of(geometry, C=0.7, window=window, sweeps=2)
    before = 0.0
    for x, label in zip(rows, y, strict=True):
        model.partial_fit(x[None, :], [label], classes=np.arange(k))
        assert model.totals_.dual_value >= before - 1e-12
        assert model.dual_coef_.min(initial=0) >= 0
        assert model.dual_coef_.sum(axis=1).max(initial=0) <= 0.7 * (1 + 1e-12)
        before = model.totals_.dual_value
    if geometry == "euclidean" and window is None:
        W, alpha = model.coef_, model.dual_coef_
        shares = np.eye(k)[y] * alpha.sum(axis=1, keepdims=True) - alpha
        np.testing.assert_allclose(W, shares.T @ rows, atol=1e-12)
        assert before == pytest.approx(alpha.sum() - (W**2).sum() / 2, abs=1e-12)


@pytest.mark.parametrize("several", [False, True])
@given(st.lists(st.integers(0, 40), max_size=5), st.sampled_from([1, 3, None]), st.booleans())
def test_cuts_make_no_difference(several, cuts, window, as_sparse):
    rows = sparse.csr_array(X) if as_sparse else X
    labels, classes = (SEVERAL, [0, 1, 2]) if several else (Y, [-1, 1])
    weight = RANDOM.integers(0, 3, 40).astype(float)
    weight[0] = 1
    whole = DualAscentClassifier(window=window, sweeps=2).partial_fit(rows, labels, classes, weight)
    pieces = DualAscentClassifier(window=window, sweeps=2)
    for start, stop in pairwise(sorted({0, 40, *cuts})):
        if weight[start:stop].any():
            pieces.partial_fit(rows[start:stop], labels[start:stop], classes, weight[start:stop])
            pieces = pickle.loads(pickle.dumps(pieces))
    assert pieces.coef_.tolist() == whole.coef_.tolist()
    assert pieces.dual_coef_.tolist() == whole.dual_coef_.tolist()
    assert pieces.totals_ == whole.totals_


def test_only_the_window_is_kept():
    model = DualAscentClassifier(window=4).partial_fit(X, Y)
    assert model._learner.kept.X.shape == (3, 5)
    assert model._learner.kept.alpha.shape == (3, 1)
    assert len(model.dual_coef_) == 3
    assert len(DualAscentClassifier(window=None).partial_fit(X, Y).dual_coef_) == 40


@pytest.mark.parametrize("geometry", ["euclidean", "pnorm"])
def test_the_sum_stays_the_sum_when_classes_turn_up(geometry):
    """theta is what the variables of all examples add up to, before and after a third class and a fourth."""
    labels = np.array([0, 0, 2, 2, 0, 3, 2, 1, 3, 0, 1, 2])
    model = model_of(geometry, window=None, C=0.7)
    for i in range(12):
        model.partial_fit(X[i : i + 1], labels[i : i + 1])
        kept = model._learner.kept
        rows = kept.X
        if len(model.classes_) <= 2:  # one or two classes have one column
            theta = (kept.alpha[:, 0] * kept.target) @ rows
        else:
            k = len(model.classes_)
            shares = np.eye(k)[kept.target.astype(int)] * kept.alpha.sum(axis=1, keepdims=True) - kept.alpha
            theta = shares.T @ rows
        own = (
            model.coef_ if geometry == "euclidean" else model._learner.geometry.theta[:, : len(np.atleast_2d(theta))].T
        )
        np.testing.assert_allclose(np.atleast_2d(theta), own, atol=1e-12)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert len(model.dual_coef_) == 12


def test_passes():
    """Several passes equal several streams one after another."""
    twice = DualAscentClassifier(max_iter=2).fit(X, Y)
    streamed = DualAscentClassifier().partial_fit(X, Y).partial_fit(X, Y)
    assert twice.coef_.tolist() == streamed.coef_.tolist()
    assert twice.totals_ == streamed.totals_
    assert twice.n_iter_ == 2
    kernels = [DualAscentClassifier(kernel="rbf", max_iter=2).fit(X, Y)]
    kernels.append(DualAscentClassifier(kernel="rbf").set_params(gamma=kernels[0]._learner.kernel.gamma))
    kernels[1].partial_fit(X, Y).partial_fit(X, Y)
    assert kernels[0].decision_function(X).tolist() == kernels[1].decision_function(X).tolist()


def test_fit_starts_from_scratch():
    model = DualAscentClassifier().fit(X, Y)
    again = deepcopy(model).fit(X, Y)
    assert again.coef_.tolist() == model.coef_.tolist()
    assert again.totals_.rounds == 40


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({"window": 0}, Y, "window must be an integer at least 1"),
        ({"sweeps": 0}, Y, "sweeps must be an integer at least 1"),
        ({"C": np.inf}, Y, "C must be a number greater than 0"),
        ({"p": 1.5}, Y, "p must be a number at least 2"),
        ({}, np.ones(40), "one class only"),
    ],
)
def test_errors_change_nothing(parameters, y, message):
    model = DualAscentClassifier().fit(X, Y)
    before = model.coef_.tolist()
    model.set_params(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert model.coef_.tolist() == before


@pytest.mark.parametrize("C", [0.03, 1.0])
def test_more_examples_than_dimensions_reach_the_maximum(C):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 5))
    rows[:, 4] = rows[:, :4].sum(axis=1)
    sides = np.where(rows[:, 0] + 0.5 * rng.standard_normal(300) > 0, 1, -1)
    model = DualAscentClassifier(C=C, window=None).partial_fit(rows, sides)
    w = model.coef_[0]
    primal = w @ w / 2 + C * np.maximum(1 - sides * (rows @ w), 0).sum()
    assert model.totals_.dual_value == pytest.approx(primal, rel=1e-9)
