"""The loops over models that learn side by side: see votes.h."""


cdef extern from "votes.h" nogil:
    # The kinds of outcomes of a model in a round, and their number.
    enum:
        MISTAKE, LOSS, SQUARED_LOSS, COST, OUTCOMES

    ctypedef struct Spread:
        double low, high, expected

    ctypedef struct SleepCounts:
        double* awake    # 1, or 0 while it sleeps
        double* charged  # charged loss for the rounds it slept
        double* slept    # number of rounds it slept
        double* before   # total loss and charge when it fell asleep
        double* since    # rounds since it fell asleep or woke up, or was last checked
        double* behind   # its loss minus that of the vote in these rounds

    ctypedef struct Calibrations:
        # Of f = slope x + offset, the log odds of a model with the score x in units of its root mean square:
        double* slope
        double* offset
        double* h00     # the matrix of the Newton steps
        double* h01
        double* h11
        double* losses  # total log loss
        double* shares  # up to a factor

    ctypedef struct Votes:
        double (*tally)(const double* s, const double* v, Py_ssize_t n) noexcept nogil
        void (*margins)(
            const double* s, double y, const double* asked, Py_ssize_t n, double* slack, double* now
        ) noexcept nogil
        Spread (*suffer)(
            const double* now, double* total, Py_ssize_t judged, double weight, const double* awake, const double* v,
            Py_ssize_t n, double* l
        ) noexcept nogil
        void (*charge)(
            const SleepCounts* sleep, double expected, Py_ssize_t n, double* l, double* total, double* L
        ) noexcept nogil
        Py_ssize_t (*least)(const double* L, Py_ssize_t n) noexcept nogil
        void (*weigh)(
            const double* l, double low, double eta, double power, double share, Py_ssize_t models, Py_ssize_t n,
            double* p
        ) noexcept nogil
        void (*share)(const double* p, const double* awake, Py_ssize_t n, double* v) noexcept nogil
        int (*due)(
            const SleepCounts* sleep, double least, double far, double longest_awake, double longest_asleep,
            Py_ssize_t n
        ) noexcept nogil
        void (*units)(
            const double* s, const double* awake, double share, double growth, Py_ssize_t n, double* squares
        ) noexcept nogil
        void (*rank)(
            const double* losses, const double* awake, double scale, Py_ssize_t n, double* ranks
        ) noexcept nogil
        double (*grade)(
            const double* s, const double* awake, const double* shares, const double* squares, double count,
            Py_ssize_t n
        ) noexcept nogil
        double (*pool)(
            const Calibrations* of, const double* s, const double* awake, const double* squares, double count,
            Py_ssize_t n
        ) noexcept nogil
        void (*calibrate)(
            const Calibrations* of, const double* s, const double* awake, const double* squares, double count, double y,
            double part, double weight, double charge, Py_ssize_t n
        ) noexcept nogil

    Py_ssize_t votes_padded(Py_ssize_t n)
    const Votes* votes_for()
