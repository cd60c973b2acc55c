"""Test, then train: what a learner gets wrong on its way through a stream."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from onmargin.evaluate._rounds import (
    OneByOne,
    Piece,
    as_batch,
    charge_of,
    learner_of,
    length,
    paired,
    pieces,
    takes_classes,
)
from onmargin.evaluate.alarm import ChangeAlarm
from onmargin.evaluate.curves import Curve, Curves
from onmargin.models.reliability import Reliability
from onmargin.theory import NoTheorem, certify

_OF_PROBABILITIES = ("log_loss", "brier_score", "calibration_error")
# Rounds, and sums of error, loss, squared loss and cost over them.
Sums = tuple[int, float, float, float, float]


def progressive(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    every: int | None = None,
    delay: int = 0,
    window: int | None = None,
    classes: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sets: ArrayLike | None = None,
    bound: bool = False,
    alarm: ChangeAlarm | None = None,
) -> Any:
    """Let a model predict each example of a stream before it learns it, and count what it got wrong.

    Every prediction is of an example not seen before, so that the error is an honest estimate for examples to come, and
    none has to be held back. Learners of the package count in their own ``totals_`` and go at their own speed; others
    predict and learn one example at a time. Models are copied and learn from nothing: those given stay as they are.

    Use it to see how an online learner does and whether it keeps up with a stream that changes. For a model that is
    trained once, cross-validate.

    Parameters
    ----------
    model : estimator or dict of estimators
        Anything with `predict` and `partial_fit`, or with `predict_one` and `learn_one`. A dict of names and models
        plays them all over the one stream, side by side.
    X : array-like, sparse matrix or iterable
        Examples; without `y` any iterable of pairs (x, y), which is gone through once.
    y : array-like, default=None
        Targets.
    every : int or None, default=None
        Rounds between the points of the curve. None: such that there are about 100, or 100 rounds for an iterable.
    delay : int, default=0
        How many rounds later a target arrives: an example is learned so long after its prediction. At the end of the
        stream the rest is not learned.
    window : int or None, default=None
        The rounds that `window_error` looks back on, in steps of `every`. None: a tenth of the stream, or 10 steps.
    classes : array-like, default=None
        All labels, for learners that must know them. None: those of y, where a model takes them.
    groups, sets : array-like, default=None
        For blocks: the trial of each row, and the sets within. A round is a trial.
    bound : bool, default=False
        Whether to certify the run and put what its theorem allows into the curve; needs arrays, ``delay=0`` and
        learners with ``totals_``. Of several models those without a theorem have none.
    alarm : ChangeAlarm or None, default=None
        An alarm to give every mistake to, one like it for each model; ``Curve.changes`` are the rounds at which it goes
        off, and ``plot()`` marks them. Errors of numbers are refused, unless ``totals_`` count those outside the tube.

    Returns
    -------
    curve : Curve or Curves
        Rounds, error, loss, cost, error of the last rounds, seconds and bytes of memory at each point, and for
        classifiers with ``reliability_`` the log loss, Brier score and calibration error of their probabilities;
        ``plot()`` draws it, ``plot_reliability()`` how often each probability came true, ``frame()`` makes a table. For
        a dict, a mapping of names to curves with the same two methods.

    Notes
    -----
    The error of a learner with ``totals_`` is the part of its rounds that are mistakes as the theorems count them: a
    margin of 0 is one, and a number outside the tube. With `delay`, with a model without ``totals_``, and for all
    models next to one, it is the part of the predictions that were wrong, or of numbers the mean absolute error;
    ``Curve.measure`` says which. A prediction before anything was learned is wrong, and that of a number is 0.

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
    models = dict(model) if isinstance(model, Mapping) else {type(model).__name__: model}
    n = None if y is None and _is_stream(X) else length(X)
    every = _whole("every", every, 1, default=100 if n is None else max(1, n // 100))
    delay = _whole("delay", delay, 0)
    window = _whole("window", window, 1, default=10 * every if n is None else max(1, n // 10))
    if not models:
        raise ValueError("model must be an estimator, or a dict with at least one; got an empty dict")
    if n is not None and y is not None and length(y) != n:
        raise ValueError(f"X and y must have as many examples; got {n} and {length(y)}")
    aligned = {name: np.asarray(value) for name, value in (("groups", groups), ("sets", sets)) if value is not None}
    counted = not delay and all(_counts(one) for one in models.values())
    if bound and (n is None or not counted):
        raise ValueError(
            "bound=True needs X and y as arrays, delay=0 and learners with totals_: others have no theorem"
        )
    if not isinstance(alarm, ChangeAlarm | None):
        raise ValueError(f"alarm must be None or a ChangeAlarm, such as ChangeAlarm(delta=0.002); got {alarm!r:.100}")
    labels = _labels(y) if classes is None and n is not None else classes
    runs: dict[str, _Run] = {
        name: _Totals(one, labels, alarm, stream=n is None) if counted else _Predictions(one, labels, alarm, delay)
        for name, one in models.items()
    }
    for piece in paired(X, every) if n is None else pieces(X, y, every, aligned):
        for run in runs.values():
            run.play(piece)
    curves = {name: run.curve(max(1, window // every)) for name, run in runs.items()}
    if bound:
        given = {"classes": classes, "groups": groups, "sets": sets}
        curves = {name: _bounded(curve, models[name], (X, y), given, len(models) > 1) for name, curve in curves.items()}
    return Curves(curves) if isinstance(model, Mapping) else next(iter(curves.values()))


def _bounded(curve: Curve, model: Any, stream: tuple[Any, Any], given: dict[str, Any], among: bool) -> Curve:
    """With what its theorem allows; a learner without one, `among` others, has its curve alone."""
    try:
        return curve.under(certify(clone(model), *stream, **given))
    except NoTheorem:
        if among:
            return curve
        raise


def _is_stream(X: Any) -> bool:
    """Pairs, and not examples that have no targets, such as those of a ball."""
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
    """The classes of the stream; None where targets are numbers, sets or sequences."""
    if y is None or hasattr(y, "toarray") or (isinstance(y, list) and y and not np.isscalar(y[0])):
        return None
    labels = np.asarray(y)
    return np.unique(labels) if labels.ndim == 1 and labels.dtype.kind in "biuUO" else None


@dataclass
class _Point:
    """What the rounds so far came to."""

    rounds: int
    error: float  # sums
    loss: float
    squared_loss: float
    cost: float
    seconds: float
    memory: int
    reliability: Reliability | None = None


class _Run:
    """A model on its way through the stream."""

    measure = "error"

    def __init__(self, model: Any, alarm: ChangeAlarm | None) -> None:
        self.model = clone(model) if isinstance(model, BaseEstimator) else deepcopy(model)
        self.alarm = alarm and ChangeAlarm(alarm.delta, direction=alarm.direction, buckets=alarm.buckets)
        self.points: list[_Point] = []
        self.seconds = 0.0

    def play(self, piece: Piece) -> None:
        start = perf_counter()
        sums = self.learn(piece)
        self.seconds += perf_counter() - start
        self.points.append(_Point(*sums, self.seconds, _memory(self.model), self.reliability()))

    def learn(self, piece: Piece) -> Sums:
        """Learn a piece, and what the rounds so far came to."""
        raise NotImplementedError

    def reliability(self) -> Reliability | None:
        """How good the probabilities were so far, if there are any."""
        return None

    def curve(self, steps: int) -> Curve:
        numbers = [list(vars(point).values())[:7] for point in self.points]
        table = np.array(numbers, dtype=np.float64).reshape(-1, 7)
        reliable = [point.reliability for point in self.points]
        judged: dict[str, Any] = {}
        if reliable and reliable[-1] is not None:
            judged = {name: np.array([getattr(one, name) for one in reliable]) for name in _OF_PROBABILITIES}
        rounds, errors, losses, squares, costs, seconds, memory = table.T
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
            measure=self.measure,
            model=self.model,
            changes=None if self.alarm is None else np.array(self.alarm.changes_, dtype=np.intp),
            reliability=reliable[-1] if reliable else None,
            **judged,
        )


class _Totals(_Run):
    """A learner that counts for itself: before each update, exactly as in one call."""

    def __init__(self, model: Any, classes: Any, alarm: ChangeAlarm | None, *, stream: bool) -> None:
        super().__init__(model, alarm)
        self.single = stream and hasattr(model, "learn_one")
        self.named = {"classes": classes} if classes is not None and takes_classes(model) else {}

    def learn(self, piece: Piece) -> Sums:
        if self.alarm is None:
            self.take(piece)
        elif hasattr(self.model, "_learner"):
            self.sound(self.alarm, piece)
        else:  # before it has begun to learn no mistakes can be recorded
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

    def sound(self, alarm: ChangeAlarm, piece: Piece) -> None:
        """Learn a piece, and give each of its mistakes to the alarm."""
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
    """Any model: it predicts an example, and learns it `delay` rounds later."""

    def __init__(self, model: Any, classes: Any, alarm: ChangeAlarm | None, delay: int) -> None:
        super().__init__(model, alarm)
        self.player = OneByOne(self.model, classes)
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
        for x, target in _examples(X, y):
            if self.charge is None:
                self.measure, self.charge = charge_of(self.model, target)
                if self.alarm is not None and self.measure != "error":
                    raise ValueError(
                        f"alarm needs mistakes, and the predictions are charged the {self.measure}: give learners with "
                        "totals_ and delay=0, or make mistakes of the errors and call ChangeAlarm.update yourself"
                    )
            charged = self.charge(target, self.player.predict(x))
            self.error += charged
            if self.alarm is not None:
                self.alarm.update(charged)
            self.squares += charged**2
            self.rounds += 1
            self.waiting.append((x, target))
            if len(self.waiting) > self.delay:
                self.player.learn(*self.waiting.popleft())
        return self.rounds, self.error, self.error, self.squares, 0.0


def _examples(X: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    """One after the other; rows of a sparse matrix as matrices of one row, of a frame as arrays."""
    rows = X.to_numpy() if hasattr(X, "to_numpy") else X
    targets = y.to_numpy() if hasattr(y, "to_numpy") else y
    for i in range(length(rows)):
        yield (rows[[i]] if hasattr(rows, "indptr") else rows[i]), None if targets is None else targets[i]


def _memory(model: Any) -> int:
    """Bytes of all that the model keeps; 0 for one that cannot be pickled. Its arrays are not copied for that."""
    arrays: list[pickle.PickleBuffer] = []
    try:
        rest = pickle.dumps(model, protocol=5, buffer_callback=arrays.append)
    except (TypeError, AttributeError, pickle.PicklingError):
        return 0
    return len(rest) + sum(array.raw().nbytes for array in arrays)
