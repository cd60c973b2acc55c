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


cdef class StepList:
    """A linked list of the steps of several models."""

    cdef Step step
    cdef bint separate  # whether all steps are
    cdef StepList rest

    def __init__(self, steps, bint separate):
        self.step = steps[0]
        self.separate = separate
        self.rest = StepList(steps[1:], separate) if len(steps) > 1 else None

    cdef double solve(
        self, Round* r, Round* own, Geometry geometry, Py_ssize_t m, Py_ssize_t first, Py_ssize_t n
    ) noexcept nogil:
        """Solve the steps of model m and those after it, from the given half-space on, of n in total.

        Half-spaces with a step are moved to the front. `own` is a round of one model's half-spaces.
        """
        cdef Py_ssize_t i
        cdef double gain = 0
        own.halfspaces, own.n_halfspaces = r.halfspaces + first, 0
        while first < n and r.halfspaces[first].model == m:
            own.n_halfspaces += 1
            first += 1
        if own.n_halfspaces > 0:
            gain = self.step.pace(own) if self.separate else self.step.solve(own, geometry)
            if gain > 0:
                for i in range(own.n_halfspaces):  # forwards: they may overlap
                    r.halfspaces[r.n_halfspaces + i] = own.halfspaces[i]
                r.n_halfspaces += own.n_halfspaces
            else:
                gain = 0
        if self.rest is not None:
            gain += self.rest.solve(r, own, geometry, m + 1, first, n)
        return gain


cdef class Steps(Step):
    """Each model by its own step, along the half-spaces of that model; models share no columns.

    Where all steps go along each half-space by itself, the curvatures of all models are worked out together.
    """

    cdef readonly tuple steps
    cdef StepList first

    def __init__(self, steps):
        self.eager = True
        self.steps = check_models(steps)
        self.first = StepList(self.steps, all(type(step) in SEPARATE for step in self.steps))

    def __reduce__(self):
        return type(self), (self.steps,)

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t n = r.n_halfspaces
        cdef Round own = r[0]
        if self.first.separate:
            geometry.curvatures(r)
        r.n_halfspaces = 0
        return self.first.solve(r, &own, geometry, 0, 0, n)

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
