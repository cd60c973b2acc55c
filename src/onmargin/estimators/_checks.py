"""What estimators take beside X: refused with the argument's name, before anything is learned."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from onmargin.estimators._parameters import Number
from onmargin.learner import Vector


def check_sparse(X: Any, dtypes: Container[Any]) -> Any:
    """X itself; a sparse matrix to be converted is looked through first, since a malformed one can crash that."""
    if sparse.issparse(X) and (X.format in {"csc", "coo"} or (X.format == "csr" and X.dtype not in dtypes)):
        try:
            # scipy looks at a COO matrix when it is built, and at no indices if the last item of indptr is negative.
            if X.format == "coo":
                sparse.coo_matrix((X.data, (X.row, X.col)), shape=X.shape)
            elif len(X.indptr) and X.indptr[-1] < 0:
                raise ValueError(f"indptr ends with {X.indptr[-1]}")
            else:
                X.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"X is not a sound {X.format.upper()} matrix: {error}") from error
    return X


def check_numbers(value: Any, name: str, dtype: DTypeLike = np.float64) -> Vector:
    """Finite numbers, none too large for weights of type `dtype`."""
    try:
        numbers: Vector = check_array(
            value, dtype=np.float64, order="C", ensure_2d=False, allow_nd=True, ensure_min_samples=0, input_name=name
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be finite numbers: {error}") from error
    if (largest := max(numbers.max(initial=0), -numbers.min(initial=0))) > np.finfo(dtype).max:
        raise ValueError(f"{name} must fit the weights, which are {np.dtype(dtype)}; got {largest:g}")
    return numbers


def check_weight(sample_weight: ArrayLike | None, n_samples: int) -> Vector | None:
    """Example weights: one an example, none negative, not all zero."""
    if sample_weight is None:
        return None
    weight = check_numbers(sample_weight, "sample_weight")
    if weight.shape != (n_samples,):
        raise ValueError(f"sample_weight must have shape ({n_samples},), one weight an example; got {weight.shape}")
    if (weight < 0).any():
        raise ValueError(
            f"sample_weight must not be negative; got {weight.min():g}. Leave an example out with weight 0."
        )
    if not weight.any():
        raise ValueError(
            "sample_weight is zero for all examples: nothing to learn. Give at least one a positive weight."
        )
    return weight


def check_labels(y: NDArray[Any], *known: NDArray[Any]) -> None:
    """Labels are classes, not real numbers, and all strings or all numbers, as those known are."""
    if y.dtype.kind not in "biuU" and set(map(type, y.tolist())) != {str}:
        check_classification_targets(y)
    for labels in known:
        if len(labels) and (labels.dtype.kind in "OU") != (y.dtype.kind in "OU"):
            raise ValueError(
                f"labels must be all strings or all numbers: y holds {y[0]!r}, and {labels[0]!r} is a class already"
            )
        kinds = labels.dtype.kind + y.dtype.kind
        # Integers and floats meet as floats, which hold whole numbers up to 2^53.
        if len(labels) and kinds in {"iu", "ui", "if", "fi", "uf", "fu"} and np.result_type(labels, y).kind == "f":
            largest = max(np.abs(labels).max(), np.abs(y).max())
            if largest > 2**53:
                raise ValueError(f"labels as large as {largest} are not exact as floats: convert y to {labels.dtype}")


def check_classes(classes: Any) -> NDArray[Any]:
    """The labels given as `classes`, sorted."""
    try:
        labels: NDArray[Any] = check_array(classes, dtype=None, ensure_2d=False, input_name="classes")
        check_labels(labels)
        if labels.ndim != 1:
            raise ValueError(f"they have {labels.ndim} dimensions")
        return np.unique(labels)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"classes must be a list or one-dimensional array of labels; got {classes!r}: {error}"
        ) from error


def check_class_weight(class_weight: Mapping[Any, float], classes: NDArray[Any]) -> None:
    """Names may be left out, or be more than y has, as happens in a fold; both at once are a slip of the pen."""
    named, present = set(class_weight), set(classes.tolist())
    if named - present and present - named:
        raise ValueError(
            f"class_weight names {named - present}, which y does not have, and leaves out {present - named}"
        )


def check_cost(cost: Any, classes: NDArray[Any]) -> Vector:
    """The costs as a matrix, one row and one column a class."""
    n = len(classes)
    if isinstance(cost, str):
        if cost not in {"absolute", "squared"}:
            raise ValueError(f"cost must be 'absolute', 'squared' or a matrix; got {cost!r}")
        distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(np.float64)
        return distance if cost == "absolute" else distance**2
    matrix = check_numbers(cost, "cost")
    if matrix.shape != (n, n):
        raise ValueError(
            f"cost must have shape ({n}, {n}) for the classes {classes.tolist()}; got {matrix.shape}. "
            "In partial_fit give classes= in the first call."
        )
    if (matrix < 0).any() or np.diagonal(matrix).any():
        raise ValueError(f"cost must be at least 0, and 0 on the diagonal; got {matrix.tolist()}")
    return matrix


@dataclass(frozen=True)
class ClassFactors:
    """The rule for a dict of class: factor."""

    def accepts(self, value: Any) -> bool:
        factor = Number(0, below=True)
        return isinstance(value, Mapping) and all(map(factor.accepts, value.values()))

    def __str__(self) -> str:
        return "a dict of class: factor, each factor a number at least 0"
