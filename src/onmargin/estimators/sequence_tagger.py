"""Tagging sequences by a linear chain that keeps learning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from itertools import chain, pairwise
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from onmargin._checks import check_classes
from onmargin._core.geometries.chain import EdgePaths
from onmargin._core.restore import whole
from onmargin._core.rows import Rows
from onmargin._core.text.names import Names
from onmargin._core.turns import TakingTurns
from onmargin.estimators._chain_probabilities import calibrate, labels_proba_one, predict_marginals
from onmargin.estimators._checks import check_weight
from onmargin.estimators._estimator import Estimator, RestorePoint, max_iter, tol
from onmargin.estimators._sequences import (
    LabelLists,
    TokenRows,
    check_kinds,
    check_lengths,
    is_matrix,
    label_segments,
    read_labels,
    read_matrix,
    read_named,
)
from onmargin.features.records import RecordFeatures
from onmargin.learner import Offsets, Vector
from onmargin.models.chain import Chain, ChainStanding, TaggerOptions, transition_coef_of, transitions_of
from onmargin.models.columns import check_known
from onmargin.models.described import described
from onmargin.models.plan import Model, Plan, Shape
from onmargin.models.rules import Number
from onmargin.models.several import grid, names_of


@described
@dataclass(kw_only=True, eq=False, repr=False)
class SequenceTagger(Estimator, TaggerOptions):
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
    sweep_ : ChainStanding
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

    if TYPE_CHECKING:
        _names: Names | None = field(init=False)  # None if X is a matrix
        _codes: dict[Any, int] = field(init=False)
        _chosen_by: str | tuple[str, ...] | None = field(init=False)  # the transition_features at the start of training
        _n_asked: int = field(init=False)  # number of features checked for being transition features

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
        with self._all_or_nothing() as plan:
            if self._go_on():
                self._model.adopt(plan)
            else:
                self._begin_chain(X, self.plan(averaged=True))
            rows, ends, labels, weight = self._read_examples(X, y, lengths, sample_weight)
            self._meet(set().union(*(row for i, row in enumerate(labels) if weight is None or weight[i] > 0)))
            self._ask_for_labels("fit")
            self._make_room(rows.n_features)
            self._model.arrange(self.classes_.tolist())
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
        with self._in_stretches() as (plan, point):
            if "_model" in vars(self):
                self._model.adopt(plan)
            else:
                self._begin_chain(X, plan)
            named = [] if classes is None else check_classes(classes).tolist()
            rows, ends, labels, weight = self._read_examples(X, y, lengths, sample_weight, named)
            self._meet(named)
            self.n_iter_ = 1
            self._learn_in_order(point, rows, ends, labels, weight)
            self._ask_for_labels("partial_fit")
            self._make_room(rows.n_features)
            self.n_features_in_ = rows.n_features
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
        if "_model" in vars(self):
            self._check_kind([sequence])
        _, ends = read_named([sequence], Names(), grow=True, separator=self.separator)
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
        return list(dict.fromkeys(chain.from_iterable(map(self.features_.read, sequence))))

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
        for name, value in self.features_.read(tokens[place]).items():
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
        self._fitted()
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
    def sweep_(self) -> ChainStanding:
        """Mistakes, losses, costs and weights of the chains of all values of C."""
        model = self._chain().model
        model.warn_if_alike()
        fixed = model.fixed
        return self._chain().standing(names_of(grid(self.C) if fixed is None else fixed["C"]), self.n_features_in_)

    def _chain(self) -> Chain:
        self._fitted()
        return Chain(self._model)

    def _edges(self) -> EdgePaths:
        leader = self._chain().leader
        if not isinstance(leader, EdgePaths):
            raise AttributeError("no features weigh the transitions: set transition_features before learning")
        return leader

    @contextmanager
    def _all_or_nothing(self) -> Iterator[Any]:
        """Also remove new names if anything raises."""
        with TakingTurns(self):
            names = getattr(self, "_names", None)
            known = 0 if names is None else len(names)
            with super()._all_or_nothing() as plan:
                try:
                    yield plan
                except BaseException:
                    if names is not None:
                        names.forget(known)
                    raise

    def _check_model(self, plan: Plan) -> None:
        temperature = vars(self).get("temperature_", 1.0)
        if not (isinstance(temperature, float) and 0 < temperature < inf):
            raise ValueError(f"temperature_ must be a number greater than 0 and less than inf; got {temperature!r:.60}")
        labels = check_known(self.classes_)
        if self._codes != {label: code for code, label in enumerate(labels)}:
            raise ValueError(f"codes must be those of the labels; got {self._codes!r:.200}")
        if not isinstance(self._names, Names | None):
            raise ValueError(f"names of features are a {type(self._names).__name__}")
        begun = copy(self)  # with the transition features that it began with
        begun.transition_features = self._chosen_by
        begun._check_parameters()
        self._model.check(begun.plan(), labels, meet=lambda twin: Chain(twin).meet([], len(labels)))

    def _check_width(self, n_features: int) -> None:
        known = whole(self.n_features_in_, "n_features_in_", most=n_features)
        whole(self._n_asked, "_n_asked", most=n_features)
        if self._names is not None and len(self._names) != known:
            raise ValueError(f"there are {len(self._names)} names for {known} features")

    @contextmanager
    def _in_stretches(self) -> Iterator[Any]:
        """Also remove names that were not learned if anything raises; without a label nothing was learned."""
        with TakingTurns(self):
            before = dict(vars(self))
            try:
                with super()._in_stretches() as both:
                    yield both
                self._drop_hidden()
            except BaseException:
                self._drop_hidden()
                if not vars(self).get("_codes"):
                    self.__dict__ = before
                names = vars(self).get("_names")
                if names is not None:
                    names.forget(self.n_features_in_)
                raise

    def _begin_chain(self, X: Any, plan: Plan) -> None:
        """Begin an untrained chain; features and labels are added as they appear."""
        self._names = None if is_matrix(X) else Names()
        self.n_features_in_ = 0
        self.classes_ = np.array([], dtype=object)
        self._codes = {}
        self.__dict__.pop("temperature_", None)  # the temperature of the previous chain
        self._chosen_by, self._n_asked = self.transition_features, 0
        if self._names is None and self._chosen_by not in (None, "all"):
            raise ValueError(
                f"transition_features must be 'all' or None for a matrix, whose features have no names; got "
                f"{self.transition_features!r}"
            )
        # There is one column without a label until the first label appears.
        self._model = Model.begin(plan, Shape(0, np.float64, sparse=True))

    def _read(self, X: Any, lengths: ArrayLike | None, *, grow: bool) -> tuple[Rows, Offsets]:
        """Return the tokens as rows, and the offsets of the sequences; X must be of the same kind as the first X."""
        self._check_kind(X)
        if isinstance(X, TokenRows):
            if X.names is not self._names:
                raise ValueError("X was read by another tagger, or before this one was fitted again: read it again")
            return X.rows.widened(len(X.names)), X.ends
        if self._names is not None:
            if lengths is not None:
                raise ValueError(
                    "lengths= belongs to a matrix of tokens; a list of sequences already has their lengths"
                )
            return read_named(X, self._names, grow=grow, separator=self.separator)
        rows, ends = read_matrix(X, lengths)
        if rows.n_features < self.n_features_in_ or (rows.n_features > self.n_features_in_ and not grow):
            raise ValueError(f"X has {rows.n_features} features, and this tagger has {self.n_features_in_}")
        return rows, ends

    def _check_kind(self, X: Any) -> None:
        if is_matrix(X) != (self._names is None):
            learned = "a matrix of tokens" if self._names is None else "features by name"
            raise TypeError(f"this tagger has learned from {learned}: X must be the same, got {type(X).__name__}")

    def _read_examples(
        self, X: Any, y: Any, lengths: ArrayLike | None, sample_weight: ArrayLike | None, named: Iterable[Any] = ()
    ) -> tuple[Rows, Offsets, LabelLists, Vector | None]:
        """Return the tokens, offsets, labels and weights of sequences to learn; `named` are labels given as classes."""
        rows, ends = self._read(X, lengths, grow=True)
        labels = self._check_labels(y, ends, named)
        return rows, ends, labels, check_weight(sample_weight, len(labels))

    def _check_labels(self, y: Any, ends: Offsets, named: Iterable[Any]) -> LabelLists:
        """Return the labels of sequences; refuse labels that do not match the sequences or the known labels."""
        known = getattr(self, "_codes", {})
        labels = read_labels(y, ends, flat=getattr(self, "_names", Names()) is None)
        check_kinds(chain(known, named, *labels))
        if self.update == "max_loss" and self.cost == "hamming":
            check_lengths(ends, len({*known, *named}.union(*labels)))
        return labels

    def _learn_in_order(
        self, point: RestorePoint, rows: Rows, ends: Offsets, labels: LabelLists, weight: Vector | None
    ) -> None:
        """Play one round per sequence; labels and features get weights where they first occur."""
        live = np.ones(len(labels), bool) if weight is None else weight > 0
        segments = list(label_segments(labels, self._codes, live))
        # The weights are copied once for all new labels of the call. No path uses a label before its first occurrence.
        newcomers = {label for _, _, met in segments for label in met}
        if not self._meet(newcomers):
            self._model.arrange(self.classes_.tolist())
        self._hide(newcomers)
        for first, last, met in segments:
            point.advance()
            self._show(met)
            for start, stop in self._learner.stretches(rows, first, last, ends):
                point.advance()
                part, offsets = rows.part(ends[start], ends[stop]), ends[start : stop + 1] - ends[start]
                width = rows.n_features if self._names is None else part.width()
                self._make_room(width)
                self.n_features_in_ = max(self.n_features_in_, width)
                self._learner.learn(
                    part.widened(self._learner.geometry.n_features),
                    self._targets(labels[start:stop]),
                    None if weight is None else weight[start:stop],
                    trials=offsets,
                    targets=offsets,
                )

    def _meet(self, labels: Iterable[Any]) -> bool:
        """Give new labels weights of zero; return whether there are any."""
        known = self.classes_.tolist()
        classes = sorted({*known, *labels})
        if len(classes) == len(known):
            return False
        codes = {label: code for code, label in enumerate(classes)}
        Chain(self._model).meet([codes[label] for label in known], len(classes))
        self.classes_, self._codes = np.array(classes), codes
        self._model.arrange(classes)
        return True

    def _hide(self, labels: set[Any]) -> None:
        """Exclude labels from all paths that have weights but have not occurred yet."""
        self._hidden = frozenset(labels)
        Chain(self._model).hide([self._codes[label] for label in labels])

    def _show(self, labels: set[Any]) -> None:
        """Allow paths through labels that were hidden."""
        self._hidden -= labels
        Chain(self._model).show([self._codes[label] for label in labels])

    def _drop_hidden(self) -> None:
        """Remove the weights of labels that are still hidden, because the call ended before they occurred."""
        hidden = self.__dict__.pop("_hidden", frozenset())
        if hidden:
            met = [label for label in self._codes if label not in hidden]
            if met:
                Chain(self._model).keep([self._codes[label] for label in met], len(self._codes))
            self.classes_, self._codes = np.array(met), {label: code for code, label in enumerate(met)}
            self._model.arrange(met)

    def _ask_for_labels(self, call: str) -> None:
        if not self._codes:
            raise ValueError(
                f"{call} got no labels: every sequence is empty or has weight 0. Pass at least one with tokens."
            )

    def _make_room(self, n_features: int) -> None:
        """Allocate weights for `n_features` features, and some more."""
        Chain(self._model).make_room(n_features)
        if self._chosen_by is not None and n_features > self._n_asked:
            self._learner.geometry.choose(self._n_asked, self._chosen(self._n_asked, n_features))
            self._n_asked = n_features

    def _chosen(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Return which of these features are also transition features."""
        if self._names is None or self._chosen_by == "all":
            return np.ones(stop - start, dtype=bool)
        prefixes = tuple(self._chosen_by or ())
        return np.array([name.startswith(prefixes) for name in self._names.names[start:stop]], dtype=bool)

    def _targets(self, labels: LabelLists) -> Vector:
        """Return the columns of the labels; unknown labels occur only in skipped sequences and do not matter."""
        return np.array([self._codes.get(label, 0) for row in labels for label in row], dtype=np.float64)
