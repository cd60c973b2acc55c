"""Base class of all estimators: validation, passes over the data, and calls that change all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass, field
from functools import partial, wraps
from math import inf
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from onmargin._checks import check_sparse
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.restore import whole
from onmargin._core.rows import Rows
from onmargin._core.steps.step import Step
from onmargin._core.turns import TakingTurns
from onmargin._warnings import warn_caller
from onmargin.estimators._batch import reach_target
from onmargin.estimators._checks import is_vector, live, refuse_dates, table_remedy, target_remedy
from onmargin.io.sharding import Shards
from onmargin.learner import Learner, Offsets, Totals, UnsoundRowError, Vector, as_rows
from onmargin.models.compatible import several
from onmargin.models.expert_results import ModelOutcome
from onmargin.models.face import ModelFace
from onmargin.models.model import ROUNDS_TO_DIFFER, Model, check_begun
from onmargin.models.options import CONSTANTS, check_options, declared, option
from onmargin.models.plan import Plan, Shape
from onmargin.models.rules import FLAG, N_JOBS, NONE, Instance, Number
from onmargin.transaction import Transaction

# What scikit-learn's validation accepts: arrays, frames, sparse matrices, lists of lists.
MatrixLike = Any
# Types of rows; others are converted to the first.
DTYPES = (np.dtype(np.float64), np.dtype(np.float32))

# If X has at least this many bytes, its rows are checked as they are learned, not in a separate pass; X must also be
# this many times as large as the weights, which are copied in case a row is refused.
GUARDED_BYTES, GUARDED_RATIO = 1 << 20, 4


def are_targets(y: Any, n_rows: int) -> bool:
    """Return whether y is an array with one target per row, none missing, which scikit-learn would not change."""
    if type(y) is not np.ndarray or y.shape != (n_rows,):
        return False
    return y.dtype.kind in "biuU" or (y.dtype.kind == "f" and bool(np.isfinite(y).all()))


# Options of passes; some families have other defaults.


def max_iter(default: int = 1000) -> Any:
    return option(default, Number(1, whole=True))


def tol(default: float | None = 1e-3) -> Any:
    return option(default, Number(0), NONE)


def n_iter_no_change() -> Any:
    return option(5, Number(1, whole=True))


def shuffle(default: bool = True) -> Any:
    return option(default, FLAG)


def verbose() -> Any:
    return option(0, FLAG, Number(0, whole=True))


def random_state() -> Any:
    seed = Number(0, 2**32 - 1, whole=True)
    return option(None, NONE, seed, Instance(np.random.RandomState, "a RandomState"))


def n_jobs() -> Any:
    return option(
        None,
        *N_JOBS,
        text="""
        n_jobs : int or None, default=None
            Number of threads that score the rows of a large X; the result does not depend on it. If None or -1, one per
            core. Training uses one thread, because each round depends on the one before.
        """,
    )


def warm_start() -> Any:
    return option(False, FLAG)


def early_stopping() -> Any:
    return option(False, FLAG)


def validation_fraction() -> Any:
    return option(0.1, Number(0, 1, above=True, below=True))


def _or_shards(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `fit` that passes shards to :func:`onmargin.scale.fit`, a layer above all estimators."""

    @wraps(fit)
    def either(self: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(X, Shards):
            from onmargin.scale import fit as fit_shards

            return fit_shards(self, X, *arguments, **options)
        return fit(self, X, *arguments, **options)

    return either


@dataclass(kw_only=True, eq=False, repr=False)
class Estimator(ModelFace, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator over a `Model`.

    A subclass inherits the options of a family, whose `plan` defines how they learn, and defines how targets are read.

    Parameters
    ----------
    max_iter : int, default=1000
        Maximum number of passes that `fit` makes. `partial_fit` makes one pass.
    tol : float or None, default=1e-3
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss did not improve on the best so far by at
        least `tol`. If None, all `max_iter` passes are made.
    n_iter_no_change : int, default=5
        Number of consecutive passes without improvement after which `fit` stops.
    shuffle : bool, default=True
        Whether `fit` shuffles the examples before each pass. `partial_fit` never shuffles.
    verbose : int, default=0
        If above 0, `fit` prints one line per pass.
    random_state : int, RandomState or None, default=None
        Seed for shuffling.
    warm_start : bool, default=False
        Whether `fit` continues from the current weights.

    Attributes
    ----------
    n_iter_ : int
        Number of passes made by the last call.
    t_ : float
        One plus the number of rounds.
    """

    max_iter: int = max_iter()
    tol: float | None = tol()
    n_iter_no_change: int = n_iter_no_change()
    shuffle: bool = shuffle()
    verbose: int = verbose()
    random_state: int | np.random.RandomState | None = random_state()
    warm_start: bool = warm_start()

    if TYPE_CHECKING:  # at run time annotations would be options
        n_features_in_: int = field(init=False)
        n_iter_: int = field(init=False)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "fit" in vars(cls):
            cls.fit = _or_shards(vars(cls)["fit"])

    @property
    def model_outcomes_(self) -> list[ModelOutcome]:
        """Name, loss and vote of each model trained side by side, and whether it leads."""
        self._check_fitted()
        return self._model.outcomes(self.plan())

    def _check_parameters(self) -> None:
        check_options(self)

    def _check_learned(self) -> None:
        """Refuse a state loaded from a file that is inconsistent, or does not match the parameters."""
        if check_begun(self, type(self)(**self.get_params(deep=False))) is None:
            return
        self._check_model(self.plan())
        self._check_width(self._learner.geometry.n_features)

    def _check_model(self, plan: Plan) -> None:
        """Refuse a model that the plan could not have made."""
        self._model.labels.check()
        self._model.check(plan)

    def _check_width(self, n_features: int) -> None:
        """Refuse weights for a different number of features than the rows have."""
        if whole(self.n_features_in_, "n_features_in_") != n_features:
            raise ValueError(
                f"there are weights for {n_features} features, and n_features_in_ is {self.n_features_in_}"
            )

    def _make_plan(self) -> tuple[Plan, tuple[Any, ...] | None]:
        """Check the parameters; return their plan, and their values if these cannot change in place.

        If no parameter has changed, it is the plan of the last call.
        """
        values = self, *map(vars(self).__getitem__, declared(type(self)))  # type: ignore[arg-type]
        if self._has_begun and (last := self._model.options) is not None and all(map(is_, values, last)):
            return self._model.plan, last
        self._check_parameters()
        return self.plan(), values if CONSTANTS.issuperset(map(type, values[1:])) else None

    @property
    def _turns(self) -> TakingTurns:
        """The lock by which threads take turns to change the estimator."""
        return TakingTurns(self)

    @contextmanager
    def _start_fitting(self) -> Iterator[Plan]:
        """Check the parameters and yield their plan, for passes over data; if anything raises, nothing changes."""
        plan, values = self._make_plan()
        with self._turns, Transaction(self) as transaction:
            self._mark_growth(transaction)
            yield plan
            self._model.options, self._model.fitted = values, True
            self._model.learner.close()
            self._model.learner.mark_seen(seen=False)

    @contextmanager
    def _start_learning(self) -> Iterator[tuple[Plan, Transaction]]:
        """Check the parameters and yield their plan, and the transaction of examples that are learned in place.

        No error is raised once rounds run. An interrupt may come between two stretches, and keeps the rounds before it.
        """
        plan, values = self._make_plan()
        with self._turns, Transaction(self, drops_rounds=False) as transaction:
            before = 0
            if self._has_begun:
                self._learner.check_learns()
                if self._learner.forks:
                    self._model = copy(self._model)
                self._model.go_on()
                before = self._n_rounds()
            try:
                yield plan, transaction
                self._model.learner.close()
            except BaseException as error:
                if isinstance(error, UnsoundRowError) or (self._has_begun and self._learner.forks):
                    transaction.start_over()
                raise
            self._model.options, self._model.in_order = values, False
            compares = plan.ensemble is not None and hasattr(self, "C") and several(self.C)
            if compares and before < ROUNDS_TO_DIFFER <= self._n_rounds():  # once in a stream
                self._model.warn_if_alike()

    def _mark_growth(self, transaction: Transaction) -> None:
        """Register how to undo what `fit` adds in place, such as names of features."""

    def _is_guarded(self, plan: Plan, X: Any, *weights: Any) -> bool:
        """Return whether X is so large that its rows are checked as they are learned, not in a separate pass.

        Only plain weights can undo the rows learned before a bad one. Rows of weight 0 are not learned, so with example
        weights X is checked beforehand.
        """
        if not self._is_large(X) or any(weight is not None for weight in weights):
            return False
        asked = plan.ensemble, plan.learner, plan.rows.nonnegative, plan.rows.simplex_margin
        if any(part is not None for part in asked) or not isinstance(plan.step, Step):
            return False
        size = X.data.nbytes
        if self._has_begun:
            geometry = self._learner.geometry
            kept = sum(array.nbytes for array in geometry.arrays().values()) if type(geometry) is Euclidean else size
            return bool(X.dtype == geometry.dtype and size >= GUARDED_RATIO * kept)
        return X.dtype in plan.rows.dtypes

    def _is_large(self, X: Any) -> bool:
        """Return whether X is read without a copy, and is so large that a separate pass over its numbers costs time.

        It must have no feature names to compare, either: neither its own nor those of the fitted model.
        """
        if type(X) is np.ndarray:
            if X.nbytes < GUARDED_BYTES or X.ndim != 2 or not (X.flags.c_contiguous and X.flags.aligned):
                return False
        elif not (sparse.issparse(X) and X.format == "csr"):
            return False
        return X.dtype in DTYPES and bool(X.data.nbytes >= GUARDED_BYTES) and not hasattr(self, "feature_names_in_")

    def _guard(self, transaction: Transaction) -> None:
        """Prepare to check rows as they are learned."""
        geometry = self._learner.geometry
        if type(geometry) is not Euclidean:
            raise UnsoundRowError
        if not transaction.begins:
            kept = geometry.alike(geometry.n_features, geometry.n_columns)
            kept.restore(geometry)
            transaction.take_back_by(partial(geometry.restore, kept))

    def _validate(
        self,
        X: Any,
        y: Any,
        *,
        keep: bool,
        dtypes: tuple[Any, ...] | None = None,
        guarded: bool = False,
        numbers: bool = False,
    ) -> tuple[Any, NDArray[Any], Rows]:
        """Return X and y checked by scikit-learn, and X as rows; with `keep` they must match the fitted model.

        With `guarded`, the numbers of X, and those of y if it holds `numbers` that the rounds can read, are not checked
        here: the rounds do that.
        """
        if guarded and numbers and is_vector(y) and len(y) == X.shape[0]:
            X = self._check_input(X, keep=keep, dtypes=dtypes, finite=False)
        elif not (keep and self._is_plain(X) and are_targets(y, len(X))):
            X, y = self._check_input(X, y, keep=keep, dtypes=dtypes, finite=not guarded)
        return X, y, as_rows(X, guarded=guarded)

    def _check_input(
        self, X: Any, *y: Any, keep: bool, dtypes: tuple[Any, ...] | None = None, finite: bool = True
    ) -> Any:
        """Return X, checked by scikit-learn, as a C-contiguous or CSR matrix of a type that suits the weights.

        If the numbers of X need not be checked, X and y that scikit-learn would return unchanged are not passed to it,
        since this takes as long as hundreds of rounds.
        """
        types = [self._learner.geometry.dtype] if keep else list(dtypes or DTYPES)
        if not finite and self._is_fitting(X, types, keep=keep) and all(are_targets(part, X.shape[0]) for part in y):
            if not keep:
                self.n_features_in_ = X.shape[1]
            return (X, *y) if y else X
        refuse_dates(X)
        try:
            return validate_data(
                self,
                check_sparse(X, types),
                *y,
                reset=not keep,
                accept_sparse="csr",
                dtype=types,
                order="C",
                ensure_all_finite=finite,
            )
        except (TypeError, ValueError) as error:
            remedy = table_remedy(X) or target_remedy(*y)
            if remedy is None:
                raise
            raise ValueError(remedy) from error

    def _is_fitting(self, X: Any, types: list[Any], *, keep: bool) -> bool:
        """Return whether X is a large matrix of one of the types and, with `keep`, of the right number of features."""
        if not self._is_large(X) or X.dtype not in types or X.ndim != 2 or min(X.shape) < 1:
            return False
        return not keep or X.shape[1] == self.n_features_in_

    def _is_plain(self, X: Any) -> bool:
        """Return whether X is a few valid rows, which skip scikit-learn's validation: it is slower than learning."""
        return (
            type(X) is np.ndarray
            and 0 < X.size <= 10_000
            and X.dtype == self._learner.geometry.dtype
            and X.shape[1:] == (self.n_features_in_,)
            and X.flags.c_contiguous
            and not hasattr(self, "feature_names_in_")
            and bool(np.isfinite(X).all())
        )

    def _go_on(self) -> bool:
        """Return whether `fit` continues from the fitted model, then on a copy, as passes may be interrupted."""
        warm = self.warm_start and self._has_begun
        if warm:
            self._learner.check_learns()
            self._model = deepcopy(self._model)
        return warm

    def _begin(self, plan: Plan, X: Any, n_columns: int = 1, *, weight: Vector | None = None, known: Any = ()) -> None:
        """Begin an untrained model for rows like those of X; `known` are labels that have columns."""
        shape = Shape(self.n_features_in_, X.dtype, sparse.issparse(X))
        self._model = Model.begin(plan, shape, X, n_columns, known=known)
        if not isinstance(plan.step, Step):
            self._learner.step = plan.step(live(X, weight))

    def _learn_on(
        self, transaction: Transaction, rows: Rows, target: Vector, weight: Vector | None, *, guarded: bool = False
    ) -> None:
        """Run one round per row; an interrupt keeps the rounds before it."""
        for start, stop in self._learner.stretches(rows, 0, rows.n_rows):
            transaction.commit()
            if guarded:
                self._learner.learn_unchecked(rows.part(start, stop), target[start:stop])
                continue
            part = None if weight is None else weight[start:stop]
            self._learner.learn(rows.part(start, stop), target[start:stop], part, interruptible=self._learner.forks)

    def _fit(
        self,
        rows: Rows,
        target: Vector,
        weight: Vector | None,
        train: Offsets | None = None,
        judge: Callable[[], float] | None = None,
    ) -> None:
        """Pass over the rows, or those of `train`, until a stopping criterion is met; `judge` rates a pass."""
        if getattr(self, "target_loss", None) is not None:
            reach_target(self, rows, target, weight)
        else:
            self._run_passes(rows, target, weight, train=train, judge=judge)

    def _show_columns(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the columns as users see them, along the first axis; by default unchanged."""
        return columns

    def _run_passes(
        self,
        rows: Rows,
        target: Vector,
        weight: Vector | None = None,
        *,
        train: Offsets | None = None,
        judge: Callable[[], float] | None = None,
        trials: Offsets | None = None,
        targets: Offsets | None = None,
    ) -> None:
        """Pass over the rows until `n_iter_no_change` passes in a row did not improve on the best by `tol`.

        `train` are the rows (or trials) to learn; if None, all. `judge` rates a pass; if None, by its mean loss.
        """
        everything = rows.n_rows if trials is None else len(trials) - 1

        def run_pass(order: Offsets | None) -> None:
            self._learner.learn(rows, target, weight, order, trials=trials, targets=targets, interruptible=True)

        self._make_passes(run_pass, everything, train, judge)

    def _make_passes(
        self,
        run_pass: Callable[[Offsets | None], None],
        everything: int,
        train: Offsets | None = None,
        judge: Callable[[], float] | None = None,
    ) -> None:
        """Call `run_pass` with one order of the examples per pass; None means their given order."""
        learner = self._learner
        random = check_random_state(self.random_state)
        best, stale = -inf, 0
        for self.n_iter_ in range(1, self.max_iter + 1):  # noqa: B020
            before = learner.totals
            order = random.permutation(everything if train is None else train) if self.shuffle else train
            run_pass(None if order is None else order.astype(np.intp))
            learner.mark_seen(seen=True)
            after = learner.totals
            loss = (after.loss - before.loss) / max(after.rounds - before.rounds, 1)
            quality = -loss if judge is None else judge()
            if self.verbose:
                print(f"pass {self.n_iter_}: mean loss {loss:.6g}, {after.mistakes - before.mistakes} mistakes")  # noqa: T201
            if self.tol is not None:
                stale = 0 if quality >= best + self.tol else stale + 1  # a quality of nan is not an improvement
                best = max(best, quality)
                if stale >= self.n_iter_no_change:
                    break
        else:
            if self.tol is not None:
                warn_caller(
                    f"max_iter={self.max_iter} passes ended before tol={self.tol} was met: raise max_iter, or tol.",
                    ConvergenceWarning,
                )
        if hasattr(self, "C") and several(self.C):
            self._model.warn_if_alike()
        self._model.in_order = not self.shuffle

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = getattr(self, "kernel", None)
        tags.input_tags.pairwise = isinstance(kernel, str) and kernel == "precomputed"
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _check_fitted(self) -> Learner[Any]:
        if not self._has_begun:
            raise AttributeError(
                f"this {type(self).__name__} has not learned anything yet: call fit or partial_fit first"
            )
        return self._learner

    @property
    def totals_(self) -> Totals:
        """Totals of the rounds so far."""
        return self._check_fitted().totals

    @property
    def t_(self) -> float:
        """One plus the number of rounds."""
        return 1.0 + self._check_fitted().totals.rounds
