"""A checksum of arrays: the value of a polynomial whose coefficients are the words of 32 bits, modulo 2^64.

A word that changes always changes the checksum, because the base is odd. It is no protection against intent.
"""

from libc.stdint cimport uint32_t, uint64_t

from onmargin._core.rows cimport address

cdef uint64_t BASE = 0x9E3779B97F4A7C15  # odd, and its bits look random


def add_words(array, uint64_t checksum=0):
    """Return the checksum of some words followed by those of a C-contiguous array of numbers of 32 or 64 bits.

    How the words are divided into arrays makes no difference.
    """
    cdef Py_ssize_t n = array.nbytes // 4, k
    cdef const uint32_t* x = <const uint32_t*>address(array, "fdilq", array.size)
    cdef uint64_t b = BASE
    cdef uint64_t b2 = b * b
    cdef uint64_t b3 = b2 * b
    cdef uint64_t b4 = b2 * b2
    with nogil:
        for k in range(0, n - 3, 4):  # Horner's rule, four words at a time
            checksum = checksum * b4 + (x[k] * b3 + x[k + 1] * b2 + x[k + 2] * b + x[k + 3])
        for k in range(n & ~3, n):
            checksum = checksum * b + x[k]
    return checksum
