"""Pipelines learn online, with scikit-learn's transformers before our learners."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from onmargin import AROWClassifier, PassiveAggressiveClassifier, PassiveAggressiveRegressor
from onmargin.evaluate import progressive
from onmargin.pipeline import Pipeline, make_pipeline

X = np.random.default_rng(0).normal(size=(60, 3)) * [1, 100, 0.01] + 5
Y = (X[:, 2] > 5).astype(int)
TEXTS = ["cheap pills", "lunch at noon", "cheap watches", "noon meeting"]


def test_transformers_learn_before_the_last_step():
    model = make_pipeline(StandardScaler(), Normalizer(), PassiveAggressiveClassifier())
    scaler, learner = StandardScaler(), PassiveAggressiveClassifier()
    for part in (slice(0, 20), slice(20, 60)):
        model.partial_fit(X[part], Y[part])
        learner.partial_fit(Normalizer().transform(scaler.partial_fit(X[part]).transform(X[part])), Y[part])
    assert np.array_equal(model[-1].coef_, learner.coef_)
    assert np.array_equal(model.predict(X), learner.predict(Normalizer().transform(scaler.transform(X))))
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()
    assert model.score(X, Y) > 0.8


def test_one_example_at_a_time():
    one = make_pipeline(StandardScaler(), PassiveAggressiveClassifier())
    many = clone(one)
    for x, y in zip(X, Y.tolist(), strict=True):
        one.learn_one(x, y, weight=0.5)
        many.partial_fit(x[None], [y], sample_weight=[0.5])
    assert np.array_equal(one[-1].coef_, many[-1].coef_)
    assert one.predict_one(X[0]) == many.predict(X[:1])[0]
    numbers = make_pipeline(StandardScaler(), PassiveAggressiveRegressor())
    assert isinstance(numbers.learn_one(X[0], 1.5).predict_one(X[0]), float)


def test_texts_and_progressive_evaluation():
    model = Pipeline([("words", HashingVectorizer()), ("nothing", "passthrough"), ("learner", AROWClassifier())])
    curve = progressive(model, [(text, k % 2) for k, text in enumerate(TEXTS * 10)])
    assert curve.rounds[-1] == 40
    assert curve.error[-1] < 0.2
    assert model.set_params(learner__r=0.5)[-1].r == 0.5


def test_a_call_that_raises_changes_nothing():
    model = make_pipeline(StandardScaler(), PassiveAggressiveClassifier()).partial_fit(X, Y)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.partial_fit(X * 2, Y[:5])
    assert pickle.dumps(model) == before
    untrained = make_pipeline(StandardScaler(), PassiveAggressiveClassifier())
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        untrained.partial_fit(X, Y[:5])
    assert not hasattr(untrained[0], "mean_")


def test_steps_that_cannot_learn_online_are_named():
    with pytest.raises(TypeError, match=r"step 'pca', a PCA, cannot learn online.*IncrementalPCA.*FrozenEstimator"):
        make_pipeline(MinMaxScaler(), PCA(2), AROWClassifier()).partial_fit(X, Y)
    frozen = make_pipeline(FrozenEstimator(PCA(2).fit(X)), AROWClassifier()).partial_fit(X, Y)
    assert frozen[-1].n_features_in_ == 2
    with pytest.raises(TypeError, match="the last step, 'pca', must have partial_fit; got PCA"):
        make_pipeline(StandardScaler(), PCA()).partial_fit(X, Y)
