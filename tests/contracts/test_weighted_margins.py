"""Weights of examples and classes act on C and on the margin of mistakes."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from onmargin import PassiveAggressiveClassifier, stream
from tests.streams import gaussian, uneven_weights


def test_a_weighted_cost_requires_its_root_times_the_weight():
    x, cost = np.array([[1.0, 0.0]]), [[0, 4, 9], [1, 0, 1], [1, 1, 0]]
    model = PassiveAggressiveClassifier(C=np.inf, cost=cost, cost_update="max_loss", fit_intercept=False)
    scores = model.partial_fit(x, [0], classes=[0, 1, 2], sample_weight=[5.0]).decision_function(x)[0]
    assert scores[0] - scores[2] == pytest.approx(5 * 3)


def test_a_mistake_moves_to_its_weight_and_a_right_example_stays():
    x = np.array([[1.0]])
    model = PassiveAggressiveClassifier(C=np.inf, fit_intercept=False)
    scores = [
        float(model.partial_fit(x, [1], classes=[0, 1], sample_weight=[weight]).decision_function(x)[0])
        for weight in (0.5, 5.0, 5.0)
    ]
    # From 0 to 0.5; a loss of 0.5 aims at 1 + 4 * 0.5; without a loss nothing moves.
    assert scores == [0.5, 3.0, 3.0]


@pytest.mark.parametrize("C", [1e-3, 1.0])
def test_weights_of_one_change_no_bit(C):
    stream = gaussian("multiclass", 4)
    plain, weighted = (PassiveAggressiveClassifier(C=C) for _ in range(2))
    plain.partial_fit(stream.X, stream.y)
    weighted.partial_fit(stream.X, stream.y, sample_weight=np.ones(len(stream.y)))
    np.testing.assert_array_equal(plain.coef_, weighted.coef_)


def imbalanced(seed):
    X, y = make_classification(4000, 20, n_informative=8, weights=[0.95], flip_y=0.02, random_state=seed)
    return train_test_split(X, y, random_state=seed)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_balanced_weights_act_although_c_limits_no_step(method):
    """Before, both models were equal: with 20 standardized columns no step reaches C = 1."""
    gained = []
    for seed in range(5):
        X, X_test, y, y_test = imbalanced(seed)
        models = (PassiveAggressiveClassifier(class_weight=weight, random_state=0) for weight in (None, "balanced"))
        plain, balanced = (
            balanced_accuracy_score(y_test, getattr(model, method)(X, y).predict(X_test)) for model in models
        )
        gained.append(balanced - plain)
    assert np.mean(gained) > 0.02


def test_streams_weigh_examples_alike():
    data = gaussian("binary", 1)
    weight = uneven_weights(len(data.y))
    model = PassiveAggressiveClassifier().partial_fit(data.X, data.y, sample_weight=weight)
    online = stream.PassiveAggressiveClassifier().learn_many(data.X, data.y.tolist(), weight.tolist())
    assert model.decision_function(data.X).tolist() == [online.scores_one(x)[1.0] for x in data.X]


def test_weights_on_the_simplex_scale_c_alone():
    """Scores on the simplex are bounded: a margin of 4 would be out of reach."""
    data = gaussian("binary", 1)
    model = PassiveAggressiveClassifier(geometry="entropic").partial_fit(
        data.X, data.y, sample_weight=np.full(len(data.y), 4.0)
    )
    more = PassiveAggressiveClassifier(geometry="entropic", C=4.0).partial_fit(data.X, data.y)
    np.testing.assert_array_equal(model.coef_, more.coef_)
