"""One example at a time: read, predicted and learned in one call."""

from time import thread_time

from numpy import bool_, generic, int64, ndarray

from onmargin._core.restore import zeros

from cpython.buffer cimport PyBUF_FULL_RO, PyBuffer_Release, PyObject_GetBuffer, Py_buffer
from cpython.dict cimport PyDict_GetItemWithError
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_FromObject
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from onmargin._core.background cimport Background, Work, pays
from onmargin._core.calibration cimport Calibration
from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport Evidence, keep_finite
from onmargin._core.rounds cimport Stage, Totals, run_round, set_asleep
from onmargin._core.rows cimport Row, Rows, address
from onmargin._core.steps.step cimport Step
from onmargin._core.tasks.task cimport Task
from onmargin._core.text.ahead cimport TextBlock, TextsAhead
from onmargin._core.text.names cimport Hashed
from onmargin._core.text.reader cimport Reader, _Column
from onmargin._core.turns cimport Turns


cdef extern from "Python.h":
    PyObject** PySequence_Fast_ITEMS(object items)
    bint PyUnicode_CheckExact(object text)


ctypedef fused real:
    float
    double


cdef enum:
    MOST_RECORDS = 1 << 10  # of a block
    NUMBERS = 1 << 14       # of a block, which ends behind them
    WORTH = 2               # blocks that must be left to start a thread


cdef struct RecordDraft:
    Py_ssize_t start, n  # of its numbers
    const double* aim    # its target and weight


cdef class RecordBlock:
    """Records that were read, to be learned together."""

    cdef _Column drafts, values, indices

    def __init__(self):
        self.drafts, self.values, self.indices = _Column(), _Column(), _Column()
        self.drafts.grow(MOST_RECORDS * sizeof(RecordDraft))


cdef double number(value, str name) except? -1:
    """Return a named argument as a finite number."""
    cdef double result
    if type(value) is float:
        result = value
    else:
        try:
            result = value
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"{name} must be a number; got {value!r:.100}") from None
    if not isfinite(result):
        raise ValueError(f"{name} must be a finite number; got {value!r}")
    return result


cpdef double check_weight(weight) except -1:
    """Return the weight of an example, its factor on C."""
    cdef double w = number(weight, "weight")
    if w < 0:
        raise ValueError(f"weight must be at least 0; got {weight!r}. Use 0 to leave an example out.")
    return w


cdef extern from "scalars.h":
    ctypedef struct Int64Scalar:
        int64_t value
    ctypedef struct BoolScalar:
        unsigned char value


cdef object python_label(y):
    """A label of Python for a scalar of NumPy: to compare the two takes longer than a round."""
    if type(y) is int64:
        return (<Int64Scalar*><PyObject*>y).value
    if type(y) is bool_:
        return True if (<BoolScalar*><PyObject*>y).value else False
    return PyUnicode_FromObject(y) if isinstance(y, str) else y.item()


cdef PyObject* known_label(dict targets, y) except? NULL:
    if type(y) is not str and type(y) is not int and isinstance(y, generic):
        y = python_label(y)
    try:
        return PyDict_GetItemWithError(targets, y)
    except TypeError:
        raise TypeError(f"a label must be a string or a whole number; got {y!r:.100}") from None


cdef bint copy_numbers(const Py_buffer* view, real* out) noexcept:
    """Copy an array of float or double; return whether all its numbers are finite in `out`."""
    cdef const char* where = <const char*>view.buf
    cdef bint good = True
    cdef Py_ssize_t k
    cdef double wide
    cdef float narrow
    for k in range(view.shape[0]):  # the array need not be aligned
        if view.itemsize == 8:
            memcpy(&wide, where, 8)
            out[k] = <real>wide
        else:
            memcpy(&narrow, where, 4)
            out[k] = <real>narrow
        good = good and isfinite(out[k])
        where += view.strides[0]
    return good


cdef class StreamLoop(Work):
    """Rounds of a learner, one example at a time, with features read by name, by hash or from text.

    Without a `reader`, examples are vectors, which `vector` turns into rows. `use_model` gives the loop the learner's
    parts as they are now; it must be called again whenever one was replaced. Weights grow with the names: `model`,
    which owns the learner, widens it when its geometry is full, or when there are more names than some of its experts
    support. A call that raises changes nothing.

    Threads take turns: a call waits until that of another thread is over. `turns` may be held for several calls.

    `learn_many` reads records in blocks. The rounds of a block may run in a second thread while the next block is
    read: they use the weights and the rows of their block, and nothing that reading changes. New names belong to the
    thread that reads; before the weights are widened for them, all rounds before are over.

    targets : the task's target of each label, for `learn_label`
    outward : whether unknown features count in scores, as they do for distances
    n_threads : number of threads, at most, that make features and run rounds for `learn_many`
    stretch : numbers that `learn_many` touches between two checks for signals
    nonnegative : the error for a negative number in an example to learn, with {} for the number; None if all are
    accepted
    """

    cdef readonly object learner, model
    cdef Py_ssize_t max_names  # number of names that the learner supports without a change
    cdef readonly Reader reader
    cdef readonly object vector
    cdef public dict targets
    cdef public bint outward
    cdef readonly Turns turns
    cdef bint reading  # whether an example is being read, whose own code may run
    cdef public str nonnegative
    cdef public Py_ssize_t stretch
    cdef Py_ssize_t touched  # numbers touched since the last check for signals
    cdef Task task
    cdef Step step
    cdef Geometry geometry
    cdef Totals totals
    cdef Stage stage
    cdef bint single
    cdef TextsAhead ahead  # the features of texts
    cdef bint hashes  # whether their words are hashed, which needs no GIL
    cdef public Py_ssize_t n_threads
    cdef RecordBlock block          # the records that are being learned
    cdef _Column drafts          # of the records read since then, whose numbers the reader has
    cdef Background background   # the thread that runs rounds, if there is one
    cdef double since            # CPU time of the thread when it began to read them
    cdef readonly Rows rows  # the row of the current vector, unless it was copied
    cdef object copied       # the numbers of a copied vector
    cdef Row x

    def __init__(self, model, Reader reader=None, vector=None, Turns turns=None):
        self.model, self.learner = model, model.learner
        self.turns = Turns() if turns is None else turns
        self.reader, self.vector = reader, vector
        self.targets = {}
        self.n_threads = 1
        self.hashes = reader is not None and isinstance(reader.names, Hashed)
        self.use_model()

    def use_model(self):
        """Read the parts of the learner again."""
        self.task, self.step, self.geometry = self.learner.task, self.learner.step, self.learner.geometry
        self.totals = self.learner._totals
        self.stage = Stage(self.task, self.geometry, self.step)
        self.single = self.geometry.dtype.itemsize == 4
        self.max_names = min(self.geometry.n_features, self.model.max_names)
        if self.reader is not None:
            self.reader.zeros = self.model.is_table
        self.task.reserve(1, self.geometry.n_scores)
        set_asleep(self.task, self.geometry)

    cdef int receive(self, x, bint grow, bint learn) except -1:
        """Make x the row of the round; its features have weights."""
        self.refuse_if_reading()
        if self.reader is not None:
            self.reader.rewind()
        return self.receive_next(x, grow, learn)

    cdef int refuse_if_reading(self) except -1:
        if self.reading:
            raise RuntimeError("the model was called from within an example that it is reading")
        return 0

    cdef int receive_next(self, x, bint grow, bint learn) except -1:
        """Do the same, and keep the numbers of the rows that were read before."""
        self.reading = True
        try:
            return self.receive_row(x, grow, learn)
        finally:
            self.reading = False

    cdef int receive_row(self, x, bint grow, bint learn) except -1:
        cdef Reader reader = self.reader
        if learn:
            self.totals.check_learns()
        if reader is None:
            if not self.copy_vector(x):
                self.rows = self.vector(x)
                self.rows.row(0, &self.x)
            if learn:
                self.check_signs()
            return 0
        cdef Py_ssize_t known = reader.names.size
        reader.grow, reader.counting = grow, learn
        try:
            reader.fill(x)
            if learn and self.nonnegative is not None:
                reader.row(&self.x)
                reader.drop(self.x.n)
                self.check_signs()
            if reader.names.size > self.max_names:
                self.settle()
                self.model.widen(reader.names.size)
                self.use_model()
        except BaseException:
            reader.forget(known)
            raise
        reader.row(&self.x)
        if grow and not learn:
            reader.names.forget(known)
        return 0

    cdef bint copy_vector(self, x) except -1:
        """Copy the numbers of a plain array, which is faster than building a matrix; return whether it was possible."""
        cdef Py_buffer view
        cdef bint good
        if type(x) is not ndarray or type(self) is not StreamLoop:  # subclasses learn from matrices
            return False
        PyObject_GetBuffer(x, &view, PyBUF_FULL_RO)
        try:
            good = view.ndim == 1 and view.shape[0] == self.geometry.n_features and view.format[1] == 0
            if not good or (view.format[0] != c"d" and view.format[0] != c"f"):
                return False
            if self.copied is None:
                self.copied = zeros(self.geometry.n_features, self.geometry.dtype)
            self.x.values = address(self.copied, "fd", self.geometry.n_features, writable=True)
            self.x.indices, self.x.n = NULL, self.geometry.n_features
            if self.single:
                return copy_numbers(&view, <float*>self.x.values)
            return copy_numbers(&view, <double*>self.x.values)
        finally:
            PyBuffer_Release(&view)

    cdef int check_signs(self) except -1:
        """Refuse a row with a negative number if the model needs non-negative ones."""
        cdef Py_ssize_t k
        cdef double value
        if self.nonnegative is not None:
            for k in range(self.x.n):
                value = (<const float*>self.x.values)[k] if self.single else (<const double*>self.x.values)[k]
                if value < 0:
                    raise ValueError(self.nonnegative.format(value))
        return 0

    cdef int run_row(self, const double* y, Py_ssize_t n_y, double weight) except -1 nogil:
        """Play a round with the row that was received."""
        self.run_one(&self.x, y, n_y, weight)
        self.count()
        return 0

    cdef inline void run_one(self, const Row* x, const double* y, Py_ssize_t n_y, double weight) noexcept nogil:
        self.stage.r.x[0] = x[0]
        self.stage.r.y = y
        self.stage.r.n_y = n_y
        self.stage.r.weight = weight
        run_round(self.task, self.step, self.geometry, self.totals, self.stage)

    cdef inline void count(self) noexcept nogil:
        """Note that the row that was received is learned, whether at once or with its block."""
        if self.reader is not None and self.reader.frequencies is not None:
            self.reader.frequencies.pending = False
        self.touched += (self.x.n + 32) * self.geometry.n_scores

    def learn(self, x, y, weight=1.0):
        """Play a round, whose target is one number; with weight 0 nothing happens."""
        cdef double w = check_weight(weight), target
        self.turns.enter()
        try:
            if w > 0:
                target = self.target(y)
                self.receive(x, True, True)
                self.run_row(&target, 1, w)
        finally:
            self.turns.leave()

    def learn_label(self, x, y, weight=1.0):
        """Play a round for a label; return False without any change if the label is unknown."""
        cdef double w = check_weight(weight), target
        cdef PyObject* known
        self.turns.enter()
        try:
            if w == 0:
                return True
            known = known_label(self.targets, y)
            if known == NULL:
                return False
            target = <object>known
            self.receive(x, True, True)
            self.run_row(&target, 1, w)
            return True
        finally:
            self.turns.leave()

    def learn_many(self, tuple X, list y, list weights, Py_ssize_t first, bint labelled):
        """Play rounds with the examples up to one whose label is unknown or that is refused.

        Return its index; it has changed nothing. Without weights, all are 1.
        """
        self.turns.enter()
        try:
            return self.run_many(X, y, weights, first, labelled)
        finally:
            self.turns.leave()

    cdef Py_ssize_t run_many(self, tuple X, list y, list weights, Py_ssize_t first, bint labelled) except -1:
        cdef _Column memory = _Column()
        cdef double* aims = <double*>memory.room((2 * (len(X) - first) + 1) * sizeof(double))
        cdef Py_ssize_t n = self.aim(y, weights, first, labelled, aims, len(X) - first)
        cdef PyObject** examples = PySequence_Fast_ITEMS(X) + first
        cdef Py_ssize_t k = 0, stop = 0
        cdef bint reads_texts = self.reader is not None and self.reader.text is not None, is_text
        while k == stop < n:
            is_text = reads_texts and PyUnicode_CheckExact(<object>examples[k])
            while stop < n and is_text == (reads_texts and PyUnicode_CheckExact(<object>examples[stop])):
                stop += 1
            if is_text:
                k += self.learn_texts(examples + k, aims + 2 * k, stop - k)
            elif self.reader is None:
                k += self.learn_vectors(examples + k, aims + 2 * k, stop - k)
            else:
                k += self.learn_records(examples + k, aims + 2 * k, stop - k)
        return first + k

    cdef Py_ssize_t aim(
        self, list y, list weights, Py_ssize_t first, bint labelled, double* aims, Py_ssize_t n
    ) except -1:
        """Read the target and the weight of each of n examples; return how many are valid before the first error."""
        cdef PyObject* known
        cdef Py_ssize_t k
        for k in range(n):
            try:
                aims[2 * k + 1] = 1 if weights is None else check_weight(weights[first + k])
                if aims[2 * k + 1] == 0:
                    continue
                if labelled:
                    known = known_label(self.targets, y[first + k])
                    if known == NULL:
                        return k
                    aims[2 * k] = <object>known
                else:
                    aims[2 * k] = self.target(y[first + k])
            except (TypeError, ValueError):
                return k
        return n

    cdef Py_ssize_t learn_vectors(self, PyObject** vectors, const double* aims, Py_ssize_t n) except -1:
        """Learn vectors; return how many, up to one that is refused."""
        cdef Py_ssize_t k
        for k in range(n):
            if self.touched > self.stretch:
                self.hear()
            try:
                if aims[2 * k + 1] > 0:
                    self.receive(<object>vectors[k], True, True)
                    self.run_row(&aims[2 * k], 1, aims[2 * k + 1])
            except (TypeError, ValueError):
                return k
        return n

    cdef Py_ssize_t learn_records(self, PyObject** records, const double* aims, Py_ssize_t n) except -1:
        """Learn records, which are read in blocks; return how many, up to one that is refused.

        Whatever ends the reading, all records before it are learned.
        """
        cdef Py_ssize_t k
        self.refuse_if_reading()
        self.reader.rewind()
        if self.block is None:
            self.block, self.drafts = RecordBlock(), RecordBlock().drafts
        self.since = thread_time()
        try:
            for k in range(n):
                if self.touched > self.stretch:
                    self.settle()  # a signal handler may use the model
                    self.hear()
                if aims[2 * k + 1] == 0:
                    continue
                try:
                    self.read_record(<object>records[k], &aims[2 * k])
                except (TypeError, ValueError):
                    return k
                if self.n_numbers() >= NUMBERS or self.n_drafts() == MOST_RECORDS:
                    self.end_block(n - k)
            return n
        finally:
            self.settle()
            if self.background is not None:
                self.background.close()
                self.background = None

    cdef int read_record(self, x, const double* aim) except -1:
        """Read the next record of a block."""
        cdef RecordDraft* draft
        self.receive_next(x, True, True)
        draft = <RecordDraft*>self.drafts.extend(sizeof(RecordDraft))
        draft.start, draft.n, draft.aim = self.n_numbers() - self.x.n, self.x.n, aim
        self.count()
        return 0

    cdef Py_ssize_t n_drafts(self) noexcept:
        return self.drafts.used // <Py_ssize_t>sizeof(RecordDraft)

    cdef Py_ssize_t n_numbers(self) noexcept:
        """Return how many numbers the records of the block have that is being read."""
        return self.reader.indices.used // <Py_ssize_t>sizeof(int32_t)

    cdef end_block(self, Py_ssize_t left):
        """Play a block, of which `left` records are left behind it; start a second thread if this saves time."""
        cdef double reading, running, now = thread_time()
        cdef bint worth = left > WORTH * self.n_drafts()
        reading = now - self.since
        self.hand_over()
        self.since = thread_time()
        running = self.since - now
        if self.background is None and self.n_threads > 1 and worth and pays(reading, running):
            self.background = Background()

    cdef hand_over(self):
        """Learn the records that were read, in the second thread if there is one."""
        cdef RecordBlock block = self.block
        cdef Reader reader = self.reader
        if self.background is not None:
            self.background.wait()
        block.drafts, self.drafts = self.drafts, block.drafts
        block.values, reader.values = reader.values, block.values
        block.indices, reader.indices = reader.indices, block.indices
        self.drafts.used = 0
        reader.rewind()
        if self.background is not None:
            self.background.start(self)
        else:
            with nogil:
                self.run()

    cdef void run(self) noexcept nogil:
        """Play the rounds of a block."""
        cdef const int32_t* indices = <int32_t*>self.block.indices.start
        cdef Py_ssize_t k, n = self.block.indices.used // <Py_ssize_t>sizeof(int32_t)
        cdef RecordDraft* draft
        cdef Row x
        x.squared_norm = 0  # not measured yet
        for k in range(self.block.drafts.used // <Py_ssize_t>sizeof(RecordDraft)):
            draft = <RecordDraft*>self.block.drafts.start + k
            x.indices = indices + draft.start
            x.values = self.block.values.start + draft.start * (4 if self.single else 8)
            x.n, x.ahead = draft.n, n - draft.start  # the weights of the next records are fetched ahead
            self.run_one(&x, draft.aim, 1, draft.aim[1])

    cdef settle(self):
        """Play the records that were read, and wait until all rounds are over."""
        if self.drafts is not None and self.drafts.used > 0:
            self.hand_over()
        if self.background is not None:
            self.background.wait()

    cdef hear(self):
        """Handle signals."""
        self.touched = 0
        PyErr_CheckSignals()

    cdef Py_ssize_t learn_texts(self, PyObject** texts, const double* aims, Py_ssize_t n) except -1:
        """Learn texts whose features are made ahead of the rounds; return how many, up to one that is refused.

        Hashed texts are learned without the GIL. New names need it: to take it again for each of them would be slow if
        another thread runs Python code.
        """
        cdef TextsAhead ahead = self.ahead
        cdef Py_ssize_t k = 0
        self.ahead = None  # a signal handler may use the model
        if ahead is None:
            ahead = TextsAhead(self.reader, self.n_threads)
        ahead.begin(texts, n)
        try:
            while k < n:
                self.reader.grow = self.reader.counting = True
                if self.hashes:
                    ahead.current()
                    with nogil:
                        k = self.run_blocks(ahead, aims, k)
                else:
                    k = self.run_block(ahead.current(), aims, k)
                if self.touched > self.stretch:
                    self.hear()
                elif not ahead.is_finished(k):  # the weights may have to be widened
                    try:
                        self.receive(<object>texts[k], True, True)
                    except (TypeError, ValueError):
                        return k
                    self.run_row(&aims[2 * k], 1, aims[2 * k + 1])
                    k += 1
                if ahead.is_finished(k):
                    ahead.advance()
        finally:
            ahead.close()
        self.ahead = ahead
        return n

    cdef Py_ssize_t run_blocks(self, TextsAhead ahead, const double* aims, Py_ssize_t first) except -1 nogil:
        """Learn blocks up to the next check for signals, or until a thread should be started."""
        cdef Py_ssize_t k = first
        while True:
            k = self.run_block(<TextBlock>ahead.ring[ahead.finished % ahead.depth], aims, k)
            if self.touched > self.stretch or not ahead.is_finished(k) or ahead.is_late(ahead.finished + 1):
                return k
            if k == ahead.n_texts:
                return k
            ahead.advance()
            if not ahead.is_ready():
                ahead.wait()

    cdef Py_ssize_t run_block(self, TextBlock block, const double* aims, Py_ssize_t first) except -1 nogil:
        """Learn the rest of a block up to the next check for signals, or up to a text with too many new names.

        Return the index of the next text.
        """
        cdef Py_ssize_t k
        for k in range(first, block.stop()):
            if self.touched > self.stretch:
                return k
            if aims[2 * k + 1] == 0:
                continue
            if self.reader.names.size + block.prepare(k - block.first, self.reader) > self.max_names:
                return k
            block.row(k - block.first, self.reader, &self.x)
            self.run_row(&aims[2 * k], 1, aims[2 * k + 1])
        return block.stop()

    def target_of(self, y):
        """Return the target of an example, a number that fits the weights."""
        return self.target(y)

    cdef double target(self, y) except? -1:
        """Return a number that fits the weights."""
        cdef double target = number(y, "y")
        if self.single and not isfinite(<float>target):
            raise ValueError(f"y must fit the weights, which are float32; got {y!r}")
        return target

    def read(self, x):
        """Read an example to learn, adding its names. Hold `turns` until it is learned."""
        self.turns.enter()
        try:
            self.receive(x, True, True)
        finally:
            self.turns.leave()

    def run_round(self, y, double weight):
        """Play a round with the example that was read, whose target is an array of numbers."""
        self.turns.enter()
        try:
            self.run_row(<double*>address(y, "d", len(y)), len(y), weight)
        finally:
            self.turns.leave()

    cdef int score(self, x) except -1:
        """Compute the predicting scores, with averaged weights if there are any."""
        self.receive(x, self.outward, False)
        self.geometry.mean_scores(&self.x, self.stage.r.s, self.stage.r.change)
        keep_finite(self.stage.r.s, self.geometry.n_scores)
        return 0

    cdef Py_ssize_t look(self, x) except -1:
        """Compute the scores of the task; return their number."""
        self.score(x)
        return self.task.settle(self.stage.r.s, self.geometry.n_columns)

    def check(self, x):
        """Raise the error of learning an example with these features."""
        self.turns.enter()
        try:
            self.receive(x, self.outward, False)
            self.check_signs()
        finally:
            self.turns.leave()

    def scores(self, x):
        """Return the scores of an example."""
        cdef Py_ssize_t c, n
        self.turns.enter()
        try:
            n = self.look(x)
            return [self.stage.r.s[c] for c in range(n)]
        finally:
            self.turns.leave()

    def best(self, x):
        """Return the first column of highest score; for one column, whether its score is at least zero."""
        cdef Py_ssize_t c, best = 0, n
        cdef double* s
        self.turns.enter()
        try:
            n = self.look(x)
            s = self.stage.r.s
            if n == 1:
                return 1 if s[0] >= 0 else 0
            for c in range(1, n):
                if s[c] > s[best]:
                    best = c
            return best
        finally:
            self.turns.leave()

    def probabilities(self, x):
        """Return the probabilities of the classes of an example."""
        cdef Py_ssize_t k
        cdef Evidence e
        cdef Calibration calibration = self.totals.calibration
        self.turns.enter()
        try:
            self.score(x)
            e = self.task.evidence(self.stage.r.s, self.geometry.n_columns, self.stage.r.change)
            calibration.show(&e, calibration.p)
            return [calibration.p[k] for k in range(calibration.n_classes)]
        finally:
            self.turns.leave()

    def features(self, x, bint new=False):
        """Return the places and the values of the known features of an example, and of new ones if these count."""
        self.turns.enter()
        try:
            self.receive(x, new, False)
            return self.entries()
        finally:
            self.turns.leave()

    def entries(self):
        """Return the places and the values of the features of the example that was read last."""
        cdef Py_ssize_t k
        places = [k if self.x.indices == NULL else (<const int32_t*>self.x.indices)[k] for k in range(self.x.n)]
        values = [
            (<const float*>self.x.values)[k] if self.single else (<const double*>self.x.values)[k]
            for k in range(self.x.n)
        ]
        return places, values
