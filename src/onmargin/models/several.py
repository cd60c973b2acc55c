"""Several models that learn side by side from the same rows and predict as one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, repeat, starmap
from operator import attrgetter
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from onmargin._core.geometries.changed import Changed
from onmargin._core.geometries.featureless import Featureless
from onmargin._core.geometries.ferns import Ferns
from onmargin._core.geometries.forest import Forest
from onmargin._core.geometries.fourier import Fourier
from onmargin._core.geometries.geometry import Euclidean, Geometry
from onmargin._core.geometries.neighbors import Neighbors
from onmargin._core.geometries.standardized import Standardized, StandardizedEntries
from onmargin._core.several.geometries import SideBySide, WithAverage
from onmargin._core.several.packed import PackedColumns
from onmargin._core.several.tasks import Several
from onmargin._core.tasks.task import Task
from onmargin._tables import html_table, number, svg_bar, text_table
from onmargin.learner import Learner

# A constructor of a geometry, such as `Adaptive`.
Kind = Callable[..., Geometry]
# Up to this many columns of one geometry have the scores that each would have alone (see vec_body.h).
MAX_COLUMNS = 16
# The grid of C="auto", in units of 1 / |x|^2: from tiny steps to steps without an effective cap.
AUTO = tuple(float(f"{C:.2g}") for C in np.geomspace(0.001, 10, 9))
# The largest rate at which votes shrink with mistakes. The bound pays ln(M) / 0.2 for it. The vote of several models
# that are about as good is better than any of them, where a faster rate would leave one alone; with a slower one, poor
# models keep their votes for too long where mistakes are few.
CEILING = 0.2


@dataclass(frozen=True, repr=False)
class Standing:
    """Results of models that learned side by side.

    Attributes
    ----------
    names : list of str
        The names of the models.
    mistakes, loss, squared_loss : ndarray of shape (n_models,)
        Totals of each model, had it predicted alone, in the rounds in which it was awake, without the weights of
        examples. Models that slept have fewer mistakes because they predicted less often: compare `per_round` or
        `lost` instead.
    weights : ndarray of shape (n_models,)
        The weights of the votes; with ``combine="leader"``, 1 for the leader.
    leader : int
        The model with the smallest loss; the first of equal ones.
    coef, intercept : list of ndarray or None
        The weights of each model, as ``coef_`` and ``intercept_``; None for curved models.
    mixed_loss, regret_bound : float
        With ``combine="hedge"``: the losses so far, weighted like the votes, and a bound on how much more than
        the smallest of ``lost`` they can be. A loss is 1 for a mistake; for regressors it is that of the task, with
        outliers clipped as `AutoRegressor` learns them. It is multiplied by the weight of the example.
    switch_cost : float
        With ``combine="hedge"``: what is added to the bound for each change of the model, if the comparison is with a
        sequence of models instead of the best one ([FIXED-SHARE]).
    unit : float
        With ``C="auto"``: the current unit of the values of C in the names. Otherwise 1.
    judged : str
        The loss that models are compared by: "mistakes", "loss" or, for taggers, "cost".
    forgets : ndarray of bool of shape (n_models,)
        Which models follow drift and forget earlier examples: they may be wrong on old data.
    asleep : ndarray of bool of shape (n_models,)
        Which models sleep now: they neither vote nor learn, because their votes would not matter.
    charged, slept : ndarray of shape (n_models,)
        The loss charged to each model for the rounds that it slept, the mean of the others, and the number of
        these rounds.
    rounds : ndarray of shape (n_models,)
        The number of rounds in which each model was awake.
    lost : ndarray of shape (n_models,)
        The loss by which models are compared: the losses of each model times the weights of the examples, and its
        charges.

    Notes
    -----
    Printed, it is a table of the models, the best one first. If some models slept, the table has the
    rounds in which each was awake, its loss per round in these, and the sum of its loss and charges, by which the
    models are ordered and votes are weighted. If examples had weights, so do the losses in this sum. In a notebook
    there is also a bar for the loss per round.
    """

    names: list[str]
    mistakes: NDArray[np.float64]
    loss: NDArray[np.float64]
    squared_loss: NDArray[np.float64]
    weights: NDArray[np.float64]
    leader: int
    coef: list[NDArray[Any] | None]
    intercept: list[NDArray[np.float64] | None]
    mixed_loss: float
    regret_bound: float
    switch_cost: float
    unit: float
    judged: str
    forgets: NDArray[np.bool_]
    asleep: NDArray[np.bool_]
    charged: NDArray[np.float64]
    slept: NDArray[np.float64]
    rounds: NDArray[np.float64]
    lost: NDArray[np.float64]

    @property
    def per_round(self) -> NDArray[np.float64]:
        """The mean loss of each model in the rounds in which it was awake; of classifiers, its error rate."""
        found: NDArray[np.float64] = getattr(self, self.judged) / np.maximum(self.rounds, 1)
        return found

    def __repr__(self) -> str:
        notes = [f"C is in units of {number(self.unit)}"] if self.unit != 1 else []
        if not np.isnan(self.regret_bound):
            mixed, most = number(self.mixed_loss), number(self.regret_bound)
            notes.append(f"weighted loss {mixed}, at most {most} above the best model")
        return "\n".join([text_table(self._columns()), *notes])

    def _repr_html_(self) -> str:
        most = self.per_round.max() or 1.0
        return html_table(self._columns(), [svg_bar(self.per_round[m] / most) for m in self._order()], bold=0)

    def _order(self) -> list[int]:
        """Return the models in the order of the table: the leader first, the one that has lost most last."""
        found: list[int] = sorted(range(len(self.names)), key=lambda m: (m != self.leader, self.lost[m]))
        return found

    def _columns(self) -> dict[str, list[str]]:
        """Return the results of each model that users see."""
        order = self._order()
        flags = {"leads": np.arange(len(self.names)) == self.leader, "forgets": self.forgets, "asleep": self.asleep}
        shown = {self.judged: getattr(self, self.judged)}
        if self.slept.any():
            shown |= {"rounds": self.rounds, "per round": self.per_round, "with charges": self.lost}
        elif not np.array_equal(self.lost, shown[self.judged]):
            shown["weighted"] = self.lost
        return {
            "model": [self.names[m] for m in order],
            **{name: [number(values[m]) for m in order] for name, values in shown.items()},
            "weight": [f"{self.weights[m]:.3f}" for m in order],
            "": [", ".join(word for word, flag in flags.items() if flag[m]) for m in order],
        }

    def with_coef(self, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Self:
        """Return the same with other weights, each made of one of these."""
        return replace(self, coef=[None if weights is None else change(weights) for weights in self.coef])


class ModelOutcome(NamedTuple):
    """Result of one of several models side by side.

    Attributes
    ----------
    name : str
        The name of the model.
    lost : float
        Its mistakes so far, had it predicted alone; for regressors its loss, for taggers the cost of its labelings.
        Each is multiplied by the weight of the example. For rounds in which it slept, it is charged the mean of the
        others.
    vote : float
        The weight of its vote; 1 for the leader if the leader predicts.
    leads : bool
        Whether it has the smallest loss.
    """

    name: str
    lost: float
    vote: float
    leads: bool


def outcomes(task: Several, names: Sequence[str]) -> list[ModelOutcome]:
    """Return the results of models from the task that combines them."""
    leads = [m == task.leader for m in range(len(names))]
    votes = task.weights.tolist() if task.hedge else map(float, leads)
    return list(map(ModelOutcome, names, task.losses().tolist(), votes, leads))


def grid(C: Any) -> tuple[float, ...]:
    """Return the values of C, if there are several."""
    if isinstance(C, str):
        return AUTO
    return tuple(map(float, C)) if isinstance(C, Sequence | np.ndarray) else ()


def averaging(average: bool | int | str) -> int:
    """Return the first averaged round; 0 without averaging."""
    return 1 if isinstance(average, str) else int(average)


def names_of(values: tuple[float | str, ...]) -> list[str]:
    """Return the names of models that differ in these values."""
    return [value if isinstance(value, str) else f"C={value:g}" for value in values]


def with_average(kind: Kind, *sizes: Any, **settings: Any) -> Geometry:
    """Return weights of a kind and, as a second model, their averages; its step is `Step()`, which moves nothing."""
    return WithAverage(cast("Euclidean", kind(*sizes, **settings | {"average": 1})))


def joined(geometries: Sequence[Geometry]) -> Geometry:
    """Return one geometry of several, as a balanced tree of pairs."""
    made = list(geometries)
    while len(made) > 1:
        pairs = zip(made[::2], made[1::2], strict=False)
        made = [*starmap(SideBySide, pairs), *made[len(made) & ~1 :]]
    return made[0]


def side_by_side(
    kinds: Sequence[Kind], n_columns: int, make: Callable[[Kind, int], Geometry], *, sparse: bool
) -> Geometry:
    """Return the weights of models with `width` columns each; `make` creates a geometry of a kind.

    Models of one column share a geometry where rows are sparse or short: scores, lengths and moves are then worked out
    for several of them at once, and a non-zero costs one trip to memory for all.
    """
    if n_columns == 1:
        found = packed_columns([make(kind, 1) for kind in kinds])
        if len(found) < len(kinds):
            return joined(found)
    most = MAX_COLUMNS if n_columns == 1 and sparse else 1
    made = []
    for kind, alike in groupby(kinds):
        left = len(list(alike))
        while left > 0:
            made.append(make(kind, n_columns * min(most, left)))
            left -= most
    return joined(made)


def packed_columns(columns: Sequence[Geometry]) -> list[Geometry]:
    """Return geometries of one column each, consecutive ones packed into one where possible."""
    made: list[Geometry] = []
    for fits, some in groupby(columns, PackedColumns.fits):
        run = list(some)
        found = PackedColumns.of(run) if fits else None
        made += run if found is None else [found]
    return made


class Model(NamedTuple):
    """The place of a model: its scores, geometry and columns, and the geometries that change its rows, outermost first.

    A curved model learns from random Fourier features or ferns, or is a forest or nearest neighbors, and has no weights
    for the features of the rows.
    """

    place: int
    leaf: Any
    columns: slice
    before: tuple[Changed, ...] = ()

    @property
    def curved(self) -> bool:
        return isinstance(self.leaf, Forest | Neighbors) or any(isinstance(one, Fourier | Ferns) for one in self.before)

    @property
    def forgot(self) -> bool:
        """Whether a model that forgets has done so: one that keeps the last rows may still have all of them."""
        return bool(getattr(self.leaf, "forgot", True))

    @property
    def level(self) -> bool:
        """Whether it uses no features."""
        return any(isinstance(one, Featureless) for one in self.before)

    def filling(self) -> NDArray[np.float64]:
        """Return the values of missing features."""
        found = (one.filling() for one in self.before if isinstance(one, StandardizedEntries))
        return next(found, np.zeros(self.leaf.n_features))

    def plain(self, weights: NDArray[Any], intercepts: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return its own weights and intercepts for the original rows."""
        own = weights[self.columns], intercepts[self.columns]
        for one in reversed(self.before):
            if isinstance(one, Standardized | StandardizedEntries):
                own = one.plain(*own)
            elif isinstance(one, Featureless):
                own = np.zeros((len(own[0]), one.n_features), one.dtype), own[1]
        return own


def models(geometry: Geometry, width: int) -> list[Model]:
    """Return the models of a geometry, in the order of their scores."""
    found: list[Model] = []
    place = 0
    waiting: list[tuple[Any, tuple[Changed, ...]]] = list(zip(reversed(geometry.leaves()), repeat(())))
    while waiting:
        leaf, before = waiting.pop()
        if isinstance(leaf, Changed):
            waiting += zip(reversed(leaf.inner.leaves()), repeat((*before, leaf)))
            continue
        if isinstance(leaf, WithAverage):
            found.append(Model(place, leaf, slice(width), before))
            found.append(Model(place + leaf.inner.n_scores, leaf, slice(width, 2 * width), before))
        else:
            for first in leaf.order if isinstance(leaf, PackedColumns) else range(0, leaf.n_columns, width):
                found.append(Model(place + first, leaf, slice(first, first + width), before))  # noqa: PERF401
        place += leaf.n_scores
    return found


def _groups(found: Sequence[Model]) -> list[int]:
    """Return a number per model; those that sleep together have the same."""
    names = [(id(one.leaf), one.columns.start * getattr(one.leaf, "sleeps_by_model", False)) for one in found]
    return list(map(names.index, names))


def recombined(geometry: Geometry, width: int, mixing: NDArray[np.float64]) -> Geometry:
    """Return the same models with combined columns."""
    made: list[Geometry] = []
    for leaf in geometry.leaves():
        if isinstance(leaf, Changed):
            made.append(leaf.alike(recombined(leaf.inner, width, mixing)))
        elif isinstance(leaf, WithAverage):
            made.append(leaf.recombined(mixing))
        elif isinstance(leaf, PackedColumns):
            made += [leaf.alone(c).recombined(mixing) for c in leaf.order]
        else:
            for first in range(0, leaf.n_columns, width):
                spread = np.zeros((len(mixing), leaf.n_columns))
                spread[:, first : first + width] = mixing
                made.append(leaf.recombined(spread))
    return _joined(made, len(mixing))


def packed(geometry: Geometry) -> Geometry:
    """Return models of one column as `side_by_side` has them; files of version 0.1 keep those for dense rows apart."""
    return _joined(_chosen(geometry, 1, repeat(True)), 1)


def combination(
    geometry: Geometry,
    tasks: Sequence[Task],
    judge: Task,
    before: Task | None,
    *,
    width: int,
    hedge: bool,
    by_loss: bool,
    from_first: bool = False,
    tempered: bool = False,
    units: Mapping[str, Any] | None = None,
    sleeping: bool = False,
) -> Several:
    """Return the task of models with `width` scores each; the vote weights of the previous task are kept, if any.

    `units` are the units of C, set at the first round; version 0.1 has none. With `sleeping` and a vote, models
    that cannot matter for now are left out of rounds.
    """
    found = models(geometry, width)
    places = list(map(attrgetter("place"), found))
    experts = before.experts if isinstance(before, Several) else 0
    ceiling = np.inf if by_loss else CEILING
    units = before.units() if isinstance(before, Several) else units or {}
    task = Several(
        tasks,
        places,
        width,
        judge,
        hedge=hedge,
        by_loss=by_loss,
        ceiling=ceiling,
        experts=experts,
        from_first=from_first,
        tempered=tempered,
        groups=_groups(found) if sleeping and hedge else None,
        **units,
    )
    if isinstance(before, Several):
        task.__setstate__(before.state())
    return task


def keep_best(learner: Learner[Any], keep: int) -> list[int]:
    """Keep the best `keep` models, and return which they are. Models of one geometry stay together."""
    task = cast("Several", learner.task)
    found = models(learner.geometry, task.width)
    stays = [False] * len(found)
    for m in np.argsort(task.losses(), kind="stable"):
        if sum(stays) < keep:
            alone = isinstance(found[m].leaf, PackedColumns)
            stays = [stay or k == m or (not alone and found[k].leaf is found[m].leaf) for k, stay in enumerate(stays)]
    return keep_some(learner, stays)


def keep_some(learner: Learner[Any], stays: Sequence[bool]) -> list[int]:
    """Keep some models, and return which. A geometry keeps all of its models or none, unless its columns are packed."""
    task = cast("Several", learner.task)
    geometry = _joined(_chosen(learner.geometry, task.width, iter(stays)), task.width)
    kept = [m for m, stay in enumerate(stays) if stay]
    found, settings = models(geometry, task.width), task.settings()
    left = Several(
        [task.tasks[m] for m in kept],
        [model.place for model in found],
        task.width,
        task.judge,
        **settings | ({"groups": _groups(found)} if "groups" in settings else {}),
    )
    state = task.state()
    chosen = {name: state[name][kept] for name in ("outcomes", "weighted")} | {"weights": _weights(task, kept)}
    if "squares" in state:
        chosen["squares"] = state["squares"][[*kept, -1]]
    if "ranks" in state:
        chosen["ranks"] = state["ranks"][[*kept, -3, -2, -1]]
    if "odds" in state:
        chosen |= {"odds": state["odds"][:, kept], "lines": state["lines"][:, kept]}
    if "naps" in state:
        chosen["naps"] = state["naps"][:, kept]
        chosen["naps"][2:6] = 0  # all are awake, because the leader may have been removed
    left.__setstate__(state | chosen)
    learner.geometry, learner.task = geometry, left
    return kept


def _weights(task: Several, kept: list[int]) -> NDArray[np.float64]:
    """Return the vote weights of some models without the others."""
    weights: NDArray[np.float64] = task.state()["weights"][kept]
    if not weights.any():  # all weights underflow without the others
        weights = (task.losses()[kept] == task.losses()[kept].min()).astype(float)
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def _joined(geometries: list[Geometry], width: int) -> Geometry:
    return joined(packed_columns(geometries) if width == 1 else geometries)


def _chosen(geometry: Geometry, width: int, stays: Iterator[bool]) -> list[Any]:
    """Return the geometries of the kept models, given one flag per model."""
    made: list[Any] = []
    for leaf in geometry.leaves():
        if isinstance(leaf, Changed):
            if inner := _chosen(leaf.inner, width, stays):
                made.append(leaf.alike(_joined(inner, width)))
        elif isinstance(leaf, PackedColumns):
            made += [leaf.alone(c) for c in leaf.order if next(stays)]
        elif sum(next(stays) for _ in models(leaf, width)):
            made.append(leaf)
    return made


def leading_linear(task: Several, geometry: Geometry) -> Model:
    """Return the best model that has weights for features."""
    found = models(geometry, task.width)
    linear = [m for m, model in enumerate(found) if not model.curved and not model.level]
    if not linear:
        raise AttributeError("no expert that is left weighs features: all are curved, or follow a level")
    return found[min(linear, key=task.losses().__getitem__)]


def leading_weights(task: Several, geometry: Geometry) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The weights, columns by features, and intercepts of the best model of those that weigh features.

    Where the leader alone predicts and follows a level, its weights are returned, which are zero.
    """
    leader = models(geometry, task.width)[task.leader]
    best = leader if leader.level and not task.hedge else leading_linear(task, geometry)
    weights, intercepts = best.plain(*best.leaf.mean())
    return weights, intercepts + task.offset


def standing(learner: Learner[Any], names: list[str], forgets: Sequence[bool]) -> Standing:
    """Return the results of the models of a learner; `forgets` flags those that forget."""
    task, geometry = cast("Several", learner.task), learner.geometry
    state, found = task.state(), models(geometry, task.width)
    mistakes, loss, squared_loss = state["outcomes"].T.copy()
    coef: list[NDArray[Any] | None] = []
    intercept: list[NDArray[np.float64] | None] = []
    for leaf, its in groupby(found, attrgetter("leaf")):
        mean = (None, None) if isinstance(leaf, Forest | Neighbors) else leaf.mean()
        for model in its:
            weights, intercepts = (None, None) if model.curved else model.plain(*mean)
            coef.append(weights)
            intercept.append(None if intercepts is None else intercepts + task.offset)
    charged, slept = task.naps.copy()
    return Standing(
        names,
        mistakes,
        loss,
        squared_loss,
        task.weights.copy() if task.hedge else np.eye(len(names))[task.leader],
        task.leader,
        coef,
        intercept,
        task.mixed if task.hedge else np.nan,
        task.regret_bound() if task.hedge else np.nan,
        task.switch_cost() if task.hedge else np.nan,
        task.unit,
        "loss" if task.by_loss else "mistakes",
        np.array([flag and model.forgot for flag, model in zip(forgets, found, strict=True)], bool),
        task.sleeping,
        charged,
        slept,
        learner.totals.rounds - slept,
        task.losses(),
    )
