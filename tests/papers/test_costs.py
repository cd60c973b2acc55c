"""[JMLR] sec. 8: cost-sensitive multiclass, by the prediction (PB) and by the largest loss (ML). B9 to B11."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin import PassiveAggressiveClassifier
from tests.papers.test_simproj import trials

costs = st.floats(0.1, 4)


def max_loss(U, X, y, cost):
    scores = X @ U.T
    return (scores - scores[np.arange(len(y)), y][:, None] + np.sqrt(cost[y])).max(axis=1)


@given(trials(), costs, st.sampled_from(["prediction", "max_loss"]), st.floats(0.05, 10))
def test_pa2_costs_stay_below_the_bound(trial, unit, cost_update, C):
    """B11: sum rho <= (R^2 + 1/(2C)) (|u|^2 + 2 C sum l_ML(u)^2)."""
    X, y, U = trial
    k = len(U)
    cost = unit * np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    model = PassiveAggressiveClassifier(
        C=C, loss="squared_hinge", fit_intercept=False, cost=cost, cost_update=cost_update
    )
    totals = model.partial_fit(X, y, classes=range(k)).totals_
    R2 = 2 * totals.max_squared_norm
    bound = (R2 + 1 / (2 * C)) * ((U**2).sum() + 2 * C * (max_loss(U, X, y, cost) ** 2).sum())
    assert totals.cost <= totals.squared_loss + 1e-9 <= bound * (1 + 1e-9) + 2e-9


@given(trials(), costs, st.sampled_from(["prediction", "max_loss"]))
def test_pa1_costs_stay_below_the_bound(trial, unit, cost_update):
    """B10: with R <= 1 and C >= sqrt(rho), sum rho <= |u|^2 + 2 C sum l_ML(u)."""
    X, y, U = trial
    X = X / max(1.0, np.sqrt(2) * np.linalg.norm(X, axis=1).max())
    cost = unit * (1 - np.eye(len(U)))
    C = float(np.sqrt(unit))
    model = PassiveAggressiveClassifier(C=C, fit_intercept=False, cost=cost, cost_update=cost_update)
    totals = model.partial_fit(X, y, classes=range(len(U))).totals_
    assert totals.cost <= (U**2).sum() + 2 * C * max_loss(U, X, y, cost).sum() + 1e-9


@pytest.mark.parametrize("word", ["absolute", "squared"])
def test_named_costs_equal_matrices(word):
    random = np.random.default_rng(0)
    X, y = random.standard_normal((60, 4)), random.choice(["a", "b", "c", "d"], 60)
    distance = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    matrix = distance if word == "absolute" else distance**2
    by_word, by_matrix = (
        PassiveAggressiveClassifier(cost=cost).partial_fit(X, y, classes=list("abcd")) for cost in (word, matrix)
    )
    assert (by_word.coef_ == by_matrix.coef_).all()
    assert by_word.totals_ == by_matrix.totals_


def test_cost_is_that_of_the_progressive_predictions():
    random = np.random.default_rng(1)
    X, y = random.standard_normal((50, 3)), random.integers(0, 3, 50)
    cost = np.array([[0, 1, 5], [2, 0, 1], [3, 1, 0]])
    model = PassiveAggressiveClassifier(cost=cost, fit_intercept=False).partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    paid = cost[y[0], 0]  # the first of equal scores is predicted
    for x, label in zip(X[1:], y[1:], strict=True):
        paid += cost[label, model.predict([x])[0]]
        model.partial_fit([x], [label])
    assert model.totals_.cost == paid
