"""Public API of OrdinalRegressor: ranks, thresholds, streams, errors."""

import itertools
import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from onmargin import OrdinalRegressor
from tests.contracts.test_uniclass import EXPECTED_FAILURES
from tests.trials import UPDATES

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((80, 5))
SCORE = X @ np.array([1.0, -1.0, 0.5, 0.0, 2.0])
Y = np.digitize(SCORE, [-1.5, 0.0, 2.0]) + 1  # ranks 1 to 4


@parametrize_with_checks(
    [OrdinalRegressor(), OrdinalRegressor(update="exact"), OrdinalRegressor(update="simproj", average=True)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("update", UPDATES)
def test_ranks_are_learned(update):
    """The data have a perfect fit, which SimPerc also finds."""
    model = OrdinalRegressor(update=update, C=1.0, max_iter=3000, tol=None, random_state=0).fit(X, Y)
    assert model.score(X, Y) > -0.1
    assert model.classes_.tolist() == [1, 2, 3, 4]
    assert model.coef_.shape == (5,)
    assert (np.diff(model.thresholds_) > 0).all()


def test_prediction_is_the_first_threshold_above_the_score():
    model = OrdinalRegressor().partial_fit(X, Y)
    expected = [next((i for i, b in enumerate(model.thresholds_, 1) if x @ model.coef_ < b), 4) for x in X]
    assert model.predict(X).tolist() == expected
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_)


def test_thresholds_may_cross_and_are_reported_as_they_are():
    model = OrdinalRegressor().partial_fit(X, Y)
    model._learner.geometry.assign(np.zeros((1, 5)), np.array([-2.0, -1.0, -3.0]))
    assert model.thresholds_.tolist() == [2.0, 1.0, 3.0]
    assert model.predict(X[:1]).tolist() == [1]  # 0 < 2, the first threshold


def test_score_is_minus_the_mean_distance():
    model = OrdinalRegressor().partial_fit(X, Y)
    off = np.abs(model.predict(X) - Y)
    assert model.score(X, Y) == pytest.approx(-off.mean())
    weight = RANDOM.random(80)
    assert model.score(X, Y, weight) == pytest.approx(-np.average(off, weights=weight))


def test_named_ranks_are_in_the_order_given():
    names = np.array(["low", "mid", "high", "top"])
    model = OrdinalRegressor().partial_fit(X, names[Y - 1], classes=names)
    numbers = OrdinalRegressor().partial_fit(X, Y)
    assert model.thresholds_.tolist() == numbers.thresholds_.tolist()
    assert model.predict(X).tolist() == names[numbers.predict(X) - 1].tolist()
    assert model.score(X, names[Y - 1]) == numbers.score(X, Y)


@given(st.lists(st.integers(0, 80), max_size=5), st.sampled_from(UPDATES), st.booleans())
def test_cuts_make_no_difference(cuts, update, as_sparse):
    rows = sparse.csr_array(X * (X > 0)) if as_sparse else X
    whole = OrdinalRegressor(update=update).partial_fit(rows, Y)
    pieces = OrdinalRegressor(update=update)
    ends = sorted({0, len(X), *cuts})
    for start, stop in itertools.pairwise(ends):
        pieces.partial_fit(rows[start:stop], Y[start:stop], classes=[1, 2, 3, 4])
        pieces = pickle.loads(pickle.dumps(pieces))
    assert pieces.coef_.tolist() == whole.coef_.tolist()
    assert pieces.thresholds_.tolist() == whole.thresholds_.tolist()
    assert pieces.totals_ == whole.totals_


def test_sparsified_weights_predict_the_same():
    model = OrdinalRegressor().partial_fit(X, Y)
    predicted = model.predict(X)
    assert model.sparsify().predict(X).tolist() == predicted.tolist()
    assert model.partial_fit(X, Y).thresholds_.shape == (3,)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.where(Y == 3, 2, Y), "ranks with gaps: none between 2 and 4"),
        (np.array(["a", "b"])[Y % 2], "integers without gaps"),
        (np.ones(80), "at least two ranks"),
        (SCORE, "Unknown label type"),
        (Y[:-1], "inconsistent numbers of samples"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_ranks(method, y, message):
    with pytest.raises(ValueError, match=message):
        getattr(OrdinalRegressor(), method)(X, y)


@pytest.mark.parametrize(
    ("classes", "message"),
    [([3, 1, 2, 4], "from low to high"), ([1, 1, 2], "each named once"), ([1], "at least two"), (3, "classes must be")],
)
def test_bad_classes(classes, message):
    with pytest.raises(ValueError, match=message):
        OrdinalRegressor().partial_fit(X, Y, classes=classes)


def test_an_unknown_rank_changes_nothing():
    model = OrdinalRegressor().partial_fit(X, Y)
    before = deepcopy(model)
    with pytest.raises(ValueError, match=r"label 5, which is not among the classes \[1, 2, 3, 4\]"):
        model.partial_fit(X, Y + 1)
    assert model.thresholds_.tolist() == before.thresholds_.tolist()


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_rank_of_weight_zero_is_ignored(method):
    options = {"shuffle": False, "max_iter": 2, "tol": None}
    rows, ranks, weight = np.vstack([X[:1], X]), np.append(9, Y), np.append(0.0, np.ones(len(Y)))
    model = getattr(OrdinalRegressor(**options), method)(rows, ranks, sample_weight=weight)
    assert model.classes_.tolist() == [1, 2, 3, 4]
    assert model.thresholds_.tolist() == getattr(OrdinalRegressor(**options), method)(X, Y).thresholds_.tolist()
    model.partial_fit(rows, ranks, sample_weight=weight)


@pytest.mark.parametrize("update", ["simperc", "exact"])
def test_no_infinite_c(update):
    with pytest.raises(ValueError, match="needs a finite C"):
        OrdinalRegressor(update=update, C=np.inf).fit(X, Y)


def test_unknown_update():
    with pytest.raises(ValueError, match="update must be 'max' or 'simperc'"):
        OrdinalRegressor(update="mira").fit(X, Y)
