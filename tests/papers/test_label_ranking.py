"""[JMLR] Cor. 8 and [SIMPROJ] Thm. 2, Cor. 4 for labels with a prototype each: R^2 = 2 max |x|^2 (B4, B6, B7, B18-B20).

The calibration label is one label more, so that the bounds hold with it too, for competitors with a column more.
"""

from math import inf

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from onmargin import LabelRanker

GUARANTEED = ["max", "simperc", "conproj", "conopt", "exact"]
entries = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])


@st.composite
def rankings(draw, *, calibrated=None):
    """Draw rows, an independent indicator matrix, a competitor, and whether it is calibrated."""
    calibrated = draw(st.booleans()) if calibrated is None else calibrated
    n, d, k = draw(st.integers(1, 25)), draw(st.integers(1, 4)), draw(st.integers(1 if calibrated else 2, 6))
    X = draw(arrays.arrays(float, (n, d), elements=entries))
    Y = draw(arrays.arrays(int, (n, k), elements=st.integers(0, 1)))
    U = draw(arrays.arrays(float, (k + calibrated, d), elements=st.floats(-2, 2)))
    return X, Y, U, calibrated


def losses(U, X, Y, calibrated, margin=1.0):
    """Return the loss of the worst pair, or 0 without a pair."""
    worst = np.zeros(len(X))
    for t, (scores, relevant) in enumerate(zip(X @ U.T, Y == 1, strict=True)):
        labels = scores[: len(relevant)]
        above, below = labels[relevant].tolist(), labels[~relevant].tolist()
        pairs = [r - q for r in above for q in below]
        if calibrated:
            pairs += [r - scores[-1] for r in above] + [scores[-1] - q for q in below]
        worst[t] = max([0.0, *(margin - apart for apart in pairs)])
    return worst


def learned(X, Y, calibrated, **parameters):
    return LabelRanker(calibrate=calibrated, fit_intercept=False, **parameters).partial_fit(X, Y).totals_


@given(rankings(), st.sampled_from(GUARANTEED), st.floats(0.01, 10))
def test_mistakes_stay_below_the_bound(ranking, update, C):
    """B6 and B20: C' = min(C, 1/R^2); SimPerc and ConOpt, whose steps may sum to C, need C < 2/R^2 (B18)."""
    X, Y, U, calibrated = ranking
    assume(not (calibrated and update == "exact"))
    totals = learned(X, Y, calibrated, C=C, update=update)
    R2 = 2 * totals.max_squared_norm
    step = C if update in {"simperc", "conopt"} or not R2 else min(C, 1 / R2)
    if step * R2 < 2:
        primal = (U**2).sum() / 2 + C * losses(U, X, Y, calibrated).sum()
        # Zero rows are mistakes that move nothing; the competitor loses 1 on each of them as well.
        assert totals.mistakes * (step - step**2 * R2 / 2) <= primal * (1 + 1e-9) + 1e-9


@given(rankings(), st.floats(0.01, 10))
def test_simperc_stays_below_the_optimized_bound(ranking, C):
    """B19, for any C: its predictions do not depend on it."""
    X, Y, U, calibrated = ranking
    totals = learned(X, Y, calibrated, C=C, update="simperc")
    loss, B = losses(U, X, Y, calibrated).sum(), 2 * totals.max_squared_norm * (U**2).sum()
    assert totals.mistakes <= loss + B / 2 + np.sqrt(B**2 + 4 * loss * B) / 2 + 1e-9


@given(rankings(), st.floats(0.01, 10))
def test_mistakes_of_pa1(ranking, C):
    """B6 as printed in [JMLR] Thm. 4."""
    X, Y, U, calibrated = ranking
    totals = learned(X, Y, calibrated, C=C)
    R2 = 2 * totals.max_squared_norm
    bound = max(R2, 1 / C) * ((U**2).sum() + 2 * C * losses(U, X, Y, calibrated).sum())
    assert totals.mistakes <= bound * (1 + 1e-9) + 1e-9


@given(rankings(), st.floats(0.01, 10))
def test_squared_losses_of_pa2(ranking, C):
    """B7."""
    X, Y, U, calibrated = ranking
    totals = learned(X, Y, calibrated, C=C, loss="squared_hinge")
    R2 = 2 * totals.max_squared_norm
    bound = (R2 + 1 / (2 * C)) * ((U**2).sum() + 2 * C * (losses(U, X, Y, calibrated) ** 2).sum())
    assert totals.squared_loss <= bound * (1 + 1e-9) + 1e-9


@st.composite
def separable(draw):
    """Draw rows and weights, with labels separated by a clear gap in the ranking."""
    X, _, U, calibrated = draw(rankings())
    scores = X @ U.T
    if calibrated:
        Y, gap = scores[:, :-1] > scores[:, -1:], np.abs(scores[:, :-1] - scores[:, -1:]).min(axis=1)
    else:
        ranked = np.sort(scores, axis=1)
        apart = np.diff(ranked, axis=1)
        place = apart.argmax(axis=1)
        Y, gap = scores > np.take_along_axis(ranked, place[:, None], axis=1), apart.max(axis=1)
    clear = gap > 1e-2
    assume(clear.any())
    return X[clear], Y[clear].astype(int), U / gap[clear].min(), calibrated


@given(separable())
def test_squared_losses_of_pa_on_separable_labels(ranking):
    """B4: sum l^2 <= R^2 |u|^2, and so are the mistakes."""
    X, Y, U, calibrated = ranking
    assert losses(U, X, Y, calibrated).max() < 1e-9
    totals = learned(X, Y, calibrated, C=inf)
    bound = 2 * totals.max_squared_norm * (U**2).sum()
    assert totals.mistakes <= totals.squared_loss * (1 + 1e-9)
    assert totals.squared_loss <= bound * (1 + 1e-9)


@given(rankings(), st.sampled_from(["max", "exact"]), st.floats(0.01, 10))
def test_dual_value_is_below_every_primal(ranking, update, C):
    X, Y, U, calibrated = ranking
    assume(not (calibrated and update == "exact"))
    dual = learned(X, Y, calibrated, C=C, update=update).dual_value
    assert dual <= (U**2).sum() / 2 + C * losses(U, X, Y, calibrated).sum() + 1e-9


def test_the_exact_step_gains_most():
    """It is the maximizer of the dual of the round; the others are feasible for it."""
    random = np.random.default_rng(3)
    for _ in range(50):
        k = int(random.integers(2, 8))
        x, C = random.standard_normal((1, 4)), random.uniform(0.1, 3)
        y = (np.arange(k) < random.integers(1, k)).astype(int)[None]
        gains = {
            update: learned(x, y, calibrated=False, C=C, update=update).dual_value
            for update in ["exact", "max", "simproj", "conproj", "simopt", "conopt"]
        }
        assert gains["exact"] == pytest.approx(max(gains.values()), rel=1e-12)


def test_simopt_may_lower_the_dual():
    """E9: the pairs share labels, and SimOpt ignores their inner products. The others, and ConOpt, never lower it."""
    x, y = np.array([[1.0]]), np.array([[1] * 4 + [0] * 4])
    assert learned(x, y, calibrated=False, C=inf, update="simopt").dual_value < 0
    for update in ("max", "conproj", "exact"):
        assert learned(x, y, calibrated=False, C=inf, update=update).dual_value > 0


def test_conopt_has_no_bound_for_large_c():
    """The pairs of an example require the same move, and the weights make it once for each of them: too far.

    Two separable rows are misclassified forever, in turns, by weights that grow without bound. With
    C < 2/R^2 the steps of a round sum to C at most, and the bound of SimPerc holds.
    """
    X, u = np.array([[1.0, 0.0], [-0.9, 0.19**0.5]]), np.array([1.0, 1.9 / 0.19**0.5])
    Y = np.tile(np.arange(20) == 0, (2, 1)).astype(int)
    U = np.outer([0.95] + [-0.05] * 19, u)
    assert losses(U, X, Y, calibrated=False).max() < 1e-9
    bound = 2 * (U**2).sum()  # B20 with R^2 = 2
    stream = {"X": np.tile(X, (40, 1)), "Y": np.tile(Y, (40, 1)), "calibrated": False}
    assert learned(**stream, C=1e200, update="conopt").mistakes > bound
    assert learned(**stream, C=0.99, update="conopt").mistakes <= bound / 2 / (0.99 - 0.99**2)
    for update in ("max", "conproj", "exact"):
        assert learned(**stream, C=1e200, update=update).mistakes <= bound
