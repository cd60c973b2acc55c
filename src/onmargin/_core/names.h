/* Names of features, which are Python strings. */
#ifndef ONMARGIN_NAMES_H
#define ONMARGIN_NAMES_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

/* Whether two strings are the same. Most are short: eight bytes at a time, the last eight possibly twice. */
static inline int names_equal(PyObject *a, PyObject *b)
{
    Py_ssize_t n = PyUnicode_GET_LENGTH(a);
    if (n != PyUnicode_GET_LENGTH(b) || PyUnicode_KIND(a) != PyUnicode_KIND(b))
        return 0;
    const char *s = (const char *)PyUnicode_DATA(a), *t = (const char *)PyUnicode_DATA(b);
    n *= PyUnicode_KIND(a);
    if (n < 8) {
        for (Py_ssize_t k = 0; k < n; k++)
            if (s[k] != t[k])
                return 0;
        return 1;
    }
    for (Py_ssize_t k = 0; k < n; k += 8) {
        Py_ssize_t from = k + 8 <= n ? k : n - 8;
        uint64_t left, right;
        memcpy(&left, s + from, 8);
        memcpy(&right, t + from, 8);
        if (left != right)
            return 0;
    }
    return 1;
}

#endif
