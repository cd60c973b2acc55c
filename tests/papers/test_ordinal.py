"""[SIMPROJ] sec. 3: ordinal regression as trials of thresholds, and their bounds (B18, B20)."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from onmargin import OrdinalRegressor

entries = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])


@st.composite
def streams(draw):
    """Draw rows, ranks, and weights and thresholds of a competitor."""
    n, d, k = draw(st.integers(1, 25)), draw(st.integers(1, 4)), draw(st.integers(2, 6))
    X = draw(arrays.arrays(float, (n, d), elements=entries))
    y = draw(arrays.arrays(int, n, elements=st.integers(0, k - 1)))
    w = draw(arrays.arrays(float, d, elements=st.floats(-2, 2)))
    b = draw(arrays.arrays(float, k - 1, elements=st.floats(-2, 2)))
    return X, y, w, b


def margins(X, y, w, b):
    """Return the margin of every threshold, positive on the right side."""
    return np.where(np.arange(len(b)) < y[:, None], 1, -1) * ((X @ w)[:, None] - b)


@given(streams(), st.sampled_from(["max", "simperc", "conproj", "conopt", "exact"]), st.floats(0.01, 10))
def test_mistakes_stay_below_the_bound(stream, update, C):
    """B20; SimPerc and ConOpt, whose steps go up to C, need C < 2/R^2 (B18). R^2 is the largest |x|^2 + 1."""
    X, y, w, b = stream
    totals = OrdinalRegressor(C=C, update=update).partial_fit(X, y, classes=range(len(b) + 1)).totals_
    R2 = (X**2).sum(axis=1).max() + 1
    assert totals.max_squared_norm == R2
    step = C if update in {"simperc", "conopt"} else min(C, 1 / R2)
    if step < 2 / R2:
        losses = np.maximum(1 - margins(X, y, w, b), 0).max(axis=1)
        primal = (w @ w + b @ b) / 2 + C * losses.sum()
        assert totals.mistakes * (step - step**2 * R2 / 2) <= primal * (1 + 1e-9) + 1e-9


@given(streams(), st.sampled_from(["max", "simproj", "conproj", "simopt", "conopt", "exact"]))
def test_a_wrong_rank_is_a_mistake(stream, update):
    """The converse fails where a score is at a threshold, or where thresholds cross."""
    X, y, _, b = stream
    model = OrdinalRegressor(update=update)
    wrong = 0
    for x, rank in zip(X, y, strict=True):
        seen = hasattr(model, "_learner")
        # All scores and thresholds start at zero.
        off = abs(int(model.predict(x[None, :])[0]) - rank) if seen else len(b) - rank
        before = (model.totals_.mistakes, model.totals_.cost) if seen else (0, 0.0)
        model.partial_fit(x[None, :], [rank], classes=range(len(b) + 1))
        assert model.totals_.cost - before[1] == off
        assert model.totals_.mistakes - before[0] >= (off > 0)
        wrong += off > 0
    assert model.totals_.mistakes >= wrong
