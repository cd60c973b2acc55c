"""The forest: the core equals the NumPy reference."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from onmargin import AutoClassifier, AutoRegressor, reference, stream
from onmargin._core.geometries.forest import Forest
from onmargin._core.steps.step import Residual
from onmargin._core.tasks.task import Indicators, Regression
from onmargin.learner import Learner, as_rows
from onmargin.models.ensemble import find_members
from tests.streams import CONTAINERS

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(600, 4)) * (RANDOM.random((600, 4)) < 0.8)
LABELS = ((X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)).astype(float)
SIGNS = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
WEIGHT = RANDOM.choice([0.5, 1.0, 4.0], 600)
CASES = {
    "two classes": (Indicators(), SIGNS, SIGNS[:, None]),
    "three classes": (Indicators(), LABELS, (LABELS[:, None] == np.arange(3)).astype(float)),
    "numbers": (Regression(0.0), 100 * X[:, 2] ** 2, 100 * X[:, 2:3] ** 2),
}


def learner(task, columns, features=4, dtype=np.float64, n_kept=4096):
    return Learner(task, Residual(), Forest(features, columns, dtype, n_kept))


def scores_before(model, rows, y, weight=None, container="dense"):
    """Return the scores of each row before it is learned."""
    found = []
    for t in range(len(rows)):
        row = as_rows(CONTAINERS[container](rows[t : t + 1]))
        found.append(model.scores(row)[0])
        model.learn(row, y[t : t + 1], None if weight is None else weight[t : t + 1])
    return np.array(found)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("container", "dtype"), [("dense", np.float64), ("csr_array", np.float32)])
def test_scores_are_those_of_the_twin(case, container, dtype):
    """Also after the first kept rows were replaced."""
    task, y, targets = CASES[case]
    rows = X[:150].astype(dtype)
    model = learner(task, targets.shape[1], dtype=dtype, n_kept=70)
    wanted, changes = reference.forest(rows, targets[:150], WEIGHT[:150], kept=70)
    found = scores_before(model, rows, y[:150], WEIGHT[:150], container)
    assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    assert not changes
    assert model.geometry.clock == 150


@pytest.mark.full
@pytest.mark.parametrize("case", CASES)
def test_scores_of_a_longer_stream(case):
    task, y, targets = CASES[case]
    wanted, _ = reference.forest(X, targets)
    assert_allclose(scores_before(learner(task, targets.shape[1]), X, y), wanted, rtol=1e-5, atol=1e-5)


def test_earlier_rows_are_dropped_where_the_concept_changes():
    y = np.where(np.arange(256) < 160, SIGNS[:256], -SIGNS[:256])
    model = learner(Indicators(), 1)
    wanted, changes = reference.forest(X[:256], y[:, None])
    assert_allclose(scores_before(model, X[:256], y), wanted, rtol=1e-5, atol=1e-5)
    assert changes == [192]
    assert model.geometry.first == 160
    assert model.geometry.dropped > 0


def test_a_forest_learns_boxes():
    """Boundaries parallel to the axes, one more feature that does not matter."""
    random = np.random.default_rng(1)
    rows = random.random((3000, 5)) * [1, 1000, 1e-3, 1e20, 1]
    box = (rows[:, 0] > 0.3) & (rows[:, 1] < 600) & (rows[:, 3] > 0.2e20)
    model = learner(Indicators(), 1, features=5)
    model.learn(as_rows(rows), np.where(box, 1.0, -1.0))
    assert model.totals.mistakes < 120


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


def test_features_that_are_left_out_are_zero():
    model = learner(Indicators(), 1)
    model.learn(as_rows(X), SIGNS)
    rows = X[:100].copy()
    rows[:, 1:] = 0
    wanted = model.scores(as_rows(rows))
    model.geometry = model.geometry.resize(1)
    assert_array_equal(model.scores(as_rows(np.ascontiguousarray(rows[:, :1]))), wanted)


def test_a_new_class_keeps_the_targets_of_the_others():
    model = AutoClassifier().partial_fit(X[:200], SIGNS[:200])
    later = model.partial_fit(X[200:400], LABELS[200:400] + 5)
    results = later.experts_
    m = results.names.index("forest")
    assert results.coef[m] is None
    assert results.mistakes[m] < 200
    assert_array_equal(pickle.loads(pickle.dumps(later)).decision_function(X[200:]), later.decision_function(X[200:]))


def test_later_passes_learn_nothing():
    once, often = (AutoClassifier(max_iter=n, tol=None, random_state=0).fit(X[:60], SIGNS[:60]) for n in (1, 4))
    one, other = (forest_of(model) for model in (once, often))
    assert_array_equal(one.rows, other.rows)
    assert_array_equal(one.sums, other.sums)


def forest_of(model):
    return next(found.leaf for found in find_members(model._learner.geometry, 1) if type(found.leaf) is Forest)


def test_it_forgets_only_what_it_does_not_use():
    """Otherwise it would be called forgetful wherever it leads."""
    model = learner(Indicators(), 1, n_kept=100)
    model.learn(as_rows(X[:100]), SIGNS[:100])
    assert not model.geometry.forgot
    model.learn(as_rows(X[100:101]), SIGNS[100:101])
    assert model.geometry.forgot
    auto = AutoClassifier().partial_fit(X, SIGNS)
    assert not auto.experts_.forgets[auto.experts_.names.index("forest")]
    assert auto.experts_.forgets.any()


def test_equal_rows_and_rows_without_features():
    for rows in (np.ones((40, 4)), np.zeros((40, 0))):
        model = learner(Indicators(), 1, features=rows.shape[1])
        model.learn(as_rows(rows), np.tile([1.0, 1.0, -1.0, 1.0], 10))
        assert model.scores(as_rows(rows[:1]))[0, 0] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("rows", np.zeros((2, 2))),
        ("clock", -1),
        ("first", 5),
        ("dropped", 5),
        ("tested", np.full((24, 4096), 3, np.int32)),
        ("tested", np.full((24, 4096), -1, np.int32)),
        ("children", np.full((24, 4096), 4095, np.int32)),
        ("children", np.full((24, 4096), 1, np.int32)),
        ("children", np.full((24, 4096), -1, np.int32)),
    ],
)
def test_states_that_do_not_fit_are_refused(word, value):
    geometry = Forest(3, 1, np.float64)
    with pytest.raises(ValueError, match=word):
        geometry.__setstate__(geometry.state() | {word: value})


@pytest.mark.parametrize(("learns", "y"), [(AutoClassifier, SIGNS), (AutoRegressor, X[:, 2] ** 2)])
def test_the_forest_is_an_expert_on_tables(learns, y):
    model = learns().partial_fit(X, y)
    assert "forest" in model.experts_.names
    assert "forest" not in learns(experts="linear").partial_fit(X, y).experts_.names
    assert "forest" not in learns(drift=False).partial_fit(X, y).experts_.names
    assert "forest" not in learns().partial_fit(np.zeros((2, 1025)), y[:2]).experts_.names
    records = [dict(zip("abcd", row, strict=True)) for row in X[:300].tolist()]
    of_records = getattr(stream, learns.__name__)()
    of_records.learn_many(records, y[:300].tolist())
    of_rows = learns().partial_fit(X[:300], y[:300])
    lost = [one.experts_.lost[one.experts_.names.index("forest")] for one in (of_records, of_rows)]
    assert lost[0] == pytest.approx(lost[1], rel=0.1)
