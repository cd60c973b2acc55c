"""Rankings of labels by their scores, and their precision."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import label_ranking_average_precision_score

from onmargin.models.label_sets import LabelSets


def ranks_of(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return ranks from 1, the label of highest score; ties are ranked in the order of the labels."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ranks = np.empty(scores.shape, dtype=np.intp)
    np.put_along_axis(ranks, order, np.arange(1, scores.shape[1] + 1)[None], axis=1)
    return ranks


def ranking_precision(
    sets: LabelSets, classes: NDArray[Any], scores: NDArray[np.float64], sample_weight: Any = None
) -> float:
    """Return the label ranking average precision; labels that are not among the classes come last."""
    every, places = np.unique(np.concatenate([classes, sets.labels]), return_inverse=True)
    padded = np.repeat(scores.min(axis=1, keepdims=True, initial=0) - 1, len(every), axis=1)
    padded[:, places[: len(classes)]] = scores
    return float(label_ranking_average_precision_score(sets.matrix(every), padded, sample_weight=sample_weight))
