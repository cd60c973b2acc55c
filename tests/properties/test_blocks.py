"""Blocks: splits between trials, memory layout, names and order within trials make no difference."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin import BlockClassifier
from tests.streams import CONTAINERS, containers, dtypes, integers, public_state
from tests.trials import UPDATES, Trials, some_trials

updates = st.sampled_from(UPDATES)
options = st.fixed_dictionaries(
    {
        "update": updates,
        "C": st.sampled_from([0.01, 0.3, 10.0]),
        "margin": st.sampled_from([0.25, 1.0]),
        "fit_intercept": st.booleans(),
        "average": st.sampled_from([False, True, 4]),
    }
)
streams = st.builds(
    lambda seed, n_trials, sets: some_trials(seed, n_trials=n_trials, most_sets=sets),
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 3),
)


def weights_of(n_trials: int) -> st.SearchStrategy:
    """Return weights of trials, at least one of them above zero."""
    return integers(n_trials).map(lambda picks: np.array([1.0, 0.25, 3.0, 0.0])[picks % 4]).filter(np.any)


def columns(trials: Trials) -> list:
    """Return y, groups and sets."""
    groups = np.repeat(np.arange(len(trials.ends) - 1), np.diff(trials.ends))
    return [np.sign(trials.y), groups, np.abs(trials.y)]


def distinct(trials: Trials) -> np.ndarray:
    """Return distinct rows: a score or loss that is zero up to rounding would decide which instances count."""
    noise = 0.1 * np.random.default_rng(0).standard_normal(trials.X.shape)
    return trials.X + np.where((trials.X != 0) | ~trials.X.any(axis=1, keepdims=True), noise, 0)


def learned(trials, parameters, X=None, **given):
    model = BlockClassifier(**parameters)
    return model.partial_fit(trials.X if X is None else X, *columns(trials), classes=[-1, 1], **given)


@given(streams, options, dtypes, containers, st.data())
def test_cuts_between_trials(trials, parameters, dtype, container, data):
    """Bit for bit."""
    n = len(trials.ends) - 1
    X, (y, groups, sets) = container(trials.X.astype(dtype)), columns(trials)
    weight = data.draw(weights_of(n).filter(lambda weight: weight.all()))[groups]
    cuts = trials.ends[sorted(data.draw(st.sets(st.integers(0, n))) | {0, n})]
    pieces = BlockClassifier(**parameters)
    for start, stop in pairwise(cuts):
        piece = slice(start, stop)
        pieces.partial_fit(X[piece], y[piece], groups[piece], sets[piece], [-1, 1], sample_weight=weight[piece])
    assert public_state(pieces) == public_state(learned(trials, parameters, X, sample_weight=weight))


@given(streams, options, st.data())
def test_trial_of_weight_zero_is_not_there(trials, parameters, data):
    """Bit for bit."""
    y, groups, sets = columns(trials)
    weight = data.draw(weights_of(len(trials.ends) - 1))[groups]
    kept = weight > 0
    without = BlockClassifier(**parameters)
    without.partial_fit(trials.X[kept], y[kept], groups[kept], sets[kept], [-1, 1], sample_weight=weight[kept])
    assert public_state(learned(trials, parameters, sample_weight=weight)) == public_state(without)


@given(streams, options, st.sampled_from(sorted(CONTAINERS)))
def test_containers(trials, parameters, container):
    X = distinct(trials)
    dense, other = learned(trials, parameters, X), learned(trials, parameters, CONTAINERS[container](X))
    np.testing.assert_allclose(other.coef_, dense.coef_, atol=1e-8)
    np.testing.assert_allclose(other.intercept_, dense.intercept_, atol=1e-8)
    np.testing.assert_allclose(list(dict(other.totals_).values()), list(dict(dense.totals_).values()), atol=1e-8)


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("update", UPDATES)
def test_precisions(update, container):
    """Fixed seeds instead of hypothesis: among very many scores one would be zero up to rounding."""
    parameters = {"update": update, "C": 0.3, "fit_intercept": True}
    for seed in range(10):
        trials = some_trials(seed, most_sets=3)
        X = distinct(trials)
        double = learned(trials, parameters, X)
        single = learned(trials, parameters, CONTAINERS[container](X.astype(np.float32)))
        assert single.coef_.dtype == np.float32
        np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-4)
        assert single.totals_.mistakes == double.totals_.mistakes


@given(streams, options, st.randoms(use_true_random=False))
def test_order_of_the_rows_of_a_trial(trials, parameters, random):
    """At weights where no two losses are equal, because "max" takes the first of equal ones."""
    order = np.arange(len(trials.X))
    for start, stop in pairwise(trials.ends):
        rows = order[start:stop].tolist()
        random.shuffle(rows)
        order[start:stop] = rows
    X, (y, groups, sets), results = distinct(trials), columns(trials), []
    for rows in np.arange(len(order)), order:
        model = BlockClassifier(**parameters).partial_fit(np.ones((1, 9)), [1], classes=[-1, 1])
        model.coef_ = np.random.default_rng(0).standard_normal((1, 9))
        model.intercept_ = [0.1 * parameters["fit_intercept"]]
        model.partial_fit(X[rows], y[rows], groups, sets[rows])
        results.append(np.append(model.coef_, model.intercept_))
    np.testing.assert_allclose(*results, atol=1e-7)


@given(streams, options, st.permutations(range(12)))
def test_names_of_trials_and_sets(trials, parameters, names):
    """Bit for bit."""
    y, groups, sets = columns(trials)
    words = np.array([f"trial {name}" for name in names])[groups]
    renamed = BlockClassifier(**parameters).partial_fit(trials.X, y, words, -7.5 * sets, [-1, 1])
    assert public_state(renamed) == public_state(learned(trials, parameters))


@given(streams, options)
def test_trial_in_the_margin_moves_nothing(trials, parameters):
    """The totals record that such trials have no loss."""
    X, y = trials.X, np.sign(trials.y)
    model = learned(trials, parameters | {"average": False})
    right = y * model.decision_function(X) >= parameters["margin"] + 1e-9
    before = public_state(model)["coef_"]
    if right.any():
        model.partial_fit(X[right], y[right], np.full(right.sum(), -1))
        assert public_state(model)["coef_"] == before


@given(streams, options)
def test_instance_of_the_largest_loss_meets_the_margin(trials, parameters):
    """After an uncapped step of "max" that row has exactly the required margin."""
    parameters = parameters | {"C": np.inf, "update": "max", "average": False}
    model = learned(trials, parameters)
    X, y = np.random.default_rng(0).standard_normal((5, 9)), np.array([1, -1, 1, 1, -1])
    margins = y * model.decision_function(X)
    model.partial_fit(X, y, np.full(5, -1))
    worst = margins.argmin()
    expected = max(margins[worst], parameters["margin"])
    assert (y * model.decision_function(X))[worst] == pytest.approx(expected, abs=1e-9)
