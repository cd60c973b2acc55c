"""Sparse rows read from dicts, lists of names, text and vectors."""

from datetime import date, time, timedelta

import numpy as np

from cpython.bool cimport PyBool_Check
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_Resize
from cpython.dict cimport PyDict_Next, PyDict_Size
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE
from libc.math cimport floor, isfinite, isnan
from libc.stdint cimport int32_t, int64_t

from onmargin._core.rows cimport Row, Rows
from onmargin._core.text.names cimport Entry, Feature, Index, Missing, Names, Table, entries_count, entries_sort
from onmargin._core.text.words cimport Frequencies, Text
from onmargin._numbers import number_parser
from onmargin._warnings import warn_caller


cdef extern from "Python.h":
    Py_ssize_t PyUnicode_FindChar(object text, Py_UCS4 c, Py_ssize_t start, Py_ssize_t end, int direction) except -2
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    Py_UCS4 PyUnicode_READ_CHAR(object text, Py_ssize_t index)
    bint PyUnicode_CheckExact(object text)
    PyObject** PySequence_Fast_ITEMS(object items)


cdef extern from "scalars.h":
    ctypedef struct Float32Scalar:
        float value
    ctypedef struct Int64Scalar:
        int64_t value
    ctypedef struct BoolScalar:
        unsigned char value


cdef enum:
    MOST_BORROWED = 512  # names that are looked up together, about as many as the nearest cache has room for
    MOST_CODES = 32  # different integers in strings of a feature that are not yet suspected to be numbers
    MOST_NOTED = 4096  # features whose strings are looked at


cdef object parse_plain = number_parser(".", None)
cdef object DURATIONS = (timedelta, np.timedelta64), TIMES = (date, time, np.datetime64, *DURATIONS)
cdef object FLOAT64 = np.float64, FLOAT32 = np.float32, INT64 = np.int64, BOOL = np.bool_


cdef inline bint is_quick(PyObject* value, double* number) noexcept:
    """Whether a value is a number of a common type, which is then set."""
    cdef PyTypeObject* kind = Py_TYPE(<object>value)
    cdef int overflow = 0
    if PyFloat_CheckExact(<object>value) or kind == <PyTypeObject*>FLOAT64:
        number[0] = PyFloat_AS_DOUBLE(<object>value)
    elif PyLong_CheckExact(<object>value):
        number[0] = <double>PyLong_AsLongLongAndOverflow(<object>value, &overflow)
        return overflow == 0
    elif kind == <PyTypeObject*>FLOAT32:
        number[0] = (<Float32Scalar*>value).value
    elif kind == <PyTypeObject*>INT64:
        number[0] = <double>(<Int64Scalar*>value).value
    elif kind == <PyTypeObject*>BOOL:
        number[0] = (<BoolScalar*>value).value
    elif PyBool_Check(<object>value):
        number[0] = <object>value is True
    else:
        return False
    return True


cdef inline bint begins_like_number(value) noexcept:
    """Whether a string begins with a digit, a sign, a decimal mark, a blank or a currency sign."""
    cdef Py_UCS4 first
    if PyUnicode_GET_LENGTH(value) == 0:
        return False
    first = PyUnicode_READ_CHAR(value, 0)
    return c"0" <= first <= c"9" or first in u"+-. $\u20ac\u00a3\u00a5\u20b9"


cdef class _Column:
    """A growing buffer."""

    def __cinit__(self):
        self.memory = bytearray()
        self.grow(4096)

    cdef int grow(self, Py_ssize_t size) except -1 with gil:
        PyByteArray_Resize(self.memory, size)
        self.start, self.size = PyByteArray_AS_STRING(self.memory), size
        return 0

    cdef array(self, dtype):
        """Return the numbers as an array without a copy; the buffer cannot grow any more."""
        self.grow(self.used)
        return np.frombuffer(self.memory, dtype)


def flatten(x):
    """Yield the features of a dict and of the dicts, lists and sets in it, which are named "name:inner"."""
    flat = {}
    for name, value in x.items():
        if isinstance(value, dict):
            flat.update({f"{name}:{inner}": number for inner, number in flatten(value).items()})
        elif not isinstance(value, list | tuple | set | frozenset):
            flat[name] = value
        elif all([isinstance(inner, str) for inner in value]):
            flat.update({f"{name}:{inner}": 1.0 for inner in value})
        else:
            raise TypeError(f"the value of feature {name!r} must be a number or a string, or a dict, list or set of "
                            f"names; got {value!r:.100}")
    return flat


cdef class Reader:
    """Rows of a sparse matrix, read from dicts {name: number or category}, lists of names, and strings of text.

    A category is the feature "name=category" of value 1, and the features of a dict, list or set within a dict are
    named "name:inner"; a value of None or NaN is missing, as if its name were not
    there. Zeros are left out unless `zeros` keeps them, for models that distinguish them from missing values. In a
    list, "name:value" has a value; without a `separator`, strings are names. Values of the same name are added.
    Unknown names are added (`grow`) or left out. Without `text`, strings are refused as rows; with `frequencies`,
    the words of a text are weighted by them, and while `counting`, each text adds one document. `convert` is called
    with each dict, and returns the dict or the text to read in its place. `parsers` has a function for each feature
    whose strings may be numbers; it returns the number, the string if that is a category, or None if the value is
    missing. Other strings that are numbers are categories, unless the feature is one of `known` (by default `names`).
    Strings in `missing_values` are missing. A reader that `warns` names the features whose categories are hardly
    categories, but numbers.
    """

    def __init__(
        self,
        Index names,
        *,
        bint grow,
        dtype,
        separator=None,
        Text text=None,
        Frequencies frequencies=None,
        convert=None,
        parsers=None,
        missing_values=frozenset(),
        Index known=None,
    ):
        self.names = names
        self.known = names if known is None else known
        self.grow = grow
        self.dtype = np.dtype(dtype)
        self.single = self.dtype.itemsize == 4
        self.separator = ord(separator) if separator else 0
        self.text, self.frequencies = text, frequencies
        self.convert, self.parsers, self.missing_values = convert, parsers or {}, missing_values
        self.held = []
        self.values, self.indices, self.ends = _Column(), _Column(), _Column()
        self.features, self.entries, self.spare = _Column(), _Column(), _Column()
        self.places, self.missing, self.sizes = _Column(), _Column(), _Column()
        (<int64_t*>self.ends.extend(sizeof(int64_t)))[0] = 0

    def arrays(self):
        """Return the values, indices and row ends of a CSR matrix; nothing can be read afterwards."""
        return self.values.array(self.dtype), self.indices.array(np.int32), self.ends.array(np.int64)

    def __len__(self):  # the number of rows
        return self.ends.used // <Py_ssize_t>sizeof(int64_t) - 1

    def read(self, x):
        """Append a row."""
        self.fill(x)
        self.append()

    def read_all(self, examples):
        """Append a row per example; if one cannot be read, the rows of those before it are appended.

        Plain names of many examples are looked up together. They are borrowed: no Python code runs before they are
        found, so nothing can change the lists that they are from.
        """
        if type(examples) is not list and type(examples) is not tuple:
            examples = list(examples)
        self.features.used = self.sizes.used = 0
        for x in examples:
            if not self.borrow_names(x):
                self.append_borrowed()
                self.read(x)
                self.features.used = 0
            elif self.features.used > MOST_BORROWED * <Py_ssize_t>sizeof(Feature):
                self.append_borrowed()
        self.append_borrowed()

    cdef bint borrow_names(self, x) except -1:
        """Note the names of a list of plain strings, to be found by `append_borrowed`; return whether x is one."""
        cdef Py_ssize_t k, n, before = self.features.used
        cdef Feature* features
        cdef PyObject** names
        if self.separator or (type(x) is not list and type(x) is not tuple):
            return False
        n, names = len(x), PySequence_Fast_ITEMS(x)
        features = <Feature*>self.features.extend(n * sizeof(Feature))
        for k in range(n):
            if not PyUnicode_CheckExact(<object>names[k]):
                self.features.used = before
                return False
            features[k].name, features[k].value = names[k], 1
        (<Py_ssize_t*>self.sizes.extend(sizeof(Py_ssize_t)))[0] = n
        return True

    cdef int append_borrowed(self) except -1:
        """Append the rows of the borrowed names."""
        cdef Feature* features = <Feature*>self.features.start
        cdef Py_ssize_t k, n = self.features.used // <Py_ssize_t>sizeof(Feature)
        cdef int32_t* places = <int32_t*>self.places.room(n * sizeof(int32_t))
        self.names.find(features, n, self.grow, places)
        for k in range(self.sizes.used // <Py_ssize_t>sizeof(Py_ssize_t)):
            n = (<Py_ssize_t*>self.sizes.start)[k]
            self.settle(features, places, n)
            self.append()
            features += n
            places += n
        self.features.used = self.sizes.used = 0
        return 0

    cdef int append(self) except -1:
        """Append the row of the example that was read."""
        cdef Row row
        self.row(&row)
        (<int64_t*>self.ends.extend(sizeof(int64_t)))[0] = self.indices.used // <Py_ssize_t>sizeof(int32_t)
        return 0

    cdef int fill(self, x) except -1:
        """Read the features of an example."""
        self.n_entries = 0
        if self.convert is not None and hasattr(x, "items"):
            x = self.convert(x)
        if isinstance(x, dict):
            self.take_pairs(x)
        elif type(x) is list:
            self.take_names(tuple(x))
        elif isinstance(x, str) and self.text is not None:
            text = str.__str__(x)
            self.take_text(<PyObject*>text)
        elif isinstance(x, Rows) or hasattr(x, "tocsr") or (isinstance(x, np.ndarray) and x.dtype.kind in "biuf"):
            raise TypeError(f"this model reads features by name; got a vector: {x!r:.100}")
        elif isinstance(x, str | bytes) or not hasattr(x, "__iter__"):
            kinds = " or a list of their names" if self.text is None else ", a list of their names or a text"
            hint = ""
            if self.text is None and isinstance(x, str):
                hint = f"; pass a word as [{x!r:.100}]" if self.convert is None else "; texts are columns of a dict"
            raise TypeError(f"expected a dict of features{kinds}, got {x!r:.100}{hint}")
        elif hasattr(x, "items"):
            self.take_pairs(dict(x.items()))
        else:
            self.take_names(tuple(x))
        return 0

    cdef int take_pairs(self, x) except -1:
        """Look up the features of a dict, which keeps their names alive."""
        cdef PyObject* key
        cdef PyObject* value
        cdef Py_ssize_t position = 0
        cdef double number
        cdef bint single = self.single
        cdef Feature* last
        self.next_feature = <Feature*>self.features.room((PyDict_Size(x) + 1) * sizeof(Feature))
        last = self.next_feature + PyDict_Size(x)
        while PyDict_Next(x, &position, &key, &value):
            if self.next_feature == last:
                raise RuntimeError("an example changed while it was read")
            if PyUnicode_CheckExact(<object>key) and is_quick(value, &number):
                if isfinite(<float>number) if single else isfinite(number):
                    if number != 0 or self.zeros:
                        self.next_feature.name, self.next_feature.value = key, number
                        self.next_feature += 1
                    continue
            if self.take_pair(<object>key, <object>value):
                return self.take_pairs(flatten(x))
        return self.find_places()

    cdef int take_names(self, tuple x) except -1:
        """Look up the names of a tuple, which keeps them alive."""
        self.next_feature = <Feature*>self.features.room((len(x) + 1) * sizeof(Feature))
        for name in x:
            self.take_name(name)
        return self.find_places()

    cdef int take_pair(self, name, value) except -1:
        """Read a feature; return 1 if it stands for several."""
        cdef double number
        if value is None:
            return 0
        if isinstance(value, str):
            if value in self.missing_values:
                return 0
            parse = self.parsers.get(name)
            if parse is not None:
                value = parse(value)
            elif self.is_known_number(name, value):
                value = parse_plain(value)
            elif self.warns and self.grow and begins_like_number(value):
                self.note_number(name, value)
            if isinstance(value, str):
                return self.add_entry(self.hold(f"{name}={value}"), 1)
            return 0 if value is None else self.add_entry(name, value)
        if isinstance(value, (dict, list, tuple, set, frozenset)):
            return 1
        if isinstance(value, TIMES):
            return self.take_time(name, value)
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"the value of feature {name!r} must be a number or a string, got {value!r}") from None
        return 0 if isnan(number) else self.add_entry(name, number)

    cdef int take_time(self, name, value) except -1:
        """Read a duration as its seconds; leave dates and times out, and warn once of each feature."""
        if value != value:  # NaT, a missing value
            return 0
        if isinstance(value, DURATIONS):
            return self.add_entry(name, np.timedelta64(value) / np.timedelta64(1, "s"))
        integers = self.names.integers
        if self.warns and self.grow and integers.get(name, ()) is not None and len(integers) <= MOST_NOTED:
            integers[name] = None
            warn_caller(
                f"the values of {name!r} are dates or times, such as {value!r:.60}, and are left out: pass numbers "
                "made of them, such as the hour, the day of the week or the days since a date",
                UserWarning,
            )
        return 0

    cdef bint is_known_number(self, name, value) except -1:
        """Whether a string is a number, and its feature was learned with numbers: the name alone is a feature."""
        return (
            begins_like_number(value)
            and isinstance(self.known, Names)
            and type(name) is str
            and self.known.get(name) >= 0
            and parse_plain(value) is not None
        )

    cdef int note_number(self, name, str value) except -1:
        """Warn once of a feature whose categories are fractions or many integers: they are hardly categories."""
        integers = self.names.integers
        if integers.get(name, ()) is None or len(integers) > MOST_NOTED:
            return 0
        number = parse_plain(value)
        if number is None:
            return 0
        seen = integers.setdefault(name, set())
        seen.add(hash(value))
        if number == floor(number) and len(seen) <= MOST_CODES:
            return 0
        integers[name] = None
        warn_caller(
            f"the values of {name!r} are strings of numbers, such as {value!r:.60}, and each is learned as a category: "
            f"pass numbers, or features=RecordFeatures(numbers=({name!r},))",
            UserWarning,
        )
        return 0

    cdef int take_name(self, name) except -1:
        cdef Py_ssize_t colon
        if type(name) is not str:
            name = self.plain(name)
        if self.separator:
            colon = PyUnicode_FindChar(name, self.separator, 0, PyUnicode_GET_LENGTH(name), -1)
            if colon > 0:
                name, number = self.parted(name, colon)
                return self.add_entry(self.hold(name), number)
        return self.add_entry(name, 1)

    cdef str plain(self, name):
        """Return a name given as another kind of string, such as a NumPy one."""
        if not isinstance(name, str):
            hint = "" if self.text is None else "; pass a vector as a NumPy array"
            raise TypeError(f"names of features must be strings, got {name!r:.100}{hint}")
        return self.hold(str.__str__(name))

    cdef hold(self, name):
        """Keep a reference to a new name."""
        self.held.append(name)
        return name

    cdef tuple parted(self, str name, Py_ssize_t colon):
        """Split "name:value"; without a number after the separator, or with "\\:" before it, it is a name."""
        tail = name[colon + 1:]
        if name[colon - 1] != "\\" and tail[:1] in "0123456789.+-" and tail:
            try:
                return name[:colon].replace("\\" + name[colon], name[colon]), float(tail)
            except ValueError:
                pass
        return name.replace("\\" + name[colon], name[colon]), 1.0

    cdef int add_entry(self, name, double value) except -1:
        if type(name) is not str:
            name = self.plain(name)
        if not self.fits(value):
            raise ValueError(f"the value of feature {name!r} must be a finite number, got {value}")
        if value != 0 or self.zeros:
            self.next_feature.name, self.next_feature.value = <PyObject*>name, value
            self.next_feature += 1
        return 0

    cdef int find_places(self) except -1:
        """Look up the features that were read."""
        cdef Feature* features = <Feature*>self.features.start
        cdef Py_ssize_t n = self.next_feature - features
        cdef int32_t* places = <int32_t*>self.places.room(n * sizeof(int32_t))
        self.names.find(features, n, self.grow, places)
        if self.held:
            self.held.clear()
        return self.settle(features, places, n)

    cdef int take_text(self, PyObject* text) except -1 nogil:
        """Read every n-gram of words, weighted by how often it occurs."""
        cdef Py_ssize_t n = self.look_up(self.names.table, text)
        cdef int32_t* places = <int32_t*>self.places.start
        n = self.resolve(places, n, self.text.letters, <Missing*>self.missing.start, self.n_missing)
        return self.weigh(places, n)

    cdef Py_ssize_t look_up(self, Table table, PyObject* text) except -1 nogil:
        """Set the places of every n-gram of words, and those missing; return the number of n-grams.

        Nothing else changes: threads with their own readers may do this at the same time.
        """
        cdef Py_ssize_t n, most, size, found = 0
        cdef int32_t* places
        self.text.split(text)
        most = self.text.n_words * (self.text.longest - self.text.shortest + 1)
        places = <int32_t*>self.places.room((2 * most + 1) * sizeof(int32_t))
        self.n_missing = self.missing.used = 0
        # A text has no n-grams of more words than its own.
        for n in range(self.text.shortest, min(<Py_ssize_t>self.text.longest, self.text.n_words) + 1):
            size = self.text.n_words - n + 1
            if self.names.look_up(table, self.text.letters, self.text.spans, size, n, places + found) > 0:
                self.note_missing(places + found, found, size, n)
            found += size
        return found

    cdef int note_missing(
        self, const int32_t* places, Py_ssize_t first, Py_ssize_t n, Py_ssize_t length
    ) except -1 nogil:
        """Note which of n n-grams have no place; `first` are before them."""
        cdef Py_ssize_t k
        cdef Missing* missing
        for k in range(n):
            if places[k] < 0:
                missing = <Missing*>self.missing.extend(sizeof(Missing))
                missing.position, missing.start = first + k, self.text.spans[k].start
                missing.size = self.text.spans[k + length - 1].end - missing.start
                self.n_missing += 1
        return 0

    cdef Py_ssize_t resolve(
        self, int32_t* places, Py_ssize_t n, const char* letters, Missing* missing, Py_ssize_t n_missing
    ) except -1 nogil:
        """Add the missing words in order, or leave them out; return the number of places."""
        cdef Py_ssize_t k, kept
        if n_missing > 0:
            self.names.add_words(letters, missing, n_missing, self.grow, places)
        if n_missing == 0 or self.grow:
            return n
        kept = 0
        for k in range(n):
            places[kept] = places[k]
            kept += places[k] >= 0
        return kept

    cdef int weigh(self, int32_t* places, Py_ssize_t n) except -1 nogil:
        """Make the entries of a text from the places of its n-grams, which have room for as many behind them."""
        cdef Entry* entries = <Entry*>self.entries.room((n + 1) * sizeof(Entry))
        self.n_entries = entries_count(places, places + n, n, entries)
        if self.frequencies is not None and self.counting:
            self.frequencies.count(entries, self.n_entries, self.names.size)
        self.text.weigh(entries, self.n_entries, self.frequencies)
        return 0

    cdef int settle(self, const Feature* features, const int32_t* places, Py_ssize_t n) except -1:
        """Make the entries of the features that have a place: sorted, and the values of equal ones added."""
        cdef Entry* entries = <Entry*>self.entries.room((n + 1) * sizeof(Entry))
        cdef Py_ssize_t k, kept = 0
        cdef bint rising = True
        for k in range(n):
            entries[kept].index, entries[kept].value = places[k], features[k].value
            rising = rising and (kept == 0 or places[k] < 0 or entries[kept - 1].index < places[k])
            kept += places[k] >= 0
        self.n_entries = n = kept
        if rising:
            return 0
        kept = 0
        entries_sort(entries, <Entry*>self.spare.room(n * sizeof(Entry)), n)
        for k in range(n):
            if kept > 0 and entries[kept - 1].index == entries[k].index:
                entries[kept - 1].value += entries[k].value
                if not self.fits(entries[kept - 1].value):
                    raise ValueError("the values of a repeated feature must have a finite sum")
            else:
                entries[kept] = entries[k]
                kept += 1
        self.n_entries = kept
        return 0

    cdef int row(self, Row* x) except -1 nogil:
        """Append the entries to the columns, and set the row to them."""
        cdef Entry* entries = <Entry*>self.entries.start
        cdef Py_ssize_t k, n = self.n_entries
        cdef int32_t* index = <int32_t*>self.indices.extend(n * sizeof(int32_t))
        cdef void* value = self.values.extend(n * (4 if self.single else 8))
        for k in range(n):
            index[k] = entries[k].index
            if self.single:
                (<float*>value)[k] = <float>entries[k].value
            else:
                (<double*>value)[k] = entries[k].value
        x.values, x.indices, x.n, x.ahead = value, index, n, n
        return 0

    cdef forget(self, Py_ssize_t known):
        """Forget the names and the document of an example that cannot be learned."""
        self.names.forget(known)
        if self.frequencies is not None:
            self.frequencies.forget()

    cdef void rewind(self) noexcept nogil:
        """Discard the appended rows."""
        self.indices.used = self.values.used = 0

    cdef void drop(self, Py_ssize_t n) noexcept nogil:
        """Discard the last n appended numbers."""
        self.indices.used -= n * sizeof(int32_t)
        self.values.used -= n * (4 if self.single else 8)
