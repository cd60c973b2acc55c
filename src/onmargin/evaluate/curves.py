"""Learning curves of one or several models."""

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

# Number of points in a printed curve.
POINTS = 10
COLUMNS = ("rounds", "error", "loss", "squared_loss", "cost", "window_error", "seconds", "memory")
MORE_COLUMNS = ("bound", "log_loss", "brier_score", "calibration_error")


@dataclass(frozen=True, repr=False)
class Curve:
    """Learning curve of a model on a stream; each array has one number per point of the curve.

    It prints as a table of some of its points, and in a notebook also as a plot of the error.

    Attributes
    ----------
    rounds : ndarray of int
        Number of rounds so far.
    error : ndarray
        Fraction of the rounds that were wrong, mean loss, or mean absolute error; see `measure`.
    loss, squared_loss, cost : ndarray
        Mean loss, squared loss and cost of a learner with ``totals_``. For other models, the error, the squared error
        and 0.
    window_error : ndarray
        The error over the last rounds only, for streams that change.
    seconds : ndarray
        Time spent on predicting and learning.
    memory : ndarray of int
        Size of the pickled model in bytes; 0 if it cannot be pickled.
    measure : str
        Name of the error measure.
    model : object
        The trained copy of the model.
    bound : ndarray or None
        The largest error, loss or cost per round that the theorem of the run allows, at each point.
    certificate : Certificate or None
        The certificate of the bound.
    changes : ndarray of int or None
        The rounds at which the alarm went off. None if no alarm was used.
    log_loss, brier_score, calibration_error : ndarray or None
        Measures of the predicted probabilities up to each point, computed before each example was learned. None unless
        the model is a classifier of this package. See `Reliability`.
    reliability : Reliability or None
        Reliability of the predicted probabilities over the whole stream.
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
        return svg_curve(self.rounds.tolist(), getattr(self, self._quantity).tolist(), self._quantity.replace("_", " "))

    def _columns(self, points: Any) -> dict[str, list[str]]:
        """Return the printed columns of some points."""
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
        """Return the curve with the bound of a certificate.

        Parameters
        ----------
        certificate : Certificate
            The certificate of the same model on the same stream.

        Returns
        -------
        curve : Curve
            The curve with `bound` and `certificate`.
        """
        allowed = np.append(0.0, certificate.along())[self.rounds]
        return replace(self, bound=allowed / np.maximum(self.rounds, 1), certificate=certificate)

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the curve as columns.

        Returns
        -------
        columns : dict of ndarray
            The columns by name, including those that only some curves have, such as "bound" and "log_loss".
        """
        columns = {name: getattr(self, name) for name in COLUMNS}
        return columns | {name: value for name in MORE_COLUMNS if (value := getattr(self, name)) is not None}

    def frame(self) -> Any:
        """Return the curve as a pandas DataFrame, or as a dict of arrays if pandas is not installed.

        Returns
        -------
        frame : DataFrame or dict
            One row per point.
        """
        return _frame(self.table())

    def plot(self, ax: Any = None, *, label: str | None = None) -> Any:
        """Plot the error, the error over the last rounds, the bound if there is one, and the alarms.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to plot on. If None, a new figure is created.
        label : str or None, default=None
            Label of the curve. If None, the name of its measure.

        Returns
        -------
        ax : matplotlib Axes
            The axes with the curve.
        """
        ax = _axes(ax)
        word = self.measure if self._quantity == "error" else f"mean {self._quantity.replace('_', ' ')}"
        (line,) = ax.plot(self.rounds, getattr(self, self._quantity), label=label or word)
        if self._quantity == "error":
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
        """Plot the reliability diagram of the predicted probabilities.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to plot on. If None, a new figure is created.

        Returns
        -------
        ax : matplotlib Axes
            The axes with the diagram.
        """
        if self.reliability is None:
            raise ValueError(
                "there are no probabilities: a reliability diagram needs a classifier of onmargin, and delay=0"
            )
        return self.reliability.plot(_axes(ax))

    @property
    def _quantity(self) -> str:
        """Return the name of the column to plot: the bounded quantity, if there is a bound."""
        counted = "mistakes" if self.certificate is None else self.certificate.counted
        return "error" if counted == "mistakes" else counted


class Curves(Mapping[str, Curve]):
    """Learning curves of several models on one stream, by name. They print as a table with one line per model.

    Parameters
    ----------
    curves : dict of Curve
        The curves by name.
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
        """Return the printed columns of each model, at the end of the stream."""
        ends = [curve._columns([-1] if len(curve.rounds) else []) for curve in self.values()]
        names = dict.fromkeys(name for end in ends for name in end)
        columns = {name: [next(iter(end.get(name, [])), "") for end in ends] for name in names}
        return {"model": list(self), **columns}

    def frame(self) -> Any:
        """Return all curves as one pandas DataFrame, or dict of arrays, with the column "model".

        Returns
        -------
        frame : DataFrame or dict
            One row per model and point.
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
        """Plot all curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to plot on. If None, a new figure is created.

        Returns
        -------
        ax : matplotlib Axes
            The axes with the curves.
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
