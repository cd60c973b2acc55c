"""What parts are put together from: numbers and arrays that fit, and no more memory than a file may ask for."""

from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np


# Bytes that parts may still take, in a list of length one. None means that there is no bound.
LEFT = ContextVar("LEFT", default=None)


@contextmanager
def at_most(size):
    """Let the parts that are made in a `with` take so many bytes together."""
    token = LEFT.set([size])
    try:
        yield
    finally:
        LEFT.reset(token)


def claim(size):
    """Refuse memory beyond the bound."""
    left = LEFT.get()
    if left is not None:
        left[0] -= size
        if left[0] < 0:
            raise ValueError("it asks for more memory than a model in a file of its size takes")


def zeros(shape, dtype=np.float64):
    """As NumPy's, within the bound."""
    size = np.dtype(dtype).itemsize
    for length in shape if isinstance(shape, tuple) else (shape,):
        if length < 0:
            raise ValueError(f"a size must be at least 0; got {length}")
        size *= int(length)
    claim(size)
    return np.zeros(shape, dtype)


def fill(array, state, str name):
    """Copy an array of a state, of the same shape and kind, into that of a part."""
    given = state[name]
    if not isinstance(given, np.ndarray) or given.shape != array.shape or not np.can_cast(
        given.dtype, array.dtype, "same_kind"
    ):
        found = f"{given.dtype} of shape {given.shape}" if isinstance(given, np.ndarray) else f"{given!r:.60}"
        raise ValueError(f"{name} must be {array.dtype} of shape {array.shape}; got {found}")
    array[...] = given


def whole(number, str name, least=0, most=2**62):
    """A whole number within its bounds."""
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not least <= number <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}; got {number!r:.60}")
    return int(number)
