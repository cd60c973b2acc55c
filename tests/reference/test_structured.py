"""StructuredPredictor equals its NumPy reference, for any structures and any form of features."""

from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linear_sum_assignment

from onmargin import PassiveAggressiveClassifier, StructuredPredictor, reference
from tests.streams import uneven_weights
from tests.structures import FORMS, KINDS, InForm, Matchings, stream

STEPS = {"hinge": reference.pa1, "squared_hinge": reference.pa2}
COUNTS = ["rounds", "mistakes", "updates"]
SUMS = ["cost", "loss", "squared_loss", "dual_value", "max_squared_norm"]


def by_number(model, width):
    """Return weights in the order of the vectors."""
    if not isinstance(model.weights_, dict):
        return model.coef_
    named = dict(zip(model.feature_names_, model.coef_.tolist(), strict=True))
    return np.array([named.get(f"f{j}", 0.0) for j in range(width)])


def assert_equal(model, run, width, *, average=False):
    assert_allclose(by_number(model, width), run.mean if average else run.weights, atol=1e-12)
    assert [model.totals_[name] for name in COUNTS] == [getattr(run, name) for name in COUNTS]
    assert_allclose([model.totals_[name] for name in SUMS], [getattr(run, name) for name in SUMS], rtol=1e-12)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("update", ["prediction", "max_loss"])
@pytest.mark.parametrize("loss", STEPS)
@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_equals_twin(kind, C, loss, update, *, weighted, average):
    structures, X, Y, width = stream(kind)
    weight = uneven_weights(len(X)) if weighted else None
    model = StructuredPredictor(model=structures, C=C, loss=loss, update=update, average=average)
    model.partial_fit(X, Y, sample_weight=weight)
    run = reference.structured(X, Y, structures, STEPS[loss](C), max_loss=update == "max_loss", weight=weight)
    assert run.updates > 5
    assert run.mistakes < run.rounds
    assert_equal(model, run, width, average=average)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_features_of_every_form_equal_the_twin(kind, form):
    structures, X, Y, width = stream(kind)
    model = StructuredPredictor(model=InForm(structures, form, width), C=np.inf).partial_fit(X, Y)
    run = reference.structured(X, Y, structures)
    assert_equal(model, run, width)
    assert_allclose(model.score_of(X[3], Y[3]), run.weights @ structures.vector(X[3], Y[3]), atol=1e-11)


@pytest.mark.parametrize("update", ["prediction", "max_loss"])
@pytest.mark.parametrize("loss", STEPS)
def test_classes_as_structures_are_cost_sensitive_classes(loss, update):
    """[JMLR] sec. 8: blocks of features are prototypes."""
    structures, X, Y, _ = stream("classes", n=200)
    model = StructuredPredictor(model=structures, loss=loss, update=update, C=0.3).partial_fit(X, Y)
    classes = PassiveAggressiveClassifier(
        cost=structures.costs, cost_update=update, loss=loss, C=0.3, fit_intercept=False
    ).partial_fit(X, Y, classes=range(4))
    assert_allclose(model.coef_.reshape(4, 3), classes.coef_, atol=1e-12)
    assert model.predict(X) == classes.predict(X).tolist()
    for name in ["rounds", "updates"]:
        assert model.totals_[name] == classes.totals_[name]
    for name in ["cost", "loss", "squared_loss", "dual_value"]:
        assert_allclose(model.totals_[name], classes.totals_[name], rtol=1e-12)


class SquaredMatchings(Matchings):
    """Matchings for which the root of the cost is a sum over pairs."""

    def cost(self, y, z):
        return np.count_nonzero(y != z) ** 2


class Assignments(SquaredMatchings):
    """The same matchings, found by an assignment algorithm."""

    def argmax(self, weights, x):
        return linear_sum_assignment(x @ weights, maximize=True)[1]

    def cost_augmented_argmax(self, weights, x, y):
        return linear_sum_assignment(x @ weights + (np.arange(len(x)) != y[:, None]), maximize=True)[1]


@pytest.mark.parametrize("update", ["prediction", "max_loss"])
def test_search_equals_trying_all(update):
    _, X, Y, _ = stream("matchings")
    by_trying = StructuredPredictor(model=SquaredMatchings(), update=update, C=0.2).partial_fit(X[:1], Y[:1])
    by_search = deepcopy(by_trying).set_params(model=Assignments())  # all structures tie at zero weights
    for model in by_trying, by_search:
        model.partial_fit(X[1:], Y[1:])
    assert_allclose(by_search.coef_, by_trying.coef_, atol=1e-12)
    assert by_search.totals_.cost == by_trying.totals_.cost


def test_tiny_golden_example():
    """With prototypes, k = 3, x = (1) and y = 0, the rival is the first class, then the second; tau = 1/2."""
    structures, *_ = stream("classes")
    structures.costs = 1.0 - np.eye(3)
    model = StructuredPredictor(model=structures, C=np.inf, update="max_loss")
    model.learn_one(np.array([1.0]), 0)
    assert model.coef_.tolist() == [0.5, -0.5, 0.0]
    assert model.totals_.loss == 1.0
    assert model.totals_.mistakes == 0
