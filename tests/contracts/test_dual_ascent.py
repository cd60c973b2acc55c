"""DualAscentClassifier: the dual over a window, in every geometry, against its twin, a solver and the theorems."""

import pickle
from copy import deepcopy
from itertools import pairwise
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from onmargin import DualAscentClassifier, QuasiAdditiveClassifier, reference
from tests.contracts.test_uniclass import EXPECTED_FAILURES

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((40, 5)) * (RANDOM.random((40, 5)) < 0.8)
Y = np.where(X[:, 0] + 0.4 * X[:, 1] + 0.5 * RANDOM.standard_normal(40) > 0, 1.0, -1.0)
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
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("window", "sweeps"), [(1, None), (2, None), (4, 1), (4, 3), (3, None), (None, 2), (None, None)]
)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_equals_twin(geometry, window, sweeps, container):
    _, link, margin = GEOMETRIES[geometry]
    model = model_of(geometry, C=0.4, window=window, sweeps=sweeps).partial_fit(container(X[:12]), Y[:12])
    run = reference.dual_ascent(X[:12], Y[:12], link, C=0.4, margin=margin, window=window, sweeps=sweeps)
    tolerance = 1e-8 if sweeps else 1e-4  # the joint maximum is nearly flat
    np.testing.assert_allclose(model.coef_[0], run.weights, atol=tolerance)
    assert model.totals_.mistakes == run.mistakes
    assert model.totals_.dual_value == pytest.approx(run.dual_value, rel=1e-7)


@pytest.mark.parametrize("geometry", ["euclidean", "pnorm", "entropic"])
def test_window_of_one_is_the_optimal_step(geometry):
    parameters = GEOMETRIES[geometry][0]
    single = QuasiAdditiveClassifier(geometry=geometry, step="optimal", **parameters).partial_fit(X, Y)
    np.testing.assert_allclose(model_of(geometry, window=1).partial_fit(X, Y).coef_, single.coef_, atol=1e-12)


@pytest.mark.parametrize("C", [0.05, 0.5, 5.0])
def test_the_leader_is_a_support_vector_machine(C):
    """window=None in the Euclidean geometry: the minimiser of |w|^2 / 2 + C sum of hinge losses so far."""
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


@given(st.lists(st.integers(0, 40), max_size=5), st.sampled_from([1, 3, None]), st.booleans())
def test_cuts_make_no_difference(cuts, window, as_sparse):
    rows = sparse.csr_array(X) if as_sparse else X
    weight = RANDOM.integers(0, 3, 40).astype(float)
    weight[0] = 1
    whole = DualAscentClassifier(window=window, sweeps=2).partial_fit(rows, Y, [-1, 1], weight)
    pieces = DualAscentClassifier(window=window, sweeps=2)
    for start, stop in pairwise(sorted({0, 40, *cuts})):
        if weight[start:stop].any():
            pieces.partial_fit(rows[start:stop], Y[start:stop], [-1, 1], weight[start:stop])
            pieces = pickle.loads(pickle.dumps(pieces))
    assert pieces.coef_.tolist() == whole.coef_.tolist()
    assert pieces.dual_coef_.tolist() == whole.dual_coef_.tolist()
    assert pieces.totals_ == whole.totals_


def test_only_the_window_is_kept():
    model = DualAscentClassifier(window=4).partial_fit(X, Y)
    assert model._kept[0].shape == (3, 5)
    assert len(model.dual_coef_) == 3
    assert len(DualAscentClassifier(window=None).partial_fit(X, Y).dual_coef_) == 40


def test_fit_begins_anew():
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
        ({}, np.arange(40) % 3, "Only binary classification is supported"),
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
