"""Tasks: conversion of labels for each task, and detection of the task from the first examples."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from onmargin.apps.chunks import Chunk
from onmargin.apps.failure import Failure
from onmargin.io.format import Recipe, as_integer, number_parser
from onmargin.io.svmlight import SparseRows


def _class(label: Any) -> Any:
    if label is None or isinstance(label, list | tuple):
        raise ValueError(f"a label is a string or a whole number; got {label!r:.60}")
    if isinstance(label, float) and not label.is_integer():
        raise ValueError(f"labels must be names or whole numbers; got {label!r}. For real numbers use --task regress")
    return as_integer(label)


_parse = number_parser(".", None)


def _number(label: Any) -> float:
    if isinstance(label, str) and (number := _parse(label)) is not None:
        return number
    if isinstance(label, bool) or not isinstance(label, int | float):
        raise ValueError(f"a target must be a number; got {label!r:.60}. For names use --task classify")
    return float(label)


def _set(labels: Any) -> list[Any]:
    if isinstance(labels, dict):
        raise ValueError(f"each of several --label columns must have 0 or 1, or yes or no; got {labels!r:.60}")
    if not isinstance(labels, list | tuple):
        raise ValueError(f"labels to rank must be a list; got {labels!r:.60}. For one label use --task classify")
    return [as_integer(label) for label in labels]


# Conversion of the label of an example for each task; for sequences, the list of labels is unchanged.
TARGETS: dict[str, Callable[[Any], Any]] = {
    "classify": _class,
    "regress": _number,
    "rank": _set,
    "ordinal": _class,
    "novelty": lambda label: None,
    "tag": list,
}


_MANY = 50  # maximum usual number of classes


def guess_task(chunk: Chunk, recipe: Recipe) -> str:
    """Guess the task from the labels of the first examples."""
    if recipe.kind == "sequences":
        _check_tags(chunk.y or [])
        return "tag"
    labels = [] if chunk.y is None else chunk.y.tolist() if isinstance(chunk.y, np.ndarray) else list(chunk.y)
    if not labels or all(label is None for label in labels):
        raise Failure(
            "the examples have no labels: use --task novelty for novelty detection, or name the label with --label"
        )
    kinds = set(map(type, labels))
    if kinds & {list, tuple, dict}:
        return "rank"
    n_different = len(set(labels))
    numbers = kinds <= {bool, int, float}
    most = _MANY if recipe.is_table else max(_MANY, 0.2 * len(labels))  # rows of numbers often have many classes
    if numbers and (n_different > most or not all(float(y).is_integer() for y in labels)):
        return "regress"
    if len(labels) >= 20 and n_different > 0.5 * len(labels):
        column = "" if recipe.label is None else f" {recipe.label!r}"
        some = any(isinstance(y, int | float) or (isinstance(y, str) and _parse(y) is not None) for y in labels)
        quantities = (
            ". If they are quantities, use --task regress, with --on-error skip for other cells" if some else ""
        )
        raise Failure(
            f"the label{column} has {n_different} different values in the first {len(labels)} examples, such as "
            f"{labels[0]!r:.60}: too many for classes. Name the column of the label with --label, or use --task "
            f"classify if they are{quantities}"
        )
    return "classify"


def _check_tags(rows: list[list[Any]]) -> None:
    """Raise an error if the labels of tokens are the tokens themselves."""
    n_tokens, labels = sum(map(len, rows)), {label for row in rows for label in row}
    if len(labels) > max(2 * _MANY, 0.2 * n_tokens):
        raise Failure(
            f"the first {n_tokens} tokens have {len(labels)} different labels, such as {min(labels)!r:.60}: too "
            "many for tags. Set --format conll or crfsuite, name the column with --label, or use --task tag if they are"
        )


def usual_radius(chunk: Chunk) -> float:
    """Return a bound for the radius of a ball around examples like these: twice their usual distance from the center.

    The distance of two examples is about the square root of 2 times the distance of one from the center.
    """
    from onmargin.features.records import RecordFeatures

    if isinstance(chunk.X, SparseRows):
        parts = (chunk.X.part(k, k + 1) for k in range(len(chunk)))
        rows = [dict(zip(part.indices.tolist(), part.data.tolist(), strict=True)) for part in parts]
    else:
        rows = list(map(RecordFeatures().read, chunk.X))
    distances = [
        sum((a.get(name, 0.0) - b.get(name, 0.0)) ** 2 for name in {*a, *b}) ** 0.5 for a, b in pairwise(rows[:1000])
    ]
    return float(np.sqrt(2) * np.median(distances)) if any(distances) else 1.0
