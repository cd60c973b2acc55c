"""Tables whose examples have any number of labels."""

import csv
import json
import random

import pytest

import onmargin as library
from tests.apps.program import onmargin, report

WORDS = {"sport": ["ball", "goal", "team"], "money": ["bank", "cash", "tax"], "food": ["soup", "bread", "salt"]}
COLUMNS = [option for name in WORDS for option in ("--label", name)]


@pytest.fixture
def documents():
    random_ = random.Random(0)
    rows = []
    for _ in range(300):
        labels = [label for label in WORDS if random_.random() < 0.4]
        words = [random_.choice(WORDS[label]) for label in labels for _ in range(3)]
        words += random_.choices(["the", "a", "of", "and"], k=4)
        rows.append((" ".join(random_.sample(words, len(words))), labels))
    return rows


def table(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def one_column_each(path, documents, yes="1", no="0"):
    rows = [
        [k, text, *(yes if label in labels else no for label in WORDS)] for k, (text, labels) in enumerate(documents)
    ]
    return table(path, ["id", "body", *WORDS], rows)


@pytest.mark.parametrize(("yes", "no"), [("1", "0"), ("yes", "no"), ("True", "False"), ("x", "")])
def test_each_of_several_label_columns_tells_of_one_label(tmp_path, documents, yes, no):
    data, out = one_column_each(tmp_path / "a.csv", documents, yes, no), tmp_path / "model"
    trained = report("train", data, "-o", out, *COLUMNS)
    assert (trained["task"], trained["classes"]) == ("rank", 3)
    names = library.load(out).feature_names_
    assert not any(name.partition("=")[0] in {"id", *WORDS} for name in names)
    assert report("evaluate", out, data)["exact_match"] > 0.95
    bare = table(tmp_path / "bare.csv", ["body"], [[text] for text, _ in documents])
    predicted = onmargin("predict", out, bare).splitlines()
    assert predicted == onmargin("predict", out, data).splitlines()
    assert (
        sum({*line.split(",")} - {""} == {*labels} for line, (_, labels) in zip(predicted, documents, strict=True))
        > 280
    )
    assert "it must have the columns 'sport', 'money', 'food'" in onmargin("evaluate", out, bare, code=1)


def test_one_column_has_several_labels(tmp_path, documents):
    data = table(tmp_path / "a.csv", ["body", "tags"], [[text, "; ".join(labels)] for text, labels in documents])
    out, again = tmp_path / "model", tmp_path / "again"
    onmargin("train", data, "-o", out, "--label", "tags", "--label-separator", ";")
    found = report("evaluate", out, data)
    assert found["exact_match"] > 0.95
    records = tmp_path / "a.jsonl"
    records.write_text("".join(json.dumps({"body": text, "tags": labels}) + "\n" for text, labels in documents))
    assert report("evaluate", out, records)["exact_match"] == found["exact_match"]
    onmargin("train", records, "-o", again, "--label", "tags", "--text", "body")
    separated = report("evaluate", again, data, "--label-separator", ";")
    assert separated["exact_match"] == report("evaluate", again, records)["exact_match"] > 0.95


def test_numbers_with_separators_are_labels(tmp_path):
    data = table(tmp_path / "a.csv", ["a", "b", "y"], [[k % 2, k % 3, ["1,2,1", "2", ""][k % 3]] for k in range(60)])
    out = tmp_path / "model"
    assert report("train", data, "-o", out, "--label", "y", "--label-separator", ",")["classes"] == 2
    assert onmargin("predict", out, data).splitlines()[:3] == ["1,2", "2", ""]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--label", "sport", "--label", "size"], 1, "'size' has 2.5. For other targets train one model per column"),
        (["--label", "sport", "--label", "none"], 1, "there is no column 'none' for --label"),
        ([*COLUMNS, "--task", "regress"], 2, "several labels per example are for --task rank"),
        ([*COLUMNS, "--label-separator", ","], 2, "give one --label"),
        (["--label", "sport", "--label-separator", ""], 2, "one character or more"),
    ],
)
def test_what_is_no_set_of_labels_is_refused(tmp_path, options, code, message):
    data = table(tmp_path / "a.csv", ["size", "age", *WORDS], [[k + 0.5, k % 7, 1, 0, k % 2] for k in range(2, 60)])
    assert message in onmargin("train", data, "-o", tmp_path / "model", *options, code=code)


def test_label_columns_of_a_model_stay(tmp_path, documents):
    data, out = one_column_each(tmp_path / "a.csv", documents), tmp_path / "model"
    onmargin("train", data, "-o", out, *COLUMNS)
    onmargin("evaluate", out, data, *COLUMNS)
    assert "leave --label out" in onmargin("evaluate", out, data, "--label", "sport", code=2)
    onmargin("train", data, "-o", out, "--label", "sport", "--force")
    assert "give one --label" in onmargin("predict", out, data, *COLUMNS, code=2)


def test_a_cell_that_says_neither_is_named(tmp_path, documents):
    data, out = one_column_each(tmp_path / "a.csv", documents * 5), tmp_path / "model"
    data.write_text(data.read_text().replace("\n1200,", '\n1200,"the",1,maybe,0\n1200,', 1))
    failed = onmargin("train", data, "-o", out, *COLUMNS, code=1)
    assert (
        "record 1201: each of several --label columns must have 0 or 1, or yes or no; got {'money': 'maybe'}" in failed
    )
