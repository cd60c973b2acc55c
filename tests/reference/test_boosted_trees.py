"""Boosted trees: the core equals the NumPy reference."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from onmargin import AutoClassifier, AutoRegressor, reference
from onmargin._core.geometries.boosted_trees import BoostedTrees
from onmargin._core.steps.step import Residual
from onmargin._core.tasks.task import Indicators
from onmargin.learner import Learner, as_rows
from tests.reference.test_forest import CASES, LABELS, SIGNS, WEIGHT, X, scores_before
from tests.streams import CONTAINERS


def learner(task, columns, features=4, dtype=np.float64, n_kept=4096):
    return Learner(task, Residual(), BoostedTrees(features, columns, dtype, n_kept))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("container", "dtype"), [("dense", np.float64), ("csr_array", np.float32)])
def test_scores_are_those_of_the_twin(case, container, dtype):
    """Also after the first kept rows were replaced, and in the third round of boosting."""
    task, y, targets = CASES[case]
    rows = X[:220].astype(dtype)
    model = learner(task, targets.shape[1], dtype=dtype, n_kept=90)
    wanted, changes = reference.boosted_trees(rows, targets[:220], WEIGHT[:220], kept=90)
    found = scores_before(model, rows, y[:220], WEIGHT[:220], container)
    assert_allclose(found, wanted, rtol=1e-5, atol=1e-5 * np.abs(targets).max())
    assert not changes
    assert model.geometry.grown > 128


def test_trees_try_some_of_many_features():
    rows = np.random.default_rng(1).normal(size=(150, 20)).round(1)
    y = np.sign(rows[:, 3] + rows[:, 7])
    y[y == 0] = 1
    wanted, _ = reference.boosted_trees(rows, y[:, None])
    assert_allclose(scores_before(learner(Indicators(), 1, features=20), rows, y), wanted, rtol=1e-5, atol=1e-5)


def test_boosting_starts_again_where_the_concept_changes():
    y = np.where(np.arange(256) < 160, SIGNS[:256], -SIGNS[:256])
    model = learner(Indicators(), 1)
    wanted, changes = reference.boosted_trees(X[:256], y[:, None])
    assert_allclose(scores_before(model, X[:256], y), wanted, rtol=1e-5, atol=1e-5)
    assert changes == [192]
    assert model.geometry.first == 160


def test_they_learn_what_a_mean_of_trees_does_not():
    """Such as a sum of smooth effects."""
    random = np.random.default_rng(0)
    rows = random.random((4000, 6))
    y = 10 * np.sin(np.pi * rows[:, 0] * rows[:, 1]) + 20 * (rows[:, 2] - 0.5) ** 2 + 10 * rows[:, 3] + 5 * rows[:, 4]
    model = AutoRegressor(sleeping=False).partial_fit(rows, y + random.normal(size=4000))
    results = model.experts_
    errors = results.loss[[results.names.index(name) for name in ("boosted trees", "forest", "ridge, standardized")]]
    assert errors[0] < min(errors[1:])


def test_calls_and_copies_go_on_as_before():
    for cuts in ([150], [7, 64, 65, 100, 140]):
        whole, parts = learner(Indicators(), 3), learner(Indicators(), 3)
        whole.learn(as_rows(X[:200]), LABELS[:200])
        for some, labels in zip(np.split(X[:200], cuts), np.split(LABELS[:200], cuts), strict=True):
            parts = pickle.loads(pickle.dumps(parts))
            parts.learn(as_rows(some), labels)
        assert_array_equal(whole.scores(as_rows(X)), parts.scores(as_rows(X)))
        assert_array_equal(whole.geometry.sums, parts.geometry.sums)


def test_new_features_go_on_as_before():
    whole, parts = learner(Indicators(), 1), learner(Indicators(), 1, features=3)
    rows = X[:200].copy()
    rows[:100, 3] = 0
    whole.learn(as_rows(rows), SIGNS[:200])
    parts.learn(as_rows(np.ascontiguousarray(rows[:100, :3])), SIGNS[:100])
    parts.geometry = parts.geometry.resize(4)
    parts.learn(as_rows(rows[100:]), SIGNS[100:200])
    assert_array_equal(whole.scores(as_rows(X)), parts.scores(as_rows(X)))


def test_features_that_are_left_out_are_zero():
    model = learner(Indicators(), 1)
    model.learn(as_rows(X), SIGNS)
    rows = X[:100].copy()
    rows[:, 1:] = 0
    wanted = model.scores(as_rows(rows))
    model.geometry = model.geometry.resize(1)
    assert_array_equal(model.scores(as_rows(np.ascontiguousarray(rows[:, :1]))), wanted)


def test_a_new_class_keeps_the_sums_of_the_others():
    model = AutoClassifier().partial_fit(X[:200], SIGNS[:200])
    later = model.partial_fit(X[200:400], LABELS[200:400] + 5)
    assert later.experts_.mistakes[later.experts_.names.index("boosted trees")] < 250
    assert_array_equal(pickle.loads(pickle.dumps(later)).decision_function(X[200:]), later.decision_function(X[200:]))


def test_rows_without_variation_have_the_mean_target():
    for rows in (np.ones((80, 4)), np.zeros((80, 0))):
        model = learner(Indicators(), 1, features=rows.shape[1])
        model.learn(as_rows(rows), np.tile([1.0, 1.0, -1.0, 1.0], 20))
        assert model.scores(as_rows(rows[:1]))[0, 0] == pytest.approx(0.5, abs=0.2)


@pytest.mark.parametrize("container", ["csr_array"])
def test_dense_and_sparse_rows_are_the_same(container):
    dense, sparse = learner(Indicators(), 1), learner(Indicators(), 1)
    dense.learn(as_rows(X), SIGNS)
    sparse.learn(as_rows(CONTAINERS[container](X)), SIGNS)
    assert_array_equal(dense.scores(as_rows(X)), sparse.scores(as_rows(X)))


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("n_built", 65),
        ("side", 2),
        ("complete", -1),
        ("owed", -1),
        ("values", np.zeros((2, 2))),
        ("cuts", np.zeros((3, 31), np.float32)[:, ::-1] - np.arange(31, dtype=np.float32)),
        ("cuts", np.full((3, 31), np.nan, np.float32)),
        ("tested", np.full((2, 64, 47), 3, np.int32)),
        ("children", np.full((2, 64, 47), 46, np.int32)),
        ("children", np.full((2, 64, 47), -24, np.int32)),
    ],
)
def test_states_that_do_not_fit_are_refused(word, value):
    geometry = BoostedTrees(3, 1, np.float64)
    with pytest.raises(ValueError, match=word):
        geometry.__setstate__(geometry.state() | {word: value})
