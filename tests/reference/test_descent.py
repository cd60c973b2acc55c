"""Gradient descent and batch conversion: the compiled steps equal the NumPy references, alone and as experts."""

from dataclasses import replace
from functools import cache
from math import nan

import numpy as np
import pytest
from numpy.testing import assert_allclose

from onmargin import AutoClassifier, PassiveAggressiveClassifier, reference
from onmargin._core.geometries.diagonal import Adaptive, GradientAdaptive
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.steps.step import Constant, Proportional, TargetLoss
from onmargin._core.tasks.task import Softmax
from onmargin.learner import Learner, as_rows
from tests.metrics import PHI
from tests.streams import CONTAINERS, TASKS, current, gaussian, uneven_weights

STEPS = {
    "proportional": (lambda: Proportional(0.02), lambda: reference.descent(0.02)),
    "constant": (lambda: Constant(0.1), lambda: reference.constant(0.1)),
    "target loss": (lambda: TargetLoss(0.5, 30), lambda: reference.target_loss(0.5, 30)),
}
# The task, its columns and the step: softmax returns gradients, which only descent can use.
CASES = [("softmax", columns, "proportional") for columns in (1, 3, 9)]
CASES += [("binary", 1, "constant"), ("multiclass", 5, "constant"), ("one_vs_rest", 5, "constant")]
CASES += [("regression", 1, "proportional"), ("binary", 1, "target loss"), ("multiclass", 5, "target loss")]
METRICS = {
    "adaptive": (Adaptive, reference.Adaptive),
    "by the gradient": (GradientAdaptive, reference.GradientAdaptive),
}
TOLERANCE = {np.float32: 1e-3, np.float64: 1e-10}


@cache
def case(task, columns, dtype):
    if task == "softmax":
        return gaussian("multiclass" if columns > 1 else "binary", columns, dtype=dtype), Softmax(), reference.softmax
    return gaussian(task, columns, dtype=dtype), *TASKS[task]


def with_bias(X, weight, bias=nan):
    """Return the learned rows, in double precision, with the intercept coordinate."""
    return reference.with_intercept(X[weight > 0].astype(np.float64), None if np.isnan(bias) else bias)


def assert_same(learner, run, tolerance, *left_out):
    coef, intercept = current(learner)
    assert_allclose(coef, run.weights[:-1].T, atol=tolerance)
    assert_allclose(intercept, learner.geometry.bias * run.weights[-1], atol=tolerance)
    mean, mean_intercept = learner.geometry.mean()
    assert_allclose(mean, run.mean[:-1].T, atol=tolerance)
    assert_allclose(mean_intercept, learner.geometry.bias * run.mean[-1], atol=tolerance)
    totals = dict(learner.totals)
    assert [totals[name] for name in ("rounds", "mistakes", "updates")] == [run.rounds, run.mistakes, run.updates]
    for name in {"loss", "squared_loss", "dual_value", "max_squared_norm"} - set(left_out):
        assert totals[name] == pytest.approx(getattr(run, name), rel=tolerance), name


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("for_sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("task", "columns", "step"), CASES)
def test_core_equals_twin(*, task, columns, step, dtype, for_sparse, container):
    stream, core_task, twin_task = case(task, columns, dtype)
    weight = uneven_weights(len(stream.y))
    geometry = Euclidean(stream.X.shape[1], columns, dtype, sparse=for_sparse, bias=nan, average=1)
    learner = Learner(core_task, STEPS[step][0](), geometry)
    learner.learn(as_rows(CONTAINERS[container](stream.X)), stream.y, weight)
    run = reference.play(
        with_bias(stream.X, weight),
        stream.y[weight > 0],
        twin_task,
        STEPS[step][1](),
        columns=columns,
        weight=weight[weight > 0],
        charge=reference.log_loss if task == "softmax" else None,
    )
    assert run.updates > 0
    assert_same(learner, run, TOLERANCE[dtype])


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("for_sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("task", "columns", "step"), CASES[:7])
def test_core_equals_twin_in_a_metric(*, task, columns, step, metric, dtype, for_sparse, container):
    """Descent does not compute the curvature, and without it there is no dual value in a metric."""
    stream, core_task, twin_task = case(task, columns, dtype)
    weight = uneven_weights(len(stream.y))
    kind, twin = METRICS[metric]
    geometry = kind(stream.X.shape[1], columns, dtype, sparse=for_sparse, bias=nan, average=1)
    learner = Learner(core_task, STEPS[step][0](), geometry)
    learner.learn(as_rows(CONTAINERS[container](stream.X)), stream.y, weight)
    X = with_bias(stream.X, weight)
    run = reference.play_metric(
        X,
        stream.y[weight > 0],
        twin_task,
        reference.in_metric(STEPS[step][1]()),
        twin(X.shape[1], columns),
        columns=columns,
        weight=weight[weight > 0],
        charge=reference.log_loss if task == "softmax" else None,
    )
    assert_same(learner, run, TOLERANCE[dtype], "dual_value")
    assert_allclose(geometry.metric, np.sqrt(run.metric.squares[:-1].T), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_descent_by_the_gradient_is_plain_adagrad(rate):
    """Two classes, logistic loss: G += (g x)^2, w -= rate g x / sqrt(G). Small slopes are left out, as in the core."""
    stream = gaussian("binary", 1)
    weight = uneven_weights(len(stream.y))
    learner = Learner(Softmax(), Proportional(rate), GradientAdaptive(stream.X.shape[1], 1, np.float64))
    learner.learn(as_rows(stream.X), stream.y, weight)
    w, G = np.zeros(stream.X.shape[1]), np.zeros(stream.X.shape[1])
    for x, y, importance in zip(stream.X, stream.y, weight, strict=True):
        slope = 1 / (1 + np.exp(y * (w @ x)))
        gradient = -importance * y * slope * x
        if slope > 1e-3 and importance > 0:
            G += gradient**2
            w -= rate * gradient / np.sqrt(np.where(G > 0, G, 1))
    assert_allclose(current(learner)[0][0], w, rtol=1e-9)


@pytest.mark.parametrize("scores", [[0.0], [5.0], [-800.0], [0.0, 0.0, 0.0], [3.0, -1.0, 2.0], [900.0, 0.0]], ids=str)
def test_softmax_is_the_gradient_of_the_log_loss(scores):
    scores = np.array(scores)
    for y in (-1, 1) if len(scores) == 1 else range(len(scores)):
        half_spaces, _ = reference.softmax(scores, y)
        gradient = -sum((h.loss * h.direction for h in half_spaces), np.zeros(len(scores)))
        for c, unit in enumerate(np.eye(len(scores))):
            ahead, behind = (reference.log_loss(scores + h * unit, y) for h in (1e-5, -1e-5))
            assert gradient[c] == pytest.approx((ahead - behind) / 2e-5, abs=1.1e-3)  # small ones are left out


@pytest.mark.parametrize("columns", [1, 4])
def test_predictions_of_softmax_are_those_of_the_highest_score(columns):
    scores = np.random.default_rng(0).standard_normal((20, columns))
    best = scores[:, 0] >= 0 if columns == 1 else scores.argmax(axis=1)
    np.testing.assert_array_equal(Softmax().decode(scores), best)


def assert_together(results, model, runs, y, *, hedge, scaling, weight=None):
    """Check that each model, the combined mistakes and the weights of the votes equal the reference."""
    for coef, intercept, run in zip(results.coef, results.intercept, runs, strict=True):
        assert_allclose(coef, run.weights[:-1].T, atol=1e-9)
        assert_allclose(intercept, scaling * run.weights[-1], atol=1e-9)
    together = reference.several(runs, y, hedge=hedge, ceiling=model._learner.task.ceiling, weight=weight)
    np.testing.assert_array_equal(results.mistakes, together.each)
    assert model.totals_.mistakes == together.mistakes
    if hedge:
        assert_allclose(results.weights, together.hedged.weights[-1], atol=1e-9)


@pytest.mark.parametrize("combine", ["leader", "hedge"])
@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize(("task", "columns"), [("binary", 1), ("multiclass", 4), ("one_vs_rest", 4)])
@pytest.mark.parametrize("weighted", [False, True])
def test_models_of_several_c_equal_their_twins(task, columns, container, combine, weighted):
    stream, grid = gaussian(task, columns), [0.01, 0.3, 1.0]
    strategy = "ovr" if task == "one_vs_rest" else "joint"
    model = PassiveAggressiveClassifier(C=grid, combine=combine, strategy=strategy)
    weight = np.random.default_rng(1).choice([0.1, 1.0, 5.0], len(stream.y)) if weighted else None
    y = stream.y.astype(int)
    model.partial_fit(CONTAINERS[container](stream.X), y, **stream.classes, sample_weight=weight)
    X = reference.with_intercept(stream.X)
    asked, options = TASKS[task][1], {"columns": columns, "weight": weight}
    targets = stream.y
    if weighted:
        asked, targets = reference.with_weights(asked), list(zip(stream.y.tolist(), weight.tolist(), strict=True))
    runs = [reference.play(X, targets, asked, reference.pa1(C), **options) for C in grid]
    scaling, hedge = model.intercept_scaling_, combine == "hedge"
    assert_together(model.grid_, model, runs, stream.y, hedge=hedge, scaling=scaling, weight=weight)


@pytest.mark.parametrize("combine", ["leader", "hedge"])
@pytest.mark.parametrize(("task", "columns"), [("binary", 1), ("multiclass", 4)])
def test_experts_for_sparse_rows_equal_their_twins(task, columns, combine):
    """All experts are compared, including hinge and logistic descent, and two classes in one block of memory.

    The first rows are of one class: if the most frequent classes were tied, rounding would decide.
    """
    stream = gaussian(task, columns)
    first = (stream.y == stream.y[0]) & (np.cumsum(stream.y == stream.y[0]) <= 30)
    order = np.argsort(~first, kind="stable")[:60]
    stream = replace(stream, X=stream.X[order], y=stream.y[order])
    model = AutoClassifier(combine=combine)
    model.partial_fit(CONTAINERS["csr_array"](stream.X), stream.y.astype(int), **stream.classes)
    X = reference.with_intercept(stream.X)
    margins = reference.binary if columns == 1 else reference.one_vs_rest
    sizes = X.shape[1], columns

    def run(ask, step, metric):
        return reference.play_metric(X, stream.y, ask, step, metric, columns=columns)

    runs = {
        "adaptive": run(margins, reference.projected(10.0), reference.Adaptive(*sizes)),
        "adaptive, hinge descent": run(
            margins, reference.in_metric(reference.constant(1.0)), reference.Adaptive(*sizes)
        ),
        "adaptive, logistic descent, rate=0.3": run(
            reference.softmax, reference.in_metric(reference.descent(0.3)), reference.GradientAdaptive(*sizes)
        ),
        "adaptive, logistic descent, rate=1": run(
            reference.softmax, reference.in_metric(reference.descent(1.0)), reference.GradientAdaptive(*sizes)
        ),
        "normalized": run(margins, reference.projected(0.4), reference.Normalized(*sizes)),
        "AROW": run(margins, reference.arow(1.0), reference.Confidence(*sizes)),
        "SCW": run(margins, reference.scw(0.1, PHI), reference.Confidence(*sizes)),
        "AROW that forgets": run(margins, reference.arow(0.01), reference.Confidence(*sizes, forgetting=0.1)),
        "AROW that forgets little": run(margins, reference.arow(0.01), reference.Confidence(*sizes, forgetting=0.01)),
    }
    scores, level = reference.class_levels(stream.y, columns)
    scaling = model.intercept_scaling_
    weights = np.vstack([np.zeros((X.shape[1] - 1, columns)), level / scaling])
    runs["majority class"] = reference.Run(weights, weights, scores=list(scores))
    targets = stream.y[:, np.newaxis] if columns == 1 else np.eye(columns)[stream.y.astype(int)]
    last = np.vstack([np.zeros((X.shape[1] - 1, columns)), targets[-1] / scaling])
    runs["last label"] = reference.Run(last, last, scores=list(np.vstack([np.zeros(columns), targets[:-1]])))
    results = model.experts_
    assert set(results.names) == set(runs)
    ordered = [runs[name] for name in results.names]
    assert_together(results, model, ordered, stream.y, hedge=combine == "hedge", scaling=scaling)
