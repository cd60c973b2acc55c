"""Tagging sequences by a linear chain that keeps learning."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from onmargin._checks import check_classes
from onmargin._core.text.names import Names
from onmargin._core.turns import TakingTurns
from onmargin.estimators._chain_learner import ChainLearner
from onmargin.estimators._chain_probabilities import calibrate, labels_proba_one, predict_marginals
from onmargin.estimators._checks import check_weight
from onmargin.estimators._estimator import max_iter, tol
from onmargin.estimators._sequences import TokenRows, read_labels, read_named
from onmargin.features.records import RecordFeatures
from onmargin.learner import Vector
from onmargin.models.chain import Chain, ChainResults, transition_coef_of, transitions_of
from onmargin.models.described import described
from onmargin.models.ensemble import grid, names_of
from onmargin.models.rules import Number


@described
@dataclass(kw_only=True, eq=False, repr=False)
class SequenceTagger(ChainLearner):
    r"""Sequence labeling with a passive-aggressive linear chain, trained online.

    A sequence :math:`x = (x_1, \dots, x_m)` of tokens with sparse features is labeled by

    .. math::
        \hat y = \arg\max_z s(z), \qquad s(z) = \sum_i W_{z_i} \cdot x_i + \sum_{i > 1} T_{z_{i-1} z_i},

    computed by the Viterbi algorithm. A wrong labeling moves the weights to the solution of

    .. math::
        \min_{W, T} \tfrac12 \|(W, T) - (W_t, T_t)\|^2 + C\,\xi \quad\text{s.t.}\quad
        s(y) \ge s(q) + \sqrt{\rho(y, q)} - \xi,

    where :math:`\rho` counts the wrong tokens and q is the labeling to update against (`update`).

    Use it to tag words, chunks, names or any other sequence in which the labels of neighbors matter: it learns one
    sequence at a time, accepts new features and labels at any time, and does not need the corpus in memory. If the
    labels of neighbors do not matter, :class:`PassiveAggressiveClassifier` on the tokens is simpler. Its scores are not
    probabilities: if you need those, use `calibrate` and `predict_marginals`, or a conditional random field.

    Parameters
    ----------
    max_iter : int, default=10
        Maximum number of passes that `fit` makes. `partial_fit` makes one pass.
    tol : float or None, default=None
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss did not improve on the best so far by at
        least `tol`. If None, all `max_iter` passes are made.
    shuffle : bool, default=True
        Whether `fit` shuffles the sequences before each pass. `partial_fit` never shuffles.

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
        Weights of the `transition_features` of a token, by the previous label (first index) and its own label (second).
    transition_feature_names_ : list of str
        Names of the `transition_features`. Not available if X was a matrix.
    temperature_ : float
        Temperature of `predict_marginals`. Only available after `calibrate`.
    grid_ : ChainResults
        With several values of C: mistakes, losses, cost, vote and weights of each chain; ``coef_`` and the other
        attributes are those of the leader.
    feature_names_ : list of str
        Names of the features, in the order of ``coef_``. Not available if X was a matrix.
    n_features_in_ : int
        Number of features.
    t_ : float
        One plus the number of sequences learned.
    totals_ : Totals
        Rounds (sequences), mistakes (sequences with a wrong label), updates, losses, dual value, cost (the sum of
        :math:`\rho`) and the largest squared norm of a difference :math:`\Phi(x, y) - \Phi(x, q)` that was learned.

    See Also
    --------
    StructuredPredictor : For structures other than chains.
    onmargin.evaluate.tagging_report : Accuracy and F1 of spans.

    Notes
    -----
    [JMLR] sec. 9. A sequence of m tokens and k labels costs O(k non-zeros + m k²), k² for each non-zero of a transition
    feature, and "max_loss" with "hamming" O(m² k²).

    With :math:`R^2` the largest squared norm of a difference, PA-II's cost is for any weights u at most

    .. math:: \sum_t \rho(y_t, \hat y_t) \le \left(R^2 + \tfrac{1}{2C}\right)
        \left(\|u\|^2 + 2 C \sum_t \ell^*_t{}^2\right),

    where :math:`\ell^*_t` is the max-loss of u; that of PA is at most :math:`R^2 \|u\|^2` if u has no loss.

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

    task: ClassVar[str] = "tag"

    max_iter: int = max_iter(10)
    tol: float | None = tol(None)

    def fit(self, X: Any, y: Any, *, lengths: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the tagger to all sequences, in several passes; features are looked up once.

        Parameters
        ----------
        X : list of sequences, or {array-like, sparse matrix} of shape (n_tokens, n_features)
            A sequence is a list of tokens. A token is a list of feature names, each of value 1, or a dict of features.
            The value of a feature is a number, a string (the feature "name=string"), or a list, set or dict of further
            features, called "name:inner".
        y : list of lists of labels
            One label per token, all strings or all integers. For a matrix, also one list of the labels of all tokens.
        lengths : array-like of shape (n_sequences,), default=None
            If X is a matrix, the number of tokens of each sequence.
        sample_weight : array-like of shape (n_sequences,), default=None
            Factors on C; a sequence of weight 0 is skipped.

        Returns
        -------
        self : object
            The fitted tagger.
        """
        with self._start_fitting() as plan:
            if self._go_on():
                self._model.use_plan(plan)
            else:
                self._begin_chain(X, self.plan(averaged=True))
            rows, ends, labels, weight = self._read_examples(X, y, lengths, sample_weight)
            self._add_labels(set().union(*(row for i, row in enumerate(labels) if weight is None or weight[i] > 0)))
            self._ask_for_labels("fit")
            self._make_room(rows.n_features)
            self._model.set_task()
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
        """Learn sequences in the given order, one round each; splitting a stream into calls does not change the result.

        Parameters
        ----------
        X : list of sequences, or {array-like, sparse matrix} of shape (n_tokens, n_features)
            As in `fit`. New features are added; a matrix may be wider than earlier ones.
        y : list of lists of labels
            As in `fit`. New labels are added where they first occur.
        classes : array-like of shape (n_classes,), default=None
            Labels that are classes from the start.
        lengths : array-like of shape (n_sequences,), default=None
            If X is a matrix, the number of tokens of each sequence.
        sample_weight : array-like of shape (n_sequences,), default=None
            Factors on C; a sequence of weight 0 is skipped.

        Returns
        -------
        self : object
            The updated tagger.
        """
        with self._start_learning() as (plan, transaction):
            if self._has_begun:
                self._model.use_plan(plan)
            else:
                self._begin_chain(X, plan)
            named = [] if classes is None else check_classes(classes).tolist()
            ahead = self._read_ahead(X, y, lengths, sample_weight, named)
            if ahead is not None:
                self._add_labels(named)
                self.n_iter_ = 1
                n_features = self._learn_while_reading(transaction, X, *ahead)
            else:
                rows, ends, labels, weight = self._read_examples(X, y, lengths, sample_weight, named)
                self._add_labels(named)
                self.n_iter_ = 1
                self._learn_in_order(transaction, rows, ends, labels, weight)
                n_features = rows.n_features
            self._ask_for_labels("partial_fit")
            self._make_room(n_features)
            self.n_features_in_ = n_features
        return self

    def read(self, X: Any) -> TokenRows:
        """Look up the features of sequences, once for several calls of `partial_fit`.

        Parameters
        ----------
        X : list of sequences
            As in `fit`. Features that were never learned are left out, so learn the sequences first.

        Returns
        -------
        tokens : TokenRows
            Object that `partial_fit` and `predict` of this tagger accept in place of X.
        """
        check_is_fitted(self)
        if self._names is None:
            raise ValueError("read is for features by name: a matrix of tokens is learned as it is")
        with TakingTurns(self):
            rows, ends = self._read(X, None, grow=False)
            return TokenRows(rows, ends, self._names)

    def learn_one(self, sequence: Any, labels: Any) -> Self:
        """Learn one sequence.

        Parameters
        ----------
        sequence : list of tokens
            As an item of X in `fit`.
        labels : list of labels
            One label per token.

        Returns
        -------
        self : object
            The updated tagger.
        """
        return self.partial_fit([sequence], [labels])

    def check_one(self, sequence: Any, labels: Any, weight: float = 1.0) -> Self:
        """Raise the error that `learn_one` would raise for a sequence, without learning it.

        Parameters
        ----------
        sequence : list of tokens
            As an item of X in `fit`.
        labels : list of labels
            One label per token.
        weight : float, default=1.0
            Its factor on C.

        Returns
        -------
        self : object
            The unchanged tagger.
        """
        self._check_parameters()
        if self._has_begun:
            self._check_kind([sequence])
        _, ends = read_named([sequence], Names(), grow=True, separator=self.separator, window=self.window)
        self._check_labels([labels], ends, named=())
        if weight != 1.0:  # the check takes longer than all others together
            check_weight([weight], 1)
        return self

    def names_one(self, sequence: Any) -> list[str]:
        """Return the names of the features of a sequence, known or not.

        Parameters
        ----------
        sequence : list of tokens
            As an item of X in `fit`.

        Returns
        -------
        names : list of str
            The names, each once.
        """
        return list(dict.fromkeys(chain.from_iterable(map(self.features_.read, self._tokens(sequence)))))

    def _tokens(self, sequence: Any) -> Any:
        """Return the features of each token of a sequence."""
        return sequence if self.window is None else self.window(sequence)

    def knows(self, name: str) -> bool:
        """Return whether a feature with this name was learned.

        Parameters
        ----------
        name : str
            The name, as returned by `names_one`.

        Returns
        -------
        known : bool
            Always False if features are columns of a matrix.
        """
        names = vars(self).get("_names")
        return names is not None and names.get(name) >= 0

    def predict(self, X: Any, *, lengths: ArrayLike | None = None) -> list[list[Any]]:
        """Predict the labels of each sequence; features that were never learned are ignored.

        Parameters
        ----------
        X : list of sequences, or {array-like, sparse matrix} of shape (n_tokens, n_features)
            As in `fit`.
        lengths : array-like of shape (n_sequences,), default=None
            If X is a matrix, the number of tokens of each sequence.

        Returns
        -------
        labels : list of lists of labels
            One label per token.
        """
        check_is_fitted(self)
        with TakingTurns(self):  # features read by name must have weights
            rows, ends = self._read(X, lengths, grow=False)
            classes, path = self.classes_.tolist(), Chain(self._model).paths(rows, ends).tolist()
        labels = [classes[code] for code in path]
        return [labels[start:stop] for start, stop in pairwise(ends.tolist())]

    def predict_one(self, sequence: Any) -> list[Any]:
        """Predict the labels of one sequence.

        Parameters
        ----------
        sequence : list of tokens
            As an item of X in `fit`.

        Returns
        -------
        labels : list of labels
            One label per token.
        """
        return self.predict([sequence])[0]

    def decode(
        self, X: Any, n_best: int = 1, *, lengths: ArrayLike | None = None
    ) -> list[list[tuple[float, list[Any]]]]:
        """Return the `n_best` labelings of each sequence, with their scores.

        Parameters
        ----------
        X : list of sequences, or {array-like, sparse matrix} of shape (n_tokens, n_features)
            As in `fit`.
        n_best : int, default=1
            Number of labelings; fewer are returned if there are not that many.
        lengths : array-like of shape (n_sequences,), default=None
            If X is a matrix, the number of tokens of each sequence.

        Returns
        -------
        labelings : list of lists of (score, labels)
            Labelings of each sequence, best first. With ``combine="hedge"`` a score is the sum of the votes for the
            labels.
        """
        check_is_fitted(self)
        if not Number(1, whole=True).accepts(n_best):
            raise ValueError(f"n_best must be an integer of at least 1, got {n_best!r}")
        with TakingTurns(self):
            rows, ends = self._read(X, lengths, grow=False)
            classes, best = self.classes_.tolist(), list(Chain(self._model).best_paths(rows, ends, n_best))
        return [
            [(float(score), [classes[code] for code in path]) for score, path in zip(scores, paths, strict=True)]
            for scores, paths in best
        ]

    calibrate = calibrate
    predict_marginals = predict_marginals
    labels_proba_one = labels_proba_one

    def score(self, X: Any, y: Any, *, lengths: ArrayLike | None = None) -> float:
        """Return the accuracy over all tokens.

        Parameters
        ----------
        X : list of sequences, or {array-like, sparse matrix} of shape (n_tokens, n_features)
            As in `fit`.
        y : list of lists of labels
            As in `fit`.
        lengths : array-like of shape (n_sequences,), default=None
            If X is a matrix, the number of tokens of each sequence.

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
                raise ValueError("X has no tokens: accuracy needs at least one")
            right = [self._codes.get(label, -1) for row in labels for label in row]
            return float(np.mean(Chain(self._model).paths(rows, ends) == right))

    def weights(self, label: Any, top: int | None = None) -> dict[Any, float]:
        """Return the non-zero weights of a label by feature, largest absolute value first.

        Parameters
        ----------
        label : object
            One of ``classes_``.
        top : int or None, default=None
            Maximum number of weights. If None, all are returned.

        Returns
        -------
        weights : dict
            {feature: weight}; features of a matrix are given by column number.
        """
        check_is_fitted(self)
        if label not in self._codes:
            raise ValueError(f"label must be one of {self.classes_.tolist()}, got {label!r}")
        if not (top is None or Number(1, whole=True).accepts(top)):
            raise ValueError(f"top must be an integer of at least 1, or None, got {top!r}")
        coef = self.coef_[self._codes[label]]
        order = np.argsort(-np.abs(coef), kind="stable")[: np.count_nonzero(coef)][:top]
        return {(int(j) if self._names is None else self._names.names[j]): float(coef[j]) for j in order}

    def explain(self, sequence: Any, token: int, label: Any = None, top: int | None = None) -> dict[Any, float]:
        """Return the contribution of each feature of a token, and of its transitions, to the score of a label.

        Parameters
        ----------
        sequence : list of tokens
            As an item of X in `fit`.
        token : int
            Position of the token in the sequence, from 0; negative positions count from the end.
        label : object, default=None
            One of ``classes_``. If None, the label predicted for the token.
        top : int or None, default=None
            Maximum number of contributions. If None, all that are not zero.

        Returns
        -------
        contributions : dict
            {feature: weight times value}, largest absolute value first, with the intercept as "(intercept)" and the
            transitions from the previous and to the next predicted label as "(from LABEL)" and "(to LABEL)". The
            transitions do not include `transition_features`.
        """
        check_is_fitted(self)
        if self._names is None:
            raise ValueError("explain needs features by name: this tagger has learned from a matrix of tokens")
        if not (top is None or Number(1, whole=True).accepts(top)):
            raise ValueError(f"top must be an integer of at least 1, or None, got {top!r}")
        tokens = list(sequence)
        if not -len(tokens) <= token < len(tokens):
            raise ValueError(f"token must be a place in a sequence of {len(tokens)} tokens; got {token!r}")
        place, labels = token % len(tokens), self.predict_one(tokens)
        label = labels[place] if label is None else label
        if label not in self._codes:
            raise ValueError(f"label must be one of {self.classes_.tolist()}, got {label!r}")
        code, steps, coef = self._codes[label], self.transitions_, self.coef_
        found: dict[Any, float] = {}
        for name, value in self.features_.read(self._tokens(tokens)[place]).items():
            if self.knows(name):
                found[name] = float(coef[code, self._names.get(name)] * value)
        found["(intercept)"] = float(self.intercept_[code])
        if place > 0:
            found[f"(from {labels[place - 1]})"] = float(steps[self._codes[labels[place - 1]], code])
        if place + 1 < len(tokens):
            found[f"(to {labels[place + 1]})"] = float(steps[code, self._codes[labels[place + 1]]])
        order = sorted((name for name in found if found[name] != 0), key=lambda name: -abs(found[name]))
        return {name: found[name] for name in order[:top]}

    def strongest_transitions(self, top: int | None = 10) -> dict[tuple[Any, Any], float]:
        """Return the non-zero weights of transitions from label to label, largest absolute value first.

        Parameters
        ----------
        top : int or None, default=10
            Maximum number of weights. If None, all are returned.

        Returns
        -------
        weights : dict
            {(label, next label): weight}.
        """
        if not (top is None or Number(1, whole=True).accepts(top)):
            raise ValueError(f"top must be an integer of at least 1, or None, got {top!r}")
        steps, classes = self.transitions_, self.classes_.tolist()
        order = np.argsort(-np.abs(steps), axis=None, kind="stable")[: np.count_nonzero(steps)][:top]
        pairs = (divmod(int(place), len(classes)) for place in order)
        return {(classes[a], classes[b]): float(steps[a, b]) for a, b in pairs}

    @property
    def coef_(self) -> Vector:
        """Weights of the features for each label."""
        coef: Vector = self._chain().leader.mean()[0][:, : self.n_features_in_]
        return coef

    @property
    def intercept_(self) -> Vector:
        """Intercepts, in score units."""
        return self._chain().leader.mean()[1]

    @property
    def transitions_(self) -> Vector:
        """Weights from a token's label (row) to the next one's (column)."""
        return transitions_of(self._chain().leader)

    @property
    def transition_coef_(self) -> Vector:
        """Weights of the transition features of a token, by previous label, label and feature."""
        return transition_coef_of(self._edges(), self.n_features_in_)

    @property
    def transition_feature_names_(self) -> list[str]:
        """Names of the transition features, in the order of ``transition_coef_``."""
        chosen = np.flatnonzero(self._edges().places[: self.n_features_in_] >= 0)
        names = self.feature_names_
        return [names[j] for j in chosen]

    @property
    def feature_names_(self) -> list[str]:
        """Names of the features, in the order of ``coef_``."""
        self._check_fitted()
        if self._names is None:
            raise AttributeError("features of a matrix have no names")
        return self._names.names.copy()

    @property
    def features_(self) -> RecordFeatures:
        """How tokens are read into features."""
        return RecordFeatures(separator=self.separator)

    @property
    def models_(self) -> list[str]:
        """Names of the chains trained side by side, one per value of C; empty if there is only one chain."""
        return self.plan().names

    @property
    def grid_(self) -> ChainResults:
        """Mistakes, losses, costs and weights of the chains of all values of C."""
        model = self._chain().model
        model.warn_if_alike()
        fixed = model.fixed
        return self._chain().expert_results(
            names_of(grid(self.C) if fixed is None else fixed["C"]), self.n_features_in_
        )
