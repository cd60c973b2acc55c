"""What the linear estimators share: validation, passes over the data, and the weights as scikit-learn shows them."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from math import inf, nan
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from onmargin._core.geometry import Euclidean
from onmargin._core.row import Rows
from onmargin._core.step import Projection, Step
from onmargin._core.task import Task
from onmargin.estimators._checks import check_numbers, check_sparse
from onmargin.estimators._parameters import FLAG, NOTHING, Instance, Number, Rule, Word, check_parameters
from onmargin.learner import Learner, Totals, Vector, as_rows

# What scikit-learn's validation takes: arrays, frames, sparse matrices, lists of lists.
MatrixLike = Any


class LinearLearner(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator over a `Learner` with Euclidean weights.

    A subclass adds the rules of its own parameters and says which task it learns (`_task`), how a validation part is
    split off (`_splitter`) and how good scores are (`_quality`).
    """

    _flat: ClassVar[bool] = False  # whether coef_ has one dimension
    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = {
        "C": (Number(0, above=True),),
        "fit_intercept": (FLAG,),
        "intercept_scaling": (Number(0, above=True, below=True), Word("auto")),
        "max_iter": (Number(1, whole=True),),
        "tol": (Number(0), NOTHING),
        "early_stopping": (FLAG,),
        "validation_fraction": (Number(0, 1, above=True, below=True),),
        "n_iter_no_change": (Number(1, whole=True),),
        "shuffle": (FLAG,),
        "verbose": (FLAG, Number(0, whole=True)),
        "random_state": (NOTHING, Number(0, 2**32 - 1, whole=True), Instance(np.random.RandomState, "a RandomState")),
        "warm_start": (FLAG,),
        "average": (FLAG, Number(0, 2**63 - 1, whole=True)),
    }

    C: float
    loss: str
    fit_intercept: bool
    intercept_scaling: float | str
    max_iter: int
    tol: float | None
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    shuffle: bool
    verbose: int
    random_state: int | np.random.RandomState | None
    warm_start: bool
    average: bool | int

    n_features_in_: int
    n_iter_: int
    _learner: Learner
    _sparse_coef: sparse.csr_matrix | None

    def _task(self) -> Task:
        """What is learned, with the parameters as they are now."""
        raise NotImplementedError

    def _splitter(self) -> Any:
        """Splits off the validation part for early stopping."""
        raise NotImplementedError

    def _quality(self, scores: NDArray[np.float64], y: NDArray[Any]) -> float:
        """How good these scores are for early stopping; higher is better."""
        raise NotImplementedError

    def _step(self) -> Step:
        """PA-I caps the step, PA-II damps it; C = inf makes both plain PA ([JMLR] sec. 3)."""
        return Projection(damping=1 / (2 * self.C)) if self.loss.startswith("squared") else Projection(cap=self.C)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Check the parameters first; if anything raises, the estimator is as it was before."""
        check_parameters(self, self._rules)
        before = dict(vars(self))
        try:
            if hasattr(self, "_learner"):
                # Its geometry may be replaced before all is known to be well; nothing can fail once rounds are played.
                self._learner = copy(self._learner)
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _validate(self, X: Any, y: Any, *, keep: bool) -> tuple[Any, NDArray[Any], Rows]:
        """X and y checked by scikit-learn, and X as rows; `keep`: they must fit what was learned so far."""
        if not (
            keep and self._is_plain(X) and type(y) is np.ndarray and y.shape == (len(X),) and y.dtype.kind in "biuU"
        ):
            X, y = self._checked(X, y, keep=keep)
        return X, y, as_rows(X)

    def _checked(self, X: Any, *y: Any, keep: bool) -> Any:
        """By scikit-learn: X as a C-contiguous or CSR matrix of the weights' type, or of any the weights may have."""
        dtypes = [self._learner.geometry.dtype] if keep else [np.dtype(np.float64), np.dtype(np.float32)]
        return validate_data(
            self, check_sparse(X, dtypes), *y, reset=not keep, accept_sparse="csr", dtype=dtypes, order="C"
        )

    def _is_plain(self, X: Any) -> bool:
        """Whether X is a few rows that scikit-learn's validation, slower than learning, would give back unchanged."""
        return (
            type(X) is np.ndarray
            and 0 < X.size <= 10_000
            and X.dtype == self._learner.geometry.dtype
            and X.shape[1:] == (self.n_features_in_,)
            and X.flags.c_contiguous
            and not hasattr(self, "feature_names_in_")
            and bool(np.isfinite(X).all())
        )

    def _begin(self, X: Any) -> None:
        """A learner that has seen nothing, with one column of weights; `_prepare` gives it its task and step."""
        scaling = nan if self.intercept_scaling == "auto" else float(self.intercept_scaling)
        geometry = Euclidean(
            self.n_features_in_,
            1,
            X.dtype,
            sparse=sparse.issparse(X),
            bias=scaling if self.fit_intercept else 0.0,
            average=int(self.average),
        )
        self._sparse_coef = None
        self._learner = Learner(Task(), self._step(), geometry)

    def _go_on(self) -> bool:
        """Whether `fit` goes on from what was learned. Then it works on a copy, since passes may be interrupted."""
        warm = self.warm_start and hasattr(self, "_learner")
        if warm:
            self.densify()
            self._learner = deepcopy(self._learner)
        return warm

    def _prepare(self) -> None:
        """Take over the parameters as they are now, for weights that are dense."""
        self.densify()
        self._learner.task = self._task()
        self._learner.step = self._step()

    def _start_from(self, coef: ArrayLike | None, intercept: ArrayLike | None) -> None:
        """Put given weights in place of those a pass starts from; what is None stays."""
        if coef is None and intercept is None:
            return
        geometry = self._learner.geometry
        given = []
        for name, value, old in zip(("coef_init", "intercept_init"), (coef, intercept), geometry.mean(), strict=True):
            new = old if value is None else check_numbers(value, name, geometry.dtype)
            if new.shape != old.shape and (geometry.n_columns > 1 or new.size != old.size):
                raise ValueError(f"{name} must have shape {old.shape}, got {new.shape}")
            given.append(new.reshape(old.shape))
        geometry.assign(*given)

    def _hold_out(self, X: Any, y: NDArray[Any]) -> tuple[NDArray[np.intp] | None, tuple[Rows, NDArray[Any]] | None]:
        """Which examples to learn (None: all), and with early stopping those that judge a pass."""
        if not self.early_stopping:
            return None, None
        try:
            train, held_out = next(self._splitter().split(np.empty(len(y)), y))
        except ValueError as error:
            raise ValueError(
                f"early_stopping=True cannot hold out validation_fraction={self.validation_fraction} of {len(y)} "
                f"examples: {error}"
            ) from error
        return train, (as_rows(X[held_out]), y[held_out])

    def _run_passes(
        self,
        rows: Rows,
        target: Vector,
        weight: Vector | None,
        train: NDArray[np.intp] | None,
        held_out: tuple[Rows, NDArray[Any]] | None,
    ) -> None:
        """Passes over the rows until `n_iter_no_change` in a row were not better than the best before by `tol`."""
        learner = self._learner
        random = check_random_state(self.random_state)
        best, stale = -inf, 0
        for self.n_iter_ in range(1, self.max_iter + 1):  # noqa: B020
            before = learner.totals
            order = (
                random.permutation(rows.n_rows if train is None else train).astype(np.intp) if self.shuffle else train
            )
            learner.learn(rows, target, weight, order)
            after = learner.totals
            loss = (after.loss - before.loss) / max(after.rounds - before.rounds, 1)
            quality = -loss if held_out is None else self._quality(learner.scores(held_out[0]), held_out[1])
            if self.verbose:
                print(f"pass {self.n_iter_}: mean loss {loss:.6g}, {after.mistakes - before.mistakes} mistakes")  # noqa: T201
            if self.tol is not None:
                stale = 0 if quality >= best + self.tol else stale + 1  # a quality of nan is no improvement
                best = max(best, quality)
                if stale >= self.n_iter_no_change:
                    return
        if self.tol is not None:
            warnings.warn(
                f"max_iter={self.max_iter} passes ended before tol={self.tol} was met: raise max_iter, or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Examples by columns."""
        check_is_fitted(self)
        if not self._is_plain(X):
            X = self._checked(X, keep=True)
        rows = as_rows(X)
        if self._sparse_coef is not None:
            scores: NDArray[np.float64] = safe_sparse_dot(X, self._sparse_coef.T, dense_output=True) + self.intercept_
            return scores
        return self._learner.scores(rows)

    # The weights as scikit-learn shows them.

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fitted(self) -> Learner:
        if not hasattr(self, "_learner"):
            raise AttributeError(
                f"this {type(self).__name__} has not learned anything yet: call fit or partial_fit first"
            )
        return self._learner

    @property
    def coef_(self) -> Any:
        """Weights, one row a column of scores; averaged ones if `average` is on."""
        learner = self._fitted()
        if self._sparse_coef is not None:
            return self._sparse_coef
        coef = learner.geometry.mean()[0]
        return coef.ravel() if self._flat else coef

    @coef_.setter
    def coef_(self, value: ArrayLike) -> None:
        self.densify()._start_from(value, None)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercepts in score units."""
        return self._fitted().geometry.mean()[1]

    @intercept_.setter
    def intercept_(self, value: ArrayLike) -> None:
        self.densify()._start_from(None, value)

    @property
    def intercept_scaling_(self) -> float:
        """Value of the intercept coordinate in use; nan as long as "auto" has seen no row that is not zero."""
        return self._fitted().geometry.bias

    @property
    def totals_(self) -> Totals:
        """What the rounds so far came to."""
        return self._fitted().totals

    @property
    def t_(self) -> float:
        """One plus the number of rounds."""
        return 1.0 + self._fitted().totals.rounds

    def sparsify(self) -> Self:
        """Keep the weights as a sparse matrix: less memory where most are zero; learning on makes them dense again.

        Returns
        -------
        self : object
            The estimator with a sparse ``coef_``.
        """
        check_is_fitted(self)
        if self._sparse_coef is None:
            self._sparse_coef = sparse.csr_matrix(self._learner.geometry.mean()[0])
            self._learner.geometry = self._learner.geometry.resized(0)
        return self

    def densify(self) -> Self:
        """Keep the weights as a dense array, as after fitting.

        Returns
        -------
        self : object
            The estimator with a dense ``coef_``.
        """
        check_is_fitted(self)
        if self._sparse_coef is not None:
            geometry = self._learner.geometry.resized(self.n_features_in_)
            geometry.assign(self._sparse_coef.toarray(), self.intercept_)
            self._learner.geometry = geometry
            self._sparse_coef = None
        return self
