"""Export of models to scikit-learn and ONNX."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._core.geometries.geometry import Geometry
from onmargin._core.several.tasks import ExpertVote
from onmargin.io._onnx_graph import INT64, Graph, Traced
from onmargin.models.ensemble import find_leader, trace_models

# Classifiers with one score per class (one in total for two classes), of which the highest wins.
CLASSIFIERS = {
    "AROWClassifier",
    "AutoClassifier",
    "BlockClassifier",
    "DualAscentClassifier",
    "NHERDClassifier",
    "PNormPerceptron",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "QuasiAdditiveClassifier",
    "OnlineLogisticClassifier",
    "SCWClassifier",
    "Winnow",
}
# Regressors that can be exported.
REGRESSORS = {
    "AROWRegressor",
    "AutoRegressor",
    "DualAscentRegressor",
    "ExponentiatedGradientRegressor",
    "GradientDescentRegressor",
    "OnlineRidgeRegressor",
    "PassiveAggressiveRegressor",
}


def to_sklearn(model: Any) -> Any:
    """Convert a fitted linear model to a scikit-learn predictor, for deployment without onmargin.

    Classifiers become a ``LinearSVC`` and regressors a ``LinearRegression``. Weights and intercepts are copies of the
    model's (the averaged ones if the model averages). The predictor cannot be trained further. A vote of several models
    is refused, and so is a leading expert that is not linear; `to_onnx` takes both.

    Parameters
    ----------
    model : object
        A fitted linear classifier or regressor of onmargin.

    Returns
    -------
    predictor : LinearSVC or LinearRegression
        A predictor with the same ``decision_function`` or ``predict`` up to rounding. With two classes, scikit-learn
        predicts the first class for a score of exactly zero, and onmargin the second.

    Raises
    ------
    TypeError
        If scikit-learn has no equivalent predictor.
    ValueError
        If the model has seen only one class.

    Examples
    --------
    >>> from onmargin import PassiveAggressiveClassifier
    >>> from onmargin.io import to_sklearn
    >>> model = PassiveAggressiveClassifier().partial_fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"])
    >>> to_sklearn(model)
    LinearSVC()
    >>> to_sklearn(model).predict([[0.9, 0.1]]).item()
    'spam'
    """
    from sklearn.linear_model import LinearRegression
    from sklearn.svm import LinearSVC

    refusal, name = "scikit-learn has no predictor like", type(model).__name__
    _check_exportable(model, refusal, "to_sklearn")
    vote = getattr(model._learner, "task", None)
    if isinstance(vote, ExpertVote):
        if vote.hedge:
            raise TypeError(f"{refusal} {name} with combine='hedge', a vote of several models; use to_onnx")
        if find_leader(vote, model._learner.geometry).nonlinear:
            leader = model.experts_.names[vote.leader]
            raise TypeError(f"{refusal} {name}, whose leading expert, {leader}, is not linear; use to_onnx")
    coef, intercept = _linear_form(model)
    predictor = LinearSVC() if _classifies(model) else LinearRegression()
    if _classifies(model):
        predictor.classes_ = model.classes_.copy()
    # A regressor has one column of weights, which scikit-learn stores as a flat array.
    predictor.coef_ = coef if _classifies(model) else coef.ravel()
    predictor.intercept_ = intercept if _classifies(model) else float(intercept[0])
    for attribute in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, attribute):
            setattr(predictor, attribute, getattr(model, attribute))
    return predictor


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Convert a fitted linear model, or one of several models that vote, to ONNX, for deployment without Python.

    The input is ``X``, a matrix with one column per feature, in the type of the model's weights. The outputs of
    classifiers are ``label``, the original labels, and ``scores``, the values of ``decision_function``. The output of
    regressors is ``prediction``. The ONNX model cannot be trained further.

    `AutoClassifier`, `AutoRegressor` and several values of C are exported as they predict: the votes of all experts
    that are awake, or the leader alone, whatever kind of expert it is. Experts that predict from the last labels or
    targets predict as if the last ones learned were still the last.

    Parameters
    ----------
    model : object
        A fitted classifier or regressor of onmargin that is linear, or made of several models.
    path : str, path-like or None, default=None
        If given, the ONNX model is also written to this file.

    Returns
    -------
    graph : onnx.ModelProto
        A model that uses only standard ONNX operators, version 13, and for trees those of ``ai.onnx.ml``.

    Raises
    ------
    TypeError
        If the model has a kernel or is of a kind that is not exported, or its labels are neither strings nor numbers.
    ValueError
        If the model has seen only one class.
    ImportError
        If onnx is not installed: ``pip install '.[onnx]'`` in a clone.

    See Also
    --------
    to_sklearn : Convert to a scikit-learn predictor.

    Examples
    --------
    >>> from onmargin import PassiveAggressiveClassifier
    >>> from onmargin.io import to_onnx
    >>> model = PassiveAggressiveClassifier().partial_fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"])
    >>> [node.op_type for node in to_onnx(model).graph.node]
    ['MatMul', 'Add', 'Squeeze', 'GreaterOrEqual', 'Cast', 'Gather', 'Identity', 'Identity']
    """
    _check_exportable(model, "ONNX has no operator like", "to_onnx")
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs onnx: pip install '.[onnx]' in a clone of onmargin") from error

    classes = model.classes_ if _classifies(model) else None
    vote = getattr(model._learner, "task", None)
    if isinstance(vote, ExpertVote):
        graph = _vote_graph(vote, model._learner.geometry, classes)
    else:
        graph = _linear_graph(*_linear_form(model), classes)
    onnx.checker.check_model(graph)
    if path is not None:
        onnx.save(graph, os.fspath(path))
    return graph


def _classifies(model: Any) -> bool:
    return type(model).__name__ in CLASSIFIERS


def _check_exportable(model: Any, refusal: str, function: str) -> None:
    """Refuse models that cannot be exported."""
    from sklearn.utils.validation import check_is_fitted

    name = type(model).__name__
    if not type(model).__module__.startswith("onmargin.") or name not in CLASSIFIERS | REGRESSORS:
        accepted = ", ".join(sorted(CLASSIFIERS | REGRESSORS))
        raise TypeError(f"{refusal} {name}; {function} takes {accepted}")
    check_is_fitted(model)
    if getattr(model, "kernel", None) not in {None, "linear"}:
        raise TypeError(f"{refusal} {name} with a kernel: its weights are in another space")
    if getattr(model, "forecast", False):
        raise TypeError(f"{refusal} {name} with forecast=True, which divides predictions; learn with forecast=False")
    if _classifies(model) and len(model.classes_) < 2:
        raise ValueError(
            f"an exported classifier needs at least two classes, and this model has seen {model.classes_.tolist()} "
            "only: train it further"
        )


def _linear_form(model: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return copies of the weights and intercepts of a model: one row per class, or one row."""
    from scipy import sparse

    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else np.atleast_2d(model.coef_).copy()
    return coef, np.broadcast_to(getattr(model, "intercept_", np.zeros(1)), len(coef)).copy()


def _linear_graph(coef: NDArray[Any], intercept: NDArray[Any], classes: NDArray[Any] | None) -> Any:
    """Return the ONNX model of linear scores."""
    kind = coef.dtype if coef.dtype == np.float32 else np.dtype(np.float64)
    graph = Graph(kind)
    rows = graph.input("X", kind)
    return _with_labels(rows.times(coef.T, intercept), len(coef), ("X", kind, coef.shape[1]), classes)


def _vote_graph(vote: ExpertVote, geometry: Geometry, classes: NDArray[Any] | None) -> Any:
    """Return the ONNX model of several models that predict as one."""
    graph = Graph(np.dtype(np.float64))
    models = trace_models(geometry, vote.width, graph.input("X", geometry.dtype))
    return _with_labels(vote.trace(models), vote.width, ("X", geometry.dtype, geometry.n_features), classes)


def _with_labels(
    scores: Traced, n_scores: int, rows: tuple[str, np.dtype[Any], int], classes: NDArray[Any] | None
) -> Any:
    """Return the ONNX model of scores, with the labels that they predict."""
    graph, kind = scores.graph, rows[1]
    flat = graph.add("Squeeze", scores.name, graph.constant([1], kind=np.int64)) if n_scores == 1 else scores
    shape = ["n"] if n_scores == 1 else ["n", n_scores]
    if classes is None:
        return graph.model(rows, {"prediction": (flat.rounded_to(kind), kind, shape)})
    # A score of zero predicts the second class.
    place = (flat >= 0.0).cast(INT64) if n_scores == 1 else flat.argmax()
    labels = _onnx_labels(classes)
    label = graph.add("Gather", graph.constant(labels, kind=labels.dtype), place.name)
    return graph.model(rows, {"label": (label, labels.dtype, ["n"]), "scores": (flat.rounded_to(kind), kind, shape)})


def _onnx_labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Return the labels in a type that ONNX supports."""
    if classes.dtype.kind in "iub":
        return classes.astype(np.int64 if classes.dtype.kind in "iu" else np.bool_)
    if classes.dtype.kind == "f":
        return classes.astype(np.float64)
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    raise TypeError(f"labels for ONNX are strings or numbers; got {classes.tolist()[:5]!r}")
