"""What comes of the passes of several shards from the same weights: iterative parameter mixing ([IPM]).

Shard k of an epoch starts from the weights w that all share, and ends with w_k. The next epoch starts from

    w + sum_k c_k (w_k - w) / sum_k c_k,

where c_k is what the mixing counts: 1, the updates or the examples of the shard. A weight that no shard has moved stays
as it is, to the last bit, and if one shard alone counts, its weights are taken as they are.

Where each weight has a metric A of its own, in which a move of it is measured, the mix is the point nearest to all,

    min_v  sum_k c_k <v - w_k, A_k^-1 (v - w_k)>,      v = sum_k c_k A_k^-1 w_k / sum_k c_k A_k^-1,

and its A^-1 is their mean. For Gaussians of variance A that is the one of least mean divergence from those of the
shards: precisions are averaged, means are averaged by their precisions. So a shard that has never seen a feature says
little about it.

The averaged weights are the mean over all rounds of all shards, each counting once. With T rounds averaged a geometry
keeps lag = T w - (the sum of the weights after each of them), from which sums are taken, added and put back.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onmargin._core.geometries.chain import EdgePaths, Paths
from onmargin._core.geometries.diagonal import Adaptive, Confidence, Normalized
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.geometries.trials import Thresholds
from onmargin._core.text.words import Frequencies

Array = NDArray[Any]


def _inverse(numbers: Array) -> Array:
    return 1 / numbers


def _same(numbers: Array) -> Array:
    return numbers


# How A^-1 is had from the metric that a geometry keeps, and the metric from it; None: A is 1.
_METRICS: dict[type, Callable[[Array], Array] | None] = {
    Euclidean: None,
    Thresholds: None,
    Paths: None,
    EdgePaths: None,
    Adaptive: _same,
    Normalized: _same,
    Confidence: _inverse,
}
_METRIC_OF = {"weights": "metric", "intercept": "metric_intercept"}
# What averaging takes off, and off what.
_LAG_OF = {
    "weights": "lag",
    "intercept": "lag_intercept",
    "transitions": "lag_transitions",
    "edge_weights": "edge_lag",
}


class Epoch(NamedTuple):
    """What the rounds of an epoch came to."""

    rounds: int
    mistakes: int
    updates: int
    loss: float
    squared_loss: float


# What a shard counts in the mix.
MIXINGS: dict[str, Callable[[Epoch], float]] = {
    "uniform": lambda epoch: float(epoch.rounds > 0),
    "updates": lambda epoch: float(epoch.updates),
    "examples": lambda epoch: float(epoch.rounds),
}


def can_mix(geometry: Any) -> bool:
    """Whether there is a mix of such weights."""
    return type(geometry) in _METRICS


@dataclass
class Learned:
    """What a model has learned, by name: the arrays of its geometry, its totals, and what it has counted."""

    clock: int
    arrays: dict[str, Array]
    totals: dict[str, Any]
    tallies: dict[str, Array]

    @staticmethod
    def of(model: Any) -> "Learned":
        """That of a model, copied."""
        geometry = model._learner.geometry
        tallies = {}
        if hasattr(model, "class_counts_"):
            tallies["class_counts_"] = model.class_counts_.copy()
        if (frequencies := getattr(model, "_frequencies", None)) is not None:
            tallies |= {"documents": np.array([frequencies.documents]), "frequencies": frequencies.counts.copy()}
        # In the order in which they lie in memory, they are sent as they are.
        arrays = {name: np.array(array, order="K") for name, array in geometry.arrays().items()}
        return Learned(geometry.clock, arrays, model._learner._totals.__getstate__(), tallies)

    def put_into(self, model: Any) -> None:
        """Make it what a model of the same sizes has learned."""
        model._learner.geometry.__setstate__({"clock": self.clock, **self.arrays})
        model._learner._totals.__setstate__(self.totals)
        if "class_counts_" in self.tallies:
            model.class_counts_ = self.tallies["class_counts_"].copy()  # an engine may share it
        if "documents" in self.tallies:
            model._frequencies = Frequencies()
            counts = {"documents": int(self.tallies["documents"][0]), "counts": self.tallies["frequencies"]}
            model._frequencies.__setstate__(counts)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Those of the arrays."""
        return {name: array.shape for name, array in self.arrays.items()}

    def since(self, start: "Learned") -> Epoch:
        """The rounds that were played since."""
        return Epoch(*(self.totals[name] - start.totals[name] for name in Epoch._fields))


class Mixture:
    """Takes what shards have learned from the same start, one after the other, and mixes it.

    Parameters
    ----------
    start : Learned
        What all of them started from.
    geometry : Geometry
        What holds their weights.
    """

    def __init__(self, start: Learned, geometry: Any) -> None:
        self._start = start
        self._average = int(geometry.average)
        self._to_metric = _METRICS[type(geometry)]
        self._lags = {w: lag for w, lag in _LAG_OF.items() if lag in start.arrays}
        others = {*_LAG_OF.values(), *_METRIC_OF.values(), "scales", "places"}
        self._moved = [name for name in start.arrays if name not in others]
        self._sums: dict[str, Any] = {}
        self._count = 0.0
        self._averaged = self._rounds(start)
        self._mix = Learned(start.clock, dict(start.arrays), dict(start.totals), dict(start.tallies))
        self._players: list[Learned] = []  # at most two of those that have learned something
        self._counting: list[Learned] = []  # and of those that count

    def add(self, learned: Learned, count: float) -> None:
        """Add a shard that counts so much."""
        if learned.clock == self._start.clock:  # it has learned nothing
            return
        self._players = [*self._players, learned][:2]
        self._add_totals(learned, count)
        for name, lag in self._lags.items():
            self._sum(lag, self._total(learned, name) - self._total(self._start, name))
        if not count:
            return
        self._counting = [*self._counting, learned][:2]
        self._count += count
        for name in self._moved:
            move: Array = np.subtract(learned.arrays[name], self._start.arrays[name], dtype=np.float64)
            if self._to_metric is not None and name in _METRIC_OF:
                metric = _METRIC_OF[name]
                precision = count * self._to_metric(learned.arrays[metric].astype(np.float64))
                self._sum(metric, precision)
                move *= precision
            else:
                move *= count
            self._sum(name, move)

    def result(self) -> Learned:
        """The mix."""
        if len(self._players) < 2:
            return self._players[0] if self._players else self._start
        arrays = self._mix.arrays
        if len(self._counting) == 1:
            arrays.update((name, array) for name, array in self._counting[0].arrays.items() if name != "scales")
        elif self._counting:
            for name in self._moved:
                arrays[name] = self._mixed(name)
        for name, lag in self._lags.items():
            total = self._total(self._start, name) + self._sums[lag]
            mean = total / self._averaged if self._averaged else arrays[name]
            arrays[lag] = (self._rounds(self._mix) * (arrays[name] - mean)).astype(arrays[lag].dtype)
        if self._count:
            self._mix.totals["dual_value"] += self._sums["dual_value"] / self._count
        return self._mix

    def _mixed(self, name: str) -> Array:
        """The weights of that name, and with them their metric."""
        arrays, before = self._mix.arrays, self._start.arrays[name]
        if self._to_metric is None or name not in _METRIC_OF:
            return np.asarray(before + self._sums[name] / self._count, before.dtype)
        metric, precision = _METRIC_OF[name], self._sums[_METRIC_OF[name]]
        mean = self._to_metric(precision / self._count)
        # Rounded, a mean may be beyond what it is a mean of: variances are at most 1.
        arrays[metric] = (np.minimum(mean, 1) if self._to_metric is _inverse else mean).astype(arrays[metric].dtype)
        move = np.divide(self._sums[name], precision, out=np.zeros_like(precision), where=precision > 0)
        return np.asarray(before + move, before.dtype)

    def _add_totals(self, learned: Learned, count: float) -> None:
        """Add up what can be; the dual value grows by at least the mean of the growths, as it is concave."""
        mix, start = self._mix, self._start
        mix.clock += learned.clock - start.clock
        self._averaged += self._rounds(learned) - self._rounds(start)
        for name, value in learned.totals.items():
            if name == "dual_value":
                self._sum(name, count * (value - start.totals[name]))
            elif name == "max_squared_norm":
                mix.totals[name] = max(mix.totals[name], value)
            else:
                mix.totals[name] += value - start.totals[name]
        for name, tally in learned.tallies.items():
            mix.tallies[name] = _counted(mix.tallies[name], tally, start.tallies[name])
        if "scales" in mix.arrays:
            mix.arrays["scales"] = np.maximum(mix.arrays["scales"], learned.arrays["scales"])

    def _rounds(self, learned: Learned) -> int:
        """How many rounds are averaged."""
        return max(learned.clock - self._average + 1, 0) if self._average else 0

    def _total(self, learned: Learned, name: str) -> Array:
        """The sum of the weights after each round that is averaged."""
        weights = learned.arrays[name].astype(np.float64)
        total: Array = self._rounds(learned) * weights - learned.arrays[_LAG_OF[name]]
        return total

    def _sum(self, name: str, value: Any) -> None:
        if name in self._sums:
            self._sums[name] += value
        else:
            self._sums[name] = value


def _counted(total: Array, after: Array, before: Array) -> Array:
    """The total, and what was counted since; what is beyond the end of a tally was not counted yet."""
    counted = np.zeros(max(map(len, (total, after, before))), total.dtype)
    counted[: len(total)] += total
    counted[: len(after)] += after
    counted[: len(before)] -= before
    return counted
