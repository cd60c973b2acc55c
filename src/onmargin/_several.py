"""Models that learn side by side from the same rows and predict as one: what both faces share."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import itemgetter
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from onmargin._core.geometry import Euclidean, Geometry
from onmargin._core.geometry_beside import Beside
from onmargin._core.geometry_mixed import Mixed
from onmargin._core.geometry_several import SeveralPaths
from onmargin._core.step_several import Projections
from onmargin._core.task import Task
from onmargin._core.task_several import Several
from onmargin.learner import Learner

# What makes a geometry: `Adaptive`, say.
Kind = Callable[..., Euclidean]
# As many columns of one geometry, but no more, have the scores that each would have alone (see vec_body.h).
MOST = 16
# The grid of C="auto": from steps that hardly move to steps that nothing caps.
AUTO = tuple(float(f"{C:.2g}") for C in np.geomspace(0.001, 10, 9))


@dataclass(frozen=True)
class Standing:
    """How the models that learned side by side stand.

    Attributes
    ----------
    names : list of str
        What each model is called.
    mistakes, loss, squared_loss : ndarray of shape (n_models,)
        Of each model so far, had it predicted alone.
    weights : ndarray of shape (n_models,)
        What the vote of each counts for; with ``combine="leader"`` all for that one.
    leader : int
        The model that has lost least, of several the first.
    coef, intercept : list of ndarray
        The weights of each model, as ``coef_`` and ``intercept_``.
    mixed_loss, regret_bound : float
        With ``combine="hedge"``: the losses so far, weighted by what each vote counted for, and how much more than
        those of the best model they can be. A loss is 1 for a mistake; of regressors it is that of the task.
    """

    names: list[str]
    mistakes: NDArray[np.float64]
    loss: NDArray[np.float64]
    squared_loss: NDArray[np.float64]
    weights: NDArray[np.float64]
    leader: int
    coef: list[NDArray[Any]]
    intercept: list[NDArray[np.float64]]
    mixed_loss: float
    regret_bound: float


def grid(C: Any) -> tuple[float, ...]:
    """The values of C, if it is several."""
    if isinstance(C, str):
        return AUTO
    return tuple(map(float, C)) if isinstance(C, Sequence | np.ndarray) else ()


def projections(values: Sequence[float], loss: str) -> Projections:
    """The steps of models that differ in C alone: see `_updates.projection`."""
    n = len(values)
    if loss.startswith("squared"):
        return Projections([np.inf] * n, [1 / (2 * C) for C in values])
    return Projections(values, [0.0] * n)


def leaves(geometry: Geometry) -> list[Any]:
    """The geometries that are side by side in one."""
    return geometry.leaves() if isinstance(geometry, Beside | SeveralPaths) else [geometry]


def abreast(geometries: Sequence[Geometry]) -> Geometry:
    """One geometry of several."""
    return reduce(lambda right, left: Beside(left, right), reversed(geometries))


def side_by_side(
    kinds: Sequence[Kind], n_columns: int, make: Callable[[Kind, int], Euclidean], *, sparse: bool
) -> Geometry:
    """Weights of models that have so many columns each; `make` gives a geometry of a kind with some columns.

    Models of one column share a geometry where rows are sparse, since a non-zero then costs one trip to memory for all.
    """
    together = n_columns == 1 and sparse
    if together and (mixed := Mixed.of([make(kind, 1) for kind in kinds])) is not None:
        return mixed
    most = MOST if together else 1
    made = []
    for kind, alike in groupby(kinds):
        models = len(list(alike))
        made += [make(kind, n_columns * min(most, models - first)) for first in range(0, models, most)]
    return abreast(made)


def models(geometry: Geometry, width: int) -> Iterator[tuple[int, Any, slice]]:
    """Of each model, where its scores begin, its geometry and its columns there."""
    place = 0
    for leaf in leaves(geometry):
        for first in range(0, leaf.n_columns, width):
            yield place + first, leaf, slice(first, first + width)
        place += leaf.n_scores


def recombined(geometry: Geometry, width: int, mixing: NDArray[np.float64]) -> Geometry:
    """The same models, each with combinations of its columns."""
    made = []
    for _, leaf, columns in models(geometry, width):
        if isinstance(leaf, Mixed):
            made.append(leaf.alone(columns.start).recombined(mixing))
        else:
            spread = np.zeros((len(mixing), leaf.n_columns))
            spread[:, columns] = mixing
            made.append(leaf.recombined(spread))
    return abreast(made)


def combination(
    geometry: Geometry,
    tasks: Sequence[Task],
    judge: Task,
    before: Task | None,
    *,
    width: int,
    hedge: bool,
    by_loss: bool,
) -> Several:
    """The task of models that have `width` scores each; votes are weighed as by the one before, if there was any."""
    places = [place for place, _, _ in models(geometry, width)]
    experts = before.experts if isinstance(before, Several) else 0
    task = Several(tasks, places, width, judge, hedge=hedge, by_loss=by_loss, experts=experts)
    if isinstance(before, Several):
        task.__setstate__(before.state())
    return task


def without_laggards(learner: Learner[Any], keep: int) -> list[int]:
    """Leave the models that have lost least, `keep` of them; which they are."""
    task = cast("Several", learner.task)
    state = task.state()
    lost = state["outcomes"][:, 1 if task.by_loss else 0]
    kept = sorted(np.argsort(lost, kind="stable")[:keep].tolist())
    found = list(models(learner.geometry, task.width))
    chosen = [leaf.alone(at.start) if isinstance(leaf, Mixed) else leaf for _, leaf, at in (found[m] for m in kept)]
    learner.geometry = (Mixed.of(chosen) if task.width == 1 else None) or abreast(chosen)
    weights = state["weights"][kept]
    left = Several(
        [task.tasks[m] for m in kept],
        [place for place, _, _ in models(learner.geometry, task.width)],
        task.width,
        task.judge,
        hedge=task.hedge,
        by_loss=task.by_loss,
        experts=task.experts,
    )
    left.__setstate__(state | {"outcomes": state["outcomes"][kept], "weights": weights / weights.sum()})
    learner.task = left
    return kept


def weights_of(geometry: Geometry, width: int, model: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The weights, columns by features, and intercepts of a model."""
    _, leaf, columns = list(models(geometry, width))[model]
    weights, intercepts = leaf.mean()
    return weights[columns], intercepts[columns]


def standing(task: Several, geometry: Geometry, names: list[str]) -> Standing:
    """How models stand, by the task that combines them."""
    state = task.state()
    mistakes, loss, squared_loss = state["outcomes"].T.copy()
    coef, intercept = [], []
    for leaf, its in groupby(models(geometry, task.width), itemgetter(1)):
        weights, intercepts = leaf.mean()
        for _, _, columns in its:
            coef.append(weights[columns])
            intercept.append(intercepts[columns])
    return Standing(
        names,
        mistakes,
        loss,
        squared_loss,
        state["weights"].copy() if task.hedge else np.eye(len(names))[task.leader],
        task.leader,
        coef,
        intercept,
        task.mixed if task.hedge else np.nan,
        2 * task.gap if task.hedge else np.nan,
    )
