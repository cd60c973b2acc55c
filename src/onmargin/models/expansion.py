"""Kernel expansions: the values of `kernel` and `budget_policy`."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from onmargin._core.geometries.geometry import Geometry
from onmargin._core.geometries.kernel import Budgeted, Expansion, Forgetron, Oldest, Projected, Smallest
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task
from onmargin.models.columns import intercept_value
from onmargin.models.ensemble import Kind
from onmargin.models.kernel_learner import KernelLearner
from onmargin.models.kernels import Custom, Gaussian, Kernel, Linear, Polynomial, Sigmoid, Supports
from onmargin.models.plan import Shape

# gamma, coef0, degree -> the kernel
KERNELS: dict[str, Callable[[float, float, int], Kernel | None]] = {
    "linear": lambda gamma, coef0, degree: Linear(),
    "poly": Polynomial,
    "rbf": lambda gamma, coef0, degree: Gaussian(gamma),
    "sigmoid": lambda gamma, coef0, degree: Sigmoid(gamma, coef0),
    "precomputed": lambda gamma, coef0, degree: None,
}

# Policies that remove a support when a new one exceeds the budget.
POLICIES: dict[str, type[Budgeted]] = {
    "oldest": Oldest,
    "smallest": Smallest,
    "projection": Projected,
    "forgetron": Forgetron,
}


def resolve_gamma(gamma: float | str, X: Any) -> float:
    """Return gamma as a number: "scale" is 1 / (n_features * X.var()), "auto" 1 / n_features."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1 / int(X.shape[1])
    if sparse.issparse(X):
        variance = X.multiply(X).mean(dtype=np.float64) - X.mean(dtype=np.float64) ** 2
    else:
        variance = X.var(dtype=np.float64)
    return 1 / (int(X.shape[1]) * float(variance)) if variance > 0 else 1.0


def expansion(options: Any, average: int) -> Callable[[Shape, Kind | None, int], Geometry]:
    """Return what makes an expansion over the rows that are learned, with a budget if the options have one."""
    bias = intercept_value(fit=options.fit_intercept, scaling=options.intercept_scaling)

    def make(shape: Shape, kind: Kind | None, n_columns: int) -> Geometry:
        sizes = shape.n_features, n_columns, shape.dtype
        if getattr(options, "budget", None) is None:
            return Expansion(*sizes, bias=bias, average=average)
        return POLICIES[options.budget_policy](*sizes, bias=bias, budget=int(options.budget))

    return make


def kernel_learner(
    options: Any, kind: Callable[..., KernelLearner] = KernelLearner
) -> Callable[[Any, Step, Geometry], KernelLearner]:
    """Return what makes a learner that has seen nothing, for rows like those of a matrix, which fix gamma."""

    def make(X: Any, step: Step, geometry: Any) -> KernelLearner:
        if options.kernel == "precomputed" and (sparse.issparse(X) or X.shape[0] != X.shape[1]):
            form = "a sparse matrix" if sparse.issparse(X) else "an array"
            raise ValueError(
                "kernel='precomputed' needs X to be a square array, the kernel values of the rows to learn with each "
                f"other; got {form} of shape {X.shape}"
            )
        if callable(options.kernel):
            kernel: Kernel | None = Custom(options.kernel)
        else:
            number = resolve_gamma(options.gamma, X)
            kernel = KERNELS[str(options.kernel)](number, float(options.coef0), int(options.degree))
        return kind(Task(), step, geometry, kernel, Supports(X[:, :0] if kernel is None else X))

    return make
