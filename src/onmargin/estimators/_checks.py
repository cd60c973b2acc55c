"""Checks of the other arguments of estimators; errors name the argument and come before anything is learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.utils import check_array

from onmargin._checks import check_classes, check_labels, plain
from onmargin._frames import dates_in, has_missing, is_frame, list_names, text_in
from onmargin.learner import Vector


def is_vector(value: Any) -> bool:
    """Return whether the rounds can read a value as it is: a contiguous vector of float64."""
    return type(value) is np.ndarray and value.dtype == np.float64 and value.ndim == 1 and value.flags.c_contiguous


def check_numbers(value: Any, name: str, dtype: DTypeLike = np.float64) -> Vector:
    """Return finite numbers, none too large for weights of type `dtype`."""
    most = float(np.finfo(dtype).max)
    if is_vector(value) and value.max(initial=0) <= most and value.min(initial=0) >= -most:  # which NaN is not
        return value
    try:
        numbers: Vector = check_array(
            value, dtype=np.float64, order="C", ensure_2d=False, allow_nd=True, ensure_min_samples=0, input_name=name
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be finite numbers: {error}") from error
    if (largest := max(numbers.max(initial=0), -numbers.min(initial=0))) > most:
        raise ValueError(f"{name} must fit the weights, which are {np.dtype(dtype)}; got {largest:g}")
    return numbers


def refuse_dates(X: Any) -> None:
    """Refuse dates and times, which would be learned as numbers of microseconds or days since 1970."""
    try:
        found = dates_in(X) if is_frame(X) else []
    except (TypeError, ValueError):  # scikit-learn accepts or refuses it
        found = []
    if found:
        raise ValueError(
            f"X has dates or times in {list_names(found)}: make numbers of them, such as the hour, the day of "
            "the week or the days since a date, or leave them out"
        )


def table_remedy(X: Any) -> str | None:
    """Return what to do about text, dicts or missing values in X, which scikit-learn refuses; None if it has none."""
    first = _first_row(X)
    if isinstance(first, str | Mapping):
        kind, vectorizer = ("texts", "TfidfVectorizer") if isinstance(first, str) else ("dicts", "DictVectorizer")
        return (
            f"X must be a matrix of numbers; got {kind}. Learn them with onmargin.stream, or convert them first, such "
            f"as with scikit-learn's {vectorizer}"
        )
    frame = is_frame(X)
    try:
        text, missing = (text_in(X), has_missing(X)) if frame else ([], _has_missing(X))
    except (TypeError, ValueError) as error:  # a frame whose columns cannot be read, such as several of one name
        return str(error)
    if text:
        problem = f"X has text in {list_names(text)}: encode it, such as with scikit-learn's OneHotEncoder"
    elif missing:
        problem = "X contains NaN, a missing value: fill it in, such as with scikit-learn's SimpleImputer"
    else:
        return None
    records = "learn X" if frame else "learn its rows as dicts"
    return f"{problem}, or {records} with onmargin.stream, which handles text and missing values"


def _first_row(X: Any) -> Any:
    if is_frame(X) or hasattr(X, "tocsr"):
        return None
    try:
        return next(iter(X), None)
    except TypeError:
        return None


def target_remedy(*y: Any) -> str | None:
    """Return what to do about several targets per row, which scikit-learn refuses; None if there is one."""
    shape: tuple[int, ...] = np.shape(y[0]) if y else ()
    if len(shape) < 2 or shape[1] < 2:
        return None
    return (
        f"y must have one target per row; got an array of shape {shape}. Use onmargin.LabelRanker for several labels "
        "per row, or scikit-learn's MultiOutputClassifier or MultiOutputRegressor for one model per column"
    )


def _has_missing(X: Any) -> bool:
    values = np.asarray(X.data if hasattr(X, "tocsr") else X)
    try:
        return values.dtype.kind in "fO" and bool(np.isnan(values.astype(np.float64)).any())
    except (TypeError, ValueError):
        return False


def check_weight(sample_weight: ArrayLike | None, n_samples: int) -> Vector | None:
    """Return the example weights: one per example, none negative, not all zero."""
    if sample_weight is None:
        return None
    weight = check_numbers(sample_weight, "sample_weight")
    if weight.shape != (n_samples,):
        raise ValueError(f"sample_weight must have shape ({n_samples},), one weight per example; got {weight.shape}")
    if (weight < 0).any():
        raise ValueError(f"sample_weight must not be negative; got {weight.min():g}. Use 0 to leave an example out.")
    if not weight.any():
        raise ValueError(
            "sample_weight is zero for all examples: nothing to learn. Give at least one a positive weight."
        )
    return weight


def live(values: Any, weight: Vector | None) -> Any:
    """Return the examples of non-zero weight."""
    return values if weight is None else values[weight > 0]


def check_named(given: Any, name: str, classes: NDArray[Any]) -> None:
    """Refuse labels that are neither all in y nor cover y.

    Labels may be missing, or be more than y has, as happens in a fold; both at once is almost certainly a typo. Values
    that are not dicts name no class.
    """
    named, present = set(given if isinstance(given, Mapping) else ()), set(classes.tolist())
    if named - present and present - named:
        raise ValueError(f"{name} names {named - present}, which y does not have, and leaves out {present - named}")


def check_ranks(y: NDArray[Any]) -> NDArray[Any]:
    """Return the ranks in y, which must be integers without gaps."""
    check_labels(y)
    ranks = np.unique(y)
    if ranks.dtype.kind not in "biuf":
        raise ValueError(
            f"y must hold ranks, integers without gaps; got {ranks[:5].tolist()}. Name other ranks, from "
            "low to high, with classes= in the first call of partial_fit."
        )
    if len(ranks) < 2:
        raise ValueError(f"y must hold at least two ranks, and has one class only: {plain(ranks[0])!r}")
    gaps = np.flatnonzero(np.diff(ranks.astype(np.float64)) > 1)
    if len(gaps):
        raise ValueError(
            f"y has ranks with gaps: none between {ranks[gaps[0]]} and {ranks[gaps[0] + 1]}. Number them without gaps, "
            "or name all of them, from low to high, with classes= in the first call of partial_fit."
        )
    return ranks


def check_ordered(classes: Any, name: str) -> NDArray[Any]:
    """Return the ranks passed as argument `name`, from low to high."""
    ranks = np.asarray(classes)
    labels = check_classes(classes)
    if len(labels) != len(ranks) or len(ranks) < 2:
        raise ValueError(f"{name} must be at least two ranks, each named once; got {ranks.tolist()}")
    if ranks.dtype.kind in "biuf" and (labels != ranks).any():
        raise ValueError(f"{name} must be the ranks from low to high; got {ranks.tolist()}")
    return ranks
