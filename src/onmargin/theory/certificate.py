"""What was proved about a run, in numbers and in words."""

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from math import inf, isinf, isnan

import numpy as np
from numpy.typing import NDArray

from onmargin.learner import Totals
from onmargin.theory.primal_dual import floor

Vector = NDArray[np.float64]


class NoTheorem(ValueError):  # noqa: N818
    """No theorem speaks of this learner; the message says which one has one."""


@dataclass(frozen=True)
class Condition:
    """What a theorem asks for, what was measured, and whether that will do.

    Attributes
    ----------
    needs : str
        What is asked for.
    measured : str
        What the run, the stream and the competitor have.
    met : bool
        Whether it holds.
    """

    needs: str
    measured: str
    met: bool

    def __str__(self) -> str:
        return f"{self.needs}: {'yes' if self.met else 'NO'} ({self.measured})"


@dataclass(frozen=True)
class Competitor:
    """Fixed weights that a run is compared with, and what they suffered on its stream.

    Attributes
    ----------
    weights : ndarray
        All numbers in one vector: columns one after the other, each with its intercept coordinate last.
    size : float
        F(u): half the squared norm, or what takes its place in the geometry of the learner.
    loss, squared_loss : float
        Sums of its losses, and of their squares.
    gap : float
        For the best competitor, how far its objective can be from the least there is, relative to it; nan for one that
        was given, and where none was found.
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


# Which total each theorem bounds, in words.
WORDS = {"mistakes": "mistakes", "loss": "loss", "squared_loss": "squared loss", "cost": "cost"}


@dataclass(frozen=True)
class Certificate:
    """What a theorem says about a run, and whether the run kept to it.

    Attributes
    ----------
    holds : bool
        Whether all conditions are met and what was suffered is within the bound, to rounding.
    bound : float
        The most that could have been suffered, whatever the stream, with such a competitor: the one that was given, or
        the best.
    suffered : float
        What was.
    counted : str
        What is spoken of: "mistakes", "loss", "squared_loss" or "cost" of the totals.
    slack : float
        The bound less what was suffered.
    theorem : str
        Name and source of the theorem.
    statement : str
        What it says.
    conditions : tuple of Condition
        What it asks for, each with what was measured.
    competitor : Competitor
        That of `bound`.
    best : Competitor
        The best competitor in hindsight.
    best_bound : float
        The bound for it.
    totals : Totals
        The totals of the run.
    compared_with : str
        What `best` is. Of several models it is the best of them, whose weights are not in `best`.
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

    @property
    def holds(self) -> bool:
        """Whether the run kept to the theorem."""
        return all(condition.met for condition in self.conditions) and self._within

    @property
    def _within(self) -> bool:
        return self.suffered <= self.bound + self.tolerance * (1 + abs(self.bound))

    @property
    def slack(self) -> float:
        """What was left of the bound."""
        return self.bound - self.suffered

    def floor(self, norm: float = inf) -> float:
        r"""The least loss that any fixed predictor of some norm can have had on this stream.

        It follows from the dual value alone: :func:`onmargin.theory.floor` says the same from ``totals_`` at any
        moment of a run.

        Parameters
        ----------
        norm : float, default=inf
            The largest norm spoken of: of the weights with the intercept coordinate, in p-norm geometry
            :math:`\|u\|_q`, for a ball the distance from its start. On the simplex it may be left out: all weights are
            meant.

        Returns
        -------
        floor : float
            Sum of the losses; for PA-II of the squared losses.
        """
        if not self.has_dual:
            raise ValueError(f"{self.learner} has no dual value: its totals say nothing about other predictors")
        size = min(norm**2 / 2, self.largest_size)
        return floor(self.totals, self.C, (2 * size) ** 0.5) if not isinf(size) else 0.0

    def along(self) -> Vector:
        """The bound after every round, for the same competitor: with its losses so far.

        Returns
        -------
        bounds : ndarray of shape (n_rounds,)
            The last of them is `bound`. The largest norm is that of the whole stream throughout.
        """
        losses = self.competitor.losses
        sums = zip(np.cumsum(losses), np.cumsum(losses**2), strict=True)
        size = self.competitor.size
        return np.array([self._bound_of(size, loss, squares, t + 1) for t, (loss, squares) in enumerate(sums)])

    @property
    def summary(self) -> str:
        """The certificate in a few sentences."""
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
    """Whole numbers as such, others with four digits."""
    return str(int(value)) if float(value).is_integer() else f"{value:.4g}"
