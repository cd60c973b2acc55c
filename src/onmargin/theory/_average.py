"""The average of the weights that predicted, which online-to-batch conversion is about ([CCG])."""

from typing import Any

from sklearn.base import clone

from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.tasks.task import Binary, Multiclass, Regression
from onmargin.learner import Learner

CONVEX = (Binary, Multiclass, Regression)  # tasks whose loss is one convex function of the weights per round


def has_average(run: Any) -> bool:
    """Return whether the losses of a run are convex in its weights, and their average is known."""
    learner = run._learner
    return (
        type(learner) is Learner
        and type(learner.geometry) is Euclidean
        and type(learner.task) in CONVEX
        and not getattr(learner.task, "every", False)
        and getattr(run, "class_weight", None) is None
        and "average" in run.get_params(deep=False)
    )


def predicting_average(run: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Return the mean of w_1, ..., w_T, and that of the intercepts.

    The mean that `average=True` keeps is over w_2, ..., w_T+1. As w_1 = 0, it is too large by w_T+1 / T.
    """
    named = {"classes": run.classes_} if hasattr(run, "classes_") else {}
    mean, last = (clone(run).set_params(average=on).partial_fit(X, y, **named) for on in (True, False))
    rounds = run.totals_.rounds
    return mean.coef_ - last.coef_ / rounds, mean.intercept_ - last.intercept_ / rounds
