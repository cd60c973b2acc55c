"""Tagging sequences by a linear chain that keeps learning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from onmargin._checks import check_classes
from onmargin._core.turns import TakingTurns
from onmargin.estimators._chain_sweep import ChainSweep
from onmargin.estimators._sequences import read_labels
from onmargin.models.rules import Number


class SequenceTagger(ChainSweep):
    r"""Tagger of sequences: a passive-aggressive linear chain that learns online and goes on learning.

    A sequence :math:`x = (x_1, \dots, x_m)` of tokens, each a few features out of many, is labelled by

    .. math::
        \hat y = \arg\max_z s(z), \qquad s(z) = \sum_i W_{z_i} \cdot x_i + \sum_{i > 1} T_{z_{i-1} z_i},

    found by Viterbi's algorithm. A wrong labelling moves the weights to the solution of

    .. math::
        \min_{W, T} \tfrac12 \|(W, T) - (W_t, T_t)\|^2 + C\,\xi \quad\text{s.t.}\quad
        s(y) \ge s(q) + \sqrt{\rho(y, q)} - \xi,

    where :math:`\rho` counts the wrong tokens and q is the labelling to be beaten (`update`).

    Use it to tag words, chunks, names or any steps in a row where the labels of neighbours matter: it learns a sequence
    at a time, meets new features and new labels whenever they come, and needs no corpus in memory. Where labels of
    neighbours do not matter, :class:`PassiveAggressiveClassifier` on the tokens is simpler. Where probabilities of
    labels are needed, a conditional random field has them and this has none.

    Parameters
    ----------
    C : float, sequence of float or "auto", default=1.0
        Aggressiveness, above 0: a bound on the step. Smaller is more cautious; inf makes every update plain PA. Several
        values: a chain for each, all learned in one pass; "auto" is a grid of nine from 0.001 to 10. Not with
        "perceptron", which has none.
    loss : "hinge" or "squared_hinge", default="hinge"
        How slack is paid for: linearly (PA-I) or squared (PA-II).
    update : "prediction", "max_loss" or "perceptron", default="prediction"
        The labelling to be beaten: the predicted one, or the one of largest loss, which also teaches from sequences
        that are labelled right by too small a margin. "perceptron" takes a step of 1 against a wrong prediction.
    cost : "hamming" or "squared_hamming", default="hamming"
        :math:`\rho`: the number of wrong tokens, or its square, which asks for a margin of 1 for each. With
        "max_loss", "hamming" takes time and memory that grow with the square of a sequence's length.
    label_cost : dict, array-like of shape (n_classes, n_classes) or None, default=None
        What a wrong token counts: 1; by its right label {label: cost}, 1 for those left out; or by its right and its
        predicted label, in the order of ``classes_``. "max_loss" needs the "squared_hamming" sum then.
    transition_features : None, "all" or tuple of str, default=None
        Features of a token that also weigh the step to it from the label before: those whose names start with one of
        these strings, or all. Each takes n_classes² weights: 20 labels and 100,000 features fill a third of a GB, twice
        that with averaging. What a tagger began with it keeps until it is fitted anew.
    separator : str or None, default=":"
        In tokens that are lists of strings, what is between a feature's name and its value: "length:3". Without a
        number after it, or after a backslash, it is a part of the name. None: all of a string is the name.
    fit_intercept : bool, default=True
        Whether every token has one more feature of constant value.
    intercept_scaling : "auto" or float, default="auto"
        That value, above 0. "auto" is 0.3 times the norm of the first token that is not empty, then fixed.
    max_iter : int, default=10
        Most passes that `fit` makes. `partial_fit` makes one.
    tol : float or None, default=None
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss was not better by `tol` than the best
        before. None: all `max_iter` passes are made.
    n_iter_no_change : int, default=5
        Passes without improvement that end `fit`.
    shuffle : bool, default=True
        Whether `fit` shuffles the sequences before each pass. `partial_fit` never does.
    verbose : int, default=0
        Above 0: `fit` prints a line a pass.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights it finds.
    average : bool, int or None, default=None
        Whether to predict with the mean of the weights after each sequence; an integer above 1 is the sequence it
        starts at. None: if `fit` comes first, and not if `partial_fit` or `learn_one` does. What a tagger began with it
        keeps until it is fitted anew.
    combine : {"leader", "hedge"}, default="leader"
        With several C, label by that of the least cost so far, or each token by a vote of all that AdaHedge weighs.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features for each label.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts, in score units.
    transitions_ : ndarray of shape (n_classes, n_classes)
        Weights from a token's label (row) to the next one's (column).
    transition_coef_ : ndarray of shape (n_classes, n_classes, n_transition_features)
        Weights of the `transition_features` of a token from the label before (first index) to its own (second).
    transition_feature_names_ : list of str
        Names of those features. Not there if X was a matrix.
    sweep_ : ChainStanding
        With several C: mistakes, losses, cost, vote and weights of each; ``coef_`` and the others are of the leader.
    feature_names_ : list of str
        Names of the features, in the order of ``coef_``. Not there if X was a matrix.
    n_features_in_ : int
        Number of features.
    n_iter_ : int
        Passes made by the last call.
    t_ : float
        One plus the number of sequences learned.
    totals_ : Totals
        Rounds (sequences), mistakes (sequences not labelled right), updates, losses, dual value, cost (the sum of
        :math:`\rho`) and the largest squared norm of a difference :math:`\Phi(x, y) - \Phi(x, q)` that was learned.

    See Also
    --------
    StructuredPredictor : For structures other than chains.
    onmargin.evaluate.tagging_report : Accuracy and F1 of spans.

    Notes
    -----
    [JMLR] sec. 9. A sequence of m tokens and k labels costs O(k non-zeros + m k²), k² for each non-zero that weighs
    steps, and "max_loss" with "hamming" O(m² k²).

    With :math:`R^2` the largest squared norm of a difference, PA-II's cost is for any weights u at most

    .. math:: \sum_t \rho(y_t, \hat y_t) \le \left(R^2 + \tfrac{1}{2C}\right)
        \left(\|u\|^2 + 2 C \sum_t \ell^*_t{}^2\right),

    :math:`\ell^*_t` being the max-loss of u; PA's is at most :math:`R^2 \|u\|^2` if u loses nothing.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.

    Examples
    --------
    >>> from onmargin import SequenceTagger
    >>> def tokens(sentence):
    ...     return [[f"word={word}", f"end={word[-1]}"] for word in sentence.split()]
    >>> X = [tokens("the dog barks"), tokens("a cat sleeps"), tokens("dogs bark"), tokens("a dog sees the cat")]
    >>> y = ["DET NOUN VERB".split(), "DET NOUN VERB".split(), "NOUN VERB".split(), "DET NOUN VERB DET NOUN".split()]
    >>> tagger = SequenceTagger(update="max_loss", random_state=0).fit(X, y)
    >>> tagger.predict_one(tokens("the cat jumps"))
    ['DET', 'NOUN', 'VERB']
    >>> tagger = tagger.learn_one(tokens("oh dogs"), ["INTJ", "NOUN"])
    >>> tagger.classes_.tolist()
    ['DET', 'INTJ', 'NOUN', 'VERB']
    """

    def __init__(
        self,
        *,
        C: float | Sequence[float] | str = 1.0,
        loss: str = "hinge",
        update: str = "prediction",
        cost: str = "hamming",
        label_cost: Mapping[Any, float] | ArrayLike | None = None,
        transition_features: str | tuple[str, ...] | None = None,
        separator: str | None = ":",
        fit_intercept: bool = True,
        intercept_scaling: float | str = "auto",
        max_iter: int = 10,
        tol: float | None = None,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        average: bool | int | None = None,
        combine: str = "leader",
    ) -> None:
        self.C = C
        self.loss = loss
        self.update = update
        self.cost = cost
        self.label_cost = label_cost
        self.transition_features = transition_features
        self.separator = separator
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average
        self.combine = combine

    def fit(self, X: Any, y: Any, *, lengths: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all sequences in several passes; their features are looked up once.

        Parameters
        ----------
        X : list of sequences, or {array-like, sparse matrix} of shape (n_tokens, n_features)
            A sequence is a list of tokens. A token is a dict {feature: number or string} or a list of feature names,
            each of value 1 or "name:value".
        y : list of lists of labels
            One label for each token, all strings or all integers. For a matrix also one list for all tokens.
        lengths : array-like of shape (n_sequences,), default=None
            For a matrix: the number of tokens of each sequence.
        sample_weight : array-like of shape (n_sequences,), default=None
            Factors on C; a sequence of weight 0 is skipped.

        Returns
        -------
        self : object
            The fitted tagger.
        """
        with self._all_or_nothing():
            self._check_combination()
            if not self._go_on():
                self._begin_chain(X, average=int(self.average is None or self.average))
            rows, ends, labels, weight = self._read_examples(X, y, lengths, sample_weight)
            self._meet(set().union(*(row for i, row in enumerate(labels) if weight is None or weight[i] > 0)))
            self._check_labels("fit")
            self._make_room(rows.n_features)
            self._prepare()
            self.n_features_in_ = rows.n_features
            rows = rows.widened(self._learner.geometry.n_features)
            self._run_passes(rows, self._targets(labels), weight, trials=ends, targets=ends)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        *,
        lengths: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn these sequences in the given order, one round each. How a stream is cut into calls does not matter.

        Parameters
        ----------
        X : list of sequences, or {array-like, sparse matrix} of shape (n_tokens, n_features)
            As in `fit`. Features not met before are added; a matrix may be wider than those before.
        y : list of lists of labels
            As in `fit`. Labels not met before are learned from where they first occur.
        classes : array-like of shape (n_classes,), default=None
            Labels to count with from the start.
        lengths : array-like of shape (n_sequences,), default=None
            For a matrix: the number of tokens of each sequence.
        sample_weight : array-like of shape (n_sequences,), default=None
            Factors on C; a sequence of weight 0 is skipped.

        Returns
        -------
        self : object
            The tagger, having learned.
        """
        with self._all_or_nothing():
            self._check_combination()
            if not hasattr(self, "_learner"):
                self._begin_chain(X, average=int(self.average or 0))
            named = [] if classes is None else check_classes(classes).tolist()
            rows, ends, labels, weight = self._read_examples(X, y, lengths, sample_weight, named)
            self._meet(named)
            self._learn_in_order(rows, ends, labels, weight)
            self._check_labels("partial_fit")
            self._make_room(rows.n_features)
            self.n_features_in_ = rows.n_features
            self.n_iter_ = 1
        return self

    def learn_one(self, sequence: Any, labels: Any) -> Self:
        """Learn one sequence.

        Parameters
        ----------
        sequence : list of tokens
            As an item of X in `fit`.
        labels : list of labels
            One for each token.

        Returns
        -------
        self : object
            The tagger, having learned.
        """
        return self.partial_fit([sequence], [labels])

    def predict(self, X: Any, *, lengths: ArrayLike | None = None) -> list[list[Any]]:
        """The best labels of each sequence; features that were never learned count nothing.

        Parameters
        ----------
        X : list of sequences, or {array-like, sparse matrix} of shape (n_tokens, n_features)
            As in `fit`.
        lengths : array-like of shape (n_sequences,), default=None
            For a matrix: the number of tokens of each sequence.

        Returns
        -------
        labels : list of lists of labels
            One label for each token.
        """
        check_is_fitted(self)
        with TakingTurns(self):  # features read by name must have weights
            rows, ends = self._read(X, lengths, grow=False)
            classes, path = self.classes_.tolist(), self._paths(rows, ends).tolist()
        labels = [classes[code] for code in path]
        return [labels[start:stop] for start, stop in pairwise(ends.tolist())]

    def predict_one(self, sequence: Any) -> list[Any]:
        """The best labels of one sequence.

        Parameters
        ----------
        sequence : list of tokens
            As an item of X in `fit`.

        Returns
        -------
        labels : list of labels
            One for each token.
        """
        return self.predict([sequence])[0]

    def decode(
        self, X: Any, n_best: int = 1, *, lengths: ArrayLike | None = None
    ) -> list[list[tuple[float, list[Any]]]]:
        """The best few labellings of each sequence, with their scores.

        Parameters
        ----------
        X : list of sequences, or {array-like, sparse matrix} of shape (n_tokens, n_features)
            As in `fit`.
        n_best : int, default=1
            How many; fewer come where there are not so many.
        lengths : array-like of shape (n_sequences,), default=None
            For a matrix: the number of tokens of each sequence.

        Returns
        -------
        labellings : list of lists of (score, labels)
            For each sequence, best first. With ``combine="hedge"`` a score is the sum of the votes for the labels.
        """
        check_is_fitted(self)
        if not Number(1, whole=True).accepts(n_best):
            raise ValueError(f"n_best must be an integer of at least 1, got {n_best!r}")
        with TakingTurns(self):
            rows, ends = self._read(X, lengths, grow=False)
            classes, best = self.classes_.tolist(), list(self._best_paths(rows, ends, n_best))
        return [
            [(float(score), [classes[code] for code in path]) for score, path in zip(scores, paths, strict=True)]
            for scores, paths in best
        ]

    def score(self, X: Any, y: Any, *, lengths: ArrayLike | None = None) -> float:
        """The part of the tokens that get their right label.

        Parameters
        ----------
        X : list of sequences, or {array-like, sparse matrix} of shape (n_tokens, n_features)
            As in `fit`.
        y : list of lists of labels
            As in `fit`.
        lengths : array-like of shape (n_sequences,), default=None
            For a matrix: the number of tokens of each sequence.

        Returns
        -------
        accuracy : float
            Between 0 and 1.
        """
        check_is_fitted(self)
        with TakingTurns(self):
            rows, ends = self._read(X, lengths, grow=False)
            labels = read_labels(y, ends, flat=self._names is None)
            if ends[-1] == 0:
                raise ValueError("X has no tokens: the part of them that is right needs at least one")
            right = [self._codes.get(label, -1) for row in labels for label in row]
            return float(np.mean(self._paths(rows, ends) == right))

    def weights(self, label: Any, top: int | None = None) -> dict[Any, float]:
        """The weights of a label by feature, heaviest first, those of zero left out.

        Parameters
        ----------
        label : object
            One of ``classes_``.
        top : int or None, default=None
            How many; None: all.

        Returns
        -------
        weights : dict
            {feature: weight}; a feature of a matrix goes by its number.
        """
        check_is_fitted(self)
        return self._heaviest(label, top)
