"""The compiled round equals the NumPy reference, for every task, step, type and container."""

from functools import cache
from math import isnan, nan

import numpy as np
import pytest
from scipy import sparse

from onmargin import reference
from onmargin.learner import Learner, as_rows
from tests.streams import CONTAINERS, RULES, Rule, Stream, current, gaussian, uneven_weights

# One vector of columns and several, columns that fill their vectors and that need padding (multiples of 256 bytes get
# more), one block of registers and several.
TASKS = [("binary", 1), ("regression", 1)]
TASKS += [(task, columns) for task in ("multiclass", "one_vs_rest") for columns in (2, 3, 7, 9, 33, 65)]
TASKS += [("multiclass", 130)]
AVERAGE = 20  # the round averaging starts at


@cache
def case(task: str, columns: int, dtype: type) -> tuple[Stream, np.ndarray]:
    stream = gaussian(task, columns, dtype=dtype)
    return stream, uneven_weights(len(stream.y))


@cache
def twin(task: str, columns: int, dtype: type, rule: Rule) -> tuple[reference.Run, np.ndarray]:
    """Return the run, and the mean of its weights from round AVERAGE on."""
    stream, weight = case(task, columns, dtype)
    early = np.where(np.cumsum(weight > 0) < AVERAGE, weight, 0)
    full, start = stream.twin(rule, bias=nan, weight=weight), stream.twin(rule, bias=nan, weight=early)
    mean = (full.rounds * full.mean - start.rounds * start.mean) / (full.rounds - start.rounds)
    return full, mean


def assert_same(learner: Learner, run: reference.Run, mean: np.ndarray, tolerance: float) -> None:
    bias = learner.geometry.bias
    for (coef, intercept), weights in zip(
        (current(learner), learner.geometry.mean()), (run.weights, mean), strict=True
    ):
        np.testing.assert_allclose(coef, weights[:-1].T, atol=tolerance)
        np.testing.assert_allclose(intercept, bias * weights[-1], atol=tolerance)
    totals = dict(learner.totals)
    assert {name: totals[name] for name in ("rounds", "mistakes", "updates")} == {
        name: getattr(run, name) for name in ("rounds", "mistakes", "updates")
    }
    for name in ("loss", "squared_loss", "dual_value", "max_squared_norm"):
        assert totals[name] == pytest.approx(getattr(run, name), rel=tolerance), name


@pytest.mark.parametrize("container", ["dense", "csr_array", "csr_array_int64"])
@pytest.mark.parametrize("for_sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize(("task", "columns"), TASKS)
def test_core_equals_twin(*, task, columns, rule, dtype, for_sparse, container):
    """Both layouts of weights and both kinds of rows agree, with all options on.

    Some weights are zero, the intercept is set by the first nonzero row, and averaging starts late.
    """
    stream, weight = case(task, columns, dtype)
    run, mean = twin(task, columns, dtype, rule)
    rows = CONTAINERS[container](stream.X)
    learner = stream.learned(rule, weight=weight, rows=rows, sparse=for_sparse, bias=nan, average=AVERAGE)
    tolerance = 1e-10 if dtype == np.float64 else 1e-4
    assert_same(learner, run, mean, tolerance)
    scores = reference.with_intercept(stream.X.astype(np.float64), learner.geometry.bias) @ mean
    np.testing.assert_allclose(learner.scores(as_rows(rows)), scores, atol=10 * tolerance)


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("for_sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [1, 3, 9, 33])
def test_rows_of_every_length(columns, dtype, for_sparse, container):
    """Lengths cover vectors of 4 to 8 numbers in up to four chains, 32 numbers, with every possible remainder."""
    random = np.random.default_rng(columns)
    for n_features in range(1, 71):
        X = random.standard_normal((5, n_features)).astype(dtype)
        y = random.integers(0, columns, 5).astype(np.float64)
        stream = Stream("multiclass", X, y, columns) if columns > 1 else Stream("regression", X, y)
        run = stream.twin()
        rows = CONTAINERS[container](stream.X)
        learner = stream.learned(rows=rows, sparse=for_sparse)
        np.testing.assert_allclose(current(learner)[0], run.weights[:-1].T, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(learner.scores(as_rows(rows)), stream.X @ run.weights[:-1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("container", ["dense", "csr_array"])
def test_order_is_the_order_of_the_rounds(container):
    stream = gaussian("multiclass", 7)
    order = np.random.default_rng(2).integers(0, len(stream.y), 100)
    learner = stream.learner(average=1)
    learner.learn(as_rows(CONTAINERS[container](stream.X)), stream.y, order=order)
    run = Stream("multiclass", stream.X[order], stream.y[order], 7).twin()
    assert_same(learner, run, run.mean, 1e-10)


@pytest.mark.parametrize(("task", "columns"), [("binary", 1), ("multiclass", 5)])
def test_many_features_of_which_few_are_used(task, columns):
    """Weights that are far apart in memory equal those of the used features alone."""
    narrow = gaussian(task, columns)
    used = np.sort(np.random.default_rng(3).permutation(2**18)[: narrow.X.shape[1]])
    rows = sparse.csr_array(narrow.X)
    wide = sparse.csr_array((rows.data, used[rows.indices], rows.indptr), shape=(len(narrow.y), 2**18))
    learner = Stream(task, wide, narrow.y, columns).learned(sparse=True)
    np.testing.assert_allclose(learner.geometry.weights[:, used], narrow.twin().weights[:-1].T, atol=1e-10)
    assert np.count_nonzero(learner.geometry.weights.any(axis=0)) == len(used)


DECODE = {
    "binary": lambda scores: (scores[:, 0] >= 0).astype(int),
    "regression": lambda scores: scores[:, 0],
    "multiclass": lambda scores: scores.argmax(axis=1),
    "one_vs_rest": lambda scores: scores.argmax(axis=1),
}


@pytest.mark.parametrize("task", DECODE)
def test_prediction_is_decoded_from_the_scores(task):
    stream = gaussian(task, 7 if task in ("multiclass", "one_vs_rest") else 1)
    learner, rows = stream.learned(bias=nan), as_rows(stream.X)
    np.testing.assert_array_equal(learner.predict(rows), DECODE[task](learner.scores(rows)))


def test_auto_intercept_waits_for_a_row():
    """Before it there is no intercept coordinate, so nothing can move."""
    stream = Stream("binary", np.zeros((3, 2)), np.array([1.0, -1.0, 1.0]))
    learner = stream.learned(bias=nan)
    assert isnan(learner.geometry.bias)
    assert not learner.geometry.intercept.any()
    assert dict(learner.totals) == dict(learner.totals) | {"rounds": 3, "mistakes": 3, "updates": 0, "loss": 3.0}
