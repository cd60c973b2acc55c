"""The space of the weights: plain, on the simplex, or the feature space of a kernel; with its options."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from onmargin._core.geometries.geometry import Geometry
from onmargin._core.steps.step import Optimal, Step
from onmargin.learner import Learner
from onmargin.models.ensemble import Kind, first_averaged
from onmargin.models.linear import GEOMETRIES, METRICS, alternatives, swept, weights
from onmargin.models.links import link
from onmargin.models.options import option, optional
from onmargin.models.plan import RowRules, Shape
from onmargin.models.rules import Member, Number, Word

# What a kernel and its budget are made with: none of it can change once something was learned.
KERNEL_OPTIONS = ("kernel", "gamma", "degree", "coef0", "budget", "budget_policy")
KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
POLICIES = ("oldest", "smallest", "projection", "forgetron")


def geometry(*words: str) -> Any:
    return option("euclidean", Word("euclidean", "entropic", *words, *METRICS))


def kernel(*words: str) -> Any:
    return optional(
        None,
        Word(*(words or KERNELS)),
        Member("__call__", words="a function of two matrices"),
        text="""
        kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, callable or None, default=None
            Kernel function. The weights are then an expansion over the support vectors, and the time per round grows
            with their number. A callable returns the kernel values of the rows of two matrices. With "precomputed", X
            holds kernel values: n x n in `fit` and n_test x n in prediction.
        """,
    )


def gamma() -> Any:
    return option(
        "scale",
        Word("scale", "auto"),
        Number(0, above=True, below=True),
        text="""
        gamma : {"scale", "auto"} or float, default="scale"
            Coefficient of the kernels "poly", "rbf" and "sigmoid", greater than 0. "scale" is
            ``1 / (n_features * X.var())`` for the X of the first call, "auto" is ``1 / n_features``.
        """,
    )


def degree() -> Any:
    return option(
        3,
        Number(0, 1000, whole=True),
        text="""
        degree : int, default=3
            Degree of the kernel "poly", at least 0.
        """,
    )


def coef0() -> Any:
    return option(
        0.0,
        Number(above=True, below=True),
        text="""
        coef0 : float, default=0.0
            Constant term in the kernels "poly" and "sigmoid".
        """,
    )


def budget() -> Any:
    return optional(
        None,
        Number(1, 2**31, whole=True),
        text="""
        budget : int or None, default=None
            Maximum number of support vectors with a kernel, at least 1; bounds do not hold then. If None, all are kept.
        """,
    )


def budget_policy() -> Any:
    return option(
        "projection",
        Word(*POLICIES),
        text="""
        budget_policy : {"projection", "forgetron", "oldest", "smallest"}, default="projection"
            Which support vector is removed when a new one exceeds the budget: the one that is best projected onto the
            new one ("projection"), the oldest after all coefficients were shrunk ("forgetron"), the oldest ("oldest"),
            or the one with the smallest contribution ("smallest").
        """,
    )


def kernel_options(options: Any) -> dict[str, Any]:
    """Return the options of the kernel, which cannot change."""
    return dict(zip(KERNEL_OPTIONS, attrgetter(*KERNEL_OPTIONS)(options), strict=True))


def space(options: Any, step: Step, *, by_loss: bool) -> dict[str, Any]:
    """Return the fields of a plan for the weights and their step: linear, on the simplex or with a kernel."""
    word = getattr(options, "geometry", "euclidean")
    fixed = kernel_options(options) | {"geometry": word} | swept(options)
    if options.kernel is not None:
        return {
            "step": step,
            "weights": _expansion(options),
            "learner": kernel_learner(options),
            "fixed": fixed,
            "rows": RowRules(sized=by_size(options)),
        }
    if word in {"entropic", "pnorm"}:
        if getattr(options, "line_search", False):
            step = Optimal(options.C)
        p = getattr(options, "p", None)
        fixed |= {"p": p} if word == "pnorm" else {}
        return {"step": step, "fixed": fixed, **link(word, balanced=False, p=p)}
    kind: Kind = GEOMETRIES[word]
    ensemble = alternatives(options, kind, step, by_loss=by_loss)
    return {
        "step": step,
        "weights": weights(options, kind),
        "ensemble": ensemble,
        "rows": RowRules(),
        "fixed": fixed,
    }


def by_size(options: Any) -> str:
    """Return why a kernel needs the number of features, or an empty string if it does not."""
    if options.kernel in {"poly", "rbf", "sigmoid"} and isinstance(options.gamma, str):
        return f"gamma={options.gamma!r} depends on the number of features: set gamma to a number,"
    return ""


# Kernels are imported on first use because they need SciPy.


def _expansion(options: Any) -> Callable[[Shape, Kind | None, int], Geometry]:
    from onmargin.models.expansion import expansion

    return expansion(options, first_averaged(options.average))


def kernel_learner(options: Any) -> Callable[[Any, Step, Geometry], Learner[Any]]:
    """Return what makes a learner with the kernel of the options, for rows like those of a matrix."""
    from onmargin.models.expansion import kernel_learner

    return kernel_learner(options)
