"""Example weights and class weights multiply the losses by which several models are compared."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from onmargin import AutoClassifier, AutoRegressor, PassiveAggressiveClassifier, river, stream

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 4))
LABELS = (X[:, 0] + 0.7 * RANDOM.normal(size=300) > 1).astype(int)
NUMBERS = X[:, 0] ** 2 + X[:, 1]
WEIGHT = RANDOM.choice([0.0, 0.5, 3.0], 300)
FORMS = [np.asarray, sparse.csr_array]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("combine", ["hedge", "leader"])
@pytest.mark.parametrize(("learner", "y"), [(AutoClassifier, LABELS), (AutoRegressor, NUMBERS)])
def test_a_weight_of_one_changes_no_bit_and_a_weight_of_zero_nothing(learner, y, combine, form):
    plain = learner(combine=combine).partial_fit(form(X), y)
    ones = learner(combine=combine).partial_fit(form(X), y, sample_weight=np.ones(300))
    for name, value in plain._learner.task.state().items():
        np.testing.assert_array_equal(ones._learner.task.state()[name], value)
    kept = WEIGHT > 0
    with_zeros = learner(combine=combine).partial_fit(form(X), y, sample_weight=WEIGHT)
    without = learner(combine=combine).partial_fit(form(X[kept]), y[kept], sample_weight=WEIGHT[kept])
    for name, value in without._learner.task.state().items():
        np.testing.assert_array_equal(with_zeros._learner.task.state()[name], value)


@pytest.mark.parametrize("form", FORMS)
def test_losses_are_mistakes_times_weights(form):
    rows, weight = form(X), np.where(WEIGHT > 0, WEIGHT, 1.0)
    model, mistakes, lost = AutoClassifier().partial_fit(rows[:1], LABELS[:1], [0, 1], weight[:1]), [], []
    for i in range(1, 300):
        model.partial_fit(rows[i : i + 1], LABELS[i : i + 1], sample_weight=weight[i : i + 1])
        mistakes.append(model.experts_.mistakes)
        lost.append(model.experts_.lost)
    np.testing.assert_allclose(np.diff(lost, axis=0), weight[2:, np.newaxis] * np.diff(mistakes, axis=0), atol=1e-9)
    results = model.experts_
    assert results.leader == results.lost.argmin()
    assert results.mixed_loss <= results.lost.min() + results.regret_bound
    assert "weighted" in str(results)


def test_experts_without_features_count_weights_too():
    y, weight = np.array([0, 1] * 20), np.tile([1.0, 3.0], 20)
    results = AutoClassifier().partial_fit(np.zeros((40, 2)), y, sample_weight=weight).experts_
    majority = results.names.index("majority class")
    assert results.mistakes[majority] < 25  # it predicts the class of more weight
    assert results.intercept[majority][0] > 0
    numbers = AutoRegressor().partial_fit(np.zeros((40, 2)), np.tile([0.0, 4.0], 20), sample_weight=weight).experts_
    assert numbers.intercept[numbers.names.index("running mean")][0] == pytest.approx(3.0, abs=0.1)


def test_weights_of_river_and_of_files_are_those_of_the_stream():
    one, other = stream.AutoClassifier(), river.AutoClassifier()
    for x, y, weight in zip(X, LABELS.tolist(), WEIGHT, strict=True):
        record = dict(zip("abcd", x.tolist(), strict=True))
        one.learn_one(record, y, weight)
        other.learn_one(record, y, weight)
        one = pickle.loads(pickle.dumps(one)) if y else one
    np.testing.assert_array_equal(one.experts_.lost, other.model.experts_.lost)
    np.testing.assert_array_equal(one.experts_.weights, other.model.experts_.weights)


@pytest.mark.parametrize("combine", ["hedge", "leader"])
def test_values_of_c_are_compared_by_weighted_mistakes(combine):
    model = PassiveAggressiveClassifier(C=[0.001, 1.0], combine=combine)
    model.partial_fit(X, LABELS, sample_weight=np.where(LABELS, 10.0, 1.0))
    assert model.grid_.leader == model.grid_.lost.argmin()
    assert (model.grid_.lost > model.grid_.mistakes).all()
