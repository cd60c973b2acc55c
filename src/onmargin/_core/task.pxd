"""A task turns scores and a target into half-spaces, and scores into a prediction."""


cdef struct HalfSpace:
    # {W : <W[:, up], x> - <W[:, down], x> must grow by at least `loss`}; a column of -1 is absent.
    Py_ssize_t up
    Py_ssize_t down
    double loss
    double tau      # how far to go along it: the step's answer
    bint mistaken   # violated by so much that it makes the prediction wrong


cdef struct Round:
    HalfSpace* violated
    Py_ssize_t n_violated
    double loss
    double squared_loss
    double cost
    bint mistake


cdef class Task:
    cdef void constrain(self, const double* s, Py_ssize_t n_columns, double y, Round* r) noexcept nogil
