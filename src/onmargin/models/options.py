"""Declaration and checks of options: a default and the accepted values, once for all interfaces.

A family of learners declares its options as the fields of a keyword-only dataclass, each made by `option`. The learners
of every interface inherit that declaration, so that each of them is a set of options.
"""

from dataclasses import field, fields
from functools import cache
from typing import Any

from onmargin.errors import ParameterError
from onmargin.models.compatible import find_conflicts
from onmargin.models.rules import CLASS_FACTORS, FLAG, NONE, Number, Rule, Word, refuse_values

# Types of values that cannot change in place.
CONSTANTS = frozenset((bool, int, float, str, type(None)))


def option(default: Any, *accepted: Rule, text: str = "") -> Any:
    """Declare an option by its default and the rules, one of which a value must satisfy.

    `text` is its entry in the docstring of every learner that has it, if families share it; otherwise the docstring of
    the family has the entry.
    """
    return field(default=default, metadata={"accepted": accepted, "text": text})


def needs(*accepted: Rule) -> Any:
    """Declare an option that has no default."""
    return field(metadata={"accepted": accepted})


# Options that several families share.

_FIRST_ROUND = Number(0, 2**63 - 1, whole=True)


def fit_intercept() -> Any:
    return option(
        True,
        FLAG,
        text="""
        fit_intercept : bool, default=True
            Whether to learn an intercept: the weight of one more coordinate of each row, which counts in the row's
            norm.
        """,
    )


def intercept_scaling() -> Any:
    return option(
        "auto",
        Number(0, above=True, below=True),
        Word("auto"),
        text="""
        intercept_scaling : "auto" or float, default="auto"
            Value of the intercept coordinate, above 0. If "auto", it is 0.3 times the norm of the first non-zero row,
            then fixed.
        """,
    )


def class_weight(scaled: str = "C", effect: str = "") -> Any:
    return option(
        None,
        NONE,
        Word("balanced"),
        CLASS_FACTORS,
        text=f"""
        class_weight : dict, "balanced" or None, default=None
            Factors on {scaled} per class. If "balanced", they are ``n_samples / (n_classes * count)``; `partial_fit`
            uses the counts so far.{effect}
        """,
    )


def average() -> Any:
    return option(
        False,
        FLAG,
        _FIRST_ROUND,
        text="""
        average : bool or int, default=False
            Whether to predict with the average of the weights after each round. If an integer above 1, averaging starts
            at that round. After `fit`, learning continues from the averaged weights, with a new average.
        """,
    )


def average_or_best(judged_by: str) -> Any:
    return option(
        False,
        FLAG,
        _FIRST_ROUND,
        Word("mean", "best"),
        text=f"""
        average : bool, int, "mean" or "best", default=False
            Whether to predict with the average of the weights after each round. If an integer above 1, averaging starts
            at that round; "mean" is the same as True. If "best", the current or the averaged weights predict, depending
            on the {judged_by} of each so far. After `fit`, learning continues from the averaged weights, with a new
            average; with "best", both continue.
        """,
    )


def combine(default: str) -> Any:
    return option(default, Word("leader", "hedge"))


def optional(default: Any, *accepted: Rule, text: str = "") -> Any:
    return option(default, NONE, *accepted, text=text)


@cache
def declared(kind: Any) -> dict[str, tuple[Any, tuple[Rule, ...]]]:
    """Return the options of a class by name: the default of each, and what it accepts."""
    return {one.name: (one.default, one.metadata.get("accepted", ())) for one in fields(kind)}


def list_changed(options: Any) -> dict[str, Any]:
    """Return the options that are not at their defaults, by name."""
    given = vars(options)
    known = declared(type(options))  # type: ignore[arg-type]
    return {name: given[name] for name, (default, _) in known.items() if given[name] is not default}


def check_options(options: Any) -> None:
    """Raise one ParameterError that names every value that is not accepted; if all are, every conflict between them."""
    values = list_changed(options)
    if not values:  # defaults are valid and compatible
        return
    known = declared(type(options))  # type: ignore[arg-type]
    wrong = {
        name: f"{name} must be {', or '.join(map(str, accepted))}; got {value!r}"
        for name, value in values.items()
        if (accepted := known[name][1]) and not any(rule.accepts(value) for rule in accepted)
    }
    refuse_values(options, wrong)
    conflicts = find_conflicts(options, values)
    if conflicts:
        concerned = dict.fromkeys(name for conflict in conflicts for name in conflict.names)
        raise ParameterError("; ".join(map(str, conflicts)), concerned)
