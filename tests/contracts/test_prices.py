"""BlockClassifier with prices: sum_j nu_j tau_j <= C ([SIMPROJ] sec. 10), against its reference and a convex solver."""

import numpy as np
import pytest
from scipy.optimize import minimize

from onmargin import BlockClassifier, reference
from tests.trials import SIMPLEX_TWINS, UPDATES, some_trials, twin_step

TRIALS = some_trials(3, n_trials=30)
GROUPS = np.repeat(np.arange(30), np.diff(TRIALS.ends))
PRICES = np.random.default_rng(1).choice([0.3, 1.0, 2.5], len(TRIALS.X))


@pytest.mark.parametrize("C", [0.05, 0.5])
@pytest.mark.parametrize("update", UPDATES)
def test_equals_twin(update, C):
    model = BlockClassifier(update=update, C=C).partial_fit(TRIALS.X, TRIALS.y, GROUPS, prices=PRICES)
    w = np.zeros(9)
    prices_of = np.split(PRICES, TRIALS.ends[1:-1])
    for X, y, prices in zip(TRIALS.matrices(), TRIALS.labels(), prices_of, strict=True):
        rows = X[:, :9]
        margins = y * (rows @ w)
        live = (rows**2).sum(axis=1) > 0
        if (margins < 1).any() and live.any():
            V = (y[:, None] * rows)[live]
            step = reference.priced(twin_step(update, C), prices[live], largest=update == "max")
            tau, _ = step(1 - margins[live], V @ V.T, margins[live] <= 0, np.zeros(live.sum(), int), 1.0)
            w = w + tau @ V
    np.testing.assert_allclose(model.coef_[0], w, atol=1e-7)


@pytest.mark.parametrize("update", ["simopt", "exact"])
def test_convex_solver_agrees(update):
    """max tau loss - tau G tau / 2 (or without cross terms) with tau >= 0 and sum nu tau <= C; one row has no price."""
    random = np.random.default_rng(0)
    for _ in range(5):
        X, y, prices = random.standard_normal((5, 4)), random.choice([-1, 1], 5), random.random(5) * 3
        prices[2] = 0.0
        V = y[:, None] * X
        G = V @ V.T if update == "exact" else np.diag((V**2).sum(axis=1))
        limits = {"type": "ineq", "fun": lambda tau, prices=prices: 0.3 - prices @ tau, "jac": lambda tau, p=prices: -p}
        found = minimize(
            lambda tau, G=G: tau @ G @ tau / 2 - tau.sum(),
            np.zeros(5),
            jac=lambda tau, G=G: G @ tau - 1,
            bounds=[(0, None)] * 5,
            constraints=[limits],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        model = BlockClassifier(update=update, C=0.3).partial_fit(X, y, np.zeros(5), classes=[-1, 1], prices=prices)
        np.testing.assert_allclose(model.coef_[0], found.x @ V, atol=1e-5)


@pytest.mark.parametrize("update", SIMPLEX_TWINS)
def test_on_the_simplex_a_price_divides_c(update):
    """In trials of one row a price divides C."""
    one = {"geometry": "entropic", "update": update}
    model = BlockClassifier(C=0.5, **one).partial_fit(TRIALS.X, TRIALS.y, prices=PRICES)
    weighted = BlockClassifier(C=0.5, **one).partial_fit(TRIALS.X, TRIALS.y, sample_weight=1 / PRICES)
    np.testing.assert_allclose(model.coef_, weighted.coef_, atol=1e-12)


@pytest.mark.parametrize("update", UPDATES)
def test_price_one_changes_nothing(update):
    plain = BlockClassifier(update=update).partial_fit(TRIALS.X, TRIALS.y, GROUPS)
    priced = BlockClassifier(update=update).partial_fit(TRIALS.X, TRIALS.y, GROUPS, prices=np.ones(len(PRICES)))
    assert priced.coef_.tolist() == plain.coef_.tolist()
    assert priced.totals_ == plain.totals_
    passes = BlockClassifier(update=update, max_iter=1, tol=None, shuffle=False)
    passes.fit(TRIALS.X, TRIALS.y, GROUPS, prices=PRICES)
    once = BlockClassifier(update=update).partial_fit(TRIALS.X, TRIALS.y, GROUPS, prices=PRICES)
    assert passes.coef_.tolist() == once.coef_.tolist()


@pytest.mark.parametrize(
    ("prices", "update", "words"),
    [
        (PRICES[:-1], "max", "prices must be an array"),
        (-PRICES, "max", "at least 0"),
        (PRICES * np.nan, "max", "finite"),
        (PRICES * 0, "simperc", "above 0"),
    ],
)
def test_refusals(prices, update, words):
    with pytest.raises(ValueError, match=words):
        BlockClassifier(update=update).partial_fit(TRIALS.X, TRIALS.y, GROUPS, prices=prices)
