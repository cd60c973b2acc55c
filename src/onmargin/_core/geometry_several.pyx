"""Labellings by several models, which learn from the same sequences and share nothing else."""

import numpy as np

from libc.stdint cimport int32_t

from onmargin._core.geometry cimport Geometry
from onmargin._core.geometry_path cimport Paths
from onmargin._core.row cimport address
from onmargin._core.task cimport Round


cdef class Turn:
    """The labellings of one model, and the turns of those after it: the loop over rounds has no lists.

    `own` is the round of the model; those of the others lie behind it, in their order.
    """

    cdef Paths paths
    cdef Turn rest

    def __init__(self, models):
        self.paths = models[0]
        self.rest = Turn(models[1:]) if len(models) > 1 else None

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t values):
        self.paths.reserve(rows, values)
        if self.rest is not None:
            self.rest.reserve(rows, values)

    cdef void scores(self, Round* own) noexcept nogil:
        self.paths.scores(own)
        if self.rest is not None:
            self.rest.scores(own + 1)

    cdef void measure(self, Round* own) noexcept nogil:
        self.paths.measure(own)
        if self.rest is not None:
            self.rest.measure(own + 1)

    cdef double curvatures(self, Round* own) noexcept nogil:
        """Answers the largest."""
        cdef double largest = 0 if self.rest is None else self.rest.curvatures(own + 1)
        if own.n_halfspaces > 0:
            self.paths.curvatures(own)
            largest = max(largest, own.halfspaces.q)
        return largest

    cdef double move(self, const Round* own) noexcept nogil:
        cdef double squares = 0
        if own.n_halfspaces > 0 and own.halfspaces.tau > 0:
            squares = self.paths.move(own)
        return squares if self.rest is None else squares + self.rest.move(own + 1)


cdef class SeveralPaths(Geometry):
    """Models that have the same rows and labels, each with weights and rivals of its own.

    The scores of a trial are those of the first model, row by row, then those of the next. A task finds the round of
    each model, with its scores and transitions, in `Round.models`, and leaves its half-space there.
    """

    cdef tuple models
    cdef Turn first
    cdef Py_ssize_t n, width  # models, and the numbers that the scores of a row take in each
    cdef tuple owners
    cdef Round* rounds
    cdef int32_t* rivals

    def __init__(self, models):
        self.models = tuple(models)
        sizes = {(model.n_features, model.n_columns, model.n_scores, model.dtype) for model in self.models}
        if len(sizes) != 1:
            raise ValueError(f"models that learn side by side have the same features and labels; got {sizes}")
        self.first = Turn(self.models)
        cdef Geometry one = self.first.paths
        self.n = len(self.models)
        self.n_features, self.n_columns, self.dtype = one.n_features, one.n_columns, one.dtype
        self.width = one.n_scores
        self.n_scores = self.n * self.width

    def __reduce__(self):
        return type(self), (self.models,)

    def leaves(self):
        """The geometries of the models, in their order."""
        return list(self.models)

    def resized(self, Py_ssize_t n_features):
        """The models with the first features only, or with new ones of weight zero."""
        return type(self)([model.resized(n_features) for model in self.models])

    def recombined(self, mixing):
        """The models with combinations of their labels: see `Paths`."""
        return type(self)([model.recombined(mixing) for model in self.models])

    def choose(self, Py_ssize_t start, chosen):
        """Say of the features from `start` on whether they weigh steps: see `EdgePaths`."""
        for model in self.models:
            model.choose(start, chosen)

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t values):
        self.first.reserve(rows, values)
        self.owners = np.zeros(self.n * sizeof(Round), np.uint8), np.empty(self.n * rows, np.int32)
        self.rounds = <Round*>address(self.owners[0], "B", self.n * sizeof(Round), writable=True)
        self.rivals = <int32_t*>address(self.owners[1], "i", self.n * rows, writable=True)

    cdef void scores(self, Round* r) noexcept nogil:
        cdef Py_ssize_t m
        for m in range(self.n):
            self.rounds[m] = r[0]
            self.rounds[m].s = r.s + m * r.n_rows * self.width
            self.rounds[m].rival = self.rivals + m * r.n_rows
        self.first.scores(self.rounds)
        r.models = self.rounds

    cdef void measure(self, Round* r) noexcept nogil:
        self.first.measure(self.rounds)

    cdef void curvatures(self, Round* r) noexcept nogil:
        if r.n_halfspaces > 0:
            r.x.squared_norm = self.first.curvatures(self.rounds)

    cdef double move(self, const Round* r) noexcept nogil:
        return self.first.move(self.rounds)
