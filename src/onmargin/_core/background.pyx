"""Work that a second thread does without the GIL while its caller goes on."""

from _thread import start_new_thread

from cpython.pythread cimport (
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_release_lock,
    PyThread_type_lock,
    NOWAIT_LOCK,
    WAIT_LOCK,
)


# A second thread pays if reading and rounds both take longer than one part of the time in so many.
cdef int PARTS = 5


cpdef bint pays(double reading, double running) noexcept:
    """Return whether it saves time to run the rounds of a block while the next block is read."""
    return PARTS * min(reading, running) > reading + running


cdef class Work:
    """Base class: something to do without the GIL."""

    cdef void run(self) noexcept nogil:
        pass


cdef class Background:
    """A thread that does one piece of work at a time.

    It is used by one thread, which holds the GIL. After `start`, that thread must not touch what the work uses until
    `wait` or the next `start` returns. After `close` it cannot be used again.
    """

    def __cinit__(self):
        self.given, self.done = PyThread_allocate_lock(), PyThread_allocate_lock()
        if self.given == NULL or self.done == NULL:
            raise MemoryError
        # They are released to wake the other thread.
        PyThread_acquire_lock(self.given, WAIT_LOCK)
        PyThread_acquire_lock(self.done, WAIT_LOCK)

    def __dealloc__(self):
        free_lock(self.given)
        free_lock(self.done)

    cdef start(self, Work work):
        """Begin a piece of work as soon as the one before is done."""
        self.wait()
        if not self.started and not self.open():
            with nogil:
                work.run()
            return
        self.work, self.busy = work, True
        PyThread_release_lock(self.given)

    cdef bint open(self) except -1:
        """Start the thread; return whether it was possible."""
        try:
            start_new_thread(self.serve, ())
        except RuntimeError:  # no more threads can be started
            return False
        with nogil:  # the thread needs the GIL to begin
            PyThread_acquire_lock(self.done, WAIT_LOCK)
        self.started = True
        return True

    def serve(self):
        """Do the work that is given, in the thread."""
        with nogil:
            while True:
                PyThread_release_lock(self.done)
                PyThread_acquire_lock(self.given, WAIT_LOCK)
                if self.work is None:
                    break
                self.work.run()

    cpdef wait(self):
        """Wait until the work is done."""
        if self.busy:
            with nogil:
                PyThread_acquire_lock(self.done, WAIT_LOCK)
            self.work, self.busy = None, False

    cpdef close(self):
        """Wait until the work is done, and end the thread."""
        self.wait()
        if self.started:
            self.started = False
            PyThread_release_lock(self.given)


cdef void free_lock(PyThread_type_lock lock) noexcept:
    if lock != NULL:
        PyThread_acquire_lock(lock, NOWAIT_LOCK)
        PyThread_release_lock(lock)
        PyThread_free_lock(lock)
