"""Export of models to scikit-learn and ONNX."""

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Classifiers whose scores are linear in the features: one per class (one in total for two classes); the highest wins.
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
# Regressors whose predictions are linear in the features.
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
    model's (the averaged ones if the model averages). The predictor cannot be trained further.

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

    linear = _linear_form(model, "scikit-learn has no predictor like", "to_sklearn")
    predictor = LinearRegression() if linear.classes is None else LinearSVC()
    if linear.classes is not None:
        predictor.classes_ = linear.classes
    # A regressor has one column of weights, which scikit-learn stores as a flat array.
    predictor.coef_ = linear.coef.ravel() if linear.classes is None else linear.coef
    predictor.intercept_ = float(linear.intercept[0]) if linear.classes is None else linear.intercept
    for attribute in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, attribute):
            setattr(predictor, attribute, getattr(model, attribute))
    return predictor


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Convert a fitted linear model to ONNX, for deployment without Python.

    The input is ``X``, a matrix with one column per feature, in the type of the model's weights. The outputs of
    classifiers are ``label``, the original labels, and ``scores``, the values of ``decision_function``. The output of
    regressors is ``prediction``. The ONNX model cannot be trained further.

    Parameters
    ----------
    model : object
        A fitted linear classifier or regressor of onmargin.
    path : str, path-like or None, default=None
        If given, the ONNX model is also written to this file.

    Returns
    -------
    graph : onnx.ModelProto
        A model that uses only standard ONNX operators, version 13: a product, a sum and a selection.

    Raises
    ------
    TypeError
        If the scores of the model are not linear in the features, or its labels are neither strings nor numbers.
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
    ['MatMul', 'Add', 'Squeeze', 'GreaterOrEqual', 'Cast', 'Gather']
    """
    linear = _linear_form(model, "ONNX has no operator like", "to_onnx")
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs onnx: pip install '.[onnx]' in a clone of onmargin") from error

    graph = _onnx_graph(linear, onnx)
    onnx.checker.check_model(graph)
    if path is not None:
        onnx.save(graph, os.fspath(path))
    return graph


class _Linear(NamedTuple):
    """Linear scores coef @ x + intercept: one per class, one for the second of two classes, or one prediction."""

    coef: NDArray[Any]
    intercept: NDArray[Any]
    classes: NDArray[Any] | None


def _linear_form(model: Any, refusal: str, function: str) -> _Linear:
    """Return copies of the weights and intercepts of a model, if its scores are linear."""
    from scipy import sparse
    from sklearn.utils.validation import check_is_fitted

    name = type(model).__name__
    if not type(model).__module__.startswith("onmargin.") or name not in CLASSIFIERS | REGRESSORS:
        accepted = ", ".join(sorted(CLASSIFIERS | REGRESSORS))
        raise TypeError(f"{refusal} {name}; {function} takes {accepted}")
    check_is_fitted(model)
    if getattr(model, "kernel", None) not in {None, "linear"}:
        raise TypeError(f"{refusal} {name} with a kernel: its weights are in another space")
    if getattr(model._learner.task, "hedge", False):
        raise TypeError(f"{refusal} {name} with combine='hedge': a vote of several models; learn with combine='leader'")
    if getattr(model, "forecast", False):
        raise TypeError(f"{refusal} {name} with forecast=True, which divides predictions; learn with forecast=False")
    classes = model.classes_.copy() if name in CLASSIFIERS else None
    if classes is not None and len(classes) < 2:
        raise ValueError(
            f"an exported classifier needs at least two classes, and this model has seen {classes.tolist()} only: "
            "train it further"
        )
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else np.atleast_2d(model.coef_).copy()
    return _Linear(coef, getattr(model, "intercept_", np.zeros(1)).copy(), classes)


def _onnx_graph(linear: _Linear, onnx: Any) -> Any:
    """Return a graph that computes the scores, the index of the predicted class, and its label."""
    node, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    kind = linear.coef.dtype if linear.coef.dtype == np.float32 else np.dtype(np.float64)
    number = onnx.helper.np_dtype_to_tensor_dtype(kind)
    n_scores, n_features = linear.coef.shape
    constants = {
        "weights": np.ascontiguousarray(linear.coef.T, kind),
        "intercept": np.broadcast_to(linear.intercept, n_scores).astype(kind),
        "columns": np.array([1], np.int64),
        "zero": np.zeros((), kind),
    }
    out = "prediction" if linear.classes is None else "scores"
    nodes = [node("MatMul", ["X", "weights"], ["products"])]
    if n_scores == 1:
        nodes += [node("Add", ["products", "intercept"], ["sums"]), node("Squeeze", ["sums", "columns"], [out])]
    else:
        nodes.append(node("Add", ["products", "intercept"], [out]))
    outputs = [value(out, number, ["n"] if n_scores == 1 else ["n", n_scores])]
    if linear.classes is not None:
        constants["classes"] = _onnx_labels(linear.classes)
        if n_scores == 1:  # a score of zero predicts the second class
            nodes += [node("GreaterOrEqual", ["scores", "zero"], ["second"]), node("Cast", ["second"], ["place"], to=7)]
        else:
            nodes.append(node("ArgMax", ["scores"], ["place"], axis=1, keepdims=0))
        nodes.append(node("Gather", ["classes", "place"], ["label"]))
        labels = onnx.helper.np_dtype_to_tensor_dtype(constants["classes"].dtype)
        outputs.insert(0, value("label", labels, ["n"]))
    used = {name for one in nodes for name in one.input}
    tensors = [onnx.numpy_helper.from_array(array, name) for name, array in constants.items() if name in used]
    graph = onnx.helper.make_graph(nodes, "onmargin", [value("X", number, ["n", n_features])], outputs, tensors)
    # This IR version is supported by every runtime with version 13 of the operators.
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)


def _onnx_labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Return the labels in a type that ONNX supports."""
    if classes.dtype.kind in "iub":
        return classes.astype(np.int64 if classes.dtype.kind in "iu" else np.bool_)
    if classes.dtype.kind == "f":
        return classes.astype(np.float64)
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    raise TypeError(f"labels for ONNX are strings or numbers; got {classes.tolist()[:5]!r}")
