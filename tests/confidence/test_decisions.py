"""Decisions follow the probabilities and the costs, and labels are requested for uncertain examples."""

import numpy as np
import pytest

from onmargin import AROWClassifier, stream
from onmargin.confidence import Decisions, SelectiveSampler


def data(n=1000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    return X, (2 * X[:, 0] + rng.logistic(size=n) > 0).astype(int)


def test_abstains_where_it_is_uncertain():
    X, y = data()
    decisions = Decisions(AROWClassifier(), abstain=0.2)
    for start in range(0, 1000, 10):
        decisions.partial_fit(X[start : start + 10], y[start : start + 10])
    p = decisions.model.predict_proba(X)
    labels = decisions.predict(X)
    assert [label is None for label in labels] == (1 - p.max(axis=1) > 0.2).tolist()
    report = decisions.report_
    assert report.rounds == 990
    assert 100 < report.abstained < 600
    decided = report.rounds - report.abstained
    assert report.mistakes / decided < 0.15
    assert report.cost == pytest.approx((report.mistakes + 0.2 * report.abstained) / report.rounds)


def test_cost_moves_the_threshold():
    X, y = data()
    model = AROWClassifier().partial_fit(X, y)
    decisions = Decisions(model, cost=[[0, 9], [1, 0]])
    assert decisions.threshold_ == 0.9
    np.testing.assert_array_equal(decisions.predict(X), model.predict_proba(X)[:, 1] > 0.9)


def test_records():
    X, y = data(300)
    decisions = Decisions(stream.AROWClassifier(), abstain=0.1)
    assert decisions.predict_one(X[0]) is None
    for x, label in zip(X, y.tolist(), strict=True):
        decisions.learn_one(x, label)
    found = [decisions.predict_one(x) for x in X]
    assert {None, 0, 1} == set(found)


def test_parameters_are_checked():
    with pytest.raises(ValueError, match="abstain must be None or a number"):
        Decisions(AROWClassifier(), abstain=-1)
    with pytest.raises(ValueError, match="b must be a number greater than 0"):
        SelectiveSampler(stream.AROWClassifier(), b=0)
    with pytest.raises(TypeError, match="scores_one"):
        SelectiveSampler(AROWClassifier())


def test_few_requested_labels_cost_few_mistakes():
    X, y = data(2000)
    mistakes = {}
    for b in (0.1, np.inf):
        sampler, wrong = SelectiveSampler(stream.AROWClassifier(), b=b), 0
        for x, label in zip(X, y.tolist(), strict=True):
            wrong += sampler.predict_one(x) != label
            if sampler.query_one(x):
                sampler.learn_one(x, label)
        mistakes[b] = wrong
        assert sampler.seen == 2000
        assert sampler.asked == sampler.model.totals_.rounds
        assert abs(sampler.asked - sampler.expected) < 4 * np.sqrt(sampler.expected) + 1
    assert sampler.asked == 2000
    assert mistakes[0.1] < 1.1 * mistakes[np.inf]


def test_uncertainty_requests_more_labels():
    X, y = data(500)
    sampler = SelectiveSampler(stream.AROWClassifier())
    assert sampler.probability_one(X[0]) == 1
    for x, label in zip(X, y.tolist(), strict=True):
        sampler.query_one(x)
        sampler.learn_one(x, label)
    margins = [abs(sampler.model.scores_one(x)[1]) for x in X]
    chances = [sampler.probability_one(x) for x in X]
    assert np.argmin(margins) == np.argmax(chances)
    assert np.argmax(margins) == np.argmin(chances)
