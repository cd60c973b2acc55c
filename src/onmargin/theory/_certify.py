"""Certify a run: find its theorem, compute the bound and check whether the run is within it."""

from dataclasses import dataclass, fields, replace
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from onmargin._core.tasks.task import Multiclass, OneVsRest
from onmargin._frames import targets_of
from onmargin.estimators._estimator import Estimator
from onmargin.learner import Totals
from onmargin.stream._learner import StreamLearner
from onmargin.theory._average import has_average, predicting_average
from onmargin.theory._cases import learn_rows, read_case, weigh_classes
from onmargin.theory._competitor import Solution, best_weights
from onmargin.theory._given import as_vector
from onmargin.theory._of_stream import as_estimator
from onmargin.theory._several import certify_several, check_several
from onmargin.theory._table import check_listed, find_row
from onmargin.theory._theorems import Case, Measured, Theorem
from onmargin.theory.certificate import Certificate, Competitor, Condition, NoTheorem


def certify(
    model: Any,
    X: Any,
    y: Any = None,
    competitor: Any = None,
    *,
    classes: Any = None,
    groups: Any = None,
    sets: Any = None,
    lengths: Any = None,
    accuracy: float = 0.01,
) -> Certificate:
    r"""Find the theorem that covers a learner on a stream, check its conditions, and compute its bound.

    An unfitted copy of `model` learns the stream, so `model` does not change. An unfitted model is certified for the
    totals of its copy. A fitted model is certified for its own ``totals_``, on condition that the copy reaches the same
    totals: that they are the totals of one pass over this stream with the current parameters.

    Use it to measure how hard a stream was and how much of the loss no learner could have avoided, or to check that
    reported totals belong to a run. The bound gives no guarantee for future examples; `Certificate.risk` does, for
    examples that were drawn independently from one distribution.

    Parameters
    ----------
    model : estimator or learner of onmargin.stream
        Any learner of the package that has a theorem, fitted or not.
    X, y : array-like
        The stream, as for `partial_fit` or `learn_many`, in the order in which it was learned.
    competitor : weights, tuple or estimator, default=None
        Fixed weights to compare with: ``coef_``, or a tuple of ``coef_`` and ``intercept_``, or a fitted estimator of
        the same kind. For ordinal regression pass ``(coef_, thresholds_)``, for balls ``center_`` or
        ``(center_, radius_)``, for sequences ``(coef_, transitions_, intercept_)``. If None, the best competitor in
        hindsight is computed.
    classes : array-like, default=None
        All labels, as for `partial_fit`. If None, the labels in y.
    groups, sets, lengths : array-like, default=None
        As for `partial_fit` of blocks and of sequences.
    accuracy : float, default=0.01
        Relative tolerance for the objective of the best competitor. Smaller values take longer and can lower the bound.
        The accuracy that was reached is proved by a dual value and given in the certificate.

    Returns
    -------
    certificate : Certificate
        The total of the run, the bound, the conditions with measured values, and whether the certificate holds.

    Notes
    -----
    A table maps the task, the geometry and the step to a theorem. Learners without a theorem, such as "simproj" and
    "simopt", raise :class:`NoTheorem`, a ValueError; docs/bounds.rst lists them all. The intercept coordinate, the
    calibration label and thresholds count as weights. With a kernel, the best competitor is a linear combination of the
    rows (by the representer theorem); a given competitor is an array of coefficients of the rows, one row per column of
    scores.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import normalize, scale
    >>> from onmargin import PassiveAggressiveClassifier
    >>> from onmargin.theory import certify
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> certificate = certify(PassiveAggressiveClassifier(C=0.3), normalize(scale(X)), y)
    >>> certificate.holds, certificate.suffered, round(certificate.bound)
    (True, 21.0, 86)
    """
    if not isinstance(model, Estimator | StreamLearner):
        raise NoTheorem(
            f"no theorem covers {type(model).__name__}: certify takes the learners of onmargin and onmargin.stream"
        )
    model._check_parameters()
    if not 0 < accuracy < 1:
        raise ValueError(f"accuracy must be between 0 and 1; got {accuracy!r}")
    given = {"groups": groups, "sets": sets, "lengths": lengths}
    y = targets_of(y)
    learned = model if model._has_begun else None
    if isinstance(model, StreamLearner):
        model, X, learned = as_estimator(model, X, y)
    replay = _replay(model, learned, (X, y), classes, {name: part for name, part in given.items() if part is not None})
    name, run = type(model).__name__, replay.run
    if run._model.combined is not None:
        check_several(run)
        if competitor is not None:
            raise ValueError("competitor must be None for several models: they are compared with the best of them")
        return certify_several(run, y, replay.totals, replay.conditions, learn_rows(clone(run), run, X, y))
    check_listed(name, run._learner)
    case = read_case(run, X, y, given)
    row = find_row(name, run._learner, case)
    case, theorem = weigh_classes(run, case, row, y), row.theorem
    best = _best(case, theorem, accuracy)
    chosen = best if competitor is None else _as_competitor(case, as_vector(replay.run, competitor, case.problem))
    one_pass = all(condition.met for condition in replay.conditions)
    average = partial(predicting_average, run, X, y) if one_pass and has_average(run) else None
    return replace(_certificate(replay, case, theorem, chosen, best), _average=average)


@dataclass(frozen=True)
class _Replay:
    """The copy after the stream, the totals to be certified, and their conditions."""

    run: Any
    totals: Totals
    conditions: tuple[Condition, ...]


def _replay(model: Any, learned: Any, data: tuple[Any, Any], classes: Any, given: dict[str, Any]) -> _Replay:
    """Return a copy of the model after the stream; its totals must be those of the `learned` model, if there is one."""
    X, y = data
    run = _learn_again(model, X, y, _labels(model, learned, y) if classes is None else classes, given)
    if learned is None:
        return _Replay(run, run.totals_, ())
    same, words = _compare(learned.totals_, run.totals_)
    if not same and hasattr(learned, "classes_") and classes is None:
        # Some classes may have first appeared during the run. Missing rivals only make a round easier, but two classes
        # share one column, and a third class changes the problem.
        late = _learn_again(model, X, y, None, given, told=False)
        if late is not None and _compare(learned.totals_, late.totals_)[0]:
            task = late._model.judge
            columns = len(learned.classes_) <= 2 or isinstance(task, OneVsRest) or not isinstance(task, Multiclass)
            remedy = (
                f"use onmargin.{type(model).__name__}, with classes= in the first call"
                if isinstance(learned, StreamLearner)
                else "pass classes= in the first call"
            )
            words = (
                "a replayed copy has the same totals" if columns else f"classes appeared during the stream: {remedy}"
            )
            known = Condition("totals of one pass over this stream, in one set of columns", words, columns)
            return _Replay(late, learned.totals_, (known,))
    return _Replay(run, learned.totals_, (Condition("totals of one pass over this stream", words, same),))


def _learn_again(model: Any, X: Any, y: Any, classes: Any, given: dict[str, Any], *, told: bool = True) -> Any:
    """Return a copy that has learned the stream."""
    run = clone(model)
    if getattr(run, "rate", 0) is None and hasattr(model, "rate_"):
        run.rate = model.rate_
    named = {} if classes is None else {"classes": classes}
    try:
        run.partial_fit(X, y, **named, **given)
    except ValueError:
        if told:
            raise
        return None
    return run


def _labels(model: Any, learned: Any, y: Any) -> Any:
    """Return the labels of the stream, or of the learned model, for learners whose `partial_fit` takes `classes`."""
    if "classes" not in signature(model.partial_fit).parameters:
        return None
    if learned is not None:
        return None if getattr(learned, "_indicator", False) else learned.classes_
    if isinstance(y, list) and y and isinstance(y[0], list | tuple | set | frozenset | np.ndarray):
        return sorted({label for labels in y for label in labels})
    labels = np.asarray(y) if not hasattr(y, "toarray") else None
    return np.unique(labels) if labels is not None and labels.ndim == 1 else None


def _compare(own: Totals, replayed: Totals) -> tuple[bool, str]:
    """Return whether totals agree up to rounding, and a message about those that do not."""
    names = [field.name for field in fields(Totals)]
    off = [name for name in names if not np.isclose(own[name], replayed[name], rtol=1e-6, atol=1e-9)]
    if not off:
        return True, "a replayed copy has the same totals"
    return False, "; ".join(f"{name} {own[name]:.6g}, a copy has {replayed[name]:.6g}" for name in off)


def _best(case: Case, theorem: Theorem, accuracy: float) -> Competitor:
    """Return the competitor with the smallest bound."""

    def solve(C: float) -> Solution:
        return best_weights(case.problem, case.size, C, squared=theorem.squared, accuracy=accuracy)

    unit = case.margin / case.curvature if case.curvature > 0 else 1.0
    solutions = [solve(C * unit) for C in theorem.grid] or [solve(case.C)]
    competitors = [
        Competitor(
            solution.weights, case.size.size(solution.weights), case.problem.losses(solution.weights), gap=solution.gap
        )
        for solution in solutions
    ]
    return min(competitors, key=lambda u: theorem.bound_run(case, _measure(case, u)))


def _as_competitor(case: Case, u: NDArray[np.float64]) -> Competitor:
    return Competitor(u, case.size.size(u), case.problem.losses(u))


def _measure(case: Case, u: Competitor) -> Measured:
    return Measured(u.size, u.loss, u.squared_loss, case.problem.n_rounds, case.drift(u.weights))


def _certificate(replay: _Replay, case: Case, theorem: Theorem, chosen: Competitor, best: Competitor) -> Certificate:
    measured = _measure(case, chosen)

    def bound_of(size: float, loss: float, squared_loss: float, rounds: int) -> float:
        return theorem.bound_run(case, Measured(size, loss, squared_loss, rounds, measured.drift))

    return Certificate(
        learner=type(replay.run).__name__,
        theorem=theorem.name,
        statement=theorem.statement,
        counted=theorem.counts,
        suffered=theorem.count(replay.totals),
        bound=theorem.bound_run(case, measured),
        conditions=(*replay.conditions, *theorem.conditions(case, measured)),
        competitor=chosen,
        best=best,
        best_bound=theorem.bound_run(case, _measure(case, best)),
        totals=replay.totals,
        C=case.C,
        largest_size=case.size.largest,
        has_dual=theorem.has_dual,
        tolerance=case.tolerance,
        _bound_of=bound_of,
    )
