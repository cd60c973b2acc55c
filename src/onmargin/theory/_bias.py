"""Appending the intercept coordinate to rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def with_bias(X: Any, bias: float, *, auto: bool) -> Any:
    """Append the intercept coordinate to the rows.

    With `auto`, the first nonzero row sets the coordinate; zero rows before it get 0.
    """
    if bias == 0 or np.isnan(bias):
        return X
    begun = np.cumsum(squared_norms(X)) > 0 if auto else np.ones(X.shape[0], bool)
    column = np.where(begun, bias, 0.0)[:, None]
    return sparse.hstack([X, column], format="csr") if sparse.issparse(X) else np.hstack([X, column])


def squared_norms(X: Any) -> NDArray[np.float64]:
    return np.asarray(X.multiply(X).sum(axis=1) if sparse.issparse(X) else (X**2).sum(axis=1)).ravel()
