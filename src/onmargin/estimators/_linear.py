"""What the linear estimators share: validation, passes over the data, and the weights as scikit-learn shows them."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf, nan
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from onmargin._core.geometry import Euclidean
from onmargin._core.step import Projection
from onmargin._core.task import Task
from onmargin.estimators._parameters import FLAG, NOTHING, Instance, Number, Rule, Word, check_parameters
from onmargin.learner import Learner, Totals, Vector, as_rows


def check_weight(sample_weight: ArrayLike | None, n_samples: int) -> Vector | None:
    """Example weights as float64: finite, not negative, not all zero."""
    if sample_weight is None:
        return None
    weight: Vector = check_array(sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight")
    if weight.shape != (n_samples,):
        raise ValueError(f"sample_weight must have shape ({n_samples},), one weight an example; got {weight.shape}")
    if (weight < 0).any():
        raise ValueError(f"sample_weight must not be negative; got {weight.min():g}. Leave an example out with weight 0.")
    if not weight.any():
        raise ValueError("sample_weight is zero for all examples, so there is nothing to learn; give at least one a positive weight.")
    return weight


class LinearLearner(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator over a `Learner` with Euclidean weights.

    A subclass adds the rules of its own parameters and says which task it learns (`_task`), how a validation part is split off
    (`_splitter`) and how the weights are shaped.
    """

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = {
        "C": (Number(0, above=True),),
        "fit_intercept": (FLAG,),
        "intercept_scaling": (Number(0, above=True), Word("auto")),
        "max_iter": (Number(1, whole=True),),
        "tol": (Number(0), NOTHING),
        "early_stopping": (FLAG,),
        "validation_fraction": (Number(0, 1, above=True, below=True),),
        "n_iter_no_change": (Number(1, whole=True),),
        "shuffle": (FLAG,),
        "verbose": (FLAG, Number(0, whole=True)),
        "random_state": (NOTHING, Number(0, whole=True), Instance(np.random.RandomState, "a RandomState")),
        "warm_start": (FLAG,),
        "average": (FLAG, Number(0, whole=True)),
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
    score: Callable[..., float]  # from the mixin of the task
    _learner: Learner
    _sparse_coef: sparse.csr_matrix | None

    def _task(self) -> Task:
        """What is learned, with the parameters as they are now."""
        raise NotImplementedError

    def _splitter(self) -> Any:
        """Splits off the validation part for early stopping."""
        raise NotImplementedError

    def _step(self) -> Projection:
        """PA-I caps the step, PA-II damps it; C = inf makes both plain PA ([JMLR] sec. 3)."""
        return Projection(damping=1 / (2 * self.C)) if self.loss.startswith("squared") else Projection(cap=self.C)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Check the parameters first; if anything raises, the estimator is as it was before."""
        before = dict(vars(self))
        check_parameters(self, self._rules)
        try:
            yield
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _validate(self, X: Any, y: Any, *, keep: bool, **checks: Any) -> tuple[Any, NDArray[Any]]:
        """X and y checked by scikit-learn; `keep`: they must fit what was learned so far."""
        dtype = self._learner.geometry.dtype if keep else [np.float64, np.float32]
        return validate_data(self, X, y, reset=not keep, accept_sparse="csr", dtype=dtype, order="C", **checks)  # type: ignore[no-any-return]

    def _begin(self, X: Any) -> None:
        """A learner that has seen nothing, with one column of weights; `_prepare` gives it its task and step."""
        bias = 0.0 if not self.fit_intercept else nan if self.intercept_scaling == "auto" else self.intercept_scaling
        geometry = Euclidean(
            self.n_features_in_, 1, X.dtype, sparse=sparse.issparse(X), bias=bias, average=int(self.average)
        )
        self._sparse_coef = None
        self._learner = Learner(Task(), self._step(), geometry)

    def _prepare(self) -> None:
        """Take over the parameters as they are now."""
        self._learner.task = self._task()
        self._learner.step = self._step()

    def _start_from(self, coef: ArrayLike | None, intercept: ArrayLike | None) -> None:
        """Put given weights in place of those a pass starts from; what is None stays."""
        current = self._learner.geometry.mean()
        given = []
        for name, value, old in zip(("coef_init", "intercept_init"), (coef, intercept), current, strict=True):
            new = old if value is None else check_array(value, ensure_2d=False, dtype=np.float64, input_name=name)
            if new.size != old.size:
                raise ValueError(f"{name} must have shape {old.shape}, got {new.shape}")
            given.append(new.reshape(old.shape))
        self._learner.geometry.assign(*given)

    def _run_passes(self, X: Any, y: NDArray[Any], target: Vector, weight: Vector | None) -> None:
        """Passes over X until one is no better than the best before by `tol`, `n_iter_no_change` times in a row."""
        rows, learner = as_rows(X), self._learner
        train: NDArray[np.intp] | None = None
        if self.early_stopping:
            train, held_out = next(self._splitter().split(np.empty(len(y)), y))
        elif self.shuffle:
            train = np.arange(len(y))
        random = check_random_state(self.random_state)
        best, stale = -inf, 0
        for self.n_iter_ in range(1, self.max_iter + 1):
            before = learner.totals
            learner.learn(rows, target, weight, random.permutation(train) if self.shuffle else train)
            after = learner.totals
            loss = (after.loss - before.loss) / max(after.rounds - before.rounds, 1)
            quality = self.score(X[held_out], y[held_out]) if self.early_stopping else -loss
            if self.verbose:
                print(f"pass {self.n_iter_}: mean loss {loss:.6g}, {after.mistakes - before.mistakes} mistakes")
            if self.tol is not None:
                stale = stale + 1 if quality < best + self.tol else 0
                best = max(best, quality)
                if stale >= self.n_iter_no_change:
                    return
        if self.tol is not None:
            warnings.warn(
                f"max_iter={self.max_iter} passes ended before the tolerance tol={self.tol} was met: raise max_iter, or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Examples by columns."""
        check_is_fitted(self)
        geometry = self._learner.geometry
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=geometry.dtype, order="C")
        if self._sparse_coef is not None:
            scores: NDArray[np.float64] = safe_sparse_dot(X, self._sparse_coef.T, dense_output=True) + self.intercept_
            return scores
        return self._learner.scores(as_rows(X))

    # The weights as scikit-learn shows them.

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fitted(self) -> Learner:
        if not hasattr(self, "_learner"):
            raise AttributeError(f"this {type(self).__name__} has not learned anything yet: call fit or partial_fit first")
        return self._learner

    @property
    def coef_(self) -> Any:
        """Weights, one row a column of scores; averaged ones if `average` is on."""
        learner = self._fitted()
        return learner.geometry.mean()[0] if self._sparse_coef is None else self._sparse_coef

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercepts in score units."""
        return self._fitted().geometry.mean()[1]

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
