"""Log odds of ranks: the core equals the NumPy reference, and every increasing function of a feature gives the same."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix

from onmargin import AutoClassifier, stream
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.geometries.ranked import Ranked
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Binary
from onmargin.learner import Learner, as_rows
from onmargin.reference import log_odds_of_ranks
from tests.streams import CONTAINERS

RANDOM = np.random.default_rng(0)
HEAVY = np.exp(2 * RANDOM.normal(size=(1200, 3))).astype(np.float32)
HEAVY[:, 1] = RANDOM.integers(-1, 3, 1200)
HEAVY[:, 2] = 1
SIGNS = np.where(RANDOM.normal(size=1200) > 0, 1.0, -1.0)


def learner(n_features, dtype=np.float64, *, sparse=False):
    """Return a learner whose scores are those of each feature, which it never moves."""
    inner = Euclidean(n_features, n_features, dtype)
    inner.weights[...] = np.eye(n_features)
    return Learner(Binary(), Step(), Ranked(inner, sparse))


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_those_of_the_twin(container, dtype):
    """Also after the last value was kept; a feature with a single value so far has its sign."""
    X, twin = HEAVY.astype(dtype), log_odds_of_ranks(HEAVY.astype(np.float64))
    model = learner(3, dtype)
    for first, last in [(0, 1), (1, 2), (2, 40), (40, 1100), (1100, 1199)]:
        model.learn(as_rows(CONTAINERS[container](X[first:last])), SIGNS[first:last])
        scores = model.scores(as_rows(CONTAINERS[container](X[last : last + 1])))
        assert_allclose(scores[0], twin[last], rtol=1e-6, atol=1e-6)
    assert model.geometry.counts.tolist() == [1023] * 3


@given(X=arrays(np.float32, (12, 3), elements=st.sampled_from([np.nan, 0, 1, 1, 1, -2, 2.5, 2.0**127, -(2.0**127)])))
def test_entries_are_those_of_the_twin(X):
    twin, model = np.nan_to_num(log_odds_of_ranks(X.astype(np.float64))), learner(3, np.float32, sparse=True)
    for t, x in enumerate(X):
        places = np.flatnonzero(~np.isnan(x))
        row = as_rows(csr_matrix((x[places], places, [0, len(places)]), shape=(1, 3)))
        assert_allclose(model.scores(row)[0], twin[t], rtol=1e-6, atol=1e-6)
        model.learn(row, SIGNS[t : t + 1])
    assert_array_equal(model.geometry.counts, (~np.isnan(X)).sum(axis=0))


def test_an_increasing_function_changes_nothing():
    one, other, X = learner(3), learner(3), HEAVY.astype(np.float64)
    one.learn(as_rows(X), SIGNS)
    other.learn(as_rows(8 * X), SIGNS)
    assert_array_equal(one.scores(as_rows(X)), other.scores(as_rows(8 * X)))


def test_new_features_and_copies_go_on_as_before():
    whole, parts = learner(3), learner(2)
    X = HEAVY[:200].astype(np.float64)
    X[:100, 2] = 0
    whole.learn(as_rows(X), SIGNS[:200])
    parts.learn(as_rows(np.ascontiguousarray(X[:100, :2])), SIGNS[:100])
    parts = pickle.loads(pickle.dumps(parts))
    geometry = parts.geometry.resize(3)
    geometry.__setstate__(pickle.loads(pickle.dumps(geometry)).__reduce__()[2])
    parts.geometry = geometry
    parts.learn(as_rows(X[100:]), SIGNS[100:200])
    assert_array_equal(whole.geometry.samples, parts.geometry.samples)
    assert_array_equal(whole.geometry.counts, parts.geometry.counts)
    assert_array_equal(whole.geometry.typical(), np.sort(X, axis=0)[99])


@pytest.mark.parametrize(
    ("word", "wrong"), [("samples", np.zeros((2, 2))), ("counts", np.full(3, 1024)), ("clock", -1)]
)
def test_states_that_do_not_fit_are_refused(word, wrong):
    geometry = learner(3).geometry
    with pytest.raises(ValueError, match=word):
        geometry.__setstate__(geometry.__reduce__()[2] | {word: wrong})


def test_experts_on_ranks_are_better_where_tails_are_heavy():
    """Also for records."""
    X = np.exp(3 * RANDOM.normal(size=(1500, 6)))
    y = (np.log(X[:, 0]) + np.log(X[:, 1]) > 0).astype(int)
    results = AutoClassifier(sleeping=False).partial_fit(X, y).experts_
    ranked = ["ranks" in name for name in results.names]
    assert sum(ranked) == 4
    mistakes = dict(zip(results.names, results.mistakes, strict=True))
    assert mistakes["AROW, ranks"] < 0.5 * mistakes["AROW, standardized"]
    records = [dict(zip("abcdef", row, strict=True)) for row in X.tolist()]
    model = stream.AutoClassifier().learn_many(records, y.tolist())
    assert "AROW, ranks" in model.experts_.names
    rows = AutoClassifier().partial_fit(X, y)
    assert model.totals_.mistakes == pytest.approx(rows.totals_.mistakes, rel=0.15)
    assert not any("ranks" in name for name in AutoClassifier(experts="linear").partial_fit(X, y).experts_.names)


def test_records_of_experts_on_ranks_alone_are_those_of_a_table():
    """A zero is a value, and an absent number is missing."""
    X = np.exp(3 * RANDOM.normal(size=(600, 2)))
    y = (np.log(X).sum(axis=1) > 0).astype(int)
    model = stream.AutoClassifier(sleeping=False).learn_many([{"a": a, "b": b} for a, b in X.tolist()], y.tolist())
    while not all("ranks" in name for name in model.models_):
        model.retire(len(model.models_) - 1)
    few = model.scores_one({"a": 0.0, "b": 1.0})
    assert few != model.scores_one({"b": 1.0})
    assert model.predict_one({"a": 1e9, "b": 1e3}) == 1
