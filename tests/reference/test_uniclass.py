"""The ball: the compiled round and the estimator equal the NumPy reference."""

from math import inf

import numpy as np
import pytest
from scipy import sparse

from onmargin import PassiveAggressiveUniclass, reference
from tests.streams import CONTAINERS, RULES, Rule, uneven_weights

LOSS = {False: "epsilon_insensitive", True: "squared_epsilon_insensitive"}


def cloud(seed: int, *, n_rows: int = 80, n_features: int = 7) -> np.ndarray:
    """Return rows around a point away from the origin; half of their values are zero."""
    random = np.random.default_rng(seed)
    return (random.standard_normal((n_rows, n_features)) + 0.7) * (random.random((n_rows, n_features)) < 0.5)


def assert_same(model: PassiveAggressiveUniclass, ball: reference.Ball, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(model.center_, ball.center, atol=tolerance)
    assert model.radius_ == pytest.approx(ball.radius, abs=tolerance)
    totals = model.totals_
    assert (totals.rounds, totals.updates, totals.mistakes) == (ball.rounds, ball.updates, ball.updates)
    for name in ("loss", "squared_loss", "dual_value"):
        assert getattr(totals, name) == pytest.approx(getattr(ball, name), rel=tolerance), name
    assert totals.cost == pytest.approx(ball.distance, rel=1e-7)


@pytest.mark.parametrize("container", ["dense", "csr_array", "csr_array_int64"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("init", ["first", "zero"])
@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.parametrize("rule", [*RULES, Rule(1.0), Rule(1.0, squared=True)], ids=str)
def test_estimator_equals_twin(*, rule, learn, init, weighted, container):
    X = cloud(0)
    weight = uneven_weights(len(X)) if weighted else None
    radius = {"radius": "learn", "max_radius": 1.5} if learn else {"epsilon": 0.4}
    model = PassiveAggressiveUniclass(C=rule.C, loss=LOSS[rule.squared], init=init, **radius)
    model.partial_fit(CONTAINERS[container](X), sample_weight=weight)
    first = 0 if weight is None else np.flatnonzero(weight)[0]
    rest = slice(first + 1 if init == "first" else 0, None)
    ball = reference.uniclass(
        X[rest],
        1.5 if learn else 0.4,
        rule.twin,
        learn_radius=learn,
        start=X[first] if init == "first" else None,
        weight=None if weight is None else weight[rest],
    )
    assert_same(model, ball)
    distances = np.linalg.norm(X - ball.center, axis=1)
    np.testing.assert_allclose(model.score_samples(X), -distances, atol=1e-7)
    np.testing.assert_allclose(model.decision_function(X), -model.offset_ - distances, atol=1e-7)


def test_fit_makes_passes():
    X = cloud(1)
    model = PassiveAggressiveUniclass(C=0.1, max_iter=3, tol=None, shuffle=False).fit(X)
    assert_same(model, reference.uniclass(np.tile(X, (3, 1)), 0.1, reference.pa1(0.1), start=X[0]))
    assert model.n_iter_ == 3


def test_scale_that_underflows():
    """Plain PA with a small ball nearly replaces the center every round: its scale would underflow."""
    X = cloud(2, n_rows=400)
    for epsilon in (0.0, 1e-9, 1e-3):
        model = PassiveAggressiveUniclass(C=inf, epsilon=epsilon).partial_fit(sparse.csr_array(X))
        assert_same(model, reference.uniclass(X[1:], epsilon, reference.pa, start=X[0]), 1e-9)


def test_dense_after_sparse_rows():
    X = cloud(3)
    model = PassiveAggressiveUniclass(C=0.2).partial_fit(sparse.csr_array(X[:40])).partial_fit(X[40:60])
    model.partial_fit(sparse.csr_array(X[60:]))
    assert_same(model, reference.uniclass(X[1:], 0.1, reference.pa1(0.2), start=X[0]), 1e-9)


def test_rows_far_from_the_origin_keep_their_distances():
    """The distance is 1 between numbers of about 1e6."""
    X = cloud(4, n_rows=200) + 1e6
    for rows, tolerance in ((X, 1e-8), (sparse.csr_array(X), 1e-3)):
        model = PassiveAggressiveUniclass(C=0.5).partial_fit(rows)
        ball = reference.uniclass(X[1:], 0.1, reference.pa1(0.5), start=X[0])
        np.testing.assert_allclose(model.center_, ball.center, atol=tolerance)


@pytest.mark.parametrize("container", ["dense", "csr_array", "csr_array_int64"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("proportions", [False, True])
@pytest.mark.parametrize("rule", [*RULES, Rule(1.0), Rule(1.0, squared=True)], ids=str)
def test_center_on_the_simplex(*, rule, proportions, weighted, container):
    X = np.abs(cloud(5))
    X = X / np.maximum(X.sum(axis=1, keepdims=True), 1e-3) if proportions else cloud(5)
    weight = uneven_weights(len(X)) if weighted else None
    model = PassiveAggressiveUniclass(C=rule.C, loss=LOSS[rule.squared], epsilon=0.2, geometry="entropic")
    model.partial_fit(CONTAINERS[container](X), sample_weight=weight)
    ball = reference.simplex_uniclass(X, 0.2, rule.twin, weight=weight)
    assert_same(model, ball, 1e-9)
    assert ball.updates > 20
    distances = np.linalg.norm(X - ball.center, axis=1)
    np.testing.assert_allclose(model.score_samples(X), -distances, atol=1e-7)


def test_center_near_a_corner_keeps_its_logarithms():
    """Weights that underflowed recover."""
    corners = np.eye(3)[[0] * 200 + [1] * 200]
    model = PassiveAggressiveUniclass(C=50.0, epsilon=0.0, geometry="entropic").partial_fit(corners * 100)
    assert model._learner.geometry.theta.min() < -1000
    ball = reference.simplex_uniclass(corners * 100, 0.0, reference.pa1(50.0))
    np.testing.assert_allclose(model.center_, ball.center, atol=1e-9)
