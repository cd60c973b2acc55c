"""Sequences: a linear chain of labels, or one chain per value of C ([JMLR] sec. 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onmargin._core import rounds
from onmargin._core.geometries.chain import EdgePaths, Paths
from onmargin._core.geometries.geometry import ColumnMap, Geometry
from onmargin._core.rows import Rows
from onmargin._core.several.geometries import ExpertPaths
from onmargin._core.several.sequences import SequenceVote
from onmargin._core.steps.step import Step
from onmargin._core.tasks.sequence import RivalSequences, decode, decode_best, marginals
from onmargin._core.tasks.sequence import Sequence as Labeling
from onmargin._core.tasks.task import Task
from onmargin.learner import Offsets, Vector
from onmargin.models import compatible
from onmargin.models import options as shared
from onmargin.models.columns import intercept_value, label_columns
from onmargin.models.compatible import RIVAL_UPDATES, several
from onmargin.models.costs import token_cost
from onmargin.models.ensemble import Kind, grid, names_of
from onmargin.models.expert_results import ExpertResults, read_results
from onmargin.models.experts import Ensemble, Expert, Experts, Weights, same_task
from onmargin.models.labels import Labels
from onmargin.models.model import Model
from onmargin.models.options import option
from onmargin.models.plan import Plan, Shape
from onmargin.models.rules import FLAG, NONE, Character, Number, Numbers, Strings, Word
from onmargin.models.updates import RIVALS, TRIALS, projection

# Number of tokens scored, and of pairs of labels compared, between two checks for signals.
_AT_ONCE, _PAIRS = 1 << 16, 1 << 27


@dataclass(kw_only=True, eq=False, repr=False)
class TaggerOptions:
    r"""Options of the sequence tagger.

    Parameters
    ----------
    C : float, sequence of float or "auto", default=1.0
        Aggressiveness, above 0: a bound on the step. Smaller values are more cautious; inf makes every update plain PA.
        If a sequence, one chain per value is trained in the same pass. If "auto", a grid of nine values from 0.001 to
        10 is used. ``update="perceptron"`` does not use C and cannot be combined with several values.
    loss : "hinge" or "squared_hinge", default="hinge"
        Whether slack is penalized linearly (PA-I) or squared (PA-II).
    update : {"prediction", "max_loss", "conproj", "simproj", "simopt", "exact", "perceptron"}, default="prediction"
        What to update against. "prediction" is the predicted labeling, and "max_loss" the one of largest loss, which
        also updates on sequences that are labeled correctly with too small a margin. "conproj", "simproj", "simopt" and
        "exact" project onto the half-spaces of the `n_rivals` wrong labelings of highest score at once ([SIMPROJ]
        sec. 10; "exact" is k-best MIRA). "perceptron" takes a step of 1 against a wrong prediction.
    n_rivals : int, default=5
        Number of wrong labelings for "conproj", "simproj", "simopt" and "exact", from 1 to 1000. More take more time:
        k² + n_rivals·k per token for k labels. Other updates have one rival.
    cost : "hamming" or "squared_hamming", default="hamming"
        The cost :math:`\rho`: the number of wrong tokens, or its square, which requires a margin of 1 per wrong token.
        With ``update="max_loss"``, the time and memory of "hamming" grow with the square of the sequence length.
    label_cost : dict, array-like of shape (n_classes, n_classes) or None, default=None
        Cost of a wrong token. If None, 1. A dict {label: cost} gives costs by the right label; labels left out cost 1.
        A matrix gives costs by the right and the predicted label, in the order of ``classes_``. With a label cost,
        ``update="max_loss"`` requires ``cost="squared_hamming"``.
    transition_features : None, "all" or tuple of str, default=None
        Token features that also have weights for the transition from the previous label: all, or those whose names
        start with one of these strings. Each takes n_classes² weights: 20 labels and 100,000 features take a third of a
        GB, and twice that with averaging. It is fixed when learning begins, until the tagger is fitted again.
    separator : str or None, default=None
        For tokens that are lists of strings, the character between a feature's name and its value, such as ":" for
        "length:3". If no number follows it, or a backslash precedes it, it is part of the name. If None, the whole
        string is the name.
    fit_intercept : bool, default=True
        Whether every token has one more feature with a constant value.
    intercept_scaling : "auto" or float, default="auto"
        Value of the constant feature, above 0. If "auto", it is 0.3 times the norm of the first token that is not
        empty, then fixed.
    average : bool, int or None, default=None
        Whether to predict with the average of the weights after each sequence. If an integer above 1, averaging starts
        at that sequence. If None, weights are averaged if the first call is `fit`, and not if it is `partial_fit` or
        `learn_one`. It is fixed when learning begins, until the tagger is fitted again. After `fit`, learning continues
        from the averaged weights, with a new average, so that corrections take effect.
    combine : {"leader", "hedge"}, default="leader"
        With several values of C: "leader" labels with the chain of smallest cost so far, "hedge" labels each token by a
        vote of all chains, weighted by AdaHedge.
    """

    C: float | Sequence[float] | str = option(1.0, Number(0, above=True), Numbers(0, above=True), Word("auto"))
    loss: str = option("hinge", Word("hinge", "squared_hinge"))
    update: str = option("prediction", Word("prediction", "max_loss", *RIVAL_UPDATES, "perceptron"))
    n_rivals: int = option(5, Number(1, 1000, whole=True))
    cost: str = option("hamming", Word("hamming", "squared_hamming"))
    label_cost: Mapping[Any, float] | ArrayLike | None = option(None)
    transition_features: str | tuple[str, ...] | None = option(None, Word("all"), Strings(), NONE)
    separator: str | None = option(None, Character(), NONE)
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    average: bool | int | None = option(None, FLAG, Number(0, 2**63 - 1, whole=True), NONE)
    combine: str = shared.combine("leader")

    round_of: ClassVar[str] = compatible.SEQUENCES

    def plan(self, *, averaged: bool = False) -> Plan:
        """Return how these options learn; `averaged` is what `average` is where it is None."""
        values = grid(self.C)
        C: Any = 1.0 if several(self.C) else self.C
        named = zip(names_of(values), values, strict=True)
        experts = tuple(Expert(name, Weights(Paths), "", projection(value, self.loss)) for name, value in named)
        ensemble = Ensemble(
            Experts(experts, experts),
            same_task,
            hedge=self.combine == "hedge",
            by_loss=True,
            side_by_side=_chains,
            combination=_labelings,
        )
        return Plan(
            task=partial(_make_labeling, self),
            step=_step(self, C),
            weights=_weights(self, int(averaged if self.average is None else self.average)),
            ensemble=ensemble if values else None,
            fixed={"C": values},
        )


def _step(options: TaggerOptions, C: float) -> Step:
    if options.update == "perceptron":
        return RIVALS["perceptron"](C)
    return TRIALS[options.update](C) if options.update in RIVAL_UPDATES else projection(C, options.loss)


def _make_labeling(options: TaggerOptions, labels: Sequence[Any]) -> Task:
    cost, squared = token_cost(options.label_cost, list(labels)), options.cost == "squared_hamming"
    if options.update in RIVAL_UPDATES:
        return RivalSequences(cost, n_rivals=options.n_rivals, squared=squared)
    return Labeling(cost, squared=squared, max_loss=options.update == "max_loss")


def _weights(options: TaggerOptions, average: int) -> Callable[[Shape, Kind | None, int], Geometry]:
    kind = Paths if options.transition_features is None else EdgePaths
    bias = intercept_value(fit=options.fit_intercept, scaling=options.intercept_scaling)

    def make(shape: Shape, other: Kind | None, n_columns: int) -> Geometry:
        return kind(shape.n_features, n_columns, shape.dtype, sparse=shape.sparse, bias=bias, average=average)

    return make


def _chains(kinds: Sequence[Kind], n_columns: int, make: Callable[[Kind, int], Any], *, sparse: bool) -> Geometry:
    return ExpertPaths([make(kind, n_columns) for kind in kinds])


def _labelings(
    geometry: Geometry, tasks: Sequence[Task], judge: Any, before: Task, *, width: int, hedge: bool, by_loss: bool
) -> Task:
    """Return the task of chains side by side; votes are weighted as by the one before, if there was any."""
    task = SequenceVote(judge, len(tasks), hedge=hedge)
    if isinstance(before, SequenceVote):
        task.__setstate__(before.state())
    return task


@dataclass(frozen=True, repr=False)
class ChainResults(ExpertResults):
    """Results of taggers that learned side by side; the loss of a model is the cost of its labelings.

    Attributes
    ----------
    cost : ndarray of shape (n_models,)
        The cost of the labelings of each model so far, as ``totals_.cost``.
    transitions : list of ndarray
        The transition weights of each model, as ``transitions_``.
    transition_coef : list of ndarray
        The weights of the `transition_features` of each model, as ``transition_coef_``; empty without such features.
    """

    cost: NDArray[np.float64]
    transitions: list[Vector]
    transition_coef: list[Vector]


class Chain:
    """The chain of a model, or its chains side by side: growing labels and features, weights, and decoding."""

    def __init__(self, model: Model) -> None:
        self.model = model

    @property
    def geometry(self) -> Any:
        return self.model.learner.geometry

    @property
    def combined(self) -> Any:
        """The task that combines chains side by side; None if there is one chain."""
        return self.model.combined

    @property
    def leader(self) -> Paths:
        """The chain whose weights are shown."""
        combined = self.combined
        chain: Paths = self.geometry if combined is None else self.geometry.leaves()[combined.leader]
        return chain

    def add_labels(self, new: Iterable[Any]) -> None:
        """Add labels, with weights of zero."""
        labels, places = self.model.labels.with_new(new)
        column_map = label_columns(places, len(labels), calibrated=False)
        if column_map is not None:
            self.model.learner.geometry = self.geometry.grown(column_map)
            self.model.labels = labels

    def hide(self, labels: Sequence[int]) -> None:
        """Keep paths away from these labels, which have learned nothing yet: they score minus infinity."""
        self._set_intercepts(labels, -np.inf)

    def show(self, labels: Sequence[int]) -> None:
        """Allow these labels in paths again; their weights are zero."""
        self._set_intercepts(labels, 0.0)

    def _set_intercepts(self, labels: Sequence[int], value: float) -> None:
        for chain in [self.geometry] if self.combined is None else self.geometry.leaves():
            chain.intercept[list(labels)] = value

    def drop_labels(self, dropped: frozenset[Any]) -> None:
        """Remove labels and their weights; without labels, the weights stay."""
        labels = self.model.labels
        left = [label for label in labels.known if label not in dropped]
        if left:
            places = np.array([labels.code_of(label) for label in left])
            self.model.learner.geometry = self.geometry.recombine(ColumnMap(places, np.ones(len(left))))
        self.model.labels = Labels(np.array(left))

    def make_room(self, n_features: int) -> None:
        """Grow the weights to this many features, with some room for more."""
        if n_features > self.geometry.n_features:
            self.model.learner.geometry = self.geometry.resize(max(n_features, 2 * self.geometry.n_features))

    def paths(self, rows: Rows, ends: Offsets) -> NDArray[np.int32]:
        """Return the best labels of all tokens."""
        leader = self.leader
        at_once = _AT_ONCE // leader.n_columns if leader.by_row else _AT_ONCE
        at_once = min(at_once, _PAIRS // leader.n_columns**2)
        paths = [
            decode(*self._scores(rows, ends[start : stop + 1]), ends[start : stop + 1] - ends[start])
            for start, stop in _pieces(ends, at_once)
        ]
        return np.concatenate([np.zeros(0, np.int32), *paths])

    def best_paths(self, rows: Rows, ends: Offsets, n: int) -> Iterator[tuple[Vector, NDArray[np.int32]]]:
        """Yield the scores and labels of the n best labelings of each sequence."""
        for i in range(len(ends) - 1):
            yield decode_best(*self._scores(rows, ends[i : i + 2]), n)

    def marginals(
        self, rows: Rows, ends: Offsets, scale: float, codes: NDArray[np.int32] | None = None
    ) -> tuple[Vector, Vector]:
        """Return the probability of each label of each token, by the leading chain, and ln Z of each sequence.

        With `codes`, the labels of tokens are fixed to these, except where they are -1.
        """
        emissions, transitions = chain_scores(self.leader, rows.widened(self.geometry.n_features))
        if codes is not None:
            others = np.arange(emissions.shape[1]) != codes[:, None]
            emissions[others & (codes >= 0)[:, None]] = -np.inf
        return marginals(emissions, transitions, ends, scale)

    def temperature(self, rows: Rows, ends: Offsets, codes: NDArray[np.int32]) -> float:
        """Return the temperature at which the labels of these sequences are most likely.

        -ln P(y) = ln Z(scale) - scale s(y) is convex in the scale: golden sections of its logarithm find the minimum.
        """
        emissions, transitions = chain_scores(self.leader, rows.widened(self.geometry.n_features))
        tokens, first = np.arange(len(codes)), np.zeros(len(codes), bool)
        first[ends[:-1][ends[:-1] < len(codes)]] = True
        later = tokens[~first]
        steps = np.broadcast_to(transitions, (len(codes), *transitions.shape[-2:]))
        right = emissions[tokens, codes].sum() + steps[later, codes[later - 1], codes[later]].sum()

        def charge(log_scale: float) -> float:
            scale = float(np.exp(log_scale))
            return float(marginals(emissions, transitions, ends, scale)[1].sum() - scale * right)

        low, high, ratio = -7.0, 7.0, (5**0.5 - 1) / 2
        inner, outer = high - ratio * (high - low), low + ratio * (high - low)
        at_inner, at_outer = charge(inner), charge(outer)
        for _ in range(40):
            if at_inner <= at_outer:
                high, outer, at_outer = outer, inner, at_inner
                inner = high - ratio * (high - low)
                at_inner = charge(inner)
            else:
                low, inner, at_inner = inner, outer, at_outer
                outer = low + ratio * (high - low)
                at_outer = charge(outer)
        return float(np.exp(-(low + high) / 2))

    def _scores(self, rows: Rows, ends: Offsets) -> tuple[Vector, Vector]:
        """Return the emissions of the tokens of these sequences, and the transitions."""
        tokens = rows.part(ends[0], ends[-1]).widened(self.geometry.n_features)
        combined = self.combined
        if combined is None or not combined.hedge:
            return chain_scores(self.leader, tokens)
        votes: tuple[Vector, Vector] = combined.count_tags(
            [decode(*chain_scores(chain, tokens), ends - ends[0]) for chain in self.geometry.leaves()]
        )
        return votes

    def expert_results(self, names: list[str], n_features: int) -> ChainResults:
        """Return the results of chains side by side, with the weights of the first `n_features` features."""
        combined = self.combined
        if combined is None:
            raise AttributeError("there is only one model")
        found = read_results(self.model.learner, names, [False] * len(names), "").with_coef(
            lambda weights: weights[:, :n_features]
        )
        chains = self.geometry.leaves()
        return ChainResults(
            **vars(found) | {"judged": "cost"},
            cost=combined.losses(),
            transitions=[transitions_of(chain) for chain in chains],
            transition_coef=[transition_coef_of(chain, n_features) for chain in chains if chain.by_row],
        )


def transitions_of(chain: Paths) -> Vector:
    """Return the weights from label to label."""
    return chain.mean_transitions()[:, : chain.n_columns]


def transition_coef_of(chain: EdgePaths, n_features: int) -> Vector:
    """Return the transition weights by previous label, label and feature, for the features that have any."""
    n_chosen = int(chain.places[:n_features].max(initial=-1)) + 1
    return np.moveaxis(chain.mean_by_pair()[:n_chosen], 0, 2)


def chain_scores(chain: Paths, tokens: Rows) -> tuple[Vector, Vector]:
    """Return emissions of the tokens and transitions, padding included; to each token where they have features."""
    emissions = np.empty((tokens.n_rows, chain.n_scores))
    rounds.score(chain, tokens, emissions)
    return emissions, chain.mean_transitions_to(tokens)


def _pieces(ends: Offsets, at_once: int) -> Iterator[tuple[int, int]]:
    """Yield the sequences that are decoded together."""
    start = 0
    while start < len(ends) - 1:
        stop = max(int(np.searchsorted(ends, ends[start] + at_once)), start + 1)
        yield start, min(stop, len(ends) - 1)
        start = min(stop, len(ends) - 1)
