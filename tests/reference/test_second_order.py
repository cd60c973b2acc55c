"""Compiled learners with per-weight rates equal the NumPy references, for every task, type, layout and container."""

from functools import cache
from math import nan

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import clone

from onmargin import AROWClassifier, AROWRegressor, NHERDClassifier, PassiveAggressiveClassifier, SCWClassifier
from onmargin.learner import as_rows
from tests.metrics import RULES, VARIANCES
from tests.streams import CONTAINERS, current, gaussian, uneven_weights

COLUMNS = {"binary": [1], "regression": [1], "multiclass": [2, 3, 9, 33], "one_vs_rest": [2, 7, 9]}
CASES = [
    pytest.param(rule, task, columns, id=f"{rule}-{task}-{columns}")
    for rule in RULES
    for task in COLUMNS
    for columns in COLUMNS[task]
    if not (RULES[rule].eager and task == "regression")
]
AVERAGE = 20


@cache
def case(rule, task, columns, dtype):
    """Return the stream, its weights, the reference run, and the mean of its weights from round AVERAGE on."""
    stream = gaussian(task, columns, dtype=dtype)
    weight = uneven_weights(len(stream.y))
    early = np.where(np.cumsum(weight > 0) < AVERAGE, weight, 0)
    full, start = (RULES[rule].run(stream, weight=w) for w in (weight, early))
    mean = (full.rounds * full.mean - start.rounds * start.mean) / (full.rounds - start.rounds)
    return stream, weight, full, mean


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("for_sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("rule", "task", "columns"), CASES)
def test_core_equals_twin(*, rule, task, columns, dtype, for_sparse, container):
    """Some weights are zero, the intercept is set by the first nonzero row, and averaging starts late."""
    stream, weight, run, mean = case(rule, task, columns, dtype)
    rows = CONTAINERS[container](stream.X)
    learner = RULES[rule].learned(stream, weight=weight, rows=rows, sparse=for_sparse, bias=nan, average=AVERAGE)
    tolerance = 1e-10 if dtype == np.float64 else 1e-3
    geometry = learner.geometry
    for (coef, intercept), weights in zip((current(learner), geometry.mean()), (run.weights, mean), strict=True):
        assert_allclose(coef, weights[:-1].T, atol=tolerance)
        assert_allclose(intercept, geometry.bias * weights[-1], atol=tolerance)
    beside = getattr(run.metric, RULES[rule].state)
    beside = beside if rule in VARIANCES else np.sqrt(beside)
    assert_allclose(geometry.metric, beside[:-1].T, rtol=tolerance, atol=tolerance)
    assert_allclose(geometry.metric_intercept, beside[-1], rtol=tolerance)
    totals = dict(learner.totals)
    assert [totals[name] for name in ("rounds", "mistakes", "updates")] == [run.rounds, run.mistakes, run.updates]
    for name in ("loss", "squared_loss", "dual_value", "max_squared_norm"):
        assert totals[name] == pytest.approx(getattr(run, name), rel=tolerance), name
    scores = learner.scores(as_rows(rows))
    assert_allclose(scores, stream.X @ mean[:-1] + geometry.bias * mean[-1], atol=100 * tolerance)


ESTIMATORS = {
    "adaptive, PA-I": lambda strategy: PassiveAggressiveClassifier(geometry="adaptive", C=0.05, strategy=strategy),
    "normalized, PA-I": lambda strategy: PassiveAggressiveClassifier(geometry="normalized", C=0.05, strategy=strategy),
    "AROW": lambda strategy: AROWClassifier(r=0.3, strategy=strategy),
    "AROW, forgetting": lambda strategy: AROWClassifier(r=0.3, forgetting=0.1, strategy=strategy),
    "NHERD": lambda strategy: NHERDClassifier(C=2.0, strategy=strategy),
    "SCW-I": lambda strategy: SCWClassifier(C=0.5, eta=0.9, strategy=strategy),
    "SCW-II": lambda strategy: SCWClassifier(C=0.5, eta=0.9, variant="II", strategy=strategy),
}


@pytest.mark.parametrize("task", ["binary", "multiclass", "one_vs_rest"])
@pytest.mark.parametrize("rule", ESTIMATORS)
def test_classifier_equals_twin(rule, task):
    stream = gaussian(task, 1 if task == "binary" else 5, n_rows=60, n_features=11)
    model = ESTIMATORS[rule]("ovr" if task == "one_vs_rest" else "joint")
    model.partial_fit(stream.X, stream.y, **stream.classes)
    run = RULES[rule].run(stream)
    assert_allclose(model.coef_, run.weights[:-1].T, atol=1e-10)
    assert model.totals_.mistakes == run.mistakes
    if rule in VARIANCES:
        assert_allclose(model.confidence_, run.metric.variances[:-1].T, atol=1e-10)


def test_regressor_equals_twin():
    stream = gaussian("regression", n_rows=60, n_features=11)
    model = AROWRegressor(r=0.3, epsilon=0.1).partial_fit(stream.X, stream.y)
    run = RULES["AROW"].run(stream)
    assert_allclose(model.coef_, run.weights[:-1, 0], atol=1e-10)
    assert_allclose(model.confidence_, run.metric.variances[:-1, 0], atol=1e-10)
    assert_allclose(model.predict(stream.X), stream.X @ model.coef_ + model.intercept_, atol=1e-10)


LEARNERS = {
    "adaptive": PassiveAggressiveClassifier(geometry="adaptive"),
    "normalized": PassiveAggressiveClassifier(geometry="normalized"),
    "AROW": AROWClassifier(),
    "AROW that forgets": AROWClassifier(forgetting=0.1),
    "SCW": SCWClassifier(),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("scale", [1e-18, 1e-6, 1.0, 1e6, 1e15])
def test_vectors_of_dense_rows_learn_as_sparse_rows_do(name, scale):
    """Squares may overflow single precision: then values are computed one at a time in double."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(80, 37)) * scale * (rng.random((80, 37)) < 0.7)).astype(np.float32)
    y = rng.integers(0, 3, 80)
    dense, sparse = (clone(LEARNERS[name]).partial_fit(form(X), y) for form in (np.asarray, csr_array))
    assert np.abs(sparse.coef_).max() > 0
    assert_allclose(dense.coef_, sparse.coef_, rtol=1e-3, atol=1e-4 * np.abs(sparse.coef_).max())
