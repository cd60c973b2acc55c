"""Measures of label rankings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import coverage_error, label_ranking_average_precision_score, label_ranking_loss

from onmargin.estimators._checks import check_numbers
from onmargin.models.label_sets import read_indicator


@dataclass(frozen=True, slots=True)
class RankingReport:
    """Four measures of label rankings, averaged over the examples; ``dict(report)`` is a plain mapping.

    Attributes
    ----------
    one_error : float
        Fraction of the examples with a relevant label whose top-ranked label is not relevant; 0 is best.
    coverage : float
        Number of labels, from the top of the ranking, needed to include all relevant ones; the best value is the mean
        number of relevant labels.
    ranking_loss : float
        Fraction of the pairs of a relevant and an irrelevant label that are in the wrong order or tied; 0 is best.
    average_precision : float
        Fraction of relevant labels among those ranked down to each relevant label, averaged; 1 is best.
    """

    one_error: float
    coverage: float
    ranking_loss: float
    average_precision: float

    def keys(self) -> Iterator[str]:
        """Return the names of the measures.

        Returns
        -------
        names : iterator of str
            The names, in the order of the fields.
        """
        return (field.name for field in fields(self))

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


def ranking_report(Y: Any, scores: ArrayLike) -> RankingReport:
    """Measure how well scores rank the labels of examples.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Which labels are relevant: an indicator matrix of 0 and 1, with at least two labels.
    scores : array-like of shape (n_samples, n_labels)
        The score of each label, such as the decision function of a :class:`onmargin.LabelRanker`.

    Returns
    -------
    report : RankingReport
        One-error, coverage, ranking loss and average precision.

    Notes
    -----
    Coverage is defined as in scikit-learn: the rank, from 1, of the last relevant label, and 0 for an example without
    relevant labels. Papers that count from 0 report one less if every example has a relevant label. If none or all
    labels of an example are relevant, its ranking loss is 0 and its average precision is 1. Ties count as wrongly
    ordered, except in the one-error, where the first of the labels with the highest score is on top. If no example has
    a relevant label, the one-error is 0.

    Examples
    --------
    >>> from onmargin.evaluate import ranking_report
    >>> report = ranking_report([[1, 0, 1], [0, 1, 0]], [[0.9, 0.5, 0.1], [0.2, 0.7, 0.1]])
    >>> report.coverage
    2.0
    >>> dict(report)["ranking_loss"]
    0.25
    """
    sets = read_indicator(Y)
    indicator = sets.matrix(np.arange(sets.width or 0))
    numbers = check_numbers(scores, "scores")
    if numbers.shape != indicator.shape:
        raise ValueError(
            f"Y and scores must have the same shape, one row per example; got {indicator.shape} and {numbers.shape}"
        )
    if not numbers.shape[0] or numbers.shape[1] < 2:
        raise ValueError(f"a ranking needs an example and at least two labels; got shape {numbers.shape}")
    some = indicator.any(axis=1)
    hit = np.take_along_axis(indicator, numbers.argmax(axis=1)[:, None], axis=1)[:, 0]
    return RankingReport(
        one_error=float(1 - hit[some].mean()) if some.any() else 0.0,
        coverage=float(coverage_error(indicator, numbers)),
        ranking_loss=float(label_ranking_loss(indicator, numbers)),
        average_precision=float(label_ranking_average_precision_score(indicator, numbers)),
    )
