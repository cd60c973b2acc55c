"""Several models that learn side by side from the same rows and predict as one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, repeat, starmap
from operator import attrgetter
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from onmargin._core.geometries.geometry import ColumnMap, Euclidean, Geometry
from onmargin._core.geometries.transformed import Transformed
from onmargin._core.several.geometries import SideBySide, WithAverage
from onmargin._core.several.hedge import all_awake
from onmargin._core.several.packed import PackedColumns
from onmargin._core.several.tasks import ExpertVote
from onmargin._core.tasks.task import Task
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
# The share of the votes that a model that only predicts does without.
SILENT = 1e-3


def grid(C: Any) -> tuple[float, ...]:
    """Return the values of C, if there are several."""
    if isinstance(C, str):
        return AUTO
    return tuple(map(float, C)) if isinstance(C, Sequence | np.ndarray) else ()


def first_averaged(average: bool | int | str) -> int:
    """Return the first averaged round; 0 without averaging."""
    return 1 if isinstance(average, str) else int(average)


def names_of(values: tuple[float | str, ...]) -> list[str]:
    """Return the names of models that differ in these values."""
    return [value if isinstance(value, str) else f"C={value:g}" for value in values]


def with_average(kind: Kind, *sizes: Any, **settings: Any) -> Geometry:
    """Return weights of a kind and, as a second model, their averages; its step is `Step()`, which moves nothing."""
    return WithAverage(cast("Euclidean", kind(*sizes, **settings | {"average": 1})))


def join_pairs(geometries: Sequence[Geometry]) -> Geometry:
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
        found = pack_columns([make(kind, 1) for kind in kinds])
        if len(found) < len(kinds):
            return join_pairs(found)
    most = MAX_COLUMNS if n_columns == 1 and sparse else 1
    made = []
    for kind, alike in groupby(kinds):
        left = len(list(alike))
        while left > 0:
            made.append(make(kind, n_columns * min(most, left)))
            left -= most
    return join_pairs(made)


def pack_columns(columns: Sequence[Geometry]) -> list[Geometry]:
    """Return geometries of one column each, consecutive ones packed into one where possible."""
    made: list[Geometry] = []
    for fits, some in groupby(columns, PackedColumns.fits):
        run = list(some)
        found = PackedColumns.of(run) if fits else None
        made += run if found is None else [found]
    return made


class Member(NamedTuple):
    """The place of a model: its scores, geometry and columns, and the geometries that change its rows, outermost first.

    A nonlinear model learns from random Fourier features or ferns, or is a forest or nearest neighbors, and has no
    weights for the features of the rows.
    """

    place: int
    leaf: Any
    columns: slice
    before: tuple[Transformed, ...] = ()

    @property
    def nonlinear(self) -> bool:
        return not (self.leaf.linear and all(one.linear for one in self.before))

    @property
    def forgot(self) -> bool:
        """Whether a model that forgets has done so: one that keeps the last rows may still have all of them."""
        return bool(getattr(self.leaf, "forgot", True))

    @property
    def level(self) -> bool:
        """Whether it uses no features."""
        return any(one.level for one in self.before)

    def filling(self) -> NDArray[np.float64]:
        """Return the values of missing features."""
        found = (values for one in self.before if (values := one.filling()) is not None)
        return next(found, np.zeros(self.leaf.n_features))

    def typical(self) -> NDArray[np.float64] | None:
        """Return the means of the features of dense rows, if the model knows them."""
        return self.before[0].typical() if self.before else None

    def plain(self, weights: NDArray[Any], intercepts: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return its own weights and intercepts for the original rows."""
        own = weights[self.columns], intercepts[self.columns]
        for one in reversed(self.before):
            own = one.plain(*own)
        return own


def find_members(geometry: Geometry, width: int) -> list[Member]:
    """Return the models of a geometry, in the order of their scores."""
    found: list[Member] = []
    place = 0
    waiting: list[tuple[Any, tuple[Transformed, ...]]] = list(zip(reversed(geometry.leaves()), repeat(())))
    while waiting:
        leaf, before = waiting.pop()
        if isinstance(leaf, Transformed):
            waiting += zip(reversed(leaf.inner.leaves()), repeat((*before, leaf)))
            continue
        for score, first in leaf.members(width):
            found.append(Member(place + score, leaf, slice(first, first + width), before))
        place += leaf.n_scores
    return found


def trace_models(geometry: Geometry, width: int, rows: Any) -> list[Any]:
    """Return the scores of the models of a geometry for traced rows, in the order of `find_members`."""
    found: list[Any] = []
    for leaf in geometry.leaves():
        if isinstance(leaf, Transformed):
            found += map(leaf.trace_scores, trace_models(leaf.inner, width, leaf.trace_rows(rows)))
        else:
            scores, members = leaf.trace(rows), leaf.members(width)
            found += [scores.gather(range(first, first + width)) for _, first in members]
    return found


def find_leader(task: ExpertVote, geometry: Geometry) -> Member:
    """Return the model with the smallest loss."""
    return find_members(geometry, task.width)[task.leader]


def _groups(found: Sequence[Member]) -> list[int]:
    """Return a number per model; those that sleep together have the same."""
    names = [(id(one.leaf), one.columns.start * getattr(one.leaf, "sleeps_by_model", False)) for one in found]
    return list(map(names.index, names))


def recombine_models(geometry: Geometry, width: int, column_map: ColumnMap) -> Geometry:
    """Return the same models with new columns, of which each had `width`."""
    made: list[Geometry] = []
    for leaf in geometry.leaves():
        if isinstance(leaf, Transformed):
            made.append(leaf.alike(recombine_models(leaf.inner, width, column_map)))
        else:
            made += leaf.recombine_members(width, column_map)
    return made[0] if len(made) == 1 else _join_packed(made, len(column_map))


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
) -> ExpertVote:
    """Return the task of models with `width` scores each; the vote weights of the previous task are kept, if any.

    `units` are the units of C, set at the first round. With `sleeping` and a vote, models
    that cannot matter for now are left out of rounds.
    """
    found = find_members(geometry, width)
    places = list(map(attrgetter("place"), found))
    experts = before.experts if isinstance(before, ExpertVote) else 0
    ceiling = np.inf if by_loss else CEILING
    units = before.units() if isinstance(before, ExpertVote) else units or {}
    task = ExpertVote(
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
    if isinstance(before, ExpertVote):
        task.__setstate__(before.state())
    return task


def find_voters(task: ExpertVote, geometry: Geometry) -> list[bool]:
    """Return which models predict: the leader, and those with all but `SILENT` of the votes, if the models vote."""
    order = np.argsort(-task.weights, kind="stable")
    before = np.cumsum(task.weights[order]) - task.weights[order]  # the votes of models with more
    chosen = {task.leader, *order[task.hedge & (before < 1 - SILENT)].tolist()}
    found = find_members(geometry, task.width)
    kept = [found[m].leaf for m in chosen]  # models of one geometry stay together
    return [
        m in chosen or (not one.leaf.separable and any(one.leaf is leaf for leaf in kept))
        for m, one in enumerate(found)
    ]


def keep_best(learner: Learner[Any], keep: int) -> list[int]:
    """Keep the best `keep` models, and return which they are. Models of one geometry stay together."""
    task = cast("ExpertVote", learner.task)
    found = find_members(learner.geometry, task.width)
    stays = [False] * len(found)
    for m in np.argsort(task.losses(), kind="stable"):
        if sum(stays) < keep:
            leaf = found[m].leaf
            stays = [stay or k == m or (not leaf.separable and found[k].leaf is leaf) for k, stay in enumerate(stays)]
    return keep_some(learner, stays)


def keep_some(learner: Learner[Any], stays: Sequence[bool]) -> list[int]:
    """Keep some models, and return which. A geometry keeps all of its models or none, unless its columns are packed."""
    task = learner.task
    width = task.width if isinstance(task, ExpertVote) else 1
    geometry = _join_packed(_choose_geometries(learner.geometry, width, iter(stays)), width)
    kept = [m for m, stay in enumerate(stays) if stay]
    if not isinstance(task, ExpertVote):  # nothing was learned yet
        learner.geometry = geometry
        return kept
    found, settings = find_members(geometry, task.width), task.settings()
    left = ExpertVote(
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
    if "sleep_counts" in state:
        chosen["sleep_counts"] = all_awake(state["sleep_counts"][:, kept])  # the leader may have been removed
    left.__setstate__(state | chosen)
    learner.geometry, learner.task = geometry, left
    return kept


def _weights(task: ExpertVote, kept: list[int]) -> NDArray[np.float64]:
    """Return the vote weights of some models without the others."""
    weights: NDArray[np.float64] = task.state()["weights"][kept]
    if not weights.any():  # all weights underflow without the others
        weights = (task.losses()[kept] == task.losses()[kept].min()).astype(float)
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def _join_packed(geometries: list[Geometry], width: int) -> Geometry:
    if len(geometries) == 1:
        return geometries[0]
    return join_pairs(pack_columns(geometries) if width == 1 else geometries)


def _choose_geometries(geometry: Geometry, width: int, stays: Iterator[bool]) -> list[Any]:
    """Return the geometries of the kept models, given one flag per model."""
    made: list[Any] = []
    for leaf in geometry.leaves():
        if isinstance(leaf, Transformed):
            if inner := _choose_geometries(leaf.inner, width, stays):
                made.append(leaf.alike(_join_packed(inner, width)))
        else:
            made += leaf.keep_members([next(stays) for _ in leaf.members(width)])
    return made
