"""Simultaneous and cost-sensitive updates: compiled = NumPy reference = convex solver, and identities between them."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin import PassiveAggressiveClassifier, reference
from tests.streams import CONTAINERS

SCHEMES = {
    "simperc": reference.simperc,
    "conproj": reference.conproj,
    "simproj": reference.simproj,
    "simopt": reference.simopt,
    "conopt": reference.conopt,
    "exact": reference.sopopo,
}
random = np.random.default_rng(5)


def stream(n_classes, n=120, d=9):
    X = random.standard_normal((n, d)) * (random.random((n, d)) < 0.6)
    y = (X @ random.standard_normal((d, n_classes))).argmax(axis=1)
    return X, np.where(random.random(n) < 0.2, random.integers(0, n_classes, n), y)


def assert_same(model, run, tolerance=1e-9):
    np.testing.assert_allclose(model.coef_, run.weights.T, atol=tolerance)
    for name, value in dict(model.totals_).items():
        assert value == pytest.approx(getattr(run, name), rel=max(tolerance, 1e-9), abs=tolerance), name


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("n_classes", [3, 9, 50])
@pytest.mark.parametrize(
    ("update", "C"),
    [(update, C) for update in SCHEMES for C in (0.05, 1.0, np.inf) if (update, C) != ("simperc", np.inf)],
)
def test_core_equals_twin(update, n_classes, C, container):
    X, y = stream(n_classes)
    weight = random.random(len(y)) * (random.random(len(y)) < 0.8)
    model = PassiveAggressiveClassifier(C=C, update=update, fit_intercept=False)
    model.partial_fit(CONTAINERS[container](X), y, classes=range(n_classes), sample_weight=weight)
    step, asked = reference.simultaneous(SCHEMES[update], C), reference.with_weights(reference.rivals)
    targets = list(zip(y.tolist(), weight.tolist(), strict=True))
    assert_same(model, reference.play(X, targets, asked, step, columns=n_classes, weight=weight, total=max))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("max_loss", [False, True])
@pytest.mark.parametrize("n_classes", [3, 9])
def test_costs_equal_twin(n_classes, max_loss, loss):
    X, y = stream(n_classes)
    cost = random.random((n_classes, n_classes)) * (1 - np.eye(n_classes))
    model = PassiveAggressiveClassifier(
        C=0.3, loss=loss, fit_intercept=False, cost=cost, cost_update="max_loss" if max_loss else "prediction"
    ).partial_fit(X, y, classes=range(n_classes))
    step = reference.pa1(0.3) if loss == "hinge" else reference.pa2(0.3)
    task = reference.cost_sensitive(cost, max_loss=max_loss)
    assert_same(model, reference.play(X, y, task, step, columns=n_classes, cost=cost))


@pytest.mark.parametrize("cost_update", ["prediction", "max_loss"])
def test_costs_of_two_classes_need_margins_of_their_roots(cost_update):
    """There is one column: a miss of the second class costs 4, so its margin after the step is 2."""
    model = PassiveAggressiveClassifier(C=np.inf, fit_intercept=False, cost=[[0, 1], [4, 0]], cost_update=cost_update)
    model.partial_fit([[1.0]], [0], classes=[0, 1])
    assert model.coef_.tolist() == [[-1.0]]
    model.partial_fit([[1.0]], [1])
    assert model.coef_.tolist() == [[2.0]]
    assert model.totals_.cost == 1 + 4


def assert_optimal(dual, tau, C):
    """Check that tau is feasible, and no worse than the solution of a convex solver."""
    assert (tau >= 0).all()
    assert tau.sum() <= C * (1 + 1e-12)
    best = cp.Variable(len(tau), nonneg=True)
    problem = cp.Problem(cp.Maximize(dual(best)), [cp.sum(best) <= C])
    problem.solve(solver="CLARABEL")
    assert dual(cp.Constant(tau)).value >= problem.value - 1e-7


losses = st.lists(st.floats(0.01, 3), min_size=1, max_size=8).map(np.array)


@given(losses, st.floats(0.05, 5), st.data())
def test_simopt_is_the_separable_optimum(loss, C, data):
    q = np.array(data.draw(st.lists(st.floats(0.2, 3), min_size=len(loss), max_size=len(loss))))
    assert_optimal(lambda tau: loss @ tau - q @ tau**2 / 2, reference.simopt(C, loss, q, loss >= 1), C)


@given(losses, st.floats(0.05, 5))
def test_sopopo_is_the_joint_optimum(loss, C):
    """On a row of norm 1, q = 2, and the right prototype moves by the sum of the moves of its rivals."""
    ours = reference.sopopo(C, loss, np.full(len(loss), 2.0), loss >= 1)
    assert_optimal(lambda tau: loss @ tau - (cp.sum(tau) ** 2 + cp.sum_squares(tau)) / 2, ours, C)


def learned(X, y, **parameters):
    return PassiveAggressiveClassifier(fit_intercept=False, **parameters).partial_fit(X, y)


def test_uniform_perceptron_is_simperc_of_step_1():
    X, y = stream(6)
    assert (learned(X, y, update="perceptron", C=7.0).coef_ == learned(X, y, update="simperc").coef_).all()


def test_simperc_does_not_depend_on_its_step():
    X, y = stream(6)
    small, large = (learned(X, y, update="simperc", C=C) for C in (0.25, 4.0))
    assert small.totals_.mistakes == large.totals_.mistakes
    assert (16 * small.coef_ == large.coef_).all()


@pytest.mark.parametrize("beta", [0.01, 0.5, 2.0])
def test_mira_is_exact_in_other_units(beta):
    X, y = stream(6)
    mira, exact = learned(X, y, update="mira", C=1 / beta), learned(X, y, update="exact", C=1 / beta)
    np.testing.assert_allclose(mira.coef_, beta * exact.coef_, atol=1e-10)
    assert mira.totals_.mistakes == exact.totals_.mistakes


@pytest.mark.parametrize("update", ["simproj", "simopt", "exact"])
def test_one_constraint_is_pa1(update):
    """Two classes have one half-space per trial."""
    X, y = stream(2)
    np.testing.assert_allclose(learned(X, y, update=update, C=0.3).coef_, learned(X, y, C=0.3).coef_, rtol=1e-12)


@pytest.mark.parametrize(
    ("update", "C", "weights"),
    [
        ("max", np.inf, [1 / 2, -1 / 2, 0]),
        ("exact", 10.0, [2 / 3, -1 / 3, -1 / 3]),
        ("mira", 1.0, [2 / 3, -1 / 3, -1 / 3]),
        ("perceptron", 1.0, [1, -1 / 2, -1 / 2]),
        ("simproj", 10.0, [1 / 2, -1 / 4, -1 / 4]),
        ("simopt", 10.0, [1, -1 / 2, -1 / 2]),
        ("conopt", 0.5, [1 / 2, -1 / 4, -1 / 4]),
    ],
)
def test_first_step_of_three_classes(update, C, weights):
    model = PassiveAggressiveClassifier(update=update, C=C, fit_intercept=False)
    model.partial_fit([[1.0]], [0], classes=[0, 1, 2])
    np.testing.assert_allclose(model.coef_[:, 0], weights, atol=1e-15)


def test_simopt_example():
    tau = reference.simopt(0.5, np.array([1, 0.7]), np.ones(2), np.ones(2, bool))
    np.testing.assert_allclose(tau, [0.4, 0.1])


def test_simopt_may_lower_the_dual():
    """E9: three rivals of one row are each projected as if alone."""
    X, y = np.ones((1, 1)), np.zeros(1)
    step = reference.simultaneous(reference.simopt, 3.0)
    assert reference.play(X, y, reference.rivals, step, columns=6, total=max).dual_value < 0
    model = PassiveAggressiveClassifier(C=3.0, update="simopt", fit_intercept=False)
    assert model.partial_fit(X, y, classes=range(6)).totals_.dual_value < 0
