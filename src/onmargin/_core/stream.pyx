"""One example at a time: read, predicted and learned in one call."""

from libc.stdint cimport int32_t

from onmargin._core.geometry cimport Geometry
from onmargin._core.reader cimport Reader
from onmargin._core.rounds cimport Stage, Totals, play_round
from onmargin._core.row cimport Row, address
from onmargin._core.step cimport Step
from onmargin._core.task cimport Task


cdef class Player:
    """Rounds of a learner, an example at a time, with its features read by name, by hash or from text.

    `take` gives it the learner's parts as they are now; it must be called again whenever one was replaced. Weights grow
    with the names: those of a geometry that is full are doubled, and the learner gets the new geometry.
    """

    cdef readonly object learner
    cdef readonly Reader reader
    cdef Task task
    cdef Step step
    cdef Geometry geometry
    cdef Totals totals
    cdef Stage stage

    def __init__(self, learner, Reader reader):
        self.learner = learner
        self.reader = reader
        self.take()

    def take(self):
        """Look at the parts of the learner anew."""
        self.task, self.step, self.geometry = self.learner.task, self.learner.step, self.learner.geometry
        self.totals = self.learner._totals
        self.stage = Stage(self.geometry, self.step)
        self.task.reserve(1, self.geometry.n_scores)

    cdef int receive(self, x, bint grow) except -1:
        """Make x the row of the round; its features have weights."""
        self.reader.grow = grow
        self.reader.rewind()
        self.reader.fill(x)
        if grow and self.reader.names.size > self.geometry.n_features:
            self.learner.geometry = self.geometry.resized(max(2 * self.geometry.n_features, self.reader.names.size))
            self.take()
        self.reader.row(self.stage.r.x)
        return 0

    def learn(self, x, double y, double weight=1.0):
        """Play a round, whose target is one number."""
        self.receive(x, True)
        self.stage.r.y = &y
        self.stage.r.n_y = 1
        self.stage.r.weight = weight
        play_round(self.task, self.step, self.geometry, self.totals, self.stage)

    def learn_several(self, x, y, double weight=1.0):
        """Play a round, whose target is an array of numbers."""
        self.receive(x, True)
        self.stage.r.n_y = len(y)
        self.stage.r.y = <double*>address(y, "d", len(y))
        self.stage.r.weight = weight
        play_round(self.task, self.step, self.geometry, self.totals, self.stage)

    def scores(self, x):
        """The scores of an example, of the averaged weights where the geometry averages."""
        cdef Py_ssize_t c
        self.receive(x, False)
        self.geometry.mean_scores(self.stage.r.x, self.stage.r.s, self.stage.r.change)
        return [self.stage.r.s[c] for c in range(self.geometry.n_columns)]

    def best(self, x):
        """The first column of highest score."""
        cdef Py_ssize_t c, best = 0
        cdef double* s = self.stage.r.s
        self.receive(x, False)
        self.geometry.mean_scores(self.stage.r.x, s, self.stage.r.change)
        for c in range(1, self.geometry.n_columns):
            if s[c] > s[best]:
                best = c
        return best

    def features(self, x):
        """The places and the values of the features of an example that are known."""
        cdef Py_ssize_t k
        cdef Row* row = self.stage.r.x
        self.receive(x, False)
        places = [(<const int32_t*>row.indices)[k] for k in range(row.n)]
        values = [
            (<const float*>row.values)[k] if self.reader.single else (<const double*>row.values)[k]
            for k in range(row.n)
        ]
        return places, values
