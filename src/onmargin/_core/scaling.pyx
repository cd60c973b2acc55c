"""The size of each feature so far, and rows in units of it."""

from libc.math cimport fabs, sqrt

from onmargin._core.rows cimport Row, Rows, address


ctypedef fused real:
    float
    double


cdef struct Sizes:
    # For feature j over the rows so far: the largest |x_j|, and the sum of (x_j / largest_j)^2, which does not overflow
    # in any units; both are 0 as long as x_j is.
    double* largest
    double* squares
    double rows
    bint by_largest


cdef inline void take_in(double x, Py_ssize_t j, Sizes* sizes) noexcept nogil:
    cdef double size = fabs(x), m = sizes.largest[j]
    if size > m:
        sizes.squares[j] = sizes.squares[j] * (m / size) * (m / size) + 1
        sizes.largest[j] = size
    elif size > 0:
        sizes.squares[j] += (size / m) * (size / m)


cdef inline double in_units(double x, Py_ssize_t j, const Sizes* sizes) noexcept nogil:
    """Return x_j divided by its largest absolute value or root mean square; unchanged if it was always zero."""
    if x == 0 or sizes.largest[j] == 0:
        return x
    x /= sizes.largest[j]
    return x if sizes.by_largest else x * sqrt(sizes.rows / sizes.squares[j])


cdef void pass_over(Rows X, real* out, Sizes* sizes, bint learn) noexcept nogil:
    cdef Row x
    cdef const real* values
    cdef Py_ssize_t i, j, k
    for i in range(X.n_rows):
        X.row(i, &x)
        values = <const real*>x.values
        sizes.rows += learn
        for k in range(x.n):
            j = k if x.indices == NULL else x.indices[k]
            if learn:
                take_in(values[k], j, sizes)
            if out != NULL:
                out[k] = <real>in_units(values[k], j, sizes)
        if out != NULL:
            out += x.n


def scale(Rows X, largest, squares, Py_ssize_t rows, *, bint by_largest, bint learn, out=None):
    """Make one pass over the rows of X; with `learn`, update the sizes, after `rows` earlier rows.

    `out`, if given, is filled with the values of X, each row scaled by the sizes up to and including it if
    it is learned, and by the sizes of all earlier rows if not.
    """
    cdef Sizes sizes
    cdef void* where = NULL
    sizes.largest = <double*>address(largest, "d", X.n_features, writable=learn)
    sizes.squares = <double*>address(squares, "d", X.n_features, writable=learn)
    sizes.rows, sizes.by_largest = rows, by_largest
    if out is not None:
        where = address(out, "f" if X.itemsize == 4 else "d", X.owners[0].size, writable=True)
    with nogil:
        if X.itemsize == 4:
            pass_over(X, <float*>where, &sizes, learn)
        else:
            pass_over(X, <double*>where, &sizes, learn)
