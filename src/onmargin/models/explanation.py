"""Explanations of scores: the contribution of each feature, which add up to the score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._tables import html_table, number
from onmargin.models.attribution import attribution_of
from onmargin.models.model import Model

# Rows of the table that a notebook shows.
MOST_SHOWN = 20


class Explanation(dict[Any, float]):
    """Contributions to a score by feature, largest absolute value first; a dict that also has what they add up to.

    Attributes
    ----------
    label : object
        The label whose score is explained; None if there is only one score.
    intercept : float
        What the contributions are added to: the intercept of a linear model, otherwise the score without features.
    score : float
        The intercept plus the contributions of all features, including those that are not listed.
    """

    def __init__(self, contributions: dict[Any, float], label: Any, intercept: float, score: float) -> None:
        super().__init__(contributions)
        self.label, self.intercept, self.score = label, intercept, score

    def _repr_html_(self) -> str:
        """Return the largest contributions as a table, for notebooks."""
        rest = self.score - self.intercept - sum(list(self.values())[:MOST_SHOWN])
        lines = {**dict(list(self.items())[:MOST_SHOWN]), "other features": rest, "intercept": self.intercept}
        lines["score" if self.label is None else f"score of {self.label}"] = self.score
        return html_table({"feature": [*map(str, lines)], "contribution": [*map(number, lines.values())]})


def contributions(model: Model, example: tuple[Any, Any], direction: NDArray[Any]) -> tuple[Any, NDArray[np.float64]]:
    """Return the features that contribute to a score of an example, and their contributions, clipped as scores are.

    The example is the places of its features and their values. The score is the scores of columns times `direction`.
    """
    places, values = example
    attribution = attribution_of(model.learner)
    with np.errstate(over="ignore", invalid="ignore"):
        if attribution is not None:
            found = attribution.contributions(np.array(places, np.int32), np.array(values, np.float64)) @ direction
            return places, np.nan_to_num(found)
        filled = model.filling()
        filled[places] = values
        there = np.flatnonzero(filled)
        return there, np.nan_to_num(direction @ model.mean()[0][:, there] * filled[there])


def intercepts(model: Model) -> NDArray[Any]:
    """Return what contributions are added to, for each column of scores."""
    attribution = attribution_of(model.learner)
    return model.mean()[1] if attribution is None else attribution.base()


def largest(contributions: NDArray[Any], top: int | None) -> NDArray[np.intp]:
    """Return the indices of the non-zero contributions, largest absolute value first."""
    order = np.argsort(-np.abs(contributions), kind="stable")
    return order[contributions[order] != 0][:top]
