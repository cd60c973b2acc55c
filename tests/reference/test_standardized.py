"""Rows standardized online, and learners whose averaged weights are evaluated."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix

from onmargin import AROWClassifier, AutoClassifier, PassiveAggressiveClassifier, SCWClassifier
from onmargin._core.geometries.diagonal import Confidence
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.geometries.standardized import Standardized, StandardizedEntries
from onmargin._core.several.geometries import WithAverage
from onmargin._core.several.steps import Steps
from onmargin._core.several.tasks import ExpertVote
from onmargin._core.steps.step import Projection, Step
from onmargin._core.tasks.task import Binary
from onmargin.learner import Learner, as_rows
from onmargin.models.ensemble import find_members
from onmargin.reference import running_standardization, standardized_entries
from tests.streams import CONTAINERS, gaussian, streams

every_container = pytest.mark.parametrize("container", CONTAINERS)
every_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def learner(n_features, dtype=np.float64, kind=Standardized, **settings):
    return Learner(Binary(), Projection(cap=1.0), kind(Euclidean(n_features, 1, dtype, **settings)))


@every_container
@every_type
def test_rows_are_those_of_the_twin(container, dtype):
    stream = gaussian("binary", dtype=dtype)
    rows = (5 + stream.X * np.arange(1, stream.X.shape[1] + 1)).astype(dtype)
    rows[:, 0] = 3  # a constant feature
    X, twin = CONTAINERS[container](rows), running_standardization(rows.astype(np.float64))
    one = learner(X.shape[1], dtype, bias=0.5)
    other = Learner(Binary(), Projection(cap=1.0), Euclidean(X.shape[1], 1, np.float64, bias=0.5))
    one.learn(as_rows(X), stream.y)
    other.learn(as_rows(twin), stream.y)
    tolerance = 1e-4 if dtype is np.float32 else 1e-10
    np.testing.assert_allclose(one.geometry.inner.weights, other.geometry.weights, rtol=tolerance, atol=tolerance)
    assert one.totals.mistakes == other.totals.mistakes
    assert one.totals.loss == pytest.approx(other.totals.loss, rel=tolerance)
    assert one.geometry.rows == len(rows)
    np.testing.assert_allclose(one.geometry.means, rows.mean(axis=0, dtype=np.float64), rtol=1e-6)


@every_type
@pytest.mark.parametrize("centered", [False, True])
@given(
    X=arrays(np.float32, (12, 3), elements=st.sampled_from([np.nan, 0, 1, 1, 1, -2, 2.5, 100])),
    signs=arrays(np.int8, 12, elements=st.sampled_from([-1, 1])),
)
def test_entries_are_those_of_the_twin(dtype, centered, X, signs):
    """Records have gaps, zeros, constant features and late features."""
    X, y = X.astype(dtype), signs.astype(np.float64)
    twin = standardized_entries(X.astype(np.float64), centered=centered)
    one = learner(3, dtype, kind=partial(StandardizedEntries, centered=centered), bias=0.5)
    other = Learner(Binary(), Projection(cap=1.0), Euclidean(3, 1, np.float64, bias=0.5))
    for t, x in enumerate(X):
        places = np.flatnonzero(~np.isnan(x))
        row = as_rows(csr_matrix((x[places], places, [0, len(places)]), shape=(1, 3)))
        tolerance = 1e-5 if dtype is np.float32 else 1e-10
        np.testing.assert_allclose(one.scores(row), other.scores(as_rows(twin[t : t + 1])), rtol=tolerance, atol=1e-5)
        one.learn(row, y[t : t + 1])
        other.learn(as_rows(twin[t : t + 1]), y[t : t + 1])
    np.testing.assert_array_equal(one.geometry.counts, (~np.isnan(X)).sum(axis=0))


def test_records_without_gaps_equal_rows():
    stream = gaussian("binary")
    X = stream.X * 3 + 7
    X[:, 0] = 3
    dense, entries = (learner(X.shape[1], kind=kind, bias=0.5) for kind in (Standardized, StandardizedEntries))
    for one in (dense, entries):
        one.learn(as_rows(X), stream.y)
    np.testing.assert_array_equal(dense.geometry.inner.weights, entries.geometry.inner.weights)
    weights = [one.geometry.plain(*one.geometry.inner.mean()) for one in (dense, entries)]
    np.testing.assert_allclose(weights[0][0], weights[1][0], rtol=1e-12)
    np.testing.assert_allclose(weights[0][1], weights[1][1], rtol=1e-12)


@pytest.mark.parametrize("centered", [False, True])
def test_weights_for_records_with_categories(centered):
    """A frequent category, a rare one, a number, and a number that is often missing."""
    random = np.random.default_rng(0)
    X = np.column_stack([random.random(400) < 0.3, random.random(400) < 0.005, random.normal(5, 2, (400, 2))]) * 1.0
    stored = np.column_stack([X[:, :2] > 0, np.ones(400, bool), random.random(400) < 0.5])
    ends = np.append(0, stored.sum(axis=1).cumsum())
    rows = as_rows(csr_matrix((X[stored], np.nonzero(stored)[1], ends), shape=X.shape))
    one = learner(4, kind=partial(StandardizedEntries, centered=centered), bias=0.3)
    one.learn(rows, np.where(X[:, 0] + X[:, 2] > 5, 1.0, -1.0))
    weights, intercept = one.geometry.plain(*one.geometry.inner.mean())
    filled = np.where(stored, X, one.geometry.filling())
    np.testing.assert_allclose(filled @ weights.T + intercept, one.scores(rows), rtol=1e-8, atol=1e-10)


@given(
    X=st.integers(1, 8).flatmap(
        lambda n: arrays(np.float64, (n, 3), elements=st.floats(allow_nan=False, allow_infinity=False))
    )
)
@pytest.mark.parametrize("kind", [Standardized, StandardizedEntries])
def test_standardized_values_are_bounded(kind, X):
    """After t other rows a row is standardized to at most sqrt(t), for numbers of any size."""
    geometry = kind(Euclidean(3, 3, np.float64))
    geometry.inner.weights[...] = np.eye(3)
    one = Learner(Binary(), Step(), geometry)
    for t, x in enumerate(X):
        scores = one.scores(as_rows(x[None]))
        assert np.abs(scores).max() <= np.sqrt(t) * (1 + 1e-9)
        one.learn(as_rows(x[None]), np.ones(1))


@given(stream=streams("binary"), units=st.integers(-40, 40))
def test_units_make_no_difference(stream, units):
    rows = (as_rows(np.ascontiguousarray(stream.X, np.float64) * factor) for factor in (1.0, 2.0**units))
    one, other = learner(stream.X.shape[1]), learner(stream.X.shape[1])
    for model, X in zip((one, other), rows, strict=True):
        model.learn(X, stream.y)
    np.testing.assert_array_equal(one.geometry.inner.weights, other.geometry.inner.weights)


@pytest.mark.parametrize("kind", [Standardized, WithAverage, lambda inner: Standardized(WithAverage(inner))])
def test_predictions_equal_the_scores_of_the_round(kind):
    stream = gaussian("binary")
    one = learner(stream.X.shape[1], kind=kind, bias=0.3, average=int(kind is not Standardized))
    one.learn(as_rows(stream.X[:50]), stream.y[:50])
    rest, y = as_rows(stream.X[50:]), stream.y[50:]
    np.testing.assert_array_equal(one.losses(rest, y), np.maximum(1 - y * one.scores(rest)[:, 0], 0))


def test_weights_for_rows_that_are_not_standardized():
    stream = gaussian("binary")
    X = stream.X * 3 + 7
    one = learner(X.shape[1], bias=0.3)
    one.learn(as_rows(X), stream.y)
    geometry = one.geometry
    weights, intercept = geometry.plain(*geometry.inner.mean())
    by_hand = (X - X.mean(axis=0)) / X.std(axis=0) @ geometry.inner.weights.T + geometry.inner.intercept
    np.testing.assert_allclose(X @ weights.T + intercept, by_hand, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(one.scores(as_rows(X)), by_hand, rtol=1e-8, atol=1e-10)


def test_late_features_count_as_zero_before():
    stream = gaussian("binary")
    X, y = stream.X.copy(), stream.y
    X[:50, -1] = 0
    whole, growing = learner(X.shape[1]), learner(X.shape[1] - 1)
    growing.learn(as_rows(np.ascontiguousarray(X[:50, :-1])), y[:50])
    growing.geometry = pickle.loads(pickle.dumps(growing.geometry)).resize(X.shape[1])
    whole.learn(as_rows(X[:50]), y[:50])
    for model in (whole, growing):
        model.learn(as_rows(X[50:]), y[50:])
    np.testing.assert_array_equal(whole.geometry.inner.weights, growing.geometry.inner.weights)
    np.testing.assert_array_equal(whole.scores(as_rows(X)), growing.scores(as_rows(X)))


@pytest.mark.parametrize("kind", [Euclidean, Confidence])
@every_container
@given(stream=streams("binary"))
def test_averages_are_evaluated_and_not_trained(kind, container, stream):
    """Both weights are those of an averaging learner, and each is charged for its own mistakes."""
    X = CONTAINERS[container](np.ascontiguousarray(stream.X, np.float64))
    rows, n = as_rows(X), len(stream.y)
    settings = {"sparse": rows.is_sparse(), "bias": 0.5, "average": 1}
    alone = Learner(Binary(), Projection(), kind(rows.n_features, 1, np.float64, **settings))
    geometry = WithAverage(kind(rows.n_features, 1, np.float64, **settings))
    both = Learner(ExpertVote([Binary()] * 2, [0, 1], 1, Binary()), Steps([Projection(), Step()]), geometry)
    wrong = 0
    for i in range(n):
        wrong += float(stream.y[i] * alone.scores(rows.part(i, i + 1))[0, 0]) <= 0
        alone.learn(rows.part(i, i + 1), stream.y[i : i + 1])
        both.learn(rows.part(i, i + 1), stream.y[i : i + 1])
    assert both.task.state()["outcomes"][:, 0].tolist() == [alone.totals.mistakes, wrong]
    current, averaged = (model.plain(*model.leaf.mean())[0] for model in find_members(geometry, 1))
    np.testing.assert_array_equal(current, alone.geometry.weights)
    np.testing.assert_array_equal(averaged, alone.geometry.mean()[0])
    np.testing.assert_array_equal(both.scores(rows)[:, 1], alone.scores(rows)[:, 0])


def test_weights_without_averages_are_one_model():
    with pytest.raises(ValueError, match="must have averaged weights"):
        WithAverage(Euclidean(2, 1, np.float64))


@pytest.mark.parametrize(("task", "columns"), [("binary", 1), ("multiclass", 3)])
def test_experts_on_standardized_rows(task, columns):
    """They equal models trained on rows that the user standardized."""
    stream = gaussian(task, columns)
    X, y = stream.X * 10 + 3, stream.y.astype(int)
    results = AutoClassifier().partial_fit(X, y, classes=np.unique(y)).experts_
    rows = running_standardization(X)
    alone = {
        "SCW, standardized": SCWClassifier(C=0.1),
        "PA-I, C=0.01, standardized": PassiveAggressiveClassifier(C=0.01, strategy="ovr"),
        "AROW, standardized": AROWClassifier(r=1.0),
    }
    for name, model in alone.items():
        model.partial_fit(rows, y, classes=np.unique(y))
        coef = results.coef[results.names.index(name)]
        np.testing.assert_allclose(coef, model.coef_ / X.std(axis=0), rtol=1e-6, atol=1e-9)
        intercept = model.intercept_ - coef @ X.mean(axis=0)
        np.testing.assert_allclose(results.intercept[results.names.index(name)], intercept, rtol=1e-6, atol=1e-8)
    assert results.mistakes[results.names.index("AROW, standardized")] == model.totals_.mistakes
