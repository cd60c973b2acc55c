"""Prediction sets for examples with several labels cover all labels with the requested frequency."""

import numpy as np
import pytest
from river import linear_model, multioutput
from scipy.sparse import csr_array
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier

from onmargin import LabelRanker, stream
from onmargin.confidence import PredictionSets


def labeled(n=800, n_labels=4):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 5))
    return X, (X @ rng.standard_normal((5, n_labels)) + rng.logistic(size=(n, n_labels)) > 0.5).astype(int)


def check(report, n, coverage=0.8):
    assert report.rounds == n
    assert abs(report.covered - coverage) <= report.bound
    assert abs(report.covered - coverage) < 0.02
    assert 0.5 < report.size < 4


@pytest.mark.parametrize("form", ["indicator", "sparse", "sets"])
def test_ranker_of_matrices(form):
    X, Y = labeled()
    sets = PredictionSets(LabelRanker(), coverage=0.8)
    for start in range(0, len(X), 10):
        some = Y[start : start + 10]
        lists = [{*np.flatnonzero(row).tolist()} for row in some]
        sets.partial_fit(
            X[start : start + 10], {"indicator": some, "sparse": csr_array(some), "sets": lists}[form], classes=range(4)
        )
    check(sets.coverage_, np.count_nonzero(Y[10:].any(axis=1)))
    members = sets.predict_set(X)
    assert members.shape == Y.shape
    assert np.mean((members >= Y).all(axis=1)) > 0.7


def test_multilabel_classifier_of_scikit_learn():
    X, Y = labeled()
    sets = PredictionSets(OneVsRestClassifier(SGDClassifier(loss="log_loss", random_state=0)), coverage=0.8)
    sets.model.fit(X[:200], Y[:200])
    sets.observe(X[200:], Y[200:])
    check(sets.coverage_, np.count_nonzero(Y[200:].any(axis=1)))


@pytest.mark.parametrize("by_class", [False, True])
def test_records(by_class):
    X, Y = labeled()
    ours = PredictionSets(stream.LabelRanker(), coverage=0.8, by_class=by_class)
    chain = multioutput.ClassifierChain(linear_model.LogisticRegression(), order=["0", "1", "2", "3"])
    theirs = PredictionSets(chain, coverage=0.8, by_class=by_class)
    for x, row in zip(X, Y.tolist(), strict=True):
        record = {f"x{k}": value for k, value in enumerate(x.tolist())}
        ours.learn_one(record, {str(k) for k in range(4) if row[k]})
        theirs.learn_one(record, {str(k): bool(row[k]) for k in range(4)})
    for sets in (ours, theirs):
        report = sets.coverage_
        assert abs(report.covered - 0.8) <= report.bound
        if by_class:
            assert {*sets.class_coverage_} == {"0", "1", "2", "3"}
            assert all(abs(one.covered - 0.8) <= one.bound for one in sets.class_coverage_.values())
        assert {*sets.predict_set_one(record)} <= {"0", "1", "2", "3"}


def test_an_example_without_labels_is_not_counted():
    sets = PredictionSets(stream.LabelRanker())
    sets.learn_one({"a": 1.0}, {"x"}).learn_one({"b": 1.0}, {"y"})
    rounds = sets.coverage_.rounds
    sets.learn_one({"a": 1.0}, set())
    assert sets.coverage_.rounds == rounds
