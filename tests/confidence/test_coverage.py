"""Prediction sets and intervals have the requested coverage on any sequence."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from river import linear_model
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression, SGDClassifier, SGDRegressor

from onmargin import AROWClassifier, PassiveAggressiveRegressor, stream
from onmargin.confidence import Intervals, PredictionSets, QuantileTracker
from tests.examples import examples

LEVELS = st.floats(0.05, 0.95)
RATES = st.floats(0.01, 0.5)
STRANGE = st.lists(st.one_of(st.floats(0, 1e300), st.just(np.inf), st.just(0.0)), min_size=1, max_size=200)


def within(tracker):
    return abs(1 - tracker.misses / tracker.rounds - tracker.coverage) <= tracker.bound + 1e-9


@examples(200)
@given(STRANGE, LEVELS, RATES, st.sampled_from(["bounded", "positive", "signed"]))
@example([0.0] * 6 + [np.inf], 0.4, 0.3, "signed")  # minus infinity is not covered where nothing is
def test_bound_on_any_sequence(sequence, coverage, rate, scores):
    tracker = QuantileTracker(coverage, rate, scores=scores)
    most = 1.0 if scores == "bounded" else np.inf
    for k, nonconformity in enumerate(sequence):
        sign = -1 if scores == "signed" and k % 3 == 0 else 1
        tracker.update(sign * min(nonconformity, most))
        assert within(tracker)
        assert -rate <= tracker.level <= 1 + rate


@examples(50)
@given(LEVELS, RATES, st.lists(st.booleans(), min_size=1, max_size=300))
def test_bound_against_an_adversary(coverage, rate, hits):
    """The adversary sees the threshold and chooses scores just above or just below it."""
    tracker = QuantileTracker(coverage, rate, scores="positive")
    for hit in hits:
        threshold = tracker.threshold
        above = np.inf if threshold >= 1e300 else max(np.nextafter(threshold, np.inf), 0.0)
        covered = tracker.update(max(threshold, 0.0) if hit else above)
        assert covered == ((hit and threshold >= 0) or threshold == np.inf)
        assert within(tracker)


@pytest.mark.parametrize(("name", "value"), [("coverage", 1.0), ("coverage", 0), ("rate", -1), ("rate", True)])
def test_parameters_are_checked(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a number"):
        QuantileTracker(**{name: value})


def classes(n=1500, drift=True):
    """Return rows of three classes, whose meaning changes in the middle."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 5))
    W = rng.standard_normal((2, 5, 3))
    scores = np.where((np.arange(n) < n // 2)[:, None], X @ W[0], X @ W[int(drift)])
    return X, (2 * scores + rng.gumbel(size=(n, 3))).argmax(axis=1)


@pytest.mark.parametrize(
    "model", [AROWClassifier(), SGDClassifier(loss="log_loss", random_state=0)], ids=lambda m: type(m).__name__
)
def test_sets_of_matrices(model):
    X, y = classes()
    sets = PredictionSets(model, coverage=0.8)
    for start in range(0, len(y), 10):
        sets.partial_fit(X[start : start + 10], y[start : start + 10], **({} if start else {"classes": [0, 1, 2]}))
    report = sets.coverage_
    assert report.rounds == len(y) - 10
    assert abs(report.covered - 0.8) <= report.bound
    assert report.holds
    assert abs(report.covered - 0.8) < 0.01
    assert 0.9 < report.size < 2.5
    members = sets.predict_set(X[:50])
    assert members.shape == (50, 3)
    assert members.sum(axis=1).std() > 0
    np.testing.assert_array_equal(sets.predict(X[:9]), model.predict(X[:9]))


@pytest.mark.parametrize("by_class", [False, True])
def test_sets_of_records(by_class):
    X, y = classes(1000)
    sets = PredictionSets(stream.AROWClassifier(), coverage=0.7, by_class=by_class)
    for x, label in zip(X, y.tolist(), strict=True):
        before = sets.predict_set_one(x)
        counted = sets.coverage_.rounds
        sets.learn_one(x, label)
        if sets.coverage_.rounds > counted and not by_class:
            assert set(before) <= {0, 1, 2}
    assert sets.coverage_.rounds == 999
    assert abs(sets.coverage_.covered - 0.7) <= sets.coverage_.bound
    if by_class:
        assert set(sets.class_coverage_) == {0, 1, 2}
        for report in sets.class_coverage_.values():
            assert abs(report.covered - 0.7) <= report.bound
    assert sets.predict_one(X[0]) == sets.model.predict_one(X[0])


def test_sets_contain_the_labels_that_count_as_covered():
    X, y = classes(400)
    sets, hits = PredictionSets(stream.AROWClassifier(), coverage=0.7), 0
    sets.learn_one(X[0], int(y[0]))
    for x, label in zip(X[1:], y[1:].tolist(), strict=True):
        hits += label in sets.predict_set_one(x) or sets._threshold(label) == np.inf
        sets.learn_one(x, label)
    assert sets.coverage_.covered == pytest.approx(hits / 399)


def test_sets_that_are_never_empty():
    X, y = classes(1500, drift=False)
    plain, full = (PredictionSets(AROWClassifier(), coverage=0.5, nonempty=one) for one in (False, True))
    for start in range(0, len(y), 10):
        for sets in (plain, full):
            sets.partial_fit(X[start : start + 10], y[start : start + 10])
    assert not plain.predict_set(X).any(axis=1).all()
    assert full.predict_set(X).any(axis=1).all()
    assert full.coverage_.covered > 0.6 > plain.coverage_.covered
    assert full.coverage_.holds


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, csr_array], ids=["array", "frame", "sparse"])
def test_rows_of_one_long_call_are_predicted_before_they_are_learned(form):
    """The rows of the first call were not evaluated, and those of later calls by an old model."""
    X, y = classes(1000, drift=False)
    weight = np.ones(1000)
    at_once = PredictionSets(AROWClassifier()).partial_fit(form(X), y, sample_weight=weight)
    in_groups = PredictionSets(AROWClassifier())
    for start in range(0, 1000, 32):
        in_groups.partial_fit(form(X[start : start + 32]), y[start : start + 32])
    assert at_once.coverage_ == in_groups.coverage_
    assert at_once.coverage_.rounds == 1000 - 32
    np.testing.assert_array_equal(at_once.model.coef_, AROWClassifier().partial_fit(form(X), y).coef_)


def test_wrappers_show_their_model_and_parameters():
    expected = "PredictionSets(AROWClassifier(), coverage=0.8, rate=0.03, by_class=False, nonempty=False)"
    assert repr(PredictionSets(AROWClassifier(), coverage=0.8)) == expected


def test_a_frozen_model_is_calibrated():
    X, y = classes(1200, drift=False)
    model = LogisticRegression().fit(X[:200], y[:200])
    sets = PredictionSets(model, coverage=0.9).observe(X[200:], y[200:])
    assert abs(sets.coverage_.covered - 0.9) < 0.01
    with pytest.raises(TypeError, match="observe"):
        sets.partial_fit(X, y)


def test_models_without_probabilities_are_refused():
    with pytest.raises(TypeError, match="predict_proba"):
        PredictionSets(SGDClassifier(loss="hinge"))
    with pytest.raises(TypeError, match="learn_one"):
        PredictionSets(object())


@pytest.mark.parametrize("asymmetric", [False, True])
@pytest.mark.parametrize(
    "model", [PassiveAggressiveRegressor(), SGDRegressor(random_state=0)], ids=lambda m: type(m).__name__
)
def test_intervals_of_matrices(model, asymmetric):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.exponential(size=2000) * (1 + (np.arange(2000) > 1000))
    intervals = Intervals(model, coverage=0.8, asymmetric=asymmetric)
    for start in range(0, len(y), 10):
        intervals.partial_fit(X[start : start + 10], y[start : start + 10])
    report = intervals.coverage_
    assert abs(report.covered - 0.8) <= report.bound
    assert abs(report.covered - 0.8) < 0.02
    assert 0 < report.size < 20
    low, high = intervals.predict_interval(X).T
    assert 0.7 < np.mean((low <= y) & (y <= high)) <= 1


def test_intervals_of_records():
    rng = np.random.default_rng(0)
    ours, theirs = Intervals(stream.PassiveAggressiveRegressor()), Intervals(linear_model.LinearRegression())
    for _ in range(1000):
        x = {"a": float(rng.standard_normal())}
        y = 3 * x["a"] + float(rng.standard_normal())
        ours.learn_one(x, y)
        theirs.learn_one(x, y)
    for intervals in (ours, theirs):
        assert abs(intervals.coverage_.covered - 0.9) < 0.02
        low, high = intervals.predict_interval_one({"a": 1.0})
        assert low < intervals.predict_one({"a": 1.0}) < high


def test_an_outlier_does_not_widen_intervals_for_long():
    intervals = Intervals(stream.PassiveAggressiveRegressor(C=1e-9))
    rng = np.random.default_rng(0)
    for t in range(1500):
        intervals.learn_one({"a": 1.0}, 1e200 if t == 500 else float(rng.standard_normal()))
    low, high = intervals.predict_interval_one({"a": 1.0})
    assert high - low < 10
