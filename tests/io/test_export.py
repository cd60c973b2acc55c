"""Exported scikit-learn predictors and ONNX models give the same scores as the original models."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

from onmargin import AutoClassifier, PassiveAggressiveClassifier, PassiveAggressiveRegressor
from onmargin.io import to_onnx, to_sklearn
from onmargin.io.export import CLASSIFIERS, REGRESSORS
from tests.saved import CASES, ESTIMATORS, Case

LINEAR = [
    case
    for case in CASES
    if case.name in CLASSIFIERS | REGRESSORS
    and "kernel" not in case.parameters
    and getattr(case.model(), "combine", "leader") == "leader"
]


@pytest.mark.parametrize("case", LINEAR, ids=str)
def test_scores_alike(case):
    model = case.half_way()
    X, _ = case.data()
    predictor = to_sklearn(model)
    assert type(predictor).__module__.startswith("sklearn.")
    if is_classifier(model):
        np.testing.assert_allclose(predictor.decision_function(X), model.decision_function(X), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(predictor.predict(X), model.predict(X), rtol=1e-4, atol=1e-5)


def test_is_a_copy():
    model = PassiveAggressiveClassifier().partial_fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    predictor = to_sklearn(model)
    before = predictor.decision_function([[1.0, 2.0]])
    model.partial_fit([[0.0, 3.0]], [1])
    np.testing.assert_array_equal(predictor.decision_function([[1.0, 2.0]]), before)


def test_sparse_weights_and_names():
    frame = pd.DataFrame([[0.0, 1.0], [1.0, 0.0]], columns=["a", "b"])
    model = PassiveAggressiveRegressor().partial_fit(frame, [0.0, 1.0]).sparsify()
    predictor = to_sklearn(model)
    assert predictor.feature_names_in_.tolist() == ["a", "b"]
    assert not sparse.issparse(predictor.coef_)
    np.testing.assert_allclose(predictor.predict(frame), model.predict(frame))


def run_onnx(graph, X):
    runtime = pytest.importorskip("onnxruntime", reason="ONNX models are run by onnxruntime")
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    kind = np.float32 if session.get_inputs()[0].type == "tensor(float)" else np.float64
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": np.asarray(X, kind)}), strict=True))


@pytest.mark.parametrize("case", LINEAR, ids=str)
def test_onnx_scores_alike(case):
    model = case.half_way()
    X, _ = case.data()
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    out = run_onnx(to_onnx(model), X)
    if is_classifier(model):
        np.testing.assert_allclose(out["scores"], model.decision_function(X), rtol=1e-4, atol=1e-5)
        clear = np.abs(np.atleast_2d(out["scores"].T)).max(axis=0) > 1e-3
        np.testing.assert_array_equal(out["label"][clear], model.predict(X)[clear])
    else:
        np.testing.assert_allclose(out["prediction"], model.predict(X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("labels", [["ham", "spam"], ["a", "b", "c"], [7, -3], [1, 2, 30], [True, False], [0.0, 1.0]])
def test_onnx_keeps_labels(labels, tmp_path):
    X = np.eye(len(labels))
    model = PassiveAggressiveClassifier().partial_fit(X, labels)
    graph = to_onnx(model, tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == graph.SerializeToString()
    X = np.vstack([X, np.zeros(len(labels))])  # a tie, which the same class wins
    assert run_onnx(graph, X)["label"].tolist() == model.predict(X).tolist()


def test_onnx_refusals(monkeypatch):
    with pytest.raises(TypeError, match="ONNX has no operator like LabelRanker; to_onnx takes AROWClassifier"):
        to_onnx(Case("LabelRanker").model())
    with pytest.raises(TypeError, match="ONNX has no operator like PassiveAggressiveClassifier with a kernel"):
        to_onnx(PassiveAggressiveClassifier(kernel="rbf").partial_fit([[1.0], [-1.0]], [0, 1]))
    with pytest.raises(ValueError, match=r"has seen \['spam'\] only: train it further"):
        to_onnx(PassiveAggressiveClassifier().partial_fit([[1.0]], ["spam"]))
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install '\.\[onnx\]'"):
        to_onnx(PassiveAggressiveClassifier().partial_fit([[1.0], [-1.0]], [0, 1]))


@pytest.mark.parametrize("name", sorted(ESTIMATORS.keys() - CLASSIFIERS - REGRESSORS))
def test_others_are_refused(name):
    with pytest.raises(TypeError, match=f"scikit-learn has no predictor like {name}; to_sklearn takes AROWClassifier"):
        to_sklearn(Case(name).model())


def test_refusals():
    with pytest.raises(TypeError, match="no predictor like AutoClassifier with combine='hedge'"):
        to_sklearn(AutoClassifier().partial_fit([[1.0], [-1.0]], [0, 1]))
    with pytest.raises(TypeError, match="no predictor like PassiveAggressiveClassifier with a kernel"):
        to_sklearn(PassiveAggressiveClassifier(kernel="rbf").partial_fit([[1.0], [-1.0]], [0, 1]))
    with pytest.raises(NotFittedError):
        to_sklearn(PassiveAggressiveClassifier())
    with pytest.raises(ValueError, match=r"has seen \['spam'\] only: train it further"):
        to_sklearn(PassiveAggressiveClassifier().partial_fit([[1.0]], ["spam"]))
    with pytest.raises(TypeError, match="no predictor like LinearSVC"):
        to_sklearn(to_sklearn(PassiveAggressiveClassifier().partial_fit([[1.0], [-1.0]], [0, 1])))
