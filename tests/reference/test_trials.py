"""The compiled round equals the NumPy reference for trials of several half-spaces."""

from math import inf

import numpy as np
import pytest

from onmargin import reference
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.geometries.trials import Blocks, Thresholds
from onmargin._core.steps.step import Projection
from onmargin._core.tasks.task import Multiclass
from onmargin._core.tasks.trial import Block, Ordinal, Ranking
from onmargin.learner import Learner, as_rows
from tests.streams import CONTAINERS, uneven_weights
from tests.trials import PAIR_STEPS, STEPS, UPDATES, core_step, offsets, some_trials, twin_step

TOLERANCE = {np.float64: 1e-8, np.float32: 2e-4}


def assert_totals(learner, run, tolerance, *left_out):
    totals = dict(learner.totals)
    for name in totals.keys() - set(left_out):
        assert totals[name] == pytest.approx(getattr(run, name), rel=tolerance, abs=tolerance), name


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sets", [1, 3])
@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("update", UPDATES)
def test_blocks(*, update, C, sets, dtype, container):
    trials = some_trials(1, most_sets=sets, dtype=dtype)
    weight = uneven_weights(len(trials.ends) - 1)
    bias = 0.5
    learner = Learner(Block(), core_step(update, C), Blocks(9, 1, dtype, bias=bias, average=1))
    rows = as_rows(CONTAINERS[container](trials.X))
    learner.learn(rows, trials.y, weight, trials=trials.ends, targets=trials.ends)
    run = reference.play_trials(
        trials.matrices(bias), trials.labels(), reference.block(), twin_step(update, C), weight=weight
    )
    tolerance = TOLERANCE[dtype]
    np.testing.assert_allclose(learner.geometry.weights[0], run.weights[:-1], atol=tolerance)
    np.testing.assert_allclose(learner.geometry.intercept, bias * run.weights[-1], atol=tolerance)
    np.testing.assert_allclose(learner.geometry.mean()[0][0], run.mean[:-1], atol=tolerance)
    assert_totals(learner, run, tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ranks", [2, 5])
@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("update", UPDATES)
def test_ordinal(*, update, C, ranks, dtype):
    random = np.random.default_rng(ranks)
    X = random.standard_normal((60, 6)).astype(dtype)
    y = np.clip(np.round(X @ random.standard_normal(6) + ranks / 2), 0, ranks - 1).astype(np.float64)
    learner = Learner(Ordinal(), core_step(update, C), Thresholds(6, ranks - 1, dtype, bias=1.0, average=1))
    learner.learn(as_rows(X), y)
    trials, labels = zip(
        *(reference.ordinal_trial(x.astype(np.float64), int(rank), ranks) for x, rank in zip(X, y, strict=True)),
        strict=True,
    )
    run = reference.play_trials(trials, labels, reference.block(), twin_step(update, C))
    tolerance = TOLERANCE[dtype]
    np.testing.assert_allclose(learner.geometry.weights[0], run.weights[:6], atol=tolerance)
    np.testing.assert_allclose(-learner.geometry.intercept, run.weights[6:], atol=tolerance)
    np.testing.assert_allclose(-learner.geometry.mean()[1], run.mean[6:], atol=tolerance)
    assert_totals(learner, run, tolerance, "cost")


def test_ordinal_cost_is_the_distance_of_the_ranks():
    X = np.array([[1.0], [1.0], [1.0]])
    learner = Learner(Ordinal(), Projection(), Thresholds(1, 3, np.float64, bias=1.0))
    learner.geometry.assign([[1.0]], [-0.5, -2.0, -3.0])  # one threshold below the score of 1
    learner.learn(as_rows(X), np.array([1.0, 3.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    assert learner.totals.cost == 0
    learner.geometry.assign([[1.0]], [-0.5, -2.0, -3.0])
    learner.learn(as_rows(X), np.array([1.0, 3.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    assert learner.totals.cost == 2
    assert learner.task.decode(np.array([[1.0, -1.0, 2.0], [1.0, 1.0, 0.0]])).tolist() == [1, 3]


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("update", UPDATES)
def test_class_features(*, update, C, dtype, container):
    """Trials have any number of classes; some classes have the features of the right one."""
    trials = some_trials(2, dtype=dtype)
    lengths = np.diff(trials.ends)
    y = np.random.default_rng(0).integers(0, lengths).astype(np.float64)
    learner = Learner(Multiclass(every=True), core_step(update, C), Blocks(9, 1, dtype))
    learner.learn(as_rows(CONTAINERS[container](trials.X)), y, trials=trials.ends)
    keep = lengths > 1
    matrices = [m for m, more in zip(trials.matrices(), keep, strict=True) if more]
    run = reference.play_trials(matrices, y[keep], reference.rivals, twin_step(update, C))
    np.testing.assert_allclose(learner.geometry.weights[0], run.weights[:-1], atol=TOLERANCE[dtype])
    assert_totals(learner, run, TOLERANCE[dtype], "rounds", "cost", "max_squared_norm")


def label_sets(random, n, labels, *, empty):
    sizes = random.integers(0 if empty else 1, labels + empty, n)
    return [np.sort(random.permutation(labels)[:size]).astype(np.float64) for size in sizes]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("labels", [2, 5, 12])
@pytest.mark.parametrize("C", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("calibrated", [False, True])
@pytest.mark.parametrize("update", [update for update in UPDATES if update != "exact"])
def test_label_ranking(*, update, calibrated, C, labels, dtype):
    """The core never lists the pairs; the twin lists them all."""
    random = np.random.default_rng(labels)
    X = random.standard_normal((50, 6)).astype(dtype)
    y = label_sets(random, 50, labels, empty=True)
    columns = labels + calibrated
    step = Projection(cap=C) if update == "max" else PAIR_STEPS[update](C)
    learner = Learner(Ranking(every=update != "max", calibrated=calibrated), step, Euclidean(6, columns, dtype))
    learner.learn(as_rows(X), np.concatenate(y), targets=offsets(map(len, y)))
    run = reference.play(
        X.astype(np.float64),
        y,
        reference.label_ranking(calibrated=calibrated)
        if update == "max"
        else reference.label_pairs(calibrated=calibrated),
        reference.pa1(C) if update == "max" else STEPS[update][1](C),
        columns=columns,
        total=max,
    )
    np.testing.assert_allclose(learner.geometry.weights, run.weights.T, atol=TOLERANCE[dtype])
    assert_totals(learner, run, TOLERANCE[dtype])


@pytest.mark.parametrize("C", [0.02, 0.3, 5.0, inf])
@pytest.mark.parametrize("labels", [2, 5, 8])
def test_exact_label_ranking(labels, C):
    """Sopopo's closed form is the optimum of the program over all pairs."""
    random = np.random.default_rng(labels)
    X = random.standard_normal((40, 6))
    y = label_sets(random, 40, labels, empty=False)
    y = [some if len(some) < labels else some[1:] for some in y]
    learner = Learner(Ranking(every=True), PAIR_STEPS["exact"](C), Euclidean(6, labels, np.float64))
    learner.learn(as_rows(X), np.concatenate(y), targets=offsets(map(len, y)))
    run = reference.play_trials(
        [np.kron(np.eye(labels), x) for x in X], y, reference.label_pairs(), reference.joint(min(C, 1e6))
    )
    np.testing.assert_allclose(learner.geometry.weights.ravel(), run.weights, atol=1e-7)
    assert_totals(learner, run, 1e-7, "cost", "max_squared_norm")
