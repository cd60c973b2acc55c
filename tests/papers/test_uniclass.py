"""[JMLR] sec. 6 and [NIPS]: bounds for balls. B1, B2, B4, B5, B7, B12, and the golden examples."""

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin import PassiveAggressiveUniclass

SLACK = 1 + 1e-9


@st.composite
def clouds(draw):
    """Draw rows and a competing center: lattice points of all scales, some repeated."""
    n_rows, n_features = draw(st.integers(1, 30)), draw(st.integers(1, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    kind = draw(st.sampled_from(["gaussian", "lattice", "scales"]))
    X = random.standard_normal((n_rows, n_features))
    if kind == "lattice":
        X = np.round(X)
    elif kind == "scales":
        X *= 10.0 ** random.integers(-3, 3, (n_rows, 1))
    center = X.mean(axis=0) + random.standard_normal(n_features) * draw(st.sampled_from([0.0, 1.0]))
    return X, center


def run(X, **parameters):
    """Train a ball that starts at the origin, so that w_1 = 0."""
    return PassiveAggressiveUniclass(init="zero", **parameters).partial_fit(X)


def distances(X, center):
    return np.linalg.norm(X - center, axis=1)


def test_golden_examples():
    model = run(np.array([[3.0, 4.0]]), C=inf, epsilon=1.0)
    np.testing.assert_allclose(model.center_, [2.4, 3.2])
    assert model.totals_.loss == pytest.approx(4)
    model = run(np.array([[1.0, 0.0]]), C=inf, radius="learn", max_radius=1.0)
    np.testing.assert_allclose(model.center_, [1 - 1 / sqrt(2), 0])
    assert model.radius_ == pytest.approx(1 / sqrt(2))


@pytest.mark.parametrize("B", [0.5, 1.0, 4.0])
def test_a_large_max_radius_changes_mostly_the_radius(B):
    """From (0, B) one PA step on |x| = 1 gives the radius B / sqrt(1 + B^2) and moves the center by the rest."""
    model = run(np.array([[1.0, 0.0]]), C=inf, radius="learn", max_radius=B)
    assert model.radius_ == pytest.approx(B / sqrt(1 + B**2))
    assert model.center_[0] == pytest.approx(1 - B / sqrt(1 + B**2))


@given(clouds(), st.floats(0, 1))
def test_pa_where_a_ball_contains_all_rows(case, extra):
    """B1, with B2 and B4: sum l^2 + 2 (eps - eps*) sum l <= |w* - w_1|^2, and |w - w_1| <= 2 |w* - w_1|."""
    X, center = case
    smallest = distances(X, center).max()
    model = run(X, C=inf, epsilon=smallest + extra)
    totals, squared = model.totals_, center @ center
    assert totals.squared_loss + 2 * extra * totals.loss <= squared * SLACK + 1e-9 * (1 + smallest) ** 2
    assert np.linalg.norm(model.center_) <= 2 * sqrt(squared) * SLACK + 1e-7 * (1 + smallest)


@given(clouds(), st.floats(0, 2))
def test_pa_against_any_ball(case, epsilon):
    """B5, for which s_t = 1 is the condition: sum l^2 <= (|u| + 2 sqrt(sum l*^2))^2."""
    X, center = case
    squared_loss = (np.maximum(distances(X, center) - epsilon, 0) ** 2).sum()
    totals = run(X, C=inf, epsilon=epsilon).totals_
    assert totals.squared_loss <= (np.linalg.norm(center) + 2 * sqrt(squared_loss)) ** 2 * SLACK + 1e-9


@given(clouds(), st.floats(0, 2), st.sampled_from([0.01, 0.3, 5.0]))
def test_pa2_against_any_ball(case, epsilon, C):
    """B7: sum l^2 <= (1 + 1 / (2 C)) (|u|^2 + 2 C sum l*^2)."""
    X, center = case
    squared_loss = (np.maximum(distances(X, center) - epsilon, 0) ** 2).sum()
    totals = run(X, C=C, epsilon=epsilon, loss="squared_epsilon_insensitive").totals_
    assert totals.squared_loss <= (1 + 1 / (2 * C)) * (center @ center + 2 * C * squared_loss) * SLACK + 1e-9


@given(clouds(), st.floats(0, 2), st.sampled_from([0.01, 0.3, 5.0]))
def test_pa1_against_any_ball(case, epsilon, C):
    """B6': sum min(C l, l^2) <= |u|^2 + 2 C sum l*. The dual value lies between."""
    X, center = case
    loss = np.maximum(distances(X, center) - epsilon, 0).sum()
    totals = run(X, C=C, epsilon=epsilon).totals_
    assert totals.dual_value <= (center @ center / 2 + C * loss) * SLACK + 1e-9


@given(clouds(), st.floats(0.1, 3), st.floats(0, 1), st.sampled_from([0.01, 0.3, 5.0]))
def test_learned_radius(case, B, part, C):
    """B12: B4, B5 and B7 for the ball in one more dimension, with |u|^2 + (B - sqrt(B^2 - e^2))^2 for |u|^2."""
    X, center = case
    e = part * B
    height = sqrt(B**2 - e**2)
    squared = center @ center + (B - height) ** 2
    losses = np.maximum(np.sqrt(distances(X, center) ** 2 + height**2) - B, 0)
    learned = {"radius": "learn", "max_radius": B}
    totals = run(X, C=inf, **learned).totals_
    assert totals.squared_loss <= (sqrt(squared) + 2 * sqrt((losses**2).sum())) ** 2 * SLACK + 1e-9
    if losses.max() == 0:
        assert totals.squared_loss <= squared * SLACK + 1e-9
    totals = run(X, C=C, loss="squared_epsilon_insensitive", **learned).totals_
    assert totals.squared_loss <= (1 + 1 / (2 * C)) * (squared + 2 * C * (losses**2).sum()) * SLACK + 1e-9


@given(clouds(), st.floats(0.1, 3))
def test_the_radius_never_shrinks_nor_passes_its_bound(case, B):
    X, _ = case
    model = PassiveAggressiveUniclass(radius="learn", max_radius=B)
    before = 0.0
    for x in X:
        model.partial_fit(x[None, :])
        assert before <= model.radius_ <= B
        before = model.radius_
