"""The chain under a tagger: labels and features that come in the middle of a stream, and decoding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onmargin._core import rounds
from onmargin._core.geometries.chain import EdgePaths, Paths
from onmargin._core.rows import Rows
from onmargin._core.steps.step import Step
from onmargin._core.tasks.sequence import Sequence, decode, decode_best
from onmargin._core.tasks.task import Task
from onmargin._core.text.names import Names
from onmargin._core.turns import TakingTurns
from onmargin.estimators._checks import check_numbers, check_weight
from onmargin.estimators._linear import LinearLearner
from onmargin.estimators._online import OnlineLearner
from onmargin.estimators._sequences import (
    Labels,
    check_kinds,
    check_lengths,
    is_matrix,
    label_segments,
    read_labels,
    read_matrix,
    read_named,
)
from onmargin.learner import Learner, Offsets, Vector
from onmargin.models.columns import intercept_value
from onmargin.models.rules import NOTHING, Character, Number, Rule, Strings, Word
from onmargin.models.updates import RIVALS, check_combination

# Tokens that are scored at a time.
_AT_ONCE = 1 << 16


class ChainLearner(OnlineLearner):
    """An estimator over `Paths`, whose labels and features grow."""

    update: str
    cost: str
    label_cost: Mapping[Any, float] | ArrayLike | None
    transition_features: str | tuple[str, ...] | None
    separator: str | None
    fit_intercept: bool
    intercept_scaling: float | str

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = OnlineLearner._rules | {
        "loss": (Word("hinge", "squared_hinge"),),
        "update": (Word("prediction", "max_loss", "perceptron"),),
        "cost": (Word("hamming", "squared_hamming"),),
        "transition_features": (Word("all"), Strings(), NOTHING),
        "separator": (Character(), NOTHING),
        "fit_intercept": LinearLearner._rules["fit_intercept"],
        "intercept_scaling": LinearLearner._rules["intercept_scaling"],
        "average": (*LinearLearner._rules["average"], NOTHING),
    }

    classes_: NDArray[Any]
    _learner: Learner[Any]
    _names: Names | None  # None: X is a matrix
    _codes: dict[Any, int]
    _chosen_by: str | tuple[str, ...] | None  # the transition_features that it began with
    _n_asked: int  # features of which it is known whether they weigh steps

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        with TakingTurns(self):
            names = getattr(self, "_names", None)
            known = 0 if names is None else len(names)
            with super()._all_or_nothing():
                try:
                    yield
                except BaseException:
                    if names is not None:
                        names.forget(known)
                    raise

    def _read(self, X: Any, lengths: ArrayLike | None, *, grow: bool) -> tuple[Rows, Offsets]:
        """The tokens as rows, and the offsets of the sequences; a tagger keeps to the kind of its first X."""
        matrix = is_matrix(X)
        if matrix != (self._names is None):
            learned = "a matrix of tokens" if matrix is False else "features by name"
            raise TypeError(f"this tagger has learned from {learned}: X must be the same, got {type(X).__name__}")
        if self._names is not None:
            if lengths is not None:
                raise ValueError(
                    "lengths= belongs to a matrix of tokens; a list of sequences says itself how long they are"
                )
            return read_named(X, self._names, grow=grow, separator=self.separator)
        rows, ends = read_matrix(X, lengths)
        if rows.n_features < self.n_features_in_ or (rows.n_features > self.n_features_in_ and not grow):
            raise ValueError(f"X has {rows.n_features} features, and this tagger has {self.n_features_in_}")
        return rows, ends

    def _read_examples(
        self, X: Any, y: Any, lengths: ArrayLike | None, sample_weight: ArrayLike | None, named: Iterable[Any] = ()
    ) -> tuple[Rows, Offsets, Labels, Vector | None]:
        """Sequences to learn: their tokens, offsets, labels and weights; `named` are labels to come."""
        rows, ends = self._read(X, lengths, grow=True)
        labels = read_labels(y, ends, flat=self._names is None)
        check_kinds(chain(self._codes, named, *labels))
        if self.update == "max_loss" and self.cost == "hamming":
            check_lengths(ends, len({*self._codes, *named}.union(*labels)))
        return rows, ends, labels, check_weight(sample_weight, len(labels))

    def _learn_in_order(self, rows: Rows, ends: Offsets, labels: Labels, weight: Vector | None) -> None:
        """One round a sequence; labels and features have weights from where they are first learned."""
        live = np.ones(len(labels), bool) if weight is None else weight > 0
        for start, stop, newcomers in label_segments(labels, self._codes, live):
            self._meet(newcomers)
            self._prepare()
            part, offsets = rows.part(ends[start], ends[stop]), ends[start : stop + 1] - ends[start]
            self._make_room(part.width())
            self._learner.learn(
                part.widened(self._learner.geometry.n_features),
                self._targets(labels[start:stop]),
                None if weight is None else weight[start:stop],
                trials=offsets,
                targets=offsets,
            )

    def _begin_chain(self, X: Any, *, average: int) -> None:
        """A chain that has learned nothing; features and further labels come as they are met."""
        self._names = None if is_matrix(X) else Names()
        self.n_features_in_ = 0
        self.classes_ = np.array([], dtype=object)
        self._codes = {}
        bias = intercept_value(fit=self.fit_intercept, scaling=self.intercept_scaling)
        self._chosen_by, self._n_asked = self.transition_features, 0
        if self._names is None and self._chosen_by not in (None, "all"):
            raise ValueError(
                f"transition_features must be 'all' or None for a matrix, whose features have no names; got "
                f"{self.transition_features!r}"
            )
        # A column without a label, for as long as there is none.
        kind = Paths if self._chosen_by is None else EdgePaths
        geometry = kind(0, 1, np.float64, sparse=True, bias=bias, average=average)
        self._learner = Learner(Task(), self._step(), geometry)

    def _meet(self, labels: Any) -> None:
        """Give new labels weights of zero."""
        known = self.classes_.tolist()
        classes = sorted({*known, *labels})
        if len(classes) > len(known):
            mixing = np.zeros((len(classes), self._learner.geometry.n_columns))
            for column, label in enumerate(known):
                mixing[classes.index(label), column] = 1
            self._learner.geometry = self._learner.geometry.recombined(mixing)
            self.classes_ = np.array(classes)
            self._codes = {label: code for code, label in enumerate(classes)}
            self._prepare()

    def _check_labels(self, call: str) -> None:
        if not self._codes:
            raise ValueError(
                f"{call} met no label: every sequence is empty, or weighs 0. Give one that can be learned."
            )

    def _make_room(self, n_features: int) -> None:
        """Weights for so many features, and some more to come."""
        geometry = self._learner.geometry
        if n_features > geometry.n_features:
            geometry = self._learner.geometry = geometry.resized(max(n_features, 2 * geometry.n_features))
        if self._chosen_by is not None and n_features > self._n_asked:
            geometry.choose(self._n_asked, self._chosen(self._n_asked, n_features))
            self._n_asked = n_features

    def _chosen(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Which of these features weigh the steps to their token too."""
        if self._names is None or self._chosen_by == "all":
            return np.ones(stop - start, dtype=bool)
        prefixes = tuple(self._chosen_by or ())
        return np.array([name.startswith(prefixes) for name in self._names.names[start:stop]], dtype=bool)

    def _targets(self, labels: Labels) -> Vector:
        """The columns of the labels; those never learned, of sequences that are skipped, do not matter."""
        return np.array([self._codes.get(label, 0) for row in labels for label in row], dtype=np.float64)

    def _task(self) -> Task:
        return self._judge()

    def _judge(self) -> Sequence:
        """What a labelling is held to."""
        return Sequence(self._token_cost(), squared=self.cost == "squared_hamming", max_loss=self.update == "max_loss")

    def _step(self) -> Step:
        return RIVALS["perceptron"](self.C) if self.update == "perceptron" else super()._step()

    def _token_cost(self) -> Vector:
        """What predicting a label (column) for another one (row) costs."""
        n, given = len(self._codes), self.label_cost
        cost = 1 - np.eye(n)
        if isinstance(given, Mapping):
            for label, factor in given.items():
                if not Number(0, above=True, below=True).accepts(factor):
                    raise ValueError(f"label_cost must be positive numbers; got {factor!r} for {label!r}")
                if label in self._codes:
                    cost[self._codes[label]] *= factor
        elif given is not None:
            cost = check_numbers(given, "label_cost")
            if cost.shape != (n, n) or (cost[~np.eye(n, dtype=bool)] <= 0).any() or np.diagonal(cost).any():
                raise ValueError(
                    f"label_cost must be positive, 0 on the diagonal, and of shape ({n}, {n}) for the labels "
                    f"{self.classes_.tolist()}; got {given!r}. In partial_fit give classes= in the first call."
                )
        return cost

    def _check_combination(self) -> None:
        check_combination(
            "update='max_loss' with label_cost",
            {"cost='squared_hamming'": self.update != "max_loss" or self.label_cost is None or self.cost != "hamming"},
        )
        check_combination("update='perceptron'", {"loss='hinge'": self.update != "perceptron" or self.loss == "hinge"})

    def _shown(self) -> Paths:
        """The chain whose weights are shown."""
        chain: Paths = self._fitted().geometry
        return chain

    @property
    def coef_(self) -> Vector:
        """Weights of the features for each label."""
        coef: Vector = self._shown().mean()[0][:, : self.n_features_in_]
        return coef

    @property
    def intercept_(self) -> Vector:
        """Intercepts, in score units."""
        return self._shown().mean()[1]

    @property
    def transitions_(self) -> Vector:
        """Weights from a token's label (row) to the next one's (column)."""
        return transitions_of(self._shown())

    @property
    def transition_coef_(self) -> Vector:
        """Weights of the features of a token for the step to it: by label before, label and feature."""
        return transition_coef_of(self._edges(), self.n_features_in_)

    @property
    def transition_feature_names_(self) -> list[str]:
        """Names of the features that weigh steps, in the order of ``transition_coef_``."""
        chosen = np.flatnonzero(self._edges().places[: self.n_features_in_] >= 0)
        names = self.feature_names_
        return [names[j] for j in chosen]

    def _edges(self) -> EdgePaths:
        chain = self._shown()
        if not isinstance(chain, EdgePaths):
            raise AttributeError("no features weigh the transitions: set transition_features before learning")
        return chain

    @property
    def feature_names_(self) -> list[str]:
        """Names of the features, in the order of ``coef_``."""
        self._fitted()
        if self._names is None:
            raise AttributeError("features of a matrix have no names")
        return self._names.names.copy()

    def _heaviest(self, label: Any, top: int | None) -> dict[Any, float]:
        """The weights of a label by feature, heaviest first, those of zero left out."""
        if label not in self._codes:
            raise ValueError(f"label must be one of {self.classes_.tolist()}, got {label!r}")
        if not (top is None or Number(1, whole=True).accepts(top)):
            raise ValueError(f"top must be an integer of at least 1, or None, got {top!r}")
        coef = self.coef_[self._codes[label]]
        order = np.argsort(-np.abs(coef), kind="stable")[: np.count_nonzero(coef)][:top]
        return {(int(j) if self._names is None else self._names.names[j]): float(coef[j]) for j in order}

    def _paths(self, rows: Rows, ends: Offsets) -> NDArray[np.int32]:
        """The best labels of all tokens."""
        at_once = _AT_ONCE if self._chosen_by is None else _AT_ONCE // len(self._codes)
        paths = [
            decode(*self._chain_of(rows, ends[start : stop + 1]), ends[start : stop + 1] - ends[start])
            for start, stop in _pieces(ends, at_once)
        ]
        return np.concatenate([np.zeros(0, np.int32), *paths])

    def _best_paths(self, rows: Rows, ends: Offsets, n: int) -> Iterator[tuple[Vector, NDArray[np.int32]]]:
        """The scores and labels of the n best labellings of each sequence."""
        for i in range(len(ends) - 1):
            yield decode_best(*self._chain_of(rows, ends[i : i + 2]), n)

    def _chain_of(self, rows: Rows, ends: Offsets) -> tuple[Vector, Vector]:
        """Emissions of the tokens of these sequences, and transitions."""
        return chain_scores(self._shown(), self._tokens(rows, ends))

    def _tokens(self, rows: Rows, ends: Offsets) -> Rows:
        """Those of these sequences, with all features that there are weights for."""
        return rows.part(ends[0], ends[-1]).widened(self._learner.geometry.n_features)


def transitions_of(chain: Paths) -> Vector:
    """From label to label."""
    return chain.mean_transitions()[:, : chain.n_columns]


def transition_coef_of(chain: EdgePaths, n_features: int) -> Vector:
    """Weights of steps by label before, label and feature; of so many features those that have any."""
    n_chosen = int(chain.places[:n_features].max(initial=-1)) + 1
    return np.moveaxis(chain.mean_by_pair()[:n_chosen], 0, 2)


def chain_scores(chain: Paths, tokens: Rows) -> tuple[Vector, Vector]:
    """Emissions of the tokens and transitions, padding included; to each token where they have features."""
    emissions = np.empty((tokens.n_rows, chain.n_scores))
    rounds.score(chain, tokens, emissions)
    if isinstance(chain, EdgePaths):
        return emissions, chain.mean_transitions_to(tokens)
    return emissions, chain.mean_transitions()


def _pieces(ends: Offsets, at_once: int) -> Iterator[tuple[int, int]]:
    """Sequences that are decoded together."""
    start = 0
    while start < len(ends) - 1:
        stop = max(int(np.searchsorted(ends, ends[start] + at_once)), start + 1)
        yield start, min(stop, len(ends) - 1)
        start = min(stop, len(ends) - 1)
