"""The steps of several models that learn side by side."""

import numpy as np

from onmargin._core.several.task_list import check_models
from onmargin._core.steps.step import Confident, Constant, Herding, Proportional, Regularized, Residual

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport address
from onmargin._core.steps.step cimport Projection, Step, projection


# Steps whose `pace` goes along each half-space by itself.
SEPARATE = (Step, Projection, Proportional, Constant, Residual, Regularized, Herding, Confident)


cdef class Steps(Step):
    """Each model by its own step, along the half-spaces of that model; models share no columns.

    Where all steps go along each half-space by itself, the curvatures of all models are worked out together.
    Half-spaces without a step are dropped.
    """

    cdef readonly tuple steps
    cdef bint separate    # whether all steps are
    cdef object pointers
    cdef void** step      # of each model
    cdef Py_ssize_t n     # number of models

    def __init__(self, steps):
        self.eager = True
        self.steps = check_models(steps)
        self.separate = all([type(step) in SEPARATE for step in self.steps])
        if not all([isinstance(step, Step) for step in self.steps]):
            raise TypeError("steps must be Step objects")
        self.pointers = np.array([id(step) for step in self.steps], dtype=np.uintp)
        self.n = len(self.steps)
        self.step = <void**>address(self.pointers, "LQ", self.n)

    def __reduce__(self):
        return type(self), (self.steps,)

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i, n = r.n_halfspaces
        cdef double gain = 0, part
        cdef HalfSpace* h
        if not self.separate:
            return self.solve_each(r, geometry)
        geometry.curvatures(r)
        r.n_halfspaces = 0
        for i in range(n):
            h = &r.halfspaces[i]
            part = (<Step>self.step[h.model]).pace(r, h) if h.model < self.n else 0
            if part > 0:
                gain += part
                if r.n_halfspaces < i:
                    r.halfspaces[r.n_halfspaces] = h[0]
                r.n_halfspaces += 1
        return gain

    cdef double solve_each(self, Round* r, Geometry geometry) noexcept nogil:
        """Solve the steps of the models one by one."""
        cdef Py_ssize_t i, m, first = 0, n = r.n_halfspaces
        cdef double gain = 0, part
        cdef Round own = r[0]  # a round of one model's half-spaces
        r.n_halfspaces = 0
        while first < n:
            own.halfspaces, own.n_halfspaces = r.halfspaces + first, 1
            while first + own.n_halfspaces < n and own.halfspaces[own.n_halfspaces].model == own.halfspaces.model:
                own.n_halfspaces += 1
            first += own.n_halfspaces
            m = own.halfspaces.model
            part = (<Step>self.step[m]).solve(&own, geometry) if m < self.n else 0
            if part > 0:
                gain += part
                for i in range(own.n_halfspaces):  # forwards: they may overlap
                    r.halfspaces[r.n_halfspaces + i] = own.halfspaces[i]
                r.n_halfspaces += own.n_halfspaces
        return gain

    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept:
        cdef Step step
        cdef Py_ssize_t most = 0
        for step in self.steps:
            most = max(most, step.room(n))
        return most


cdef class Projections(Step):
    """The passive-aggressive steps of models that differ only in C: model m has caps[m] and dampings[m].

    The weight of an example and the unit of the round scale C.
    """

    cdef readonly object caps, dampings
    cdef double* cap
    cdef double* damping

    def __init__(self, caps, dampings):
        self.eager = True
        self.caps, self.dampings = np.array(caps, dtype=np.float64), np.array(dampings, dtype=np.float64)
        self.cap = <double*>address(self.caps, "d", len(check_models(caps)))
        self.damping = <double*>address(self.dampings, "d", len(caps))

    def __reduce__(self):
        return type(self), (self.caps, self.dampings)

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        cdef double scale = r.weight * r.unit, damping, gain = 0
        geometry.curvatures(r)
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            damping = self.damping[h.model] / scale
            h.tau = projection(h, self.cap[h.model] * scale, damping)
            if h.tau > 0:
                gain += h.tau * (h.loss - h.tau * damping / 2)
        return gain
