"""How good a ranking of labels is."""

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
    """Four measures of a ranking of labels, means over the examples; ``dict(report)`` for a plain mapping.

    Attributes
    ----------
    one_error : float
        Part of the examples with a relevant label whose top label is not relevant; 0 is best.
    coverage : float
        How many labels to go down the ranking, from 1, to have seen all relevant ones; the mean number of relevant
        labels is best.
    ranking_loss : float
        Part of the pairs of a relevant and another label that are in the wrong order, or equal; 0 is best.
    average_precision : float
        Among the labels down to each relevant one, the part that is relevant; 1 is best.
    """

    one_error: float
    coverage: float
    ranking_loss: float
    average_precision: float

    def keys(self) -> Iterator[str]:
        """The names of the measures.

        Returns
        -------
        names : iterator of str
            In the order of the fields.
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
    Coverage is scikit-learn's: the rank, from 1, of the last relevant label, and 0 for an example that has none; papers
    that count from 0 report one less where every example has a relevant label. An example none or all of whose labels
    are relevant has ranking loss 0 and average precision 1. Equal scores count as badly ordered in all but the
    one-error, where the first of the highest is on top. Without any relevant label the one-error is 0.

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
            f"Y and scores must have the same shape, one row an example; got {indicator.shape} and {numbers.shape}"
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
