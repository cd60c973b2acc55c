"""Class weights in streams equal those of matrices, bit for bit."""

import numpy as np
import pytest
from scipy import sparse

import onmargin
from onmargin import stream

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 6))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=120) > 1, "rare", np.where(X[:, 1] > 0, "often", "usual"))
NAMES = ["PassiveAggressiveClassifier", "AutoClassifier", "AROWClassifier"]


@pytest.mark.parametrize("class_weight", ["balanced", {"rare": 5.0}, {"rare": 2, "often": 0.5, "never": 3}])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", ["one", "many"])
def test_weights_are_those_of_the_estimator(name, class_weight, how):
    model = getattr(stream, name)(class_weight=class_weight)
    rows = sparse.csr_matrix(X)
    if how == "many":
        model.learn_many(rows, Y)
    else:
        for i, y in enumerate(Y):
            model.learn_one(rows[i], y)
    alone = getattr(onmargin, name)(class_weight=class_weight)
    for i in range(len(Y)):
        alone.partial_fit(rows[i], Y[i : i + 1])
    for k, label in enumerate(alone.classes_):
        weights = np.zeros(X.shape[1])
        found = model.weights(label)
        weights[list(found)] = list(found.values())
        np.testing.assert_array_equal(weights, alone.coef_[k])


def test_example_weights_multiply_class_weights():
    model = stream.PassiveAggressiveClassifier(class_weight={"rare": 3.0}, C=0.01)
    plain = stream.PassiveAggressiveClassifier(C=0.01)
    for x, y in zip(X, Y, strict=True):
        model.learn_one(x, y, 0.5)
        plain.learn_one(x, y, 1.5 if y == "rare" else 0.5)
    assert model.weights("rare") == plain.weights("rare")


def test_votes_weigh_mistakes_as_those_of_the_estimator():
    rows, labels = sparse.csr_matrix(X), np.where(Y == "rare", "rare", "other")
    model, alone = (face.AutoClassifier(class_weight={"rare": 20.0}) for face in (stream, onmargin))
    for i, y in enumerate(labels):
        model.learn_one(rows[i], y)
        alone.partial_fit(rows[i], labels[i : i + 1])
    np.testing.assert_array_equal(model.experts_.lost, alone.experts_.lost)
    np.testing.assert_array_equal(model.experts_.weights, alone.experts_.weights)
    assert (alone.experts_.lost > alone.experts_.mistakes).all()


def learn_in_a_stream(class_weight):
    stream.PassiveAggressiveClassifier(class_weight=class_weight).learn_one(X[0], "often")


def learn_from_a_matrix(class_weight):
    onmargin.PassiveAggressiveClassifier(class_weight=class_weight).partial_fit(X, np.sort(Y))


@pytest.mark.parametrize("learn", [learn_in_a_stream, learn_from_a_matrix])
def test_names_of_another_type_are_refused(learn):
    with pytest.raises(onmargin.ParameterError, match="class_weight names 1, and 'often' is a class") as caught:
        learn({1: 2.0})
    assert caught.value.names == ("class_weight",)
