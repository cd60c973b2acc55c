"""Expansions of at most so many supports, and what each forgets for a new one."""

import numpy as np

from libc.math cimport sqrt

from onmargin._core.geometry_kernel cimport Expansion
from onmargin._core.geometry_kernel import grown
from onmargin._core.row cimport address
from onmargin._core.task cimport Round


cdef class Budgeted(Expansion):
    """The interface: `make_room` removes one support, when there is one too many."""

    cdef readonly Py_ssize_t budget
    cdef Py_ssize_t n_live
    cdef object own_memory
    cdef double* own  # K(x, x) of each support

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, Py_ssize_t budget, double bias=0.0):
        self.budget, self.in_turn = budget, True
        Expansion.__init__(self, n_features, n_columns, dtype, bias=bias)

    def hold_slots(self, Py_ssize_t slots):
        Expansion.hold_slots(self, slots)
        self.own_memory = grown(self.own_memory, slots, (), np.float64)
        self.own = <double*>address(self.own_memory, "d", len(self.own_memory), writable=True)

    def settings(self):
        return {"bias": self.bias, "budget": self.budget}

    def by_slot(self):
        return Expansion.by_slot(self) | {"own": self.own_memory[:self.n_slots]}

    def forget_memory(self):
        Expansion.forget_memory(self)
        self.own_memory = None

    def __setstate__(self, state):
        Expansion.__setstate__(self, state)
        self.own_memory[:self.n_slots] = state["own"]
        self.n_live = len(self.supports())

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Py_ssize_t slot = self.n_slots
        cdef double squared = Expansion.move(self, r)
        if self.n_slots > slot:
            self.own[slot] = r.x.squared_norm
            self.n_live += 1
            self.admit(slot, self.values + r.t * self.n_values)
        self.count(squared)
        if self.n_live > self.budget:
            self.make_room(slot, self.values + r.t * self.n_values)
        return squared

    cdef void admit(self, Py_ssize_t new, const double* values) noexcept nogil:
        """There is a new support, with these kernel values against the others."""
        pass

    cdef void count(self, double squared) noexcept nogil:
        """There was a move of this squared length."""
        pass

    cdef void make_room(self, Py_ssize_t new, const double* values) noexcept nogil:
        pass

    cdef double square(self, Py_ssize_t slot) noexcept nogil:
        """|c|^2 of a support."""
        return self.inner(slot, slot)

    cdef double inner(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """<c_i, c_j> of two supports."""
        cdef Py_ssize_t c
        cdef double total = 0
        for c in range(self.width):
            total += self.coef[i * self.stride + c] * self.coef[j * self.stride + c]
        return total

    cdef void remove(self, Py_ssize_t slot) noexcept nogil:
        Expansion.remove(self, slot)
        self.n_live -= 1


cdef class Oldest(Budgeted):
    """The oldest goes."""

    cdef void make_room(self, Py_ssize_t new, const double* values) noexcept nogil:
        self.remove(self.first())


cdef class Smallest(Budgeted):
    """That of the shortest contribution |c_r|^2 K(x_r, x_r) goes, but not the newest."""

    cdef void make_room(self, Py_ssize_t new, const double* values) noexcept nogil:
        cdef Py_ssize_t i, least = self.first()
        cdef double length, shortest = self.square(least) * self.own[least]
        for i in range(least + 1, new):
            if self.live[i]:
                length = self.square(i) * self.own[i]
                if length < shortest:
                    least, shortest = i, length
        self.remove(least)


cdef class Projected(Budgeted):
    """That goes of which least is lost when the newest takes over its projection: c_r K(x_r, x) / K(x, x).

    What is lost, |c_r|^2 (K(x_r, x_r) - K(x_r, x)^2 / K(x, x)), is orthogonal to the newest row, so that its score
    stays what the step made it.
    """

    cdef void make_room(self, Py_ssize_t new, const double* values) noexcept nogil:
        cdef Py_ssize_t i, c, least = self.first()
        cdef double loss, smallest = self.lost(least, new, values), part
        for i in range(least + 1, new):
            if self.live[i]:
                loss = self.lost(i, new, values)
                if loss < smallest:
                    least, smallest = i, loss
        part = (values[least] + self.squared_bias()) / self.own[new]
        for c in range(self.width):
            self.coef[new * self.stride + c] += part * self.coef[least * self.stride + c]
            self.b[c] += part * self.coef[least * self.stride + c] * self.squared_bias()
        self.remove(least)

    cdef double lost(self, Py_ssize_t i, Py_ssize_t new, const double* values) noexcept nogil:
        cdef double shared = values[i] + self.squared_bias()
        return self.square(i) * (self.own[i] - shared * shared / self.own[new])


cdef class Forgetron(Budgeted):
    """The oldest goes, after all were shrunk so far that it does little harm (Dekel, Shalev-Shwartz, Singer, 2008).

    The harm of removing phi g from phi f is counted as phi^2 (|g|^2 - 2 <g, f>) + 2 phi |g| rho, with rho the root mean
    square of all moves, and phi is the largest for which the sum stays below 15/32 of the moves' squares. <g, f> needs
    the kernel values of the supports with each other. They come and go in turn: a ring holds them.
    """

    cdef object gram_memory, tally_memory
    cdef double* gram
    cdef double* tally  # the moves' squares, their number, the harm still allowed, and supports that left the slots

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, Py_ssize_t budget, double bias=0.0):
        Budgeted.__init__(self, n_features, n_columns, dtype, budget=budget, bias=bias)
        self.gram_memory, self.tally_memory = np.zeros((budget + 1, budget + 1)), np.zeros(4)
        self.gram = <double*>address(self.gram_memory, "d", self.gram_memory.size, writable=True)
        self.tally = <double*>address(self.tally_memory, "d", 4, writable=True)

    def arrays(self):
        return Budgeted.arrays(self) | {"gram": self.gram_memory, "tally": self.tally_memory}

    def __setstate__(self, state):
        Budgeted.__setstate__(self, state)
        self.gram_memory[:] = state["gram"]
        self.tally_memory[:] = state["tally"]

    def compact(self):
        before = self.n_slots
        keep = Budgeted.compact(self)
        if keep is not None:
            self.tally[3] += before - self.n_slots
        return keep

    cdef double* row(self, Py_ssize_t slot) noexcept nogil:
        return self.gram + self.turn(slot) * (self.budget + 1)

    cdef Py_ssize_t turn(self, Py_ssize_t slot) noexcept nogil:
        return (<Py_ssize_t>self.tally[3] + slot) % (self.budget + 1)

    cdef void admit(self, Py_ssize_t new, const double* values) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.first(), new):
            self.row(i)[self.turn(new)] = self.row(new)[self.turn(i)] = values[i] + self.squared_bias()
        self.row(new)[self.turn(new)] = self.own[new]

    cdef void count(self, double squared) noexcept nogil:
        self.tally[0] += squared
        self.tally[1] += 1
        self.tally[2] += squared * 15 / 32

    cdef void make_room(self, Py_ssize_t new, const double* values) noexcept nogil:
        cdef Py_ssize_t i, c, oldest = self.first()
        cdef double squared = self.square(oldest) * self.own[oldest], along = 0, phi = 1
        for i in range(oldest, new + 1):
            along += self.row(oldest)[self.turn(i)] * self.inner(oldest, i)
        cdef double square = squared - 2 * along, linear = 2 * sqrt(squared * self.tally[0] / self.tally[1])
        cdef double room = self.tally[2]
        if square + linear > room:
            phi = room / (linear / 2 + sqrt(max(linear * linear / 4 + square * room, 0)))
        self.tally[2] = max(room - phi * (phi * square + linear), 0)
        for i in range(oldest, new + 1):
            for c in range(self.width):
                self.coef[i * self.stride + c] *= phi
        for c in range(self.width):
            self.b[c] *= phi
        self.remove(oldest)
