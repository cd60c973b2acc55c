"""Costs in streams equal those of matrices, bit for bit."""

import numpy as np
import pytest
from scipy import sparse

import onmargin
from onmargin import stream

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 6))
CODES = RNG.integers(4, size=120)
NAMES = np.array(["a", "b", "c", "d"])[CODES]
MATRIX = np.array([[0, 1, 2, 3], [4, 0, 1, 1], [1, 2, 0, 1], [1, 1, 9, 0]], float)


def same_weights(model, alone):
    for k, label in enumerate(alone.classes_.tolist()):
        weights = np.zeros(X.shape[1])
        found = model.weights(label)
        weights[list(found)] = list(found.values())
        np.testing.assert_array_equal(weights, alone.coef_[k])


@pytest.mark.parametrize("update", ["prediction", "max_loss"])
def test_a_matrix_is_for_classes_that_are_numbers(update):
    model = stream.PassiveAggressiveClassifier(cost=MATRIX, cost_update=update).learn_many(X, CODES)
    alone = onmargin.PassiveAggressiveClassifier(cost=MATRIX, cost_update=update)
    same_weights(model, alone.partial_fit(X, CODES, classes=range(4)))
    assert model.classes_ == [0, 1, 2, 3]
    assert model.totals_ == alone.totals_


def test_costs_by_name_need_no_classes_beforehand():
    cost = {"a": {"b": 5.0, "d": 0.5}, "d": {"c": 9.0}}
    model = stream.PassiveAggressiveClassifier(cost=cost)
    alone = onmargin.PassiveAggressiveClassifier(cost=cost)
    for x, y in zip(sparse.csr_matrix(X), NAMES, strict=True):
        model.learn_one(x, y)
        alone.partial_fit(x, [y])
    same_weights(model, alone)


def test_costs_by_name_are_those_of_the_matrix():
    cost = {str(i): {str(j): MATRIX[i, j] for j in range(4)} for i in range(4)}
    named = onmargin.PassiveAggressiveClassifier(cost=cost).partial_fit(X, CODES.astype(str), classes=[*"0123"])
    plain = onmargin.PassiveAggressiveClassifier(cost=MATRIX).partial_fit(X, CODES)
    np.testing.assert_array_equal(named.coef_, plain.coef_)


def test_distances_follow_the_order_of_the_classes():
    model = stream.PassiveAggressiveClassifier(cost="absolute").learn_many(X, CODES)
    assert model.totals_.cost > 120


@pytest.mark.parametrize(
    ("cost", "label", "message"),
    [
        ([[0, 1], [2, 0]], "spam", "cost is a matrix for the classes 0 to 1; got the label 'spam'"),
        ([[0, 1], [2, 0]], 2, "cost is a matrix for the classes 0 to 1; got the label 2"),
        ([[0, 1]], 0, r"cost must have shape \(1, 1\)"),
        ({"a": 3.0}, "a", "cost by name must be"),
    ],
)
def test_costs_that_are_refused(cost, label, message):
    with pytest.raises(ValueError, match=message):
        stream.PassiveAggressiveClassifier(cost=cost).learn_one(X[0], label)


def test_negative_costs_by_name_are_refused():
    with pytest.raises(ValueError, match="cost must be at least 0"):
        stream.PassiveAggressiveClassifier(cost={"a": {"b": -1.0}})
