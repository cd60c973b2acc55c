"""The intercept as a coordinate of the rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def with_bias(X: Any, bias: float) -> Any:
    """Rows of zeros before the first other one have none: its value was taken from that one."""
    if bias == 0 or np.isnan(bias):
        return X
    column = np.where(np.cumsum(squared_norms(X)) > 0, bias, 0.0)[:, None]
    return sparse.hstack([X, column], format="csr") if sparse.issparse(X) else np.hstack([X, column])


def squared_norms(X: Any) -> NDArray[np.float64]:
    return np.asarray(X.multiply(X).sum(axis=1) if sparse.issparse(X) else (X**2).sum(axis=1)).ravel()
