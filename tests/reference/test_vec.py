"""The vector primitives of vec.c at each width: the core itself only runs the widest that this CPU has.

A small C module is compiled around that file; without a compiler or the sources the tests are skipped.
"""

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

KERNELS = Path(__file__).parents[2] / "src" / "onmargin" / "_core" / "kernels"
COMPILER = shutil.which("cc")
SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef PLAIN
#undef __GNUC__
#endif
#include "vec.c"
const Vec *narrow(ptrdiff_t itemsize) { return itemsize == 4 ? &table_float_narrow : &table_double_narrow; }
const Vec *widest(ptrdiff_t itemsize) { return vec_for(itemsize); }
ptrdiff_t padded(ptrdiff_t columns, ptrdiff_t itemsize) { return vec_padded(columns, itemsize); }
"""
# Compiler flags, and the function that returns the table. Compilers other than GNU's use one lane.
WIDTHS = {"widest": ([], "widest"), "16 bytes": ([], "narrow"), "plain C": (["-DPLAIN"], "narrow")}

pytestmark = pytest.mark.skipif(COMPILER is None or not (KERNELS / "vec.c").exists(), reason="needs cc and the sources")

size, pointer, real = ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_double


class Row(ctypes.Structure):
    _fields_ = (("values", pointer), ("indices", pointer), ("n", size), ("ahead", size), ("squared_norm", real))


class Weights(ctypes.Structure):
    _fields_ = (("W", pointer), ("columns", size), ("stride", size), ("gap", size))


def primitive(result, *arguments):
    return ctypes.CFUNCTYPE(result, ctypes.POINTER(Row), *arguments)


class Vec(ctypes.Structure):
    _fields_ = (
        ("squared_norm", primitive(real)),
        ("dot", primitive(real, ctypes.POINTER(Row))),
        ("squared_distance", primitive(real, ctypes.POINTER(Row))),
        ("scores", primitive(None, ctypes.POINTER(Weights), pointer)),
        ("scores_and_norm", primitive(real, ctypes.POINTER(Weights), pointer, pointer)),
        ("add", primitive(None, ctypes.POINTER(Weights), size, size, real)),
        ("add_all", primitive(None, ctypes.POINTER(Weights), pointer)),
        ("is_canonical", primitive(ctypes.c_int, size)),
    )


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Return a function that compiles the kernels with some flags, once."""
    folder = tmp_path_factory.mktemp("vec")
    (folder / "tables.c").write_text(SOURCE)

    def compile_kernels(*options):
        path = folder / f"vec{len(options)}.so"
        if not path.exists():
            command = [COMPILER, "-w", "-shared", "-fPIC", f"-I{KERNELS}", *options, "tables.c", "-o", path]
            subprocess.run(command, cwd=folder, check=True)
        return path

    return compile_kernels


@pytest.fixture(scope="module", params=WIDTHS)
def library(request, compiled):
    options, table = WIDTHS[request.param]
    library = ctypes.CDLL(str(compiled(*options)))
    library.table = getattr(library, table)
    library.table.argtypes, library.table.restype = [size], ctypes.POINTER(Vec)
    library.padded.argtypes, library.padded.restype = [size, size], size
    return library


@dataclass
class Case:
    """A row, its numbers in full, and weights: columns x features, with padding columns where the layout has them."""

    row: Row
    x: np.ndarray
    weights: Weights
    W: np.ndarray
    owners: tuple[np.ndarray, ...]

    def assert_moved(self, t: np.ndarray, move) -> None:
        expected = self.W + np.outer(t, self.x)
        move()
        assert_close(self.W, expected)


def cases(library, columns: int, dtype: np.dtype, feature_major: bool) -> Iterator[Case]:
    """Return rows with every remainder of a vector: dense, sparse, and sparse with rows after them."""
    random = np.random.default_rng(columns)
    padded = library.padded(columns, dtype.itemsize) if feature_major else columns
    for n in [*range(9), 24, 25, 60] if feature_major else [*range(34), *range(62, 67), 130]:
        for n_features, later in ((n, None), (3 * n + 5, 0), (3 * n + 5, 50)):
            values = random.standard_normal(n).astype(dtype)
            features = np.sort(random.permutation(n_features)[:n])
            indices = np.append(features, random.integers(0, n_features, later or 0)).astype(np.int32)
            row = Row(values.ctypes.data, None if later is None else indices.ctypes.data, n, len(indices), 0)
            x = np.zeros(n_features)
            x[features] = values
            if feature_major:
                memory = random.standard_normal((n_features, padded)).astype(dtype)
                W, layout = memory.T, (padded, 1)
            else:
                W = memory = random.standard_normal((columns, n_features)).astype(dtype)
                layout = (1, n_features)
            yield Case(row, x, Weights(memory.ctypes.data, columns, *layout), W, (values, indices, memory))


def assert_close(actual, expected):
    tolerance = 1e-10 if np.asarray(actual).dtype == np.float64 else 1e-4
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


parametrize_dtype = pytest.mark.parametrize("dtype", [np.dtype(np.float32), np.dtype(np.float64)], ids=str)
# Column-major: one column in four chains, a few in two, up to ten in one, and several passes. Feature-major: from 1 to
# 8 registers, and several blocks of them.
parametrize_layout = pytest.mark.parametrize(
    ("columns", "feature_major"),
    [(n, False) for n in (1, 2, 3, 5, 8, 11)] + [(n, True) for n in (2, 5, 9, 13, 17, 21, 25, 33, 41, 49, 57, 130)],
)


@parametrize_dtype
def test_squared_norm(library, dtype):
    vec = library.table(dtype.itemsize).contents
    for case in cases(library, 1, dtype, feature_major=False):
        assert vec.squared_norm(case.row) == pytest.approx(case.x @ case.x, rel=1e-5)


@parametrize_dtype
@pytest.mark.parametrize("sparse", [False, True])
def test_two_rows(library, sparse, dtype):
    """Rows share features or not; equal rows have a distance of exactly zero."""
    vec = library.table(dtype.itemsize).contents
    random = np.random.default_rng(0)
    for n in [*range(20), *range(30, 36), 70]:
        full = random.standard_normal((3, n)).astype(dtype) * (random.random((3, n)) < 0.5)
        full[2] = full[0]
        values = [np.ascontiguousarray(x[x != 0]) if sparse else x for x in full]
        indices = [np.flatnonzero(x).astype(np.int32) for x in full]
        a, b, same = (
            Row(v.ctypes.data, i.ctypes.data if sparse else None, len(v), len(v), 0)
            for v, i in zip(values, indices, strict=True)
        )
        assert_close(dtype.type(vec.dot(a, b)), full[0] @ full[1])
        assert_close(dtype.type(vec.squared_distance(a, b)), ((full[0] - full[1]) ** 2).sum())
        assert vec.squared_distance(a, same) == 0


@parametrize_dtype
@parametrize_layout
def test_scores(library, dtype, columns, feature_major):
    vec = library.table(dtype.itemsize).contents
    for case in cases(library, columns, dtype, feature_major):
        scores = np.full(len(case.W), np.nan)
        vec.scores(case.row, case.weights, scores.ctypes.data)
        assert_close(scores.astype(dtype), case.W @ case.x)


@parametrize_dtype
@pytest.mark.parametrize(
    ("columns", "feature_major"), [(n, False) for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 21)] + [(5, True), (57, True)]
)
def test_scores_and_norm(library, dtype, columns, feature_major):
    """The scores equal those of `scores` bit for bit, plus the intercepts."""
    vec = library.table(dtype.itemsize).contents
    intercepts = np.linspace(-1, 1, columns)
    for case in cases(library, columns, dtype, feature_major):
        plain, scores = np.full((2, len(case.W)), np.nan)
        vec.scores(case.row, case.weights, plain.ctypes.data)
        squares = vec.scores_and_norm(case.row, case.weights, intercepts.ctypes.data, scores.ctypes.data)
        np.testing.assert_array_equal(scores[:columns], plain[:columns] + intercepts)
        assert squares == pytest.approx(case.x @ case.x, rel=1e-5)


@parametrize_dtype
def test_is_canonical(library, dtype):
    vec = library.table(dtype.itemsize).contents

    def found(indices, n=None, ahead=None):
        array = np.array(indices, dtype=np.int32)
        n = len(array) if n is None else n
        return vec.is_canonical(Row(None, array.ctypes.data, n, len(array) if ahead is None else ahead, 0), 40)

    for n in range(40):
        good = list(range(n))
        assert found(good)
        for place in range(1, n):
            assert not found([*good[:place], good[place - 1], *good[place + 1 :]])
    assert found([39])
    assert not found([40])
    assert not found([-1, 3])
    assert not found([1, 2, 3], ahead=2)
    assert not found([1, 2, 3], n=-1)
    assert vec.is_canonical(Row(None, None, 50, 0, 0), 50)


@parametrize_dtype
@pytest.mark.parametrize("up_down", [(0, -1), (-1, 0), (6, 2), (1, 6)], ids=str)
@pytest.mark.parametrize("feature_major", [False, True])
def test_add(library, dtype, feature_major, up_down):
    vec = library.table(dtype.itemsize).contents
    for case in cases(library, 7, dtype, feature_major):
        column = np.arange(len(case.W))
        t = 0.7 * (column == up_down[0]) - 0.7 * (column == up_down[1])
        case.assert_moved(t, lambda: vec.add(case.row, case.weights, *up_down, 0.7))  # noqa: B023


@parametrize_dtype
@parametrize_layout
def test_add_all(library, dtype, columns, feature_major):
    vec = library.table(dtype.itemsize).contents
    for case in cases(library, columns, dtype, feature_major):
        t = np.linspace(-1, 1, len(case.W))
        case.assert_moved(t, lambda: vec.add_all(case.row, case.weights, t.ctypes.data))  # noqa: B023


@parametrize_dtype
@pytest.mark.parametrize("columns", [2, 3, 7, 9, 32, 33, 63, 64, 65, 128, 130])
def test_padding_fills_vectors_and_spares_the_cache(library, dtype, columns):
    padded = library.padded(columns, dtype.itemsize)
    assert padded >= columns
    assert padded * dtype.itemsize % 32 == 0
    assert padded * dtype.itemsize % 256 != 0
