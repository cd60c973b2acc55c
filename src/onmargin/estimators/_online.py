"""What all estimators share: validation, passes over the data, and what the rounds came to."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from functools import wraps
from inspect import currentframe
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from onmargin._checks import check_sparse
from onmargin._core.rows import Rows
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task
from onmargin._core.turns import TakingTurns
from onmargin._late import fit_shards
from onmargin.io.sharding import Shards
from onmargin.learner import Learner, Offsets, Totals, Vector, as_rows
from onmargin.models.options import check_options
from onmargin.models.plan import Model, Plan
from onmargin.models.rules import FLAG, NOTHING, Instance, Number, Rule, check_parameters
from onmargin.models.updates import projection

# What scikit-learn's validation takes: arrays, frames, sparse matrices, lists of lists.
MatrixLike = Any


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn the line that called the library."""
    frame, level = currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith("onmargin."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_of_margin(margin: float, most: float) -> None:
    """Warn if no weights on the simplex give any of the rows that a learner begins with the margin asked for.

    Rows that are all zero say nothing about the others to come.
    """
    if margin > most > 0:
        warn_caller(
            f"margin {margin:g} is out of reach: weights on the simplex give these rows {most:g} at most, so that each "
            "has a loss whatever is learned. Scale the rows up, or ask for less with margin= if it is a parameter.",
            UserWarning,
        )


def _or_shards(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A `fit` that gives shards to :func:`onmargin.scale.fit`, which stands above all estimators."""

    @wraps(fit)
    def either(self: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(X, Shards):
            return fit_shards(self, X, *arguments, **options)
        return fit(self, X, *arguments, **options)

    return either


class OnlineLearner(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator that learns in rounds.

    A subclass inherits the options of a family, whose `plan` says how they learn, and holds a `Model`. Where there is
    no plan, it adds the rules of its parameters (`_rules`), says which task it learns (`_task`) and holds a `Learner`.
    """

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = {
        "C": (Number(0, above=True),),
        "max_iter": (Number(1, whole=True),),
        "tol": (Number(0), NOTHING),
        "n_iter_no_change": (Number(1, whole=True),),
        "shuffle": (FLAG,),
        "verbose": (FLAG, Number(0, whole=True)),
        "random_state": (NOTHING, Number(0, 2**32 - 1, whole=True), Instance(np.random.RandomState, "a RandomState")),
        "warm_start": (FLAG,),
    }
    _dtypes: ClassVar[tuple[Any, ...]] = (np.dtype(np.float64), np.dtype(np.float32))

    C: float
    loss: str
    max_iter: int
    tol: float | None
    n_iter_no_change: int
    shuffle: bool
    verbose: int
    random_state: int | np.random.RandomState | None
    warm_start: bool

    n_features_in_: int
    n_iter_: int
    _learner: Learner[Any]

    # Of estimators over a model; those are dataclasses, whose annotations would be parameters.
    plan: ClassVar[Callable[..., Plan]]  # of the options: how the parameters as they are now learn
    _model: Model
    _sparse_coef: sparse.csr_matrix | None
    _sparse_metric: dict[str, tuple[NDArray[np.intp], NDArray[Any]]]
    classes_: NDArray[Any]
    class_counts_: Vector

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "fit" in vars(cls):
            cls.fit = _or_shards(vars(cls)["fit"])

    def _task(self) -> Task:
        """What is learned, with the parameters as they are now."""
        raise NotImplementedError

    def _step(self) -> Step:
        return projection(self.C, self.loss)

    def _row_types(self) -> tuple[Any, ...]:
        """The types that rows may have; the first is what others are converted to."""
        return self._dtypes

    def _check_parameters(self) -> None:
        if hasattr(type(self), "plan"):
            check_options(self)
        else:
            check_parameters(self, self._rules)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[Any]:
        """Check the parameters, and yield their plan; if anything raises, the estimator is as it was before.

        Other threads that call the estimator to learn wait until the block is over.
        """
        self._check_parameters()
        with TakingTurns(self):
            before = dict(vars(self))
            try:
                # The geometry may be replaced before all is known to be well; nothing can fail once rounds are played.
                for name in before.keys() & {"_model", "_learner"}:
                    setattr(self, name, copy(before[name]))
                if hasattr(type(self), "plan"):
                    yield self.plan()
                    self._model.learner.close()
                else:
                    yield
            except BaseException:
                self.__dict__ = before
                raise

    def _validate(
        self, X: Any, y: Any, *, keep: bool, dtypes: tuple[Any, ...] | None = None
    ) -> tuple[Any, NDArray[Any], Rows]:
        """X and y checked by scikit-learn, and X as rows; `keep`: they must fit what was learned so far."""
        if not (
            keep and self._is_plain(X) and type(y) is np.ndarray and y.shape == (len(X),) and y.dtype.kind in "biuU"
        ):
            X, y = self._checked(X, y, keep=keep, dtypes=dtypes)
        return X, y, as_rows(X)

    def _checked(self, X: Any, *y: Any, keep: bool, dtypes: tuple[Any, ...] | None = None) -> Any:
        """By scikit-learn: X as a C-contiguous or CSR matrix of the weights' type, or of any the weights may have."""
        types = [self._learner.geometry.dtype] if keep else list(dtypes or self._row_types())
        return validate_data(
            self, check_sparse(X, types), *y, reset=not keep, accept_sparse="csr", dtype=types, order="C"
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

    def _go_on(self) -> bool:
        """Whether `fit` goes on from what was learned. Then it works on a copy, since passes may be interrupted."""
        warm = self.warm_start and hasattr(self, "_learner")
        if warm:
            for name in vars(self).keys() & {"_model", "_learner"}:
                setattr(self, name, deepcopy(vars(self)[name]))
        return warm

    def _prepare(self) -> None:
        """Take over the parameters as they are now."""
        self._learner.task = self._task()
        self._learner.step = self._step()

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
        """Passes over the rows until `n_iter_no_change` in a row were not better than the best before by `tol`.

        `train` are the rows (or trials) to learn, None: all. `judge` says how good a pass was, None: its mean loss.
        """
        everything = rows.n_rows if trials is None else len(trials) - 1

        def play(order: Offsets | None) -> None:
            self._learner.learn(rows, target, weight, order, trials=trials, targets=targets)

        self._make_passes(play, everything, train, judge)

    def _make_passes(
        self,
        play: Callable[[Offsets | None], None],
        everything: int,
        train: Offsets | None = None,
        judge: Callable[[], float] | None = None,
    ) -> None:
        """Have `play` learn the examples in one order after the other; None is the order they have."""
        learner = self._learner
        random = check_random_state(self.random_state)
        best, stale = -inf, 0
        for self.n_iter_ in range(1, self.max_iter + 1):  # noqa: B020
            before = learner.totals
            order = random.permutation(everything if train is None else train) if self.shuffle else train
            play(None if order is None else order.astype(np.intp))
            after = learner.totals
            loss = (after.loss - before.loss) / max(after.rounds - before.rounds, 1)
            quality = -loss if judge is None else judge()
            if self.verbose:
                print(f"pass {self.n_iter_}: mean loss {loss:.6g}, {after.mistakes - before.mistakes} mistakes")  # noqa: T201
            if self.tol is not None:
                stale = 0 if quality >= best + self.tol else stale + 1  # a quality of nan is no improvement
                best = max(best, quality)
                if stale >= self.n_iter_no_change:
                    return
        if self.tol is not None:
            warn_caller(
                f"max_iter={self.max_iter} passes ended before tol={self.tol} was met: raise max_iter, or tol.",
                ConvergenceWarning,
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fitted(self) -> Learner[Any]:
        if not hasattr(self, "_learner"):
            raise AttributeError(
                f"this {type(self).__name__} has not learned anything yet: call fit or partial_fit first"
            )
        return self._learner

    @property
    def totals_(self) -> Totals:
        """What the rounds so far came to."""
        return self._fitted().totals

    @property
    def t_(self) -> float:
        """One plus the number of rounds."""
        return 1.0 + self._fitted().totals.rounds
