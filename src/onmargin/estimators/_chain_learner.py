"""The learning of a sequence tagger: it reads tokens, adds labels and features as they appear, and runs rounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, repeat
from math import inf
from time import thread_time
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onmargin._core.background import Background, pays
from onmargin._core.restore import whole
from onmargin._core.rows import Rows
from onmargin._core.text.names import Names
from onmargin.estimators._checks import check_weight
from onmargin.estimators._estimator import Estimator
from onmargin.estimators._fitted_attributes import Classes
from onmargin.estimators._sequences import (
    LabelLists,
    TokenRows,
    check_kinds,
    check_lengths,
    find_ends,
    is_matrix,
    label_segments,
    read_labels,
    read_matrix,
    read_named,
)
from onmargin.features.window import WindowFeatures
from onmargin.learner import Offsets, Vector, threads
from onmargin.models.chain import Chain, TaggerOptions
from onmargin.models.model import Model
from onmargin.models.options import option
from onmargin.models.plan import Plan, Shape
from onmargin.models.rules import N_JOBS, NONE, Instance
from onmargin.transaction import Transaction

# Tokens of a block, of which the next is read while one is learned, and the least number of blocks of a call.
BLOCK, WORTH = 1 << 12, 4
# Weights to copy, per token to read, that take little time compared to reading; and how far to grow ahead, at most.
MOST_COPIED, MOST_ROOM = 64, 4.0


@dataclass(kw_only=True, eq=False, repr=False)
class ChainLearner(Classes, Estimator, TaggerOptions):
    """An estimator of sequences over a linear chain, without its public methods."""

    n_jobs: int | None = option(
        None,
        *N_JOBS,
        text="""
        n_jobs : int or None, default=None
            Maximum number of threads of `partial_fit`; the result does not depend on it. If None or -1, one per core.
            With a long list of sequences, a second thread runs rounds while the next sequences are read, if both take
            long enough.
        """,
    )
    window: WindowFeatures | None = option(
        None,
        NONE,
        Instance(WindowFeatures, "a WindowFeatures"),
        text="""
        window : WindowFeatures or None, default=None
            Templates for the features of tokens that have columns, such as those of CoNLL files. If None, tokens are
            lists of feature names or dicts of features.
        """,
    )

    if TYPE_CHECKING:
        _names: Names | None = field(init=False)  # None if X is a matrix
        _chosen_by: str | tuple[str, ...] | None = field(init=False)  # the transition_features at the start of training
        _n_asked: int = field(init=False)  # number of features checked for being transition features

    def _chain(self) -> Chain:
        self._check_fitted()
        return Chain(self._model)

    def _edges(self) -> Any:
        leader = self._chain().leader
        if not leader.by_row:
            raise AttributeError("no features weigh the transitions: set transition_features before learning")
        return leader

    def _for_prediction(self) -> Self:
        """Return a copy that predicts only, without the names of features that no label has a weight for."""
        other = super()._for_prediction()
        learner, names = other._learner, self._names
        if names is not None and self._chosen_by is None and self._model.combined is None:
            places = np.flatnonzero(learner.geometry.weights[:, : len(names)].any(axis=0))
            learner.geometry = learner.geometry.with_features(places)
            other._names = Names([names.names[k] for k in places])
            other.n_features_in_ = len(places)
        return other

    def _mark_growth(self, transaction: Transaction) -> None:
        if (names := vars(self).get("_names")) is not None:
            transaction.undo_by(partial(names.forget, len(names)))

    def _check_model(self, plan: Plan) -> None:
        temperature = vars(self).get("temperature_", 1.0)
        if not (isinstance(temperature, float) and 0 < temperature < inf):
            raise ValueError(f"temperature_ must be a number greater than 0 and less than inf; got {temperature!r:.60}")
        self._model.labels.check()
        if not isinstance(self._names, Names | None):
            raise ValueError(f"names of features are a {type(self._names).__name__}")
        begun = copy(self)  # with the transition features that it began with
        begun.transition_features = self._chosen_by
        begun._check_parameters()
        self._model.check(begun.plan(), add_labels=lambda twin, labels: Chain(twin).add_labels(labels))

    def _check_width(self, n_features: int) -> None:
        known = whole(self.n_features_in_, "n_features_in_", most=n_features)
        whole(self._n_asked, "_n_asked", most=n_features)
        if self._names is not None and len(self._names) != known:
            raise ValueError(f"there are {len(self._names)} names for {known} features")

    @contextmanager
    def _start_learning(self) -> Iterator[Any]:
        """Also remove names that were not learned if anything raises; without a label nothing was learned."""
        with self._turns:
            before = dict(vars(self))
            try:
                with super()._start_learning() as both:
                    yield both
                self._drop_hidden()
            except BaseException:
                self._drop_hidden()
                if self._has_begun and not self._model.labels.known:
                    self.__dict__ = before
                names = vars(self).get("_names")
                if names is not None:
                    names.forget(self.n_features_in_)
                raise

    def _begin_chain(self, X: Any, plan: Plan) -> None:
        """Begin an untrained chain; features and labels are added as they appear."""
        self._names = None if is_matrix(X) else Names()
        self.n_features_in_ = 0
        self.__dict__.pop("temperature_", None)  # the temperature of the previous chain
        self._chosen_by, self._n_asked = self.transition_features, 0
        if self._names is None and self._chosen_by not in (None, "all"):
            raise ValueError(
                f"transition_features must be 'all' or None for a matrix, whose features have no names; got "
                f"{self.transition_features!r}"
            )
        # There is one column without a label until the first label appears.
        self._model = Model.begin(plan, Shape(0, np.float64, sparse=True), known=np.array([], dtype=object))

    def _read(self, X: Any, lengths: ArrayLike | None, *, grow: bool) -> tuple[Rows, Offsets]:
        """Return the tokens as rows, and the offsets of the sequences; X must be of the same kind as the first X."""
        self._check_kind(X)
        if isinstance(X, TokenRows):
            if X.names is not self._names:
                raise ValueError("X was read by another tagger, or before this one was fitted again: read it again")
            return X.rows.widened(len(X.names)), X.ends  # type: ignore[arg-type]
        if self._names is not None:
            if lengths is not None:
                raise ValueError(
                    "lengths= belongs to a matrix of tokens; a list of sequences already has their lengths"
                )
            return read_named(X, self._names, grow=grow, separator=self.separator, window=self.window)
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
        known = self._model.labels.known if self._has_begun else []
        labels = read_labels(y, ends, flat=getattr(self, "_names", Names()) is None)
        check_kinds(chain(known, named, *labels))
        if self.update == "max_loss" and self.cost == "hamming":
            check_lengths(ends, len({*known, *named}.union(*labels)))
        return labels

    def _read_ahead(
        self, X: Any, y: Any, lengths: ArrayLike | None, sample_weight: ArrayLike | None, named: Iterable[Any]
    ) -> tuple[Offsets, LabelLists, Vector | None] | None:
        """Return the offsets, labels and weights of sequences that may be read while others are learned.

        All is checked, except the tokens. Return None if the call is short, or if anything is wrong: errors in X come
        first.
        """
        if self._names is None or lengths is not None or not isinstance(X, list | tuple) or len(X) < WORTH:
            return None
        ends = None if threads(self.n_jobs) == 1 else find_ends(X, y)
        if ends is None or ends[-1] < WORTH * BLOCK or not self._can_copy(int(ends[-1])):
            return None
        try:
            labels = self._check_labels(y, ends, named)
            return ends, labels, check_weight(sample_weight, len(labels))
        except (TypeError, ValueError):
            return None

    def _can_copy(self, n_tokens: int) -> bool:
        """Return whether copying and growing the weights takes little time compared to reading so many tokens."""
        if self._model.plan.ensemble is not None or self._chosen_by is not None:
            return False
        geometry = self._learner.geometry
        return not self._n_rounds() or geometry.n_features * geometry.n_scores <= MOST_COPIED * n_tokens

    def _learn_while_reading(
        self, transaction: Transaction, X: Any, ends: Offsets, labels: LabelLists, weight: Vector | None
    ) -> int:
        """Learn sequences in blocks; a second thread runs the rounds of a block while the next one is read.

        Return the number of features. Rounds update a copy of the weights: an error in X, or an interrupt, leaves the
        tagger as it was. If a thread does not pay after the first block, the rest is read before it is learned.
        """
        names: Any = self._names
        transaction.drops_rounds = True
        if self._n_rounds():
            self._model.learner = deepcopy(self._learner)
        background, size, stop = None, BLOCK, 0
        try:
            while stop < len(labels):
                start, stop = stop, min(int(np.searchsorted(ends, ends[stop] + size)), len(labels))
                began = thread_time()
                rows, found = read_named(
                    X[start:stop], names, grow=True, separator=self.separator, window=self.window, first=start
                )
                if not np.array_equal(found + ends[start], ends[start : stop + 1]):
                    raise RuntimeError("a sequence of X changed while it was read")
                read = thread_time()
                self._learn_in_order(
                    transaction,
                    rows,
                    found,
                    labels[start:stop],
                    None if weight is None else weight[start:stop],
                    background=background,
                    more=min(ends[-1] / ends[stop], MOST_ROOM),
                )
                if background is None and pays(read - began, thread_time() - read):
                    background = Background()
                elif background is None:
                    size = int(ends[-1])
        finally:
            if background is not None:
                background.close()
        if self._learner.geometry.n_features > 2 * len(names):
            self._learner.geometry = self._learner.geometry.resize(len(names))
        return len(names)

    def _learn_in_order(
        self,
        transaction: Transaction,
        rows: Rows,
        ends: Offsets,
        labels: LabelLists,
        weight: Vector | None,
        *,
        background: Background | None = None,
        more: float = 1.0,
    ) -> None:
        """Run one round per sequence; labels and features get weights where they first occur.

        With `background`, the last rounds may still run when the call returns. `more` is how many times as many
        features there may be at the end of the call: to make room again copies the weights.
        """
        live = np.ones(len(labels), bool) if weight is None else weight > 0
        segments = list(label_segments(labels, self._model.labels.known, live))
        # The weights are copied once for all new labels. No path uses a label before its first occurrence.
        newcomers = {label for _, _, met in segments for label in met}
        if background is not None:
            background.wait()
        self._add_labels(newcomers)
        self._hide(newcomers)
        if rows.n_features > self._learner.geometry.n_features:
            Chain(self._model).make_room(int(more * rows.n_features))
        for first, last, met in segments:
            if background is not None:
                background.wait()
            transaction.commit()
            self._show(met)
            pieces = self._learner.stretches(rows, first, last, ends) if background is None else [(first, last)]
            for start, stop in pieces:
                transaction.commit()
                part, offsets = rows.part(ends[start], ends[stop]), ends[start : stop + 1] - ends[start]
                width = rows.n_features if self._names is None else part.width()
                self._make_room(width)
                self.n_features_in_ = max(self.n_features_in_, width)
                learner = self._learner
                learn = learner.learn if background is None else partial(learner.learn_in, background)
                learn(
                    part.widened(learner.geometry.n_features),
                    self._targets(labels[start:stop]),
                    None if weight is None else weight[start:stop],
                    trials=offsets,
                    targets=offsets,
                )

    @property
    def _codes(self) -> dict[Any, int]:
        """The column of each label."""
        return self._model.labels.by_label

    def _add_labels(self, labels: Iterable[Any]) -> None:
        """Give new labels weights of zero."""
        new = set(labels).difference(self._codes)
        if new:
            Chain(self._model).add_labels(new)
        self._model.set_task()

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
            Chain(self._model).drop_labels(hidden)
            self._model.set_task()

    def _ask_for_labels(self, call: str) -> None:
        if not self._model.labels.known:
            raise ValueError(
                f"{call} got no labels: every sequence is empty or has weight 0. Pass at least one with tokens."
            )

    def _make_room(self, n_features: int) -> None:
        """Allocate weights for `n_features` features, and some more."""
        Chain(self._model).make_room(n_features)
        if self._chosen_by is not None and n_features > self._n_asked:
            self._learner.geometry.choose(self._n_asked, self._choose(self._n_asked, n_features))
            self._n_asked = n_features

    def _choose(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Return which of these features are also transition features."""
        if self._names is None or self._chosen_by == "all":
            return np.ones(stop - start, dtype=bool)
        prefixes = tuple(self._chosen_by or ())
        return np.array([name.startswith(prefixes) for name in self._names.names[start:stop]], dtype=bool)

    def _targets(self, labels: LabelLists) -> Vector:
        """Return the columns of the labels; unknown labels occur only in skipped sequences and do not matter."""
        return np.array(list(map(self._codes.get, chain.from_iterable(labels), repeat(0))), dtype=np.float64)
