"""The compiled parser of svmlight text: against Python's float, a Python reimplementation, and scikit-learn."""

import gzip
import io
import locale
import math
import threading
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from onmargin._core.files.svmlight import Parser
from onmargin.io import ReadError, prefetch, read_svmlight

digits = st.text("0123456789", max_size=25)
decimals = st.builds(
    lambda sign, whole, part, e: sign + whole + part + e,
    st.sampled_from(["", "-", "+"]),
    digits,
    st.one_of(st.just(""), digits.map(lambda d: "." + d)),
    st.one_of(
        st.just(""), st.integers(-330, 330).map(lambda e: f"e{e}"), st.integers(-70, 70).map(lambda e: f"E{e:+}")
    ),
).filter(lambda text: any(c.isdigit() for c in text.lower().split("e")[0]))


def parsed(text, **options):
    """Return labels, ends of rows, indices, values, and an error or None."""
    parser = Parser(**options)
    problem = parser.parse(text, len(text))
    labels, _, ends, indices, values, _, _ = parser.take_rows()
    return labels, ends, indices, values, problem


def value_of(text):
    """Return the number that a value is read as; None if it is rejected."""
    _, _, _, values, problem = parsed(b"1 1:" + text.encode() + b"\n")
    assert (problem is None) == (len(values) == 1)
    return None if problem else values[0].item()


@given(decimals)
@example("9007199254740993")  # halfway between two doubles
@example("9007199254740993e1")
@example("18446744073709551615e-7")
@example("1e23")
@example("8.5e22")
@example("2.2250738585072011e-308")
@example("4.9406564584124654e-324")
@example("1.7976931348623158e308")
@example("1.7976931348623159e308")
@example("0." + "0" * 30 + "12345678901234567")
@example("1" + "0" * 30)
@example("000000000000000000000001.5")
def test_numbers_are_those_of_python(text):
    expected = float(text)
    found = value_of(text)
    if math.isinf(expected):
        assert found is None
    else:
        assert found.hex() == expected.hex()


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 20))
def test_written_numbers_are_read_back(number, precision):
    assert value_of(repr(number)).hex() == number.hex()
    text = f"{number:.{precision}e}"
    if math.isfinite(float(text)):
        assert value_of(text).hex() == float(text).hex()


def test_many_numbers_of_all_lengths():
    rng = np.random.default_rng(0)
    mantissas = rng.integers(0, 2**63, 40_000, dtype=np.uint64) >> rng.integers(0, 60, 40_000, dtype=np.uint64)
    texts = [f"{m}e{e}" for m, e in zip(mantissas.tolist(), rng.integers(-70, 70, 40_000).tolist(), strict=True)]
    # Near the halfway points, where a wrong bit of the product matters.
    halves = rng.integers(2**53, 2**54, 20_000) | 1
    texts += [
        f"{2 * h + d}e{e}"
        for h, d, e in zip(
            halves.tolist(), rng.integers(-1, 2, 20_000).tolist(), rng.integers(-30, 30, 20_000).tolist(), strict=True
        )
    ]
    text = "".join(f"0 1:{t}\n" for t in texts).encode()
    _, _, _, values, problem = parsed(text)
    assert problem is None
    assert values.tolist() == [float(t) for t in texts]


@pytest.mark.parametrize("level", [0, 1, 2])
def test_plain_numbers_of_all_lengths(level):
    """Digits before and after the point in all numbers, with both signs, across the windows of the parser."""
    rng = np.random.default_rng(0)
    texts = []
    for before, after in rng.integers([1, -1], [9, 22], (20_000, 2)).tolist():
        drawn = "".join(map(str, rng.integers(0, 10, before + max(0, after)).tolist()))
        point = "." if after >= 0 else ""
        texts.append("-" * int(rng.integers(2)) + drawn[:before] + point + drawn[before:])
    rows = [texts[k : k + 50] for k in range(0, len(texts), 50)]
    steps = rng.integers(1, 10 ** rng.integers(1, 7, (len(rows), 50)))
    indices = np.cumsum(steps, axis=1)
    text = "".join(
        f"{k % 3 - 1} " + " ".join(f"{i}:{v}" for i, v in zip(places, row, strict=True)) + "\n"
        for k, (places, row) in enumerate(zip(indices.tolist(), rows, strict=True))
    ).encode()
    labels, _, found, values, problem = parsed(text, level=level)
    assert problem is None
    assert labels.tolist() == [k % 3 - 1 for k in range(len(rows))]
    assert (found == indices.ravel() - 1).all()
    assert [v.hex() for v in values.tolist()] == [float(t).hex() for t in texts]


@pytest.mark.parametrize("level", [0, 1, 2])
def test_floats_are_rounded_doubles(level):
    """Numbers at and next to the middle between two floats, where a wrong last bit of the double would matter."""
    rng = np.random.default_rng(0)
    floats = np.exp(rng.uniform(-9, 13, 4_000)).astype(np.float32)
    middles = (floats.astype(float) + np.nextafter(floats, np.float32(np.inf))) / 2
    texts = [f"{value:.{digits}f}" for value in middles.tolist() for digits in (5, 9, 12, 13)]
    for steps in (-3, -1, 1, 3):
        texts += [f"-{value:.12f}" for value in (middles + steps * np.spacing(middles)).tolist()]
    texts += [f"{number}.{'5' * k}" for number in (0, 8388609, 12345678) for k in range(1, 20)]
    text = "".join(
        f"0 {' '.join(f'{k}:{t}' for k, t in enumerate(texts[at : at + 50], 1))}\n" for at in range(0, len(texts), 50)
    )
    parser = Parser(dtype=np.float32, level=level)
    assert parser.parse(text.encode(), len(text)) is None
    assert parser.take_rows()[4].tolist() == [float(np.float32(t)) for t in map(float, texts)]


@given(
    row=st.lists(st.from_regex(r"\A[0-9]{0,9}[:. ]-?[0-9.]{0,21}[eE+x]?[0-9]?\Z"), min_size=1, max_size=4).map(
        " ".join
    ),
    level=st.integers(0, 2),
)
def test_what_is_nearly_plain_is_read_as_the_twin_reads_it(row, level):
    text = "1 1:1 2:0.5 3:-0.25\n" * 5 + f"1 {row}\n" + "1 1:1 2:0.5 3:-0.25\n" * 5
    expected = list(twin(text))
    _, ends, indices, values, problem = parsed(text.encode(), level=level)
    assert (problem is None) == (None not in expected)
    pairs = list(zip(indices.tolist(), values.tolist(), strict=True))
    assert [pairs[a:b] for a, b in pairwise(ends.tolist())] == [one[2] for one in expected if one is not None]


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "-",
        "+-1",
        "1e",
        "1e+",
        "e5",
        "nan",
        "inf",
        "-Infinity",
        "0x10",
        "1_0",
        "1,5",
        "1.2.3",
        "1:2",
        "1e999",
        "\u0661",
    ],
)
def test_text_that_is_not_a_number(text):
    assert value_of(text) is None


def test_locale_does_not_matter():
    before = locale.setlocale(locale.LC_NUMERIC)
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "C"):
        try:
            locale.setlocale(locale.LC_NUMERIC, name)
        except locale.Error:
            continue
        try:
            assert value_of("1.25") == 1.25
            assert value_of("1.2500000000000000000000000000001e-200") == 1.25e-200
        finally:
            locale.setlocale(locale.LC_NUMERIC, before)


def read(data, **options):
    """Return all rows up to an error, as plain lists, and the error."""
    rows, error = [], None
    source = io.BytesIO(data if isinstance(data, bytes) else data.encode())
    try:
        for X, y, qid in read_svmlight(source, **options):
            X.check_format(full_check=True)
            assert X.has_canonical_format
            for i in range(X.shape[0]):
                label = y[i] if isinstance(y, list) else y[i].item()
                part = slice(X.indptr[i], X.indptr[i + 1])
                features = list(zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True))
                rows.append((label, None if qid is None else qid[i].item(), features))
    except ReadError as problem:
        error = problem
    return rows, error


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("1 1:2 3:4", (1, None, [(0, 2), (2, 4)])),
        ("-1.5\t2:.5   # a comment", (-1.5, None, [(1, 0.5)])),
        ("+1 qid:12 1:1", (1, 12, [(0, 1)])),
        ("0", (0, None, [])),
        ("  3 2:-0#c", (3, None, [(1, 0)])),
        ("1 1:2 qid:5", (1, 5, [(0, 2)])),
    ],
)
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r"])
def test_lines(line, row, end):
    assert read(line + end) == ([row], None)
    assert read("\ufeff# first\n\n" + line + end) == ([row], None)


def test_several_labels():
    text = "1,3 1:0.5\n 2:1\n2:1\n-4 1:1\n"
    assert read(text, multilabel=True) == (
        [((1, 3), None, [(0, 0.5)]), ((), None, [(1, 1)]), ((), None, [(1, 1)]), ((-4,), None, [(0, 1)])],
        None,
    )


def test_zero_based():
    assert read("1 0:2 1:3", zero_based=True) == ([(1, None, [(0, 2), (1, 3)])], None)


@pytest.mark.parametrize(
    ("bad", "options", "message"),
    [
        ("x 1:1", {}, "a row must start with its label, a finite number; got 'x'"),
        ("1:1 2:1", {}, "a row must start with its label, a finite number; got '1:1'"),
        ("1,2 1:1", {}, "a row must start with its label"),
        ("1,2.5 1:1", {"multilabel": True}, "whole numbers separated by commas; got '1,2.5'"),
        ("1 1", {}, "a feature must be a whole number, a colon and a value; got '1'"),
        ("1 -1:1", {}, "a feature must be a whole number, a colon and a value; got '-1:1'"),
        ("1 1 :1", {}, "a colon and a value"),
        ("1 1:1x", {}, "a value must be a finite number; got '1:1x'"),
        ("1 1:1e400", {}, "a value must be a finite number; got '1:1e400'"),
        ("1 2:1 2:1", {}, "the indices of a row must increase; got '2:1'"),
        ("1 3:1 2:1", {}, "the indices of a row must increase"),
        ("1 0:1", {}, "indices start at 1: set zero_based=True"),
        ("1 4:1", {"n_features": 3}, "the index is beyond n_features; got '4:1'"),
        ("1 2147483647:1", {}, "an index must be at most 2147483646"),
        ("1 99999999999999999999999:1", {}, "an index must be at most 2147483646"),
        ("1 qid:1 1:1", {}, "either all rows or no row must have a qid"),
        ("1 qid:x 1:1", {}, "a qid must be a whole number"),
        ("1 1:\xff", {}, "a value must be a finite number; got '1:\xff'"),
        ("1 1:1\0", {}, "a value must be a finite number"),
    ],
)
@pytest.mark.parametrize("block", [1, 20, 1 << 20])
def test_errors_come_after_the_rows_before(bad, options, message, block):
    rows, error = read(f"1 1:1\n\n# x\r\n2 2:1 # y\n{bad}\n3 1:1\n", block=block, **options)
    assert [label if isinstance(label, float) else label[0] for label, _, _ in rows] == [1, 2]
    assert message in str(error)
    assert (error.line, error.record, error.path) == (5, 3, "<stream>")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"block": 0}, "block must be at least 1; got 0"),
        ({"n_features": 0}, "n_features must be at least 1; got 0"),
        ({"dtype": int}, "dtype must be float32 or float64"),
    ],
)
def test_parameters_are_checked_at_once(options, message):
    with pytest.raises(ValueError, match=message):
        read_svmlight("file", **options)


def twin(text):
    """Parse the same format with split and float; return None for a line that is rejected."""
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        fields = line.split("#")[0].replace("\t", " ").split(" ")
        fields = [field for field in fields if field]
        if not fields:
            continue
        try:
            label, features, last = number(fields[0]), [], 0
            for field in fields[1:]:
                index, value = field.split(":")
                if not (index.isascii() and index.isdigit() and last < int(index) < 2**31 - 1):
                    raise ValueError(index)
                last = int(index)
                features.append((last - 1, number(value)))
        except ValueError:
            yield None
            return
        yield label, None, features


def number(text):
    value = float(text)
    if not math.isfinite(value) or not set(text) <= set("0123456789+-.eE"):
        raise ValueError(text)
    return value


@given(st.text("01259:.-+e# \t\r\nqx", max_size=60), st.integers(1, 30))
def test_any_text_is_read_as_the_twin_reads_it(text, block):
    expected = list(twin(text))
    rows, error = read(text, block=block)
    assert rows == [row for row in expected if row is not None]
    assert (error is None) == (None not in expected)
    assert error is None or error.record == len(expected)


@given(st.binary(max_size=80), st.booleans(), st.booleans())
def test_any_bytes_are_read_or_refused(data, multilabel, zero_based):
    read(b"1 1:1\n" + data, multilabel=multilabel, zero_based=zero_based)


def make_file(path, n, seed=0):
    X = sparse.random(n, 40, density=0.2, format="csr", random_state=seed)
    y = np.random.default_rng(seed).integers(3, size=n).astype(float)
    dump_svmlight_file(X, y, str(path), zero_based=False)
    return X, y


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("block", [100, 1 << 20])
def test_rows_are_those_of_scikit_learn(tmp_path, dtype, block):
    make_file(tmp_path / "data", 500)
    X, y = load_svmlight_file(str(tmp_path / "data"), n_features=40, dtype=dtype)
    blocks = list(read_svmlight(tmp_path / "data", n_features=40, dtype=dtype, block=block))
    ours = sparse.vstack([part.X for part in blocks], format="csr")
    assert ours.dtype == dtype
    assert (ours != X).nnz == 0
    np.testing.assert_array_equal(np.concatenate([part.y for part in blocks]), y)


@pytest.mark.parametrize("every", [1, 2, 7])
def test_blocks_that_are_kept_stay_as_they_are(tmp_path, every):
    """The parser uses the memory of a block again, once nobody refers to it."""
    X, _ = make_file(tmp_path / "a.svm", 400)
    kept, first = [], 0
    for k, (rows, *_) in enumerate(read_svmlight(tmp_path / "a.svm", n_features=40, block=500)):
        if k % every == 0:
            kept.append((first, rows.shape[0], rows.data if k % 2 else rows.data[1:]))
        first += rows.shape[0]
    assert len(kept) > 10
    for start, n_rows, data in kept:
        expected = X[start : start + n_rows].data
        assert np.allclose(data, expected[len(expected) - len(data) :], rtol=1e-15, atol=0)


def test_a_large_block_takes_the_memory_of_its_text(tmp_path):
    make_file(tmp_path / "a.svm", 400)
    tracemalloc.start()
    try:
        (block,) = read_svmlight(tmp_path / "a.svm", block=1 << 26)
        assert block.X.shape[0] == 400
        assert tracemalloc.get_traced_memory()[1] < (1 << 26) + (1 << 22)  # the buffer of the text, and the rows
    finally:
        tracemalloc.stop()


def test_width_without_n_features():
    widths = [X.shape[1] for X, _, _ in read_svmlight(io.BytesIO(b"1 1:1\n1 7:1\n1 2:1\n"), block=3)]
    assert widths[-1] == 7


def test_damaged_file_gives_all_rows_before(tmp_path):
    path = tmp_path / "data.gz"
    X, _ = make_file(tmp_path / "plain", 2000)
    packed = gzip.compress((tmp_path / "plain").read_bytes())
    path.write_bytes(packed[: len(packed) // 2])
    seen, error = 0, None
    try:
        for part in read_svmlight(path, n_features=40):
            np.testing.assert_allclose(part.X.toarray(), X[seen : seen + part.X.shape[0]].toarray())
            seen += part.X.shape[0]
    except ReadError as problem:
        error = problem
    assert 500 < seen < 2000
    assert error.record == seen + 1
    assert "damaged" in str(error)


def test_memory_does_not_grow_with_the_file(tmp_path):
    def peak(n):
        make_file(tmp_path / "data", n)
        tracemalloc.start()
        for _ in read_svmlight(tmp_path / "data", n_features=40, block=1 << 14):
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(100)
    assert peak(4000) < 1.2 * peak(500)


def test_prefetched_blocks_are_the_same(tmp_path):
    make_file(tmp_path / "data", 500)
    reader = read_svmlight(tmp_path / "data", n_features=40, block=1000)
    ahead = prefetch(reader)
    for _ in range(2):
        for ours, expected in zip(ahead, reader, strict=True):
            assert (ours.X != expected.X).nnz == 0


def test_prefetch_raises_in_its_place():
    def items():
        yield 1
        yield 2
        raise KeyError("three")

    seen = []
    loop = iter(prefetch(items()))
    seen += [next(loop), next(loop)]
    with pytest.raises(KeyError, match="three"):
        next(loop)
    assert seen == [1, 2]
    with pytest.raises(ValueError, match="ahead must be at least 1; got 0"):
        prefetch([], 0)


def test_prefetch_stops_when_the_reader_is_closed():
    loop = iter(prefetch(iter(int, 1), ahead=1))
    assert next(loop) == 0
    loop.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "onmargin-prefetch"]


@given(
    features=st.lists(
        st.tuples(
            st.integers(1, 10**9),
            st.from_regex(r"\A-?[0-9]{1,9}(\.[0-9]{0,24})?(e-?[0-9])?\Z") | st.floats(-1e9, 1e9).map("{:.17g}".format),
        ),
        unique_by=lambda feature: feature[0],
    ),
    gap=st.sampled_from([" ", "  ", "\t"]),
    level=st.integers(0, 2),
)
def test_plain_features_are_read_as_any_others(features, gap, level):
    """Common features take the fast path of the parser, in rows that are far from both ends."""
    features.sort()
    row = gap.join(["1", *(f"{index}:{value}" for index, value in features)])
    text = "\n".join(["1 1:1 2:2"] * 8 + [row] + ["1 1:1 2:2"] * 8 + [""]).encode()
    _, ends, indices, values, problem = parsed(text, level=level)
    assert problem is None
    assert indices[ends[8] : ends[9]].tolist() == [index - 1 for index, _ in features]
    assert values[ends[8] : ends[9]].tolist() == [float(value) for _, value in features]
    assert np.signbit(values[ends[8] : ends[9]]).tolist() == [value.startswith("-") for _, value in features]


def test_one_large_index_does_not_make_a_huge_model():
    text = "1 1:1\n1 400000000:1\n"
    with pytest.raises(ReadError, match=r"Indices go up to 67108864: set n_features to more, or hashed=True") as caught:
        list(read_svmlight(io.StringIO(text)))
    assert caught.value.record == 2
    assert [X.shape for X, _, _ in read_svmlight(io.StringIO(text), n_features=400_000_000)] == [(2, 400_000_000)]
    assert [X.shape for X, _, _ in read_svmlight(io.StringIO(text), n_features=2**10, hashed=True)] == [(2, 2**10)]


@given(st.lists(st.dictionaries(st.integers(1, 2**31 - 2), st.integers(-9, 9), max_size=9), min_size=1, max_size=5))
def test_hashed_rows_sum_the_values_of_a_column(rows):
    text = "".join("1 " + " ".join(f"{i}:{row[i]}" for i in sorted(row)) + "\n" for row in rows)
    for n_features in (1, 2, 2**5, 2**31):
        (block,) = read_svmlight(io.StringIO(text), n_features=n_features, hashed=True)
        assert block.X.has_canonical_format
        assert block.X.shape == (len(rows), n_features)
        for found, row in zip(block.X, rows, strict=True):
            assert found.sum() == sum(row.values())
            assert found.nnz <= len(row)
            expected = {}
            for index, value in row.items():
                place = ((index - 1) * 0x9E3779B97F4A7C15 % 2**64) >> (65 - n_features.bit_length())
                expected[place] = expected.get(place, 0) + value
            assert dict(zip(found.indices.tolist(), found.data.tolist(), strict=True)) == expected


def test_hashing_needs_a_power_of_two():
    for n_features in (None, 3, 2**32):
        with pytest.raises(ValueError, match="a power of two"):
            read_svmlight(io.StringIO(""), n_features=n_features, hashed=True)
