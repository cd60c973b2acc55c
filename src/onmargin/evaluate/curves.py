"""Curves of a run, and several side by side."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._tables import html_table, number, svg_curve, text_table
from onmargin.models.reliability import Reliability
from onmargin.theory import Certificate

Vector = NDArray[np.float64]
Counts = NDArray[np.intp]

# Of a curve that is printed.
POINTS = 10
COLUMNS = ("rounds", "error", "loss", "squared_loss", "cost", "window_error", "seconds", "memory")
MORE_COLUMNS = ("bound", "log_loss", "brier_score", "calibration_error")


@dataclass(frozen=True, repr=False)
class Curve:
    """What a model got wrong on its way: one number per point of the curve in each array.

    Printed, it is a table of some of its points; in a notebook too, with a picture of the error.

    Attributes
    ----------
    rounds : ndarray of int
        Rounds played.
    error : ndarray
        Part of them that were wrong, or mean absolute error: `measure` says which.
    loss, squared_loss, cost : ndarray
        Mean loss, squared loss and cost of a learner with ``totals_``; otherwise those of the error, and 0.
    window_error : ndarray
        The error of the last rounds alone, for streams that change.
    seconds : ndarray
        Time spent on predicting and learning.
    memory : ndarray of int
        Bytes of all that the model keeps, as it would be pickled; 0 for one that cannot be.
    measure : str
        What the error is.
    model : object
        The copy that has learned the stream.
    bound : ndarray or None
        The largest error, loss or cost that the theorem of the run allows, per round, at each point.
    certificate : Certificate or None
        Where that bound comes from.
    changes : ndarray of int or None
        With an alarm: the rounds at which it went off.
    log_loss, brier_score, calibration_error : ndarray or None
        Those of the probabilities of a classifier of this package up to each point, judged before each example was
        learned; None for others. See `Reliability`.
    reliability : Reliability or None
        How often each probability came true over the whole stream.
    """

    rounds: Counts
    error: Vector
    loss: Vector
    squared_loss: Vector
    cost: Vector
    window_error: Vector
    seconds: Vector
    memory: Counts
    measure: str
    model: Any
    bound: Vector | None = None
    certificate: Certificate | None = None
    changes: Counts | None = None
    log_loss: Vector | None = None
    brier_score: Vector | None = None
    calibration_error: Vector | None = None
    reliability: Reliability | None = None

    def __repr__(self) -> str:
        last = len(self.rounds) - 1
        return text_table(
            self._columns(np.unique(np.linspace(0, last, POINTS).round().astype(int)) if last >= 0 else [])
        )

    def _repr_html_(self) -> str:
        return f"{self._picture()}{html_table(self._columns([-1]) if len(self.rounds) else {})}"

    def _picture(self) -> str:
        return svg_curve(self.rounds.tolist(), getattr(self, self._counted).tolist(), self._counted.replace("_", " "))

    def _columns(self, points: Any) -> dict[str, list[str]]:
        """Return what is shown of some points."""
        shown = {
            "rounds": self.rounds,
            self.measure: self.error,
            "last rounds": self.window_error,
            "loss": self.loss,
            **({"cost": self.cost} if self.cost.any() else {}),
            **({} if self.log_loss is None else {"log loss": self.log_loss}),
            **({} if self.bound is None else {"allowed": self.bound}),
            "seconds": self.seconds,
        }
        return {name: [number(column[k]) for k in points] for name, column in shown.items()}

    def under(self, certificate: Certificate) -> "Curve":
        """The curve with what its theorem allows.

        Parameters
        ----------
        certificate : Certificate
            Of the same model on the same stream.

        Returns
        -------
        curve : Curve
            With `bound` and `certificate`.
        """
        allowed = np.append(0.0, certificate.along())[self.rounds]
        return replace(self, bound=allowed / np.maximum(self.rounds, 1), certificate=certificate)

    def table(self) -> dict[str, NDArray[Any]]:
        """The curve as columns.

        Returns
        -------
        columns : dict of ndarray
            Those of the curve, and those that only some curves have, such as "bound" and "log_loss".
        """
        columns = {name: getattr(self, name) for name in COLUMNS}
        return columns | {name: value for name in MORE_COLUMNS if (value := getattr(self, name)) is not None}

    def frame(self) -> Any:
        """The curve as a table: a pandas DataFrame if pandas is installed, otherwise a dict of arrays.

        Returns
        -------
        frame : DataFrame or dict
            One row a point.
        """
        return _frame(self.table())

    def plot(self, ax: Any = None, *, label: str | None = None) -> Any:
        """Draw the error, that of the last rounds, the bound where there is one, and where an alarm went off.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        label : str or None, default=None
            What to call it; None: its measure.

        Returns
        -------
        ax : matplotlib Axes
            With the curve.
        """
        ax = _axes(ax)
        word = self.measure if self._counted == "error" else f"mean {self._counted.replace('_', ' ')}"
        (line,) = ax.plot(self.rounds, getattr(self, self._counted), label=label or word)
        if self._counted == "error":
            ax.plot(self.rounds, self.window_error, color=line.get_color(), alpha=0.4, linewidth=1)
        if self.bound is not None:
            finite = np.isfinite(self.bound)
            name = f"allowed{'' if label is None else f': {label}'}"
            ax.plot(self.rounds[finite], self.bound[finite], "--", color=line.get_color(), label=name)
        for i, change in enumerate([] if self.changes is None else self.changes):
            name = f"change{'' if label is None else f': {label}'}"
            ax.axvline(change, linestyle=":", color=line.get_color(), label="" if i else name)
        ax.set(xlabel="rounds", ylabel=word)
        ax.legend()
        return ax

    def plot_reliability(self, ax: Any = None) -> Any:
        """Draw how often each probability came true.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. If None, on a new figure.

        Returns
        -------
        ax : matplotlib Axes
            With the diagram.
        """
        if self.reliability is None:
            raise ValueError(
                "there are no probabilities: a reliability diagram needs a classifier of onmargin, and delay=0"
            )
        return self.reliability.plot(_axes(ax))

    @property
    def _counted(self) -> str:
        """What the bound is about, where there is one; the column that is drawn."""
        counted = "mistakes" if self.certificate is None else self.certificate.counted
        return "error" if counted == "mistakes" else counted


class Curves(Mapping[str, Curve]):
    """Curves of several models over one stream, by name. Printed, they are a table with one line per model.

    Parameters
    ----------
    curves : dict of Curve
        Names and curves.
    """

    def __init__(self, curves: dict[str, Curve]) -> None:
        self._curves = curves

    def __getitem__(self, name: str) -> Curve:
        return self._curves[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._curves)

    def __len__(self) -> int:
        return len(self._curves)

    def __repr__(self) -> str:
        return text_table(self._columns())

    def _repr_html_(self) -> str:
        return html_table(self._columns(), [curve._picture() for curve in self.values()])

    def _columns(self) -> dict[str, list[str]]:
        """Return what is shown of each model, at the end of its stream."""
        ends = [curve._columns([-1] if len(curve.rounds) else []) for curve in self.values()]
        names = dict.fromkeys(name for end in ends for name in end)
        columns = {name: [next(iter(end.get(name, [])), "") for end in ends] for name in names}
        return {"model": list(self), **columns}

    def frame(self) -> Any:
        """All curves as one table, with the column "model": a pandas DataFrame, or a dict of arrays.

        Returns
        -------
        frame : DataFrame or dict
            One row a model and point.
        """
        tables = [{"model": np.full(len(curve.rounds), name), **curve.table()} for name, curve in self.items()]
        names = list(dict.fromkeys(name for table in tables for name in table))
        blank = [np.full(len(table["rounds"]), np.nan) for table in tables]
        joined = {
            name: np.concatenate([table.get(name, empty) for table, empty in zip(tables, blank, strict=True)])
            for name in names
        }
        return _frame(joined)

    def plot(self, ax: Any = None) -> Any:
        """Draw all curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        ax : matplotlib Axes
            With the curves.
        """
        ax = _axes(ax)
        for name, curve in self.items():
            curve.plot(ax, label=name)
        return ax


def _frame(columns: dict[str, NDArray[Any]]) -> Any:
    try:
        from pandas import DataFrame
    except ImportError:
        return columns
    return DataFrame(columns)


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plot needs matplotlib: pip install matplotlib") from error
    return pyplot.subplots(layout="constrained")[1]
