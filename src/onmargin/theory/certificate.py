"""Certificates: the bound that a theorem gives for a run, its conditions, and whether the run satisfies them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from math import inf, isinf, isnan, sqrt

import numpy as np
from numpy.typing import NDArray

from onmargin.learner import Totals
from onmargin.theory.primal_dual import floor
from onmargin.theory.risk import online_to_batch_risk

Vector = NDArray[np.float64]


class NoTheorem(ValueError):  # noqa: N818
    """Raised when no theorem covers a learner; the message names alternatives that have one."""


@dataclass(frozen=True)
class Condition:
    """A condition of a theorem, the measured value, and whether the condition is met.

    Attributes
    ----------
    needs : str
        The condition that the theorem requires.
    measured : str
        The value measured on the run, the stream and the competitor.
    met : bool
        Whether the condition is met.
    """

    needs: str
    measured: str
    met: bool

    def __str__(self) -> str:
        return f"{self.needs}: {'yes' if self.met else 'NO'} ({self.measured})"


@dataclass(frozen=True)
class Competitor:
    """Fixed weights that a run is compared with, and their losses on its stream.

    Attributes
    ----------
    weights : ndarray
        All weights in one vector: the columns are concatenated, each with its intercept coordinate last.
    size : float
        F(u): half the squared norm, or its counterpart in the geometry of the learner.
    loss, squared_loss : float
        Sum of its losses, and sum of their squares.
    gap : float
        For the best competitor, an upper bound on the relative difference between its objective and the minimum. It is
        nan for a given competitor, and if no competitor was found.
    losses : ndarray of shape (n_rounds,)
        Its loss in every round.
    """

    weights: Vector = field(repr=False)
    size: float
    losses: Vector = field(repr=False)
    gap: float = float("nan")

    @property
    def loss(self) -> float:
        """Sum of the losses."""
        return float(self.losses.sum())

    @property
    def squared_loss(self) -> float:
        """Sum of the squared losses."""
        return float((self.losses**2).sum())


@dataclass(frozen=True)
class Risk:
    """A bound on the expected loss of averaged weights on new examples.

    Attributes
    ----------
    bound : float
        An upper bound on the expected loss, in the units of the loss.
    delta : float
        The probability that the bound fails.
    coef : ndarray
        The average of the weights that predicted in rounds 1 to T, in the shape of ``coef_``.
    intercept : ndarray
        The average of the intercepts, in the shape of ``intercept_``.
    """

    bound: float
    delta: float
    coef: Vector = field(repr=False)
    intercept: Vector = field(repr=False)


# The total that a theorem bounds -> its name in messages.
WORDS = {"mistakes": "mistakes", "loss": "loss", "squared_loss": "squared loss", "cost": "cost"}


@dataclass(frozen=True)
class Certificate:
    """The bound that a theorem gives for a run, and whether the run satisfies it.

    Attributes
    ----------
    holds : bool
        Whether all conditions are met and `suffered` is within the bound, up to rounding.
    bound : float
        The largest total possible on any stream with such a competitor, which is the given competitor or the best one.
    suffered : float
        The total of the run.
    counted : str
        Which of the totals is bounded: "mistakes", "loss", "squared_loss" or "cost".
    slack : float
        The bound minus `suffered`.
    vacuous : bool
        Whether the bound excludes nothing, because it allows more mistakes than there were rounds.
    theorem : str
        Name and source of the theorem.
    statement : str
        The inequality of the theorem.
    conditions : tuple of Condition
        The conditions of the theorem, each with the measured value.
    competitor : Competitor
        The competitor that `bound` is computed for.
    best : Competitor
        The best competitor in hindsight.
    best_bound : float
        The bound for the best competitor.
    totals : Totals
        The totals of the run.
    compared_with : str
        A description of `best`. For several models it names the best of them, whose weights are not in `best`.
    """

    learner: str
    theorem: str
    statement: str
    counted: str
    suffered: float
    bound: float
    conditions: tuple[Condition, ...]
    competitor: Competitor
    best: Competitor
    best_bound: float
    totals: Totals
    C: float
    largest_size: float
    has_dual: bool
    tolerance: float = field(repr=False)
    _bound_of: Callable[[float, float, float, int], float] = field(repr=False)
    compared_with: str = "the best fixed weights in hindsight"
    _average: Callable[[], tuple[Vector, Vector]] | None = field(default=None, repr=False)

    @property
    def holds(self) -> bool:
        """Whether all conditions are met and the run is within the bound."""
        return all(condition.met for condition in self.conditions) and self._within

    @property
    def _within(self) -> bool:
        return self.suffered <= self.bound + self.tolerance * (1 + abs(self.bound))

    @property
    def vacuous(self) -> bool:
        """Whether the bound excludes nothing, because it allows more mistakes than there were rounds."""
        return self.counted == "mistakes" and self.bound >= self.totals.rounds

    @property
    def slack(self) -> float:
        """The bound minus `suffered`."""
        return self.bound - self.suffered

    def floor(self, norm: float = inf) -> float:
        r"""Return a lower bound on the loss of every fixed predictor of bounded norm on this stream.

        The bound follows from the dual value alone. :func:`onmargin.theory.floor` computes it from ``totals_`` at any
        time during a run.

        Parameters
        ----------
        norm : float, default=inf
            The largest norm of the predictors: the norm of the weights with the intercept coordinate; in p-norm
            geometry :math:`\|u\|_q`; for a ball the distance from its start. On the simplex it can be omitted: the
            bound then covers all weights.

        Returns
        -------
        floor : float
            The smallest possible sum of losses; for PA-II, of squared losses.
        """
        if not self.has_dual:
            raise ValueError(f"{self.learner} has no dual value: its totals say nothing about other predictors")
        size = min(norm**2 / 2, self.largest_size)
        return floor(self.totals, self.C, (2 * size) ** 0.5) if not isinf(size) else 0.0

    def risk(self, largest_loss: float, delta: float = 0.05) -> Risk:
        r"""Return a bound on the expected loss on new examples of the average of the weights that predicted.

        .. math:: \mathrm{risk}(\bar w) \le \frac1T\sum_t\ell_t(w_t) + b\sqrt{\frac{2\ln(1/\delta)}{T}}, \qquad
                  \bar w = \frac1T\sum_{t=1}^T w_t

        The examples must have been drawn independently from one distribution, and no example may have a loss above b
        with any of the weights. Neither can be seen in a run, so both are assumptions. The loss is that of the learner:
        the hinge loss at its margin, or the absolute error beyond epsilon.

        Parameters
        ----------
        largest_loss : float
            b > 0, the largest loss that any example of the distribution can have.
        delta : float, default=0.05
            The probability that the bound fails, above 0 and below 1. Smaller values give a larger bound.

        Returns
        -------
        risk : Risk
            The bound, and the averaged weights that it is about. `average=True` predicts with the average of the
            weights after rounds 1 to T instead.

        Notes
        -----
        [CCG]. It covers plain weights for classes and numbers, with one half-space per round and without class weights:
        the loss of a round is then a convex function of the weights. For the number of mistakes, which is not convex,
        use :func:`onmargin.theory.online_to_batch_risk` and a predictor drawn at random from those of the run.
        """
        if self._average is None:
            raise NoTheorem(
                f"no risk bound covers this run of {self.learner}: online to batch needs plain weights with the option "
                "average, a loss that is convex in them, no class_weight, and totals of one pass over the stream"
            )
        if not largest_loss > 0:
            raise ValueError(f"largest_loss must be above 0; got {largest_loss!r}")
        bound = largest_loss * online_to_batch_risk(self.totals.loss / largest_loss, self.totals.rounds, delta)
        return Risk(bound, delta, *self._average())

    def along(self) -> Vector:
        """Return the bound after every round, for the same competitor and its losses so far.

        Returns
        -------
        bounds : ndarray of shape (n_rounds,)
            One bound per round; the last one is `bound`. All of them use the largest norm of the whole stream.
        """
        losses = self.competitor.losses
        sums = zip(np.cumsum(losses), np.cumsum(losses**2), strict=True)
        size = self.competitor.size
        return np.array([self._bound_of(size, loss, squares, t + 1) for t, (loss, squares) in enumerate(sums)])

    @property
    def summary(self) -> str:
        """A summary of the certificate in a few sentences."""
        word = WORDS[self.counted]
        suffered, bound = _number(self.suffered), _number(self.bound)
        which = self.compared_with if self.competitor is self.best else "the given competitor"
        unmet = [condition for condition in self.conditions if not condition.met]
        lines = [f"{self.learner}: {self.totals.rounds} rounds, {word} {suffered}."]
        if unmet:
            lines.append(
                f"Nothing is certified: {self.theorem} needs "
                + "; ".join(f"{condition.needs}, and here it is {condition.measured}" for condition in unmet)
                + "."
            )
        elif self._within:
            lines.append(f"Certified: {self.theorem} allows {bound}, compared with {which}.")
            if self.vacuous:
                longest = sqrt(self.totals.max_squared_norm)
                lines.append(
                    f"The bound is vacuous: it is not below the number of rounds. Rows of norm 1 (the longest has norm "
                    f"{longest:.4g}), more rounds or a smaller C may lower its share of the rounds."
                )
        else:
            lines.append(
                f"NOT certified: {self.theorem} allows {bound}, compared with {which}. These totals are not those of "
                "such a run."
            )
        if self.competitor is not self.best:
            lines.append(f"With the best fixed weights in hindsight it allows {_number(self.best_bound)}.")
        if not isnan(self.best.gap):
            lines.append(
                f"The objective of the best was solved to within {self.best.gap:.2%}, as its dual value proves."
            )
        return " ".join(lines)

    def __str__(self) -> str:
        rows = [self.summary, f"  {self.statement}", *(f"  - {condition}" for condition in self.conditions)]
        return "\n".join(rows)

    def _repr_html_(self) -> str:
        mark = "holds" if self.holds else "does not hold"
        rows = "".join(
            f"<tr><td>{escape(condition.needs)}</td><td>{escape(condition.measured)}</td>"
            f"<td>{'yes' if condition.met else '<b>no</b>'}</td></tr>"
            for condition in self.conditions
        )
        return (
            f"<div><p><b>Certificate: {mark}.</b> {escape(self.summary)}</p><p><i>{escape(self.statement)}</i></p>"
            f"<table><thead><tr><th>condition</th><th>measured</th><th>met</th></tr></thead>"
            f"<tbody>{rows}</tbody></table></div>"
        )


def _number(value: float) -> str:
    """Format integers in full and other numbers with four significant digits."""
    return str(int(value)) if float(value).is_integer() else f"{value:.4g}"
