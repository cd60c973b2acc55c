"""Methods of the sequence tagger for the probabilities of labels."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from onmargin._core.turns import TakingTurns
from onmargin.models.chain import Chain


def calibrate(self: Any, X: Any, y: Any, *, lengths: ArrayLike | None = None) -> Any:
    """Calibrate the temperature of `predict_marginals` on held-out sequences, by maximum likelihood.

    The scores of a margin-based learner tell which labels are best, not how probable they are: with too low a
    temperature the probabilities are overconfident.

    Parameters
    ----------
    X : list of sequences, or {array-like, sparse matrix} of shape (n_tokens, n_features)
        Sequences that the tagger was not trained on.
    y : list of lists of labels
        Their labels, which must be known.
    lengths : array-like of shape (n_sequences,), default=None
        If X is a matrix, the number of tokens of each sequence.

    Returns
    -------
    self : object
        The tagger, with ``temperature_``.
    """
    check_is_fitted(self)
    with TakingTurns(self):
        rows, ends = self._read(X, lengths, grow=False)
        labels = self._check_labels(y, ends, ())
        codes = np.array([self._codes.get(label, -1) for row in labels for label in row], dtype=np.int32)
        if (codes < 0).any():
            strange = next(label for row in labels for label in row if label not in self._codes)
            raise ValueError(f"y has the label {strange!r}, which the tagger has not learned: leave such sequences out")
        if not len(codes):
            raise ValueError("calibrate needs at least one token")
        self.temperature_ = Chain(self._model).temperature(rows, ends, codes)
    return self


def predict_marginals(self: Any, X: Any, *, lengths: ArrayLike | None = None) -> list[NDArray[np.float64]]:
    """Return the probability of each label of each token, over all labelings of its sequence.

    A labeling z has probability proportional to ``exp(score(z) / temperature_)``; its marginals are computed by the
    forward-backward algorithm. Call `calibrate` with held-out sequences first: without it the temperature is 1, and the
    probabilities are not calibrated. With ``combine="hedge"`` they are those of the leading model.

    Parameters
    ----------
    X : list of sequences, or {array-like, sparse matrix} of shape (n_tokens, n_features)
        As in `fit`.
    lengths : array-like of shape (n_sequences,), default=None
        If X is a matrix, the number of tokens of each sequence.

    Returns
    -------
    marginals : list of ndarray of shape (n_tokens, n_classes)
        One row per token, one column per label of ``classes_``; rows sum to 1.
    """
    check_is_fitted(self)
    with TakingTurns(self):
        rows, ends = self._read(X, lengths, grow=False)
        shares, _ = Chain(self._model).marginals(rows, ends, 1 / vars(self).get("temperature_", 1.0))
    return [shares[start:stop] for start, stop in pairwise(ends.tolist())]


def labels_proba_one(self: Any, sequence: Any, labels: Any) -> float:
    """Return the probability that the tokens of a sequence have the given labels.

    Use it for the confidence of a span, with None for the tokens outside it, or of a labeling returned by `decode`.

    Parameters
    ----------
    sequence : list of tokens
        As an item of X in `fit`.
    labels : list
        One label per token; None where any label is allowed.

    Returns
    -------
    probability : float
        Sum over all labelings with these labels. See `predict_marginals` for the temperature.
    """
    check_is_fitted(self)
    labels = list(labels)
    if strange := [label for label in labels if label is not None and label not in self._codes]:
        raise ValueError(f"labels must be known, or None; got {strange[0]!r}")
    with TakingTurns(self):
        rows, ends = self._read([sequence], None, grow=False)
        if len(labels) != ends[-1]:
            raise ValueError(f"labels must be one per token, {ends[-1]}; got {len(labels)}")
        codes = np.array([-1 if label is None else self._codes[label] for label in labels], dtype=np.int32)
        chain, scale = Chain(self._model), 1 / vars(self).get("temperature_", 1.0)
        _, every = chain.marginals(rows, ends, scale)
        _, these = chain.marginals(rows, ends, scale, codes)
    return float(np.exp(min(these[0] - every[0], 0.0)))
