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


cdef class SeparableLineSearch(Scheme):
    cdef double steps(
        self, const Round* r, Geometry geometry, HalfSpace* h, Py_ssize_t n, double C, double theta
    ) noexcept nogil


cdef struct Program:
    # max tau' loss - tau' G tau / 2 over tau >= 0, sum of tau in each part <= its share.
    HalfSpace* h            # tau and loss
    Py_ssize_t n
    Py_ssize_t n_parts
    const double* G
    double* gradient        # loss - G tau
    double* left            # unused share of each part
    Py_ssize_t* free        # per tau: whether it may move; the others are zero
    Py_ssize_t* slack       # per part: whether the unused share may move; if not, it is zero
    Py_ssize_t* pivot       # per part: the tau that balances the others; -1: the unused share
    Py_ssize_t* moving      # the free taus without the pivots
    Py_ssize_t n_moving
    double* H               # the second derivatives of moving taus, then their Cholesky factor
    double* d               # search direction of the moving taus
    double* given           # per part: the step of its pivot


cdef void choose_pivots(Program* p) noexcept nogil
cdef double price(const Program* p, Py_ssize_t part) noexcept nogil
cdef bint climb(Program* p) noexcept nogil
cdef bint set_free(Program* p) noexcept nogil
cdef void solve_in_place(double* H, double* d, Py_ssize_t m) noexcept nogil
