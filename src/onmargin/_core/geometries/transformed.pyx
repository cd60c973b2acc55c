"""Geometries that pass transformed rows to an inner geometry."""

from libc.stdint cimport uint8_t

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport Round
from onmargin._core.rows cimport Row


cdef class Transformed(Geometry):
    """An inner geometry whose rows are computed from the incoming ones.

    change   write the row for the inner geometry; `out` has room for it
    take_in  update the transformation with a row that is being learned
    """

    @property
    def bias(self):
        """The value of the intercept coordinate of the changed rows."""
        return self.inner.bias

    @property
    def level(self):
        """Whether changed rows have no features left."""
        return False

    def filling(self):
        """Return the values of missing features of the incoming rows; None if they are zero."""
        return None

    def typical(self):
        """Return the mean of each feature of dense incoming rows; None if it is not known."""
        return None

    def plain(self, weights, intercepts):
        """Return weights and intercepts for the incoming rows, given those for the changed rows."""
        return weights, intercepts

    def trace_rows(self, rows):
        """Return the changed rows of traced ones (see io/_onnx_graph.py)."""
        raise TypeError(f"{type(self).__name__} rows cannot be exported")

    def trace_scores(self, scores):
        """Return the scores of a model, given the traced scores of the inner one."""
        return scores

    def alike(self, Geometry inner):
        """Return the same transformation in front of another geometry."""
        return type(self)(inner)

    def for_prediction(self):
        return self.alike(self.inner.for_prediction())

    cdef void change(self, const Row* x, Row* out) noexcept nogil:
        pass

    cdef void take_in(self, const Row* x) noexcept nogil:
        pass

    cdef void scores(self, Round* r) noexcept nogil:
        cdef Row* x = r.x
        self.change(x, &self.row)
        self.row.squared_norm = 0
        r.x = &self.row
        self.inner.scores(r)
        r.x = x

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        cdef Row row = self.row
        row.values = spare + self.n_scores + self.inner.n_spare
        self.change(x, &row)
        self.inner.mean_scores(&row, s, spare)

    cdef bint averages(self) noexcept nogil:
        return self.inner.averages()

    cdef void measure(self, Round* r) noexcept nogil:
        cdef Row* x = r.x
        self.take_in(x)
        r.x = &self.row
        self.inner.measure(r)
        r.x = x
        self.hand_up(x)

    cdef void norms(self, Round* r) noexcept nogil:
        cdef Row* x = r.x
        r.x = &self.row
        self.inner.norms(r)
        r.x = x
        self.hand_up(x)

    cdef void hand_up(self, Row* x) noexcept nogil:
        """Set the norm of a row to that of the changed one, unless another geometry has measured the row itself."""
        if x.squared_norm == 0:
            x.squared_norm = self.row.squared_norm

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Row* x = r.x
        r.x = &self.row
        self.inner.curvatures(r)
        r.x = x

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Row* x = r.x
        cdef double squares
        (<Round*>r).x = &self.row  # restored: a copy would take longer than short moves
        squares = self.inner.move(r)
        (<Round*>r).x = x
        return squares

    cdef void put_to_sleep(self, const uint8_t* asleep) noexcept nogil:
        self.inner.put_to_sleep(asleep)
