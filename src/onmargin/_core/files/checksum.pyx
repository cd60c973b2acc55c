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
    cdef uint64_t[8] b  # powers of the base
    cdef uint64_t b8
    b[0] = 1
    for k in range(1, 8):
        b[k] = b[k - 1] * BASE
    b8 = b[7] * BASE
    with nogil:
        for k in range(0, n - 7, 8):  # Horner's rule, eight words at a time
            checksum = checksum * b8 + (
                (x[k] * b[7] + x[k + 1] * b[6]) + (x[k + 2] * b[5] + x[k + 3] * b[4])
                + ((x[k + 4] * b[3] + x[k + 5] * b[2]) + (x[k + 6] * b[1] + x[k + 7]))
            )
        for k in range(n & ~7, n):
            checksum = checksum * BASE + x[k]
    return checksum
