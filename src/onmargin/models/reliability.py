"""Quality of probabilities, each evaluated before its example was learned."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._core.calibration import Calibration
from onmargin._tables import html_table, number, svg_curve


@dataclass(frozen=True)
class Reliability:
    """Quality of the probabilities of a classifier, each evaluated before its example was learned.

    On long streams a sample is evaluated, in which each example represents several (see `judged`).

    Attributes
    ----------
    rounds : int
        Rounds with at least two classes.
    judged : int
        Rounds that were evaluated: the first 4096, then about one of 2, and half as many each time the rounds double,
        down to one of 64. If several models learn side by side, it is the first 8192, and down to one of 16.
    log_loss : float
        Mean of ``-ln p`` of the right class; nan if nothing was evaluated.
    brier_score : float
        Mean squared difference between probabilities and outcomes: of the second of two classes, or summed over more.
    calibration_error : float
        Mean distance between probability and frequency over the bins, weighted by their rounds (ECE).
    probability, frequency : ndarray of shape (10,)
        The mean probability and the observed frequency in each bin: of the second of two classes, or of the most
        probable of more; nan for an empty bin.
    weight : ndarray of shape (10,)
        The number of rounds that each bin represents.
    """

    rounds: int
    judged: int
    log_loss: float
    brier_score: float
    calibration_error: float
    probability: NDArray[np.float64]
    frequency: NDArray[np.float64]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, calibration: Calibration) -> "Reliability":
        """Return what a calibration has judged so far.

        Parameters
        ----------
        calibration : Calibration
            The calibration of a model.

        Returns
        -------
        reliability : Reliability
            Its record.
        """
        state = calibration.state()
        total, log_loss, brier = state["sums"]
        weight, probabilities, hits = state["bins"]
        with np.errstate(invalid="ignore", divide="ignore"):
            return cls(
                state["rounds"],
                state["judged"],
                float(log_loss / total),
                float(brier / total),
                float(np.abs(probabilities - hits).sum() / total),
                probabilities / weight,
                hits / weight,
                weight,
            )

    def _repr_html_(self) -> str:
        """Return the measures as a table, with the frequency over the probability, for notebooks."""
        names = ["log_loss", "brier_score", "calibration_error", "rounds"]
        table = html_table({"measure": names, "value": [number(getattr(self, name)) for name in names]})
        full = self.weight > 0
        return table + svg_curve(
            self.probability[full].tolist(), self.frequency[full].tolist(), "observed frequency over probability"
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the reliability diagram: observed frequency against probability. The diagonal is perfect.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        ax : matplotlib Axes
            The axes with the diagram.
        """
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError as error:
                raise ImportError("plot needs matplotlib: pip install matplotlib") from error
            ax = pyplot.subplots(layout="constrained")[1]
        ax.plot([0, 1], [0, 1], ":", color="gray")
        full = self.weight > 0
        ax.plot(self.probability[full], self.frequency[full], "o-", label=f"error {self.calibration_error:.3f}")
        share = self.weight / max(self.weight.sum(), 1)
        ax.bar(np.arange(0.05, 1, 0.1), share, width=0.09, alpha=0.2, label="fraction of the rounds")
        ax.set(xlabel="probability", ylabel="frequency", xlim=(0, 1), ylim=(0, 1))
        ax.legend()
        return ax
