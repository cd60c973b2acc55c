"""Hand-written C for the rounds of each workload: how fast a library could be on the same arrays.

The programs are compiled by the system's compiler (`cc`, or $CC) when they are first needed, into a temporary folder.
"""

import os
import subprocess
from collections.abc import Callable, Sequence
from ctypes import CDLL, c_long, c_void_p
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

SOURCES = Path(__file__).parent
FLAGS = ("-std=c11", "-O3", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC")


@cache
def compiled(program: str, dtype: str) -> CDLL:
    """Build a program for weights of one type, and load it."""
    real = {"float32": "float", "float64": "double"}[dtype]
    with TemporaryDirectory() as folder:
        library = Path(folder) / f"{program}_{real}.so"
        source = str(SOURCES / f"{program}.c")
        subprocess.run([os.environ.get("CC", "cc"), *FLAGS, f"-DREAL={real}", source, "-o", library, "-lm"], check=True)
        return CDLL(str(library))


def zeros(size: int, dtype: Any) -> np.ndarray:
    """Return zeroed weights, aligned to a cache line."""
    raw = np.zeros(size * np.dtype(dtype).itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size * np.dtype(dtype).itemsize].view(dtype)


def call(library: CDLL, *arguments: Any) -> int:
    """Call `learn` with integers and the addresses of arrays; it returns the number of mistakes."""
    library.learn.restype = c_long
    return library.learn(*(c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else c_long(a) for a in arguments))


def limit_of(X: Any, y: np.ndarray, classes: np.ndarray | None) -> Callable[[], int]:
    """Return the limit of one pass of PA-I over a workload: a function that learns and returns its mistakes.

    Classes must be numbered from 0.
    """
    dtype = str(X.dtype)
    target = np.ascontiguousarray(y, np.float64 if classes is None else np.int64)
    if not sparse.issparse(X):
        columns = 1 if classes is None else len(classes)
        library = compiled("regression_dense" if classes is None else "multiclass_dense", dtype)
        return lambda: call(library, *X.shape, X, target, zeros(columns * X.shape[1], X.dtype))
    if len(classes) == 2:
        library, stride = compiled("binary_sparse", dtype), 1
    else:
        library = compiled("multiclass_sparse", dtype)
        stride = library.stride()
    rows = X.indptr, X.indices, X.data
    return lambda: call(library, X.shape[0], *rows, target, zeros(stride * X.shape[1], X.dtype))


def limit_of_sweep(X: sparse.csr_array, y: np.ndarray, C: Sequence[float]) -> Callable[[], int]:
    """Return the limit of eight values of C at once, with two classes and sparse rows."""
    library, values = compiled("sweep", str(X.dtype)), np.array(C, np.float64)
    rows = X.indptr, X.indices, X.data
    return lambda: call(library, X.shape[0], *rows, y.astype(np.int64), zeros(8 * X.shape[1], X.dtype), values)


def limit_of_tagger(X: sparse.csr_array, y: np.ndarray, ends: np.ndarray) -> Callable[[], int]:
    """Return the limit of one pass over sequences of sparse tokens with 20 labels, numbered from 0."""
    library = compiled("tagger", str(X.dtype))
    rows = X.indptr, X.indices, X.data
    return lambda: call(library, len(ends) - 1, ends, *rows, y.astype(np.int64), zeros(20 * X.shape[1], X.dtype))
