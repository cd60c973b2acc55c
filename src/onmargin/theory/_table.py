"""Table of theorems by the types of the task, the step and the geometry of a learner.

A theorem covers a learner only if a row of the table lists the exact types of its three parts and their values satisfy
the condition of the row. A part that no row lists, such as a subclass of a listed one, has no theorem.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, isinf
from typing import Any, NamedTuple

import numpy as np

from onmargin._core.geometries.additive import Balanced, Entropic, PNorm
from onmargin._core.geometries.center import Center
from onmargin._core.geometries.chain import EdgePaths, Paths
from onmargin._core.geometries.diagonal import Confidence, Diagonal
from onmargin._core.geometries.geometry import Euclidean, Geometry
from onmargin._core.geometries.kernel import Budgeted, Expansion
from onmargin._core.geometries.kernel_ball import Ball, BudgetedBall
from onmargin._core.geometries.linked_center import PNormCenter, SimplexCenter
from onmargin._core.geometries.ridge import Ridge
from onmargin._core.geometries.trials import AdditiveBlocks, Blocks, Thresholds
from onmargin._core.steps.pairs import EvenPairs, SeparablePairs, SopopoPairs
from onmargin._core.steps.row_pairs import EvenRowPairs, JointRowPairs, LargestRowPair, SeparableRowPairs
from onmargin._core.steps.simultaneous import Even, EvenLineSearch, Joint, Largest, LargestLineSearch, Separable, Sopopo
from onmargin._core.steps.step import Aggressive, Fixed, Optimal, Projection, Proportional, Regularized, Residual, Step
from onmargin._core.tasks.sequence import RivalSequences, Sequence
from onmargin._core.tasks.task import (
    Binary,
    CostSensitive,
    Multiclass,
    OneVsRest,
    Regression,
    Structured,
    Task,
    Uniclass,
)
from onmargin._core.tasks.trial import Block, Ordinal, Ranking
from onmargin._parts import take_apart
from onmargin.learner import Learner
from onmargin.models.dual_ascent import Ascent, TubeAscent, WindowLearner
from onmargin.models.kernel_learner import KernelLearner, KernelWindowLearner
from onmargin.models.plan import Plan, Shape
from onmargin.theory import _theorems as thm
from onmargin.theory._theorems import Case, Theorem
from onmargin.theory.certificate import NoTheorem


class Parts(NamedTuple):
    """The parts whose types and values select a theorem. They are `Any` because a condition knows their types."""

    task: Any
    step: Any
    geometry: Any

    @property
    def C(self) -> float:  # noqa: N802
        """The aggressiveness of the step: its largest size, the price of squared slack, or its rate."""
        step = self.step
        if isinstance(step, Projection):
            return 1 / (2 * step.damping) if step.damping > 0 else step.cap
        return float(getattr(step, "C", getattr(step, "rate", inf)))

    @property
    def margin(self) -> float:
        """The smallest required margin, which a mistake loses at least."""
        return float(np.min(getattr(self.task, "margin", 1.0)))


Condition = Callable[[Parts, Case], bool]


@dataclass(frozen=True)
class Row:
    """A row of the table. `weighted` says whether the theorem holds for class weights, which multiply C."""

    theorem: Theorem
    tasks: tuple[type[Task], ...]
    steps: tuple[type[Step], ...]
    geometries: tuple[type[Geometry], ...]
    needs: tuple[Condition, ...] = ()
    weighted: bool = False

    def lists(self, parts: Parts) -> bool:
        """Return whether the row lists the exact types of the parts."""
        kinds = self.tasks, self.steps, self.geometries
        return all(type(part) in listed for part, listed in zip(parts, kinds, strict=True))


# Conditions on the values of the parts.


def has_one_rival(parts: Parts, case: Case) -> bool:
    """No two half-spaces of a round share a column."""
    return not getattr(parts.task, "every", False)


def is_plain(parts: Parts, case: Case) -> bool:
    """PA: nothing limits the step."""
    return isinf(parts.C)


def is_capped(parts: Parts, case: Case) -> bool:
    """PA-I: the step is at most C, and not damped."""
    return not isinf(parts.C) and not getattr(parts.step, "damping", 0.0) and not getattr(parts.step, "squared", False)


def is_damped(parts: Parts, case: Case) -> bool:
    """PA-II: the step is damped by 1 / (2 C), and not capped."""
    step = parts.step
    if isinstance(step, Projection):
        return step.damping > 0 and isinf(step.cap)
    return not isinf(parts.C) and getattr(step, "squared", False)


def is_hinge(parts: Parts, case: Case) -> bool:
    """The slack of a trial is not squared."""
    return not getattr(parts.step, "squared", False)


def averages(parts: Parts, case: Case) -> bool:
    """The step averages projections onto the half-spaces of mistakes: "conproj"."""
    return bool(parts.step.mistaken) and not getattr(parts.step, "fixed", False)


def is_fixed(parts: Parts, case: Case) -> bool:
    """The step divides C among the half-spaces of mistakes: "simperc"."""
    return bool(parts.step.mistaken) and getattr(parts.step, "fixed", False)


def moves_mistakes(parts: Parts, case: Case) -> bool:
    """The step moves the half-spaces of mistakes only."""
    return bool(parts.step.mistaken)


def has_no_sets(parts: Parts, case: Case) -> bool:
    """Trials are not divided into sets."""
    return not case.has_sets


def has_sets(parts: Parts, case: Case) -> bool:
    """Trials are divided into sets."""
    return case.has_sets


def has_unit_directions(parts: Parts, case: Case) -> bool:
    """All directions have norm 1."""
    return case.has_unit_directions


def has_no_tube(parts: Parts, case: Case) -> bool:
    """The tube has no width: losses are absolute errors."""
    return bool(parts.task.epsilon == 0)


def has_margin_of_task(parts: Parts, case: Case) -> bool:
    """The window of dual ascent requires the margin, or the tube, of the task."""
    return bool(parts.step.margin == getattr(parts.task, "epsilon", parts.margin))


def has_margin_one(parts: Parts, case: Case) -> bool:
    """A mistake has a loss of at least 1."""
    return bool(parts.margin == 1)


def never_forgets(parts: Parts, case: Case) -> bool:
    """Nothing is forgotten."""
    return not parts.geometry.forgetting


def forecasts(parts: Parts, case: Case) -> bool:
    """Scores are those of the forecaster, which includes the row."""
    return bool(parts.geometry.forecast)


def is_on_simplex(parts: Parts, case: Case) -> bool:
    """The one vector of weights of a trial is on the simplex."""
    return type(parts.geometry.single) is Entropic


def _trials(
    tasks: tuple[type[Task], ...],
    geometries: tuple[type[Geometry], ...],
    *,
    even: tuple[type[Step], ...],
    separable: tuple[type[Step], ...] = (),
    exact: tuple[type[Step], ...] = (),
    largest: tuple[type[Step], ...] = (),
    on_simplex: bool = False,
) -> Iterator[Row]:
    """Yield the rows of steps over the half-spaces of a trial ([SIMPROJ])."""

    def row(theorem: Theorem, steps: tuple[type[Step], ...], *needs: Condition, weighted: bool = False) -> Row:
        return Row(theorem, tasks, steps, geometries, (*needs, *((is_on_simplex,) * on_simplex)), weighted)

    yield row(thm.CAPPED, even, averages, is_capped, has_no_sets, weighted=True)
    yield row(thm.CAPPED, (*exact, *largest), is_capped, has_no_sets, weighted=True)
    yield row(thm.PA_MISTAKES, even, averages, is_plain, has_no_sets)
    yield row(thm.PA_MISTAKES, (*exact, *largest), is_hinge, is_plain, has_no_sets)
    yield row(thm.PA, largest, is_plain, has_no_sets)
    yield row(thm.DAMPED, largest, is_damped, has_no_sets)
    yield row(thm.FIXED, separable, moves_mistakes, has_no_sets)
    # On the simplex, predictions of fixed steps depend on C.
    yield row(thm.FIXED if on_simplex else thm.PERCEPTRON, even, is_fixed, has_no_sets)
    yield row(thm.SETS, even, averages, is_capped, has_sets)
    yield row(thm.SETS, even, is_fixed, has_sets)
    yield row(thm.SETS, exact, is_capped, has_sets)
    yield row(thm.SETS, separable, moves_mistakes, has_sets)


PAIR = (Binary, Multiclass)  # one half-space per round
CLASSES = (*PAIR, OneVsRest)
FLAT = (Euclidean, Expansion)  # weights and kernel expansions
LINKED = (Balanced, PNorm)

# The first row whose types and conditions fit gives the theorem.
TABLE: tuple[Row, ...] = (
    # Plain PA, then PA-I and PA-II, for classes, ...
    Row(
        thm.PA_UNIT,
        (*CLASSES, Regression, Ranking),
        (Projection,),
        FLAT,
        (has_one_rival, is_plain, has_unit_directions),
    ),
    Row(thm.PA, (*CLASSES, Regression, Ranking), (Projection,), FLAT, (has_one_rival, is_plain)),
    Row(thm.SIMPLEX_PA, (*PAIR, Regression), (Projection, Optimal), (Entropic,), (has_one_rival, is_plain)),
    Row(thm.PA, (*PAIR, Regression), (Projection, Optimal), LINKED, (has_one_rival, is_plain)),
    Row(thm.PA, PAIR, (Optimal,), FLAT, (has_one_rival, is_plain)),
    Row(thm.CAPPED, (*CLASSES, Ranking), (Projection,), FLAT, (has_one_rival, is_capped), weighted=True),
    Row(thm.CAPPED, PAIR, (Projection,), (Entropic, *LINKED), (has_one_rival, is_capped), weighted=True),
    Row(thm.CAPPED, PAIR, (Optimal,), (*FLAT, Entropic, *LINKED), (has_one_rival, is_capped)),
    Row(thm.DAMPED, (*CLASSES, Regression, Ranking), (Projection,), FLAT, (has_one_rival, is_damped)),
    Row(thm.DAMPED, (*PAIR, Regression), (Projection,), (Entropic, *LINKED), (has_one_rival, is_damped)),
    # ... regression and balls, ...
    Row(thm.CAPPED_LOSS, (Regression,), (Projection, Optimal), (*FLAT, Entropic, *LINKED), (is_capped,)),
    Row(thm.PA_UNIT, (Uniclass,), (Projection,), (Center, Ball), (is_plain,)),
    Row(thm.SIMPLEX_PA, (Uniclass,), (Projection, Optimal), (SimplexCenter,), (is_plain,)),
    Row(thm.PA, (Uniclass,), (Projection, Optimal), (PNormCenter,), (is_plain,)),
    Row(thm.CAPPED_LOSS, (Uniclass,), (Projection, Optimal), (Center, Ball, SimplexCenter, PNormCenter), (is_capped,)),
    Row(thm.DAMPED, (Uniclass,), (Projection,), (Center, Ball, SimplexCenter, PNormCenter), (is_damped,)),
    # ... and costs, of classes, sequences and structures.
    *(
        Row(theorem, tasks, steps, geometries, needs)
        for tasks, steps, geometries in (
            ((CostSensitive,), (Projection,), FLAT),
            ((CostSensitive,), (Largest,), (Blocks,)),
            ((Sequence,), (Projection,), (Paths, EdgePaths)),
            ((Structured,), (Projection,), (Euclidean,)),
        )
        for theorem, needs in (
            (thm.PA_COST, (is_plain,)),
            (thm.CAPPED_COST, (is_capped,)),
            (thm.DAMPED_COST, (is_damped,)),
        )
    ),
    # Several half-spaces at once: of classes, label sets, ranks, blocks, and rows per class.
    *_trials(PAIR, FLAT, even=(Even,), separable=(Separable,), exact=(Sopopo,)),
    *_trials((Ranking,), (Euclidean,), even=(EvenPairs,), separable=(SeparablePairs,), exact=(SopopoPairs,)),
    *_trials((Ordinal,), (Thresholds,), even=(Even,), separable=(Separable,), exact=(Joint,), largest=(Largest,)),
    *_trials((Block, Multiclass), (Blocks,), even=(Even,), separable=(Separable,), exact=(Joint,), largest=(Largest,)),
    *_trials(
        (Ranking,),
        (Blocks,),
        even=(EvenRowPairs,),
        separable=(SeparableRowPairs,),
        exact=(JointRowPairs,),
        largest=(LargestRowPair,),
    ),
    *_trials(
        (Block, Multiclass),
        (AdditiveBlocks,),
        even=(Even, EvenLineSearch),
        largest=(LargestLineSearch,),
        on_simplex=True,
    ),
    *_trials((Ranking,), (AdditiveBlocks,), even=(EvenRowPairs,), largest=(LargestRowPair,), on_simplex=True),
    # Quasi-additive steps ([PD]) and dual ascent over a window.
    Row(thm.PERCEPTRON, PAIR, (Fixed,), (*FLAT, PNorm), (has_one_rival,)),
    Row(thm.FIXED, PAIR, (Fixed,), (Entropic, Balanced), (has_one_rival,)),
    Row(thm.AGGRESSIVE, PAIR, (Aggressive,), (*FLAT, Entropic, *LINKED), (has_one_rival,)),
    Row(thm.CAPPED, PAIR, (Ascent,), (*FLAT, Entropic, *LINKED), (has_one_rival, has_margin_of_task)),
    Row(thm.CAPPED_LOSS, (Regression,), (TubeAscent,), (Euclidean,), (has_margin_of_task,)),
    # Gradients, least squares and variances.
    Row(thm.DESCENT, (Regression,), (Proportional,), (Euclidean,), (has_no_tube,)),
    Row(thm.EXPONENTIATED, (Regression,), (Proportional,), (Entropic, Balanced), (has_no_tube,)),
    Row(thm.FORECAST, (Regression,), (Residual,), (Ridge,), (has_no_tube, never_forgets, forecasts)),
    Row(thm.RIDGE, (Regression,), (Residual,), (Ridge,), (has_no_tube, never_forgets)),
    Row(thm.VARIANCES_MISTAKES, CLASSES, (Regularized,), (Confidence,), (has_one_rival, has_margin_one, never_forgets)),
    Row(thm.VARIANCES, (Regression,), (Regularized,), (Confidence,), (never_forgets,)),
)
# The loops that a theorem covers. Another subclass of Learner may run other rounds.
LOOPS = (Learner, KernelLearner, WindowLearner, KernelWindowLearner)

# Why some parts have no theorem; the first reason that applies is given. The case is None before it is known.
REASONS: tuple[tuple[Callable[[Parts, Case | None], bool], str], ...] = (
    (
        lambda parts, case: isinstance(parts.geometry, Budgeted | BudgetedBall),
        "supports that are given up for a budget have no theorem here: certify covers budget=None",
    ),
    (
        lambda parts, case: (
            isinstance(parts.step, Even | EvenPairs | EvenRowPairs | EvenLineSearch) and not parts.step.mistaken
        ),
        'update="simproj" has no theorem: it can exceed that of "simperc". Use "conproj", "exact" or "max".',
    ),
    (
        lambda parts, case: (
            isinstance(parts.step, Separable | SeparablePairs | SeparableRowPairs) and not parts.step.mistaken
        ),
        'update="simopt" has no theorem: the one its paper claims is false. Use "conproj", "exact" or "max".',
    ),
    (
        lambda parts, case: case is not None and case.has_sets,
        'update="max" and C=inf have no theorem for sets. Use "conproj", "exact" or "simperc", and a finite C.',
    ),
    (
        lambda parts, case: isinstance(parts.task, RivalSequences),
        'several rivals of a sequence have no theorem here. Use update="prediction" or "max_loss".',
    ),
    (
        lambda parts, case: isinstance(parts.task, Sequence) and type(parts.step) is Even,
        'update="perceptron" of sequences has no theorem here. Use "prediction" or "max_loss".',
    ),
    (
        lambda parts, case: isinstance(parts.geometry, Confidence) and parts.geometry.forgetting > 0,
        "the bound of AROW needs variances that never grow: certify covers forgetting=0",
    ),
    (
        lambda parts, case: isinstance(parts.geometry, Ridge) and parts.geometry.forgetting > 0,
        "the bound of ridge regression compares with fixed weights: it needs forgetting=0",
    ),
    (
        lambda parts, case: isinstance(parts.geometry, Diagonal) and not isinstance(parts.geometry, Confidence),
        "certify has no theorem for weights with individual learning rates",
    ),
)


def parts_of(learner: Learner[Any]) -> Parts:
    """Return the parts of a learner."""
    return Parts(learner.task, learner.step, learner.geometry)


def plan_parts(plan: Plan) -> Parts:
    """Return the parts that a plan makes for two classes, or for other targets, and two features."""
    step = plan.step if isinstance(plan.step, Step) else plan.step(np.ones((1, 2)))
    return Parts(plan.task([0, 1]), step, plan.weights(Shape(2, plan.rows.dtypes[0], False), None, 1))


def is_listed(parts: Parts) -> bool:
    """Return whether some row lists the types of the parts."""
    return any(row.lists(parts) for row in TABLE)


def check_listed(name: str, learner: Learner[Any]) -> None:
    """Raise NoTheorem if no row lists the parts of the learner called `name`, whatever their values."""
    if type(learner) not in LOOPS:
        raise NoTheorem(f"no theorem covers {name}: its rounds are those of a {type(learner).__name__}")
    if not is_listed(parts_of(learner)):
        raise NoTheorem(_reason(name, parts_of(learner), None))


def find_row(name: str, learner: Learner[Any], case: Case) -> Row:
    """Return the row of the table that covers a run of the learner called `name`, or raise NoTheorem."""
    parts = parts_of(learner)
    for row in TABLE:
        if row.lists(parts) and all(need(parts, case) for need in row.needs):
            return row
    raise NoTheorem(_reason(name, parts, case))


def _reason(name: str, parts: Parts, case: Case | None) -> str:
    for applies, reason in REASONS:
        if applies(parts, case):
            return reason
    task, step, geometry = map(_describe, parts)
    return (
        f"no theorem covers {name}: the table of theorems has no row for the task {task} with the step {step} and the "
        f"geometry {geometry}, or their values do not satisfy its conditions"
    )


def _describe(part: Any) -> str:
    """Return the type of a part, with the types of the parts that it is made of."""
    inner = [_describe(one) for one in take_apart(part).arguments if isinstance(one, Geometry)]
    return f"{type(part).__name__} of {' and '.join(inner)}" if inner else type(part).__name__
