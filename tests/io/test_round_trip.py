"""A loaded model equals the saved one, and continues learning as if it had never stopped."""

import json
import os
import pickle

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open
from sklearn.exceptions import ConvergenceWarning

import onmargin
from onmargin._core.calibration import Calibration
from onmargin._core.geometries.geometry import Geometry
from onmargin._core.rounds import Totals
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task
from onmargin._core.text.names import Index
from onmargin._core.text.words import Frequencies
from onmargin._parts import Part, parts
from onmargin.features import ClassTermFeatures
from tests.saved import CASES, ESTIMATORS, Case, InOrder, anatomy, answers, phi

every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_variant = pytest.mark.parametrize(
    "case", [case for case in CASES if case.sparse == (case.dtype is np.float32)], ids=str
)
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def returned(model, path, given=None):
    onmargin.save(model, path)
    return onmargin.load(path, parameters=given)


def document(path):
    with safe_open(path, framework="numpy") as file:
        return json.loads(file.metadata()["onmargin"])


@every_case
def test_learning_continues(case, path):
    model = case.half_way()
    before = anatomy(model)
    twin = returned(model, path, case.given)
    assert anatomy(model) == before
    assert anatomy(twin) == before
    for each in (model, twin):
        each.partial_fit(*case.half(1))
    assert anatomy(twin) == anatomy(model)
    never_stopped = case.half_way().partial_fit(*case.half(1))
    assert anatomy(twin) == anatomy(never_stopped)
    X, _ = case.data()
    assert answers(twin, X) == answers(never_stopped, X)
    assert twin.totals_ == never_stopped.totals_


@every_variant
@pytest.mark.filterwarnings("ignore", category=ConvergenceWarning)
def test_fitting_continues(case, path):
    options = {"warm_start": True, "random_state": 3, "max_iter": 3}
    accepted = case.model().get_params()
    model = case.model(**{name: value for name, value in options.items() if name in accepted}).fit(*case.data())
    twin = returned(model, path, case.given)
    assert anatomy(twin) == anatomy(model)
    for each in (model, twin):
        each.fit(*case.half(0))
    assert anatomy(twin) == anatomy(model)


@every_variant
def test_same_model_same_bytes(case, path):
    onmargin.save(case.half_way(), path)
    once = path.read_bytes()
    onmargin.save(case.half_way(), path)
    assert path.read_bytes() == once
    onmargin.save(onmargin.load(path, parameters=case.given), path)
    assert path.read_bytes() == once


@every_estimator
def test_unfitted(name, path):
    case = Case(name)
    twin = returned(case.model(), path, case.given)
    assert anatomy(twin) == anatomy(case.model())
    assert not twin.__sklearn_is_fitted__()


@every_estimator
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_weights(name, dtype, path):
    case = Case(name, dtype=dtype)
    model = case.half_way()
    if not hasattr(model, "sparsify") or name.startswith("Auto"):
        pytest.skip("has no sparse weights")
    model.sparsify()
    twin = returned(model, path)
    assert anatomy(twin) == anatomy(model)
    for each in (model, twin):
        each.partial_fit(*case.half(1))
    assert anatomy(twin) == anatomy(model)


def test_no_two_kinds_of_parts_share_a_name():
    roots = (Task, Step, Geometry, Totals, Calibration, Index, Frequencies, Part)
    family = {kind for root in roots for kind in descendants(root)}
    assert set(parts().values()) == {kind for kind in family if kind.__module__.startswith("onmargin.")}


def descendants(kind):
    return {kind}.union(*map(descendants, kind.__subclasses__()))


LABELS = {
    "int8": np.array([-3, 0, 5], np.int8),
    "int64": np.array([-(2**62), 0, 2**62 + 1]),
    "uint8": np.array([1, 2, 3], np.uint8),
    "bool": np.array([False, True]),
    "float64": np.array([-1.0, 0.0, 3.0]),
    "str": np.array(["ham", "spam", "Ünïcode \u2028 \U0001f600"]),
    "object": np.array(["a", "bb", 'quo"te'], dtype=object),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels(labels, path):
    X, codes = Case("PassiveAggressiveClassifier").half(0)
    model = onmargin.PassiveAggressiveClassifier().partial_fit(X, labels[codes % len(labels)])
    twin = returned(model, path)
    assert twin.classes_.dtype == model.classes_.dtype
    assert list(map(type, twin.classes_.tolist())) == list(map(type, model.classes_.tolist()))
    np.testing.assert_array_equal(twin.classes_, model.classes_)
    assert twin.predict(X).tolist() == model.predict(X).tolist()


def test_feature_names(path):
    X, y = Case("PassiveAggressiveRegressor").half(0)
    frame = pd.DataFrame(X, columns=[f"größe {j}" for j in range(X.shape[1])])
    model = onmargin.PassiveAggressiveRegressor().partial_fit(frame, y)
    twin = returned(model, path)
    assert anatomy(twin) == anatomy(model)
    with pytest.raises(ValueError, match="feature names"):
        twin.partial_fit(frame[frame.columns[::-1]], y)


def test_a_target_that_was_reached(path):
    X, y = Case("PassiveAggressiveRegressor").half(0)
    model = onmargin.PassiveAggressiveRegressor(target_loss=0.5, random_state=0).fit(X, y)
    assert returned(model, path).converged_ is True


def test_random_state_continues(path):
    """A RandomState keeps the position where the model left it."""
    case = Case("PassiveAggressiveClassifier")
    model = case.model(random_state=np.random.RandomState(5), max_iter=2, tol=None).fit(*case.data())
    model.random_state.standard_normal()  # one number of a pair is kept for the next call
    twin = returned(model, path)
    for each in (model, twin):
        each.fit(*case.half(0))
    assert anatomy(twin) == anatomy(model)


def test_parameters_changed_since(path):
    """Changed parameters affect predictions only after the model learns again."""
    X, _ = Case("PassiveAggressiveUniclass").half(0)
    model = onmargin.PassiveAggressiveUniclass(epsilon=0.5).partial_fit(X).set_params(epsilon=0.1)
    twin = returned(model, path)
    assert (twin.epsilon, twin.radius_) == (0.1, 0.5)


def test_trials_are_remembered(path):
    X, y = Case("BlockClassifier").half(0)
    model = onmargin.BlockClassifier().partial_fit(X, y, groups=["a"] * 10 + ["b"] * 20)
    with pytest.raises(ValueError, match="already learned"):
        returned(model, path).partial_fit(X, y, groups=["b"] * 30)


def test_transformers(path):
    X, y = Case("PassiveAggressiveClassifier").half(0)
    terms = ClassTermFeatures(kind="multiplicative").partial_fit(X, y)
    assert anatomy(returned(terms, path)) == anatomy(terms)


def test_functions_are_passed_to_load(path):
    model = Case("ClassFeatureClassifier", {"phi": phi}).half_way()
    twin = returned(model, path, {"phi": phi})
    assert twin.phi is phi
    assert anatomy(twin) == anatomy(model)
    assert document(path)["parameters"]["phi"] == {"given": "phi"}


def test_a_tagger_of_matrices(path):
    random = np.random.default_rng(0)
    X, y, lengths = random.random((40, 3)), random.integers(2, size=40), [8] * 5
    wider, more = np.hstack([X, X[:, :1]]), y + np.arange(40) // 20
    model = onmargin.SequenceTagger(average=True).partial_fit(X, y, lengths=lengths)
    twin = returned(model, path)
    assert anatomy(twin) == anatomy(model)
    for each in (model, twin):
        each.partial_fit(wider, more, lengths=lengths)
    assert anatomy(twin) == anatomy(model)


def test_names_are_one_text(path):
    """Names of features are not stored as JSON, because headers have limited size."""
    names = [f"w[{i}]={i % 7 * 'é'}" for i in range(2000)]
    tagger = onmargin.SequenceTagger().partial_fit([[names]], [["a"]])
    predictor = onmargin.StructuredPredictor(model=InOrder()).partial_fit([names], [names[::-1]])
    for model, given in ((tagger, {}), (predictor, {"model": predictor.model})):
        twin = returned(model, path, given)
        assert twin.feature_names_ == model.feature_names_
        assert len(json.dumps(document(path))) < 5000


def test_names_that_cannot_be_saved(path):
    model = Case("StructuredPredictor", {"model": InOrder(frozenset)}).half_way()
    with pytest.raises(TypeError, match=r"state\._features\.names\.0 is a frozenset, and a model file holds numbers"):
        onmargin.save(model, path)


def test_files_can_be_read_without_onmargin(path):
    """The file has the format of docs/model_files.rst."""
    model = Case("PassiveAggressiveClassifier").half_way()
    onmargin.save(model, path)
    described = document(path)
    assert described["class"] == "PassiveAggressiveClassifier"
    assert described["schema"] == 1
    assert described["parameters"]["C"] == 1.0
    learner = described["state"]["_model"]["part"]["arguments"][0]["part"]
    assert learner["state"]["part"]["state"]["dict"]["rounds"] == 30
    geometry = learner["arguments"][2]["part"]
    with safe_open(path, framework="numpy") as file:
        assert set(file.keys()) == set(described["arrays"])
        weights = file.get_tensor(geometry["state"]["dict"]["weights"]["array"])
    np.testing.assert_array_equal(weights, model.coef_)


def test_errors_survive_pickling(path):
    """Exceptions can be passed between processes."""
    path.write_bytes(b"")
    with pytest.raises(onmargin.ModelFileError) as caught:
        onmargin.load(path)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
