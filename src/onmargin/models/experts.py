"""The experts of automatic model selection (AutoClassifier, AutoRegressor)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import filterfalse, groupby
from math import inf
from operator import attrgetter, itemgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from onmargin._core.geometries.as_double import AsDouble
from onmargin._core.geometries.boosted_trees import BoostedTrees
from onmargin._core.geometries.diagonal import Adaptive, Confidence, GradientAdaptive, Normalized
from onmargin._core.geometries.featureless import Featureless
from onmargin._core.geometries.ferns import Ferns
from onmargin._core.geometries.forest import Forest
from onmargin._core.geometries.fourier import Fourier
from onmargin._core.geometries.geometry import Euclidean, Geometry
from onmargin._core.geometries.label_chain import LabelChain
from onmargin._core.geometries.lagged import Lagged
from onmargin._core.geometries.neighbors import Neighbors
from onmargin._core.geometries.ranked import Ranked
from onmargin._core.geometries.ridge import Ridge
from onmargin._core.geometries.standardized import Standardized, StandardizedEntries
from onmargin._core.several.steps import Projections, Steps
from onmargin._core.steps.step import Confident, Constant, Projection, Proportional, Regularized, Residual, Step
from onmargin._core.tasks.task import Binary, Indicators, OneVsRest, Softmax, Task
from onmargin.models.ensemble import Kind, combination, join_pairs, pack_columns, side_by_side, with_average

# Constructors of geometries, given for each whether it depends on distances between rows.
Units = list[tuple[Kind, bool]]
# Returns the geometries of experts behind a common preparation of their rows.
Preparation = Callable[..., Geometry]

# Number of random Fourier features of an expert.
WAVES = 200
# Random ferns of an expert.
FERNS = 100
# Rows among which nearest neighbors are sought (see geometries/neighbors.pyx).
KEPT_ROWS = 1024
# A fourth of the values of a feature that determine ranks (see geometries/ranked.pyx), which four experts share.
RANKED_SHARE = 128
# Rows that trees are grown from, and nodes of all trees (see geometries/forest.pyx).
FOREST_ROWS, FOREST_NODES = 4096, 24 * 4096
# Largest number of features with nonlinear experts: each feature enters every random feature.
MOST_NONLINEAR = 300
# Largest number of features of trees and ferns, which look at few of them, and of linear weights of ranks.
MOST_FEATURES_OF_TREES = 1024
# Largest number of classes of trees and ferns, whose nodes and cells have a number for each; and of those on random
# Fourier features and nearest neighbors.
MOST_CLASSES_OF_TREES, MANY_CLASSES = 32, 500
# Largest number of classes of experts on ranks: with more, they saved no mistakes on tables with heavy tails.
MOST_CLASSES_OF_RANKS = 2
# Largest number of features for which an expert keeps a matrix of features by features.
MOST_CORRELATED = 64
# The normal quantile of 0.9, statistics.NormalDist().inv_cdf(0.9): the confidence that SCW requires of its margins.
_SURE = 1.2815515655446008
# Largest number of names with which records are treated as rows of a table, whose numbers are standardized.
MOST_OF_TABLE = 4096


@dataclass(frozen=True)
class Weights:
    """How the weights of an expert are made, and what is true of them.

    Parameters
    ----------
    kind : callable
        The constructor of the geometry, such as `Adaptive`.
    """

    kind: Kind

    nonlinear: ClassVar[bool] = False  # whether they are not weights of the features of the rows
    level: ClassVar[bool] = False  # whether they learn from targets alone
    ordered: ClassVar[bool] = False  # whether they use the last targets, in the order in which these were learned
    averaged: ClassVar[bool] = False  # whether they are the averages of the expert before, and learn nothing
    by_distance: ClassVar[bool] = False  # whether they depend on the distances between rows
    by_entries: ClassVar[bool] = False  # whether the constructor takes the number of entries of records
    most_features: ClassVar[float] = inf  # the largest number of features with which the expert takes part
    most_classes: ClassVar[float] = inf  # the largest number of classes, each of which has its own columns

    def size(self, n_features: int) -> int:
        """Return how many numbers are kept beyond the weights of features."""
        return 0

    def on_ranks(self) -> "Weights":
        """Return the same weights for ranks of features."""
        return OnRanks(self.kind)


class Average(Weights):
    """The averages of the weights of the expert before."""

    averaged = True


class Correlated(Weights):
    """Weights with a number per pair of features."""

    most_features = MOST_CORRELATED

    def size(self, n_features: int) -> int:
        return n_features**2

    def on_ranks(self) -> Weights:
        return CorrelatedRanks(self.kind)


class Level(Weights):
    """A level, whatever the rows are."""

    level = True


class LastTargets(Level):
    """What follows the last targets, whatever the rows are."""

    ordered = True


class AfterTargets(LastTargets):
    """The same for rows of a table."""

    most_features = MOST_OF_TABLE


class Changes(Correlated):
    """Weights for the change since the last target, with a number per pair of features."""

    ordered = True


class Nonlinear(Weights):
    """Weights of other features than those of the rows."""

    nonlinear = True
    most_features = MOST_NONLINEAR


class OnWaves(Nonlinear):
    """Weights of random Fourier features."""

    by_distance = by_entries = True
    most_classes = MANY_CLASSES

    def size(self, n_features: int) -> int:
        return WAVES * (WAVES + n_features)

    def on_ranks(self) -> Weights:
        return OnWavesOfRanks(self.kind)


class OnWavesOfRanks(OnWaves):
    """Weights of random Fourier features of ranks."""

    most_classes = MOST_CLASSES_OF_RANKS

    def size(self, n_features: int) -> int:
        return super().size(n_features) + RANKED_SHARE * n_features


@dataclass(frozen=True)
class OnFerns(Nonlinear):
    """Weights of the cells of random ferns with `tests` tests each."""

    tests: int = 1

    most_features = MOST_FEATURES_OF_TREES
    most_classes = MOST_CLASSES_OF_TREES

    def size(self, n_features: int) -> int:
        return 2 * FERNS << self.tests


class OnRanks(Nonlinear):
    """Weights of the ranks of the features."""

    most_features = MOST_FEATURES_OF_TREES
    most_classes = MOST_CLASSES_OF_RANKS

    def size(self, n_features: int) -> int:
        return RANKED_SHARE * n_features


class CorrelatedRanks(OnRanks):
    """Weights of the ranks, with a number per pair of features."""

    most_features = MOST_CORRELATED

    def size(self, n_features: int) -> int:
        return super().size(n_features) + n_features**2


class NearestRows(Nonlinear):
    """The rows learned last, among which the nearest neighbors are sought."""

    by_distance = True
    most_classes = MANY_CLASSES

    def size(self, n_features: int) -> int:
        return KEPT_ROWS * (n_features // 2 + 2)


class Trees(Nonlinear):
    """The rows learned last, and the nodes of the trees that are grown from them."""

    most_features = MOST_FEATURES_OF_TREES
    most_classes = MOST_CLASSES_OF_TREES

    def size(self, n_features: int) -> int:
        return FOREST_ROWS * (n_features // 2 + 3) + 4 * FOREST_NODES


class TreesOfChanges(Trees):
    """Trees for the change since the last target."""

    ordered = True


class Boosted(Nonlinear):
    """The rows learned last, with their sums and bins."""

    most_features = MOST_FEATURES_OF_TREES
    most_classes = MOST_CLASSES_OF_TREES

    def size(self, n_features: int) -> int:
        return FOREST_ROWS * (n_features + 8)


class Expert(NamedTuple):
    """An expert: its name, the recipe of its weights, the name of its task, and its step."""

    name: str
    weights: Weights
    task: str
    step: Step
    prepared: Preparation | None = None  # how its rows are prepared; None if it learns from rows as they are
    forgets: bool = False  # whether it discounts earlier examples, to follow drift

    @property
    @lru_cache(maxsize=256)  # noqa: B019  # asked of every expert for each new name or label
    def max_names(self) -> float:
        """The largest number of names of records with which it takes part; it is dropped when there are more."""
        most = self.weights.most_features
        return most if self.prepared is None else min(most, MOST_OF_TABLE)

    def on_standardized(self) -> "Expert":
        return self._replace(name=f"{self.name}, standardized", prepared=_on_standardized)

    def on_ranks(self) -> "Expert":
        return self._replace(name=f"{self.name}, ranks", weights=self.weights.on_ranks(), prepared=_on_ranks)

    def on_waves(self, curve: float) -> "Expert":
        weights = OnWaves(partial(_on_waves, self.weights.kind, curve))
        return self._replace(name=f"{self.name}, curved {curve:g}", weights=weights, prepared=_on_standardized)

    def on_ferns(self, tests: int) -> "Expert":
        weights = OnFerns(partial(_on_ferns, self.weights.kind, tests), tests)
        return self._replace(name=f"{self.name}, ferns of {tests} tests", weights=weights, prepared=_on_standardized)

    def as_average(self) -> "Expert":
        return self._replace(name=f"{self.name}, averaged", weights=Average(self.weights.kind), step=Step())


class Experts(NamedTuple):
    """The experts for sparse rows, and for dense rows.

    Those of `table` are added to the experts for sparse rows if rows may be records of a table.
    """

    sparse: tuple[Expert, ...]
    dense: tuple[Expert, ...]
    table: tuple[Expert, ...] = ()

    def linear(self) -> "Experts":
        return self._without(attrgetter("weights.nonlinear"))

    def without_forgetting(self) -> "Experts":
        return self._without(attrgetter("forgets"))

    def without_ordered(self) -> "Experts":
        return self._without(attrgetter("weights.ordered"))

    def without_levels(self) -> "Experts":
        return self._without(attrgetter("weights.level"))

    def _without(self, left_out: Callable[[Expert], Any]) -> "Experts":
        sparse, dense, table = (tuple(filterfalse(left_out, some)) for some in (self.sparse, self.dense, self.table))
        return self._replace(sparse=sparse, dense=dense, table=table)


def _on_waves(
    kind: Kind, curve: float, n_features: int, n_columns: int, dtype: Any, *, entries: int = 0, **settings: Any
) -> Geometry:
    """Return weights for random Fourier features; gamma depends on `entries`, by default the number of features."""
    waves = kind(WAVES, n_columns, np.float64, **settings | {"sparse": False})
    return Fourier(waves, n_features, curve / max(entries or n_features, 1))


def _on_ferns(kind: Kind, tests: int, n_features: int, n_columns: int, dtype: Any, **settings: Any) -> Geometry:
    """Return weights of the cells of ferns; those with other tests have other features and thresholds, too."""
    return Ferns(kind(FERNS << tests, n_columns, dtype, **settings | {"sparse": True}), n_features, tests, seed=tests)


def _neighbors(n_features: int, n_columns: int, dtype: Any, **settings: Any) -> Geometry:
    return Neighbors(n_features, n_columns, dtype)


def _trees(kind: Kind, n_features: int, n_columns: int, dtype: Any, **settings: Any) -> Geometry:
    """Return trees of fewer rows where these have many features, so that memory is limited."""
    return kind(n_features, n_columns, dtype, min(FOREST_ROWS, 2**20 // max(n_features, 1)))


def _ridge(n_features: int, n_columns: int, dtype: Any, **settings: Any) -> Geometry:
    return Ridge(n_features, n_columns, np.float64, **settings)


def _ridge_on_standardized(*sizes: Any, **settings: Any) -> Geometry:
    return _on_standardized([(_RIDGE.weights.kind, False)], *sizes, **settings)


def _on_standardized(units: Units, *sizes: Any, **settings: Any) -> Geometry:
    """Return the geometries of experts on standardized rows, given for each whether it depends on distances."""
    if not settings["sparse"]:
        return Standardized(_together(units, *sizes, **settings))
    made: list[Geometry] = []
    for by_distance, some in groupby(units, itemgetter(1)):
        made.append(StandardizedEntries(_together(some, *sizes, **settings), centered=not by_distance))
    return join_pairs(made)


def _on_ranks(units: Units, *sizes: Any, **settings: Any) -> Geometry:
    """Return the geometries of experts on standardized ranks."""
    return Ranked(_on_standardized(units, *sizes, **settings), settings["sparse"])


def _together(units: Iterable[tuple[Kind, bool]], *sizes: Any, **settings: Any) -> Geometry:
    """Return one geometry of several; those in double precision widen rows that are single."""
    made: list[Geometry] = []
    for kind, _ in units:
        one = kind(*sizes, **settings)
        made.append(one if one.dtype == sizes[-1] else AsDouble(one))
    return join_pairs(pack_columns(made))


def _label_chain(order: int, n_features: int, n_columns: int, dtype: Any, **settings: Any) -> Geometry:
    return LabelChain(n_features, n_columns, dtype, order)


def _of_changes(
    kind: Kind, n_features: int, n_columns: int, dtype: Any, *, rows: bool = True, **settings: Any
) -> Geometry:
    """Return weights for the change since the last target, of the rows or of the changes before alone."""
    inner = kind(Lagged.n_lags + rows * n_features, n_columns, dtype, **settings)
    return Lagged(inner, n_features, dtype, with_rows=rows)


def _level(kind: Kind, n_features: int, n_columns: int, dtype: Any, **settings: Any) -> Geometry:
    return Featureless(kind(1, n_columns, np.float64, bias=1.0), n_features, dtype)


_FORGETFUL = partial(Confidence, forgetting=0.1)

_ADAPTIVE = Expert("adaptive", Weights(Adaptive), "margins", Projection(cap=10.0))
_HINGE = Expert("adaptive, hinge descent", Weights(Adaptive), "margins", Constant(1.0))
_LOGISTIC, _FAST_LOGISTIC = (
    Expert(f"adaptive, logistic descent, rate={rate:g}", Weights(GradientAdaptive), "probabilities", Proportional(rate))
    for rate in (0.3, 1.0)
)
_NORMALIZED = Expert("normalized", Weights(Normalized), "margins", Projection(cap=0.4))
_PLAIN = Expert("PA-I, C=0.01", Weights(Euclidean), "margins", Projection(cap=0.01))
_AROW = Expert("AROW", Weights(Confidence), "margins", Regularized(1.0))
_CAUTIOUS_AROW = Expert("AROW, r=10", Weights(Confidence), "margins", Regularized(10.0))
_SCW, _EAGER_SCW = (
    Expert(name, Weights(Confidence), "sure margins", Confident(C, _SURE))
    for name, C in (("SCW", 0.1), ("SCW, C=1", 1.0))
)
_TRACKER = Expert("AROW that forgets", Weights(_FORGETFUL), "margins", Regularized(0.01), forgets=True)
_MILD_TRACKER = _TRACKER._replace(
    name="AROW that forgets little", weights=Weights(partial(Confidence, forgetting=0.01))
)
_RIDGE = Expert("ridge", Correlated(partial(_ridge, alpha=1.0)), "indicators", Residual())
_FREE_RIDGE = Expert("ridge", Weights(partial(Ridge, alpha=0.1)), "indicators", Residual())
# The class that was most frequent so far: where one is rare, few others make fewer mistakes.
_MAJORITY = Expert("majority class", Level(partial(_level, partial(Ridge, alpha=1.0))), "indicators", Residual())
# Labels of an ordered stream may come in runs.
_LAST_LABEL = Expert("last label", LastTargets(partial(_level, Euclidean)), "indicators", Projection(), forgets=True)
_CHAIN, _LONG_CHAIN = (
    Expert(name, AfterTargets(partial(_level, partial(_label_chain, order))), "indicators", Residual(), forgets=True)
    for order, name in ((1, "label chain"), (2, "label chain of order 2"))
)
# It forgets all but the last rows.
_NEIGHBORS = Expert(
    "nearest neighbors", NearestRows(_neighbors), "indicators", Residual(), _on_standardized, forgets=True
)
# On rows as they are: thresholds follow any scale, while means and deviations change as rows arrive.
_FOREST = Expert("forest", Trees(partial(_trees, Forest)), "indicators", Residual(), forgets=True)
_BOOSTED = Expert("boosted trees", Boosted(partial(_trees, BoostedTrees)), "indicators", Residual(), forgets=True)

# Experts for sparse rows and for tables are in the order in which columns of different kinds are packed (see
# several/packed.pyx); experts on standardized rows come last. Means of dense columns may be far from zero, which costs
# every family many mistakes; but features that drift or are mostly zero are better not standardized.
CLASSIFIERS = Experts(
    sparse=(
        _LOGISTIC,
        _FAST_LOGISTIC,
        _ADAPTIVE,
        _HINGE,
        _NORMALIZED,
        _AROW,
        _SCW,
        _TRACKER,
        _MILD_TRACKER,
        _MAJORITY,
        _LAST_LABEL,
    ),
    dense=(
        _ADAPTIVE,
        _LOGISTIC,
        _NORMALIZED,
        _SCW,
        _TRACKER,
        _MAJORITY,
        _LAST_LABEL,
        _CHAIN,
        _LONG_CHAIN,
        _FOREST,
        _BOOSTED,
        _PLAIN.on_standardized(),
        _HINGE.on_standardized(),
        _LOGISTIC.on_standardized(),
        _FAST_LOGISTIC.on_standardized(),
        _NORMALIZED.on_standardized(),
        _AROW.on_standardized(),
        _CAUTIOUS_AROW.on_standardized(),
        _SCW.on_standardized(),
        _EAGER_SCW.on_standardized(),
        _TRACKER.on_standardized(),
        _MILD_TRACKER.on_standardized(),
        _RIDGE.on_standardized(),
        _FREE_RIDGE.on_waves(0.3),
        _FREE_RIDGE.on_waves(1.0),
        _FAST_LOGISTIC.on_ferns(5),
        _FAST_LOGISTIC.on_ferns(7),
        _NEIGHBORS,
        _FAST_LOGISTIC.on_ranks(),
        _AROW.on_ranks(),
        _RIDGE.on_ranks(),
        _FREE_RIDGE.on_waves(0.3).on_ranks(),
    ),
    table=(
        _CHAIN,
        _LONG_CHAIN,
        _FOREST,
        _BOOSTED,
        _LOGISTIC.on_standardized(),
        _FAST_LOGISTIC.on_standardized(),
        _HINGE.on_standardized(),
        _NORMALIZED.on_standardized(),
        _AROW.on_standardized(),
        _CAUTIOUS_AROW.on_standardized(),
        _SCW.on_standardized(),
        _EAGER_SCW.on_standardized(),
        _TRACKER.on_standardized(),
        _MILD_TRACKER.on_standardized(),
        _PLAIN.on_standardized(),
        _RIDGE.on_standardized(),
        _FAST_LOGISTIC.on_ferns(5),
        _FAST_LOGISTIC.on_ferns(7),
        _FREE_RIDGE.on_waves(0.3),
        _FREE_RIDGE.on_waves(1.0),
        _NEIGHBORS,
        _FAST_LOGISTIC.on_ranks(),
        _AROW.on_ranks(),
        _RIDGE.on_ranks(),
        _FREE_RIDGE.on_waves(0.3).on_ranks(),
    ),
)

_LAST = Expert("last value", LastTargets(partial(_level, Euclidean)), "regression", Projection(), forgets=True)
# The first target, where it begins, counts as much as any other.
_MEAN = Expert("running mean", Level(partial(_level, Confidence)), "regression", Regularized(1.0))
# Its steps stay as large, however many examples it has seen.
_PA = Expert("PA-II, C=0.5", Weights(Euclidean), "regression", Projection(damping=1.0), forgets=True)
_ADAPTIVE_PA = Expert("adaptive", Weights(Adaptive), "regression", Projection(damping=1.0))
_NORMALIZED_PA = Expert("normalized", Weights(Normalized), "regression", Projection(damping=1.0))
_FREE, _USUAL, _CAUTIOUS = (
    Expert(f"AROW, r={r:g}", Weights(Confidence), "regression", Regularized(r)) for r in (0.01, 1.0, 10.0)
)
_FOLLOWER = Expert("AROW that forgets", Weights(_FORGETFUL), "regression", Regularized(0.1), forgets=True)
_RIDGE_TRACKER = _RIDGE._replace(
    name="ridge that forgets", weights=Correlated(partial(_ridge, alpha=1.0, forgetting=0.003)), forgets=True
)
_RIDGE_OF_CHANGES = partial(_of_changes, _ridge_on_standardized)
_AUTOREGRESSION = Expert(
    "autoregression", AfterTargets(partial(_RIDGE_OF_CHANGES, rows=False)), "regression", Residual(), forgets=True
)
_CHANGES = Expert("ridge of changes", Changes(_RIDGE_OF_CHANGES), "regression", Residual(), forgets=True)
_FOREST_OF_CHANGES = Expert(
    "forest of changes",
    TreesOfChanges(partial(_of_changes, partial(_trees, Forest))),
    "regression",
    Residual(),
    forgets=True,
)

REGRESSORS = Experts(
    sparse=(_LAST, _MEAN, _ADAPTIVE_PA, _NORMALIZED_PA, _USUAL, _CAUTIOUS, _FREE, _FOLLOWER),
    dense=(
        _LAST,
        _MEAN,
        _PA,
        _NORMALIZED_PA,
        _FREE,
        _FOLLOWER,
        _AUTOREGRESSION,
        _CHANGES,
        _FOREST_OF_CHANGES,
        _FOREST,
        _BOOSTED,
        _PA.on_standardized(),
        _ADAPTIVE_PA.on_standardized(),
        _NORMALIZED_PA.on_standardized(),
        _USUAL.on_standardized(),
        _FREE.on_standardized(),
        _CAUTIOUS.on_standardized(),
        _RIDGE.on_standardized(),
        _RIDGE_TRACKER.on_standardized(),
        _FREE_RIDGE.on_waves(0.3),
        _FREE_RIDGE.on_waves(1.0),
        _NEIGHBORS,
    ),
    table=(
        _AUTOREGRESSION,
        _CHANGES,
        _FOREST_OF_CHANGES,
        _FOREST,
        _BOOSTED,
        _ADAPTIVE_PA.on_standardized(),
        _NORMALIZED_PA.on_standardized(),
        _USUAL.on_standardized(),
        _FREE.on_standardized(),
        _CAUTIOUS.on_standardized(),
        _PA.on_standardized(),
        _RIDGE.on_standardized(),
        _RIDGE_TRACKER.on_standardized(),
        _FREE_RIDGE.on_waves(0.3),
        _FREE_RIDGE.on_waves(1.0),
        _NEIGHBORS,
    ),
)


def kinds_of(experts: Sequence[Expert], entries: int = 0) -> list[Kind]:
    """Return the constructors of the geometries: one per expert except averages, one for all with a common preparation.

    `entries` is passed to experts on random Fourier features.
    """
    plain: list[Kind] = []
    units: dict[Preparation, Units] = {}
    for expert, follower in zip(experts, [*experts[1:], None], strict=True):
        if not expert.weights.averaged:
            averaged = follower is not None and follower.weights.averaged
            kind = expert.weights.kind
            kind = partial(kind, entries=entries) if expert.weights.by_entries else kind
            kind = partial(with_average, kind) if averaged else kind
            if expert.prepared is None:
                plain.append(kind)
            else:
                # All categories must contribute the same to a distance between rows.
                units.setdefault(expert.prepared, []).append((kind, expert.weights.by_distance))
    return [*plain, *map(partial, units, units.values())]


def steps_of(experts: Sequence[Expert]) -> Step:
    """Return the steps of the experts as one step; plain projections are computed together."""
    steps = list(map(attrgetter("step"), experts))
    if set(map(type, steps)) == {Projection}:
        return Projections(list(map(attrgetter("cap"), steps)), list(map(attrgetter("damping"), steps)))
    return Steps(steps)


def class_tasks(n_classes: int, judge: Task, experts: Sequence[Expert]) -> list[Task]:
    """Return the task of each expert for a number of classes; a single class is learned as the first of two."""
    kind = Binary if n_classes <= 2 else OneVsRest
    tasks = {
        "margins": kind(),
        "sure margins": kind(eager=True),
        "probabilities": Softmax(),
        "indicators": Indicators(),
    }
    return list(map(tasks.__getitem__, map(attrgetter("task"), experts)))


def same_task(n_classes: int, judge: Task, experts: Sequence[Expert]) -> list[Task]:
    """Return the task of the prediction for each expert."""
    return [judge] * len(experts)


@dataclass(frozen=True)
class Ensemble:
    """Models that learn side by side from the same rows, and how they are combined."""

    experts: Experts
    tasks: Callable[
        [int, Task, Sequence[Expert]], list[Task]
    ]  # number of classes, task of the prediction, experts -> their tasks
    hedge: bool  # whether they vote, instead of following the leader
    by_loss: bool  # whether they are compared by losses instead of mistakes
    retirable: bool = False  # whether experts may be removed later
    from_first: bool = False  # whether they learn differences from the first target
    sleeping: bool = False  # whether experts sleep that cannot matter for now
    tempered: bool = False  # whether outliers among targets are clipped
    units: Mapping[str, Any] | None = None  # the options for the units of C; None if C is not scaled
    side_by_side: Callable[..., Geometry] = side_by_side  # creates the geometry of all
    combination: Callable[..., Task] = combination  # creates the task of all

    @property
    def sparse(self) -> tuple[Expert, ...]:
        """The experts for sparse rows."""
        return self.experts.sparse

    def for_dense(self, n_features: int) -> tuple[Expert, ...]:
        """Return the experts for dense rows with this number of features."""
        return tuple([expert for expert in self.experts.dense if n_features <= expert.weights.most_features])

    def for_records(self, n_names: int) -> tuple[Expert, ...]:
        """Return the experts for records of a table with this number of names."""
        return tuple([expert for expert in (*self.sparse, *self.experts.table) if n_names <= expert.max_names])

    def by_name(self) -> dict[str, Expert]:
        """Return all models by their names."""
        known = self.experts
        all_of_them = (*known.sparse, *known.dense, *known.table)
        return dict(zip(map(attrgetter("name"), all_of_them), all_of_them, strict=True))
