"""Kernel expansions: weights as a sum over support vectors, all of them or at most a budget."""

from functools import partial

import numpy as np

from onmargin._core.geometries.geometry import float_type
from onmargin._core.restore import fill, whole, whole_size, zeros

from libc.math cimport INFINITY, fabs, isfinite, isnan, sqrt
from libc.string cimport memset

from onmargin._core.expansion cimport Expansions, expansions_for
from onmargin._core.geometries.geometry cimport AUTO_BIAS, Columns
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, address, vec_for, vec_padded


def raise_to_power(values, double gamma, double coef0, Py_ssize_t degree):
    """Replace products x.z by the values of a polynomial kernel, (gamma x.z + coef0)^degree, in place."""
    cdef void* v = address(values, "fd", values.size, writable=True)
    if degree == 0:
        values.fill(1)
    else:
        expansions_for(values.itemsize).polynomial(v, values.size, gamma, coef0, degree)


def squared_norms(rows):
    """Return x.x for the rows x of a C-contiguous array."""
    norms = np.empty(len(rows))
    cdef const void* v = address(rows, "fd", rows.size)
    cdef double* out = <double*>address(norms, "d", len(rows), writable=True)
    expansions_for(rows.itemsize).squared_norms(v, len(rows), rows.shape[1], out)
    return norms


def expand(values, coef, sums):
    """Add sum_i coef[i, c] values[i] to each sums[c]; return whether the sums are finite.

    `values` are K of some supports and rows, `coef` the coefficients of the supports (columns of zeros may follow), and
    `sums` has one row per column. Each is summed in the order of the supports, however they are divided into calls.
    """
    cdef Py_ssize_t i, n = len(values), columns = len(sums), rows = sums.shape[1], stride = coef.shape[1]
    cdef const void* v = address(values, "fd", n * rows)
    cdef double* a = <double*>address(coef, "d", n * stride)
    cdef double* s = <double*>address(sums, "d", columns * rows, writable=True)
    cdef const Expansions* expansions = expansions_for(values.itemsize)
    cdef bint finite = True
    with nogil:
        expansions.expand(v, rows, a, stride, n, columns, s)
        for i in range(columns * rows):
            finite = finite and isfinite(s[i])
    return finite


def grown(old, Py_ssize_t rows, shape, dtype):
    """Return memory for at least `rows` with the old content; it doubles if it was too small."""
    if old is not None and len(old) >= rows:
        return old
    new = zeros((max(rows, 2 * (0 if old is None else len(old)), 16), *shape), dtype)
    if old is not None:
        new[:len(old)] = old
    return new


cdef class Expansion(Columns):
    """W = sum_i phi(x_i) c_i over the supports x_i, the rows that moved W; c_i has one coefficient per column.

    Only inner products of phi are needed, the kernel values K(x, z) = <phi(x), phi(z)>: scores are
    s = sum_i K(x_i, x) c_i, the squared norm of a row is K(x, x), and a move along phi(x) makes x a support ([JMLR]
    sec. 3). Before a block of rounds runs, `face` must get the scores of its rows, and their kernel values with
    each other: a move along phi(x) changes the score of row z by its multiple of K(x, z). So each score is a sum over
    the moves in their order, however the rounds were cut into blocks. Where coefficients of old supports change, too
    (`needs_values`), `face` must get the kernel values of the rows with all supports instead, and each round computes
    its scores. A row whose K(x, x) is not positive has no direction and changes nothing.

    The intercept is a constant coordinate as for plain weights: bias^2 is a part of the kernel. Averaging likewise.
    """

    @property
    def sparsifiable(self):
        return False

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, double bias=0.0, Py_ssize_t average=0):
        self.n_features = whole_size(n_features, "n_features")  # no array has this length
        self.n_columns = self.width = whole_size(n_columns, "n_columns", least=1)
        self.dtype = float_type(dtype)
        self.bias = bias
        self.average = whole(average, "average")
        self.vec, self.expansions = vec_for(sizeof(double)), expansions_for(sizeof(double))
        self.n_scores = self.stride = 1 if n_columns == 1 else vec_padded(n_columns, sizeof(double))
        self.intercept, self.lag_intercept = zeros(n_columns), zeros(n_columns)
        self.b = <double*>address(self.intercept, "d", n_columns, writable=True)
        self.lb = <double*>address(self.lag_intercept, "d", n_columns, writable=True)
        self.hold_slots(0)

    def hold_slots(self, Py_ssize_t slots):
        """Make room for this many supports."""
        self.coef_memory = grown(self.coef_memory, slots, (self.stride,), np.float64)
        self.key_memory = grown(self.key_memory, slots, (), np.intp)
        self.place_memory = grown(self.place_memory, slots, (), np.intp)
        self.live_memory = grown(self.live_memory, slots, (), np.int8)
        self.coef = <double*>address(self.coef_memory, "d", self.coef_memory.size, writable=True)
        self.key = <Py_ssize_t*>address(self.key_memory, "lq", len(self.key_memory), writable=True)
        self.place = <Py_ssize_t*>address(self.place_memory, "lq", len(self.place_memory), writable=True)
        self.live = <char*>address(self.live_memory, "b", len(self.live_memory), writable=True)
        if self.average:
            self.lag_memory = grown(self.lag_memory, slots, (self.stride,), np.float64)
            self.lag = <double*>address(self.lag_memory, "d", self.lag_memory.size, writable=True)
        self.c.W, self.c.columns, self.c.stride, self.c.gap = self.coef, self.width, self.stride, 1

    def settings(self):
        """Return the constructor arguments of a geometry of the same kind."""
        return {"bias": self.bias, "average": self.average}

    def __reduce__(self):
        make = partial(type(self), self.n_features, self.n_columns, self.dtype.name, **self.settings())
        return make, (), {"clock": self.clock, **self.arrays()}

    def __setstate__(self, state):
        self.clock = whole(state["clock"], "clock")
        self.n_slots = len(state["keys"])
        self.hold_slots(self.n_slots)
        for name, array in Expansion.arrays(self).items():
            fill(array, state, name)
        if self.n_slots and not 0 <= self.key_memory[:self.n_slots].min():
            raise ValueError("keys must be at least 0")

    def arrays(self):
        """Return views of the learned arrays by name."""
        arrays = {**self.by_slot(), "intercept": self.intercept}
        return arrays | {"lag_intercept": self.lag_intercept} if self.average else arrays

    def by_slot(self):
        """Return the learned arrays with one row per slot."""
        n = self.n_slots
        arrays = {"coef": self.coef_memory[:n, :self.width], "keys": self.key_memory[:n], "live": self.live_memory[:n]}
        return arrays | {"lag": self.lag_memory[:n, :self.width]} if self.average else arrays

    def fork(self):
        """Return a copy to continue with; this one is kept for the case of an error."""
        make, _, state = self.__reduce__()
        copy = make()
        copy.__setstate__(state)
        return copy

    def resize(self, Py_ssize_t n_features):
        """Return a copy for rows with another number of features; the coefficients do not change."""
        cdef Expansion copy = self.fork()
        copy.n_features = n_features
        return copy

    def coefficients(self):
        """Return the coefficients, slots by columns; more columns of zeros may follow."""
        return self.coef_memory[:self.n_slots]

    def supports(self):
        """Return the slots in use, in the order in which they became supports."""
        return np.flatnonzero(self.live_memory[:self.n_slots])

    def mean(self):
        """Return the averaged coefficients (slots by columns) and intercepts; the current ones before averaging."""
        arrays, rounds = self.arrays(), self.clock - self.average + 1
        if not self.average or rounds < 1:
            return arrays["coef"], self.intercept.copy()
        return arrays["coef"] - arrays["lag"] / rounds, self.intercept - self.lag_intercept / rounds

    def restarted(self):
        cdef Expansion copy
        if not self.average or self.clock < self.average:
            return self
        coef, intercept = self.mean()
        copy = self.fork()
        copy.average = copy.clock + 1
        zero = {"lag": np.zeros_like(coef), "lag_intercept": np.zeros_like(intercept)}
        copy.__setstate__({"clock": copy.clock, **copy.arrays(), "coef": coef, "intercept": intercept, **zero})
        return copy

    def recombine(self, column_map):
        """Return a copy with new columns, as a `ColumnMap` makes them of those of this geometry."""
        copy = type(self)(self.n_features, len(column_map), self.dtype, **self.settings())
        mixed = {
            name: column_map.of(array) if name in ("coef", "intercept", "lag", "lag_intercept") else array
            for name, array in self.arrays().items()
        }
        copy.__setstate__({"clock": self.clock, **mixed})
        return copy

    def face(self, diagonal, within=None, keys=None, known=None, *, sums=None, values=None, Py_ssize_t before=0):
        """Set the kernel values of the next rows with themselves and, if they will be learned, with each other; also
        their keys and the slots they already have.

        Either `sums` are their scores without intercept, columns by rows, as `expand` makes them. Or `values` are their
        kernel values with all slots, with room for one more slot per row; then the first `before` rows may be earlier
        ones that a step returns to. Row 0 is the first new row.
        """
        self.block = diagonal, within, keys, known, sums, values
        self.n_rows, self.n_old, self.n_before = len(diagonal), self.n_slots, before
        self.diagonal = <double*>address(diagonal, "d", self.n_rows) + before
        self.sums = self.values = NULL
        if sums is not None:
            self.sums = <double*>address(sums, "d", self.width * self.n_rows, writable=True)
        else:
            self.n_values = values.shape[1]
            self.values = <double*>address(values, "d", self.n_rows * self.n_values, writable=True)
            self.values += before * self.n_values
        if within is not None:
            self.within = <double*>address(within, "d", self.n_rows * self.n_rows) + before * (self.n_rows + 1)
            self.block_key = <Py_ssize_t*>address(keys, "lq", self.n_rows) + before
            self.known = <Py_ssize_t*>address(known, "lq", self.n_rows, writable=True) + before
            self.hold_slots(self.n_slots + self.n_rows)

    def became_supports(self):
        """Return the rows of the block that became supports, in the order of their slots."""
        return self.place_memory[self.n_old:self.n_slots] + self.n_before

    def settle(self):
        """End the block."""
        self.block, self.n_old = None, self.n_slots

    def to_keep(self):
        """Return the slots to keep if there are many unused ones, otherwise None."""
        keep = self.supports()
        return keep if self.n_slots - len(keep) > max(len(keep) // 4, 64) else None

    def compact(self, keep):
        """Free all slots except these."""
        state = self.__reduce__()[2] | {name: array[keep] for name, array in self.by_slot().items()}
        self.forget_memory()
        self.__setstate__(state)

    def forget_memory(self):
        """Move the slots to new memory."""
        self.coef_memory = self.key_memory = self.place_memory = self.live_memory = self.lag_memory = None

    def project(self, sums, diagonal):
        """Return the predicting scores of rows, given those without intercept, columns by rows, and K(x, x)."""
        return sums.T + self.mean()[1]

    cdef double* against(self, Py_ssize_t t) noexcept nogil:
        """Return the kernel values of row t of the block against all supports, including those added in the block."""
        cdef Py_ssize_t i
        cdef double* values = self.values + t * self.n_values
        cdef const double* within = self.within + t * self.n_rows
        for i in range(self.n_old, self.n_slots):
            values[i] = within[self.place[i]]
        return values

    cdef void expand(self, Py_ssize_t t, double* s) noexcept nogil:
        """s = sum_i K(x_i, x) c_i for row t of the block."""
        cdef Py_ssize_t c
        cdef Row row
        if self.sums != NULL:
            for c in range(self.width):
                s[c] = self.sums[c * self.n_rows + t]
        else:
            row.values, row.indices, row.n = self.against(t), NULL, self.n_slots
            self.vec.scores(&row, &self.c, s)

    cdef void scores(self, Round* r) noexcept nogil:
        cdef Py_ssize_t c
        self.expand(r.t, r.s)
        for c in range(self.width):
            r.s[c] += self.b[c]
        r.n_scores = self.n_columns

    cdef void measure(self, Round* r) noexcept nogil:
        cdef double squared_norm = self.diagonal[r.t]
        if isnan(self.bias) and 0 < squared_norm < INFINITY:
            self.bias = AUTO_BIAS * sqrt(squared_norm)
        self.norms(r)
        self.clock += 1

    cdef void norms(self, Round* r) noexcept nogil:
        r.x.squared_norm = max(self.diagonal[r.t] + self.squared_bias(), 0)

    cdef double move(self, const Round* r) noexcept nogil:
        cdef double squares = self.combine(r)
        self.add(self.slot(r.t), r)
        return squares * r.x.squared_norm

    cdef Py_ssize_t slot(self, Py_ssize_t t) noexcept nogil:
        """Return the slot of row t, which becomes a support."""
        cdef Py_ssize_t slot = self.known[t]
        if slot < 0 or (self.in_turn and not self.live[slot]):
            slot = self.known[t] = self.n_slots
            self.n_slots += 1
            self.place[slot], self.key[slot] = t, self.block_key[t]
            memset(self.coef + slot * self.stride, 0, self.stride * sizeof(double))
            if self.average:
                memset(self.lag + slot * self.stride, 0, self.stride * sizeof(double))
        self.live[slot] = 1
        return slot

    cdef void forget(self, Py_ssize_t t) noexcept nogil:
        """Remove row t from the supports."""
        if self.known[t] >= 0 and self.live[self.known[t]]:
            self.remove(self.known[t])

    cdef void remove(self, Py_ssize_t slot) noexcept nogil:
        """Remove a support: its slot stays, with coefficients zero, until many unused slots are freed."""
        cdef Py_ssize_t c
        for c in range(self.width):
            self.b[c] -= self.coef[slot * self.stride + c] * self.squared_bias()
            self.coef[slot * self.stride + c] = 0
        self.live[slot] = 0

    cdef Py_ssize_t first(self) noexcept nogil:
        """Return the oldest support."""
        cdef Py_ssize_t i = 0
        while not self.live[i]:
            i += 1
        return i

    cdef void add(self, Py_ssize_t slot, const Round* r) noexcept nogil:
        """W += (the round's move), which is along phi of this support."""
        cdef Py_ssize_t c, late = max(self.clock - self.average, 0) if self.average else 0
        cdef HalfSpace* h = r.halfspaces
        cdef double squared_bias = self.squared_bias()
        if r.n_halfspaces == 1:
            memset(r.change, 0, self.width * sizeof(double))
            if h.up >= 0:
                r.change[h.up] = h.tau
            if h.down >= 0:
                r.change[h.down] = -h.tau
        for c in range(self.width):
            self.coef[slot * self.stride + c] += r.change[c]
            self.b[c] += r.change[c] * squared_bias
            if late > 0:
                self.lag[slot * self.stride + c] += late * r.change[c]
                self.lb[c] += late * r.change[c] * squared_bias
        if self.sums != NULL:
            self.expansions.expand(
                self.within + r.t * self.n_rows, self.n_rows, r.change, self.width, 1, self.width, self.sums
            )


cdef class Budgeted(Expansion):
    """Base of expansions with a budget: `make_room` removes one support when there is one too many."""

    cdef readonly Py_ssize_t budget
    cdef Py_ssize_t n_live
    cdef object own_memory
    cdef double* own  # K(x, x) of each support

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, Py_ssize_t budget, double bias=0.0):
        self.budget, self.in_turn, self.needs_values = whole(budget, "budget", least=1), True, True
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
        self.n_live = whole(len(self.supports()), "the number of supports", most=self.budget)

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
        """Record a new support with its kernel values against the others."""
        pass

    cdef void count(self, double squared) noexcept nogil:
        """Record a move of this squared length."""
        pass

    cdef void make_room(self, Py_ssize_t new, const double* values) noexcept nogil:
        pass

    cdef double square(self, Py_ssize_t slot) noexcept nogil:
        """Return |c|^2 of a support."""
        return self.inner(slot, slot)

    cdef double inner(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """Return <c_i, c_j> of two supports."""
        cdef Py_ssize_t c
        cdef double total = 0
        for c in range(self.width):
            total += self.coef[i * self.stride + c] * self.coef[j * self.stride + c]
        return total

    cdef void remove(self, Py_ssize_t slot) noexcept nogil:
        Expansion.remove(self, slot)
        self.n_live -= 1


cdef class Oldest(Budgeted):
    """Remove the oldest support."""

    cdef void make_room(self, Py_ssize_t new, const double* values) noexcept nogil:
        self.remove(self.first())


cdef class Smallest(Budgeted):
    """Remove the support with the smallest |c_r|^2 K(x_r, x_r), except the newest."""

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
    """Remove the support that loses least when the newest takes over its projection, c_r K(x_r, x) / K(x, x).

    The loss, |c_r|^2 (K(x_r, x_r) - K(x_r, x)^2 / K(x, x)), is orthogonal to the newest row, so its score
    stays as the step left it.
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
    """Remove the oldest support after shrinking all, so that it does little harm (Dekel, Shalev-Shwartz, Singer, 2008).

    The harm of removing phi g from phi f is counted as phi^2 (|g|^2 - 2 <g, f>) + 2 phi |g| rho, with rho the root mean
    square of all moves, and phi is the largest for which the sum stays below 15/32 of the moves' squares. <g, f> needs
    the kernel values of the supports with each other. They come and go in turn: a ring holds them.
    """

    cdef object gram_memory, tally_memory
    cdef double* gram
    cdef double* tally  # sum of squared moves, their number, the remaining harm, and supports whose slots were freed

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, Py_ssize_t budget, double bias=0.0):
        Budgeted.__init__(self, n_features, n_columns, dtype, budget=budget, bias=bias)
        self.gram_memory, self.tally_memory = zeros((budget + 1, budget + 1)), zeros(4)
        self.gram = <double*>address(self.gram_memory, "d", self.gram_memory.size, writable=True)
        self.tally = <double*>address(self.tally_memory, "d", 4, writable=True)

    def arrays(self):
        return Budgeted.arrays(self) | {"gram": self.gram_memory, "tally": self.tally_memory}

    def __setstate__(self, state):
        Budgeted.__setstate__(self, state)
        fill(self.gram_memory, state, "gram")
        fill(self.tally_memory, state, "tally")
        if not 0 <= self.tally[3] < 2**53:
            raise ValueError(f"the number of freed supports must be at least 0; got {self.tally[3]}")

    def compact(self, keep):
        before = self.n_slots
        Budgeted.compact(self, keep)
        self.tally[3] += before - self.n_slots

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
        cdef double room = self.tally[2], unit
        if linear == INFINITY:  # the product has overflowed
            linear = 2 * sqrt(squared) * sqrt(self.tally[0] / self.tally[1])
        if square + linear > room:
            unit = max(linear, fabs(square), room)
            unit = unit if unit > 1e150 else 1  # products of larger numbers overflow
            phi = room / unit / (linear / unit / 2 + sqrt(
                max(linear / unit * (linear / unit) / 4 + square / unit * (room / unit), 0)
            ))
        self.tally[2] = max(room - phi * (phi * square + linear), 0)
        for i in range(oldest, new + 1):
            for c in range(self.width):
                self.coef[i * self.stride + c] *= phi
        for c in range(self.width):
            self.b[c] *= phi
        self.remove(oldest)
