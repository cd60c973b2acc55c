"""Simultaneous projections onto the half-spaces of a trial ([SIMPROJ])."""

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.steps.step cimport Step


cdef class Scheme(Step):
    cdef readonly double C
    cdef readonly bint mistaken

    cdef void select(self, Round* r) noexcept nogil
    cdef double share(
        self, const Round* r, Geometry geometry, HalfSpace* h, Py_ssize_t n, double C
    ) noexcept nogil


cdef class Largest(Scheme):
    cdef readonly bint squared


cdef class Even(Scheme):
    cdef readonly bint fixed


cdef struct Program:
    # max tau' loss - tau' G tau / 2 over tau >= 0, sum of tau in each part <= its share.
    HalfSpace* h            # tau and loss
    Py_ssize_t n
    Py_ssize_t n_parts
    const double* G
    double* gradient        # loss - G tau
    double* left            # of each part's share
    Py_ssize_t* free        # of each tau: whether it may move; the others are zero
    Py_ssize_t* slack       # of each part: whether the rest of its share may move; if not, it is zero
    Py_ssize_t* pivot       # of each part: what gives what the others of the part take; -1: the rest
    Py_ssize_t* moving      # the free taus but for the pivots
    Py_ssize_t n_moving
    double* H               # the second derivatives of moving taus, then their Cholesky factor
    double* d               # of moving taus: how far to go
    double* given           # of each part: how far its pivot goes


cdef void choose_pivots(Program* p) noexcept nogil
cdef double price(const Program* p, Py_ssize_t part) noexcept nogil
cdef bint climb(Program* p) noexcept nogil
cdef bint set_free(Program* p) noexcept nogil
cdef void solve_in_place(double* H, double* d, Py_ssize_t m) noexcept nogil
