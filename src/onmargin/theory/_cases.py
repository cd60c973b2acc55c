"""The case of a run: the constraints of its stream, and the size and curvature of its weights, by its parts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from onmargin._core.geometries.additive import Balanced, Entropic, PNorm
from onmargin._core.geometries.diagonal import Confidence
from onmargin._core.geometries.linked_center import PNormCenter, SimplexCenter
from onmargin._core.geometries.ridge import Ridge
from onmargin._core.geometries.trials import AdditiveBlocks, Blocks
from onmargin._core.tasks.sequence import Sequence
from onmargin._core.tasks.task import (
    Binary,
    CostSensitive,
    Multiclass,
    OneVsRest,
    Regression,
    Structured,
    Task,
    Uniclass,
)
from onmargin._core.tasks.trial import Block, Ordinal, Ranking
from onmargin.estimators._phi import as_phi
from onmargin.estimators._trials import read_trials
from onmargin.estimators.class_feature_classifier import _join_packed, _read_targets
from onmargin.models.label_sets import read_label_sets
from onmargin.models.phi import Call
from onmargin.models.trials import transform_ahead
from onmargin.theory._halfspaces import Balls, Columns, HalfSpaces, Thresholds, alone, squared_norms, with_bias
from onmargin.theory._sequences import read_sequences
from onmargin.theory._sizes import Size, euclidean, of_balanced, of_pnorm, of_simplex
from onmargin.theory._structures import read_structures
from onmargin.theory._table import Parts, Row, parts_of
from onmargin.theory._theorems import Case
from onmargin.theory.certificate import NoTheorem

Vector = NDArray[np.float64]
Places = NDArray[np.intp]
# The estimator after the run, its parts, X, y and further arguments of `partial_fit` -> the case.
Reader = Callable[[Any, Parts, Any, Any, dict[str, Any]], Case]

MOST_KERNEL_ROWS = 3000  # limit for the eigendecomposition of the kernel matrix


def read_case(run: Any, X: Any, y: Any, given: dict[str, Any]) -> Case:
    """Return the case of a run, whose parts are listed in the table of theorems."""
    parts = parts_of(run._learner)
    by_rows = isinstance(parts.geometry, Blocks | AdditiveBlocks) and not isinstance(parts.task, Block)
    read = _read_class_features if by_rows else READERS[type(parts.task)]
    has_classes = isinstance(parts.task, Binary | Multiclass | Ranking | Ordinal | Block | Sequence)
    if has_classes != hasattr(run, "classes_"):
        raise NoTheorem(f"no theorem covers {type(run).__name__}: a {type(parts.task).__name__} has other targets")
    case = read(run, parts, X, y, given)
    return replace(case, tolerance=1e-9 if parts.geometry.dtype == np.float64 else 1e-4)


def _rows(run: Any, X: Any) -> Any:
    """Return the rows as they were learned, in double precision, with the intercept coordinate last."""
    auto = getattr(run, "intercept_scaling", "auto") == "auto"
    return with_bias(_plain_rows(run, X), getattr(run._learner.geometry, "bias", 0.0), auto=auto)


def _plain_rows(run: Any, X: Any) -> Any:
    """Return the rows; with a kernel, their coordinates in the span of the rows in feature space."""
    X = run._check_input(X, keep=True)
    if not hasattr(run._learner, "kernel"):
        return X.astype(np.float64)
    if X.shape[0] > MOST_KERNEL_ROWS:
        raise NoTheorem(f"certify takes up to {MOST_KERNEL_ROWS} rows with a kernel; got {X.shape[0]}")
    kernel = run._learner.kernel  # None: X holds the kernel values
    K = np.asarray(X if kernel is None else kernel(X, X), dtype=np.float64)
    # K = U L U' holds the inner products of the rows of U L^(1/2): |sum_i beta_i phi(x_i)|^2 = beta' K beta.
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    largest = max(float(values.max(initial=0)), 0.0)
    if values.min(initial=0) < -1e-6 * largest:
        raise NoTheorem("the bounds need a positive semidefinite kernel, and this one is not, on these rows")
    some = values > 1e-12 * largest
    return vectors[:, some] * np.sqrt(values[some])


def _sign(above: NDArray[np.bool_], places: Places, required: Vector) -> tuple[Places, Places, Vector]:
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
        return alone(Columns(X, 1), *_sign(codes > 0, np.arange(len(codes)), needed), unit)
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


def _read_classes(run: Any, parts: Parts, X: Any, y: Any, given: dict[str, Any]) -> Case:
    rows, n, codes, task = _rows(run, X), len(run.classes_), _codes(run, y), parts.task
    columns = 1 if n == 2 or isinstance(task, OneVsRest) else n
    if isinstance(task, CostSensitive):
        problem, margin, largest = _prototypes(rows, codes, n, np.sqrt(task.cost)), 1.0, float(task.cost.max())
    else:
        margin, largest = parts.margin, 0.0
        if margin == 0:
            raise NoTheorem("margin=0 has no mistake bound: certify covers margins above 0")
        margins = np.broadcast_to(np.asarray(task.margin, dtype=np.float64), n)
        if task.weighted:  # a step aims at margins of up to the weight of the class, and at that after a mistake
            of_class = _class_weights(run)
            margin = float((margins * of_class)[of_class > 0].min(initial=np.inf))
            margins = margins * np.maximum(of_class, 1)
        if n > 2 and columns == 1:
            problem = _one_vs_rest(rows, codes, n, margins[codes], margin)
        else:
            # A threshold is subtracted from the one score: the second class must exceed it, the first fall below.
            threshold = getattr(parts.geometry, "threshold", 0.0)
            raised = np.array([[-threshold], [threshold]]) if n == 2 else 0.0
            problem = _prototypes(rows, codes, n, margins[:, None] + raised, margin)
    size, lengths = _geometry(parts.geometry, rows, problem.n_weights, columns)
    return Case(
        problem,
        size,
        parts.C,
        _longest(lengths),
        margin=margin,
        largest_cost=largest,
        has_unit_directions=_are_unit(lengths),
        drift=_drift(run, X, y),
    )


def _one_vs_rest(X: Any, codes: Places, n_classes: int, required: Vector, unit: float) -> HalfSpaces:
    """Return one binary problem per column. A joint mistake is a mistake of some column, so the bounds add up."""
    n = len(codes)
    rounds = np.repeat(np.arange(n), n_classes)
    above = np.tile(np.arange(n_classes), n) == codes[rounds]
    signed = _sign(above, np.arange(n * n_classes), required[rounds])
    return HalfSpaces(Columns(X, n_classes), *signed, np.ones(n * n_classes), rounds, n, unit)


def _class_weights(run: Any) -> Vector:
    """Return the weight of each class; 1 unless they are given by class."""
    weight = getattr(run, "class_weight", None)
    given = weight if isinstance(weight, Mapping) else {}
    return np.array([float(given.get(label, 1.0)) for label in run.classes_.tolist()])


def weigh_classes(run: Any, case: Case, row: Row, y: Any) -> Case:
    """Apply class weights, which multiply C, in units of the smallest weight, which bounds the gain of a mistake.

    `_read_classes` applies them to the margins.
    """
    weight = getattr(run, "class_weight", None)
    if weight is None:
        return case
    if not isinstance(weight, Mapping) or not row.weighted:
        raise NoTheorem(
            'class_weight must be a dict, and steps PA-I, "conproj" or "exact", for certify: "balanced" weights change '
            "from call to call, and other steps, and class_weight and cost together, have no bound that weights of C "
            "would enter"
        )
    of_class = _class_weights(run)
    least = float(of_class[of_class > 0].min(initial=np.inf))
    problem: Any = case.problem
    share = problem.share * (of_class[_codes(run, y)] / least)[problem.round]
    return replace(case, problem=replace(problem, share=share), C=case.C * least)


def _geometry(geometry: Any, X: Any, n_weights: int, columns: int = 1) -> tuple[Size, Vector]:
    """Return the size function of the weights, and the curvature of each row, in one column or in two."""
    geometry, two = getattr(geometry, "single", geometry), columns > 1
    if isinstance(geometry, Balanced):
        return of_balanced(n_weights), _spreads(X, signed=True)
    if isinstance(geometry, Entropic):
        return of_simplex(n_weights), _spreads(X, signed=two)
    if isinstance(geometry, PNorm):
        p = geometry.p
        powers = abs(X).power(p).sum(axis=1) if sparse.issparse(X) else (np.abs(X) ** p).sum(axis=1)
        return of_pnorm(p), (p - 1) * (2 ** (2 / p) if two else 1) * np.asarray(powers).ravel() ** (2 / p)
    return euclidean(), (2 if two else 1) * squared_norms(X)


def _are_unit(lengths: Vector) -> bool:
    return bool(len(lengths) and float(np.abs(lengths - 1).max()) <= 1e-9)


def _longest(lengths: Vector) -> float:
    return float(lengths.max(initial=0))


def _read_regression(run: Any, parts: Parts, X: Any, y: Any, given: dict[str, Any]) -> Case:
    rows, targets, geometry = _rows(run, X), np.asarray(y, dtype=np.float64), parts.geometry
    problem = _tube(rows, targets, parts.task.epsilon)
    size, lengths = _geometry(geometry, rows, problem.n_weights)
    case = Case(
        problem,
        size,
        parts.C,
        _longest(lengths),
        has_unit_directions=_are_unit(lengths),
        drift=_drift(run, X, y),
    )
    return _least_squares(case, geometry, rows, targets) if isinstance(geometry, Ridge) else case


def _tube(X: Any, y: Vector, epsilon: float) -> HalfSpaces:
    """Return the constraints y - epsilon <= score <= y + epsilon."""
    places, none = np.arange(len(y)), np.full(len(y), -1)
    up, down = np.stack([places, none], axis=1), np.stack([none, places], axis=1)
    return alone(Columns(X, 1), up, down, np.stack([y - epsilon, -y - epsilon], axis=1), epsilon)


def _least_squares(case: Case, geometry: Ridge, X: Any, y: Vector) -> Case:
    alpha, gram = geometry.alpha, X.T @ X
    largest = np.abs(y).max(initial=0) if geometry.forecast else _largest_error(X, y, alpha)
    return replace(
        case,
        C=1 / (2 * alpha),  # min |u|^2 / 2 + C L(u) is the ridge regression on the whole stream
        alpha=alpha,
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


def _drift(run: Any, X: Any, y: Any) -> Callable[[Vector], float]:
    """Return the drift as a function of u, which is quadratic in u; it replays the stream row by row when called."""
    if not isinstance(run._learner.geometry, Confidence):
        return lambda u: 0.0

    @cache
    def sums() -> list[Vector]:
        """Return the sums of P_t - P_{t-1}, and of that times w and w²."""
        totals = [np.zeros(1)] * 3
        before, bias = np.ones(1), run._learner.geometry.bias
        for again in learn_rows(clone(run).set_params(average=False), run, X, y):
            g = again._learner.geometry
            w = _with_intercepts(g.weights, g.intercept, bias)
            after = 1 / _with_intercepts(g.metric, g.metric_intercept * bias, bias)
            gained = np.maximum(after - before, 0.0)
            totals = [total + gained * power for total, power in zip(totals, (1.0, w, w**2), strict=True)]
            before = after
        return totals

    def drift(u: Vector) -> float:
        total, first, second = sums()
        return max(float((total * u**2 - 2 * first * u + second).sum()), 0.0)

    return drift


def learn_rows(copy: Any, run: Any, X: Any, y: Any) -> Iterator[Any]:
    """Yield an unfitted copy of a run after each row of its stream."""
    named = {"classes": run.classes_} if hasattr(run, "classes_") else {}
    X, y = run._check_input(X, keep=True), np.asarray(y)
    for i in range(X.shape[0]):
        yield copy.partial_fit(X[i : i + 1], y[i : i + 1], **named)


def _with_intercepts(weights: Any, intercepts: Vector, bias: float) -> Vector:
    """Concatenate the columns, each with the weight of the intercept coordinate last."""
    weights = np.asarray(weights, dtype=np.float64)
    return np.ravel(np.column_stack([weights, intercepts / bias]) if bias > 0 else weights).copy()


def _read_balls(run: Any, parts: Parts, X: Any, y: Any, given: dict[str, Any]) -> Case:
    points, geometry, radius = _plain_rows(run, X), parts.geometry, float(parts.task.radius)
    points = points.toarray() if sparse.issparse(points) else points
    n = points.shape[1]
    if isinstance(geometry, SimplexCenter):
        # Directions have norm 1, so their spread is at most sqrt 2.
        return Case(Balls(points, radius, np.zeros(n)), of_simplex(n), parts.C, 0.5)
    start = np.zeros(n)
    if run.totals_.rounds < len(points):  # the center started at the first example, which was not a round
        start, points = points[0], points[1:]
    points = points - start
    if isinstance(geometry, PNormCenter):
        # Directions have norm 1, so their p-norm is at most 1.
        return Case(Balls(points, radius, start), of_pnorm(geometry.p), parts.C, geometry.p - 1)
    if geometry.height > 0:  # a learned radius is one more coordinate
        points = np.hstack([points, np.full((len(points), 1), -radius)])
    return Case(Balls(points, radius, start), euclidean(), parts.C, 1.0)


def _read_ranking(run: Any, parts: Parts, X: Any, Y: Any, given: dict[str, Any]) -> Case:
    X, margin = _rows(run, X), parts.margin
    relevant = read_label_sets(Y, X.shape[0]).matrix(run.classes_).astype(bool)
    n, calibrated = relevant.shape[1], parts.task.calibrated
    columns = n + calibrated
    # With a calibration label (the last), relevant labels must beat it and it must beat the others.
    above = np.hstack([relevant, np.ones((len(relevant), 1), bool)]) if calibrated else relevant
    below = np.hstack([~relevant, np.ones((len(relevant), 1), bool)]) if calibrated else ~relevant
    up, down, required = _pairs(above, below)
    first = np.arange(len(up))[:, None] * columns
    up, down = (np.where(side < 0, side, first + side) for side in (up, down))
    lengths = 2 * squared_norms(X)
    problem = alone(Columns(X, columns), up, down, margin * required, margin)
    unit = _are_unit(lengths)
    return Case(problem, euclidean(), parts.C, _longest(lengths), margin=margin, has_unit_directions=unit)


def _read_ranks(run: Any, parts: Parts, X: Any, y: Any, given: dict[str, Any]) -> Case:
    X = run._check_input(X, keep=True).astype(np.float64)
    k, margin = len(run.classes_) - 1, parts.margin
    codes = run._codes(np.asarray(y)).astype(np.intp)
    places = np.arange(len(codes))[:, None] * k + np.arange(k)
    higher = np.arange(k) < codes[:, None]
    up, down = np.where(higher, places, -1), np.where(higher, -1, places)
    problem = alone(Thresholds(X, k), up, down, np.full(up.shape, margin), margin)
    return Case(problem, euclidean(), parts.C, _longest(squared_norms(X)) + 1, margin=margin)


def _read_blocks(run: Any, parts: Parts, X: Any, y: Any, given: dict[str, Any]) -> Case:
    X = _rows(run, X)
    ends, numbers, _ = read_trials(given.get("groups"), given.get("sets"), X.shape[0])
    trial = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    number = np.ones(len(trial)) if numbers is None else numbers
    sets, of_set = np.unique(np.stack([trial, number]), axis=1, return_inverse=True)
    place = of_set.ravel(), _slots(of_set.ravel())
    up = np.full((sets.shape[1], place[1].max(initial=0) + 1), -1)
    down, required = up.copy(), np.full(up.shape, -np.inf)
    high, rows, margin = np.asarray(y) != run.classes_[0], np.arange(len(trial)), parts.margin
    up[place], down[place], required[place] = np.where(high, rows, -1), np.where(high, -1, rows), margin
    rounds = sets[0].astype(np.intp)
    share = 1 / np.bincount(rounds)[rounds]
    problem = HalfSpaces(Columns(X, 1), up, down, required, share, rounds, len(ends) - 1, margin)
    has_sets = numbers is not None and numbers.max(initial=1) > 1
    size, lengths = _geometry(parts.geometry, X, problem.n_weights)
    return Case(problem, size, parts.C, _longest(lengths), margin=margin, has_sets=bool(has_sets))


def _slots(owner: Places) -> Places:
    """Return the index of each item among those of its owner, from 0."""
    counts = np.bincount(owner)
    slots = np.empty(len(owner), np.intp)
    slots[np.argsort(owner, kind="stable")] = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return slots


def _read_class_features(run: Any, parts: Parts, X: Any, y: Any, given: dict[str, Any]) -> Case:
    sets = _read_targets(X, y)
    pieces = as_phi(run.phi).learn(X, Call(sets, run.classes_, np.ones(len(sets), bool), transform_ahead(run)))
    rows, ends, codes = _join_packed(list(pieces))
    rows, k = rows.astype(np.float64), len(run.classes_)
    relevant = np.zeros((len(sets), k), bool)
    relevant[sets.owners(), codes] = True
    up, down, required = _pairs(relevant, ~relevant)
    up, down = (np.where(side < 0, side, ends[:-1, None] + side) for side in (up, down))
    real = required > -np.inf
    margin, largest = parts.margin, 0.0
    if isinstance(parts.task, CostSensitive):
        cost, margin = parts.task.cost, 1.0
        required = np.where(real, np.sqrt(cost[codes[:, None], down - ends[:-1, None]]), required)
        largest = float(cost.max())
    problem = alone(Columns(rows, 1), up, down, margin * required, margin)
    size, lengths = _geometry(parts.geometry, rows[up[real]] - rows[down[real]], problem.n_weights)
    return Case(problem, size, parts.C, _longest(lengths), margin=margin, largest_cost=largest)


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


def _read_sequences(run: Any, parts: Parts, X: Any, y: Any, given: dict[str, Any]) -> Case:
    problem, largest = read_sequences(run, X, y, given.get("lengths"))
    return Case(problem, euclidean(), parts.C, run.totals_.max_squared_norm, largest_cost=largest)


def _read_structures(run: Any, parts: Parts, X: Any, Y: Any, given: dict[str, Any]) -> Case:
    problem, largest = read_structures(run, X, Y)
    return Case(problem, euclidean(), parts.C, run.totals_.max_squared_norm, largest_cost=largest)


READERS: dict[type[Task], Reader] = {
    Binary: _read_classes,
    Multiclass: _read_classes,
    OneVsRest: _read_classes,
    CostSensitive: _read_classes,
    Regression: _read_regression,
    Uniclass: _read_balls,
    Ranking: _read_ranking,
    Ordinal: _read_ranks,
    Block: _read_blocks,
    Sequence: _read_sequences,
    Structured: _read_structures,
}
