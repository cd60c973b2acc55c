"""The exact step onto all half-spaces of a trial at once."""

cdef void solve_in_place(double* H, double* d, Py_ssize_t m) noexcept nogil
