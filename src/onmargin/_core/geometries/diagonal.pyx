"""Weights with a diagonal metric: an adaptive learning rate per weight."""

import numpy as np

from onmargin._core.restore import zeros

from libc.math cimport INFINITY, sqrt

from onmargin._core.geometries.geometry cimport Euclidean
from onmargin._core.metric cimport METRIC_LEAST, metric_for
from onmargin._core.round cimport HalfSpace, Round, finite
from onmargin._core.rows cimport Row, address


cdef class Diagonal(Euclidean):
    """Weights with a diagonal metric A_c per column: a move of tau is W[:, c] += tau A_c x.

    That solves min <w - w_t, A^-1 (w - w_t)> / 2 under the half-space, as the plain step does with A = 1. The squared
    length of a half-space's direction is the sum of x'A_c x over its columns. Half-spaces must not share columns.

    The intercept is the weight of a coordinate of value `bias`, in score units: a move of tau adds tau A bias^2. The
    entries of A are stored in `metric`, next to the weights in memory, and for the intercepts in `metric_intercept`.
    """

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, bint sparse=False, double bias=0.0,
                 Py_ssize_t average=0):
        super().__init__(n_features, n_columns, dtype, sparse=sparse, bias=bias, average=average)
        self.primitives = metric_for(self.dtype.itemsize)
        memory = self.blank(3 if average else 2)  # weight, metric and lag next to each other
        self.w, self.weights = self.place(memory, 0), self.view(memory, 0)
        self.m, self.metric = self.place(memory, 1), self.view(memory, 1)
        if average:
            self.l, self.lag = self.place(memory, 2), self.view(memory, 2)
        if self.start:
            self.metric[:] = self.start
        self.metric_intercept = np.full(n_columns, self.start)
        self.mb = <double*>address(self.metric_intercept, "d", n_columns, writable=True)

    @property
    def guards(self):
        return True

    @property
    def summed_metrics(self):
        return self.n_columns

    def by_feature(self):
        """Return the learned arrays per feature except the weights, by name; features are the last axis."""
        return {"metric": self.metric}

    def others(self):
        """Return the other learned arrays by name."""
        return {"metric_intercept": self.metric_intercept}

    def arrays(self):
        """Return the learned arrays by name."""
        return {**self.columns(), **self.by_feature(), **self.others()}

    def recombine(self, column_map):
        """Combine columns as for plain weights; a column that comes from another keeps its metric."""
        copy = super().recombine(column_map)
        runs = column_map.runs
        if runs is None:
            kept = column_map.factor != 0
            runs = [(kept, column_map.source[kept])]
        for name, array in {**self.by_feature(), **self.others()}.items():
            if name.startswith("metric"):
                for new, old in runs:
                    getattr(copy, name).T[..., new] = array.T[..., old]  # in the order of memory
            else:
                getattr(copy, name)[...] = array
        return copy

    def resize(self, Py_ssize_t n_features):
        """Return a copy with the first features only, or with new ones of weight zero."""
        copy = super().resize(n_features)
        shared = min(n_features, self.n_features)
        for name, array in self.by_feature().items():
            getattr(copy, name)[..., :shared] = array[..., :shared]
        for name, array in self.others().items():
            getattr(copy, name)[...] = array
        return copy

    cdef double length(self, const Row* x, Py_ssize_t c) noexcept nogil:
        """Return x'A_c x, the intercept's coordinate included."""
        return 0

    cdef void go(self, const Round* r, const HalfSpace* h, Py_ssize_t c, double a) noexcept nogil:
        """W[:, c] += a A_c x; also update the averaged weights and the metric."""
        pass

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        cdef bint measured = r.x.squared_norm < INFINITY  # otherwise the metric would not be finite
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            h.q = (self.length(r.x, h.up) if h.up >= 0 else 0) + (self.length(r.x, h.down) if h.down >= 0 else 0)
            if not measured:
                h.q = INFINITY

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Py_ssize_t i
        cdef const HalfSpace* h
        cdef double squares = 0
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            if h.tau > 0:
                squares += h.tau * (h.tau * h.q)  # tau alone may be too large to be squared
                if h.up >= 0:
                    self.go(r, h, h.up, h.tau)
                if h.down >= 0:
                    self.go(r, h, h.down, -h.tau)
        return squares


cdef class Adaptive(Diagonal):
    """A = 1 / h, with h^2 = sum x_j^2 over the rounds that moved the column, this one included ([ADAGRAD]).

    For projections and hinge losses, whose slope is 1 where they are not 0.
    """

    cdef double length(self, const Row* x, Py_ssize_t c) noexcept nogil:
        cdef double bias = self.squared_bias()
        return self.primitives.root_length(x, &self.m, c, NULL) + bias * inverse(sqrt(self.mb[c] * self.mb[c] + bias))

    cdef double slope(self, const Round* r, const HalfSpace* h) noexcept nogil:
        """Return the factor of x_j in the sum of squares."""
        return 1

    cdef void go(self, const Round* r, const HalfSpace* h, Py_ssize_t c, double a) noexcept nogil:
        cdef double bias = self.squared_bias(), g = self.slope(r, h), step
        cdef Py_ssize_t missing = self.missing()
        self.primitives.root_move(r.x, &self.w, &self.m, c, NULL, a, g)
        self.mb[c] = sqrt(finite(self.mb[c] * self.mb[c] + g * g * bias))
        step = product(a, bias, inverse(self.mb[c]))
        self.b[c] += step
        if missing > 0:
            self.primitives.root_add(r.x, &self.l, &self.m, c, NULL, a * missing)
            self.lb[c] += step * missing


cdef class GradientAdaptive(Adaptive):
    """A = 1 / h, with h^2 = sum (g x_j)^2, g being the slope of a smooth loss ([ADAGRAD]).

    For gradient descent: a half-space has the slope as its `loss`, and lengths are not used. Nearly every round moves a
    little; with g = 1 the learning rates would fall too quickly.
    """

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(r.n_halfspaces):
            r.halfspaces[i].q = 0

    cdef double slope(self, const Round* r, const HalfSpace* h) noexcept nogil:
        return h.loss * r.weight

    cdef void go(self, const Round* r, const HalfSpace* h, Py_ssize_t c, double a) noexcept nogil:
        if in_range(h.loss * r.weight, r.x):
            Adaptive.go(self, r, h, c, a)


cdef class Normalized(Diagonal):
    """A = k / (s h): h as above, s the largest |x_j| and k = sqrt(t / N), after t rounds ([NAG]).

    N = sum_t sum_j (x_j / s_j)^2 is as if every feature were in [-1, 1]. If x_j is multiplied by a, A x is by 1 / a, so
    scores do not depend on the units of a feature. Deviation: the weight of a feature stays when its s grows.
    """

    cdef readonly object scales  # n_features
    cdef readonly object counts  # t and N
    cdef void* s
    cdef double* n
    cdef double k                # the factor k of the round

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, bint sparse=False, double bias=0.0,
                 Py_ssize_t average=0):
        super().__init__(n_features, n_columns, dtype, sparse=sparse, bias=bias, average=average)
        self.scales = zeros(n_features, self.dtype)
        self.s = address(self.scales, "fd", n_features, writable=True)
        self.counts = np.zeros(2)
        self.n = <double*>address(self.counts, "d", 2, writable=True)

    def by_feature(self):
        return {**super().by_feature(), "scales": self.scales}

    def others(self):
        return {**super().others(), "counts": self.counts}

    cdef void measure(self, Round* r) noexcept nogil:
        Diagonal.measure(self, r)
        self.n[0] += 1
        self.n[1] += self.primitives.extend(r.x, self.s) + (self.squared_bias() > 0)
        self.k = sqrt(self.n[0] / self.n[1]) if self.n[1] > 0 else 0

    cdef double length(self, const Row* x, Py_ssize_t c) noexcept nogil:
        cdef double bias = self.squared_bias()
        return self.k * (
            self.primitives.root_length(x, &self.m, c, self.s)
            + bias * inverse(sqrt(bias) * sqrt(self.mb[c] * self.mb[c] + bias))
        )

    cdef void go(self, const Round* r, const HalfSpace* h, Py_ssize_t c, double a) noexcept nogil:
        cdef double bias = self.squared_bias(), step
        cdef Py_ssize_t missing = self.missing()
        self.primitives.root_move(r.x, &self.w, &self.m, c, self.s, self.k * a, 1)
        self.mb[c] = sqrt(finite(self.mb[c] * self.mb[c] + bias))
        step = product(self.k * a, bias, inverse(sqrt(bias) * self.mb[c]))
        self.b[c] += step
        if missing > 0:
            self.primitives.root_add(r.x, &self.l, &self.m, c, self.s, self.k * a * missing)
            self.lb[c] += step * missing


cdef class Confidence(Diagonal):
    """Each weight is the mean of a Gaussian, and its variance is the metric: A = V, at first 1 ([AROW]).

    A move along v makes V the diagonal of V - beta V v v' V, so V[j, c] -= beta (V[j, c] x_j)^2, where beta < 1 / v'Vv
    is set by the step: variances stay above zero. With `forgetting`, the variances that moved then grow by that factor,
    up to 1.
    """

    cdef public double forgetting

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, bint sparse=False, double bias=0.0,
                 Py_ssize_t average=0, double forgetting=0.0):
        self.start = 1
        self.forgetting = forgetting
        super().__init__(n_features, n_columns, dtype, sparse=sparse, bias=bias, average=average)

    @property
    def summed_metrics(self):
        return 0

    def settings(self):
        return {**super().settings(), "forgetting": self.forgetting}

    cdef double length(self, const Row* x, Py_ssize_t c) noexcept nogil:
        return self.primitives.variance(x, &self.m, c) + self.squared_bias() * self.mb[c]

    cdef void go(self, const Round* r, const HalfSpace* h, Py_ssize_t c, double a) noexcept nogil:
        cdef Py_ssize_t missing = self.missing()
        cdef double bias = self.squared_bias(), step = product(a, bias, self.mb[c])
        cdef double[2] rates
        rates[0], rates[1] = h.beta, 1 + self.forgetting
        if missing > 0:
            self.primitives.variance_add(r.x, &self.l, &self.m, c, a * missing)
            self.lb[c] += step * missing
        self.b[c] += step
        self.primitives.variance_move(r.x, &self.w, &self.m, c, a, rates)
        if bias > 0:
            self.mb[c] = rates[1] * (self.mb[c] - h.beta * bias * self.mb[c] * self.mb[c])
            self.mb[c] = min(max(self.mb[c], METRIC_LEAST), 1)
