"""The models for river pass river's checks, and learn the same as those of onmargin.stream."""

import pickle

import numpy as np
import pandas as pd
import pytest

river = pytest.importorskip("river", reason="river is an extra: pip install '.[river]'")

from river import anomaly, compose, datasets, evaluate, feature_extraction, metrics, preprocessing  # noqa: E402
from river.checks import yield_checks  # noqa: E402

import onmargin  # noqa: E402
from onmargin import river as river_models  # noqa: E402
from onmargin import stream  # noqa: E402
from onmargin.features import RecordFeatures  # noqa: E402
from onmargin.io.model_file import ModelFileError, from_bytes, to_bytes  # noqa: E402
from onmargin.river import (  # noqa: E402
    DualAscentClassifier,
    DualAscentRegressor,
    ExponentiatedGradientRegressor,
    GradientDescentRegressor,
    LabelRanker,
    NHERDClassifier,
    OrdinalRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    PassiveAggressiveUniclass,
    PNormPerceptron,
    Winnow,
)
from tests.saved import anatomy  # noqa: E402

# River's checks of these need data sets to be fetched, or labels that are not ranks: they have tests below.
UNCHECKED = {"LabelRanker", "OrdinalRegressor", "PassiveAggressiveUniclass"}
# Options under test; all other models are tested with the default options.
MODELS = [
    PassiveAggressiveClassifier(),
    PassiveAggressiveClassifier(C=0.1, update="simproj", average=True),
    PassiveAggressiveClassifier(strategy="ovr", loss="squared_hinge", features=RecordFeatures(n_features=2**8)),
    PassiveAggressiveRegressor(),
    PassiveAggressiveRegressor(epsilon=0.0, loss="squared_epsilon_insensitive", average=5, fit_intercept=False),
    PassiveAggressiveClassifier(C="auto", combine="hedge"),
    PassiveAggressiveRegressor(geometry="adaptive", average="best"),
    NHERDClassifier(strategy="joint"),
    DualAscentClassifier(window=3),
    DualAscentRegressor(window=3),
    ExponentiatedGradientRegressor(features=RecordFeatures(n_features=2**6), balanced=True),
    GradientDescentRegressor(rate=1e-12),
    PNormPerceptron(p=4.0),
    Winnow(features=RecordFeatures(n_features=2**6), balanced=True),
]
CHECKED = UNCHECKED | {type(model).__name__ for model in MODELS}
MODELS += [getattr(river_models, name)() for name in river_models.__all__ if name not in CHECKED]

QUICK = [MODELS[0], MODELS[3]]  # one of each kind; the others are left to --full


# The order of names matters for these: it determines the random features of curved experts and the order of sums.
# Gradients of nearly certain probabilities are small differences of sums, which adaptive rates magnify.
BY_ORDER = {"AutoClassifier", "AutoRegressor", "DualAscentRegressor", "OnlineLogisticClassifier"}


def named_checks():
    for model in MODELS:
        marks = [] if model in QUICK else [pytest.mark.full]
        for i, check in enumerate(yield_checks(model)):
            if check.__name__ == "check_shuffle_features_no_impact" and type(model).__name__ in BY_ORDER:
                continue
            yield pytest.param(model, check, id=f"{model}-{i}-{check.__name__}", marks=marks)


@pytest.mark.parametrize(("model", "check"), list(named_checks()))
def test_river_checks_it(model, check):
    check(model.clone())


def test_pipelines():
    model = preprocessing.StandardScaler() | PassiveAggressiveClassifier(C=0.01, average=True)
    accuracy = evaluate.progressive_val_score(datasets.ImageSegments().take(1000), model, metrics.Accuracy())
    assert accuracy.get() > 0.75
    text = compose.Pipeline(feature_extraction.BagOfWords(lowercase=True), PassiveAggressiveClassifier())
    for words, label in [("cheap pills", True), ("lunch today", False)] * 3:
        text.predict_one(words)
        text.learn_one(words, label)
    assert text.predict_one("pills") is True


def test_it_learns_what_the_stream_does():
    mine, its = PassiveAggressiveRegressor(C=0.5), stream.PassiveAggressiveRegressor(C=0.5)
    for x, y in datasets.TrumpApproval().take(100):
        assert mine.predict_one(x) == its.predict_one(x)
        mine.learn_one(x, y)
        its.learn_one(x, y)
    again = pickle.loads(pickle.dumps(mine))
    assert again.predict_one(x) == mine.predict_one(x)
    assert mine.clone().model.totals_.rounds == 0


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_it_learns_the_weights_of_the_stream(model):
    """Both have the same parameters."""
    mine, its = model.clone(), type(model).learner(**model._get_params())
    numbers = isinstance(model, river.base.Regressor)
    for x, y in (datasets.TrumpApproval() if numbers else datasets.Phishing()).take(50):
        mine.learn_one(x, y)
        its.learn_one(x, y)
    assert anatomy(vars(mine.model)) == anatomy(vars(its))
    assert mine.model.explain(x) == its.explain(x) != {}


def test_names_of_any_type():
    model = PassiveAggressiveClassifier()
    model.learn_one({0: 1.0, ("a", 1): 2.0}, True)
    model.learn_one({0: -1.0}, False)
    assert model.model.n_features_ == 2
    assert model.predict_one({0: 1.0}) is True


def test_examples_that_are_not_dicts_go_to_the_stream_learner():
    """Lists of numbers, numbers and arrays raised errors about their own types."""
    model, learner = PassiveAggressiveClassifier(), stream.PassiveAggressiveClassifier()
    for x, y in (("a text", True), (["two", "names"], False)):
        model.learn_one(x, y)
        learner.learn_one(x, y)
    assert model.model.weights(True) == learner.weights(True)
    for wrong in ([1, 2], 5, None):
        with pytest.raises(TypeError, match=r"names of features must be strings|expected a dict of features"):
            model.learn_one(wrong, True)
    vectors = PassiveAggressiveClassifier()
    vectors.learn_one(np.array([1.0, 2.0]), True)
    assert vectors.predict_one(np.array([0.0, 1.0])) is True


def test_anomalies():
    """River's own checks need a data set that must be downloaded; these do not."""
    random = np.random.default_rng(0)
    detector = PassiveAggressiveUniclass(C=0.05, radius="learn", max_radius=3.0)
    assert isinstance(detector, river.base.AnomalyDetector)
    assert detector.score_one({"a": 1.0}) == 0
    usual = [{"a": float(a), "b": float(b)} for a, b in random.normal(5, 1, size=(300, 2))]
    for x in usual:
        detector.learn_one(x)
    odd = [{"a": x["a"] + 6, "b": x["b"]} for x in usual[:50]] + [{**x, "strange": 6.0} for x in usual[:50]]
    assert min(map(detector.score_one, odd)) > np.quantile([detector.score_one(x) for x in usual], 0.9)
    assert detector.clone().score_one({"a": 1.0}) == 0
    assert anomaly.QuantileFilter(detector, q=0.95).clone() is not None


def records():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    return X, pd.Series(np.where(X["a"] > 0, "up", "down")), X["a"] - X["b"]


@pytest.mark.parametrize("name", ["PassiveAggressiveClassifier", "AROWRegressor", "AutoClassifier"])
def test_frames_equal_single_examples(name):
    X, classes, numbers = records()
    y = numbers if name.endswith("Regressor") else classes
    frames, singles = (getattr(river_models, name)() for _ in range(2))
    frames.learn_many(X[:15], y[:15])
    frames.learn_many(X[15:], y[15:])
    for x, target in zip(X.to_dict("records"), y, strict=True):
        singles.learn_one(x, target)
    assert frames.model.weights() == singles.model.weights()
    predicted = frames.predict_many(X[5:9])
    assert predicted.index.tolist() == [5, 6, 7, 8]
    assert predicted.tolist() == [singles.predict_one(x) for x in X[5:9].to_dict("records")]


def test_frames_of_labels_are_learned_like_single_examples():
    X, classes, _ = records()
    y = pd.get_dummies(pd.Series(classes))
    frames, singles = LabelRanker(), LabelRanker()
    frames.learn_many(X[:15], y[:15])
    frames.learn_many(X[15:], y[15:])
    for x, labels in zip(X.to_dict("records"), y.to_dict("records"), strict=True):
        singles.learn_one(x, labels)
    for label in y.columns:
        assert frames.model.weights(label=label) == singles.model.weights(label=label)
    assert frames.labels == singles.labels
    assert frames.predict_many(X[5:9]).tolist() == [singles.predict_one(x) for x in X[5:9].to_dict("records")]


def test_weights_of_examples():
    X, y, _ = records()
    model, other = PassiveAggressiveClassifier(C=0.01), stream.PassiveAggressiveClassifier(C=0.01)
    weights = [1.0 + k % 3 for k in range(len(X))]
    examples = list(zip(X.to_dict("records"), y, weights, strict=True))
    evaluate.progressive_val_score([(x, target, {"w": w}) for x, target, w in examples], model, metrics.Accuracy())
    for x, target, w in examples:
        other.learn_one(x, target, w)
    assert model.model.weights() == other.weights()


def test_labels():
    model = LabelRanker()
    metric = metrics.multioutput.MicroAverage(metrics.F1())
    for k in range(40):
        y = {"even": k % 2 == 0, "third": k % 3 == 0, "never": False}
        x = {f"r{k % 6}": 1.0}
        predicted = model.predict_one(x)
        if k >= 12:
            assert predicted.keys() == y.keys()
            metric.update(y, predicted)
        model.learn_one(x, y)
    assert metric.get() == 1.0


def test_ranks_are_classes():
    model = OrdinalRegressor(ranks=[1, 2, 3])
    examples = [({"x": k % 3 - 1.0}, k % 3 + 1) for k in range(90)]
    assert evaluate.progressive_val_score(examples, model, metrics.Accuracy()).get() > 0.9
    with pytest.raises(ValueError, match="ranks are needed"):
        OrdinalRegressor()


def test_scores_of_anomalies_are_those_that_river_measures():
    """River's ROCAUC needs scores from 0 to 1: with distances, it was 0.14 where anomalies were always furthest."""
    random, detector, area = np.random.default_rng(0), PassiveAggressiveUniclass(epsilon=2.0, C=0.1), metrics.ROCAUC()
    for k in range(500):
        odd = k % 50 == 49
        x = {"a": float(random.normal() + 20 * odd), "b": float(random.normal())}
        score = detector.score_one(x)
        assert 0 <= score <= 1
        assert (detector.predict_one(x) < 0) == (score > 0.5)
        area.update(odd, score)
        detector.learn_one(x)
    assert area.get() > 0.99


@pytest.mark.parametrize("name", river_models.__all__)
def test_models_are_saved(name, tmp_path):
    hashed = RecordFeatures(n_features=64)
    needed = {"OrdinalRegressor": {"ranks": [0, 1]}, "Winnow": {"features": hashed, "balanced": True}}
    model = getattr(river_models, name)(**needed.get(name, {"features": hashed}))
    for k in range(20):
        x, y = {"a": 1.0 + k % 3, "b": float(k % 2)}, k % 2
        targets = {"LabelRanker": [{"p": bool(y), "q": True}], "PassiveAggressiveUniclass": []}.get(name, [y])
        model.learn_one(x, *targets)
        if k in {0, 19}:
            onmargin.save(model, tmp_path / "model")
            again = onmargin.load(tmp_path / "model")
            assert type(again) is type(model)
            assert to_bytes(again) == to_bytes(model)
    assert again.predict_one(x) == model.predict_one(x)
    assert again.clone().model.totals_.rounds == 0


def test_a_file_whose_learner_is_another_is_refused():
    model = river_models.PassiveAggressiveClassifier()
    for other in (stream.Perceptron(), stream.PassiveAggressiveClassifier(C=0.5)):
        model.model = other
        with pytest.raises(ModelFileError, match="the learner must be PassiveAggressiveClassifier with the same"):
            from_bytes(to_bytes(model))
    ranker = river_models.LabelRanker()
    ranker.labels = {"a": 1}
    with pytest.raises(ModelFileError, match="the labels must be a dict"):
        from_bytes(to_bytes(ranker))
