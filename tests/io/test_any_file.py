"""Common behavior of text readers: a damaged file raises the reader's own error after all good records before it."""

import gzip
import io
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin.io import (
    Reader,
    ReadError,
    read_arrow,
    read_conll,
    read_conllu,
    read_crfsuite,
    read_csv,
    read_folder,
    read_jsonl,
    read_mbox,
    read_svmlight,
    read_vw,
)

# A record of each format, the text around the records, and how to read them.
FORMATS = {
    "conll": ("Rome NNP B-LOC\nis VBZ O\n\n", "", read_conll),
    "conllu": ("# text\n1\tRome\t_\tPROPN\t_\t_\t_\t_\t_\t_\n\n", "", read_conllu),
    "crfsuite": ("B-LOC\tw=Rome\tlength:4\nO\tw=is\n\n", "", read_crfsuite),
    "csv": ('red,1.5,"yes"\n', "colour,size,class\n", read_csv),
    "jsonl": ('{"x": {"a": 1.5, "b": "c"}, "y": "yes", "weight": 2}\n', "", read_jsonl),
    "mbox": (
        "From me\nSubject: x\nContent-Type: text/plain; charset=utf-8\n\nHello\n\n",
        "",
        partial(read_mbox, label="Subject"),
    ),
    "svmlight": ("1 qid:1 1:0.5 3:2e-3 # x\n", "", partial(read_svmlight, n_features=5, block=30)),
    "vw": ("1 2 'tag |n a b:2.5 |m c\n", "", read_vw),
}
every_format = pytest.mark.parametrize(("record", "head", "read"), FORMATS.values(), ids=FORMATS)


def read_all(read, data):
    """Return the records up to an error, and the error."""
    records, error = [], None
    try:
        for record in read(io.BytesIO(data)):
            rows = [None] * record.X.shape[0] if hasattr(record, "X") else [record]
            records.extend(rows)
    except ReadError as problem:
        error = problem
    return records, error


@every_format
def test_ends_of_lines_and_of_the_file(record, head, read):
    expected, error = read_all(read, (head + 3 * record).encode())
    assert len(expected) == 3
    assert error is None
    for end in ("\n", "\r\n", "\r"):
        if end != "\r" or read is not FORMATS["mbox"][2]:
            text = (head + 3 * record).replace("\n", end)
            assert len(read_all(read, text.encode())[0]) == 3
            assert len(read_all(read, text.rstrip("\r\n").encode())[0]) == 3
    assert read_all(read, b"") == ([], None)
    assert isinstance(read(io.BytesIO()), Reader)


@every_format
def test_mutated_files(record, head, read):
    intact = (head + 4 * record).encode()

    @given(st.integers(0, len(intact)), st.integers(0, 20), st.binary(max_size=10))
    def check(start, cut, piece):
        data = intact[:start] + piece + intact[start + cut :]
        records, error = read_all(read, data)
        before = (start - len(head)) // len(record)
        # A mutation may join its record with the one before by removing what parts them, but reaches no further.
        assert len(records) >= before - 1
        if error is not None:
            assert error.record == len(records) + 1
            assert error.path == "<stream>"
            assert error.line is None or 1 <= error.line <= data.count(b"\n") + data.count(b"\r") + 1

    check()


@every_format
def test_any_bytes(record, head, read):
    @given(st.binary(max_size=60) | st.text(max_size=40).map(str.encode))
    def check(data):
        read_all(read, head.encode() + data)

    check()


@given(st.binary(max_size=60), st.sampled_from([b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff", b""]))
def test_any_bytes_for_arrow(data, magic):
    read_all(read_arrow, magic + data)


@given(st.binary(max_size=200))
def test_any_message(data):
    read_all(read_mbox, b"From x\n" + data)
    read_all(partial(read_mbox, label="a", headers=["b"]), b"From x\na: =?utf-8?b?" + data[:40] + b"\nb:" + data)


# A line of which a record may have any number, where it has several, or that goes on and on.
ENDLESS = {
    "conll": "Rome NNP B-LOC\n",
    "conllu": "1\tRome\t_\tPROPN\t_\t_\t_\t_\t_\t_\n",
    "crfsuite": "B-LOC\tw=Rome\n",
    "csv": "red ",
    "jsonl": '{"x": "a" ',
    "mbox": "From me\n",
    "svmlight": "1 1:0.5 ",
    "vw": "1 |n a b ",
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_record_without_end_is_refused_before_it_fills_the_memory(name, pack):
    record, head, read = FORMATS[name]
    endless = ENDLESS[name] * (4_000_000 // len(ENDLESS[name]))
    if name == "mbox":
        endless = ENDLESS[name] + "a line\n" * 500_000
    stream = io.BytesIO(pack((head + 3 * record + endless).encode()))
    reader = read(stream)
    assert reader.max_record == 2**26
    reader.max_record = 300_000
    records = []
    with pytest.raises(ReadError, match=r"more than 3000.. bytes.*max_record") as caught:
        records.extend(reader)
    assert caught.value.record == 4
    if pack is bytes:
        assert stream.tell() < 1_000_000
    # Long records that are within the limit are read, and any number of short ones.
    many = read(io.BytesIO(pack((head + 20_000 * record).encode())))
    many.max_record = 300_000
    assert sum(row.X.shape[0] if hasattr(row, "X") else 1 for row in many) == 20_000


def test_files_of_a_folder_are_bounded(tmp_path):
    (tmp_path / "spam").mkdir()
    (tmp_path / "spam" / "a").write_text("short")
    (tmp_path / "spam" / "b").write_text("long " * 100_000)
    reader = read_folder(tmp_path)
    assert len(list(reader)) == 2
    reader.max_record = 100_000
    with pytest.raises(ReadError, match="max_record") as caught:
        list(reader)
    assert caught.value.path.endswith("b")
    assert caught.value.record == 2
