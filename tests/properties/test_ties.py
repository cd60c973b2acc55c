"""Conventions G1, G2 and G8: a score of 0 is a mistake, the lowest index wins, equal prototypes have equal scores."""

import numpy as np
import pytest
from hypothesis import given

from onmargin import PassiveAggressiveClassifier
from onmargin.learner import as_rows
from tests.streams import CONTAINERS, Stream, dtypes, geometries, rules, streams

ONE = np.array([[1.0]])


@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_score_of_zero_is_a_mistake_whatever_the_label(y):
    learner = Stream("binary", ONE, np.array([y])).learned()
    assert learner.totals.mistakes == 1
    assert learner.geometry.weights.tolist() == [[y]]


@pytest.mark.parametrize("y", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("task", ["multiclass", "one_vs_rest"])
def test_tie_with_the_right_class_is_a_mistake(task, y):
    assert Stream(task, ONE, np.array([y]), 3).learned().totals.mistakes == 1


@pytest.mark.parametrize(("y", "weights"), [(0, [0.5, -0.5, 0]), (1, [-0.5, 0.5, 0]), (2, [-0.5, 0, 0.5])])
def test_first_of_equal_rivals_is_corrected(y, weights):
    learner = Stream("multiclass", ONE, np.array([float(y)]), 3).learned()
    assert learner.geometry.weights[:, 0].tolist() == weights


@pytest.mark.parametrize(("classes", "winner"), [([0, 1], 1), ([0, 1, 2], 0)])
def test_prediction_of_a_tie(classes, winner):
    """It is the second of two classes, whose scores are positive, and the first of more classes."""
    model = PassiveAggressiveClassifier(fit_intercept=False).partial_fit(ONE, [1], classes=classes)
    assert model.predict([[0.0]]) == [winner]


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("columns", [2, 3, 7, 9, 33, 65])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_prototypes_have_equal_scores(dtype, columns, sparse, container):
    """Prototypes with equal updates are common; rounding that depends on the column would decide between them."""
    random = np.random.default_rng(0)
    stream = Stream("multiclass", random.standard_normal((20, 50)).astype(dtype), np.zeros(20), columns)
    learner = stream.learner(sparse=sparse)
    learner.geometry.assign(np.tile(random.standard_normal(50), (columns, 1)), np.zeros(columns))
    scores = learner.scores(as_rows(CONTAINERS[container](stream.X)))
    assert (scores == scores[:, :1]).all()


@given(streams("binary"), rules, geometries, dtypes)
def test_labels_are_symmetric_bit_for_bit(stream, rule, geometry, dtype):
    stream = stream.cast(dtype)
    learner, flipped = stream.learned(rule, **geometry), Stream("binary", stream.X, -stream.y).learned(rule, **geometry)
    assert (flipped.geometry.weights == -learner.geometry.weights).all()
    assert flipped.totals == learner.totals
