"""A model reads its examples in the same way at the command line, in Python and over HTTP."""

import csv
import random

import pytest

import onmargin as library
from onmargin.apps.serve.client import Client
from tests.apps.program import conll, onmargin, report
from tests.apps.serving import served

WORDS = {"good": "excellent fine product indeed", "bad": "awful broken product returned"}


def notes_table(path, n=200, decimal="."):
    """Write a table whose label depends on a number and on a text, next to an id; return its rows as strings."""
    random_ = random.Random(0)
    with open(path, "w", newline="") as file:
        table = csv.writer(file, delimiter="," if decimal == "." else ";")
        table.writerow(["id", "amount", "note", "kind"])
        for k in range(n):
            kind = random_.choice(["good", "bad"])
            words = [*WORDS[kind].split(), *random_.sample(["one", "two", "three", "four", "five"], 2)]
            amount = random_.gauss(3 if kind == "good" else -3, 1)
            table.writerow([f"n{k:04d}", f"{amount:.2f}".replace(".", decimal), " ".join(words), kind])
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter="," if decimal == "." else ";"))


def agreement(rows, predictions):
    return sum(row["kind"] == label for row, label in zip(rows, predictions, strict=True)) / len(rows)


@pytest.mark.parametrize("decimal", [".", ","])
def test_rows_of_a_table_are_read_the_same_everywhere(tmp_path, decimal):
    data, out = tmp_path / "notes.csv", tmp_path / "model"
    rows = notes_table(data, decimal=decimal)
    onmargin("train", data, "-o", out, "--passes", 2)
    labels = onmargin("predict", out, data).split()
    assert agreement(rows, labels) == report("evaluate", out, data)["accuracy"] == 1.0
    model = library.load(out)
    assert list(map(model.predict_one, rows)) == model.predict_many(rows) == labels
    with served(tmp_path / "service") as http, Client(str(http.base_url)) as client:
        client.upload("notes", out)
        assert client.predict_many("notes", rows) == labels
        client.learn_many("notes", rows[:20], [row["kind"] for row in rows[:20]])
        model.learn_many(rows[:20], [row["kind"] for row in rows[:20]])
        client.download("notes", tmp_path / "again")
    again = library.load(tmp_path / "again")
    assert again.feature_names_ == model.feature_names_
    assert not any(name.startswith(("id", "kind", "note=one two")) for name in again.feature_names_)
    assert again.weights() == model.weights()
    assert onmargin("predict", tmp_path / "again", data).split() == list(map(again.predict_one, rows))


def test_one_text_is_read_the_same_everywhere(tmp_path):
    data, out = tmp_path / "notes.csv", tmp_path / "model"
    rows = notes_table(data)
    onmargin("train", data, "-o", out, "--only", "note", "--set", "ngrams=(1, 2)")
    labels = onmargin("predict", out, data).split()
    model = library.load(out)
    assert model.predict_many(rows) == labels == model.predict_many([row["note"] for row in rows])


def test_missing_cells_are_read_the_same_everywhere(tmp_path):
    data, out = tmp_path / "a.csv", tmp_path / "model"
    cells = ["Ulm,3", ",4", "NA,5", "Bonn,?", "?,"]
    data.write_text("town,size,kind\n" + "".join(f"{cell},{kind}\n" for cell in cells for kind in "ab") * 3)
    onmargin("train", data, "-o", out, "--cross", "town", "size")
    model = library.load(out)
    with open(data, newline="") as file:
        rows = list(csv.DictReader(file))
    model.learn_many(rows, [row["kind"] for row in rows])
    assert set(model.feature_names_) == {"town=Ulm", "size", "town*size=Ulm", "town=Bonn"}


def test_a_long_text_is_served(tmp_path):
    data, out = tmp_path / "notes.csv", tmp_path / "model"
    row = notes_table(data)[0]
    onmargin("train", data, "-o", out)
    with served(tmp_path / "service") as http, Client(str(http.base_url)) as client:
        client.upload("notes", out)
        assert client.predict("notes", row | {"note": "excellent fine product " * 100, "amount": 3}) == "good"


def test_tokens_are_read_the_same_everywhere(tmp_path):
    data, out = conll(tmp_path / "a.conll"), tmp_path / "model"
    onmargin("train", data, "-o", out)
    tokens = [["the", "DT"], ["cat", "NN"], ["barks", "VBZ"]]
    (tmp_path / "new.conll").write_text("".join(f"{' '.join(token)}\n" for token in tokens))
    labels = onmargin("predict", out, tmp_path / "new.conll").split()
    assert labels == ["B-NP", "I-NP", "B-VP"]
    tagger = library.load(out)
    assert tagger.predict_one(tokens) == labels
    with served(tmp_path / "service") as http, Client(str(http.base_url)) as client:
        client.upload("chunks", out)
        assert client.predict("chunks", tokens) == labels
        client.learn("chunks", tokens, labels)
        with pytest.raises(Exception, match="token 0 must have the columns"):
            client.predict("chunks", [["the"]])
