"""Models for other libraries."""

from typing import Any

import numpy as np

# Scores of these are linear in the features, one a class (one for two classes), and the highest wins.
CLASSIFIERS = {
    "BlockClassifier",
    "DualAscentClassifier",
    "PNormPerceptron",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "QuasiAdditiveClassifier",
    "Winnow",
}
# Predictions of these are.
REGRESSORS = {"ExponentiatedGradientRegressor", "GradientDescentRegressor", "PassiveAggressiveRegressor"}


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
    from scipy import sparse
    from sklearn.linear_model import LinearRegression
    from sklearn.svm import LinearSVC
    from sklearn.utils.validation import check_is_fitted

    name = type(model).__name__
    if not type(model).__module__.startswith("onmargin.") or name not in CLASSIFIERS | REGRESSORS:
        accepted = ", ".join(sorted(CLASSIFIERS | REGRESSORS))
        raise TypeError(f"scikit-learn has no predictor like {name}; to_sklearn takes {accepted}")
    check_is_fitted(model)
    if getattr(model, "kernel", None) not in {None, "linear"}:
        raise TypeError(f"scikit-learn has no predictor like {name} with a kernel: its weights are in another space")
    predictor = LinearSVC() if name in CLASSIFIERS else LinearRegression()
    if name in CLASSIFIERS:
        if len(model.classes_) < 2:
            raise ValueError(
                "scikit-learn's classifiers have at least two classes, and this model has met "
                f"{model.classes_.tolist()} only: let it learn on"
            )
        predictor.classes_ = model.classes_.copy()
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_.copy()
    intercept = getattr(model, "intercept_", np.zeros(1)).copy()
    # A regressor has one column of weights, which scikit-learn keeps flat.
    predictor.coef_ = coef if name in CLASSIFIERS else coef.ravel()
    predictor.intercept_ = intercept if name in CLASSIFIERS else float(intercept[0])
    for attribute in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, attribute):
            setattr(predictor, attribute, getattr(model, attribute))
    return predictor
