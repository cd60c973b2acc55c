/* Scalars of NumPy, as its arrayscalars.h lays them out, to be read without a call; one of float64 is a float of Python. */
#ifndef ONMARGIN_SCALARS_H
#define ONMARGIN_SCALARS_H

#include <Python.h>
#include <stdint.h>

typedef struct {
    PyObject_HEAD
    float value;
} Float32Scalar;

typedef struct {
    PyObject_HEAD
    int64_t value;
} Int64Scalar;

typedef struct {
    PyObject_HEAD
    unsigned char value;
} BoolScalar;

#endif
