"""The geometry of weights that are known more or less well."""

from onmargin._core.geometry_adaptive cimport Diagonal
from onmargin._core.metric cimport METRIC_LEAST
from onmargin._core.row cimport Row


cdef class Confidence(Diagonal):
    """Each weight is the mean of a Gaussian, and its variance is the metric: A = V, at first 1 ([AROW]).

    A move along v makes V the diagonal of V - beta V v v' V, so V[j, c] -= beta (V[j, c] x_j)^2, where beta < 1 / v'Vv
    is the step's: variances stay above zero. With `forgetting` those that moved then grow by that part, up to 1 again.
    """

    cdef public double forgetting

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, bint sparse=False, double bias=0.0,
                 Py_ssize_t average=0, double forgetting=0.0):
        self.start = 1
        self.forgetting = forgetting
        super().__init__(n_features, n_columns, dtype, sparse=sparse, bias=bias, average=average)

    def settings(self):
        return {**super().settings(), "forgetting": self.forgetting}

    cdef double length(self, const Row* x, Py_ssize_t c) noexcept nogil:
        return self.primitives.variance(x, &self.m, c) + self.squared_bias() * self.mb[c]

    cdef void go(self, const Row* x, Py_ssize_t c, double a, double beta) noexcept nogil:
        cdef Py_ssize_t missing = self.missing()
        cdef double bias = self.squared_bias(), step = a * bias * self.mb[c]
        cdef double[2] rates
        rates[0], rates[1] = beta, 1 + self.forgetting
        if missing > 0:
            self.primitives.variance_add(x, &self.l, &self.m, c, a * missing)
            self.lb[c] += step * missing
        self.b[c] += step
        self.primitives.variance_move(x, &self.w, &self.m, c, a, rates)
        if bias > 0:
            self.mb[c] = rates[1] * (self.mb[c] - beta * bias * self.mb[c] * self.mb[c])
            self.mb[c] = min(max(self.mb[c], METRIC_LEAST), 1)
