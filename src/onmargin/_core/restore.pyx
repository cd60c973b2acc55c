"""Checks for restored parts: numbers and arrays must fit, and a file may request only a bounded amount of memory."""

from contextvars import ContextVar

import numpy as np

from libc.math cimport isfinite


# The remaining bytes that parts may allocate, in a list of length one. None means no limit.
LEFT = ContextVar("LEFT", default=None)


class MemoryLimit:
    """A `with` block in which the parts that are created may take `size` bytes together."""

    def __init__(self, size):
        self._size = size

    def __enter__(self):
        self._token = LEFT.set([self._size])

    def __exit__(self, *_):
        LEFT.reset(self._token)


def claim(size):
    """Raise an error for memory beyond the limit."""
    left = LEFT.get()
    if left is not None:
        left[0] -= size
        if left[0] < 0:
            raise ValueError("it requests more memory than a model file of its size can need")


def zeros(shape, dtype=np.float64):
    """Return zeros like `numpy.zeros`, within the memory limit."""
    size = np.dtype(dtype).itemsize
    for length in shape if isinstance(shape, tuple) else (shape,):
        if length < 0:
            raise ValueError(f"a size must be at least 0; got {length}")
        size *= int(length)
    claim(size)
    return np.zeros(shape, dtype)


def fill(array, state, str name, least=-np.inf, *, bint infinite=False):
    """Copy an array of a saved state into the array of a part, which must have the same shape and type.

    Its numbers must be finite, unless they may be `infinite`, and at least `least`.
    """
    given = state[name]
    if not isinstance(given, np.ndarray) or given.shape != array.shape or not np.can_cast(
        given.dtype, array.dtype, "same_kind"
    ):
        found = f"{given.dtype} of shape {given.shape}" if isinstance(given, np.ndarray) else f"{given!r:.60}"
        raise ValueError(f"{name} must be {array.dtype} of shape {array.shape}; got {found}")
    if given.size and not (least <= given.min() and (infinite or np.isfinite(given).all())):
        raise ValueError(f"{name} must be finite and at least {least}; got {given.min()} to {given.max()}")
    array[...] = given


def number(value, str name, least=-np.inf):
    """Return a finite number, which must be at least `least`; the mean of shards is an array without dimensions."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not (
        least <= value and isfinite(<double>value)
    ):
        raise ValueError(f"{name} must be a finite number of at least {least}; got {value!r:.60}")
    return float(value)


def whole(number, str name, least=0, most=2**62):
    """Return a whole number, which must be within its bounds."""
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not least <= number <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}; got {number!r:.60}")
    return int(number)


def whole_size(number, str name, least=0):
    """Return a number of features or columns, whose indices have 32 bits."""
    return whole(number, name, least, 2**31 - 1)
