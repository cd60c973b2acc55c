"""Feature names of tokens, from templates over the columns of neighboring tokens."""

from cpython.list cimport PyList_Append
from cpython.unicode cimport PyUnicode_Concat


cdef class Window:
    """Names like "w[-1]|pos[0]=the|NOUN" for the tokens of a sentence.

    A template has a prefix, such as "w[-1]|pos[0]=", and the column and offset of each part.
    """

    cdef list prefixes
    cdef list parts

    def __init__(self, templates):
        self.prefixes = [prefix for prefix, _ in templates]
        self.parts = [list(map(tuple, parts)) for _, parts in templates]

    def names(self, list sentence):
        """Return the names of every token; `sentence` has a tuple of strings per token."""
        cdef Py_ssize_t i, n = len(sentence)
        cdef list features = [], names
        for i in range(n):
            names = []
            self.add_names(sentence, i, n, names)
            if i == 0:
                PyList_Append(names, "first")
            if i == n - 1:
                PyList_Append(names, "last")
            PyList_Append(features, names)
        return features

    cdef int add_names(self, list sentence, Py_ssize_t i, Py_ssize_t n, list names) except -1:
        """Add the names of token i; a template that reaches beyond the sentence gives none."""
        cdef Py_ssize_t k, j, column, place
        cdef list parts
        cdef tuple token, part
        cdef bint inside
        for k in range(len(self.prefixes)):
            parts = <list>self.parts[k]
            name = self.prefixes[k]
            inside = True
            for j in range(len(parts)):
                part = <tuple>parts[j]
                column, place = part[0], i + <Py_ssize_t>part[1]
                if not 0 <= place < n:
                    inside = False
                    break
                token = <tuple>sentence[place]
                if j > 0:
                    name = PyUnicode_Concat(name, "|")
                name = PyUnicode_Concat(name, token[column])
            if inside:
                PyList_Append(names, name)
        return 0
