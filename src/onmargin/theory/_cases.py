"""The case of each estimator: its step, constraints, size and curvature on a stream, for the theorems."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from onmargin._core.geometries.additive import Balanced, Entropic
from onmargin._core.steps.step import Aggressive, Fixed, Optimal
from onmargin.estimators._phi import as_phi
from onmargin.estimators._trials import read_trials
from onmargin.estimators.block_classifier import BlockClassifier
from onmargin.estimators.class_feature_classifier import ClassFeatureClassifier, _joined, _read_targets
from onmargin.estimators.classifier import PassiveAggressiveClassifier
from onmargin.estimators.dual_ascent import DualAscentClassifier, DualAscentRegressor
from onmargin.estimators.gradient import ExponentiatedGradientRegressor, GradientDescentRegressor
from onmargin.estimators.label_ranker import LabelRanker
from onmargin.estimators.ordinal import OrdinalRegressor
from onmargin.estimators.perceptrons import Perceptron, PNormPerceptron, Winnow
from onmargin.estimators.quasi_additive import QuasiAdditiveClassifier
from onmargin.estimators.regressor import PassiveAggressiveRegressor
from onmargin.estimators.ridge import OnlineRidgeRegressor
from onmargin.estimators.second_order import AROWClassifier, AROWRegressor
from onmargin.estimators.sequence_tagger import SequenceTagger
from onmargin.estimators.structured import StructuredPredictor
from onmargin.estimators.uniclass import PassiveAggressiveUniclass
from onmargin.models.dual_ascent import Ascent
from onmargin.models.label_sets import read_label_sets
from onmargin.models.trials import foreseeing
from onmargin.theory._bias import squared_norms, with_bias
from onmargin.theory._halfspaces import Balls, Columns, HalfSpaces, Thresholds, alone
from onmargin.theory._sequences import read_sequences
from onmargin.theory._sizes import Size, euclidean, of_balanced, of_pnorm, of_simplex
from onmargin.theory._structures import read_structures
from onmargin.theory._theorems import Case
from onmargin.theory.certificate import NoTheorem

Vector = NDArray[np.float64]
Places = NDArray[np.intp]
# The estimator after the run, X, y and further arguments of `partial_fit` -> the case.
Reader = Callable[[Any, Any, Any, dict[str, Any]], Case]

MOST_KERNEL_ROWS = 3000  # limit for the eigendecomposition of the kernel matrix

# The steps of quasi-additive learners and of dual ascent.
_STEPS: dict[type, str] = {Fixed: "fixed", Aggressive: "aggressive", Optimal: "optimal", Ascent: "optimal"}
# Values of `update` whose steps share a kind; each other value is its own kind.
_KINDS = {"max": "capped", "conproj": "capped", "exact": "capped", "mira": "capped", "perceptron": "simperc"}


def _rows(run: Any, X: Any) -> Any:
    """Return the rows as they were learned, in double precision, with the intercept coordinate last."""
    auto = getattr(run, "intercept_scaling", "auto") == "auto"
    return with_bias(_plain_rows(run, X), getattr(run._learner.geometry, "bias", 0.0), auto=auto)


def _plain_rows(run: Any, X: Any) -> Any:
    """Return the rows; with a kernel, their coordinates in the span of the rows in feature space."""
    X = run._checked(X, keep=True)
    if getattr(run, "kernel", None) is None:
        return X.astype(np.float64)
    if X.shape[0] > MOST_KERNEL_ROWS:
        raise NoTheorem(f"certify takes up to {MOST_KERNEL_ROWS} rows with a kernel; got {X.shape[0]}")
    K = np.asarray(X if run.kernel == "precomputed" else run._learner.kernel(X, X), dtype=np.float64)
    # K = U L U' holds the inner products of the rows of U L^(1/2): |sum_i beta_i phi(x_i)|^2 = beta' K beta.
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    largest = max(float(values.max(initial=0)), 0.0)
    if values.min(initial=0) < -1e-6 * largest:
        raise NoTheorem("the bounds need a positive semidefinite kernel, and this one is not, on these rows")
    some = values > 1e-12 * largest
    return vectors[:, some] * np.sqrt(values[some])


def _passive_aggressive(run: Any, lengths: Vector) -> str:
    """Return the step for `C` and `loss`; PA has separate theorems on the simplex and for directions of norm 1."""
    if inf == run.C and getattr(run, "geometry", "") == "entropic":
        return "PA on the simplex"
    if inf == run.C:
        unit = len(lengths) and float(np.abs(lengths - 1).max()) <= 1e-9
        return "PA of length 1" if unit else "PA"
    return "PA-II" if run.loss.startswith("squared") else "PA-I"


def _update(run: Any) -> str:
    kind = _KINDS.get(run.update, run.update)
    return "PA of trials" if kind == "capped" and inf == run.C else kind


def _signed(above: NDArray[np.bool_], places: Places, required: Vector) -> tuple[Places, Places, Vector]:
    """Return half-spaces of one score each, which must be high or low."""
    return np.where(above, places, -1)[:, None], np.where(above, -1, places)[:, None], required[:, None]


def _against_all(codes: Places, n_columns: int, required: Vector) -> tuple[Places, Places, Vector]:
    """Return half-spaces of the true column of each row against every other column."""
    places = np.arange(len(codes))[:, None] * n_columns
    others = np.arange(n_columns)
    up = np.repeat(places + codes[:, None], n_columns, axis=1)
    return up, places + others, np.where(others == codes[:, None], -np.inf, required)


def _prototypes(X: Any, codes: Places, n_classes: int, required: Any, unit: float = 1.0) -> HalfSpaces:
    """Return the constraints of prototypes: one column for two classes, otherwise one per class.

    `required` is indexed by class and rival.
    """
    required = np.broadcast_to(required, (n_classes, n_classes))[codes]
    if n_classes == 2:
        needed = required[np.arange(len(codes)), 1 - codes]
        return alone(Columns(X, 1), *_signed(codes > 0, np.arange(len(codes)), needed), unit)
    return alone(Columns(X, n_classes), *_against_all(codes, n_classes, required), unit)


def _spreads(X: Any, *, signed: bool) -> Vector:
    """Return the curvature on the simplex, the squared spread of a direction over 4.

    If `signed`, the direction contains the row and its negative.
    """
    low, high = X.min(axis=1), X.max(axis=1)
    low, high = (np.asarray(side.todense() if sparse.issparse(side) else side).ravel() for side in (low, high))
    return np.asarray(np.maximum(high, -low) ** 2 if signed else (high - low) ** 2 / 4)


def _codes(run: Any, y: Any) -> Places:
    return np.searchsorted(run.classes_, np.asarray(y))


def _classifier(run: Any, X: Any, y: Any, given: dict[str, Any]) -> Case:
    X, n = _rows(run, X), len(run.classes_)
    codes = _codes(run, y)
    mira = run.update == "mira"
    C = 1.0 if mira or run.update == "perceptron" else run.C
    if run.cost is not None:
        if run.class_weight is not None:
            raise NoTheorem("class_weight and cost together have no bound: set one of them to None")
        cost = run._learner.task.cost
        lengths = (1 if n == 2 else 2) * squared_norms(X)
        problem = _prototypes(X, codes, n, np.sqrt(cost))
        step = "PA" if inf == run.C else _passive_aggressive(run, lengths)
        longest = float(lengths.max(initial=0))
        return Case(step, "cost", problem, euclidean(), C, longest, largest_cost=float(cost.max()))
    margins = np.broadcast_to(np.asarray(run._learner.task.margin, dtype=np.float64), n)
    margin = float(margins.min())  # a mistake has a loss of at least this margin
    if margin == 0:
        raise NoTheorem("margin=0 has no mistake bound: certify covers margins above 0")
    separate = run.strategy == "ovr" and n > 2
    if separate:
        problem = _one_vs_rest(X, codes, n, margins[codes], margin)
    else:
        problem = _prototypes(X, codes, n, margins[:, None], margin)
    columns = 1 if separate or n == 2 else n
    size, lengths = _geometry(run.geometry, X, problem, balanced=False, p=None, columns=columns)
    step = _passive_aggressive(run, lengths) if run.update == "max" else _update(run)
    if run.class_weight is not None:
        problem, C = _weighted(run, problem, codes, step)
    return Case(step, "mistakes", problem, size, C, _longest(lengths), margin=margin)


def _one_vs_rest(X: Any, codes: Places, n_classes: int, required: Vector, unit: float) -> HalfSpaces:
    """Return one binary problem per column. A joint mistake is a mistake of some column, so the bounds add up."""
    n = len(codes)
    rounds = np.repeat(np.arange(n), n_classes)
    above = np.tile(np.arange(n_classes), n) == codes[rounds]
    signed = _signed(above, np.arange(n * n_classes), required[rounds])
    return HalfSpaces(Columns(X, n_classes), *signed, np.ones(n * n_classes), rounds, n, unit)


def _weighted(run: Any, problem: HalfSpaces, codes: Places, step: str) -> tuple[HalfSpaces, float]:
    """Apply class weights, which multiply C, in units of the smallest weight, which bounds the gain of a mistake."""
    weight = run.class_weight
    if not isinstance(weight, Mapping) or step not in {"PA-I", "capped"}:
        raise NoTheorem(
            'class_weight must be a dict, and steps PA-I, "conproj" or "exact", for certify: "balanced" weights change '
            "from call to call, and other steps have no bound that weights of C would enter"
        )
    of_class = np.array([float(weight.get(label, 1.0)) for label in run.classes_.tolist()])
    least = float(of_class[of_class > 0].min(initial=np.inf))
    share = problem.share * (of_class[codes] / least)[problem.round]
    return replace(problem, share=share), run.C * least


def _geometry(
    word: str, X: Any, problem: HalfSpaces, *, balanced: bool, p: float | None, columns: int
) -> tuple[Size, Vector]:
    """Return the size function of the weights, and the curvature of each row, in one column or in two."""
    two = columns > 1
    if word == "entropic":
        n = problem.n_weights
        return of_balanced(n) if balanced else of_simplex(n), _spreads(X, signed=balanced or two)
    if word == "pnorm" and p is not None and p > 2:
        powers = abs(X).power(p).sum(axis=1) if sparse.issparse(X) else (np.abs(X) ** p).sum(axis=1)
        lengths = np.asarray(powers).ravel() ** (2 / p)
        return of_pnorm(p), (p - 1) * (2 ** (2 / p) if two else 1) * lengths
    return euclidean(), (2 if two else 1) * squared_norms(X)


def _longest(lengths: Vector) -> float:
    return float(lengths.max(initial=0))


def _regressor(run: Any, X: Any, y: Any, given: dict[str, Any]) -> Case:
    X = _rows(run, X)
    problem = _tube(X, np.asarray(y, dtype=np.float64), run.epsilon)
    size, lengths = _geometry(run.geometry, X, problem, balanced=False, p=_norm(run), columns=1)
    # The theorem for directions of norm 1 holds in Euclidean geometry only.
    step = _passive_aggressive(run, np.zeros(1) if run.geometry == "pnorm" else lengths)
    return Case(step, "loss", problem, size, run.C, _longest(lengths))


def _norm(run: Any) -> float | None:
    return getattr(run._learner.geometry, "p", None)


def _dual_regressor(run: Any, X: Any, y: Any, given: dict[str, Any]) -> Case:
    X = _rows(run, X)
    problem = _tube(X, np.asarray(y, dtype=np.float64), run.epsilon)
    return Case("PA-I", "loss", problem, euclidean(), run.C, _longest(squared_norms(X)))


def _tube(X: Any, y: Vector, epsilon: float) -> HalfSpaces:
    """Return the constraints y - epsilon <= score <= y + epsilon."""
    places, none = np.arange(len(y)), np.full(len(y), -1)
    up, down = np.stack([places, none], axis=1), np.stack([none, places], axis=1)
    return alone(Columns(X, 1), up, down, np.stack([y - epsilon, -y - epsilon], axis=1), epsilon)


def _gradient(run: Any, X: Any, y: Any, given: dict[str, Any]) -> Case:
    X = _rows(run, X)
    problem = _tube(X, np.asarray(y, dtype=np.float64), 0.0)
    simplex = isinstance(run, ExponentiatedGradientRegressor)
    size, lengths = _geometry(
        "entropic" if simplex else "euclidean", X, problem, balanced=getattr(run, "balanced", False), p=None, columns=1
    )
    step = "exponentiated gradient" if simplex else "gradient descent"
    return Case(step, "loss", problem, size, run.rate_, _longest(lengths))


def _ridge(run: Any, X: Any, y: Any, given: dict[str, Any]) -> Case:
    X, y = _rows(run, X), np.asarray(y, dtype=np.float64)
    gram = X.T @ X
    if run.forgetting:
        raise NoTheorem("the bound of ridge regression compares with fixed weights: it needs forgetting=0")
    largest = np.abs(y).max(initial=0) if run.forecast else _largest_error(X, y, run.alpha)
    return Case(
        "ridge forecast" if run.forecast else "ridge",
        "loss",
        _tube(X, y, 0.0),
        euclidean(),
        1 / (2 * run.alpha),  # min |u|^2 / 2 + C L(u) is the ridge regression on the whole stream
        _longest(squared_norms(X)),
        alpha=run.alpha,
        eigenvalues=tuple(np.linalg.eigvalsh(gram.toarray() if sparse.issparse(gram) else gram)),
        largest=float(largest),
    )


def _largest_error(X: Any, y: Vector, alpha: float) -> float:
    """Return the largest error of online ridge regression, before each update."""
    A, w, largest = np.eye(X.shape[1]) / alpha, np.zeros(X.shape[1]), 0.0
    for i in range(len(y)):
        x = X[[i]].toarray()[0] if sparse.issparse(X) else X[i]
        error, u = y[i] - w @ x, A @ x
        shrunk = u / (1 + x @ u)
        A -= np.outer(shrunk, u)
        w += error * shrunk
        largest = max(largest, abs(error))
    return largest


def _quasi_additive(run: Any, X: Any, y: Any, given: dict[str, Any]) -> Case:
    if run.class_weight is not None:
        raise NoTheorem("class_weight makes C change from round to round: certify covers class_weight=None only")
    X, n = _rows(run, X), len(run.classes_)
    plan, geometry, codes = run.plan(), run._learner.geometry, _codes(run, y)
    margin = float(plan.task(run.classes_.tolist()).margin)
    # The threshold is subtracted from the scores: the second class must exceed it by the margin, the first fall below.
    threshold = getattr(geometry, "threshold", 0.0)
    required = np.array([[0.0, margin - threshold], [margin + threshold, 0.0]]) if n == 2 else margin
    problem = _prototypes(X, codes, n, required, margin)
    simplex, p = isinstance(geometry, Entropic), getattr(geometry, "p", None)
    word = "entropic" if simplex else "euclidean" if p is None else "pnorm"
    size, lengths = _geometry(
        word, X, problem, balanced=isinstance(geometry, Balanced), p=p, columns=1 if n == 2 else n
    )
    step = _STEPS[type(plan.step)]
    step = "scale" if step == "fixed" and not simplex else step
    return Case(step, "mistakes", problem, size, plan.step.C, _longest(lengths), margin=margin)


def _arow_classifier(run: Any, X: Any, y: Any, given: dict[str, Any]) -> Case:
    if run.class_weight is not None:
        raise NoTheorem("class_weight changes r from round to round: certify covers class_weight=None only")
    rows, n, codes = _rows(run, X), len(run.classes_), _codes(run, y)
    separate = run.strategy == "ovr" and n > 2
    problem = _one_vs_rest(rows, codes, n, np.ones(len(codes)), 1.0) if separate else _prototypes(rows, codes, n, 1.0)
    lengths = (1 if separate or n == 2 else 2) * squared_norms(rows)
    return Case("AROW", "mistakes", problem, euclidean(), 1 / (2 * run.r), _longest(lengths), **_variances(run, X, y))


def _arow_regressor(run: Any, X: Any, y: Any, given: dict[str, Any]) -> Case:
    rows = _rows(run, X)
    problem, longest = _tube(rows, np.asarray(y, dtype=np.float64), run.epsilon), _longest(squared_norms(rows))
    return Case("AROW", "loss", problem, euclidean(), 1 / (2 * run.r), longest, **_variances(run, X, y))


def _variances(run: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return the drift as a function of u, which is quadratic in u; the stream is replayed row by row."""
    if run.forgetting:
        raise NoTheorem("the bound of AROW needs variances that never grow: certify covers forgetting=0")
    again = clone(run).set_params(average=False)
    named = {"classes": run.classes_} if hasattr(run, "classes_") else {}
    X, y = run._checked(X, keep=True), np.asarray(y)
    sums = [np.zeros(1)] * 3  # sums of P_t - P_{t-1}, and of that times w and w²
    before, bias = np.ones(1), run._learner.geometry.bias
    for i in range(X.shape[0]):
        g = again.partial_fit(X[i : i + 1], y[i : i + 1], **named)._learner.geometry
        w = _with_intercepts(g.weights, g.intercept, bias)
        after = 1 / _with_intercepts(g.metric, g.metric_intercept * bias, bias)
        gained = np.maximum(after - before, 0.0)
        sums = [total + gained * power for total, power in zip(sums, (1.0, w, w**2), strict=True)]
        before = after
    return {"drift": lambda u: max(float((sums[0] * u**2 - 2 * sums[1] * u + sums[2]).sum()), 0.0)}


def _with_intercepts(weights: Any, intercepts: Vector, bias: float) -> Vector:
    """Concatenate the columns, each with the weight of the intercept coordinate last."""
    weights = np.asarray(weights, dtype=np.float64)
    return np.ravel(np.column_stack([weights, intercepts / bias]) if bias > 0 else weights).copy()


def _uniclass(run: Any, X: Any, y: Any, given: dict[str, Any]) -> Case:
    X = _plain_rows(run, X)
    X = X.toarray() if sparse.issparse(X) else X
    if run.geometry == "entropic":  # the start is always the middle of the simplex
        n = X.shape[1]
        problem = Balls(X, float(run.epsilon), np.zeros(n))
        # Directions have norm 1, so their spread is at most sqrt 2.
        return Case(_passive_aggressive(run, np.zeros(1)), "loss", problem, of_simplex(n), run.C, 0.5)
    start, X = (X[0], X[1:]) if run.init == "first" else (np.zeros(X.shape[1]), X)
    points, limit = X - start, run.epsilon
    if run.geometry == "pnorm":
        p = run._learner.geometry.p
        # Directions have norm 1, so their p-norm is at most 1.
        return Case(
            _passive_aggressive(run, np.zeros(1)), "loss", Balls(points, float(limit), start), of_pnorm(p), run.C, p - 1
        )
    if run.max_radius is not None:
        limit = run.max_radius
        points = np.hstack([points, np.full((len(points), 1), -limit)])
    step = _passive_aggressive(run, np.ones(1))
    return Case(step, "loss", Balls(points, float(limit), start), euclidean(), run.C, 1.0)


def _ranker(run: Any, X: Any, Y: Any, given: dict[str, Any]) -> Case:
    X = _rows(run, X)
    relevant = read_label_sets(Y, X.shape[0]).matrix(run.classes_).astype(bool)
    n, calibrated = relevant.shape[1], run._calibrated
    columns = n + calibrated
    # With a calibration label (the last), relevant labels must beat it and it must beat the others.
    above = np.hstack([relevant, np.ones((len(relevant), 1), bool)]) if calibrated else relevant
    below = np.hstack([~relevant, np.ones((len(relevant), 1), bool)]) if calibrated else ~relevant
    up, down, required = _pairs(above, below)
    first = np.arange(len(up))[:, None] * columns
    up, down = (np.where(side < 0, side, first + side) for side in (up, down))
    lengths = 2 * squared_norms(X)
    step = _passive_aggressive(run, lengths) if run.update == "max" else _update(run)
    problem = alone(Columns(X, columns), up, down, required)
    return Case(step, "mistakes", problem, euclidean(), run.C, _longest(lengths))


def _ordinal(run: Any, X: Any, y: Any, given: dict[str, Any]) -> Case:
    X = run._checked(X, keep=True).astype(np.float64)
    k = len(run.classes_) - 1
    codes = run._codes(np.asarray(y)).astype(np.intp)
    places = np.arange(len(codes))[:, None] * k + np.arange(k)
    higher = np.arange(k) < codes[:, None]
    up, down = np.where(higher, places, -1), np.where(higher, -1, places)
    problem = alone(Thresholds(X, k), up, down, np.ones(up.shape))
    return Case(_update(run), "mistakes", problem, euclidean(), run.C, _longest(squared_norms(X)) + 1)


def _blocks(run: Any, X: Any, y: Any, given: dict[str, Any]) -> Case:
    X = _rows(run, X)
    ends, numbers, _ = read_trials(given.get("groups"), given.get("sets"), X.shape[0])
    trial = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    number = np.ones(len(trial)) if numbers is None else numbers
    sets, of_set = np.unique(np.stack([trial, number]), axis=1, return_inverse=True)
    place = of_set.ravel(), _slots(of_set.ravel())
    up = np.full((sets.shape[1], place[1].max(initial=0) + 1), -1)
    down, required = up.copy(), np.full(up.shape, -np.inf)
    high, rows, margin = np.asarray(y) == run.classes_[1], np.arange(len(trial)), run._learner.task.margin
    up[place], down[place], required[place] = np.where(high, rows, -1), np.where(high, -1, rows), margin
    rounds = sets[0].astype(np.intp)
    share = 1 / np.bincount(rounds)[rounds]
    problem = HalfSpaces(Columns(X, 1), up, down, required, share, rounds, len(ends) - 1, margin)
    parted = numbers is not None and numbers.max(initial=1) > 1
    step = run.update if parted and run.update == "max" else _update(run)
    goal = "sets" if parted else "mistakes"
    size, lengths = _geometry(run.geometry, X, problem, balanced=False, p=None, columns=1)
    return Case(_of_trials(run, step), goal, problem, size, run.C, _longest(lengths), margin=margin)


def _of_trials(run: Any, step: str) -> str:
    """Return the step of trials; on the simplex, predictions of fixed steps depend on C."""
    return "fixed" if run.geometry == "entropic" and step == "simperc" else step


def _slots(owner: Places) -> Places:
    """Return the index of each item among those of its owner, from 0."""
    counts = np.bincount(owner)
    slots = np.empty(len(owner), np.intp)
    slots[np.argsort(owner, kind="stable")] = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return slots


def _class_features(run: Any, X: Any, y: Any, given: dict[str, Any]) -> Case:
    sets = _read_targets(X, y)
    parts = as_phi(run.phi).learn(X, sets, run.classes_, np.ones(len(sets), bool), foreseeing(run))
    rows, ends, codes = _joined(list(parts))
    rows, k = rows.astype(np.float64), len(run.classes_)
    relevant = np.zeros((len(sets), k), bool)
    relevant[sets.owners(), codes] = True
    up, down, required = _pairs(relevant, ~relevant)
    up, down = (np.where(side < 0, side, ends[:-1, None] + side) for side in (up, down))
    real = required > -np.inf
    lengths = squared_norms(rows[up[real]] - rows[down[real]])
    squared = run.loss == "squared_hinge"
    if run.cost is not None:
        cost = run._learner.task.cost
        required = np.where(real, np.sqrt(cost[codes[:, None], down - ends[:-1, None]]), required)
        step = "PA" if inf == run.C else "PA-II" if squared else "PA-I"
        problem = alone(Columns(rows, 1), up, down, required)
        return Case(step, "cost", problem, euclidean(), run.C, _longest(lengths), largest_cost=float(cost.max()))
    margin = run._learner.task.margin
    step = ("PA" if inf == run.C else "PA-II") if squared else _update(run)
    problem = alone(Columns(rows, 1), up, down, margin * required, margin)
    directions = rows[up[real]] - rows[down[real]]
    size, lengths = _geometry(run.geometry, directions, problem, balanced=False, p=None, columns=1)
    return Case(_of_trials(run, step), "mistakes", problem, size, run.C, _longest(lengths), margin=margin)


def _pairs(above: NDArray[np.bool_], below: NDArray[np.bool_]) -> tuple[Places, Places, Vector]:
    """Pair each label of a row in `above` with each in `below`; return columns and required 1, or -inf for padding."""
    apart = ~np.eye(above.shape[1], dtype=bool)
    pairs = [np.argwhere(np.logical_and.outer(a, b) & apart) for a, b in zip(above, below, strict=True)]
    up = np.full((len(pairs), max(map(len, pairs), default=1) or 1), -1)
    down, required = up.copy(), np.full(up.shape, -np.inf)
    for i, pair in enumerate(pairs):
        up[i, : len(pair)], down[i, : len(pair)] = pair.T
        required[i, : len(pair)] = 1.0
    return up, down, required


def _tagger(run: Any, X: Any, y: Any, given: dict[str, Any]) -> Case:
    problem, largest = read_sequences(run, X, y, given.get("lengths"))
    step = "perceptron" if run.update == "perceptron" else _passive_aggressive(run, np.zeros(1))
    longest = run.totals_.max_squared_norm
    return Case(step, "cost", problem, euclidean(), run.C, longest, largest_cost=largest)


def _structured(run: Any, X: Any, Y: Any, given: dict[str, Any]) -> Case:
    problem, largest = read_structures(run, X, Y)
    step, longest = _passive_aggressive(run, np.zeros(1)), run.totals_.max_squared_norm
    return Case(step, "cost", problem, euclidean(), run.C, longest, largest_cost=largest)


CASES: dict[type, Reader] = {
    PassiveAggressiveClassifier: _classifier,
    PassiveAggressiveRegressor: _regressor,
    PassiveAggressiveUniclass: _uniclass,
    LabelRanker: _ranker,
    OrdinalRegressor: _ordinal,
    BlockClassifier: _blocks,
    ClassFeatureClassifier: _class_features,
    QuasiAdditiveClassifier: _quasi_additive,
    Perceptron: _quasi_additive,
    PNormPerceptron: _quasi_additive,
    Winnow: _quasi_additive,
    DualAscentClassifier: _quasi_additive,
    DualAscentRegressor: _dual_regressor,
    GradientDescentRegressor: _gradient,
    ExponentiatedGradientRegressor: _gradient,
    OnlineRidgeRegressor: _ridge,
    AROWClassifier: _arow_classifier,
    AROWRegressor: _arow_regressor,
    SequenceTagger: _tagger,
    StructuredPredictor: _structured,
}


def case_reader(kind: type) -> Reader | None:
    """Return the function that reads the case of a class of estimators or of its base class; None if there is none."""
    return next((CASES[base] for base in kind.__mro__ if base in CASES), None)
