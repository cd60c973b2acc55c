"""Kernels instead of plain weights: what is learned is an expansion over rows, in the feature space of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onmargin._core.geometries.kernel import Expansion
from onmargin.estimators._linear import LinearLearner
from onmargin.estimators._online import OnlineLearner
from onmargin.models.expansion import KERNELS, POLICIES, kernel_learner
from onmargin.models.kernel_learner import KernelLearner
from onmargin.models.kernels import Linear
from onmargin.models.rules import NOTHING, Member, Number, Rule, Word
from onmargin.models.several import averaging
from onmargin.models.updates import check_combination


class KernelLearning(OnlineLearner):
    """An estimator that may learn with a kernel."""

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = OnlineLearner._rules | {
        "kernel": (NOTHING, Word(*KERNELS), Member("__call__", words="a function of two matrices")),
        "gamma": (Word("scale", "auto"), Number(0, above=True, below=True)),
        "degree": (Number(0, 1000, whole=True),),
        "coef0": (Number(above=True, below=True),),
    }
    _kernel_parameters: ClassVar[tuple[str, ...]] = ("kernel", "gamma", "degree", "coef0")

    kernel: str | Callable[[Any, Any], Any] | None
    gamma: float | str
    degree: int
    coef0: float

    _learned_with: dict[str, Any]  # the parameters above when something was first learned

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        with super()._all_or_nothing():
            yield
            if isinstance(self._learner, KernelLearner):
                self._learner.close()

    def _kernel_learner(self, X: Any, geometry: Expansion) -> KernelLearner:
        """A learner that has seen nothing, for rows like those of X, which fix gamma."""
        return kernel_learner(self)(X, self._step(), geometry)

    def _remember_kernel(self) -> None:
        self._learned_with = {name: getattr(self, name) for name in self._kernel_parameters}

    def _prepare(self) -> None:
        changed = [name for name, value in self._learned_with.items() if getattr(self, name) != value]
        if changed:
            raise ValueError(
                f"{', '.join(changed)} cannot change once something was learned: set it back, or learn anew with "
                "clone(model).fit"
            )
        super()._prepare()

    def _supports(self) -> KernelLearner:
        learner = self._fitted()
        if not isinstance(learner, KernelLearner):
            raise AttributeError("there are no supports with kernel=None: the weights are coef_")
        return learner

    @property
    def support_(self) -> NDArray[np.intp]:
        """Rows that are supports, by their place among all rows received; after one `fit` rows of X."""
        geometry = self._supports().geometry
        support: NDArray[np.intp] = geometry.arrays()["keys"][geometry.supports()]
        return support

    @property
    def support_vectors_(self) -> Any:
        """The supports themselves; nothing for a precomputed kernel."""
        learner = self._supports()
        return learner.supports.rows()[learner.geometry.supports()]

    @property
    def n_support_(self) -> int:
        """How many supports there are."""
        return len(self._supports().geometry.supports())

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """Coefficients of the supports, one row a column of scores; averaged ones if `average` is on."""
        geometry = self._supports().geometry
        return geometry.mean()[0][geometry.supports()].T

    def _written_out(self, learner: KernelLearner, name: str) -> NDArray[Any]:
        """The weights as a matrix, columns by features, which the attribute of this name shows."""
        if not isinstance(learner.kernel, Linear):
            raise AttributeError(
                f"{name} is only available with a linear kernel: what is learned is in the feature space of the "
                "kernel, as dual_coef_ and support_vectors_"
            )
        weights = learner.supports.rows().T @ learner.geometry.mean()[0]
        return np.asarray(weights.T, dtype=learner.geometry.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


class BudgetOption(KernelLearning):
    """An estimator that may learn with a kernel, and with at most so many supports."""

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = KernelLearning._rules | {
        "budget": (NOTHING, Number(1, 2**31, whole=True)),
        "budget_policy": (Word(*POLICIES),),
    }
    _kernel_parameters = (*KernelLearning._kernel_parameters, "budget", "budget_policy")

    budget: int | None
    budget_policy: str

    def _needs_of_budget(self) -> dict[str, bool]:
        """What a budget cannot do without, and whether it is so."""
        return {"a kernel": self.kernel is not None}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.budget is not None:
            check_combination("budget", self._needs_of_budget())


class KernelOption(BudgetOption, LinearLearner):
    """A linear estimator, in the feature space of a kernel if there is one."""

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = LinearLearner._rules | BudgetOption._rules

    def _needs_of_budget(self) -> dict[str, bool]:
        return {**super()._needs_of_budget(), "average=False": not self.average}

    def _begin(self, X: Any, n_columns: int = 1) -> None:
        super()._begin(X, n_columns)
        if self.kernel is not None:
            self._learner = self._kernel_learner(X, self._learner.geometry)
        self._remember_kernel()

    def _new_geometry(self, X: Any, n_columns: int) -> Any:
        if self.kernel is None:
            return super()._new_geometry(X, n_columns)
        if self.budget is not None:
            kind = POLICIES[self.budget_policy]
            return kind(self.n_features_in_, n_columns, X.dtype, bias=self._bias(), budget=int(self.budget))
        return Expansion(self.n_features_in_, n_columns, X.dtype, bias=self._bias(), average=averaging(self.average))

    def _weights(self) -> NDArray[Any]:
        learner = self._learner
        return self._written_out(learner, "coef_") if isinstance(learner, KernelLearner) else super()._weights()

    def _start_from(self, coef: ArrayLike | None, intercept: ArrayLike | None) -> None:
        if not (coef is None and intercept is None):
            self._ask_for_weights("setting weights")
        super()._start_from(coef, intercept)

    def sparsify(self) -> Self:
        """Keep the weights as a sparse matrix: less memory where most are zero; learning on makes them dense again.

        Returns
        -------
        self : object
            The estimator with a sparse ``coef_``.
        """
        if hasattr(self, "_learner"):
            self._ask_for_weights("sparsify")
        return super().sparsify()

    def _ask_for_weights(self, what: str) -> None:
        check_combination(what, {"kernel=None": not isinstance(self._learner, KernelLearner)})
