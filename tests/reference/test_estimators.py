"""The public estimators equal the NumPy references, for every option."""

from itertools import product
from math import inf, nan

import numpy as np
import pytest

from onmargin import reference
from tests.streams import CONTAINERS, TASKS, Rule, Stream, gaussian, uneven_weights

COLUMNS = {"multiclass": 7, "one_vs_rest": 7}
INTERCEPTS = {False: 0.0, 0.7: 0.7, "auto": nan}  # intercept_scaling, or no intercept: the core's bias


def intercept(scaling: float | str | bool) -> dict[str, object]:
    return {"fit_intercept": False} if scaling is False else {"fit_intercept": True, "intercept_scaling": scaling}


def assert_same(model, stream: Stream, run: reference.Run, mean: np.ndarray, tolerance: float = 1e-10) -> None:
    """Compare weights and totals; `mean` are the weights that predict."""
    scaling = np.nan_to_num(model.intercept_scaling_)
    np.testing.assert_allclose(np.atleast_2d(model.coef_), mean[:-1].T, atol=tolerance)
    np.testing.assert_allclose(model.intercept_, scaling * mean[-1], atol=tolerance)
    scores = stream.X @ mean[:-1] + scaling * mean[-1]
    predicted = model.predict(stream.X) if stream.task == "regression" else model.decision_function(stream.X)
    np.testing.assert_allclose(predicted.reshape(scores.shape), scores, atol=100 * tolerance)
    assert model.t_ == run.rounds + 1
    expected = {name: getattr(run, name) for name in dict(model.totals_)}
    assert dict(model.totals_) == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("average", [False, True, 15])
@pytest.mark.parametrize("scaling", INTERCEPTS)
@pytest.mark.parametrize(
    "rule", [Rule(C, squared) for C, squared in product((0.01, 1.0, inf), (False, True))], ids=repr
)
@pytest.mark.parametrize("task", TASKS)
def test_every_option(task, rule, scaling, average, weighted):
    stream = gaussian(task, COLUMNS.get(task, 1), n_rows=60, n_features=11)
    weight = uneven_weights(60) if weighted else None
    model = stream.estimator(rule, average=average, **intercept(scaling))
    model.partial_fit(stream.X, stream.y, sample_weight=weight, **stream.classes)
    run = stream.twin(rule, bias=INTERCEPTS[scaling], weight=weight, act=True)
    mean = run.weights
    if average:
        live = np.ones(60) if weight is None else weight
        early = np.where(np.cumsum(live > 0) < average, live, 0)
        start = stream.twin(rule, bias=INTERCEPTS[scaling], weight=early, act=True)
        mean = (run.rounds * run.mean - start.rounds * start.mean) / (run.rounds - start.rounds)
    assert_same(model, stream, run, mean)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("task", TASKS)
def test_every_input(task, dtype, container):
    """The weights have the type of the rows."""
    stream = gaussian(task, COLUMNS.get(task, 1), dtype=dtype)
    model = stream.estimator(Rule(0.1), fit_intercept=True)
    model.partial_fit(CONTAINERS[container](stream.X), stream.y, **stream.classes)
    assert model.coef_.dtype == dtype
    run = stream.twin(Rule(0.1), bias=nan)
    assert_same(model, stream, run, run.weights, 1e-10 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("task", TASKS)
def test_fit_makes_passes(task):
    stream = gaussian(task, COLUMNS.get(task, 1), n_features=11)
    model = stream.estimator(Rule(0.1), max_iter=3, tol=None, shuffle=False, average=True, fit_intercept=True)
    model.fit(stream.X, stream.y)
    thrice = Stream(task, np.tile(stream.X, (3, 1)), np.tile(stream.y, 3), stream.columns)
    run = thrice.twin(Rule(0.1), bias=nan)
    assert_same(model, stream, run, run.mean)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("task", TASKS)
def test_learning_after_fit_starts_from_the_mean_with_a_new_one(task, container):
    stream = gaussian(task, COLUMNS.get(task, 1), n_features=11)
    X = CONTAINERS[container](stream.X)
    model = stream.estimator(Rule(0.1), max_iter=2, tol=None, shuffle=False, average=True, intercept_scaling=1.0)
    model.set_params(fit_intercept=True).fit(X, stream.y)
    twice = Stream(task, np.tile(stream.X, (2, 1)), np.tile(stream.y, 2), stream.columns).twin(Rule(0.1), bias=1.0)
    assert_same(model, stream, twice, twice.mean)
    run = stream.twin(Rule(0.1), bias=1.0, start=twice.mean)
    model.partial_fit(X, stream.y)
    np.testing.assert_allclose(model.totals_.loss, twice.loss + run.loss)
    np.testing.assert_allclose(np.atleast_2d(model.coef_), run.mean[:-1].T, atol=1e-10)


@pytest.mark.parametrize("rule", [Rule(0.1), Rule(0.1, squared=True)], ids=str)
@pytest.mark.parametrize(("task", "columns"), [("binary", 1), ("multiclass", 3), ("one_vs_rest", 3)])
def test_class_weights_scale_c_and_the_margin(task, columns, rule):
    stream = gaussian(task, columns, n_features=5)
    weight = uneven_weights(len(stream.y))
    factor = {-1.0: 0.5, 0.0: 3.0, 1.0: 2.0}
    model = stream.estimator(rule, class_weight=factor)
    model.partial_fit(stream.X, stream.y, sample_weight=weight, **stream.classes)
    run = stream.twin(rule, weight=weight * np.array([factor.get(y, 1.0) for y in stream.y]), act=True)
    assert_same(model, stream, run, run.weights)


@pytest.mark.parametrize(("task", "columns"), [("binary", 1), ("multiclass", 3), ("one_vs_rest", 3)])
def test_balanced_weights_come_from_the_counts_so_far(task, columns):
    """They are n / (classes x count of the class) after each learned example; examples of weight zero do not count."""
    stream = gaussian(task, columns, n_features=5)
    weight = uneven_weights(len(stream.y))
    seen = dict.fromkeys(stream.classes["classes"], 0)
    scale = np.zeros_like(weight)
    for i in np.flatnonzero(weight):
        seen[stream.y[i]] += 1
        scale[i] = weight[i] * sum(seen.values()) / (len(seen) * seen[stream.y[i]])
    model = stream.estimator(Rule(0.1), class_weight="balanced")
    model.partial_fit(stream.X, stream.y, sample_weight=weight, **stream.classes)
    run = stream.twin(Rule(0.1), weight=scale, act=True)
    assert_same(model, stream, run, run.weights)
    assert model.class_counts_.tolist() == list(seen.values())


def test_balanced_fit_weighs_by_the_whole_data():
    stream = gaussian("multiclass", 3, n_features=5)
    model = stream.estimator(Rule(0.1), class_weight="balanced", max_iter=1, tol=None, shuffle=False)
    model.fit(stream.X, stream.y)
    counts = np.bincount(stream.y.astype(int))
    run = stream.twin(Rule(0.1), weight=(len(stream.y) / (3 * counts))[stream.y.astype(int)], act=True)
    assert_same(model, stream, run, run.weights)
