"""The models for river are estimators as river checks them, and learn what those of onmargin.stream do."""

import pickle

import numpy as np
import pytest

river = pytest.importorskip("river", reason="river is an extra: pip install onmargin[river]")

from river import anomaly, compose, datasets, evaluate, feature_extraction, metrics, preprocessing  # noqa: E402
from river.checks import yield_checks  # noqa: E402

from onmargin import stream  # noqa: E402
from onmargin.features import RecordFeatures  # noqa: E402
from onmargin.river import (  # noqa: E402
    AROWClassifier,
    AROWRegressor,
    AutoClassifier,
    AutoRegressor,
    NHERDClassifier,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    PassiveAggressiveUniclass,
    SCWClassifier,
)

MODELS = [
    PassiveAggressiveClassifier(),
    PassiveAggressiveClassifier(C=0.1, update="simproj", average=True),
    PassiveAggressiveClassifier(strategy="ovr", loss="squared_hinge", features=RecordFeatures(n_features=2**8)),
    PassiveAggressiveRegressor(),
    PassiveAggressiveRegressor(epsilon=0.0, loss="squared_epsilon_insensitive", average=5, fit_intercept=False),
    PassiveAggressiveClassifier(C="auto", combine="hedge"),
    PassiveAggressiveRegressor(geometry="adaptive", average="best"),
    AROWClassifier(),
    AROWRegressor(),
    AutoClassifier(),
    AutoRegressor(),
    NHERDClassifier(strategy="joint"),
    SCWClassifier(),
]


QUICK = [MODELS[0], MODELS[3]]  # one of each kind; the others are left to --full


def named_checks():
    for model in MODELS:
        marks = [] if model in QUICK else [pytest.mark.full]
        for i, check in enumerate(yield_checks(model)):
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
    """From the same parameters."""
    mine, its = model.clone(), type(model).learner(**model._get_params())
    numbers = isinstance(model, river.base.Regressor)
    for x, y in (datasets.TrumpApproval() if numbers else datasets.Phishing()).take(50):
        mine.learn_one(x, y)
        its.learn_one(x, y)
    assert mine.model.weights() == its.weights() != {}


def test_names_of_any_type():
    model = PassiveAggressiveClassifier()
    model.learn_one({0: 1.0, ("a", 1): 2.0}, True)
    model.learn_one({0: -1.0}, False)
    assert model.model.n_features_ == 2
    assert model.predict_one({0: 1.0}) is True


def test_anomalies():
    """Its checks in river need a data set that has to be fetched; these need none."""
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
