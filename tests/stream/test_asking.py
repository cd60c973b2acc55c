"""Queries that do not change a learner: names of features and models, and the results of each model."""

from copy import deepcopy

import numpy as np
import pytest

from onmargin import AutoClassifier, PassiveAggressiveClassifier, SequenceTagger, stream
from onmargin.features import RecordFeatures
from tests.sentences import corpus


def taught(model):
    return model.learn_one({"a": 1.0, "b": "x"}, "yes").learn_one({"c": -1.0}, "no")


def test_features_of_an_example_by_name():
    features = RecordFeatures(separator=":")
    assert features.read({"size": 2, "town": "Ulm"}) == {"size": 2.0, "town=Ulm": 1.0}
    assert features.read(["a", "b:2.5", "a"]) == {"a": 2.0, "b": 2.5}
    count = 1 + np.log(2)
    assert features.read("to be or not to be")["to"] == pytest.approx(count / np.sqrt(2 * count**2 + 2))
    by_count = RecordFeatures(weighting="tf")
    assert by_count.read("to be or not to be")["to"] == pytest.approx(2 / np.sqrt(10))
    assert RecordFeatures(n_features=8).read(["a", "b"]) == {"a": 1.0, "b": 1.0}
    assert features.read({"a": float("nan"), "b": None, "c": 0, "d": np.float32("nan")}) == {}
    assert features.read({"a": float("nan"), "c": 0, "d": -0.0}, zeros=True) == {"c": 0.0, "d": 0.0}
    with pytest.raises(ValueError, match="inf"):
        features.read({"a": float("inf")})


def test_known_names():
    model = taught(stream.PassiveAggressiveClassifier())
    assert model.names_one({"a": 1.0, "d": 2.0}) == ["a", "d"]
    assert [model.knows(name) for name in ("a", "b=x", "c", "d")] == [True, True, True, False]
    assert not stream.PassiveAggressiveClassifier().knows("a")
    assert taught(stream.PassiveAggressiveClassifier(features=RecordFeatures(n_features=8))).knows("anything")
    assert not stream.PassiveAggressiveClassifier().learn_one(np.ones(2), 1).knows("0")
    assert model.feature_names_ == ["a", "b=x", "c"]


@pytest.mark.parametrize("separator", [None, ":"])
def test_a_check_refuses_what_learning_would_and_changes_nothing(separator):
    model = taught(stream.PassiveAggressiveClassifier(features=RecordFeatures(separator=separator)))
    before = deepcopy(vars(model)["_names"].names), model.weights(), model.totals_
    for x, y, weight in [
        ({"a": float("-inf")}, "yes", 1.0),
        ({"new": float("inf")}, "yes", 1.0),
        ({"a": 1.0}, 3, 1.0),
        ({"a": 1.0}, None, 1.0),
        ({"a": 1.0}, "yes", -1.0),
        (np.ones(3), "yes", 1.0),
        (7, "yes", 1.0),
        *([(["new:1e999"], "yes", 1.0)] if separator else []),
    ]:
        with pytest.raises((TypeError, ValueError)) as checked:
            model.check_one(x, y, weight)
        with pytest.raises((TypeError, ValueError)) as learned:
            deepcopy(model).learn_one(x, y, weight)
        assert type(checked.value) is type(learned.value)
    model.check_one({"new": 1.0}, "maybe", 0.5)
    assert (vars(model)["_names"].names, model.weights(), model.totals_) == before


@pytest.mark.parametrize("name", [name for name in stream.__all__ if hasattr(getattr(stream, name), "check_one")])
@pytest.mark.parametrize("x", [[1.0, 0.0], [-1.0, 2.0], [0.0, 0.0], [1e300, 1e-320]], ids=str)
@pytest.mark.parametrize("y", [0, 1, 2, 1.5, "u", [0], {7}, None], ids=str)
def test_a_check_agrees_with_learning(name, x, y):
    """Winnow learned neither negative rows nor a third class, and the service acknowledged and skipped them."""
    if name in {"ClassFeatureClassifier", "OrdinalRegressor"}:
        return  # needs arguments
    model = getattr(stream, name)()
    targets = {"classify": (0, 1), "rank": ([0], [1]), "regress": (0.5, 1.0)}.get(model.task, (None, None))
    for target in targets:
        model.learn_one(np.array([1.0, 2.0]), target)
    errors = []
    for call in model.check_one, model.learn_one:
        try:
            call(np.array(x), y)
            errors.append(None)
        except (TypeError, ValueError) as error:
            errors.append(str(error))
    assert errors[0] == errors[1]


@pytest.mark.parametrize(
    "model",
    [
        stream.AutoClassifier(),
        stream.PassiveAggressiveClassifier(C="auto", combine="hedge"),
        stream.AROWClassifier(average="best"),
        stream.PassiveAggressiveRegressor(C=(0.1, 1.0)),
    ],
    ids=repr,
)
def test_results_of_each_model(model):
    assert model.model_outcomes_ == []
    numbers = "Regressor" in type(model).__name__
    for k in range(30):
        model.learn_one({f"f{k % 7}": 1.0, "g": k % 3}, k % 4 if numbers else "yn"[k % 2])
    results = next(getattr(model, name) for name in ("experts_", "grid_", "averages_") if has(model, name))
    found = model.model_outcomes_
    assert [one.name for one in found] == results.names == model.models_
    assert [one.lost for one in found] == (results.loss if numbers else results.mistakes).tolist()
    assert [one.vote for one in found] == results.weights.tolist()
    assert [one.leads for one in found].index(True) == results.leader


def has(model, name):
    try:
        return getattr(model, name) is not None
    except AttributeError:
        return False


def test_one_model_has_no_outcomes():
    assert taught(stream.PassiveAggressiveClassifier()).model_outcomes_ == []
    X, y = np.eye(3), [0, 1, 0]
    assert PassiveAggressiveClassifier().partial_fit(X, y).model_outcomes_ == []
    assert len(AutoClassifier().partial_fit(X, y).model_outcomes_) == 32


def test_outcomes_stay_when_parameters_change():
    model = PassiveAggressiveClassifier(C=(0.1, 1.0)).partial_fit(np.eye(3), [0, 1, 0])
    before = model.model_outcomes_
    assert model.set_params(C=1.0).model_outcomes_ == before != []


def test_taggers():
    X, y = corpus(10)
    tagger = SequenceTagger(C=(0.1, 1.0))
    assert tagger.task == "tag"
    assert tagger.models_ == ["C=0.1", "C=1"]
    tagger.partial_fit(X, y)
    assert [one.lost for one in tagger.model_outcomes_] == tagger.grid_.cost.tolist()
    names = tagger.names_one(X[0])
    assert set(names) <= set(tagger.feature_names_)
    assert all(map(tagger.knows, names))
    assert not tagger.knows("never met")
    assert tagger.names_one([["w:2", "v"], {"w": 1.0}]) == ["w:2", "v", "w"]
    assert SequenceTagger().models_ == []
    before = tagger.totals_
    with pytest.raises(ValueError, match="weight"):
        tagger.check_one(X[0], y[0], -1.0)
    assert tagger.check_one(X[0], y[0], 2.0).totals_ == before


def test_fitted_or_not():
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    model = stream.PassiveAggressiveClassifier()
    assert not model.__sklearn_is_fitted__()
    assert taught(model).__sklearn_is_fitted__()
    with pytest.raises(NotFittedError):
        check_is_fitted(SequenceTagger())
