"""Features of texts, made in blocks ahead of the rounds by several threads.

What depends on the order of the texts is left to the thread that learns: it adds new names, counts documents and runs
the rounds. The other threads find words, hash them and look them up. Nothing they do changes the result, and they can
stop at any time.
"""

from _thread import start_new_thread
from copy import copy

from cpython.object cimport PyObject
from cpython.pythread cimport (
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_release_lock,
    WAIT_LOCK,
)
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from onmargin._core.background cimport free_lock
from onmargin._core.rows cimport Row
from onmargin._core.text.names cimport Missing, Table
from onmargin._core.text.reader cimport Reader, _Column

cdef extern from "Python.h" nogil:
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject* text)
    PyObject** PySequence_Fast_ITEMS(object items)


cdef enum:
    CHARACTERS = 1 << 15  # of the texts of a block, at least
    MOST_TEXTS = 512      # of a block
    MOST_HELPERS = 7      # features rarely take more than eight times as long as the rounds, which have one thread
    WORTH = 4             # blocks that must be left to start a thread
    PADDING = 15          # readable bytes behind a word


cdef struct Draft:
    bint complete          # whether the row is made
    Py_ssize_t start, n    # of its non-zeros, or of the places of its n-grams
    Py_ssize_t missing, n_missing


cdef class TextBlock:
    """The features of consecutive texts, as far as they can be made without knowing the texts before them."""

    def __init__(self, Reader reader):
        self.reader = Reader(reader.names, grow=False, dtype=reader.dtype, text=copy(reader.text))
        self.counted = reader.frequencies is not None
        self.drafts, self.places, self.missing, self.letters = _Column(), _Column(), _Column(), _Column()

    cdef void claim(self, PyObject** texts, Py_ssize_t first, Py_ssize_t n, Table table) noexcept nogil:
        self.texts, self.first, self.n, self.table = texts, first, n, table
        self.made = self.one_by_one = False

    cdef Py_ssize_t stop(self) noexcept nogil:
        """Return the index of the first text behind the block."""
        return self.first + self.n

    cdef bint is_over(self) noexcept nogil:
        """Return whether no thread is making the block: it is made, or its texts are read one by one."""
        return self.made or self.one_by_one

    cdef int make(self) except -1 nogil:
        cdef Py_ssize_t k
        self.reader.rewind()
        self.drafts.used = self.places.used = self.missing.used = self.letters.used = 0
        for k in range(self.n):
            self.draft(self.texts[self.first + k], self.reader)
        return 0

    cdef int draft(self, PyObject* text, Reader reader) except -1 nogil:
        """Make the row of a text, or keep the places of its words and the spelling of those that have none."""
        cdef Py_ssize_t k, n = reader.look_up(self.table, text)
        cdef Draft* draft = <Draft*>self.drafts.extend(sizeof(Draft))
        cdef Missing* missing
        cdef const char* word
        cdef Row row
        draft.complete, draft.n_missing = reader.n_missing == 0 and not self.counted, reader.n_missing
        if draft.complete:
            draft.start = reader.indices.used // <Py_ssize_t>sizeof(int32_t)
            reader.weigh(<int32_t*>reader.places.start, n)
            reader.row(&row)
            draft.n = row.n
            return 0
        draft.start, draft.n = self.places.used // <Py_ssize_t>sizeof(int32_t), n
        draft.missing = self.missing.used // <Py_ssize_t>sizeof(Missing)
        # Sorting needs as much room again.
        memcpy(self.places.extend(2 * n * sizeof(int32_t)), reader.places.start, n * sizeof(int32_t))
        missing = <Missing*>self.missing.extend(reader.n_missing * sizeof(Missing))
        memcpy(missing, reader.missing.start, reader.n_missing * sizeof(Missing))
        for k in range(reader.n_missing):
            word = reader.text.letters + missing[k].start
            missing[k].start = self.letters.used
            memcpy(self.letters.extend(missing[k].size + PADDING), word, missing[k].size)
        return 0

    cdef Py_ssize_t prepare(self, Py_ssize_t k, Reader reader) except -1 nogil:
        """Look up the words of a text, unless its block was made; return how many n-grams had no place then."""
        if self.made:
            return (<Draft*>self.drafts.start)[k].n_missing
        self.found = reader.look_up(reader.names.table, self.texts[self.first + k])
        return reader.n_missing

    cdef int row(self, Py_ssize_t k, Reader reader, Row* x) except -1 nogil:
        """Set the row of the text that was prepared. The reader adds the missing names and counts the document."""
        cdef Draft* draft = <Draft*>self.drafts.start + k
        cdef int32_t* places
        cdef Py_ssize_t n
        if not self.made:
            places = <int32_t*>reader.places.start
            n = reader.resolve(
                places, self.found, reader.text.letters, <Missing*>reader.missing.start, reader.n_missing
            )
        elif draft.complete:
            x.indices = <int32_t*>self.reader.indices.start + draft.start
            x.values = self.reader.values.start + draft.start * (4 if self.reader.single else 8)
            x.n = draft.n
            # The weights of the next texts are fetched ahead.
            x.ahead = self.reader.indices.used // <Py_ssize_t>sizeof(int32_t) - draft.start
            return 0
        else:
            places = <int32_t*>self.places.start + draft.start
            n = reader.resolve(
                places, draft.n, self.letters.start, <Missing*>self.missing.start + draft.missing, draft.n_missing
            )
        reader.weigh(places, n)
        reader.rewind()
        return reader.row(x)


cdef class TextsAhead:
    """Blocks of texts in order, made by up to `n_threads` threads, of which one is the caller's.

    A block is claimed by a thread, made, and learned; there are at most `depth` blocks between. When the next block to
    learn is not made, the caller makes blocks as well, and starts another thread. All numbers are changed with the lock
    `guard` held, and no thread but the caller's needs the GIL.
    """

    def __cinit__(self):
        self.guard, self.ready, self.room = PyThread_allocate_lock(), PyThread_allocate_lock(), PyThread_allocate_lock()
        if self.guard == NULL or self.ready == NULL or self.room == NULL:
            raise MemoryError
        # These two are released to wake a thread.
        PyThread_acquire_lock(self.ready, WAIT_LOCK)
        PyThread_acquire_lock(self.room, WAIT_LOCK)

    def __init__(self, Reader reader, Py_ssize_t n_threads):
        self.reader = reader
        self.n_threads = min(n_threads, 1 + <Py_ssize_t>MOST_HELPERS)
        self.depth = 1
        self.blocks = [TextBlock(reader)]
        self.ring = PySequence_Fast_ITEMS(self.blocks)
        self.tables = []

    def __dealloc__(self):
        free_lock(self.guard)
        free_lock(self.ready)
        free_lock(self.room)

    cdef begin(self, PyObject** texts, Py_ssize_t n):
        """Begin with the first of n texts, which the caller keeps alive until it calls `close`."""
        PyThread_acquire_lock(self.guard, WAIT_LOCK)
        self.texts, self.n_texts = texts, n
        self.next_text = self.claimed = self.finished = self.started = 0
        self.closing = False
        PyThread_release_lock(self.guard)

    cdef TextBlock current(self):
        """Return the block to learn. It stays as it is until `advance`."""
        memory = self.reader.names.memory
        if not self.tables or self.tables[len(self.tables) - 1] is not memory:
            self.tables.append(memory)  # threads may still use the ones before
            PyThread_acquire_lock(self.guard, WAIT_LOCK)
            self.table = self.reader.names.table
            PyThread_release_lock(self.guard)
        if self.is_late(self.finished):
            self.add_thread()
        if not self.is_ready():
            with nogil:
                self.wait()
        return <TextBlock>self.ring[self.finished % self.depth]

    cdef bint is_ready(self) noexcept nogil:
        """Claim the block to learn, unless another thread has; return whether none is making it."""
        cdef bint ready
        PyThread_acquire_lock(self.guard, WAIT_LOCK)
        if self.finished == self.claimed:
            (<TextBlock>self.ring[self.claim() % self.depth]).one_by_one = True
            ready = True
        else:
            ready = (<TextBlock>self.ring[self.finished % self.depth]).is_over()
        PyThread_release_lock(self.guard)
        return ready

    cdef void advance(self) noexcept nogil:
        """Release the block that was learned."""
        PyThread_acquire_lock(self.guard, WAIT_LOCK)
        self.finished += 1
        self.wake()
        PyThread_release_lock(self.guard)

    cdef close(self):
        """Stop the threads, and wait until none of them uses the texts or the names."""
        with nogil:
            PyThread_acquire_lock(self.guard, WAIT_LOCK)
            self.closing = True
            self.wake()
            while self.helping > 0:
                self.pause()
            PyThread_release_lock(self.guard)
        self.tables.clear()

    cdef bint is_late(self, Py_ssize_t number) noexcept nogil:
        """Return whether a block is not made when it should be learned, and another thread would have enough texts."""
        cdef bint late = False
        if self.started + 1 >= self.n_threads:
            return False
        PyThread_acquire_lock(self.guard, WAIT_LOCK)
        if self.claimed > 0:
            late = number == self.claimed or not (<TextBlock>self.ring[number % self.depth]).is_over()
            late = late and self.n_texts - self.next_text >= WORTH * (
                <TextBlock>self.ring[(self.claimed - 1) % self.depth]
            ).n
        PyThread_release_lock(self.guard)
        return late

    cdef add_thread(self):
        """Start a thread. Without one, the caller makes all blocks."""
        if self.depth == 1:
            self.deepen()
        self.started += 1
        try:
            start_new_thread(self.run, ())
        except RuntimeError:  # no more threads can be started
            self.n_threads = self.started

    cdef deepen(self):
        """Make room for several blocks between those claimed and those learned."""
        blocks = [*self.blocks, *[TextBlock(self.reader) for _ in range(2 * self.n_threads + 1)]]
        PyThread_acquire_lock(self.guard, WAIT_LOCK)
        if self.finished == self.claimed:
            self.blocks, self.ring, self.depth = blocks, PySequence_Fast_ITEMS(blocks), len(blocks)
        PyThread_release_lock(self.guard)

    def run(self):
        """Make blocks in a thread until there are no more, or no memory for one, which is left to the caller."""
        cdef Py_ssize_t number = -1
        try:
            with nogil:
                self.help(&number)
        except MemoryError:
            PyThread_acquire_lock(self.guard, WAIT_LOCK)
            (<TextBlock>self.ring[number % self.depth]).one_by_one = True
            self.leave()

    cdef int wait(self) except -1 nogil:
        """Make blocks until the one to learn, which another thread has claimed, is made."""
        cdef Py_ssize_t number
        PyThread_acquire_lock(self.guard, WAIT_LOCK)
        while not (<TextBlock>self.ring[self.finished % self.depth]).is_over():
            number = self.claim()
            if number < 0:
                self.pause()
                continue
            PyThread_release_lock(self.guard)
            (<TextBlock>self.ring[number % self.depth]).make()
            PyThread_acquire_lock(self.guard, WAIT_LOCK)
            (<TextBlock>self.ring[number % self.depth]).made = True
        PyThread_release_lock(self.guard)
        return 0

    cdef bint is_finished(self, Py_ssize_t k) noexcept nogil:
        """Return whether text k is behind the block to learn."""
        return k == (<TextBlock>self.ring[self.finished % self.depth]).stop()

    cdef int help(self, Py_ssize_t* number) except -1 nogil:
        """Make blocks; `number` is that of the current one."""
        PyThread_acquire_lock(self.guard, WAIT_LOCK)
        self.helping += 1
        while not self.closing and self.next_text < self.n_texts:
            number[0] = self.claim()
            if number[0] < 0:
                self.sleeping += 1
                PyThread_release_lock(self.guard)
                PyThread_acquire_lock(self.room, WAIT_LOCK)
                PyThread_acquire_lock(self.guard, WAIT_LOCK)
                self.sleeping -= 1
                self.waking = False
                self.wake()
                continue
            PyThread_release_lock(self.guard)
            (<TextBlock>self.ring[number[0] % self.depth]).make()
            PyThread_acquire_lock(self.guard, WAIT_LOCK)
            (<TextBlock>self.ring[number[0] % self.depth]).made = True
            self.resume()
        self.leave()
        return 0

    cdef void leave(self) noexcept nogil:
        """End a thread, which holds the guard."""
        self.helping -= 1
        self.resume()
        PyThread_release_lock(self.guard)

    cdef Py_ssize_t claim(self) noexcept nogil:
        """Return the number of the next block to make, or -1 if there is none yet."""
        cdef Py_ssize_t length = 0, n = 0, number = self.claimed
        if self.next_text == self.n_texts or number == self.finished + self.depth:
            return -1
        while n < MOST_TEXTS and length < CHARACTERS and self.next_text + n < self.n_texts:
            length += PyUnicode_GET_LENGTH(self.texts[self.next_text + n])
            n += 1
        (<TextBlock>self.ring[number % self.depth]).claim(self.texts, self.next_text, n, self.table)
        self.next_text += n
        self.claimed += 1
        return number

    cdef void wake(self) noexcept nogil:
        """Wake a thread that waits for room, if there is one; it wakes the next."""
        if self.sleeping > 0 and not self.waking and (self.closing or self.claimed < self.finished + self.depth):
            self.waking = True
            PyThread_release_lock(self.room)

    cdef void pause(self) noexcept nogil:
        """Let the caller wait for a thread."""
        self.caller_waits = True
        PyThread_release_lock(self.guard)
        PyThread_acquire_lock(self.ready, WAIT_LOCK)
        PyThread_acquire_lock(self.guard, WAIT_LOCK)

    cdef void resume(self) noexcept nogil:
        """Let the caller go on."""
        if self.caller_waits:
            self.caller_waits = False
            PyThread_release_lock(self.ready)
