"""Kernels: the inner products K(x, z) of the rows of two matrices, with scikit-learn's names and meanings."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from onmargin._core.geometries.kernel import raise_to_power
from onmargin._core.geometries.kernel import squared_norms as dense_squared_norms
from onmargin._parts import Part

Matrix = Any  # a C-contiguous array, or a CSR matrix


class Kernel(Protocol):
    """A kernel: K of the rows of two matrices, the same for the rows of B by those of A as a C-contiguous array of
    float32 or float64, and K of each row with itself, which may be known from K `within` the matrix."""

    def __call__(self, A: Matrix, B: Matrix) -> NDArray[Any]: ...

    def transpose_product(self, A: Matrix, B: Matrix) -> NDArray[Any]: ...

    def diagonal(self, A: Matrix, within: NDArray[Any] | None = None) -> NDArray[Any]: ...


class KernelPart(Part):
    """A kernel whose parameters are its fields."""

    def __call__(self, A: Matrix, B: Matrix) -> NDArray[Any]:
        raise NotImplementedError

    def transpose_product(self, A: Matrix, B: Matrix) -> NDArray[Any]:
        return self(B, A)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(vars(self).values())


def products(A: Matrix, B: Matrix) -> NDArray[Any]:
    """Return x.z for all rows x of A and z of B."""
    product = A @ B.T
    return product.toarray() if sparse.issparse(product) else np.asarray(product)


def squared_norms(A: Matrix) -> NDArray[np.float64]:
    """Return x.x for the rows of A."""
    if sparse.issparse(A):
        squares = A.astype(np.float64)
        squares.data **= 2
        return np.asarray(squares.sum(axis=1)).ravel()
    return dense_squared_norms(A)


@dataclass(frozen=True)
class Linear(KernelPart):
    """x.z"""

    def __call__(self, A: Matrix, B: Matrix) -> NDArray[Any]:
        return products(A, B)

    def diagonal(self, A: Matrix, within: NDArray[Any] | None = None) -> NDArray[Any]:
        return squared_norms(A)


@dataclass(frozen=True)
class Polynomial(KernelPart):
    """(gamma x.z + coef0)^degree"""

    gamma: float
    coef0: float
    degree: int

    def __call__(self, A: Matrix, B: Matrix) -> NDArray[Any]:
        return self._of(products(A, B))

    def diagonal(self, A: Matrix, within: NDArray[Any] | None = None) -> NDArray[Any]:
        return self._of(squared_norms(A))

    def _of(self, product: NDArray[Any]) -> NDArray[Any]:
        raise_to_power(product, self.gamma, self.coef0, self.degree)
        return product


@dataclass(frozen=True)
class Gaussian(KernelPart):
    """exp(-gamma |x - z|^2), in double precision: a distance is a small difference of large numbers."""

    gamma: float

    def __call__(self, A: Matrix, B: Matrix) -> NDArray[Any]:
        squared = products(A.astype(np.float64, copy=False), B.astype(np.float64, copy=False))
        squared *= -2
        squared += squared_norms(A)[:, None]
        squared += squared_norms(B)
        np.maximum(squared, 0, out=squared)
        squared *= -self.gamma
        return np.asarray(np.exp(squared, out=squared))

    def diagonal(self, A: Matrix, within: NDArray[Any] | None = None) -> NDArray[Any]:
        return np.ones(A.shape[0])


@dataclass(frozen=True)
class Sigmoid(KernelPart):
    """tanh(gamma x.z + coef0)"""

    gamma: float
    coef0: float

    def __call__(self, A: Matrix, B: Matrix) -> NDArray[Any]:
        return np.asarray(np.tanh(self.gamma * products(A, B) + self.coef0))

    def diagonal(self, A: Matrix, within: NDArray[Any] | None = None) -> NDArray[Any]:
        return np.asarray(np.tanh(self.gamma * squared_norms(A) + self.coef0))


@dataclass(frozen=True)
class Custom(KernelPart):
    """Return the result of a kernel function, which must be a matrix of numbers of the right shape."""

    function: Callable[[Any, Any], Any]

    def __call__(self, A: Matrix, B: Matrix) -> NDArray[Any]:
        values = self.function(A, B)
        values = values.toarray() if sparse.issparse(values) else np.asarray(values)
        shape = A.shape[0], B.shape[0]
        if values.shape != shape or values.dtype.kind not in "biuf":
            raise ValueError(
                f"the kernel must give a matrix of numbers of shape {shape} for {shape[0]} rows and {shape[1]} rows; "
                f"got {values.dtype} of shape {values.shape}"
            )
        return values

    def transpose_product(self, A: Matrix, B: Matrix) -> NDArray[Any]:
        values = self(A, B).T
        return np.ascontiguousarray(values, values.dtype if values.dtype in (np.float32, np.float64) else np.float64)

    def diagonal(self, A: Matrix, within: NDArray[Any] | None = None) -> NDArray[Any]:
        return (self(A, A) if within is None else within).diagonal()


def _is_matrix(rows: Any) -> bool:
    is_array = isinstance(rows, np.ndarray) or sparse.issparse(rows)
    return is_array and len(rows.shape) == 2 and rows.dtype in (np.float64, np.float32)


class Supports(Part):
    """The rows of the supports, one per slot, in memory that doubles when it is full.

    Forks share memory: the first that appends does so in place, and later ones make a copy. Sparse rows
    are copied each time, which is what their products cost anyway.
    """

    def __init__(self, like: Matrix) -> None:
        self._n = 0
        self._memory: Any = like[:0].copy()
        self._filled = [0]  # slots of the memory that any fork uses

    def __len__(self) -> int:
        return self._n

    def fork(self) -> "Supports":
        other = Supports.__new__(Supports)
        other._n, other._memory, other._filled = self._n, self._memory, self._filled
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._memory[:0],), self.rows().copy()

    def __setstate__(self, rows: Matrix) -> None:
        if not _is_matrix(rows) or not _is_matrix(self._memory) or rows.dtype != self._memory.dtype:
            raise ValueError(f"supports must be rows of a matrix; got {type(rows).__name__}")
        self._n, self._memory, self._filled = rows.shape[0], rows, [rows.shape[0]]

    @property
    def n_values(self) -> int:
        """The number of stored values."""
        return int(self._memory.nnz) if sparse.issparse(self._memory) else self._n * self.width

    @property
    def width(self) -> int:
        """The number of features of the rows."""
        return int(self._memory.shape[1])

    def holds(self, n_features: int) -> bool:
        """Return whether rows with this many features can be added; sparse ones may be wider."""
        return self.width <= n_features if sparse.issparse(self._memory) else self.width == n_features

    def as_these(self, X: Matrix) -> Matrix:
        """Return X as dense or sparse as the supports; sparse supports grow to its width."""
        if sparse.issparse(self._memory):
            if X.shape[1] > self._memory.shape[1]:
                m = self._memory
                self._memory = type(m)((m.data, m.indices, m.indptr), shape=(m.shape[0], X.shape[1]))
            return X if sparse.issparse(X) else sparse.csr_matrix(X)
        return np.ascontiguousarray(X.toarray()) if sparse.issparse(X) else X

    def rows(self, start: int = 0, stop: int | None = None) -> Matrix:
        """Return a read-only view of the rows in the slots from start up to stop."""
        rows = self._memory[start : self._n if stop is None else min(stop, self._n)]
        if not sparse.issparse(rows):
            rows.flags.writeable = False
        return rows

    def append(self, rows: Matrix) -> None:
        """Append these rows to the slots."""
        n = self._n + rows.shape[0]
        if sparse.issparse(self._memory):
            self._memory = sparse.vstack([self.rows(), rows], format="csr")
        else:
            if n > len(self._memory) or self._filled[0] != self._n:
                memory = np.empty((max(n, 2 * self._n), rows.shape[1]), rows.dtype)
                memory[: self._n] = self.rows()
                self._memory, self._filled = memory, [n]
            self._memory[self._n : n] = rows
            self._filled[0] = n
        self._n = n

    def keep(self, slots: NDArray[np.intp]) -> None:
        """Forget all but these slots."""
        self._memory, self._n, self._filled = self.rows()[slots], len(slots), [len(slots)]
