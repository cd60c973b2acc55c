"""Formats detected from names and first bytes, one text per line, and notes stored with a model."""

import gzip
import io
import sys

import pytest

import onmargin
from onmargin.io import ReadError, guess_format, load_with_notes, read_text

TEXTS = {
    "svmlight": "1 qid:3 1:0.5 3:1e-5 # first\n-1 2:1\n",
    "csv": "a,b\n1,2\n",
    "jsonl": '{"x": {}}\n',
    "vw": "1 2.0 'tag |words cheap pills\n",
    "mbox": "From me Thu Jan  1 00:00:00 1970\nSubject: x\n\nhello, you\n",
    "text": "spam\tcheap, cheap pills\n",
    "conll": "He PRP B-NP\nleft VBD B-VP\n\nShe PRP B-NP\n",
    "crfsuite": "B\tw=He\nI\tw=said so\n\nB\tw=She\n",
    "conllu": "# text = He left\n1\tHe" + "\t_" * 8 + "\n2\tleft" + "\t_" * 8 + "\n\n1\tShe" + "\t_" * 8 + "\n\n",
    "json": '[\n {"x": {"a | b": 1}, "y": 2},\n {"x": {}}\n]\n',
    "arff": "% comment, comment\n@relation r\n@attribute a numeric\n@data\n1\n",
}


@pytest.mark.parametrize("format", TEXTS)
@pytest.mark.parametrize("packed", [False, True])
def test_format_is_detected_from_first_bytes(tmp_path, format, packed):
    path = tmp_path / "data"
    path.write_bytes(gzip.compress(TEXTS[format].encode()) if packed else TEXTS[format].encode())
    assert guess_format(path) == format


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("He\tPRP\tB-NP\nleft\tVBD\tB-VP\n\nShe\tPRP\tB-NP\n", "conll"),
        ("He\tB-NP\nleft\tB-VP\n\nShe\tB-NP\n", "conll"),
        ("B-NP\tw=He\tpos=PRP\nB-VP\tw=left\n\nB-NP\tw=She\n", "crfsuite"),
        ("name|size\nbig|1\nsmall|2\n", "csv"),
        ("1|a b|x\n2|c|y\nthree|d|z\n", "csv"),
        ("id,note\n1,a | b\n2,c\n", "csv"),
    ],
)
def test_format_is_detected_from_the_whole_first_block(tmp_path, text, format):
    """One line is not enough: any file with a bar in its first line was taken for Vowpal Wabbit's format."""
    (tmp_path / "data").write_text(text)
    assert guess_format(tmp_path / "data") == format


IRIS = "5.1 3.5 1.4 0.2 setosa\n6.1  2.8  4.0 1.3 versicolor\n 6.7 2.5 5.8 1.8 virginica \n"
MPG = '18.0   8   307.0   ?   70  1\t"chevrolet malibu"\n15.0   8   350.0   165.0   70  1\t"buick skylark"\n'
TENNIS = "sunny hot weak no\nrain mild strong yes\n"
WORDS = "he PRP B-NP\nsleeps VBZ B-VP\n"


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (IRIS, "csv"),
        (IRIS + "\n", "csv"),
        ("a b c d kind\n" + IRIS, "csv"),
        (IRIS.replace(".", ","), "csv"),
        (IRIS.splitlines()[0], "csv"),
        (MPG * 5, "csv"),
        (TENNIS * 5, "csv"),
        (WORDS * 5 + "\n", "conll"),
        (WORDS * 5 + "\n" + WORDS, "conll"),
        ("spam\tcheap pills now\nham\tlunch at noon\n" * 5, "text"),
        ("spam\tcall 5 5\n" * 5, "text"),
    ],
)
def test_blanks_separate_the_fields_of_a_table(tmp_path, text, format):
    (tmp_path / "data").write_text(text)
    assert guess_format(tmp_path / "data") == format


@pytest.mark.parametrize("text", [TENNIS, "to be or not to be\n" + IRIS, "a few words\nand some more of them\n" * 9])
def test_words_are_not_a_table(tmp_path, text):
    (tmp_path / "data").write_text(text)
    with pytest.raises(ValueError, match="rows have the same number of fields"):
        guess_format(tmp_path / "data")


def test_rows_without_labels_are_svmlight(tmp_path):
    (tmp_path / "data").write_text("1:0.5 3:1\n2:1\n")
    assert guess_format(tmp_path / "data") == "svmlight"


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.SVM", "svmlight"),
        ("a.tsv.gz", "csv"),
        ("a.ndjson.zst", "jsonl"),
        ("a.arff", "arff"),
        ("a.parquet", "arrow"),
        ("a.conllu", "conllu"),
    ],
)
def test_format_is_detected_from_the_name(name, format):
    assert guess_format(name) == format


def test_folders_are_a_format(tmp_path):
    assert guess_format(tmp_path) == "folder"


def test_detection_does_not_consume_standard_input(monkeypatch):
    raw = io.BufferedReader(io.BytesIO(TEXTS["jsonl"].encode()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw))
    assert guess_format("-") == "jsonl"
    assert sys.stdin.read() == TEXTS["jsonl"]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"word\nword\n", bytes(99)])
def test_unknown_formats_are_refused(tmp_path, content):
    (tmp_path / "data").write_bytes(content)
    with pytest.raises(ValueError, match=r"is empty|looks like none of arrow, mbox"):
        guess_format(tmp_path / "data")


def test_damage_is_a_read_error(tmp_path):
    (tmp_path / "data").write_bytes(b"\x1f\x8b\x00\x00")
    with pytest.raises(ReadError, match="damaged"):
        guess_format(tmp_path / "data")


def test_texts_need_a_label_unless_there_are_none():
    with pytest.raises(ReadError, match="line 3, record 2: a line is a label, a tab and a text"):
        list(read_text(io.StringIO("a\tb\n\nno label\n")))
    with pytest.raises(ReadError, match="record 1"):
        list(read_text(io.StringIO("\tno label\n")))
    assert [record.x for record in read_text(io.StringIO("a\tb\n\nc\n"), label=False)] == ["a\tb", "c"]


def test_notes_are_saved_and_loaded(tmp_path):
    path = tmp_path / "model"
    notes = {"place": [1, 2.5, None], "names": {"a": "\u00e4"}}
    onmargin.save(onmargin.PassiveAggressiveClassifier(), path, notes=notes)
    model, found = load_with_notes(path)
    assert found == notes
    assert model.C == onmargin.load(path).C == 1.0
    onmargin.save(model, path)
    assert load_with_notes(path)[1] == {}


@pytest.mark.parametrize("notes", [{"a": (1, 2)}, {1: 2}, {"a": float("nan")}, {"a": object()}, {"a": {1, 2}}])
def test_notes_that_json_would_change_are_refused(tmp_path, notes):
    with pytest.raises(TypeError, match="notes must be a dict"):
        onmargin.save(onmargin.PassiveAggressiveClassifier(), tmp_path / "model", notes=notes)
    assert not (tmp_path / "model").exists()


def test_damaged_notes_are_refused(tmp_path):
    path = tmp_path / "model"
    onmargin.save(onmargin.PassiveAggressiveClassifier(), path, notes={"place": 12345})
    data = path.read_bytes()
    path.write_bytes(data.replace(b"12345", b"12346"))
    with pytest.raises(onmargin.ModelFileError, match="damaged"):
        load_with_notes(path)
