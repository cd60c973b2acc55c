"""[SIMPROJ], and the bounds of the multiclass learners that belong to its family (B18 to B20, B31, B32)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from onmargin import PassiveAggressiveClassifier

GUARANTEED = ["simperc", "conproj", "conopt", "exact", "max"]
entries = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])


@st.composite
def trials(draw):
    n, d, k = draw(st.integers(1, 25)), draw(st.integers(1, 4)), draw(st.integers(3, 6))
    X = draw(arrays.arrays(float, (n, d), elements=entries))
    y = draw(arrays.arrays(int, n, elements=st.integers(0, k - 1)))
    U = draw(arrays.arrays(float, (k, d), elements=st.floats(-2, 2)))
    return X, y, U


def hinge(U, X, y):
    scores = X @ U.T
    rows = np.arange(len(y))
    right = scores[rows, y]
    scores[rows, y] = -np.inf
    return np.maximum(0, 1 - right + scores.max(axis=1))


@given(trials(), st.sampled_from(GUARANTEED), st.floats(0.01, 10))
def test_mistakes_stay_below_the_bound(trial, update, C):
    """B20 and B31: C' = min(C, 1/R^2); SimPerc and ConOpt, whose steps go up to C, need C < 2/R^2 (B18)."""
    X, y, U = trial
    model = PassiveAggressiveClassifier(C=C, update=update, fit_intercept=False)
    totals = model.partial_fit(X, y, classes=range(len(U))).totals_
    R2 = 2 * totals.max_squared_norm
    if R2 == 0:
        return
    step = C if update in {"simperc", "conopt"} else min(C, 1 / R2)
    if step < 2 / R2:
        primal = (U**2).sum() / 2 + C * hinge(U, X, y).sum()
        # Zero rows are mistakes that move nothing; the competitor loses 1 on each of them as well.
        assert totals.mistakes * (step - step**2 * R2 / 2) <= primal * (1 + 1e-9) + 1e-9


@given(trials())
def test_uniform_perceptron_stays_below_the_optimized_bound(trial):
    """B19 and B32, with the factor 4 that the paper's text lacks (E8)."""
    X, y, U = trial
    totals = (
        PassiveAggressiveClassifier(update="perceptron", fit_intercept=False)
        .partial_fit(X, y, classes=range(len(U)))
        .totals_
    )
    loss, B = hinge(U, X, y).sum(), 2 * totals.max_squared_norm * (U**2).sum()
    assert totals.mistakes <= loss + B / 2 + np.sqrt(B**2 + 4 * loss * B) / 2 + 1e-9


@given(trials(), st.sampled_from(["exact", "max"]), st.floats(0.01, 10))
def test_dual_value_is_below_every_primal(trial, update, C):
    X, y, U = trial
    model = PassiveAggressiveClassifier(C=C, update=update, fit_intercept=False)
    dual = model.partial_fit(X, y, classes=range(len(U))).totals_.dual_value
    assert dual <= (U**2).sum() / 2 + C * hinge(U, X, y).sum() + 1e-9


def test_the_exact_step_gains_most():
    """It is the maximizer of the dual of the round; the others are feasible for it."""
    random = np.random.default_rng(3)
    for _ in range(50):
        x, C, k = random.standard_normal((1, 4)), random.uniform(0.1, 3), int(random.integers(3, 8))
        gains = {
            update: PassiveAggressiveClassifier(C=C, update=update, fit_intercept=False)
            .partial_fit(x, [0], classes=range(k))
            .totals_.dual_value
            for update in ["exact", "max", "simproj", "conproj", "simopt", "conopt"]
        }
        assert max(gains, key=gains.get) == "exact" or gains["exact"] == pytest.approx(max(gains.values()), rel=1e-12)


def test_conopt_has_no_bound_for_large_c():
    """It ignores the cross terms as SimOpt does: with nine wrong rivals at once the dual falls.

    Each rival moves 1 / (2 |x|^2), the right class nine times as far, and 9/2 - (81/4 + 9/4) / 2 = -6.75.
    """
    model = PassiveAggressiveClassifier(update="conopt", C=9.0, fit_intercept=False)
    assert model.partial_fit([[1.0]], [0], classes=range(10)).totals_.dual_value == pytest.approx(-6.75)
    small = PassiveAggressiveClassifier(update="conopt", C=0.9, fit_intercept=False)
    assert small.partial_fit([[1.0]], [0], classes=range(10)).totals_.dual_value >= 0.9 - 0.9**2
