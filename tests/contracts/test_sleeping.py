"""Sleeping experts in the public API: all interfaces, files, any split of a stream, and drift."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import onmargin
from onmargin import AutoClassifier, AutoRegressor, PassiveAggressiveClassifier, river, stream
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.several.geometries import WithAverage
from onmargin._core.tasks.task import Binary
from onmargin.models.ensemble import combination

ROWS = np.random.default_rng(0).normal(size=(1800, 3))
CURVED = ROWS[:, 0] * ROWS[:, 1] > 0  # linear experts cannot learn it, and fall asleep
SQUARES = (ROWS**2).sum(axis=1)
PARTS = (slice(0, 100), slice(100, 1331), slice(1331, 1800))


def same(one, other):
    a, b = one.experts_, other.experts_
    for name in ("mistakes", "loss", "weights", "charged", "slept", "asleep"):
        assert_array_equal(getattr(a, name), getattr(b, name))
    assert (a.mixed_loss, a.regret_bound) == (b.mixed_loss, b.regret_bound)


@pytest.mark.parametrize(("learner", "y"), [(AutoClassifier, CURVED), (AutoRegressor, SQUARES)])
def test_experts_fall_asleep_however_the_stream_is_cut_saved_and_copied(learner, y, tmp_path):
    whole, parts = learner().partial_fit(ROWS, y), learner()
    for part in PARTS:
        parts.partial_fit(ROWS[part], y[part])
        onmargin.save(parts, tmp_path / "model")
        parts = pickle.loads(pickle.dumps(onmargin.load(tmp_path / "model")))
        assert_array_equal(parts.predict(ROWS[:9]), onmargin.load(tmp_path / "model").predict(ROWS[:9]))
    found = whole.experts_
    assert found.asleep.any()
    assert found.slept.max() > 200
    assert not found.asleep[found.leader]
    assert not found.weights[found.asleep].any()
    assert found.mixed_loss <= found.lost.min() + found.regret_bound
    assert "asleep" in repr(found)
    same(whole, parts)
    assert_array_equal(whole.predict(ROWS), parts.predict(ROWS))


@pytest.mark.parametrize(
    ("kind", "y"), [("AutoClassifier", CURVED), ("AutoRegressor", SQUARES)], ids=["classes", "numbers"]
)
def test_streams_and_river_sleep_alike(kind, y):
    estimator = getattr(onmargin, kind)().partial_fit(ROWS, y)
    one = getattr(stream, kind)()
    for row, target in zip(ROWS, y.tolist(), strict=True):
        one.learn_one(row, target)
    same(estimator, one)
    records = [dict(zip("abc", row, strict=True)) for row in ROWS.tolist()]
    by_name, of_river = getattr(stream, kind)(), getattr(river, kind)()
    for record, target in zip(records, y.tolist(), strict=True):
        by_name.learn_one(record, target)
        of_river.learn_one(record, target)
    assert by_name.experts_.slept.any()
    same(by_name, getattr(of_river, "model", of_river))


@pytest.mark.parametrize("rows", [ROWS, csr_array(ROWS)], ids=["dense", "sparse"])
def test_sleeping_experts_neither_learn_nor_score(rows):
    y = np.digitize(ROWS[:, 0] * ROWS[:, 1], [-0.3, 0.3])
    model = AutoClassifier(experts="linear" if hasattr(rows, "indptr") else "all").partial_fit(rows, y)
    model = AutoClassifier().partial_fit(ROWS, CURVED) if not model.experts_.asleep.any() else model
    before = model.experts_
    model.partial_fit(ROWS[:1], CURVED[:1])
    after = model.experts_
    still = before.asleep & after.asleep
    assert still.any()
    for m in np.flatnonzero(still):
        if before.coef[m] is not None and "standardized" not in before.names[m]:
            assert_array_equal(before.coef[m], after.coef[m])
        assert after.slept[m] == before.slept[m] + 1
        assert after.mistakes[m] == before.mistakes[m]


def test_sleeping_can_be_turned_off_and_on_at_any_time():
    model = AutoClassifier(sleeping=False).partial_fit(ROWS, CURVED)
    assert not model.experts_.slept.any()
    model.set_params(sleeping=True).partial_fit(ROWS, CURVED)
    slept = model.experts_
    assert slept.asleep.any()
    same_model = pickle.loads(pickle.dumps(model))
    model.set_params(sleeping=False).partial_fit(ROWS[:50], CURVED[:50])
    same_model.set_params(sleeping=False).partial_fit(ROWS[:50], CURVED[:50])
    awake = model.experts_
    same(model, same_model)
    for m in np.flatnonzero([weights is not None for weights in awake.coef]):
        assert_array_equal(awake.coef[m], same_model.experts_.coef[m])
    assert not awake.asleep.any()
    assert_array_equal(awake.slept, slept.slept)
    assert awake.mixed_loss <= awake.lost.min() + awake.regret_bound


def test_no_expert_sleeps_with_the_leader_rule():
    assert not AutoClassifier(combine="leader").partial_fit(ROWS, CURVED).experts_.slept.any()


def test_grids_of_c_do_not_sleep():
    model = PassiveAggressiveClassifier(C="auto", combine="hedge").partial_fit(ROWS, CURVED)
    assert not model.grid_.slept.any()


def test_new_classes_and_retiring_work_with_sleeping_experts():
    model = AutoClassifier().partial_fit(ROWS, CURVED.astype(int))
    lost = model.experts_.lost
    model.partial_fit(ROWS, CURVED + (ROWS[:, 2] > 1))
    assert (model.experts_.lost >= lost).all()
    model.retire(3)
    assert not model.experts_.asleep.any()
    model.partial_fit(ROWS, CURVED + (ROWS[:, 2] > 1))
    assert model.experts_.mixed_loss <= model.experts_.lost.min() + model.experts_.regret_bound


@pytest.mark.parametrize("seed", range(2))
def test_experts_wake_where_the_stream_changes(seed):
    """A curved concept becomes linear: the errors after the change are about the same with and without sleep."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(3000, 3))
    turned = np.arange(3000) >= 1400
    y = np.where(turned, rows[:, 0] > 0, rows[:, 0] * rows[:, 1] > 0)
    wrong = []
    for sleeping in (True, False):
        model = AutoClassifier(sleeping=sleeping).partial_fit(rows[:1400], y[:1400])
        before = model.totals_.mistakes
        asleep = model.experts_.asleep
        assert asleep.any() == sleeping
        model.partial_fit(rows[1400:], y[1400:])
        wrong.append(model.totals_.mistakes - before)
        assert not (asleep & model.experts_.asleep).all()
    assert wrong[0] < 1.15 * wrong[1] + 5


def test_averages_of_version_0_1_sleep_with_their_weights():
    geometry = WithAverage(Euclidean(2, 1, np.float64, average=1))
    tasks = [Binary(), Binary()]
    task = combination(geometry, tasks, Binary(), None, width=1, hedge=True, by_loss=False, sleeping=True)
    assert_array_equal(task.settings()["groups"], [0, 0])
