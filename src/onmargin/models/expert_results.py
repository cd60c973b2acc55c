"""The results of several models that learned side by side, and the weights of the best."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from onmargin._core.geometries.geometry import Geometry
from onmargin._core.several.tasks import ExpertVote
from onmargin._tables import html_table, number, svg_bar, text_table
from onmargin.learner import Learner
from onmargin.models.ensemble import Member, find_leader, find_members


@dataclass(frozen=True, repr=False)
class ExpertResults:
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
        The weights of each model, as ``coef_`` and ``intercept_``; None for nonlinear models.
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
    left_out : str
        Which models there would be with fewer classes; empty if there are none.

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
    left_out: str

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
        notes += [self.left_out] if self.left_out else []
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


def outcomes(task: ExpertVote, names: Sequence[str]) -> list[ModelOutcome]:
    """Return the results of models from the task that combines them."""
    leads = [m == task.leader for m in range(len(names))]
    votes = task.weights.tolist() if task.hedge else map(float, leads)
    return list(map(ModelOutcome, names, task.losses().tolist(), votes, leads))


def find_leading_linear(task: ExpertVote, geometry: Geometry) -> Member:
    """Return the best model that has weights for features."""
    found = find_members(geometry, task.width)
    linear = [m for m, model in enumerate(found) if not model.nonlinear and not model.level]
    if not linear:
        raise AttributeError("no expert that is left weighs features: all are nonlinear, or follow a level")
    return found[min(linear, key=task.losses().__getitem__)]


def find_leading_weights(task: ExpertVote, geometry: Geometry) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The weights, columns by features, and intercepts of the best model of those that weigh features.

    Where the leader alone predicts and follows a level, its weights are returned, which are zero.
    """
    leader = find_leader(task, geometry)
    best = leader if leader.level and not task.hedge else find_leading_linear(task, geometry)
    weights, intercepts = best.plain(*best.leaf.mean())
    return weights, intercepts + task.offset


def read_results(learner: Learner[Any], names: list[str], forgets: Sequence[bool], left_out: str) -> ExpertResults:
    """Return the results of the models of a learner; `forgets` flags those that forget."""
    task, geometry = cast("ExpertVote", learner.task), learner.geometry
    state, found = task.state(), find_members(geometry, task.width)
    mistakes, loss, squared_loss = state["outcomes"].T.copy()
    coef: list[NDArray[Any] | None] = []
    intercept: list[NDArray[np.float64] | None] = []
    for leaf, its in groupby(found, attrgetter("leaf")):
        mean = leaf.mean() if leaf.linear else (None, None)
        for model in its:
            weights, intercepts = (None, None) if model.nonlinear else model.plain(*mean)
            coef.append(weights)
            intercept.append(None if intercepts is None else intercepts + task.offset)
    charged, slept = task.sleep_counts.copy()
    return ExpertResults(
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
        left_out,
    )


class AverageResults:
    """A learner whose ``average="best"`` compares the current with the averaged weights."""

    if TYPE_CHECKING:
        average: Any

        def _expert_results(self) -> ExpertResults: ...

    @property
    def averages_(self) -> ExpertResults:
        """Mistakes and losses of the current and of the averaged weights."""
        if self.average != "best":
            raise AttributeError("there is nothing to compare: averages_ needs average='best'")
        return self._expert_results()


class GridResults(AverageResults):
    """A learner that may train one model per value of C."""

    if TYPE_CHECKING:
        _model: Any

    @property
    def grid_(self) -> ExpertResults:
        """Mistakes, losses and weights of the models of all values of C."""
        if self.average == "best":
            raise AttributeError("there is one value of C only")
        found = self._expert_results()
        self._model.warn_if_alike()
        return found


class Experts:
    """A learner of experts, which can be removed."""

    if TYPE_CHECKING:

        def plan(self) -> Any: ...

        def _expert_results(self) -> ExpertResults: ...

        def _model_to_change(self) -> Any: ...

    @property
    def experts_(self) -> ExpertResults:
        """Names, losses and votes of the experts."""
        return self._expert_results()

    def retire(self, keep: int) -> Self:
        """Keep only the experts with the smallest loss so far, and drop the others to save time.

        Parameters
        ----------
        keep : int
            Number of experts to keep, at least 1; one more is kept if averaged weights would be separated from the
            weights that they average. On a drifting stream, an expert that is behind now may become the best later.

        Returns
        -------
        self : object
            The model with fewer experts. The regret bound then holds against the remaining experts.
        """
        self._model_to_change().retire(self.plan(), keep)
        return self
