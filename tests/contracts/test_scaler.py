"""The scaler and scaled learners are scikit-learn estimators, can be saved, and lose nothing on errors."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import onmargin
from onmargin import PassiveAggressiveClassifier, PassiveAggressiveRegressor
from onmargin.evaluate import ChangeAlarm, progressive
from onmargin.features import RunningScaler, Scaled
from onmargin.theory import NoTheorem, certify

X, y = load_breast_cancer(return_X_y=True)
DAMAGED = sparse.csr_matrix(np.eye(3))
DAMAGED.indices[0] = 99


@parametrize_with_checks(
    [RunningScaler(), RunningScaler(by="max"), Scaled(PassiveAggressiveClassifier(random_state=0))]
)
def test_scikit_learn(estimator, check):
    check(estimator)


def test_names_of_features():
    frame = pd.DataFrame(X[:, :2], columns=["radius", "texture"])
    scaler = RunningScaler().fit(frame)
    assert scaler.get_feature_names_out().tolist() == ["radius", "texture"]
    assert scaler.set_output(transform="pandas").transform(frame).columns.tolist() == ["radius", "texture"]
    with pytest.raises(ValueError, match="feature names"):
        scaler.learn_transform(frame[["texture", "radius"]])
    assert not hasattr(Scaled(PassiveAggressiveClassifier()).partial_fit(X, y), "feature_names_in_")
    model = Scaled(PassiveAggressiveClassifier()).partial_fit(frame, y)
    assert model.feature_names_in_.tolist() == ["radius", "texture"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["texture", "radius"]])


BAD_ROWS = {
    "NaN": (np.full((1, 3), np.nan), "NaN"),
    "infinite": (np.full((1, 3), np.inf), "infinity"),
    "text": ([["a", "b", "c"]], "could not convert"),
    "damaged": (DAMAGED, "not a valid CSR matrix"),
    "wide": (np.ones((1, 4)), "4 features"),
}


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("method", ["partial_fit", "learn_transform", "fit"])
@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows_are_refused_and_nothing_is_lost(name, method, begun):
    if name == "wide" and (method == "fit" or not begun):
        return  # a valid number of features
    rows, words = BAD_ROWS[name]
    scaler = RunningScaler()
    if begun:
        scaler.partial_fit(np.arange(6.0).reshape(2, 3))
    before = pickle.dumps(scaler)
    with pytest.raises(ValueError, match=words):
        getattr(scaler, method)(rows)
    assert pickle.dumps(scaler) == before


def test_errors_name_the_problem():
    with pytest.raises(ValueError, match=r"by must be 'rms' or 'max'; got 'std'. Set it with RunningScaler.set_params"):
        RunningScaler(by="std").fit(X)
    with pytest.raises(ValueError, match="estimator must be an estimator with partial_fit; got"):
        Scaled(3).partial_fit(X, y)
    with pytest.raises(NotFittedError):
        RunningScaler().transform(X)
    with pytest.raises(NotFittedError):
        Scaled(PassiveAggressiveClassifier()).predict(X)
    for name in ("totals_", "classes_", "n_features_in_", "feature_names_in_"):
        with pytest.raises(AttributeError, match="has not learned anything yet: call partial_fit or fit first"):
            getattr(Scaled(PassiveAggressiveClassifier()), name)
    with pytest.raises(AttributeError, match="no rows have been learned yet"):
        _ = RunningScaler().scale_


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_learner_behind_a_scaler_equals_both_by_hand(container):
    model, scaler, learner = Scaled(PassiveAggressiveClassifier()), RunningScaler(), PassiveAggressiveClassifier()
    for part in (slice(200), slice(200, 569)):
        model.partial_fit(container(X[part]), y[part])
        learner.partial_fit(scaler.learn_transform(container(X[part])), y[part])
    assert model.totals_ == learner.totals_
    scaled = scaler.transform(container(X))
    np.testing.assert_array_equal(model.predict(container(X)), learner.predict(scaled))
    np.testing.assert_array_equal(model.decision_function(X), learner.decision_function(scaler.transform(X)))
    assert model.score(X, y) == learner.score(scaled, y)
    assert model.classes_.tolist() == [0, 1]
    assert not hasattr(model.estimator, "classes_")


def test_probabilities_are_those_of_the_learner():
    model = Scaled(PassiveAggressiveClassifier()).partial_fit(X, y)
    expected = model.estimator_.predict_proba(model.scaler_.transform(X))
    assert np.array_equal(model.predict_proba(X), expected)
    assert np.array_equal(model.predict_log_proba(X), np.log(expected))
    assert not hasattr(Scaled(PassiveAggressiveRegressor()), "predict_proba")


def test_fit_knows_all_rows():
    model = Scaled(PassiveAggressiveClassifier(random_state=0), by="max").fit(X, y)
    pipeline = make_pipeline(RunningScaler(by="max"), PassiveAggressiveClassifier(random_state=0)).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), pipeline.predict(X))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_input_that_the_learner_refuses_does_not_change_the_scaler(container):
    model = Scaled(PassiveAggressiveClassifier())
    with pytest.raises(ValueError, match="inconsistent"):
        model.partial_fit(container(X), y[:-1])
    assert not hasattr(model, "scaler_")
    model.partial_fit(container(X[:50]), y[:50])
    before = model.scaler_.scale_.tolist(), model.scaler_.n_samples_seen_, model.totals_
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(container(X[50:]), np.full(519, np.nan))
    assert (model.scaler_.scale_.tolist(), model.scaler_.n_samples_seen_, model.totals_) == before


@pytest.mark.parametrize(
    ("learner", "target"),
    [
        (PassiveAggressiveClassifier(), y),
        (PassiveAggressiveRegressor(), X[:, 0]),
        (SGDClassifier(random_state=0), y),
        (MiniBatchKMeans(2, random_state=0), None),
    ],
    ids=str,
)
def test_any_learner(learner, target):
    model = Scaled(learner)
    model.partial_fit(X, target, **({"classes": [0, 1]} if isinstance(learner, SGDClassifier) else {}))
    assert len(model.predict(X)) == len(X)
    assert (is_classifier(model), is_regressor(model)) == (is_classifier(learner), is_regressor(learner))
    assert hasattr(model, "decision_function") == hasattr(learner, "decision_function")


def test_units_make_no_difference_to_a_learner_behind_it():
    units = 2.0 ** np.random.default_rng(0).integers(-20, 20, X.shape[1])
    one, other = (Scaled(PassiveAggressiveClassifier()).partial_fit(rows, y) for rows in (X, X * units))
    assert one.totals_ == other.totals_
    diabetes, z = load_diabetes(return_X_y=True)
    one = Scaled(PassiveAggressiveRegressor()).partial_fit(diabetes, z)
    assert one.totals_ == Scaled(PassiveAggressiveRegressor()).partial_fit(4 * diabetes, z).totals_


def test_progressive():
    """The learner counts its own totals, or examples are evaluated one by one."""
    model = Scaled(PassiveAggressiveClassifier())
    curve = progressive(model, X, y, alarm=ChangeAlarm())
    assert round(curve.error[-1] * len(y)) == model.partial_fit(X, y, classes=[0, 1]).totals_.mistakes
    assert curve.changes is not None
    assert progressive(Scaled(SGDClassifier(random_state=0)), X[:50], y[:50]).rounds[-1] == 50
    with pytest.raises(NoTheorem, match="no theorem covers Scaled"):
        certify(model, X, y)


@pytest.mark.parametrize("begun", [False, True])
def test_saved(tmp_path, begun):
    model = Scaled(PassiveAggressiveClassifier(C=0.1), by="max")
    if begun:
        model.partial_fit(X[:300], y[:300])
    onmargin.save(model, tmp_path / "model.safetensors")
    twin = onmargin.load(tmp_path / "model.safetensors")
    for one in (model, twin):
        one.partial_fit(X[300:], y[300:])
    assert twin.totals_ == model.totals_
    np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
    onmargin.save(model.scaler_, tmp_path / "scaler.safetensors")
    scaler = onmargin.load(tmp_path / "scaler.safetensors")
    np.testing.assert_array_equal(scaler.transform(X), model.scaler_.transform(X))
