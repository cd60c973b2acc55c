"""Tagged sentences in columns and CRFsuite's items."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin.io import ReadError, read_conll, read_conllu, read_crfsuite

TWO = "He PRP B-NP\nsaid VBD B-VP\n\n# # O\n"


def conll(text, *args, **options):
    return [tuple(sentence) for sentence in read_conll(io.StringIO(text), *args, **options)]


def test_columns_and_labels():
    assert conll(TWO) == [([("He", "PRP"), ("said", "VBD")], ["B-NP", "B-VP"]), ([("#", "#")], ["O"])]
    assert conll(TWO, label=0)[0] == ([("PRP", "B-NP"), ("VBD", "B-VP")], ["He", "said"])
    assert conll(TWO, label=None)[1] == ([("#", "#", "O")], None)
    assert conll(TWO, [0])[0] == ([("He",), ("said",)], ["B-NP", "B-VP"])
    assert conll(TWO, {"w": 0, "pos": -2})[0][0] == [{"w": "He", "pos": "PRP"}, {"w": "said", "pos": "VBD"}]


@pytest.mark.parametrize("text", ["", "\n\n", "-DOCSTART- -X- O\n\n", " \n\t\n"])
def test_files_without_sentences_are_empty(text):
    assert conll(text) == []


def test_document_marks_end_sentences():
    assert [y for _, y in conll("-DOCSTART- -X-\n\na A\n-DOCSTART- O\nb B\n\n\n\nc C")] == [["A"], ["B"], ["C"]]


def test_columns_are_separated_by_tabs_if_there_are_tabs():
    assert conll("New York\tB-LOC\n") == [([("New York",)], ["B-LOC"])]
    assert conll("a  b\tO \n", separator=" ", label=0) == [([("", "b\tO", "")], ["a"])]


def test_comments_are_skipped_on_request():
    assert conll("# a comment\na A\n", comment="#") == [([("a",)], ["A"])]
    with pytest.raises(ReadError, match=r"line 2, record 1: the line has 4 columns, .* have 2\. .* set comment='#'"):
        conll("a A\n# a comment line\n")


@pytest.mark.parametrize("options", [{"label": 2}, {"label": -3}, {"columns": [5]}, {"columns": {"w": -4}}])
def test_missing_columns_are_refused(options):
    with pytest.raises(ReadError, match="line 1, record 1: there is no column"):
        conll("a A\n", **options)


def word(number, form, upos):
    return f"{number}\t{form}\t_\t{upos}\t_\t_\t_\t_\t_\t_\n"


def conllu(text, *args, **options):
    return [tuple(sentence) for sentence in read_conllu(io.StringIO(text), *args, **options)]


def test_words_of_conllu():
    text = "# text = im Haus\n" + word("1-2", "im", "_") + word(1, "in", "ADP") + word(2, "dem", "DET")
    text += word("2.1", "gap", "X") + word(3, "Haus bau", "NOUN") + "\n# sent_id = 2\n" + word(1, "#", "SYM")
    assert conllu(text) == [
        ([{"form": "in"}, {"form": "dem"}, {"form": "Haus bau"}], ["ADP", "DET", "NOUN"]),
        ([{"form": "#"}], ["SYM"]),
    ]
    assert conllu(text, ["id", "upos"], None)[1] == ([{"id": "1", "upos": "SYM"}], None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (word(1, "a", "X") + "2 b X\n", "line 2, record 1: a word of CoNLL-U has 10 columns .* got 1"),
        (word(1, "a", "X") + "\n" + word("x", "b", "X"), "line 3, record 2: the id of a word .* got 'x'"),
    ],
)
def test_errors_of_conllu(text, message):
    with pytest.raises(ReadError, match=message):
        conllu(text)


def test_unknown_columns_of_conllu_are_refused_at_once():
    with pytest.raises(ValueError, match=r"the columns of CoNLL-U are id, .*, misc; got 'pos'"):
        read_conllu("file", label="pos")


def crfsuite(text):
    return [tuple(sequence) for sequence in read_crfsuite(io.StringIO(text))]


@pytest.mark.parametrize(
    ("line", "item"),
    [
        ("A", {}),
        ("A\t\tx\t", {"x": 1}),
        ("A\tx:2\tx\tx:-0.5", {"x": 2.5}),
        ("A\tx:", {"x": 1}),  # as CRFsuite: no number is 1
        (r"A" + "\t" + r"a\:b\\c\d:1e2", {r"a:b\c\d": 100}),
        (r"A" + "\t" + "a\\", {"a\\": 1}),
        ("A\ta b", {"a b": 1}),
    ],
)
def test_attributes_of_crfsuite(line, item):
    assert crfsuite(line) == [([item], ["A"])]


def test_labels_of_crfsuite():
    assert crfsuite(":\tx\n\\:\ty\nA\\\\B\n") == [([{"x": 1}, {"y": 1}, {}], [":", ":", "A\\B"])]


names = st.text(st.characters(exclude_characters="\t\r\n", codec="utf-8"), min_size=1, max_size=6)
items = st.dictionaries(names, st.floats(allow_nan=False, allow_infinity=False), max_size=3)


@given(st.lists(st.lists(st.tuples(names, items), min_size=1, max_size=3), max_size=3))
def test_written_sequences_are_read_back(sequences):
    def escaped(name):
        return name.replace("\\", "\\\\").replace(":", "\\:")

    text = "\ufeff"
    for sequence in sequences:
        for label, item in sequence:
            text += "\t".join([escaped(label), *(f"{escaped(name)}:{value!r}" for name, value in item.items())]) + "\n"
        text += "\n"
    assert crfsuite(text) == [([item for _, item in s], [label for label, _ in s]) for s in sequences]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A\tx\n\nA\ty:z\n", "line 3, record 2: the value of attribute 'y' must be a finite number; got 'z'"),
        ("A\tx:nan", "finite number; got 'nan'"),
        ("A\tx:1_0", "finite number; got '1_0'"),
        ("A\tx:1:2", "attribute 'x:1:2' has two colons"),
        ("A\t" + "\\\\" * 5000 + "::1", "has two colons"),  # and is refused in no time
        ("A\tx\n\t\t\n", "line 2, record 1: the line has tabs and no label"),
    ],
)
def test_errors_of_crfsuite(text, message):
    with pytest.raises(ReadError, match=message):
        crfsuite(text)
