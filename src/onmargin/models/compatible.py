"""Compatibility of options: one table for the errors of all interfaces and for the documentation."""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np


class Choice(NamedTuple):
    """A value, or some values, of an option.

    `words` name them. In a message a value that was chosen is named by `choice`, and one that should be chosen, where
    another was, by `need`; both are formats of that value.
    """

    option: str
    words: str
    holds: Callable[[Any], bool]
    choice: str = ""
    need: str = ""


def is_given(option: str) -> Choice:
    return Choice(option, option, lambda value: value is not None)


def absent(option: str) -> Choice:
    return Choice(option, f"{option}=None", lambda value: value is None)


def off(option: str) -> Choice:
    return Choice(option, f"{option}=False", lambda value: not value)


def equal(option: str, *values: Any) -> Choice:
    *others, last = map(repr, values)
    words = f"{', '.join(others)} or {last}" if others else last
    holds = lambda value: isinstance(value, str) and value in values  # noqa: E731
    return Choice(option, f"{option}={words}", holds, choice=f"{option}={{!r}}")


def other_than(option: str, *values: Any) -> Choice:
    words = " and ".join(map(repr, values))
    holds = lambda value: not isinstance(value, str) or value not in values  # noqa: E731
    return Choice(option, f"{option} other than {words}", holds, f"{option}={{!r}}", f"{option} other than {{!r}}")


def on(option: str) -> Choice:
    return Choice(option, option, bool)


def several(value: Any) -> bool:
    """Return whether C has several values: a sequence, or "auto"."""
    return isinstance(value, str | Sequence | np.ndarray)


SEVERAL_C = Choice("C", "a sequence of C", several)
ONE_C = Choice("C", "one value of C", lambda value: not several(value))
FINITE_C = Choice("C", "a finite C", lambda value: several(value) or value < inf)
A_KERNEL = Choice("kernel", "a kernel", lambda value: value is not None)
A_MAX_RADIUS = Choice("max_radius", "a number for max_radius", lambda value: value is not None)
BOTH_AVERAGES = equal("average", "best")
A_QUANTILE = Choice("quantile", "a quantile other than 0.5", lambda value: value != 0.5)
MANY_RIVALS = Choice("n_rivals", "n_rivals other than 5", lambda value: value != 5)
AN_INTERCEPT = Choice("fit_intercept", "fit_intercept", bool)
PLAIN_WEIGHTS = Choice("geometry", "geometry='euclidean'", lambda value: value not in {"entropic", "pnorm"})
# Updates that ignore `margin`: fixed steps on mistakes only, and MIRA, whose margin is 1 / C.
WITHOUT_MARGIN = ("simperc", "perceptron", "mira")
METRICS = ("adaptive", "normalized")
# Updates of a trial on the simplex. The exact solution and ConOpt are for plain weights.
ON_SIMPLEX = ("max", "simperc", "conproj", "simproj", "simopt")

# Updates of a sequence against several labelings at once.
RIVAL_UPDATES = ("conproj", "simproj", "simopt", "exact")

# What a round receives. Options of the same name may have different values and requirements.
ROWS, TRIALS, SEQUENCES, STRUCTURES = "rows", "trials", "sequences", "structures"


class Requirement(NamedTuple):
    """A choice that requires certain values of other options, with the reason.

    It applies to learners whose rounds receive `of`; with `along`, only if that choice was made too.
    """

    choice: Choice
    needs: tuple[Choice, ...]
    why: str
    of: str = ROWS
    along: Choice | None = None

    @property
    def words(self) -> str:
        """The choice in words."""
        return self.choice.words if self.along is None else f"{self.choice.words} with {self.along.words}"


# Options that an options object does not have are not checked.
TABLE = (
    Requirement(
        SEVERAL_C,
        (
            equal("update", "max"),
            absent("cost"),
            absent("kernel"),
            other_than("geometry", "entropic", "pnorm"),
            absent("target_loss"),
        ),
        "the models of a grid share one pass over linear weights, and differ in C alone",
    ),
    Requirement(
        BOTH_AVERAGES,
        (ONE_C, absent("kernel"), other_than("geometry", "entropic", "pnorm"), absent("target_loss")),
        "current and averaged weights are two models, and the better one so far predicts",
    ),
    Requirement(
        other_than("update", "max"),
        (equal("loss", "hinge"), absent("cost"), equal("strategy", "joint"), absent("target_loss")),
        "updates of several classes at once are defined for PA-I with one prototype per class",
    ),
    Requirement(equal("update", "simperc", "mira"), (FINITE_C,), "C is the size of the step, or 1 / C the margin"),
    Requirement(
        equal("update", "exact"),
        (off("calibrate"),),
        "the closed form exists only for pairs of a relevant and an irrelevant label",
    ),
    Requirement(equal("radius", "learn"), (A_MAX_RADIUS,), "a learned radius grows up to a bound"),
    Requirement(is_given("max_radius"), (equal("radius", "learn"),), "only a learned radius has a bound"),
    Requirement(
        is_given("cost"),
        (equal("strategy", "joint"), absent("target_loss")),
        "costs are defined for pairs of classes with one prototype each",
    ),
    Requirement(
        is_given("margin"),
        (other_than("update", "mira"), absent("cost")),
        "the margin is 1 / C for MIRA, and the square root of the cost with costs",
    ),
    Requirement(
        is_given("class_margin"),
        (other_than("update", *WITHOUT_MARGIN), absent("cost")),
        "the margin is fixed by the update or by the cost",
    ),
    Requirement(
        is_given("target_loss"),
        (equal("strategy", "joint"), off("early_stopping"), off("average")),
        "batch conversion takes plain PA steps on one loss per example",
    ),
    Requirement(
        equal("geometry", "entropic"),
        (
            off("average"),
            absent("kernel"),
            equal("update", "max"),
            absent("cost"),
            equal("strategy", "joint"),
            absent("target_loss"),
            equal("radius", "fixed"),
        ),
        "updates on the simplex are multiplicative, with one weight vector stored as sums of rows",
    ),
    Requirement(
        equal("geometry", *METRICS),
        (absent("kernel"), equal("update", "max"), absent("target_loss")),
        "the step is taken in the metric of the weights, for one wrong class at a time",
    ),
    Requirement(
        equal("geometry", "pnorm"),
        (absent("kernel"), off("average"), absent("target_loss"), equal("radius", "fixed")),
        "a kernel expansion has Euclidean weights, and p-norm weights are stored as sums of rows",
    ),
    Requirement(
        on("line_search"),
        (equal("geometry", "entropic", "pnorm"), equal("loss", "epsilon_insensitive")),
        "plain steps are exact without a search, and the search is for capped steps",
    ),
    Requirement(
        equal("loss", "quantile"),
        (ONE_C, other_than("average", "best"), off("line_search")),
        "upward and downward steps have different limits, as those of one model with capped steps",
    ),
    Requirement(A_QUANTILE, (equal("loss", "quantile"),), "other losses are those of no quantile"),
    Requirement(
        AN_INTERCEPT,
        (PLAIN_WEIGHTS,),
        "weights in these geometries have no separate intercept: append a constant feature",
    ),
    Requirement(
        is_given("budget"),
        (A_KERNEL, off("average")),
        "a budget limits the support vectors of a kernel, whose coefficients change",
    ),
    Requirement(
        equal("update", "simperc", "exact"), (FINITE_C,), "C is the size of the step, or bounds the problem", TRIALS
    ),
    Requirement(
        other_than("update", "max"),
        (equal("loss", "hinge"),),
        "updates of several half-spaces at once are defined for PA-I",
        TRIALS,
    ),
    Requirement(
        equal("geometry", "entropic"),
        (off("average"), equal("update", *ON_SIMPLEX), FINITE_C, equal("loss", "hinge")),
        "updates on the simplex are multiplicative, found by line searches that C bounds",
        TRIALS,
    ),
    Requirement(
        on("fit_intercept"), (equal("geometry", "euclidean"),), "weights on the simplex have no intercept", TRIALS
    ),
    Requirement(
        is_given("cost"),
        (equal("update", "max"), equal("geometry", "euclidean"), absent("margin")),
        "the margin is the square root of the cost, for one wrong class at a time",
        TRIALS,
    ),
    Requirement(
        equal("update", "max_loss"),
        (equal("cost", "squared_hamming"),),
        "the labeling of largest loss is found by dynamic programming if the margin is a sum over the tokens",
        SEQUENCES,
        along=is_given("label_cost"),
    ),
    Requirement(
        equal("update", "perceptron"), (equal("loss", "hinge"),), "the step of the Perceptron is always 1", SEQUENCES
    ),
    Requirement(
        equal("update", *RIVAL_UPDATES),
        (equal("loss", "hinge"), ONE_C),
        "updates of several half-spaces at once are defined for PA-I, and chains side by side have one rival each",
        SEQUENCES,
    ),
    Requirement(equal("update", "exact"), (FINITE_C,), "C bounds the problem", SEQUENCES),
    Requirement(
        MANY_RIVALS, (equal("update", *RIVAL_UPDATES),), "other updates have one rival per sequence", SEQUENCES
    ),
    Requirement(SEVERAL_C, (other_than("update", "perceptron"),), "the Perceptron has no C", SEQUENCES),
)


class Conflict(NamedTuple):
    """A requirement that a set of options does not meet."""

    choice: Choice
    value: Any
    missing: dict[Choice, Any]  # required choices that were not made, with the given values
    along: Choice | None = None

    @property
    def names(self) -> tuple[str, ...]:
        along = () if self.along is None else (self.along.option,)
        return (self.choice.option, *along, *(need.option for need in self.missing))

    def __str__(self) -> str:
        choice = self.choice.choice.format(self.value) or self.choice.words
        choice = choice if self.along is None else f"{choice} with {self.along.words}"
        needs = [need.need.format(value) or need.words for need, value in self.missing.items()]
        return f"{choice} needs {', '.join(needs)}"


def find_conflicts(options: Any, values: Mapping[str, Any]) -> list[Conflict]:
    """Return the requirements that options do not meet, of which `values` are not at their defaults."""
    found = []
    of = getattr(options, "round_of", ROWS)
    for row in TABLE:
        choice, along = row.choice, row.along
        if row.of == of and choice.option in values and choice.holds(value := values[choice.option]):
            if along is not None and not along.holds(getattr(options, along.option)):
                continue
            asked = {need: getattr(options, need.option) for need in row.needs if hasattr(options, need.option)}
            if missing := {need: other for need, other in asked.items() if not need.holds(other)}:
                found.append(Conflict(choice, value, missing, along))
    return found
