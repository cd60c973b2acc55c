"""Records of CSV, JSON lines, Vowpal Wabbit's text, Parquet and Arrow."""

import csv
import gzip
import io
import json
import random
import subprocess
import sys
import tracemalloc
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin.io import ReadError, Record, read_arrow, read_crfsuite, read_csv, read_jsonl, read_vw

finite = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), min_size=1, max_size=5)


def rows_of(read, content, *args, **options):
    return list(read(io.BytesIO(content.encode()), *args, **options))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_csv(end):
    text = end.join(["colour,size,class", "red,1.5,yes", "", '"a, ""b""",-2e3,no'])
    assert rows_of(read_csv, text) == [
        Record({"colour": "red", "size": 1.5}, "yes"),
        Record({"colour": 'a, "b"', "size": -2000}, "no"),
    ]


def test_columns_of_csv():
    text = "y,w,zip,n\n1,2,0123,\n0,0.5,4,5\n"
    records = rows_of(read_csv, text, "y", weight="w", text=["zip"])
    assert records == [Record({"zip": "0123"}, 1, 2), Record({"zip": "4", "n": 5}, 0, 0.5)]
    assert rows_of(read_csv, text, 0, weight=1, text=["zip"]) == records
    assert rows_of(read_csv, text, None)[1] == Record({"y": 0, "w": 0.5, "zip": 4, "n": 5})
    assert rows_of(read_csv, "a\tb\n", header=False, delimiter="\t") == [Record({"0": "a"}, "b")]
    assert rows_of(read_csv, "a,b\n", header=["p", "q"]) == [Record({"p": "a"}, "b")]
    assert rows_of(read_csv, "") == rows_of(read_csv, "a,b") == []


def test_quoted_fields_keep_their_line_ends():
    assert rows_of(read_csv, 'a,b\r\n"x\r\ny",1\r\n')[0].x == {"a": "x\r\ny"}


@given(st.lists(st.lists(words, min_size=2, max_size=2), max_size=4))
def test_csv_reads_what_python_writes(rows):
    out = io.StringIO()
    csv.writer(out).writerows([["a", "b"], *rows])
    records = rows_of(read_csv, out.getvalue(), text=["a", "b"])
    assert [(record.x["a"], record.y) for record in records] == [tuple(row) for row in rows]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\n1,2\n1\n", {}, "line 3, record 2: the row has 1 fields, and there are 2 columns"),
        ("a,b\n1,\n", {}, "line 2, record 1: the label, column 'b', is empty"),
        ("a,b\n", {"label": "c"}, "there is no column 'c' for the label; the columns are 'a', 'b'"),
        ("a,b\n", {"weight": 2}, "there is no column 2 for the weight"),
        ("a,a\n1,2\n", {}, "two columns have the name 'a': rename one of them"),
        ("a,b\nnan,2\n", {}, "column 'a' must be a finite number; got 'nan'"),
        ("a,b\n1,2\n-1,2\n", {"weight": "a"}, "line 3, record 2: a weight is a finite number that is not negative"),
        ('a,b\n1,2\n"x"y,2\n', {}, "line 3, record 2: the row is not CSV"),
        ('a,b\n1,2\n"x,2\n', {}, "record 2: the row is not CSV"),
    ],
)
def test_errors_of_csv(text, options, message):
    with pytest.raises(ReadError, match=message):
        rows_of(read_csv, text, **options)


def test_delimiter_is_one_character():
    with pytest.raises(ValueError, match="delimiter must be one character; got ';;'"):
        read_csv("file", delimiter=";;")


@pytest.mark.parametrize(
    ("entry", "record"),
    [
        ({"x": {"a": 1, "b": "c", "d": None, "e": True}}, Record({"a": 1, "b": "c", "e": 1})),
        ({"features": ["a", "b"], "y": 2}, Record(["a", "b"], 2)),
        ({"text": "some words", "label": ["p", "q"], "weight": 0.5}, Record("some words", ["p", "q"], 0.5)),
        ({"x": {}, "y": False, "id": 7}, Record({}, False)),
    ],
)
def test_jsonl(entry, record):
    text = json.dumps(entry)
    assert rows_of(read_jsonl, f"\n{text}\r\n\n{text}") == [record, record]


@given(st.lists(st.dictionaries(st.text(st.characters(codec="utf-8")), finite | st.text(st.characters(codec="utf-8")))))
def test_jsonl_reads_what_python_writes(rows):
    text = "".join(json.dumps({"x": row, "y": 1}, ensure_ascii=False).replace("\x85", "\\u0085") + "\n" for row in rows)
    assert [record.x for record in rows_of(read_jsonl, text)] == rows


GOOD = '{"x": {"a": 1}}\n'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "the line is not JSON"),
        ("[1]", r"a record is an object with x or features or text; got \[1\]"),
        ('{"z": 1}', r"a record has its features as .*; got the keys \['z'\]"),
        ('{"x": 3}', "features are an object of numbers and strings, a list of strings or a string; got 3"),
        ('{"x": ["a", 1]}', "features are an object"),
        ('{"x": {"a": NaN}}', "NaN is not a number"),
        ('{"x": {"a": -Infinity}}', "-Infinity is not a number"),
        ('{"x": {"a": 1e999}}', "'a' must be a finite number or a string; got inf"),
        ('{"x": {"a": [{"b": 1}]}}', "'a' must be a finite number or a string"),
        ('{"x": {}, "text": ""}', "a record has one of x and text, not both"),
        ('{"x": {}, "y": {}}', "a label is a string, a finite number, true or false"),
        ('{"x": {}, "weight": -1}', "a weight is a finite number that is not negative; got -1"),
        ('{"x": {}, "weight": "2"}', "a weight is"),
        ('{"x": ' + "[" * 100_000, "the line is not JSON"),
        ('{"x": {"a": ' + "9" * 400 + "}}", "'a' must be a finite number or a string"),
        ('{"x": {"a": ' + "9" * 5000 + "}}", "the line is not JSON"),
        ('{"x": {}, "weight": ' + "9" * 400 + "}", "a weight is a finite number"),
    ],
)
def test_errors_of_jsonl(line, message):
    with pytest.raises(ReadError, match=rf"line 2, record 2: .*{message}"):
        rows_of(read_jsonl, GOOD + line)


@pytest.mark.parametrize(
    ("line", "record"),
    [
        ("1 | a b:2.5", Record({"a": 1, "b": 2.5}, 1)),
        ("-1 0.5 'tag |ns a b:2 |other a", Record({"ns^a": 1, "ns^b": 2, "other^a": 1}, -1, 0.5)),
        ("1 2 tag| a", Record({"a": 1}, 1, 2)),
        ("|n a", Record({"n^a": 1})),
        ("tag|n a", Record({"n^a": 1})),
        ("'tag |n:0.5 a b:4", Record({"n^a": 0.5, "n^b": 2})),
        ("1 | a a:2 |", Record({"a": 3}, 1)),
        ("1 |", Record({}, 1)),
        ("0 |n http://x:2", Record({"n^http://x": 2}, 0)),
    ],
)
def test_vw(line, record):
    assert rows_of(read_vw, f"{line}\r\n\n{line}") == [record, record]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 a", "an example has its features after a '|'; got '1 a'"),
        ("x | a", "the label must be a finite number; got 'x'"),
        ("1 x | a", "the importance must be a finite number; got 'x'"),
        ("1 -2 | a", "a weight is a finite number that is not negative"),
        ("1 1 0.5 | a", "at most a label, an importance and a tag"),
        ("1 | a:b", "the value of 'a' must be a finite number; got 'b'"),
        ("1 | a:inf", "the value of 'a' must be a finite number; got 'inf'"),
        ("1 | :3", "there is no name before the value in ':3'"),
    ],
)
def test_errors_of_vw(line, message):
    with pytest.raises(ReadError) as caught:
        rows_of(read_vw, f"1 | a\n{line}\n")
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.record) == (2, 2)


TABLE = pa.table({"a": [1, None, 3], "b": ["x", "y", None], "y": [True, False, True]})
RECORDS = [Record({"a": 1, "b": "x"}, 1), Record({"b": "y"}, 0), Record({"a": 3}, 1)]


def write_parquet(table, out):
    pa.parquet.write_table(table, out)


def write_file(table, out):
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)


def write_stream(table, out):
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)


@pytest.fixture(params=[write_parquet, write_file, write_stream])
def write(request):
    return request.param


def written(write, table):
    out = io.BytesIO()
    write(table, out)
    return out.getvalue()


def test_arrow(tmp_path, write):
    path = tmp_path / "table"
    path.write_bytes(written(write, TABLE))
    assert list(read_arrow(path, block=2)) == RECORDS
    assert next(iter(read_arrow(str(path), "b", weight="a"))) == Record({"y": 1}, "x", 1)


def test_a_long_text_is_a_field():
    """The csv module refuses more than 131,072 characters by default."""
    text = "word " * 50_000
    assert rows_of(read_csv, f"text,label\n{text},a\n") == [Record({"text": text}, "a")]


def test_columns_of_other_types(tmp_path, write):
    """Dates, times, durations, decimals, lists and structs become text or numbers."""
    path = tmp_path / "table"
    moment = datetime(2024, 5, 17, 8, 30)
    table = pa.table(
        {
            "day": [moment.date(), None],
            "time": pa.array([moment, None], pa.timestamp("ns")),
            "took": pa.array([timedelta(seconds=3), None], pa.duration("ns")),
            "price": [Decimal("1.5"), None],
            "gap": [1.0, float("nan")],
            "vector": [[0.5, 2.0], None],
            "tags": [["a", "b"], []],
            "nested": [{"n": 1, "s": "x"}, None],
            "odd": [[{"n": 1}], [{"n": 2}]],
            "y": [["p", "q"], ["p"]],
        }
    )
    path.write_bytes(written(write, table))
    first, second = read_arrow(path, "y", ignore=["odd"])
    assert first.x == {
        "day": "2024-05-17",
        "time": "2024-05-17T08:30:00",
        "took": 3.0,
        "price": 1.5,
        "gap": 1.0,
        "vector:0": 0.5,
        "vector:1": 2.0,
        "tags:a": 1.0,
        "tags:b": 1.0,
        "nested:n": 1.0,
        "nested:s": "x",
    }
    assert (second.x, first.y, second.y) == ({}, ["p", "q"], ["p"])
    with pytest.raises(ReadError, match="'odd' must be a finite number or a string"):
        list(read_arrow(path, "y"))


def altered(data, random):
    """Return a file with some bytes replaced, removed or inserted."""
    data = bytearray(data)
    for _ in range(random.choice([1, 1, 2, 5, 20])):
        place, kind = random.randrange(len(data)), random.random()
        if kind < 0.7:
            data[place] = random.choice([0, 127, 128, 255, random.randrange(256)])
        elif kind < 0.85 and len(data) > 100:
            del data[place : place + random.randrange(1, 50)]
        else:
            data[place:place] = random.randbytes(random.randrange(1, 9))
    return bytes(data)


def read_altered(path, first, n):
    """Read altered files of every kind; any exception but ReadError is raised."""
    table = pa.table({"a": range(60), "b": ["x", "yy", "zzz"] * 20, "y": [1.5, 2.5, -1.0] * 20})
    for write in (write_parquet, write_file, write_stream):
        good = written(write, table)
        for seed in range(first, first + n):
            path.write_bytes(altered(good, random.Random(seed)))
            with suppress(ReadError):
                list(read_arrow(path, "y"))


@pytest.mark.parametrize("n", [200, pytest.param(3000, marks=pytest.mark.full)])
def test_altered_arrow_files_are_read_or_refused_and_never_crash(tmp_path, n, request):
    code = f"""
from pathlib import Path
from tests.io.test_records import read_altered
read_altered(Path({str(tmp_path / "a")!r}), {n}, {n})
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=request.config.rootpath, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


KINDS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_long_rows_of_arrow_are_refused(tmp_path, write, kind):
    """This includes rows that are short in the file, because they are compressed or repeated."""
    path = tmp_path / "table"
    texts = ["short", None, "x" * 40_000, "x" * 40_000, "y" * 60_000]
    table = pa.table({"a": pa.array(texts).cast(kind), "b": pa.array(texts).cast(kind), "y": range(5)})
    path.write_bytes(written(write, table))
    reader = read_arrow(path)
    reader.max_record = 100_000
    read = []
    with pytest.raises(ReadError, match=r"more than 100000 bytes: .* max_record") as caught:
        read.extend(reader)
    assert caught.value.record == 5
    assert [record.x.get("a") for record in read] == texts[:4]
    reader.max_record = 200_000
    assert [record.x.get("b") for record in reader] == texts


@pytest.mark.parametrize("write", [write_parquet, write_file])
def test_strings_that_rows_share_take_memory_once(tmp_path, write):
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(300, np.int32)), pa.array(["x" * 1_000_000]))
    path = tmp_path / "table"
    path.write_bytes(written(write, pa.table({"a": texts, "y": range(300)})))
    reader = read_arrow(path)
    reader.max_record = 2_000_000
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    assert sum(len(record.x["a"]) for record in reader) == 300_000_000
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    assert pa.default_memory_pool().max_memory() - before < 100_000_000


def test_parquet_columns_that_claim_to_be_long_are_not_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "table"
    path.write_bytes(written(write_parquet, pa.table({"a": ["x" * 200_000, "y" * 200_000], "y": [1, 2]})))
    monkeypatch.setattr(pa.parquet.ParquetFile, "iter_batches", lambda *_, **__: pytest.fail("it is unpacked"))
    reader = read_arrow(path)
    reader.max_record = 100_000
    with pytest.raises(ReadError, match=r"record 1: .*more than 100000 bytes"):
        list(reader)


def test_arrow_stream_may_be_a_pipe_and_compressed():
    assert list(read_arrow(io.BytesIO(gzip.compress(written(write_stream, TABLE))))) == RECORDS


def test_empty_tables(tmp_path, write):
    path = tmp_path / "table"
    path.write_bytes(written(write, TABLE[:0]))
    assert list(read_arrow(path)) == []


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"a": [1.0, float("inf")], "y": [1, 1]}, {}, "record 2: 'a' must be a finite number or a string; got inf"),
        ({"a": [1, 2], "y": [1, None]}, {}, "record 2: the label, column 'y', is empty"),
        ({"a": [[{"b": 1}], [{"b": 2}]], "y": [1, 1]}, {}, "record 1: 'a' must be a finite number or a string"),
        ({"a": [1]}, {"label": "y"}, "there is no column 'y' for the label"),
    ],
)
def test_errors_of_arrow(tmp_path, write, table, options, message):
    path = tmp_path / "table"
    path.write_bytes(written(write, pa.table(table)))
    with pytest.raises(ReadError, match=message):
        list(read_arrow(path, **options))


def test_arrow_needs_pyarrow(tmp_path, monkeypatch):
    path = tmp_path / "table"
    path.write_bytes(written(write_parquet, TABLE))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install '\.\[arrow\]'"):
        list(read_arrow(path))


def test_damaged_arrow(tmp_path, write):
    path = tmp_path / "table"
    path.write_bytes(written(write, TABLE)[:-50])
    with pytest.raises(ReadError, match="neither Parquet nor Arrow, or damaged"):
        list(read_arrow(path))
    path.write_bytes(b"something else altogether")
    with pytest.raises(ReadError, match="neither Parquet nor Arrow, or damaged"):
        list(read_arrow(path))
    with pytest.raises(ValueError, match="block must be at least 1; got 0"):
        read_arrow(path, block=0)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_vw, f"1 {'x' * 20_000} 3 4 | a\n"),
        (read_crfsuite, f"B\t{'x' * 20_000}:1:2\n"),
        (read_jsonl, '{"z": 1, ' + ", ".join(f'"key{k}": 1' for k in range(3000)) + "}\n"),
    ],
)
def test_an_error_does_not_print_the_whole_line(read, text):
    with pytest.raises(ReadError) as caught:
        rows_of(read, text)
    assert len(str(caught.value)) < 600
    assert " ... " in str(caught.value)
