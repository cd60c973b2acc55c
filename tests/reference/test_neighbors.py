"""Nearest neighbors: the core equals the NumPy reference."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from onmargin import AutoClassifier, AutoRegressor, reference, stream
from onmargin._core.geometries.neighbors import Neighbors
from onmargin._core.steps.step import Residual
from onmargin._core.tasks.task import Indicators, Regression
from onmargin.learner import Learner, as_rows
from onmargin.models.ensemble import find_members
from tests.streams import CONTAINERS

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(1300, 4)) * (RANDOM.random((1300, 4)) < 0.8)
LABELS = ((X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)).astype(float)
SIGNS = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
WEIGHT = RANDOM.choice([0.5, 1.0, 4.0], 1300)
CASES = {
    "two classes": (Indicators(), SIGNS, SIGNS[:, None]),
    "three classes": (Indicators(), LABELS, (LABELS[:, None] == np.arange(3)).astype(float)),
    "numbers": (Regression(0.0), 100 * X[:, 2] ** 2, 100 * X[:, 2:3] ** 2),
}


def learner(task, columns, features=4, dtype=np.float64):
    return Learner(task, Residual(), Neighbors(features, columns, dtype))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_are_those_of_the_twin(case, container, dtype):
    """Also after the first kept rows were replaced; rows that are equal are a tie, which the twin breaks alike."""
    task, y, targets = CASES[case]
    rows = X.astype(dtype)
    model, found = learner(task, targets.shape[1], dtype=dtype), []
    wanted = reference.neighbors(rows, targets, WEIGHT)
    for part in (slice(0, 1), slice(1, 3), slice(3, 400), slice(400, 1299)):
        model.learn(as_rows(CONTAINERS[container](rows[part])), y[part], WEIGHT[part])
        found.append(model.scores(as_rows(CONTAINERS[container](rows[part.stop : part.stop + 1])))[0])
    assert_allclose(found, wanted[[1, 3, 400, 1299]], rtol=1e-4, atol=1e-4)
    assert_allclose(model.geometry.targets[:275], targets[1024:1299], atol=1e-9)


def test_all_scores_of_a_stream():
    task, y, targets = CASES["three classes"]
    model, wanted = learner(task, 3), reference.neighbors(X[:200], targets[:200])
    for t in range(200):
        assert_allclose(model.scores(as_rows(X[t : t + 1]))[0], wanted[t], rtol=1e-4, atol=1e-4)
        model.learn(as_rows(X[t : t + 1]), y[t : t + 1])


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_the_window_is_short_where_the_concept_changes_often(scale):
    """Labels change sides every 150 rows."""
    rows = np.random.default_rng(1).normal(size=(1200, 3)) * [3, 1, 1]
    y = np.where(rows[:, 0] > 0, scale, -scale) * (1 - 2 * (np.arange(1200) // 150 % 2))
    model, wanted = learner(Regression(0.0), 1, features=3), reference.neighbors(rows, y[:, None])
    found = []
    for t in range(1200):
        found.append(model.scores(as_rows(rows[t : t + 1]))[0])
        model.learn(as_rows(rows[t : t + 1]), y[t : t + 1])
    assert_allclose(found, wanted, rtol=1e-4, atol=1e-3 * scale)
    assert (wanted[300:, 0] * y[300:] <= 0).mean() < 0.35
    assert model.geometry.forgot
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.scores(as_rows(rows)), model.scores(as_rows(rows)))


def test_new_features_and_copies_go_on_as_before():
    whole, parts = learner(Indicators(), 1), learner(Indicators(), 1, features=3)
    rows = X[:100].copy()
    rows[:50, 3] = 0
    whole.learn(as_rows(rows), SIGNS[:100])
    parts.learn(as_rows(np.ascontiguousarray(rows[:50, :3])), SIGNS[:50])
    parts = pickle.loads(pickle.dumps(parts))
    parts.geometry = parts.geometry.resize(4)
    parts.learn(as_rows(rows[50:]), SIGNS[50:100])
    assert_array_equal(whole.scores(as_rows(X)), pickle.loads(pickle.dumps(parts)).scores(as_rows(X)))


def test_a_new_class_keeps_the_targets_of_the_others():
    model = AutoClassifier().partial_fit(X[:300], SIGNS[:300])
    later = model.partial_fit(X[300:600], LABELS[300:600] + 5)
    results = later.experts_
    m = results.names.index("nearest neighbors")
    assert results.coef[m] is None
    assert results.mistakes[m] < 420
    assert_array_equal(pickle.loads(pickle.dumps(later)).predict(X[300:]), later.predict(X[300:]))


def test_later_passes_keep_no_copies():
    once, often = (AutoClassifier(max_iter=n, tol=None, random_state=0).fit(X[:60], SIGNS[:60]) for n in (1, 4))
    one, other = (neighbors_of(model).rows for model in (once, often))
    assert_array_equal(one, other)


def neighbors_of(model):
    """Return the geometry of the neighbors."""
    return next(found.leaf for found in find_members(model._learner.geometry, 1) if type(found.leaf) is Neighbors)


def test_equal_rows_and_rows_of_zeros():
    model = learner(Indicators(), 1)
    model.learn(as_rows(np.zeros((20, 4))), np.tile([1.0, 1.0, -1.0, 1.0], 5))
    assert model.scores(as_rows(np.zeros((1, 4))))[0, 0] == pytest.approx(0.6)  # the first five
    assert model.geometry.clock == 20


@pytest.mark.parametrize("word", ["rows", "targets", "weights", "losses", "clock"])
def test_states_that_do_not_fit_are_refused(word):
    geometry = Neighbors(3, 1, np.float64)
    state = geometry.__reduce__()[2] | {word: -1 if word == "clock" else np.zeros((2, 2))}
    with pytest.raises(ValueError, match=word):
        geometry.__setstate__(state)


@pytest.mark.parametrize(("learns", "y"), [(AutoClassifier, SIGNS), (AutoRegressor, X[:, 2] ** 2)])
def test_neighbors_are_experts_on_standardized_tables(learns, y):
    model = learns().partial_fit(X * 100 + 5, y)
    assert "nearest neighbors" in model.experts_.names
    assert "nearest neighbors" not in learns(experts="linear").partial_fit(X, y).experts_.names
    assert "nearest neighbors" not in learns(drift=False).partial_fit(X, y).experts_.names
    assert "nearest neighbors" not in learns().partial_fit(np.zeros((2, 301)), y[:2]).experts_.names
    records = [dict(zip("abcd", row, strict=True)) for row in X[:300].tolist()]
    of_records = getattr(stream, learns.__name__)()
    of_records.learn_many(records, y[:300].tolist())
    of_rows = learns().partial_fit(X[:300], y[:300])
    lost = [one.experts_.lost[one.experts_.names.index("nearest neighbors")] for one in (of_records, of_rows)]
    assert lost[0] == pytest.approx(lost[1], rel=0.1)
