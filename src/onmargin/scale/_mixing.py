"""Iterative parameter mixing ([IPM]): the average of the weights of several shards after a pass from the same weights.

Shard k of an epoch starts from the shared weights w, and ends with w_k. The next epoch starts from

    w + sum_k c_k (w_k - w) / sum_k c_k,

where c_k depends on the mixing: 1, the updates or the examples of the shard. A weight that no shard has changed stays
the same to the last bit, and if only one shard has c_k > 0, its weights are used unchanged.

If each weight has its own metric A, in which its changes are measured, the mix is the point nearest to all shards,

    min_v  sum_k c_k <v - w_k, A_k^-1 (v - w_k)>,      v = sum_k c_k A_k^-1 w_k / sum_k c_k A_k^-1,

and its A^-1 is their mean. For Gaussians of variance A, this is the Gaussian with the least mean divergence from those
of the shards: precisions are averaged, and means are averaged with their precisions as weights. So a shard that has
never seen a feature has little influence on its weight.

Ridge regressions are summed, for any c_k: with P = A^-1 the matrix of a shard,

    P = P_0 + sum_k (P_k - P_0),      P v = P w + sum_k P_k (w_k - w),

which is the ridge regression on the rows of all shards.

The averaged weights are the mean over all rounds of all shards, with equal weight. With T rounds averaged, a geometry
keeps lag = T w - (the sum of the weights after each of them). The sums are recovered from the lags, added, and
converted back.

Models trained side by side are mixed one by one, as if each were alone, with the c_k of their shard. The loss of each
model is the sum over the shards, and the votes follow from these sums as in AdaHedge without fixed share. For the
regret bound to stay true, the gap of the mix is the larger of the sum of the gaps and the excess loss of the votes over
the best model: mixed <= min_m L_m + gap, and the bound adds to it. In the bound for sequences of models, all rounds
before the mixing are one segment. Models that sleep on a shard are mixed with their current weights, and all models are
awake after the mixing.

Class probabilities are calibrated on each shard. The learned parameters of the calibrations are averaged like weights;
their counts, including the squares of gradients, are summed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onmargin._core.calibration import Calibration
from onmargin._core.geometries.geometry import Geometry
from onmargin._core.geometries.ridge import Ridge
from onmargin._core.several.hedge import CHARGED, all_awake
from onmargin._core.several.tasks import ExpertVote
from onmargin._core.text.words import Frequencies
from onmargin._parts import put_together, take_apart

Array = NDArray[Any]


@dataclass(frozen=True)
class Metric:
    """Conversion of the metric that a geometry stores to A^-1: the same in the first columns, 1 / metric in the others.

    The other columns are variances, which are at most 1.
    """

    as_it_is: int

    def precision(self, metric: Array) -> Array:
        precision = metric.astype(np.float64)
        precision[self.as_it_is :] = 1 / precision[self.as_it_is :]
        return precision

    def metric(self, precision: Array) -> Array:
        """Return the metric of a mean precision, which rounding may put outside the range of the averaged values."""
        metric = precision.copy()
        metric[self.as_it_is :] = np.minimum(1 / metric[self.as_it_is :], 1)
        return metric


_METRIC_OF = {"weights": "metric", "intercept": "metric_intercept"}
# The name of the lag array of each array that can be averaged.
_LAG_OF = {
    "weights": "lag",
    "intercept": "lag_intercept",
    "transitions": "lag_transitions",
    "edge_weights": "edge_lag",
}


# What votes keep besides sums: recent rounds, their recent loss, and lines that follow from sums.
_NOT_SUMS = {"recent", "trend", "lines"}


class Epoch(NamedTuple):
    """Totals of the rounds of an epoch."""

    rounds: int
    mistakes: int
    updates: int
    loss: float
    squared_loss: float


# The coefficient c_k of a shard for each mixing.
MIXINGS: dict[str, Callable[[Epoch], float]] = {
    "uniform": lambda epoch: float(epoch.rounds > 0),
    "updates": lambda epoch: float(epoch.updates),
    "examples": lambda epoch: float(epoch.rounds),
}


def why_not_mixed(geometry: Geometry) -> list[str]:
    """Return why such weights cannot be mixed; empty if they can."""
    return sorted({holder.cannot_mix for holder in geometry.holders()} - {""})


class Weights(NamedTuple):
    """Learned state of a geometry: its arrays by name, and the number of rounds."""

    clock: int
    arrays: dict[str, Array]

    @staticmethod
    def of(geometry: Any) -> "Weights":
        # Arrays keep their memory order, so that they can be sent without another copy.
        return Weights(geometry.clock, {name: np.array(array, order="K") for name, array in geometry.arrays().items()})


@dataclass
class Learned:
    """Learned state of a model: its weights, its totals, and its counts by name.

    `votes` is the state of the task that combines models side by side; it is empty for a single model. `calibration` is
    the state of the calibration of class probabilities; it is empty if there are no classes.
    """

    weights: list[Weights]
    totals: dict[str, Any]
    tallies: dict[str, Array]
    votes: dict[str, Any] = field(default_factory=dict)
    calibration: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(model: Any) -> "Learned":
        """Return a copy of the learned state of a model."""
        learner, tallies = model._learner, {}
        if hasattr(model, "class_counts_"):
            tallies["class_counts_"] = model._model.labels.counts
        if (frequencies := getattr(model, "_frequencies", None)) is not None:
            tallies |= {"documents": np.array([frequencies.documents]), "frequencies": frequencies.counts.copy()}
        votes = learner.task.state() if isinstance(learner.task, ExpertVote) else {}
        calibration = learner._totals.calibration
        return Learned(
            [Weights.of(holder) for holder in learner.geometry.holders()],
            learner._totals.__getstate__(),
            tallies,
            {name: np.copy(value) for name, value in votes.items()},
            {} if calibration is None else calibration.state(),
        )

    @staticmethod
    def untrained(model: Any) -> "Learned":
        """Return the untrained state of a model with the same features, labels and size of the intercept."""
        known = Learned.of(model)
        votes = {name: np.zeros_like(value) for name, value in known.votes.items() if name not in _NOT_SUMS}
        if votes:
            votes["weights"] = np.full(len(votes["weights"]), 1 / len(votes["weights"]))
        if "origin" in votes:
            votes["origin"] = np.array(np.nan)
        tallies = {name: np.zeros_like(tally) for name, tally in known.tallies.items()}
        return Learned(
            [_fresh(holder) for holder in model._learner.geometry.holders()],
            {name: type(value)() for name, value in known.totals.items()},
            tallies,
            votes,
            Calibration(known.calibration["offsets"].shape[1]).state() if known.calibration else {},
        )

    def put_into(self, model: Any) -> None:
        """Store this state in a model with the same shapes."""
        learner = model._learner
        for holder, weights in zip(learner.geometry.holders(), self.weights, strict=True):
            holder.__setstate__({"clock": weights.clock, **weights.arrays})
        learner._totals.__setstate__(self.totals)
        if self.votes:
            learner.task.__setstate__(self.votes)
        if self.calibration:
            learner._totals.calibration.__setstate__(self.calibration)
        if "class_counts_" in self.tallies:
            model._model.labels = model._model.labels.with_counts(self.tallies["class_counts_"])
        if "documents" in self.tallies:
            model._frequencies = Frequencies()
            counts = {"documents": int(self.tallies["documents"][0]), "counts": self.tallies["frequencies"]}
            model._frequencies.__setstate__(counts)

    def from_zero(self) -> "Learned":
        """Return the same state without an origin of the targets, which is added to the intercepts instead."""
        if "origin" not in self.votes or np.isnan(self.votes["origin"]):
            return self
        weights = [
            one._replace(arrays=one.arrays | {"intercept": one.arrays["intercept"] + self.votes["origin"]})
            for one in self.weights
        ]
        return replace(self, weights=weights, votes=self.votes | {"origin": np.array(0.0)})

    def shapes(self) -> list[dict[str, tuple[int, ...]]]:
        """Return the shapes of the arrays."""
        return [{name: array.shape for name, array in weights.arrays.items()} for weights in self.weights]

    def since(self, start: "Learned") -> Epoch:
        """Return the totals of the rounds since `start`."""
        return Epoch(*(self.totals[name] - start.totals[name] for name in Epoch._fields))


def _fresh(geometry: Any) -> Weights:
    """Return the initial weights of a geometry."""
    arrays = put_together(take_apart(geometry)._replace(state=None)).arrays()
    if "places" in arrays:  # indices of the features that scale the steps; these are not weights
        arrays["places"] = geometry.places
    return Weights(0, arrays)


class WeightsMixture:
    """Mix of the weights of shards, added one after the other.

    Parameters
    ----------
    start : Weights
        The weights that all shards started from.
    geometry : Geometry
        The geometry of the weights.
    """

    def __init__(self, start: Weights, geometry: Any) -> None:
        self._start = start
        self._average = int(geometry.average)
        self._metric = None if geometry.summed_metrics is None else Metric(geometry.summed_metrics)
        self._lags = {w: lag for w, lag in _LAG_OF.items() if lag in start.arrays}
        others = {*_LAG_OF.values(), *_METRIC_OF.values(), "scales", "places"}
        self._moved = [name for name in start.arrays if name not in others]
        self._sums: dict[str, Any] = {}
        self._count = 0.0
        self._clock = start.clock
        self._averaged = self._rounds(start.clock)
        self._arrays = dict(start.arrays)
        self._counting: list[Weights] = []  # at most two of the shards with a positive count

    def add(self, learned: Weights, count: float) -> None:
        """Add the weights of a shard with coefficient `count`."""
        self._clock += learned.clock - self._start.clock
        self._averaged += self._rounds(learned.clock) - self._rounds(self._start.clock)
        if "scales" in self._arrays:
            self._arrays["scales"] = np.maximum(self._arrays["scales"], learned.arrays["scales"])
        for name, lag in self._lags.items():
            _sum(self._sums, lag, self._total(learned, name) - self._total(self._start, name))
        if not count:
            return
        self._counting = [*self._counting, learned][:2]
        self._count += count
        for name in self._moved:
            move: Array = np.subtract(learned.arrays[name], self._start.arrays[name], dtype=np.float64)
            if self._metric is not None and name in _METRIC_OF:
                metric = _METRIC_OF[name]
                precision = count * self._metric.precision(learned.arrays[metric])
                _sum(self._sums, metric, precision)
                move *= precision
            else:
                move *= count
            _sum(self._sums, name, move)

    def result(self) -> Weights:
        """Return the mix."""
        arrays = self._arrays
        if len(self._counting) == 1:
            arrays.update((name, array) for name, array in self._counting[0].arrays.items() if name != "scales")
        elif self._counting:
            for name in self._moved:
                arrays[name] = self._mix(name)
        for name, lag in self._lags.items():
            total = self._total(self._start, name) + self._sums[lag]
            mean = total / self._averaged if self._averaged else arrays[name]
            arrays[lag] = (self._rounds(self._clock) * (arrays[name] - mean)).astype(arrays[lag].dtype)
        return Weights(self._clock, arrays)

    def _mix(self, name: str) -> Array:
        """Return the mixed weights of that name, and mix their metric."""
        arrays, before = self._arrays, self._start.arrays[name]
        if self._metric is None or name not in _METRIC_OF:
            return np.asarray(before + self._sums[name] / self._count, before.dtype)
        metric, precision = _METRIC_OF[name], self._sums[_METRIC_OF[name]]
        arrays[metric] = self._metric.metric(precision / self._count).astype(arrays[metric].dtype)
        move = np.divide(self._sums[name], precision, out=np.zeros_like(precision), where=precision > 0)
        return np.asarray(before + move, before.dtype)

    def _rounds(self, clock: int) -> int:
        """Return the number of rounds that are averaged."""
        return max(clock - self._average + 1, 0) if self._average else 0

    def _total(self, learned: Weights, name: str) -> Array:
        """Return the sum of the weights after each averaged round."""
        weights = learned.arrays[name].astype(np.float64)
        total: Array = self._rounds(learned.clock) * weights - learned.arrays[_LAG_OF[name]]
        return total


class RidgeMixture:
    """Sum of the ridge regressions of shards, added one after the other.

    Parameters
    ----------
    start : Weights
        The weights that all shards started from.
    geometry : Ridge
        The geometry of the weights.
    """

    def __init__(self, start: Weights, geometry: Ridge) -> None:
        self._start = start
        self._clock = start.clock
        self._bias = float(np.nan_to_num(geometry.bias))
        self._before = _precision(start)
        self._precision = self._before.copy()
        self._moments: Any = 0.0  # sum of P_k (w_k - w)

    def add(self, learned: Weights, count: float) -> None:
        """Add the regression of a shard; `count` has no effect."""
        precision = _precision(learned)
        self._clock += learned.clock - self._start.clock
        self._precision += precision - self._before
        self._moments += precision @ (self._coordinates(learned) - self._coordinates(self._start))

    def result(self) -> Weights:
        """Return the sum."""
        mixed = self._coordinates(self._start) + np.linalg.solve(self._precision, self._moments)
        size, stored = len(mixed), self._start.arrays["inverse"]
        inverse = np.zeros_like(stored)
        inverse[:, :size] = np.triu(np.linalg.inv(self._precision))
        learned = {"weights": mixed[1:].T, "intercept": mixed[0] * self._bias, "inverse": inverse}
        return Weights(self._clock, self._start.arrays | learned)

    def _coordinates(self, learned: Weights) -> Array:
        """Return the weights, features by columns, after the coordinate of the intercept."""
        intercept = learned.arrays["intercept"] / self._bias if self._bias else 0 * learned.arrays["intercept"]
        return np.vstack([intercept, learned.arrays["weights"].T])


def _precision(learned: Weights) -> Array:
    """Return P; the geometry stores one triangle of its inverse."""
    inverse = learned.arrays["inverse"]
    upper = np.triu(inverse[:, : len(inverse)])
    return np.linalg.inv(upper + np.triu(upper, 1).T)


def _mixture_of(start: Weights, geometry: Any) -> WeightsMixture | RidgeMixture:
    """Return the mix for weights: a sum of least squares, whose inverse matrices are kept, or a mean."""
    kind = RidgeMixture if "inverse" in start.arrays else WeightsMixture
    return kind(start, geometry)


class CalibrationMixture:
    """Mix of the calibrations of shards, added one after the other.

    Parameters
    ----------
    start : dict
        The state that all shards started from.
    """

    # The positions of learned parameters in each array that has some; all other numbers are sums.
    _LEARNED: ClassVar = {
        "best": slice(None),
        "factors": slice(2),
        "lifts": slice(1),
        "offsets": slice(1),
        "squares": slice(None),
    }

    def __init__(self, start: dict[str, Any]) -> None:
        self._start = start
        self._summed = {name: np.zeros_like(value) for name, value in start.items()}
        self._moved = {name: np.zeros_like(start[name]) for name in self._LEARNED if name in start}
        self._count = 0.0

    def add(self, state: dict[str, Any], count: float) -> None:
        """Add the state of a shard with coefficient `count`."""
        self._count += count
        for name, value in state.items():
            self._summed[name] = self._summed[name] + (value - self._start[name])
        for name in self._moved:
            self._moved[name] += count * (state[name] - self._start[name])

    def result(self) -> dict[str, Any]:
        """Return the mixed state."""
        mixed = {name: value + self._summed[name] for name, value in self._start.items()}
        for name, moved in self._moved.items():
            part = self._LEARNED[name]
            mixed[name][part] = (self._start[name] + moved / max(self._count, 1e-300))[part]
        numbers = {name: int(value) if np.ndim(value) == 0 else value for name, value in mixed.items()}
        return numbers | ({"wait": 0} if numbers else {})


class Mixture:
    """Mix of the learned states of shards that started from the same state, added one after the other.

    Parameters
    ----------
    start : Learned
        The state that all shards started from.
    geometry : Geometry
        The geometry of the weights, or of models side by side.
    task : Task
        The task, which combines models side by side.
    """

    def __init__(self, start: Learned, geometry: Geometry, task: Any) -> None:
        self._start = start
        self._task = task
        self._weights = list(map(_mixture_of, start.from_zero().weights, geometry.holders()))
        self._totals, self._tallies, self._votes = dict(start.totals), dict(start.tallies), dict(start.votes)
        self._calibrations = CalibrationMixture(start.calibration)
        self._sums: dict[str, Any] = {}
        self._count = 0.0
        self._learners: list[Learned] = []  # at most two of the shards that have learned something

    def add(self, learned: Learned, count: float) -> None:
        """Add the state of a shard with coefficient `count`."""
        if learned.totals["rounds"] == self._start.totals["rounds"]:  # the shard has learned nothing
            return
        self._learners = [*self._learners, learned][:2]
        self._count += count
        self._add_totals(learned, count)
        self._calibrations.add(learned.calibration, count)
        for mixture, weights in zip(self._weights, learned.from_zero().weights, strict=True):
            mixture.add(weights, count)

    def result(self) -> Learned:
        """Return the mixed state."""
        if len(self._learners) < 2:
            return self._learners[0] if self._learners else self._start
        if self._count:
            self._totals["dual_value"] += self._sums["dual_value"] / self._count
        votes = combine_votes(self._task, self._votes) if self._votes else {}
        weights = [mixture.result() for mixture in self._weights]
        return Learned(weights, self._totals, self._tallies, votes, self._calibrations.result())

    def _add_totals(self, learned: Learned, count: float) -> None:
        """Add the totals; the dual value is concave, so it grows by at least the mean growth of the shards."""
        start = self._start
        for name, value in learned.totals.items():
            if name == "dual_value":
                _sum(self._sums, name, count * (value - start.totals[name]))
            elif name == "max_squared_norm":
                self._totals[name] = max(self._totals[name], value)
            else:
                self._totals[name] += value - start.totals[name]
        for name, tally in learned.tallies.items():
            self._tallies[name] = _add_counts(self._tallies[name], tally, start.tallies[name])
        for name, value in learned.votes.items():
            if name in _NOT_SUMS:
                continue
            if name == "origin":
                self._votes[name] = np.array(0.0)
            elif name == "heaviest":
                self._votes[name] = np.maximum(self._votes[name], value)
            elif name == "distances":  # take the largest, measured from zero
                reach = value[0] + abs(np.nan_to_num(learned.votes.get("origin", 0.0)))
                self._votes[name] = np.array([max(self._votes[name][0], reach), 0.0, 0.0])
            else:
                self._votes[name] = self._votes[name] + (value - start.votes[name])


def combine_votes(task: ExpertVote, state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a task with these sums: the votes of AdaHedge after these losses, and its gap."""
    lost = state["weighted"]
    state = {name: value for name, value in state.items() if name not in _NOT_SUMS}
    if "sleep_counts" in state:
        lost = lost + state["sleep_counts"][CHARGED]
        state["sleep_counts"] = all_awake(state["sleep_counts"])
    if not task.hedge:
        return state | {"weights": np.full(len(lost), 1 / len(lost))}
    gap = max(float(state["gap"]), float(state["mixed"]) - lost.min())
    ceiling = task.ceiling / (float(state["heaviest"]) or 1.0)
    rate = min(ceiling, np.log(task.experts) / gap) if gap > 0 else ceiling
    behind = lost - lost.min()
    votes = np.exp(-np.multiply(rate, behind, out=np.zeros_like(behind), where=behind > 0))
    return state | {"weights": votes / votes.sum(), "gap": gap}


def _sum(sums: dict[str, Any], name: str, value: Any) -> None:
    if name in sums:
        sums[name] += value
    else:
        sums[name] = value


def _add_counts(total: Array, after: Array, before: Array) -> Array:
    """Return the total plus the counts since `before`; missing entries at the end of an array are 0."""
    counted = np.zeros(max(map(len, (total, after, before))), total.dtype)
    counted[: len(total)] += total
    counted[: len(after)] += after
    counted[: len(before)] -= before
    return counted
