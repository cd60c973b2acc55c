"""Sources of readers: paths, streams and standard input, compressed or not, with any line endings."""

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import tracemalloc
import zipfile

import pytest
import zstandard
from hypothesis import assume, example, given
from hypothesis import strategies as st

from onmargin.io import ReadError, guess_format, read_crfsuite
from onmargin.io._source import _ARCHIVE, _MAGIC, Lines, Place, RecordError, opened

TEXT = "A\tx\nB\ty:2\n\nA\tz\n"
EXPECTED = [([{"x": 1}, {"y": 2}], ["A", "B"]), ([{"z": 1}], ["A"])]
PACK = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
    "bz2": lambda data: bz2.compress(data, 1),  # blocks of 100 KB, which are damaged as a whole
}


def read_all(records):
    """Return the data read up to an error, and the error."""
    seen = []
    try:
        for record in records:
            seen.append(record)  # noqa: PERF402 - kept when the loop fails
    except (ReadError, RecordError) as error:
        return seen, error
    return seen, None


@pytest.mark.parametrize("pack", PACK.values(), ids=PACK)
@pytest.mark.parametrize("name", ["data", "data.gz", "data.xz", "data.zst", "data.bz2"])
def test_compression_is_detected_from_the_bytes(tmp_path, pack, name):
    path = tmp_path / name
    path.write_bytes(pack(TEXT.encode()))
    assert list(read_crfsuite(path)) == EXPECTED


@pytest.mark.parametrize("pack", PACK.values(), ids=PACK)
def test_compressed_files_may_be_concatenated(tmp_path, pack):
    path = tmp_path / "data"
    path.write_bytes(pack(TEXT[:9].encode()) + pack(TEXT[9:].encode()))
    assert list(read_crfsuite(str(path))) == EXPECTED


@pytest.mark.parametrize("suffix", PACK)
def test_a_compression_suffix_must_be_true(tmp_path, suffix):
    path = tmp_path / f"data.{suffix}"
    path.write_text(TEXT)
    with pytest.raises(ReadError, match=r"data\.\w+, record 1: the data are damaged"):
        list(read_crfsuite(path))
    path.write_bytes(b"")
    assert list(read_crfsuite(path)) == []


@pytest.mark.parametrize("pack", PACK.values(), ids=PACK)
def test_cut_compressed_file_loses_no_record_before_the_cut(tmp_path, pack):
    n = 20_000
    packed = pack(b"".join(b"A\tx%d\n\n" % (k * 7919 % 104729) for k in range(n)))
    path = tmp_path / "data"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    seen, error = read_all(read_crfsuite(path))
    assert [x for x, _ in seen] == [[{f"x{k * 7919 % 104729}": 1}] for k in range(len(seen))]
    assert n / 4 < len(seen) < n
    assert error.record == len(seen) + 1
    assert "damaged" in str(error)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_utf_16_is_read_by_its_byte_order_mark(tmp_path, encoding):
    """Spreadsheets save "Unicode text" like this. Characters take two to four bytes, and three in UTF-8."""
    names = [f"x{k}\u20ac\U0001f600" for k in range(30_000)]
    text = "".join(f"A\t{name}\n\n" for name in names)
    path = tmp_path / "data"
    path.write_bytes(("" if encoding in {"utf-16", "utf-32"} else "\ufeff").encode(encoding) + text.encode(encoding))
    assert [x for x, _ in read_crfsuite(path)] == [[{name: 1.0}] for name in names]
    path.write_bytes("A\tx\n".encode("utf-16")[:-1])
    _, error = read_all(read_crfsuite(path))
    assert "the data are damaged" in str(error)


def test_an_archive_is_refused_with_the_remedy(tmp_path):
    path = tmp_path / "table.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", TEXT)
    for read in (lambda: list(read_crfsuite(path)), lambda: guess_format(path)):
        with pytest.raises(ReadError, match="is a spreadsheet or another document: save it as CSV"):
            read()


def test_a_path_is_read_again_and_a_stream_once(tmp_path):
    path = tmp_path / "data"
    path.write_text(TEXT)
    reader = read_crfsuite(path)
    assert list(reader) == list(reader) == EXPECTED
    assert repr(reader) == f"<Reader of {path}>"
    with path.open("rb") as stream:
        assert list(read_crfsuite(stream)) == EXPECTED
        assert list(read_crfsuite(stream)) == []
        assert not stream.closed
    with path.open(encoding="utf-8") as stream:
        assert list(read_crfsuite(stream)) == EXPECTED
    memory = io.BytesIO(gzip.compress(TEXT.encode()))
    assert list(read_crfsuite(memory)) == EXPECTED
    assert not memory.closed
    assert list(read_crfsuite(io.StringIO(TEXT))) == EXPECTED


@pytest.mark.parametrize("data", [TEXT.encode(), gzip.compress(TEXT.encode())], ids=["plain", "gzip"])
def test_standard_input(data):
    code = "from onmargin.io import read_crfsuite; print([tuple(s) for s in read_crfsuite('-')])"
    run = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True)
    assert run.stdout.decode().strip() == repr([([{"x": 1.0}, {"y": 2.0}], ["A", "B"]), ([{"z": 1.0}], ["A"])])


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python brings its own")
def test_zstandard_needs_a_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ImportError, match=r"pip install zstandard, or decompress the file \(zstd -dc"):
        list(read_crfsuite(io.BytesIO(PACK["zst"](TEXT.encode()))))


def test_values_that_are_not_sources():
    with pytest.raises(TypeError, match="path must be a path, '-' for the standard input or an open file; got 3"):
        read_crfsuite(3)
    with pytest.raises(FileNotFoundError):
        list(read_crfsuite("no such file"))


class Trickle(io.RawIOBase):
    """A pipe that returns one byte at a time."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self.data.readinto(memoryview(buffer)[:1])


@pytest.mark.parametrize("pack", [bytes, *PACK.values()], ids=["plain", *PACK])
def test_slow_streams(pack):
    assert list(read_crfsuite(Trickle(pack(TEXT.encode())))) == EXPECTED


def lines_of(data, newline=None):
    at = Place("data")
    with opened(io.BytesIO(data)) as stream:
        yield from ((at.line, line) for line in Lines(stream, at, newline))


@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=5)),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.booleans(),
)
def test_lines_have_any_ends(rows, end, bom, final):
    text = end.join(rows) + (end if final and rows and rows[-1] else "")
    data = (b"\xef\xbb\xbf" if bom else b"") + text.encode()
    if rows and not rows[-1]:
        rows = rows[:-1]
    if not bom and rows and rows[0].startswith("\ufeff"):
        rows[0] = rows[0][1:]
    if list(rows) == [""] and not text:
        rows = []
    assert [line for _, line in lines_of(data)] == rows
    assert [number for number, _ in lines_of(data)] == list(range(1, len(rows) + 1))


@given(st.binary(max_size=60))
@example(b"\xef")
@example(b"\xef\xbb\xbf")
def test_lines_before_a_broken_one_are_read(data):
    assume(not data.startswith((_ARCHIVE, *_MAGIC)))  # that would not be plain text
    rows = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    rows = rows if rows[-1] else rows[:-1]
    good = []
    for row in rows:
        try:
            good.append(row.decode())
        except UnicodeDecodeError:
            break
    seen, error = read_all(line for _, line in lines_of(data))
    assert seen == good
    assert (error is None) == (len(good) == len(rows))
    assert error is None or "is not UTF-8" in str(error)


def test_error_names_file_line_record_and_byte(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(b"A\tx\n\nA\ty\n\nA\tz\nA\tgr\xfcn\n")
    seen, error = read_all(read_crfsuite(path))
    assert len(seen) == 2
    assert isinstance(error, ReadError)
    assert (error.path, error.line, error.record) == (str(path), 6, 3)
    assert str(error) == (
        f"{path}, line 6, record 3: byte 0xfc after 4 characters is not UTF-8: set the encoding of the file "
        "(--encoding), which is often cp1252 or latin-1"
    )


@pytest.mark.parametrize(
    "pack", [bytes, *(pytest.param(pack, marks=pytest.mark.full) for pack in PACK.values())], ids=["plain", *PACK]
)
def test_memory_does_not_grow_with_the_file(tmp_path, pack):
    def peak(n):
        path = tmp_path / "data"
        path.write_bytes(pack(b"".join(b"A\tx%d:1\ty:2\nB\tz\n\n" % (k * 7919 % 104729) for k in range(n))))
        tracemalloc.start()
        assert sum(1 for _ in read_crfsuite(path)) == n
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(100)
    assert peak(16_000) < 1.2 * peak(2_000) + 150_000
