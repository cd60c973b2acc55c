"""Random bits that are a function of a counter: the generator splitmix64."""

from libc.stdint cimport uint64_t


cdef inline uint64_t mixed(uint64_t z) noexcept nogil:
    """The finalizer of splitmix64: every bit of the result depends on all bits of z."""
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)
