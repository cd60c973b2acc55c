"""Whatever would change a result without a word is read correctly, reported or refused."""

import csv
import json
import os
import random
import threading
import zipfile
from datetime import date
from decimal import Decimal
from fcntl import ioctl
from termios import FIONREAD

import pandas
import pyarrow
import pytest

import onmargin as library
from onmargin.apps.serve.client import Client
from onmargin.apps.serve.connection import ServiceError
from tests.apps.program import conll, jsonl, onmargin, report, start
from tests.apps.serving import served
from tests.apps.test_recipe import notes_table
from tests.apps.test_tables import people, said
from tests.waiting import LIMIT, wait_until


def write_later(path, text):
    """Write to a FIFO in a thread, as another program would."""
    thread = threading.Thread(target=lambda: path.write_text(text), daemon=True)
    thread.start()
    return thread


def test_a_fifo_is_read_once(tmp_path):
    data, out, fifo = people(tmp_path / "people.csv"), tmp_path / "model", tmp_path / "fifo"
    onmargin("train", data, "-o", out)
    expected = onmargin("predict", out, data)
    os.mkfifo(fifo)
    for command in (("predict", out, fifo), ("evaluate", out, fifo, "--json")):
        writer = write_later(fifo, data.read_text())
        found = onmargin(*command)
        writer.join(LIMIT)
        assert found == expected or json.loads(found)["examples"] == 400
    writer = write_later(fifo, data.read_text())
    assert report("train", fifo, "-o", out, "--force")["examples"] == 400
    writer.join(LIMIT)
    assert "can be read once: give a file for several --passes" in onmargin(
        "train", fifo, "-o", out, "--passes", 2, code=2
    )
    assert "can be read once: give a file for --holdout" in onmargin("train", fifo, "-o", out, "--holdout", 9, code=2)


def test_objects_in_a_pipe_are_read_for_a_model_of_a_table(tmp_path):
    """They were read as a table without columns: "- is empty"."""
    data, lines, out = people(tmp_path / "people.csv"), tmp_path / "people.jsonl", tmp_path / "model"
    with open(data, newline="") as file:
        lines.write_text("".join(json.dumps(row) + "\n" for row in csv.DictReader(file)))
    onmargin("train", data, "-o", out)
    assert onmargin("predict", out, "-", stdin=lines.read_text()) == onmargin("predict", out, data)


def test_lines_of_text_are_read_for_a_model_of_a_folder(tmp_path):
    """They were of no known format in a file, and in a pipe there was "no such file"."""
    out, lines = tmp_path / "model", tmp_path / "lines"
    for kind, words in (("ham", "lunch at noon"), ("spam", "cheap pills now")):
        (tmp_path / "mails" / kind).mkdir(parents=True)
        for k in range(9):
            (tmp_path / "mails" / kind / f"{k}.txt").write_text(f"{words} {k}")
    onmargin("train", tmp_path / "mails", "-o", out)
    lines.write_text("pills\nlunch today then\n")
    assert onmargin("predict", out, lines) == onmargin("predict", out, "-", stdin=lines.read_text()) == "spam\nham\n"


def test_the_encoding_holds_for_the_copied_columns(tmp_path):
    data, out, found = tmp_path / "de.csv", tmp_path / "model", tmp_path / "p.csv"
    rows = [f"ä{k},{'ü' if k % 2 else 'ö'},{'ja' if k % 2 else 'nein'}" for k in range(40)]
    text = "\n".join(["name,größe,kauft", *rows]) + "\n"
    data.write_bytes(text.encode("cp1252"))
    onmargin("train", data, "-o", out, "--encoding", "cp1252")
    onmargin("predict", out, data, "--encoding", "cp1252", "-o", found)
    assert found.read_text(encoding="utf-8").startswith("name,größe,kauft,prediction\nä0,ö,nein,nein\n")
    data.write_bytes(text.encode("utf-8-sig"))
    onmargin("predict", out, data, "-o", found, "--force")
    assert found.read_text(encoding="utf-8").startswith("name,größe,kauft,prediction\nä0,ö,nein,nein\n")


@pytest.mark.parametrize("cell", ["see note", "-", "(2,552.11)", "48.2 kg"])
def test_an_odd_cell_leaves_a_column_numeric(tmp_path, cell):
    data, out = tmp_path / "a.csv", tmp_path / "model"
    random_ = random.Random(0)
    values = [round(random_.gauss(0, 1), 3) for _ in range(200)]
    rows = [f"{value},{'p' if value > 0 else 'n'}" for value in values]
    rows[50] = f'"{cell}",p'
    data.write_text("\n".join(["amount,kind", *rows]) + "\n")
    message = said("train", data, "-o", out)
    assert f"1 of 200 cells of 'amount' are not numbers, such as {cell!r}: they are treated as missing" in message
    assert library.load(out).feature_names_ == ["amount"]
    assert report("evaluate", out, data)["accuracy"] > 0.9


def test_odd_cells_are_counted_in_the_whole_file(tmp_path):
    """Cells after the first rows, and those of files to predict, became missing without a word."""
    data, out = tmp_path / "a.csv", tmp_path / "model"
    rows = [f"{k * 37 % 100 / 10},{'ab'[k * 37 % 100 > 50]}" for k in range(1500)]
    data.write_text("\n".join(["amount,kind", *rows]) + "\n")
    onmargin("train", data, "-o", out)
    rows[3] = rows[1400] = "see note,a"
    data.write_text("\n".join(["amount,kind", *rows]) + "\n")
    problem = "cells of 'amount' are not numbers, such as 'see note': they are treated as missing"
    for command in (("train", data, "-o", tmp_path / "other"), ("predict", out, data), ("evaluate", out, data)):
        assert f"2 of 1500 {problem}" in said(*command)
    data.write_text("\n".join(["amount,kind", *rows[:100]]) + "\n")
    assert said("train", data, "-o", tmp_path / "other").count(problem) == 1
    assert f"warning: 1 of 100 {problem}" in said("train", data, "-o", tmp_path / "other", "--quiet")


@pytest.mark.parametrize("cell", ["{} kg", "({})", "{} o'clock"])
def test_a_category_of_many_values_is_noticed(tmp_path, cell):
    """Quantities with a unit, or ids of which two are equal, became categories without a word."""
    data, out = tmp_path / "a.csv", tmp_path / "model"
    rows = [f"{cell.format(round(1.7 * min(k, 58), 1))},{k % 3},{'ab'[k % 2]}" for k in range(60)]
    data.write_text("\n".join(["amount,size,kind", *rows]) + "\n")
    message = said("train", data, "-o", out)
    assert f"59 of 60 cells of 'amount' are different, such as {cell.format(0.0)!r}: they are treated as" in message


@pytest.mark.parametrize("day", ["{} Jan 2024", "March {}, 2024", "{}-Dec-24 10:30", "2024-01-{}T10:00:00Z"])
def test_dates_with_names_of_months_are_left_out(tmp_path, day):
    data, out = tmp_path / "a.csv", tmp_path / "model"
    rows = [f'"{(day if k % 2 else "01/{}/2024").format(10 + k % 15)}",{k % 3},{"ab"[k % 2]}' for k in range(60)]
    data.write_text("\n".join(["since,size,kind", *rows]) + "\n")
    assert "left out: 'since' (dates)" in said("train", data, "-o", out)


def test_strings_are_parsed_where_numbers_were_learned(tmp_path):
    data, out = people(tmp_path / "people.csv"), tmp_path / "model"
    onmargin("train", data, "-o", out, "--ignore", "id", "--ignore", "date")
    header, *lines = data.read_text().splitlines()
    rows = [dict(zip(header.split(","), line.split(","), strict=True)) for line in lines]
    strings = tmp_path / "strings.jsonl"
    strings.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert onmargin("predict", out, strings) == onmargin("predict", out, data)
    nested = jsonl(tmp_path / "a.jsonl")
    onmargin("train", nested, "-o", out, "--force")
    records = [json.loads(line) for line in nested.read_text().splitlines()]
    strings.write_text(
        "".join(json.dumps(one | {"x": {name: str(v) for name, v in one["x"].items()}}) + "\n" for one in records)
    )
    assert onmargin("predict", out, strings) == onmargin("predict", out, nested)


def test_strings_are_parsed_where_a_model_without_recipe_learned_numbers(tmp_path):
    """They became categories of their own, in Python and over HTTP."""
    rows = [{"size": (k * 37 % 100) / 10, "town": "ab"[k % 2], "zip": str(k % 7)} for k in range(200)]
    labels = ["small" if row["size"] < 5 else "large" for row in rows]
    strings = [{name: str(value) for name, value in row.items()} for row in rows]
    model = library.stream.AROWClassifier()
    assert model.learn_many(rows, labels).predict_many(strings) == model.predict_many(rows)
    assert model.names_one(strings[5]) == model.names_one(rows[5])
    assert model.explain({"size": "$5"}) == model.explain({"size": "€ 5"}) == model.explain({"size": 5})
    assert {name for name in model.feature_names_ if "=" not in name} == {"size"}  # postal codes stay categories
    with served(tmp_path / "service") as http, Client(str(http.base_url)) as client:
        client.create("sizes", model="AROWClassifier")
        client.learn_many("sizes", rows, labels)
        assert client.predict_many("sizes", strings) == model.predict_many(rows)
        client.learn_many("sizes", strings, labels)
        assert client.predict_many("sizes", rows) == model.learn_many(strings, labels).predict_many(rows)
    assert len(model.feature_names_) == 1 + 2 + 7


def test_a_file_without_the_text_is_noticed(tmp_path):
    data, out, other = tmp_path / "notes.csv", tmp_path / "model", tmp_path / "other.csv"
    notes_table(data)
    onmargin("train", data, "-o", out, "--only", "note")
    other.write_text("comment,kind\nexcellent fine product,good\n")
    assert "has no column 'note', which the model has learned from" in said("predict", out, other)
    assert "has no column 'note'" in onmargin("predict", out, other, "--strict", code=1)
    lines = tmp_path / "other.jsonl"
    lines.write_text('{"comment": "excellent fine product", "stars": 3}\n')
    assert "has no column 'note'" in said("predict", out, lines)


def test_training_that_continues_with_other_columns_is_noticed(tmp_path):
    data, out, other = people(tmp_path / "people.csv"), tmp_path / "model", tmp_path / "other.csv"
    onmargin("train", data, "-o", out)
    other.write_text(data.read_text().replace("income", "salary", 1))
    message = said("train", other, "-o", tmp_path / "more", "--from", out)
    assert (
        "has no column 'income', which the model has learned from; its columns 'salary' are new to the model" in message
    )


def test_a_later_file_without_labels_is_named_first(tmp_path):
    data, other, out = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "model"
    data.write_text("size,kind\n" + "1,p\n2,n\n" * 20)
    other.write_text("size,sort\n" + "1,p\n2,n\n" * 20)
    assert "b.csv has no labels in a column 'kind', as" in onmargin("train", data, other, "-o", out, code=1)
    assert not out.exists()


def test_new_columns_of_a_later_file_are_noticed(tmp_path):
    data, out, other = people(tmp_path / "people.csv"), tmp_path / "model", tmp_path / "other.csv"
    header, *lines = data.read_text().splitlines()
    other.write_text("\n".join([f"{header},more", *(f"{line},5" for line in lines)]) + "\n")
    message = f"warning: {other}: its columns 'more' are new to the model"
    assert message in said("train", data, other, "-o", out)
    assert "more" in library.load(out).feature_names_
    assert "are new to the model" not in said("train", data, data, "-o", out)
    assert message in said("train", data, other, "-o", out, "--text", "town")
    assert "are new to the model" not in said("train", data, other, "-o", out, "--only", "income")
    onmargin("train", data, "-o", out)
    assert message in said("train", other, "-o", tmp_path / "more", "--from", out)


def test_a_header_within_a_table_is_noticed(tmp_path):
    """The names in joined files were an example, and the label column was a class."""
    data, out, other = people(tmp_path / "people.csv"), tmp_path / "model", tmp_path / "other.csv"
    other.write_text(data.read_text() * 2)
    message = onmargin("train", other, "-o", out, code=1)
    assert "line 402, record 401: the row repeats the header, as where files were joined: remove it" in message
    assert report("train", other, "-o", out, "--resume", "--on-error", "skip")["examples"] == 800
    assert {*library.load(out).classes_} == {"yes", "no"}


def test_options_that_contradict_the_label_are_refused(tmp_path):
    data, out = people(tmp_path / "people.csv"), tmp_path / "model"
    for option in ("--ignore", "--text"):
        message = onmargin("train", data, "-o", out, "--label", "buys", option, "buys", code=2)
        assert f"'buys' is the label or the weight: leave it out of {option}" in message
    assert "no label of the first 400 rows contains ';'" in said(
        "train", data, "-o", out, "--label", "buys", "--label-separator", ";"
    )


def test_training_continues_with_another_encoding(tmp_path):
    data, out, other = tmp_path / "a.csv", tmp_path / "model", tmp_path / "b.csv"
    data.write_text("town;kind\n" + "Köln;ä\nBonn;ö\n" * 20, "utf-8")
    other.write_text(data.read_text("utf-8"), "cp1252")
    onmargin("train", data, "-o", out)
    onmargin("train", other, "-o", tmp_path / "more", "--from", out, "--encoding", "cp1252")
    assert library.load(tmp_path / "more").feature_names_ == ["town=Köln", "town=Bonn"]
    assert onmargin("predict", tmp_path / "more", other).split()[:2] == ["ä", "ö"]


def test_training_on_shards_says_how_files_are_read(tmp_path):
    data, out, other = people(tmp_path / "people.csv"), tmp_path / "model", tmp_path / "other.csv"
    other.write_text(data.read_text().replace("income", "salary", 1))
    message = said("train", data, other, "-o", out, "--engine", "local", "--workers", "1", "--C", "1")
    assert "label 'buys'" in message
    assert "left out: 'id' (different in every row)" in message
    assert f"has no column 'income', which {data} has; its columns 'salary' are new to the model" in message


def test_training_continues_with_another_format(tmp_path):
    data, out, lines = people(tmp_path / "people.csv"), tmp_path / "model", tmp_path / "people.jsonl"
    onmargin("train", data, "-o", out)
    header, *rows = data.read_text().splitlines()
    records = [dict(zip(header.split(","), row.split(","), strict=True)) for row in rows]
    lines.write_text("".join(json.dumps(record) + "\n" for record in records))
    onmargin("train", lines, "-o", tmp_path / "a", "--from", out)
    onmargin("train", data, "-o", tmp_path / "b", "--from", out)
    assert library.load(tmp_path / "a").totals_.rounds == 800
    assert library.load(tmp_path / "a").feature_names_ == library.load(tmp_path / "b").feature_names_
    message = onmargin("train", data, lines, "-o", tmp_path / "c", "--from", out, code=1)
    assert "is not written as" in message
    assert not (tmp_path / "c").exists()


def test_unknown_tags_are_noticed(tmp_path):
    data, out, other = conll(tmp_path / "a.conll"), tmp_path / "model", tmp_path / "other.conll"
    onmargin("train", data, "-o", out)
    other.write_text("the DT DET\ndog NN NOUN\n\n" * 3)
    assert "the model knows none of the labels, such as 'DET'" in said("evaluate", out, other)


def test_some_unknown_labels_are_named(tmp_path):
    """Some labels were unknown without a word if the model knew another one."""
    data, out, other = conll(tmp_path / "a.conll"), tmp_path / "model", tmp_path / "other.conll"
    onmargin("train", data, "-o", out)
    other.write_text("the DT B-NP\ndog NN X-NP\ncat NN X-VP\n\n" * 3)
    assert "6 of 9 labels are unknown to the model, which cannot predict them: 'X-NP', 'X-VP'" in said(
        "evaluate", out, other
    )
    table, more = people(tmp_path / "a.csv"), tmp_path / "b.csv"
    onmargin("train", table, "-o", out, "--force")
    more.write_text(table.read_text().replace(",yes\n", ",perhaps\n"))
    assert "labels are unknown to the model, which cannot predict them: 'perhaps'" in said("evaluate", out, more)


def test_files_without_examples_are_named(tmp_path):
    """A header alone was converted without a word, or predicted as one of several files."""
    data, out, header = people(tmp_path / "a.csv"), tmp_path / "model", tmp_path / "header.csv"
    header.write_text(data.read_text().partition("\n")[0] + "\n")
    onmargin("train", data, "-o", out)
    assert "there are no examples in" in onmargin("convert", header, "--to", "jsonl", code=1)
    for command in (("predict", out), ("evaluate", out)):
        assert f"warning: there are no examples in {header}" in said(*command, data, header)
        onmargin(*command, data, header, "--strict", code=1)
    assert f"warning: there are no examples in {header}" in said("train", data, header, "-o", tmp_path / "other")


def test_utf_16_without_a_byte_order_mark_is_noticed(tmp_path):
    data, out = tmp_path / "a.csv", tmp_path / "model"
    text = people(data).read_text()
    data.write_bytes(text.encode("utf-16-le"))
    assert "looks like UTF-16 without a byte order mark: set --encoding utf-16-le" in onmargin(
        "train", data, "-o", out, code=1
    )
    onmargin("train", data, "-o", out, "--encoding", "utf-16-le")
    assert report("evaluate", out, data)["examples"] == 400


def test_a_zip_archive_in_a_pipe_is_refused(tmp_path):
    data, out, packed = people(tmp_path / "a.csv"), tmp_path / "model", tmp_path / "a.zip"
    onmargin("train", data, "-o", out)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(data, "a.csv")
    os.mkfifo(tmp_path / "fifo")
    writer = threading.Thread(target=lambda: (tmp_path / "fifo").write_bytes(packed.read_bytes()), daemon=True)
    writer.start()
    message = onmargin("predict", out, tmp_path / "fifo", code=1)
    writer.join(LIMIT)
    assert "a zip archive cannot be read from a pipe: give its path" in message


def test_a_finished_run_says_that_it_is(tmp_path):
    data, out = jsonl(tmp_path / "a.jsonl", 60), tmp_path / "model"
    onmargin("train", data, "-o", out)
    assert "nothing was learned" in said("train", data, "-o", out, "--resume")
    jsonl(data, 70)
    message = said("train", data, "-o", out, "--resume")
    assert f"has finished 1 pass, and {data} has changed since. To learn new examples use --from" in message
    assert "has changed since" in onmargin("train", data, "-o", out, "--resume", "--passes", 2, code=1)
    assert library.load(out).totals_.rounds == 60


def test_cells_without_a_column_in_the_output_are_noticed(tmp_path):
    """Later rows of a table lost the values of keys that the first rows lack."""
    data, out = tmp_path / "a.jsonl", tmp_path / "model"
    rows = [{"size": k % 7, "label": "ab"[k % 2]} | ({"late": k} if k > 1100 else {}) for k in range(1200)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    onmargin("train", data, "-o", out)
    found = tmp_path / "p.csv"
    message = said("predict", out, data, "-o", found)
    assert message.count(f"warning: {found} has no column for 'late': write a .jsonl file") == 1
    onmargin("predict", out, data, "-o", tmp_path / "p.jsonl")
    assert json.loads((tmp_path / "p.jsonl").read_text().splitlines()[-1])["late"] == 1199


def test_tokens_are_written_before_their_labels(tmp_path):
    """A .conll file had the labels alone."""
    data, out, found = conll(tmp_path / "a.conll"), tmp_path / "model", tmp_path / "p.conll"
    onmargin("train", data, "-o", out)
    onmargin("predict", out, data, "-o", found)
    tokens = [line.split() for line in found.read_text().splitlines()]
    expected = [line.split() for line in data.read_text().splitlines()]
    assert [token[:-1] for token in tokens] == [token[:-1] for token in expected]
    assert report("evaluate", out, found)["accuracy"] == 1
    onmargin("predict", out, data, "-o", found, "--force", "--proba")
    assert [float(line.split()[-1]) > 0 for line in found.read_text().splitlines() if line]
    rows = jsonl(tmp_path / "a.jsonl", 30)
    onmargin("train", rows, "-o", out, "--force")
    message = onmargin("predict", out, rows, "-o", tmp_path / "q.conll", code=1)
    assert "the task is classify: give a .csv, .tsv or .jsonl file" in message


@pytest.mark.parametrize("name", ["p.xlsx", "p.parquet", "p.csv.gz", "p.conllu", "p.pickle"])
def test_formats_that_are_not_written_are_refused(tmp_path, name):
    data, out = jsonl(tmp_path / "a.jsonl", 30), tmp_path / "model"
    onmargin("train", data, "-o", out)
    assert "files and lines of text are written" in onmargin("predict", out, data, "-o", tmp_path / name, code=2)
    assert not (tmp_path / name).exists()


def test_rows_of_a_frame_are_predicted(tmp_path):
    data, out = people(tmp_path / "people.csv"), tmp_path / "model"
    onmargin("train", data, "-o", out)
    with served(tmp_path / "service") as http, Client(str(http.base_url)) as client:
        client.upload("people", out)
        frame = pandas.read_csv(data)
        found = client.predict_many("people", frame)
        frame.loc[3, "income"] = None
        assert client.predict_many("people", frame) == client.predict_many("people", frame.to_dict("records"))
        assert client.predict_many("people", pyarrow.Table.from_pandas(frame)) == client.predict_many("people", frame)
        assert client.predict("people", frame.iloc[0]) == found[0]
        with pytest.warns(UserWarning, match="X has no columns 'income', which model 'people' has learned from"):
            client.predict_many("people", frame.rename(columns={"income": "pay"}))
        row = frame.iloc[0].to_dict()
        assert client.predict("people", row | {"income": Decimal(str(row["income"]))}) == found[0]
        with pytest.raises(TypeError, match="values must be numbers, strings or None"):
            client.predict("people", row | {"other": object()})
        with pytest.warns(UserWarning, match="dates and times.*are left out"):
            assert client.predict("people", row | {"date": date(2024, 1, 1)}) == found[0]
        with pytest.raises(TypeError, match="x must be one example; got a data frame"):
            client.predict("people", frame)
        for one in (frame.iloc[0].to_dict(), "age"):  # the names or letters are not examples
            with pytest.raises(TypeError, match="X must be a list of examples"):
                client.predict_many("people", one)
    assert found == onmargin("predict", out, data).split()


def test_strings_of_numbers_are_noticed_over_http(tmp_path, capsys):
    """Only the standard error of the service said it, without the model, and for the first model only."""
    with served(tmp_path) as http, Client(str(http.base_url)) as client:
        for name in "ab":
            client.create(name)
            with pytest.warns(UserWarning, match=f"model '{name}': the values of 'size' are strings of num") as found:
                client.learn(name, {"size": "3.5"}, "p")
            assert [one.filename for one in found] == [__file__]
    assert capsys.readouterr().err.count("warning: model 'b': the values of 'size' are strings") == 1


def test_words_are_tokens_over_http(tmp_path):
    """A tagger of one column takes words, as it does in Python; over HTTP they were refused."""
    data, out = tmp_path / "a.conll", tmp_path / "model"
    data.write_text("the DET\ndog NOUN\n. PUNCT\n\na DET\ncat NOUN\n. PUNCT\n\n" * 20)
    onmargin("train", data, "-o", out)
    with served(tmp_path / "service") as http, Client(str(http.base_url)) as client:
        client.upload("tags", out)
        assert client.predict("tags", ["the", "cat", "."]) == ["DET", "NOUN", "PUNCT"]
        assert client.learn("tags", ["the", "dog"], ["DET", "NOUN"]) == ["DET", "NOUN"]
        client.create("bare", "tag")
        with pytest.raises(ServiceError, match="pass a word as"):
            client.learn("bare", ["the", "dog"], ["DET", "NOUN"])


def test_options_without_effect_on_the_data_are_refused(tmp_path):
    data, out = tmp_path / "a.csv", tmp_path / "model"
    data.write_text("size;kind\n" + "1.5;a\n2.5;b\n" * 20)
    message = onmargin("train", data, "-o", out, "--decimal", ",", code=1)
    assert "has numbers such as '1.5', which do not go with --decimal ','" in message
    assert "no example is held out" in said("train", data, "-o", out, "--holdout", 50)
    (tmp_path / "empty.csv").write_text("size;kind\n")
    assert "there are no examples" in onmargin("predict", out, tmp_path / "empty.csv", code=1)


def test_the_columns_of_tokens_are_named(tmp_path):
    data, out = conll(tmp_path / "a.conll"), tmp_path / "model"
    assert "labels in column 1, features of the other 2 columns" in said("train", data, "-o", out, "--label", "1")
    data.write_text("DT\nNN\n\nDT\n")
    assert "have one column, which is their label" in onmargin(
        "train", data, "--format", "conll", "-o", out, "--force", code=1
    )


def test_the_recipe_is_shown(tmp_path):
    data, out = tmp_path / "notes.csv", tmp_path / "model"
    notes_table(data, decimal=",")
    for found in (report("train", data, "-o", out, "-q"), report("inspect", out)):
        recipe = found["recipe"]
        assert (recipe["label"], recipe["text"], recipe["numbers"]) == ("kind", ["note"], ["amount"])
        assert (recipe["left_out"], recipe["decimal"], recipe["encoding"]) == (["id"], ",", "utf-8")


def test_labels_cannot_control_a_terminal(tmp_path):
    data, out = tmp_path / "a.jsonl", tmp_path / "model"
    names = ["ham\nspam", "\x1b]0;title\x07", "\u202eabc"]
    lines = (json.dumps({"x": {f"f{k % 3}\x07": 1}, "y": names[k % 3]}) + "\n" for k in range(60))
    data.write_text("".join(lines))
    onmargin("train", data, "-o", out)
    predicted = onmargin("predict", out, data).splitlines()
    assert (len(predicted), predicted[-1]) == (60, r"\u202eabc")
    for command in (("inspect", out), ("evaluate", out, data)):
        assert all(c.isprintable() or c == "\n" for c in onmargin(*command))


def test_names_of_files_and_columns_cannot_control_a_terminal(tmp_path):
    data, out = tmp_path / "a\u202e\x1b]0;t\x07.csv", tmp_path / "model"
    text = people(data).read_text()
    data.write_text(text.replace("id", "\x1b[2Jid", 1))
    shown = said("train", data, "-o", out)
    data.write_text(text.replace("age", "old", 1))
    shown += said("predict", out, data)
    assert r"a\u202e\x1b]0;t\x07.csv" in shown
    assert r"\x1b[2Jid" in shown
    assert all(c.isprintable() or c == "\n" for c in shown)


def test_names_of_files_in_a_folder_cannot_control_a_terminal(tmp_path):
    for k, label in enumerate("abab"):
        (tmp_path / "data" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / label / f"{k}\x1b]0;title\x07").write_bytes(b"some words" if k else b"some \xff words")
    process = start("train", tmp_path / "data", "-o", tmp_path / "model")
    shown = process.communicate(timeout=LIMIT)[1].decode()
    assert r"0\x1b]0;title\x07" in shown
    assert all(c.isprintable() or c == "\n" for c in shown)


def test_a_fifo_in_a_folder_is_named(tmp_path):
    for label in ("a", "b"):
        (tmp_path / "data" / label).mkdir(parents=True)
        (tmp_path / "data" / label / "1.txt").write_text("some words here")
    os.mkfifo(tmp_path / "data" / "a" / "fifo")
    process = start("train", tmp_path / "data", "-o", tmp_path / "model")
    assert b"fifo, record" in process.communicate(timeout=LIMIT)[1]
    assert process.returncode == 1


def test_links_are_followed_once(tmp_path):
    for label in ("a", "b"):
        (tmp_path / "data" / label).mkdir(parents=True)
        (tmp_path / "data" / label / "1.txt").write_text("some words here")
        (tmp_path / "data" / label / "up").symlink_to("..")
    assert report("train", tmp_path / "data", "-o", tmp_path / "model")["examples"] <= 4


def test_problems_name_the_remedy(tmp_path):
    data, out = tmp_path / "a.csv", tmp_path / "model"
    data.write_text("size,price\n" + "".join(f"{k},{k * 1.7:.2f}\n" for k in range(40)) + "3,n/a\n")
    assert "If they are quantities, use --task regress" in onmargin("train", data, "-o", out, code=1)
    assert "download it, such as with curl" in onmargin("train", "https://example.org/a.csv", "-o", out, code=1)
    assert "is an address, not a file: download it" in onmargin("train", "s3://bucket/a.csv", "-o", out, code=1)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "1.txt").write_text("some words")
    assert "has no subfolders" in onmargin("train", tmp_path / "texts", "-o", out, code=1)
    for label in ("a", "b"):
        (tmp_path / "texts" / label).mkdir()
        (tmp_path / "texts" / label / "1.txt").write_text("schöne Wörter", "cp1252")
    assert "set encoding (--encoding)" in onmargin("train", tmp_path / "texts", "-o", out, code=1)
    columns = tmp_path / "columns.json"
    for found in (
        {"size": [*range(9)], "label": ["a"] * 9},
        json.loads(pandas.DataFrame({"a": [1] * 9, "b": 2}).to_json()),
    ):
        columns.write_text(json.dumps(found))
        assert "is one object with a list per column" in onmargin("train", columns, "-o", out, code=1)
    columns.write_text("".join(json.dumps({"size": k % 7, "label": f"{k * 1.7:.2f}"}) + "\n" for k in range(40)))
    assert "If they are quantities, use --task regress" in onmargin("train", columns, "-o", out, code=1)
    onmargin("train", data, "-o", out, "--task", "regress", "--on-error", "skip", "--format", "tsv", "--delimiter", ",")
    message = onmargin("predict", out, data, "-o", tmp_path / "missing" / "p.csv", code=1)
    assert f"there is no folder {tmp_path / 'missing'}" in message


def test_tags_of_another_scheme_are_measured(tmp_path):
    data, out, other = conll(tmp_path / "a.conll"), tmp_path / "model", tmp_path / "other.conll"
    data.write_text(data.read_text().replace("B-", "").replace("I-", ""))
    onmargin("train", data, "-o", out)
    conll(other)
    assert report("evaluate", out, other)["accuracy"] == 0


def test_columns_written_differently_are_noticed(tmp_path):
    """Numbers with other marks were missing, and booleans unknown, without a word."""
    data, other, out = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "model"
    data.write_text("size;flag;kind\n" + "".join(f"{k % 9}.5;{k % 3 == 0};{'ab'[k % 2]}\n" for k in range(60)))
    other.write_text(data.read_text().replace(".5", ",5"))
    onmargin("train", data, "-o", out)
    assert "knows none of the values of 'size' in " in said("predict", out, other)
    assert "such as '0,5': are they written as" in onmargin("evaluate", out, other, "--strict", code=1)
    assert "such as '0,5': are they written as" in said("train", other, "-o", tmp_path / "more", "--from", out)
    other.write_text("size;flag;kind\n" + "about 3;;a\nabout 4;;b\n" * 20)  # no cell has any feature
    for command in ("predict", "evaluate"):
        assert "knows none of the values of 'size'" in onmargin(command, out, other, "--strict", code=1)
    frame = pandas.read_csv(data, sep=";")
    frame.to_parquet(tmp_path / "a.parquet")
    assert "knows none of the values of 'flag'" in said("predict", out, tmp_path / "a.parquet")
    assert onmargin("predict", out, data, "--strict")


def test_a_key_that_all_objects_lack_is_noticed(tmp_path):
    rows = [{"note": f"{'good' if k % 2 else 'bad'} words {k} here", "size": k % 5, "label": k % 2} for k in range(60)]
    nested = [{"x": {name: row[name] for name in ("note", "size")}, "y": row["label"]} for row in rows]
    for examples in (rows, nested):
        data, other, out = tmp_path / "a.jsonl", tmp_path / "b.jsonl", tmp_path / "model"
        data.write_text("".join(json.dumps(one) + "\n" for one in examples))
        other.write_text(data.read_text().replace('"note"', '"remark"'))
        onmargin("train", data, "-o", out, "--force")
        assert "has no column 'note', which the model has learned from" in onmargin(
            "predict", out, other, "--strict", code=1
        )
        assert onmargin("predict", out, data, "--strict")


def test_cells_from_a_pipe_are_copied_as_they_are(tmp_path):
    """An id of 007 is not 7, and a pipe with no examples is an error, as a file is."""
    data, out, found = people(tmp_path / "people.csv"), tmp_path / "model", tmp_path / "p.csv"
    data.write_text(data.read_text().replace("\np", "\n00"))
    onmargin("train", data, "-o", out)
    onmargin("predict", out, data, "-o", tmp_path / "expected.csv")
    onmargin("predict", out, "-", "-o", found, stdin=data.read_text())
    assert found.read_text() == (tmp_path / "expected.csv").read_text()
    header = data.read_text().partition("\n")[0] + "\n"
    assert "there are no examples in the standard input" in onmargin("predict", out, "-", stdin=header, code=1)
    assert "the standard input is empty" in onmargin("predict", out, "-", stdin="", code=1)


def test_a_slow_pipe_is_read_as_a_fast_one(tmp_path):
    """What is detected does not depend on how much of a pipe has arrived when it is opened."""
    data, fifo = tmp_path / "notes.csv", tmp_path / "fifo"
    notes_table(data)
    onmargin("train", data, "-o", tmp_path / "expected")
    os.mkfifo(fifo)

    def write():
        header, rows = data.read_text().split("\n", 1)
        with open(fifo, "w") as file:
            file.write(header + "\n")
            file.flush()
            wait_until(lambda: ioctl(file.fileno(), FIONREAD, bytes(4)) == bytes(4))  # the header was read
            file.write(rows)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    onmargin("train", fifo, "-o", tmp_path / "found")
    writer.join(LIMIT)
    models = [library.load(tmp_path / name) for name in ("expected", "found")]
    assert models[0].feature_names_ == models[1].feature_names_


@pytest.mark.parametrize("name", ["p.CSV", "p.Tsv", "p.JSONL", "p.ndjson"])
def test_the_ending_of_an_output_may_have_any_case(tmp_path, name):
    data, out = people(tmp_path / "people.csv"), tmp_path / "model"
    onmargin("train", data, "-o", out)
    onmargin("predict", out, data, "-o", tmp_path / name, "--keep", "id")
    assert (tmp_path / name).read_text().startswith(('{"id"', "id,prediction\n", "id\tprediction\n"))


def test_a_conversion_is_written_as_its_name_says(tmp_path):
    data = jsonl(tmp_path / "a.jsonl", 5)
    assert "got '.gz'" in onmargin("convert", data, "--to", "csv", "-o", tmp_path / "a.csv.gz", code=2)
    message = onmargin("convert", data, "--to", "svmlight", "-o", tmp_path / "a.csv", code=2)
    assert "--to svmlight does not go with -o" in message


def test_a_leading_zero_tells_the_decimal_comma(tmp_path):
    """No group of thousands begins with a zero; "0,638" used to be ambiguous, with advice to skip the header."""
    data, out = tmp_path / "a.csv", tmp_path / "model"
    rows = [f"{k % 7},{k:03};{'np'[k % 7 > 3]}\n" for k in range(60)]
    data.write_text("grad;art\n" + "".join(rows))
    assert "decimal mark ','" in said("train", data, "-o", out)
    data.write_text("grad;art\n" + "".join(row for row in rows if row[0] != "0"))
    message = onmargin("train", data, "-o", out, code=1)
    assert "may be a decimal mark or a thousands separator" in message
    assert "--skip-rows" not in message


def test_marks_that_contradict_the_numbers_are_refused(tmp_path):
    data, out = tmp_path / "a.csv", tmp_path / "model"
    data.write_text("size,note,kind\n" + '1.5,"a, b",a\n2.25,c,b\n' * 20)
    for options in (("--decimal", ","), ("--thousands", ".")):
        assert "has numbers such as '1.5', which do not go with" in onmargin("train", data, "-o", out, *options, code=1)


def test_a_folder_that_has_grown_is_noticed(tmp_path):
    data, out = tmp_path / "data", tmp_path / "model"
    for label in ("a", "b"):
        (data / label).mkdir(parents=True)
        (data / label / "1.txt").write_text("some words here")
    onmargin("train", data, "-o", out)
    (data / "b" / "2.txt").write_text("other words")
    assert "has changed since" in said("train", data, "-o", out, "--resume")
    assert "has changed since" in onmargin("train", data, "-o", out, "--resume", "--passes", 2, code=1)


def test_a_run_that_ended_at_a_record_is_resumed_without_it(tmp_path):
    data, out = jsonl(tmp_path / "a.jsonl", 60), tmp_path / "model"
    lines = data.read_text().splitlines(keepends=True)
    data.write_text("".join([*lines[:40], "{\n", *lines[40:]]))
    onmargin("train", data, "-o", out, code=1)
    assert report("train", data, "-o", out, "--resume", "--on-error", "skip")["examples"] == 60
    onmargin("train", data, "-o", tmp_path / "whole", "--on-error", "skip")
    assert onmargin("predict", out, jsonl(data)) == onmargin("predict", tmp_path / "whole", data)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"meta": {"v": 1}, "rows": [{"a": 1, "y": "p"}]}', "with the examples under the key 'rows'"),
        ('{\n "data": [\n  {"a": 1, "y": "p"},\n  {"a": 2, "y": "q"}\n ]\n}', "with the examples under the key 'data'"),
        ('{"columns": ["a", "y"], "data": [[1, "p"], [2, "q"]]}', "with the examples under the key 'data'"),
        ('{\n "a": 1,\n "y": "p"\n}\n', "has objects over several lines"),
        (
            json.dumps({f"id{k}": {"a": k, "y": "pq"[k % 2]} for k in range(9)}),
            "is one object with an object per example",
        ),
    ],
)
def test_json_of_another_form_names_the_remedy(tmp_path, text, problem):
    (tmp_path / "a.json").write_text(text)
    message = onmargin("train", tmp_path / "a.json", "-o", tmp_path / "model", code=1)
    assert problem in message
    assert "such as with jq" in message


def test_lines_before_a_table_and_comments_are_skipped(tmp_path):
    data, titled, noted, out = (tmp_path / name for name in ("a.csv", "titled.csv", "noted.csv", "model"))
    people(data)
    titled.write_text("Export of 2024\n\n" + data.read_text())
    noted.write_text("# by me\n" + data.read_text().replace("\n", "\n# a comment, too\n", 2))
    assert "use --skip-rows 2" in onmargin("train", titled, "-o", out, code=1)
    assert "use --comment '#'" in onmargin("train", noted, "-o", out, code=1)
    onmargin("train", data, "-o", tmp_path / "x")
    expected = onmargin("predict", tmp_path / "x", data)
    for other, options in ((titled, ("--skip-rows", 2)), (noted, ("--comment", "#"))):
        onmargin("train", other, "-o", out, *options, "--force")
        assert onmargin("predict", out, other) == onmargin("predict", out, data) == expected
        onmargin("predict", out, other, "-o", tmp_path / "p.csv", "--force", "--keep", "id")
        assert len((tmp_path / "p.csv").read_text().splitlines()) == 401


def test_zip_archives_with_one_file_are_read(tmp_path):
    data, out, packed = people(tmp_path / "people.csv"), tmp_path / "model", tmp_path / "people.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(data, "people.csv")
    onmargin("train", packed, "-o", out)
    assert onmargin("predict", out, packed) == onmargin("predict", out, data)
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("other.csv", "a,b\n")
    assert "the zip archive has 2 files: unpack it" in onmargin("predict", out, packed, code=1)
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("[Content_Types].xml", "")
    assert "a spreadsheet or another document: save it as CSV" in onmargin("predict", out, packed, code=1)


def test_predictions_of_a_tagger_have_words_and_probabilities(tmp_path):
    data, out, found = conll(tmp_path / "a.conll"), tmp_path / "model", tmp_path / "p.csv"
    onmargin("train", data, "-o", out)
    onmargin("predict", out, data, "-o", found)
    assert found.read_text().startswith("sequence,w,pos,prediction\n1,the,DT,B-NP\n1,dog,NN,I-NP\n")
    onmargin("predict", out, data, "--proba", "-o", found, "--force")
    rows = pandas.read_csv(found)
    assert len(rows) == 80
    assert rows["probability"].between(0.2, 1).all()
    first, *_ = onmargin("predict", out, data, "--proba").splitlines()
    assert first == f"B-NP\t{rows['probability'][0]:.6g}"
    onmargin("predict", out, data, "-o", tmp_path / "p.jsonl")
    first = json.loads((tmp_path / "p.jsonl").read_text().partition("\n")[0])
    assert first == {"prediction": ["B-NP", "I-NP", "B-VP"], "tokens": first["tokens"]}
    assert first["tokens"][0] == {"w": "the", "pos": "DT"}
    assert "has no probabilities" in onmargin("predict", out, data, "--abstain", 0.1, code=1)


def test_a_few_numbers_do_not_change_what_a_column_is(tmp_path):
    """A text, a date and an id with some cells that are numbers used to be categories without a word."""
    data, out = tmp_path / "a.csv", tmp_path / "model"
    words = {"a": "quite good indeed", "b": "rather bad today"}
    rows = [
        f"x{k},2024-01-{1 + k % 28:02d},{words['ab'[k % 2]]} {k % 9},{'UV'[k % 2]},{'ab'[k % 2]}" for k in range(100)
    ]
    rows[50] = "7,2024,5,3,a"
    data.write_text("\n".join(["id,day,note,size,kind", *rows]) + "\n")
    message = said("train", data, "-o", out)
    assert "text 'note'" in message
    assert "left out: 'id' (different in every row), 'day' (dates)" in message
    names = library.load(out).feature_names_
    assert {"note=good", "size=U", "size=V", "size=3"} <= set(names)
