"""Random ferns: the core equals the NumPy reference."""

import pickle
from math import nan

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from onmargin import AutoClassifier, reference
from onmargin._core.geometries.diagonal import Confidence, GradientAdaptive
from onmargin._core.geometries.ferns import Ferns
from onmargin._core.geometries.standardized import Standardized
from onmargin._core.steps.step import Proportional, Regularized
from onmargin._core.tasks.task import Binary, Softmax
from onmargin.learner import Learner, as_rows
from tests.streams import CONTAINERS, gaussian

N_FERNS, N_TESTS = 20, 3


def weights(dtype=np.float64):
    return Confidence(N_FERNS << N_TESTS, 1, dtype, sparse=True, bias=0.3)


def learner(geometry):
    return Learner(Binary(), Regularized(1.0), geometry)


def rows(dtype=np.float64):
    """Return rows with late features and an unused one, and labels that are signs of a product."""
    X = np.random.default_rng(0).normal(size=(80, 5)).astype(dtype)
    X[:20, 1] = X[:40, 4] = X[:, 2] = X[0] = 0
    return X, np.where(X[:, 0] * X[:, 3] > 0, 1.0, -1.0)


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_learning_from_cells_is_that_of_the_twin(container, dtype):
    X, y = rows(dtype)
    model, twin = learner(Ferns(weights(dtype), 5, N_TESTS, seed=7)), learner(weights(dtype))
    cells = reference.ferns(X.astype(np.float64), N_FERNS, N_TESTS, seed=7)
    assert_allclose((cells**2).sum(axis=1), 1)
    model.learn(as_rows(CONTAINERS[container](X)), y)
    twin.learn(as_rows(CONTAINERS["csr_array"](cells.astype(dtype))), y)
    assert model.totals.mistakes == twin.totals.mistakes
    assert_array_equal(model.geometry.inner.weights, twin.geometry.weights)
    assert_array_equal(model.geometry.met, X.any(axis=0))
    later = reference.ferns(np.vstack([X, X]).astype(np.float64), N_FERNS, N_TESTS, seed=7)[len(X) :]
    expected = twin.scores(as_rows(CONTAINERS["csr_array"](later.astype(dtype))))
    assert_array_equal(model.scores(as_rows(CONTAINERS[container](X))), expected)


def test_new_features_and_copies_change_nothing():
    X, y = rows()
    whole, parts = learner(Ferns(weights(), 5, N_TESTS)), learner(Ferns(weights(), 4, N_TESTS))
    whole.learn(as_rows(X), y)
    parts.learn(as_rows(np.ascontiguousarray(X[:40, :4])), y[:40])
    parts = pickle.loads(pickle.dumps(parts))
    parts.geometry = parts.geometry.resize(5)
    parts.geometry = parts.geometry.alike(parts.geometry.inner)
    parts.learn(as_rows(X[40:]), y[40:])
    assert_array_equal(whole.geometry.inner.weights, parts.geometry.inner.weights)
    assert_array_equal(whole.scores(as_rows(X)), pickle.loads(pickle.dumps(parts)).scores(as_rows(X)))


def test_tests_use_every_feature_about_equally_often():
    """If one of four features is far above all thresholds, a quarter of all tests are 1."""
    X = np.vstack([np.eye(4), np.full((1, 4), -9.0), 18 * np.eye(4) - 9])
    cells = reference.ferns(X, 200, 5)[4:].reshape(5, 200, 32).argmax(axis=2)
    assert not cells[0].any()
    digits = [sum(int(cell).bit_count() for cell in row) for row in cells[1:]]
    assert sum(digits) == 1000
    assert min(digits) > 200


def test_impossible_ferns():
    with pytest.raises(ValueError, match="multiple of 64; got 160"):
        Ferns(weights(), 5, 6)
    with pytest.raises(ValueError, match="n_tests must be a whole number from 1 to 16"):
        Ferns(weights(), 5, 17)


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_experts_on_ferns_learn_from_standardized_rows(task):
    columns = 1 if task == "binary" else 3
    stream = gaussian(task, columns)
    X, y, n = stream.X * 10 + 3, stream.y.astype(int), stream.X.shape[1]
    model = AutoClassifier().partial_fit(X, y, classes=np.unique(y))
    for tests in (5, 7):
        inner = GradientAdaptive(100 << tests, columns, np.float64, sparse=True, bias=nan)
        alone = Learner(Softmax(), Proportional(1.0), Standardized(Ferns(inner, n, tests, seed=tests)))
        alone.learn(as_rows(X), stream.y)
        m = model.experts_.names.index(f"adaptive, logistic descent, rate=1, ferns of {tests} tests")
        assert model.experts_.mistakes[m] == alone.totals.mistakes
        assert model.experts_.coef[m] is None


def test_boundaries_parallel_to_the_axes_are_learned():
    random = np.random.default_rng(0)
    X = random.uniform(size=(3000, 8))
    y = ((X[:, 0] > 0.3) ^ (X[:, 1] > 0.6)).astype(int)
    linear, all_ = (AutoClassifier(experts=word).partial_fit(X, y).totals_.mistakes for word in ("linear", "all"))
    assert linear > 900
    assert all_ < 400
