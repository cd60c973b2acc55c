"""Online quantile tracking: a threshold that is exceeded at a given rate on any sequence ([ACI], [QT]).

A nonconformity u_t measures how unusual the label of example t is, given its prediction. Nonconformities that are not
in [0, 1] are mapped there in units of their running mean m_t, which is computed before the example:

    s_t = u_t / (u_t + m_t),  or for nonconformities of both signs  s_t = (1 + u_t / (|u_t| + m_t)) / 2.

The label is covered if s_t <= q_t. With err_t = 1 if it was not,

    q_{t+1} = q_t + rate (err_t - alpha).

If q_t >= 1 all labels are covered, and if q_t < 0 none is, so that q never leaves [-rate, 1 + rate], and

    | (1/T) sum_t err_t - alpha |  =  | q_{T+1} - q_1 | / (rate T)  <=  (1 + rate) / (rate T).

No assumption is made about the examples: they may drift, or be chosen by an adversary who knows the algorithm. Scores
are bounded by the running mean, not by the largest one seen so far. This is a deviation from [QT], so that one outlier
does not make all later steps large.
"""

from dataclasses import dataclass
from functools import partial
from math import inf, isfinite, log
from typing import Any

from onmargin._core.restore import whole
from onmargin._parts import Part

__all__ = ["Coverage", "QuantileTracker"]

# Number of rounds in the running mean, and the limit on a nonconformity in units of the mean.
MEMORY, MOST_UNITS = 200, 10.0


@dataclass(frozen=True)
class Coverage:
    """Observed and requested coverage.

    Attributes
    ----------
    rounds : int
        Number of examples evaluated.
    covered : float
        The fraction of them whose label was covered; nan if there were none.
    asked : float
        The requested fraction.
    bound : float
        The largest possible difference of the two for any examples; inf if there were none.
    size : float
        Mean size of the sets, or mean width of the finite intervals; nan if there were none.
    """

    rounds: int
    covered: float
    asked: float
    bound: float
    size: float

    @property
    def holds(self) -> bool:
        """Whether at least as many labels were covered as the bound guarantees.

        Returns
        -------
        holds : bool
            Always True, unless the numbers were tampered with.
        """
        return not self.rounds or self.covered >= self.asked - self.bound


def check_options(coverage: float, rate: float) -> None:
    """Raise a ValueError if one of the two is not between 0 and 1.

    Parameters
    ----------
    coverage, rate : float
        As for `QuantileTracker`.
    """
    for name, value in (("coverage", coverage), ("rate", rate)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
            raise ValueError(f"{name} must be a number greater than 0 and less than 1; got {value!r}")


class QuantileTracker(Part):
    """Online quantile tracker: a threshold that nonconformities exceed in a fraction ``1 - coverage`` of the rounds.

    Parameters
    ----------
    coverage : float, default=0.9
        The fraction of the rounds that must be covered, between 0 and 1.
    rate : float, default=0.03
        Step size. Smaller values give steadier thresholds, larger values follow changes faster and have a smaller
        bound.
    scores : {"bounded", "positive", "signed"}, default="bounded"
        Range of the nonconformities: from 0 to 1, at least 0, or any numbers.

    Attributes
    ----------
    rounds, misses : int
        Number of rounds so far, and number of rounds that were not covered.
    level : float
        The threshold on the scale from 0 to 1.
    unit : float
        Mean size of the nonconformities of the last rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from onmargin.confidence import QuantileTracker
    >>> tracker = QuantileTracker(coverage=0.8, scores="positive")
    >>> for u in np.random.default_rng(0).exponential(size=2000):
    ...     covered = tracker.update(u)
    >>> f"{1 - tracker.misses / tracker.rounds:.3f}, at most {tracker.bound:.3f} from 0.8"
    '0.799, at most 0.017 from 0.8'
    """

    def __init__(self, coverage: float = 0.9, rate: float = 0.03, *, scores: str = "bounded") -> None:
        check_options(coverage, rate)
        self.coverage = coverage
        self.rate = rate
        if scores not in {"bounded", "positive", "signed"}:
            raise ValueError(f"scores must be 'bounded', 'positive' or 'signed'; got {scores!r}")
        self.scores = scores
        self.rounds = self.misses = 0
        self.unit = 0.0
        usual = log(1 / (1 - coverage))  # the quantile of an exponential distribution with mean 1
        part = usual / (1 + usual)
        self.level = {"bounded": coverage, "positive": part, "signed": (1 + part) / 2}[scores]

    def __reduce__(self) -> tuple[Any, ...]:
        state = {"rounds": self.rounds, "misses": self.misses, "unit": self.unit, "level": self.level}
        return partial(type(self), scores=self.scores), (self.coverage, self.rate), state

    def __setstate__(self, state: dict[str, Any]) -> None:
        rounds, misses = whole(state["rounds"], "rounds"), whole(state["misses"], "misses")
        unit, level = float(state["unit"]), float(state["level"])
        if misses > rounds or not (0 <= unit < inf and isfinite(level) and abs(level - 0.5) <= 0.5 + self.rate + 1e-9):
            raise ValueError(f"a threshold cannot have the state {state}")
        self.rounds, self.misses, self.unit, self.level = rounds, misses, unit, level

    def is_like(self, other: "QuantileTracker") -> bool:
        """Return whether another tracker has the same parameters.

        Parameters
        ----------
        other : QuantileTracker
            The other tracker.

        Returns
        -------
        alike : bool
            True if coverage, rate and kind of scores are equal.
        """
        return (self.coverage, self.rate, self.scores) == (other.coverage, other.rate, other.scores)

    @property
    def threshold(self) -> float:
        """The largest nonconformity that is currently covered.

        Returns
        -------
        threshold : float
            The nonconformity; inf if all are covered, -inf if none is.
        """
        if self.level >= 1:
            return inf
        if self.level < 0:
            return -inf
        if self.scores == "bounded":
            return self.level
        part = 2 * self.level - 1 if self.scores == "signed" else self.level
        return self.unit * part / (1 - abs(part)) if part > -1 else -inf

    @property
    def bound(self) -> float:
        """The largest possible difference of observed and requested coverage, on any sequence.

        Returns
        -------
        bound : float
            ``(1 + rate) / (rate * rounds)``; inf before the first round.
        """
        return (1 + self.rate) / (self.rate * self.rounds) if self.rounds else inf

    def update(self, nonconformity: float, covered: bool | None = None) -> bool:
        """Count a round and move the threshold; return whether the round was covered.

        Parameters
        ----------
        nonconformity : float
            The nonconformity of the label; inf for a label that the model has not seen.
        covered : bool or None, default=None
            Whether the label was covered. If None, it is covered if its nonconformity is at most the threshold.

        Returns
        -------
        covered : bool
            Whether the round counts as covered.
        """
        if covered is None:
            covered = bool(-inf < self.threshold >= nonconformity)
        self.rounds += 1
        self.misses += not covered
        self.level += self.rate * ((not covered) - (1 - self.coverage))
        size = abs(nonconformity)
        if self.unit > 0:
            size = min(size, MOST_UNITS * self.unit)
        if size < inf:
            self.unit += (size - self.unit) / min(self.rounds, MEMORY)
        return covered


def trackers_of(wrapper: Any) -> list[QuantileTracker]:
    """Return the trackers of the thresholds of prediction sets or intervals.

    Parameters
    ----------
    wrapper : PredictionSets or Intervals
        The sets or intervals.

    Returns
    -------
    trackers : list of QuantileTracker
        One for all labels or both ends, or one per label or end.
    """
    return [*wrapper._trackers.values()]
