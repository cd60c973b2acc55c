"""Models of any library, asked in one way: matrices by partial_fit, records by learn_one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._checks import plain


def takes_records(model: Any) -> bool:
    """Whether a model learns one example at a time; refuse one that does not learn online."""
    if hasattr(model, "learn_one"):
        return True
    if hasattr(model, "predict"):
        return False
    raise TypeError(f"model must have learn_one, or predict and partial_fit; got {type(model).__name__}")


def ask_for(model: Any, matrix: str, record: str) -> None:
    """Refuse a model that lacks a method."""
    name = record if takes_records(model) else matrix
    if not hasattr(model, name):
        raise TypeError(f"model must have {name}; {type(model).__name__} has not")


def knows_something(model: Any) -> bool:
    """Whether a model of matrices has been fitted."""
    if hasattr(model, "__sklearn_is_fitted__"):
        return bool(model.__sklearn_is_fitted__())
    return any(name.endswith("_") and not name.startswith("__") for name in vars(model))


def learn_rows(model: Any, X: Any, y: Any, **named: Any) -> None:
    if not hasattr(model, "partial_fit"):
        raise TypeError(f"{type(model).__name__} has no partial_fit: fit it first, and calibrate with observe(X, y)")
    model.partial_fit(X, y, **named)


def probabilities(model: Any, X: Any) -> tuple[list[Any], NDArray[np.float64]]:
    """The classes of a fitted model of matrices, and their probabilities."""
    return [plain(label) for label in model.classes_], np.asarray(model.predict_proba(X), dtype=np.float64)
