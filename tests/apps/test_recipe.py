"""A model reads its examples in the same way at the command line, in Python and over HTTP."""

import csv
import json
import random

import pandas
import pytest

import onmargin as library
from onmargin.apps.serve.client import Client
from onmargin.apps.serve.connection import ServiceError
from tests.apps.program import conll, onmargin, report
from tests.apps.serving import served
from tests.apps.test_tables import said

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


MIXED = {".": (lambda value: f"{value:.2f}"), ",": (lambda value: f"{value:.2f}".replace(".", ","))}


def table_with_words(path, decimal, share):
    """Write a table with words among its numbers; return its rows as strings."""
    random_ = random.Random(1)
    rows = []
    for k in range(300):
        value = random_.gauss(0, 20)
        cell = random_.choice(["unknown", "-"]) if random_.random() < share else MIXED[decimal](value)
        rows.append({"id": f"n{k}", "amount": cell, "town": random_.choice("AB"), "kind": "p" if value > 0 else "n"})
    with open(path, "w", newline="") as file:
        table = csv.DictWriter(file, rows[0], delimiter=";")
        table.writeheader()
        table.writerows(rows)
    return rows


@pytest.mark.parametrize("share", [0.05, 0.3])
@pytest.mark.parametrize("decimal", MIXED)
def test_numbers_among_words_are_read_the_same_everywhere(tmp_path, decimal, share):
    """Columns with fewer numbers than nine in ten used to be categories in Python and over HTTP, or everywhere."""
    data, out = tmp_path / "a.csv", tmp_path / "model"
    rows = table_with_words(data, decimal, share)
    message = said("train", data, "-o", out)
    assert f"cells of 'amount' are not numbers, such as '{'unknown' if 'unknown' in message else '-'}'" in message
    assert ("categories" in message) == (share > 0.1)
    expected = onmargin("predict", out, data).split()
    assert agreement(rows, expected) > 0.8
    assert library.load(out).predict_many(rows) == expected
    with served(tmp_path / "service") as http, Client(str(http.base_url)) as client:
        client.upload("words", out)
        assert client.predict_many("words", rows) == expected


def test_strings_that_are_numbers_are_learned_as_numbers(tmp_path):
    """JSON made by csv.DictReader is learned as the table itself; an ARFF file declares its types."""
    data, lines = tmp_path / "a.csv", tmp_path / "a.jsonl"
    rows = table_with_words(data, ".", 0)
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for path in (data, lines):
        onmargin("train", path, "-o", tmp_path / f"{path.suffix}.model", "--label", "kind")
    models = [library.load(tmp_path / f"{path.suffix}.model") for path in (data, lines)]
    assert models[0].feature_names_ == models[1].feature_names_
    assert models[0].predict_many(rows) == models[1].predict_many(rows)
    declared = tmp_path / "a.arff"
    declared.write_text(
        "@relation r\n@attribute size {1, 2, 3}\n@attribute kind {p, n}\n@data\n" + "1,p\n2,n\n3,p\n" * 20
    )
    onmargin("train", declared, "-o", tmp_path / "arff.model")
    assert library.load(tmp_path / "arff.model").feature_names_ == ["size=1", "size=2", "size=3"]


def test_converted_examples_are_read_as_the_table(tmp_path):
    """JSON objects with the features under "x" have the label under "y", whatever it is called in the table."""
    data, lines, out = tmp_path / "a.csv", tmp_path / "a.jsonl", tmp_path / "model"
    table_with_words(data, ".", 0)
    onmargin("train", data, "-o", out, "--label", "kind")
    onmargin("convert", data, "--label", "kind", "--to", "jsonl", "-o", lines)
    assert report("evaluate", out, lines) == report("evaluate", out, data)
    onmargin("train", "--from", out, lines, "-o", tmp_path / "more.model")
    lines.write_text(lines.read_text().replace('"y"', '"other"'))
    assert "a.jsonl has no labels" in onmargin("evaluate", out, lines, code=1)
    onmargin("train", lines, "--label", "other", "-o", out)
    assert "a.csv has no labels in a column 'other'" in onmargin("evaluate", out, data, code=1)


def test_a_text_is_refused_where_texts_are_in_columns(tmp_path):
    """Its words were unknown features, so that every text was predicted alike."""
    data, lines, out = tmp_path / "a.csv", tmp_path / "a.txt", tmp_path / "model"
    notes_table(data)
    lines.write_text("".join(f"{text}\n" for text in WORDS.values()))
    onmargin("train", data, "-o", out)
    model = library.load(out)
    for ask in (model.predict_one, lambda text: model.predict_many([text] * 9)):
        with pytest.raises(TypeError, match="texts are columns of a dict"):
            ask(WORDS["good"])
    assert "texts are columns" in onmargin("predict", out, lines, "--format", "text", code=1)
    with served(tmp_path / "service") as http, Client(str(http.base_url)) as client:
        client.upload("notes", out)
        with pytest.raises(ServiceError, match="texts are columns"):
            client.predict("notes", WORDS["good"])
        with pytest.raises(ServiceError, match="texts are columns"):
            client.learn("notes", WORDS["good"], "good")
        assert client.predict("notes", {"amount": -3, "note": WORDS["bad"]}) == "bad"


def test_a_category_that_looks_like_a_number_stays_one(tmp_path):
    """A column without numbers in training is categorical in every file that is read for the model."""
    declared, data, out = tmp_path / "a.arff", tmp_path / "a.csv", tmp_path / "model"
    values = ["1,p", "2,n", "3,p"] * 20
    declared.write_text("@relation r\n@attribute size {1, 2, 3}\n@attribute kind {p, n}\n@data\n" + "\n".join(values))
    data.write_text("size,kind\n" + "\n".join(values) + "\n")
    onmargin("train", declared, "-o", out)
    assert onmargin("predict", out, data) == onmargin("predict", out, declared)


def test_booleans_are_read_the_same_everywhere(tmp_path):
    """True is 1 in JSON, in Parquet files, in data frames and over HTTP, where it used to be refused."""
    rows = [{"flag": k % 2 == 0, "size": k % 7, "label": "ab"[k % 2]} for k in range(60)]
    data, out = tmp_path / "a.jsonl", tmp_path / "model"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    onmargin("train", data, "-o", out)
    expected = onmargin("predict", out, data).split()
    assert library.load(out).predict_many(rows) == expected == [row["label"] for row in rows]
    with served(tmp_path / "service") as http, Client(str(http.base_url)) as client:
        client.upload("flags", out)
        assert client.predict_many("flags", rows) == expected
        assert client.predict_many("flags", pandas.DataFrame(rows)) == expected
        assert client.learn_many("flags", rows, expected) == expected


def test_targets_that_are_strings_are_parsed(tmp_path):
    rows = [{"size": str(k % 9), "price": f"{2.5 * (k % 9) + 1}"} for k in range(90)]
    data, out = tmp_path / "a.jsonl", tmp_path / "model"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    onmargin("train", data, "-o", out, "--label", "price", "--task", "regress")
    assert library.load(out).feature_names_ == ["size"]
    assert report("evaluate", out, data)["mae"] < 1


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.mbox"])
def test_a_dict_with_a_text_is_read_as_the_text(tmp_path, name):
    """The records of JSON lines are such dicts; in Python and over HTTP, their texts were unknown categories."""
    data, out = tmp_path / name, tmp_path / "model"
    texts = [f"{('good', 'bad')[k % 2]} words number {k}" for k in range(60)]
    labels = [("p", "n")[k % 2] for k in range(60)]
    write = {
        "a.txt": "{label}\t{text}\n",
        "a.jsonl": '{{"text": "{text}", "label": "{label}"}}\n',
        "a.mbox": "From me Thu Jan  1 00:00:00 1970\nX-Label: {label}\n\n{text}\n\n",
    }[name]
    data.write_text("".join(write.format(text=text, label=y) for text, y in zip(texts, labels, strict=True)))
    onmargin("train", data, "-o", out, *(["--label", "X-Label"] if name == "a.mbox" else []))
    rows = [{"text": text} for text in texts]
    model = library.load(out)
    assert model.predict_many(rows) == model.predict_many(texts) == onmargin("predict", out, data).split()
    with served(tmp_path / "service") as http, Client(str(http.base_url)) as client:
        client.upload("texts", out)
        assert client.predict_many("texts", rows) == client.predict_many("texts", texts) == model.predict_many(texts)
    table = tmp_path / "a.csv"
    table.write_text("id,text\n" + "".join(f"{k},{text}\n" for k, text in enumerate(texts)))
    assert onmargin("predict", out, table).split() == model.predict_many(texts)
    table.write_text(table.read_text().replace("text", "note", 1))
    assert onmargin("predict", out, table, "--text", "note").split() == model.predict_many(texts)
    assert "has no column 'text'" in onmargin("predict", out, table, "--strict", code=1)
