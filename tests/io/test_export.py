"""Exported scikit-learn predictors and ONNX models give the same scores as the original models."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

from onmargin import AutoClassifier, AutoRegressor, PassiveAggressiveClassifier, PassiveAggressiveRegressor
from onmargin.io import to_onnx, to_sklearn
from onmargin.io.export import CLASSIFIERS, REGRESSORS
from tests.saved import CASES, ESTIMATORS, Case

EXPORTED = [case for case in CASES if case.name in CLASSIFIERS | REGRESSORS and "kernel" not in case.parameters]


@pytest.mark.parametrize(
    "case", [case for case in EXPORTED if getattr(case.model(), "combine", "leader") == "leader"], ids=str
)
def test_scores_alike(case):
    model = case.half_way()
    X, _ = case.data()
    results = getattr(model, "experts_", None)
    if results is not None and results.coef[results.leader] is None:
        with pytest.raises(TypeError, match=f"leading expert, {results.names[results.leader]}, is not linear; use to_"):
            to_sklearn(model)
        return
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


@pytest.mark.parametrize("case", EXPORTED, ids=str)
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


def tables():
    random = np.random.default_rng(0)
    X = random.normal(loc=3.0, size=(1800, 6))
    product = (X[:, 0] - 3) * (X[:, 1] - 3)
    yield X, np.where(product > 0, "yes", "no")
    yield X, np.digitize(product + X[:, 2], [2.5, 3.5])
    yield X, np.where(X[:, 0] > 3, product, X[:, 3]) + 100
    yield X[:, :1] * 0 + np.arange(1800)[:, None] % 2, np.arange(1800) % 3  # ordered labels: a chain leads


@pytest.mark.parametrize("combine", ["hedge", "leader"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("table", range(4))
def test_onnx_predicts_as_the_vote(table, dtype, combine):
    """With a forest or boosted trees as the leader, the best linear expert was exported."""
    X, y = list(tables())[table]
    X = X.astype(dtype)
    kind = AutoRegressor if y.dtype.kind == "f" else AutoClassifier
    model = kind(combine=combine).partial_fit(X[:1500], y[:1500])
    out = run_onnx(to_onnx(model), X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a leader may forget
        if kind is AutoClassifier:
            np.testing.assert_array_equal(out["label"], model.predict(X))
            np.testing.assert_allclose(out["scores"], model.decision_function(X), rtol=1e-4, atol=1e-5)
        else:
            np.testing.assert_allclose(out["prediction"], model.predict(X), rtol=1e-6)


@pytest.mark.parametrize("experts", ["all", "linear"])
def test_onnx_after_few_rows_and_without_experts(experts):
    X, y = next(tables())
    for rows, keep in ((2, 20), (4, 20), (8, 20), (300, 3), (1500, 1)):
        model = AutoClassifier(experts=experts, drift=False).partial_fit(X[:rows], y[:rows], classes=["no", "yes"])
        model.retire(min(keep, len(model.experts_.names)))
        np.testing.assert_array_equal(run_onnx(to_onnx(model), X)["label"], model.predict(X))


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
