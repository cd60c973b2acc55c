"""Progressive (test-then-train) evaluation of a learner on a stream."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from onmargin._core.tasks.task import Regression
from onmargin._frames import column_names, is_frame, records_of, targets_of
from onmargin.evaluate._rounds import (
    OneByOne,
    Piece,
    as_batch,
    charge_of,
    learner_of,
    length,
    pair_up,
    pieces,
    takes_classes,
)
from onmargin.evaluate.alarm import ChangeAlarm
from onmargin.evaluate.curves import Curve, Curves
from onmargin.models.reliability import Reliability
from onmargin.theory import NoTheorem, certify

_OF_PROBABILITIES = ("log_loss", "brier_score", "calibration_error")
# What the error may be the mean of, and its name; of mistakes, or of absolute errors, a run knows the name.
_MEASURES = {"error": "", "loss": "mean loss", "squared_loss": "mean squared loss", "cost": "mean cost"}
# Number of rounds, and sums of error, loss, squared loss and cost over them.
Sums = tuple[int, float, float, float, float]


class _Options(TypedDict, total=False):
    """Options of `progressive`, for type checkers."""

    every: int | None
    delay: int
    window: int | None
    measure: str | None
    classes: ArrayLike | None
    groups: ArrayLike | None
    sets: ArrayLike | None
    bound: bool
    alarm: ChangeAlarm | None


@overload
def progressive(  # numpydoc ignore=GL08
    model: Mapping[str, Any], X: Any, y: Any = None, **options: Unpack[_Options]
) -> Curves: ...


@overload
def progressive(  # numpydoc ignore=GL08
    model: Any, X: Any, y: Any = None, **options: Unpack[_Options]
) -> Curve: ...


def progressive(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    every: int | None = None,
    delay: int = 0,
    window: int | None = None,
    measure: str | None = None,
    classes: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sets: ArrayLike | None = None,
    bound: bool = False,
    alarm: ChangeAlarm | None = None,
) -> Curve | Curves:
    """Evaluate a model on a stream by predicting each example before learning it (progressive validation).

    Every prediction is for an example not seen before, so the error is an honest estimate for future examples, and no
    test set has to be held back. Learners of this package count mistakes in their ``totals_`` and run at full speed;
    other models predict and learn one example at a time. Models are copied and trained from scratch; the ones passed in
    are not modified.

    Use it to measure the performance of an online learner, and whether it adapts to a stream that changes. For a model
    that is trained once, use cross-validation.

    Parameters
    ----------
    model : estimator or dict of estimators
        Any model with `predict` and `partial_fit`, or with `predict_one` and `learn_one`. If a dict from names to
        models, all of them are evaluated on the same stream.
    X : array-like, sparse matrix or iterable
        Examples. Without `y`, any iterable of pairs (x, y), which is consumed once.
    y : array-like, default=None
        Targets.
    every : int or None, default=None
        Rounds between the points of the curve. If None, the curve has about 100 points, or one point every 100 rounds
        for an iterable.
    delay : int, default=0
        Number of rounds after which the target of an example arrives and the example is learned. The last examples of
        the stream are then not learned.
    window : int or None, default=None
        Number of rounds in `window_error`, in steps of `every`. If None, a tenth of the stream, or 10 steps for an
        iterable.
    measure : {"error", "loss", "squared_loss", "cost"} or None, default=None
        What ``Curve.error`` and ``window_error`` are the means of: mistakes, losses, squared losses or costs. If None,
        the losses for regression by learners with ``totals_``, and mistakes otherwise (see the notes). Only learners
        with ``totals_`` have costs.
    classes : array-like, default=None
        All labels, for learners that require them. If None, the labels in y are used for models that accept them.
    groups, sets : array-like, default=None
        For block classifiers: the trial of each row, and its set within the trial. A round is a trial.
    bound : bool, default=False
        Whether to certify the run and add the bound of its theorem to the curve. Requires arrays, ``delay=0`` and
        learners with ``totals_``. Among several models, those without a theorem have no bound.
    alarm : ChangeAlarm or None, default=None
        A change alarm, copied for each model and updated with every mistake. ``Curve.changes`` are the rounds at which
        it goes off, and ``plot()`` marks them. Regression is refused, unless ``totals_`` counts predictions outside the
        tube as mistakes.

    Returns
    -------
    curve : Curve or Curves
        Rounds, error, loss, cost, error over the last rounds, seconds and bytes of memory at each point. For
        classifiers with ``reliability_``, also the log loss, Brier score and calibration error of their probabilities.
        ``plot()`` plots the curve, ``plot_reliability()`` the reliability diagram, and ``frame()`` returns a table. For
        a dict, a mapping from names to curves that has ``plot()`` and ``frame()``.

    Notes
    -----
    The error of a learner with ``totals_`` is the fraction of its rounds that are mistakes as the theorems count them:
    a margin of 0 is a mistake, and so is a number outside the tube. For regression, it is the mean loss by default.
    With `delay`, for a model without ``totals_``, and for all models evaluated together with such a model, the error is
    the fraction of wrong predictions, or the mean absolute error for numbers; ``Curve.measure`` tells which. Before
    anything was learned, a predicted label counts as wrong, and a predicted number as 0.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onmargin import PassiveAggressiveClassifier, Perceptron
    >>> from onmargin.evaluate import progressive
    >>> X, y = load_digits(return_X_y=True)
    >>> curve = progressive(PassiveAggressiveClassifier(), X, y)
    >>> print(f"{curve.error[-1]:.3f} over {curve.rounds[-1]} rounds")
    0.119 over 1797 rounds
    >>> curves = progressive({"PA": PassiveAggressiveClassifier(), "Perceptron": Perceptron()}, X, y)
    >>> {name: round(float(curve.error[-1]), 3) for name, curve in curves.items()}
    {'PA': 0.119, 'Perceptron': 0.19}
    """
    X = X.tocsr() if hasattr(X, "tocsr") else X
    if is_frame(X):
        column_names(X)  # refuses a lazy frame
    if is_frame(y) and len(column_names(y, "y")) == 1:
        y = np.asarray(targets_of(y))
    models = dict(model) if isinstance(model, Mapping) else {type(model).__name__: model}
    n = None if y is None and _is_stream(X) else length(X)
    every = _whole("every", every, 1, default=100 if n is None else max(1, n // 100))
    delay = _whole("delay", delay, 0)
    window = _whole("window", window, 1, default=10 * every if n is None else max(1, n // 10))
    if not models:
        raise ValueError("model must be an estimator, or a dict with at least one; got an empty dict")
    if n is not None and y is not None and length(y) != n:
        raise ValueError(f"X and y must have the same number of examples; got {n} and {length(y)}")
    aligned = {name: np.asarray(value) for name, value in (("groups", groups), ("sets", sets)) if value is not None}
    counted = not delay and all(_counts(one) for one in models.values())
    if bound and (n is None or not counted):
        raise ValueError(
            "bound=True needs X and y as arrays, delay=0 and learners with totals_: others have no theorem"
        )
    if measure is not None and measure not in _MEASURES:
        raise ValueError(f"measure must be None or one of {', '.join(_MEASURES)}; got {measure!r:.100}")
    if bound and measure is not None:
        raise ValueError("bound=True draws what the theorem bounds: drop measure")
    if measure == "cost" and not counted:
        raise ValueError("measure='cost' needs learners with totals_ and delay=0: other models have no costs")
    if not isinstance(alarm, ChangeAlarm | None):
        raise ValueError(f"alarm must be None or a ChangeAlarm, such as ChangeAlarm(delta=0.002); got {alarm!r:.100}")
    labels = _labels(y) if classes is None and n is not None else classes
    runs: dict[str, _Run] = {
        name: _Totals(one, labels, alarm, stream=n is None) if counted else _Predictions(one, labels, alarm, delay)
        for name, one in models.items()
    }
    for piece in pair_up(X, every) if n is None else pieces(X, y, every, aligned):
        for run in runs.values():
            run.record(piece)
    curves = {name: run.curve(max(1, window // every), measure) for name, run in runs.items()}
    if bound:
        given = {"classes": classes, "groups": groups, "sets": sets}
        curves = {
            name: _add_bound(curve, models[name], (X, y), given, len(models) > 1) for name, curve in curves.items()
        }
    return Curves(curves) if isinstance(model, Mapping) else next(iter(curves.values()))


def _add_bound(curve: Curve, model: Any, stream: tuple[Any, Any], given: dict[str, Any], among: bool) -> Curve:
    """Add the bound of the theorem to a curve; a learner `among` several that has no theorem keeps its plain curve."""
    try:
        return curve.under(certify(clone(model), *stream, **given))
    except NoTheorem:
        if among:
            return curve
        raise


def _is_stream(X: Any) -> bool:
    """Return whether X is an iterable of pairs, and not a matrix of examples without targets (novelty detection)."""
    return not (hasattr(X, "shape") and len(X.shape) == 2) and isinstance(X, Iterable)


def _whole(name: str, value: int | None, low: int, default: int = 0) -> int:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ValueError(f"{name} must be an integer of at least {low}; got {value!r}")
    return int(value)


def _counts(model: Any) -> bool:
    return hasattr(type(learner_of(model)), "totals_") and hasattr(model, "partial_fit")


def _labels(y: Any) -> Any:
    """Return the classes of the stream, or None if the targets are numbers, sets or sequences."""
    if y is None or hasattr(y, "toarray") or (isinstance(y, list) and y and not np.isscalar(y[0])):
        return None
    labels = np.asarray(y)
    return np.unique(labels) if labels.ndim == 1 and labels.dtype.kind in "biuUO" else None


@dataclass
class _Point:
    """Sums over the rounds so far."""

    rounds: int
    error: float  # sums
    loss: float
    squared_loss: float
    cost: float
    seconds: float
    memory: int
    reliability: Reliability | None = None


class _Run:
    """Evaluation of a model on the stream."""

    measure = "error"  # the name of what is counted as an error

    def __init__(self, model: Any, alarm: ChangeAlarm | None) -> None:
        self.model = clone(model) if isinstance(model, BaseEstimator) else deepcopy(model)
        self.alarm = alarm and ChangeAlarm(alarm.delta, direction=alarm.direction, buckets=alarm.buckets)
        self.points: list[_Point] = []
        self.seconds = 0.0

    def record(self, piece: Piece) -> None:
        """Learn a piece, and record a point of the curve."""
        start = perf_counter()
        sums = self.learn(piece)
        self.seconds += perf_counter() - start
        self.points.append(_Point(*sums, self.seconds, _memory(self.model), self.reliability()))

    def learn(self, piece: Piece) -> Sums:
        """Learn a piece, and return the sums over the rounds so far."""
        raise NotImplementedError

    def reliability(self) -> Reliability | None:
        """Return the reliability of the probabilities so far, if there are any."""
        return None

    def usual(self) -> str:
        """Return the measure if none was chosen."""
        return "error"

    def curve(self, steps: int, measure: str | None) -> Curve:
        numbers = [list(vars(point).values())[:7] for point in self.points]
        table = np.array(numbers, dtype=np.float64).reshape(-1, 7)
        reliable = [point.reliability for point in self.points]
        judged: dict[str, Any] = {}
        if reliable and reliable[-1] is not None:
            judged = {name: np.array([getattr(one, name) for one in reliable]) for name in _OF_PROBABILITIES}
        rounds, errors, losses, squares, costs, seconds, memory = table.T
        measure = measure or self.usual()
        errors = dict(zip(_MEASURES, (errors, losses, squares, costs), strict=True))[measure]
        per_round = np.maximum(rounds, 1)
        # Sums at the beginning of each window.
        back = np.maximum(np.arange(len(rounds)) - steps, -1)
        old_rounds, old_errors = (np.where(back >= 0, column[back], 0.0) for column in (rounds, errors))
        return Curve(
            rounds=rounds.astype(np.intp),
            error=errors / per_round,
            loss=losses / per_round,
            squared_loss=squares / per_round,
            cost=costs / per_round,
            window_error=(errors - old_errors) / np.maximum(rounds - old_rounds, 1),
            seconds=seconds,
            memory=memory.astype(np.intp),
            measure=_MEASURES[measure] or self.measure,
            model=self.model,
            changes=None if self.alarm is None else np.array(self.alarm.changes_, dtype=np.intp),
            reliability=reliable[-1] if reliable else None,
            **judged,
        )


class _Totals(_Run):
    """A learner with totals, which count before each update, exactly as in a single call."""

    def __init__(self, model: Any, classes: Any, alarm: ChangeAlarm | None, *, stream: bool) -> None:
        super().__init__(model, alarm)
        self.single = stream and hasattr(model, "learn_one")
        self.named = {"classes": classes} if classes is not None and takes_classes(model) else {}

    def learn(self, piece: Piece) -> Sums:
        if self.alarm is None:
            self.take(piece)
        elif hasattr(self.model, "_learner"):
            self.sound(self.alarm, piece)
        else:  # mistakes cannot be recorded before the first example was learned
            X, y, aligned = piece
            first, *rest = pieces(X, y, 1, aligned)
            self.take(first)
            self.alarm.update(self.model.totals_.mistakes)
            for one in rest:
                self.sound(self.alarm, one)
        totals = self.model.totals_
        return totals.rounds, float(totals.mistakes), totals.loss, totals.squared_loss, totals.cost

    def reliability(self) -> Reliability | None:
        return getattr(learner_of(self.model), "reliability_", None)

    def usual(self) -> str:
        task = getattr(getattr(learner_of(self.model), "_learner", None), "task", None)
        return "loss" if isinstance(getattr(task, "judge", task), Regression) else "error"

    def sound(self, alarm: ChangeAlarm, piece: Piece) -> None:
        """Learn a piece, and update the alarm with each of its mistakes."""
        learner, before = self.model._learner, self.model.totals_.rounds
        mistakes = learner.record_mistakes(length(piece[0]))
        self.take(piece)
        for mistake in mistakes[: self.model.totals_.rounds - before]:
            alarm.update(mistake)

    def take(self, piece: Piece) -> None:
        X, y, aligned = piece
        if self.single and y is not None and not aligned:
            for x, target in zip(X, y, strict=True):
                self.model.learn_one(x, target)
        else:
            self.model.partial_fit(as_batch(X), y, **aligned, **self.named)
            self.named = {}


class _Predictions(_Run):
    """Evaluation of any model: each example is predicted, and learned `delay` rounds later."""

    def __init__(self, model: Any, classes: Any, alarm: ChangeAlarm | None, delay: int) -> None:
        super().__init__(model, alarm)
        if delay and hasattr(self.model, "ordered"):  # experts that know the last labels would know too much
            self.model.ordered = False
        self.loop = OneByOne(self.model, classes)
        self.delay = delay
        self.waiting: deque[tuple[Any, Any]] = deque()
        self.rounds, self.error, self.squares = 0, 0.0, 0.0
        self.charge: Any = None

    def learn(self, piece: Piece) -> Sums:
        X, y, aligned = piece
        if aligned:
            raise ValueError(
                "groups and sets need learners with totals_ and delay=0: a round is a trial of several rows"
            )
        for x, target in _examples(X, y, records=self.loop.single):
            if self.charge is None:
                self.measure, self.charge = charge_of(self.model, target)
                if self.alarm is not None and self.measure != "error":
                    raise ValueError(
                        f"alarm needs mistakes, and the predictions are charged the {self.measure}: give learners with "
                        "totals_ and delay=0, or make mistakes of the errors and call ChangeAlarm.update yourself"
                    )
            charged = self.charge(target, self.loop.predict(x))
            self.error += charged
            if self.alarm is not None:
                self.alarm.update(charged)
            self.squares += charged**2
            self.rounds += 1
            self.waiting.append((x, target))
            if len(self.waiting) > self.delay:
                self.loop.learn(*self.waiting.popleft())
        return self.rounds, self.error, self.error, self.squares, 0.0


def _examples(X: Any, y: Any, *, records: bool) -> Iterator[tuple[Any, Any]]:
    """Yield single examples; rows of a sparse matrix are one-row matrices, and rows of a data frame dicts or arrays."""
    rows: Any = X if not is_frame(X) else records_of(X) if records else np.asarray(X)
    targets = y.to_numpy() if hasattr(y, "to_numpy") else y
    for i in range(length(rows)):
        yield (rows[[i]] if hasattr(rows, "indptr") else rows[i]), None if targets is None else targets[i]


def _memory(model: Any) -> int:
    """Return the size of the pickled model in bytes, without copying its arrays; 0 if it cannot be pickled."""
    arrays: list[pickle.PickleBuffer] = []
    try:
        rest = pickle.dumps(model, protocol=5, buffer_callback=arrays.append)
    except (TypeError, AttributeError, pickle.PicklingError):
        return 0
    return len(rest) + sum(array.raw().nbytes for array in arrays)
