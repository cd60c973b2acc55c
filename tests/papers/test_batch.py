"""[NIPS], with E5: batch conversion stops within B |w* - w_1|^2 / beta updates where a perfect w* exists (B30)."""

import warnings
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from onmargin import PassiveAggressiveClassifier, PassiveAggressiveRegressor, PassiveAggressiveUniclass
from onmargin.theory import batch_risk

SELECTIONS = ["cyclic", "largest"]


def separable(seed, n_rows, n_features):
    """Draw rows, and weights with a margin of at least 1 on all of them."""
    random = np.random.default_rng(seed)
    X, w = random.standard_normal((n_rows, n_features)), random.standard_normal(n_features)
    X = X[np.abs(X @ w) > 1e-3]
    y = np.sign(X @ w)
    return X, y, w / np.abs(X @ w).min()


@given(st.integers(0, 10**6), st.sampled_from(SELECTIONS), st.sampled_from([0.1, 0.5, 0.9]), st.booleans())
def test_classification(seed, selection, target, shuffle):
    X, y, w = separable(seed, 12, 3)
    if len(np.unique(y)) < 2:
        return
    model = PassiveAggressiveClassifier(
        target_loss=target, selection=selection, fit_intercept=False, shuffle=shuffle, random_state=0
    )
    bound = floor((X**2).sum(axis=1).max() * (w @ w) / target**2 * (1 + 1e-9))
    if bound > 50_000:
        return
    model.fit(X, y)
    assert model.converged_
    assert model.totals_.updates <= bound
    assert (1 - y * (X @ model.coef_[0])).max() <= target
    assert np.linalg.norm(model.coef_) <= 2 * np.linalg.norm(w) * (1 + 1e-9)


@given(st.integers(0, 10**6), st.sampled_from(SELECTIONS), st.sampled_from([0.1, 0.5]))
def test_regression(seed, selection, target):
    random = np.random.default_rng(seed)
    X, w = random.standard_normal((10, 4)), random.standard_normal(4)
    y = X @ w + random.uniform(-0.2, 0.2, 10)
    model = PassiveAggressiveRegressor(
        target_loss=target, selection=selection, epsilon=0.2, fit_intercept=False, random_state=0
    ).fit(X, y)
    assert model.converged_
    assert model.totals_.updates <= (X**2).sum(axis=1).max() * (w @ w) / target**2 * (1 + 1e-9)
    assert np.abs(y - X @ model.coef_).max() <= 0.2 + target + 1e-12


@given(st.integers(0, 10**6), st.sampled_from(SELECTIONS))
def test_uniclass(seed, selection):
    X = np.random.default_rng(seed).standard_normal((15, 3)) + 2
    center = X.mean(axis=0)
    radius = np.linalg.norm(X - center, axis=1).max()
    model = PassiveAggressiveUniclass(
        target_loss=0.05, selection=selection, epsilon=radius, init="zero", random_state=0
    ).fit(X)
    assert model.converged_
    assert model.totals_.updates <= (center @ center) / 0.05**2 * (1 + 1e-9)
    assert np.linalg.norm(X - model.center_, axis=1).max() <= radius + 0.05 + 1e-9


def test_the_bound_is_on_updates_not_on_the_index_of_the_output():
    """E5: x = y = 1 and beta = 0.9 need one update, which gives w_2; B |w*|^2 / beta = 1 / 0.9 allows one."""
    X, y = np.array([[1.0], [-1.0]]), np.array([1, -1])
    model = PassiveAggressiveClassifier(target_loss=0.9**0.5, fit_intercept=False, shuffle=False).fit(X, y)
    assert model.totals_.updates == 1
    assert model.converged_


@pytest.mark.parametrize("selection", SELECTIONS)
def test_unreachable_targets_stop_at_max_updates(selection):
    """The same row has both labels, so some loss is always at least 1."""
    X, y = np.array([[1.0], [1.0]]), np.array([1, -1])
    model = PassiveAggressiveClassifier(target_loss=0.5, selection=selection, max_updates=7, fit_intercept=False)
    with pytest.warns(ConvergenceWarning, match="7 updates did not bring every loss down to target_loss=0.5"):
        model.fit(X, y)
    assert not model.converged_
    assert model.totals_.updates == 7


@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_zero_row_ends_without_convergence(selection):
    X, y = np.array([[1.0], [0.0], [-1.0]]), np.array([1, 1, -1])
    model = PassiveAggressiveClassifier(target_loss=0.5, selection=selection, fit_intercept=False)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert not model.converged_
    assert model.totals_.updates < 5
    assert model.fit(X, y, sample_weight=[1, 0, 1]).converged_


def test_largest_first_takes_the_largest():
    X = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, -1.0]])
    model = PassiveAggressiveRegressor(target_loss=0.5, selection="largest", epsilon=0.0, fit_intercept=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.set_params(max_updates=1).fit(X, [1.0, 5.0, 2.0])
    assert model.coef_.tolist() == [0.0, 2.5]


def test_steps_are_plain_pa_whatever_c_is():
    X, y, _ = separable(3, 30, 4)
    fits = [
        PassiveAggressiveClassifier(target_loss=0.3, C=C, loss=loss, random_state=0).fit(X, y)
        for C, loss in ((1e-3, "hinge"), (np.inf, "hinge"), (1.0, "squared_hinge"))
    ]
    assert len({tuple(model.coef_.ravel()) for model in fits}) == 1


def test_multiclass_converges():
    random = np.random.default_rng(0)
    X = random.standard_normal((40, 3))
    y = (X @ random.standard_normal((3, 4))).argmax(axis=1)
    model = PassiveAggressiveClassifier(target_loss=0.5, random_state=0).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"early_stopping": True}, "target_loss needs early_stopping=False"),
        ({"average": True}, "target_loss needs average=False"),
        ({"strategy": "ovr"}, "target_loss needs strategy='joint'"),
        ({"update": "simproj"}, "update='simproj' needs target_loss=None"),
        ({"cost": "absolute"}, "cost needs target_loss=None"),
        ({"selection": "random"}, "selection must be 'cyclic' or 'largest'"),
        ({"max_updates": 0}, "max_updates must be an integer at least 1"),
    ],
)
def test_bad_combinations(parameters, message):
    X, y, _ = separable(0, 20, 3)
    with pytest.raises(ValueError, match=message):
        PassiveAggressiveClassifier(target_loss=0.5, **parameters).fit(X, y)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_risk_of_weights_trained_to_a_target(kind):
    """The risk of a finite distribution is known; most training sets of 4 leave an error that the target hides."""
    random = np.random.default_rng(0)
    points, u = random.standard_normal((200, 8)), random.standard_normal(8)
    points /= np.linalg.norm(points, axis=1)[:, None]
    scores = points @ u
    target, delta, m, hidden = 0.1, 0.5, 4, 0
    keep = np.abs(scores) > 0.3 * np.abs(scores).max()
    points, scores = points[keep], scores[keep]
    u, targets = (u / np.abs(scores).min(), np.sign(scores)) if kind == "classes" else (u, scores)
    exceeded = 0
    for seed in range(40):
        drawn = np.random.default_rng(seed).choice(len(points), m)
        kinds = {"classes": PassiveAggressiveClassifier, "numbers": PassiveAggressiveRegressor}
        epsilon = {} if kind == "classes" else {"epsilon": 0.0}
        model = kinds[kind](target_loss=target, fit_intercept=False, random_state=0, **epsilon)
        if len(np.unique(np.sign(targets[drawn]))) < 2:
            continue
        w = model.fit(points[drawn], targets[drawn]).coef_.ravel()
        assert np.linalg.norm(w) <= 2 * np.linalg.norm(u)
        losses = np.maximum(0, 1 - targets * (points @ w)) if kind == "classes" else np.abs(targets - points @ w)
        assert losses[drawn].max() <= target + 1e-12
        assert losses.max() <= 3 * np.linalg.norm(u)
        hidden += losses.mean() > target
        exceeded += losses.mean() > batch_risk(1.0, float(u @ u), target, m, delta)
    assert hidden > 20
    assert exceeded <= 20
