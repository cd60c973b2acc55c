"""One example at a time: the row, and the matrix it is read from."""

from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer, Py_buffer
)


cdef void* address(object array, str format, Py_ssize_t size, bint writable=False) except? NULL:
    """Return the address of a C-contiguous array of `size` items; its owner must outlive the pointer."""
    cdef Py_buffer view
    cdef void* where
    PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (PyBUF_WRITABLE if writable else 0))
    try:
        if view.format.decode() not in format:
            raise TypeError(f"expected an array of format {format!r}, got {view.format.decode()!r}")
        if view.len != size * view.itemsize:
            raise ValueError(f"expected an array of {size} items, got {view.len // view.itemsize}")
        where = view.buf
    finally:
        PyBuffer_Release(&view)
    return where


cdef class Rows:
    """A matrix read in place, row by row, in C-contiguous float32 or float64.

    Dense: `values` is the matrix. Sparse: `values`, `indices` (int32) and `indptr` (int32 or int64) are those of a
    CSR matrix. Nothing is copied, and nothing is checked that would cost a pass over the data, except by
    `is_canonical`.
    """

    def __init__(self, values, Py_ssize_t n_features, indices=None, indptr=None):
        self.owners = (values, indices, indptr)
        self.n_features = n_features
        self.itemsize = values.dtype.itemsize
        self.n_stored = values.size
        self.values = <const char*>address(values, "fd", self.n_stored)
        if indices is None:
            self.n_rows = len(values)
        else:
            self.n_rows = len(indptr) - 1
            self.indices = <const int32_t*>address(indices, "i", self.n_stored)
            if indptr.dtype.itemsize == 4:
                self.indptr32 = <const int32_t*>address(indptr, "i", self.n_rows + 1)
            else:
                self.indptr64 = <const int64_t*>address(indptr, "lq", self.n_rows + 1)
        self.total = self.n_rows

    def part(self, Py_ssize_t start, Py_ssize_t stop):
        """Return a view of the rows from start up to stop."""
        cdef Rows part
        values, indices, indptr = self.owners
        if indices is None:
            part = Rows(values[start:stop], self.n_features)
        else:
            part = Rows(values, self.n_features, indices, indptr[start:stop + 1])
        part.first, part.total = self.first + start, self.total
        return part

    def widened(self, Py_ssize_t n_features):
        """Return a view of the same rows with this many features; sparse rows only."""
        values, indices, indptr = self.owners
        return Rows(values, n_features, indices, indptr)

    def most_stored(self, trials):
        """Return the largest number of stored values of a trial, the rows from trials[i] up to trials[i + 1]."""
        indptr = self.owners[2]
        ends = trials * self.n_features if indptr is None else indptr[trials]
        return int((ends[1:] - ends[:len(ends) - 1]).max(initial=0))

    def width(self):
        """Return 1 + the largest feature of sparse rows in canonical form."""
        cdef Py_ssize_t i, width = 0
        for i in range(self.n_rows):
            if self.start(i) < self.start(i + 1):
                width = max(width, <Py_ssize_t>self.indices[self.start(i + 1) - 1] + 1)
        return width

    def is_sparse(self):
        """Whether the rows are sparse."""
        return self.indices != NULL

    def is_canonical(self):
        """Return whether each row's indices are strictly increasing and within the features.

        This keeps the loop inside the weights, and makes a sum over stored values a sum over features.
        """
        cdef Py_ssize_t i
        cdef bint good = True
        if self.indices == NULL:
            return True
        if self.start(0) != 0 or self.start(self.n_rows) > self.n_stored:
            return False
        with nogil:
            for i in range(self.n_rows):
                good = good and self.is_increasing(self.start(i), self.start(i + 1))
        return good

    cdef bint is_increasing(self, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
        cdef Py_ssize_t k
        cdef int bad = 0
        if stop < start or stop > self.n_stored:
            return False
        if start == stop:
            return True
        for k in range(start + 1, stop):
            bad |= self.indices[k - 1] >= self.indices[k]
        return not bad and self.indices[start] >= 0 and self.indices[stop - 1] < self.n_features
