"""Models for other libraries."""

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Scores of these are linear in the features, one a class (one for two classes), and the highest wins.
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
    "SCWClassifier",
    "Winnow",
}
# Predictions of these are.
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
    """Make a predictor of scikit-learn's own that scores as a fitted model does, to deploy where onmargin is not.

    Classifiers become a ``LinearSVC``, regressors a ``LinearRegression``: plain linear predictors, whose weights
    and intercepts are copies of the model's (averaged ones if it averages). It does not learn on.

    Parameters
    ----------
    model : object
        A fitted linear classifier or regressor of onmargin.

    Returns
    -------
    predictor : LinearSVC or LinearRegression
        With the same ``decision_function`` or ``predict`` up to rounding. A score of exactly zero between two classes
        is the first class there, and the second here.

    Raises
    ------
    TypeError
        If scikit-learn has no predictor like it.
    ValueError
        If it has met one class only.

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
    # A regressor has one column of weights, which scikit-learn keeps flat.
    predictor.coef_ = linear.coef.ravel() if linear.classes is None else linear.coef
    predictor.intercept_ = float(linear.intercept[0]) if linear.classes is None else linear.intercept
    for attribute in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, attribute):
            setattr(predictor, attribute, getattr(model, attribute))
    return predictor


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Make an ONNX model that scores as a fitted model does, to deploy where Python is not.

    It takes ``X``, a matrix of as many columns as the model has features, in the type of its weights. Classifiers give
    ``label``, the labels as they were learned, and ``scores``, what ``decision_function`` gives; regressors give
    ``prediction``. It does not learn on.

    Parameters
    ----------
    model : object
        A fitted linear classifier or regressor of onmargin.
    path : str, path-like or None, default=None
        Where to write it, too.

    Returns
    -------
    graph : onnx.ModelProto
        Operators of ONNX's own set alone, version 13: a product, a sum and a choice.

    Raises
    ------
    TypeError
        If the scores of the model are not linear in the features, or its labels are neither strings nor numbers.
    ValueError
        If it has met one class only.
    ImportError
        If there is no onnx: ``pip install '.[onnx]'`` in a clone.

    See Also
    --------
    to_sklearn : A predictor of scikit-learn's own.

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
    """Scores of x: coef @ x + intercept, one a class, or one of the second of two; without classes a prediction."""

    coef: NDArray[Any]
    intercept: NDArray[Any]
    classes: NDArray[Any] | None


def _linear_form(model: Any, refusal: str, function: str) -> _Linear:
    """Copies of what a model has learned, if its scores are linear."""
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
            f"a classifier for others has at least two classes, and this model has met {classes.tolist()} only: let it "
            "learn on"
        )
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else np.atleast_2d(model.coef_).copy()
    return _Linear(coef, getattr(model, "intercept_", np.zeros(1)).copy(), classes)


def _onnx_graph(linear: _Linear, onnx: Any) -> Any:
    """Scores, the place of the class that they choose, and the label at that place."""
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
        if n_scores == 1:  # a score of zero is the second class
            nodes += [node("GreaterOrEqual", ["scores", "zero"], ["second"]), node("Cast", ["second"], ["place"], to=7)]
        else:
            nodes.append(node("ArgMax", ["scores"], ["place"], axis=1, keepdims=0))
        nodes.append(node("Gather", ["classes", "place"], ["label"]))
        labels = onnx.helper.np_dtype_to_tensor_dtype(constants["classes"].dtype)
        outputs.insert(0, value("label", labels, ["n"]))
    used = {name for one in nodes for name in one.input}
    tensors = [onnx.numpy_helper.from_array(array, name) for name, array in constants.items() if name in used]
    graph = onnx.helper.make_graph(nodes, "onmargin", [value("X", number, ["n", n_features])], outputs, tensors)
    # Old enough for any runtime that has version 13 of the operators.
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)


def _onnx_labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Labels in a type that ONNX has."""
    if classes.dtype.kind in "iub":
        return classes.astype(np.int64 if classes.dtype.kind in "iu" else np.bool_)
    if classes.dtype.kind == "f":
        return classes.astype(np.float64)
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    raise TypeError(f"labels for ONNX are strings or numbers; got {classes.tolist()[:5]!r}")
