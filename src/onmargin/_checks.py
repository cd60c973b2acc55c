"""Checks of sparse matrices and labels, shared by all interfaces of the library."""

from collections.abc import Container
from typing import Any

import numpy as np
from numpy.typing import NDArray

# SciPy and scikit-learn are imported where they are used, since streams and models do not need them.


def check_sparse(X: Any, dtypes: Container[Any] = (), name: str = "X") -> Any:
    """Return X, after checking a sparse matrix, since reading a malformed one can crash.

    A CSR matrix of one of `dtypes` is not checked here, because the code that reads it does so.
    """
    from scipy import sparse

    if sparse.issparse(X) and (X.format in {"csc", "coo"} or (X.format == "csr" and X.dtype not in dtypes)):
        try:
            # scipy checks a COO matrix when it is built, and skips the indices if the last item of indptr is negative.
            if X.format == "coo":
                sparse.coo_matrix((X.data, (X.row, X.col)), shape=X.shape)
            elif len(X.indptr) and X.indptr[-1] < 0:
                raise ValueError(f"indptr ends with {X.indptr[-1]}")
            else:
                # Check a new matrix object with the same arrays, since the check may replace the arrays.
                type(X)((X.data, X.indices, X.indptr), shape=X.shape).check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"{name} is not a valid {X.format.upper()} matrix: {error}") from error
    return X


def plain(value: Any) -> Any:
    """Convert a NumPy scalar to a Python scalar, for messages."""
    return value.item() if isinstance(value, np.generic) else value


def check_labels(y: NDArray[Any], *known: NDArray[Any]) -> None:
    """Check that labels are classes, not real numbers, and all strings or all numbers like the known labels."""
    if y.dtype.kind not in "biuU" and set(map(type, y.tolist())) != {str}:
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(y)
    for labels in known if len(y) else ():
        if len(labels) and (labels.dtype.kind in "OU") != (y.dtype.kind in "OU"):
            raise ValueError(
                f"labels must be all strings or all numbers: y holds {plain(y[0])!r}, and {plain(labels[0])!r} is a "
                "class already"
            )
        kinds = labels.dtype.kind + y.dtype.kind
        # Mixed integers and floats become floats, which represent integers exactly only up to 2^53.
        if len(labels) and kinds in {"iu", "ui", "if", "fi", "uf", "fu"} and np.result_type(labels, y).kind == "f":
            largest = max(np.abs(labels).max(), np.abs(y).max())
            if largest > 2**53:
                raise ValueError(f"labels as large as {largest} are not exact as floats: convert y to {labels.dtype}")


def check_classes(classes: Any) -> NDArray[Any]:
    """Return the labels passed as `classes`, sorted."""
    if type(classes) is np.ndarray and classes.ndim == 1 and classes.size and classes.dtype.kind in "biuU":
        return np.unique(classes)  # nothing to check, which would take as long as a thousand rounds
    from sklearn.utils import check_array

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
