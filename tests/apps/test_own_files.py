"""Files as users have them: what is unusual is read, or refused with the remedy, and no option is ignored."""

import csv
import gzip
import json
from datetime import date
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import onmargin as library
from onmargin.apps.loaded import load_learner
from onmargin.apps.run import _forgets
from onmargin.apps.sniff import adapt_recipe
from tests.apps.program import conll, jsonl, onmargin, report
from tests.apps.test_tables import people, said


def test_dates_of_parquet_are_left_out(tmp_path):
    data, out = tmp_path / "a.parquet", tmp_path / "model"
    rows = [{"since": date(2024, 1, 1 + k % 28), "size": k % 7, "label": "ab"[k % 7 > 3]} for k in range(60)]
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), data)
    assert "left out: 'since' (dates)" in said("train", data, "-o", out)
    assert library.load(out).feature_names_ == ["size"]


def test_a_label_missing_in_parquet_can_be_skipped(tmp_path):
    data, out = tmp_path / "a.parquet", tmp_path / "model"
    pyarrow.parquet.write_table(pa.table({"x": [1, 2, 3], "label": ["a", None, "b"]}), data)
    message = onmargin("train", data, "-o", out, code=1)
    assert "record 2: the label, column 'label', is empty; 1 example is learned" in message
    assert message.endswith("Correct the file and continue with --resume, or skip such records with --on-error skip\n")
    assert report("train", data, "-o", out, "--on-error", "skip")["skipped"] == 1


def test_nested_values_are_features_or_ignored(tmp_path):
    data, out = tmp_path / "a.jsonl", tmp_path / "model"
    record = {"size": [1, 2.5], "user": {"age": 3}, "items": [{"id": 1}], "label": "a"}
    data.write_text(f"{json.dumps(record)}\n{json.dumps(record | {'label': 'b'})}\n")
    assert "'items' must be a finite number or a string" in onmargin("train", data, "-o", out, code=1)
    onmargin("train", data, "-o", out, "--ignore", "items")
    assert library.load(out).feature_names_ == ["size:0", "size:1", "user:age"]
    data.write_text(json.dumps(record) + "\n")
    assert onmargin("predict", out, data).split()


def test_a_column_name_that_occurs_twice(tmp_path):
    """The header is still recognized as one."""
    data = tmp_path / "a.csv"
    data.write_text("age,age,label\n" + "1,2,a\n3,4,b\n" * 20)
    message = onmargin("train", data, "-o", tmp_path / "model", code=1)
    assert "two columns have the name 'age': rename one of them" in message
    assert "--on-error" not in message


@pytest.mark.parametrize(
    ("row", "label"),
    [
        (lambda k: f"{1 + k % 3},{k / 7:.3f},{100 + k}", "'0' (the first column; the last one would be --label 2)"),
        (lambda k: f"{'AB'[k % 2]},{k / 7:.3f},{k / 9:.3f}", "'0' (the first column; the last one would be --label 2)"),
        (lambda k: f"{'MFI'[k % 3]},{k / 7:.3f},{k % 9}", "'2' (the last column; the first one would be --label 0)"),
        (lambda k: f"{'AB'[k % 2]},{'CD'[k % 2]},{k / 9:.3f}", "'2';"),  # categories, and a number to predict
        (lambda k: f"{k % 2},{k % 3},{k / 9:.3f}", "'2';"),
        (lambda k: f"{'AB'[k % 2]},{'CDG'[k % 3]},{'EF'[k % 2]}", "'2';"),
    ],
)
def test_a_label_in_the_first_column_without_a_name(tmp_path, row, label):
    data = tmp_path / "a.data"
    data.write_text("".join(row(k) + "\n" for k in range(200)))
    assert f"label {label}" in said("train", data, "-o", tmp_path / "model")


@pytest.mark.parametrize(
    ("header", "label"),
    [("Outcome,age,size", "Outcome"), ("y,a,b", "y"), ("x,y,size", "size"), ("output,class,a", "class")],
)
def test_columns_named_like_a_label(tmp_path, header, label):
    data = tmp_path / "a.csv"
    data.write_text(header + "\n" + "".join(f"{k % 2},{k % 5},{k % 3}\n" for k in range(60)))
    assert f"label {label!r}" in said("train", data, "-o", tmp_path / "model")


def test_columns_aligned_with_blanks(tmp_path):
    data, out = tmp_path / "a.data", tmp_path / "model"
    data.write_text("".join(f"{k % 13:>5} {k / 7:8.3f} {'ab'[k % 13 > 6]}\n" for k in range(100)))
    message = said("train", data, "-o", out, "--format", "csv", "--delimiter", "space")
    assert "whitespace between fields, no header (columns are 0, 1, ...), label '2'" in message
    assert library.load(out).feature_names_ == ["0", "1"]


def test_another_encoding(tmp_path):
    """The model keeps it for later files, compressed or not; it is converted once."""
    data, packed, out = tmp_path / "a.csv", tmp_path / "b.csv.gz", tmp_path / "model"
    rows = "Stadt;Größe;Preis\n" + "".join(
        f"{('Köln', 'Bonn')[k % 2]};{k % 7};{('€', 'öd')[k % 2]}\n" for k in range(80)
    )
    data.write_bytes(rows.encode("cp1252"))
    packed.write_bytes(gzip.compress(rows.encode("cp1252")))
    assert "set the encoding of the file (--encoding)" in onmargin("train", data, "-o", out, code=1)
    onmargin("train", data, "-o", out, "--encoding", "windows-1252")
    assert set(library.load(out).classes_) == {"€", "öd"}
    assert onmargin("predict", out, packed) == onmargin("predict", out, data, "--encoding", "cp1252")
    assert report("evaluate", out, packed)["accuracy"] > 0.9
    assert '"Größe"' in onmargin("convert", data, "--to", "jsonl", "--encoding", "cp1252")
    assert "unknown encoding 'none'" in onmargin("predict", out, data, "--encoding", "none", code=2)
    plain = tmp_path / "utf8.csv"
    plain.write_text(rows, "utf-8")
    assert onmargin("predict", out, plain, "--encoding", "utf-8") == onmargin("predict", out, data)


def test_the_last_column_is_not_always_the_label(tmp_path):
    data, out = tmp_path / "a.csv", tmp_path / "model"
    days = [f"2024-01-{1 + k % 28:02d}" for k in range(60)]
    data.write_text("size,town,day\n" + "".join(f"{k},{'ab'[k % 2]},{day}\n" for k, day in enumerate(days)))
    message = onmargin("train", data, "-o", out, code=1)
    assert "the last column, 'day', is hardly the label (dates): name it with --label" in message
    # A comma at the end of each row makes an empty column.
    data.write_text("size,town,\n" + "".join(f"{k},{'ab'[k % 2]},\n" for k in range(60)))
    assert "label 'town'" in said("train", data, "-o", out)


def test_a_second_file_without_some_columns_warns(tmp_path):
    data, other = people(tmp_path / "a.csv"), tmp_path / "b.csv"
    other.write_text("age,town,buys\n40,Ulm,yes\n")
    message = said("train", data, other, "-o", tmp_path / "model", "--quiet")
    assert f"warning: {other} has no column 'income', 'kids', which {data} has" in message


def test_a_label_alone_is_not_learned(tmp_path):
    data = tmp_path / "a.csv"
    data.write_text("id,label\n" + "".join(f"p{k},{'ab'[k % 2]}\n" for k in range(30)))
    message = onmargin("train", data, "-o", tmp_path / "model", code=1)
    assert "no column to learn from besides the label 'label'; 'id' is left out (different in every row)" in message


def test_one_class_warns(tmp_path):
    data = tmp_path / "a.csv"
    data.write_text("size,label\n" + "".join(f"{k % 7},yes\n" for k in range(30)))
    message = said("train", data, "-o", tmp_path / "model", "--quiet")
    assert message.startswith("warning: all examples have the label 'yes', which the model always predicts")


def test_a_forgetting_expert_that_leads_by_chance_does_not_warn():
    def results(lost, judged="mistakes"):
        return SimpleNamespace(forgets=np.array([False, True]), leader=1, judged=judged, lost=np.array(lost))

    assert not _forgets(results([117.0, 114.0]))
    assert _forgets(results([4197.0, 3368.0]))
    assert _forgets(results([117.0, 114.0], "loss"))


def test_labels_the_model_does_not_know_warn(tmp_path):
    data, other, out = people(tmp_path / "a.csv"), tmp_path / "b.csv", tmp_path / "model"
    onmargin("train", data, "-o", out)
    other.write_text(data.read_text().replace(",yes\n", ",1\n").replace(",no\n", ",0\n"))
    assert "warning: the model knows none of the labels, such as 1" in said("evaluate", out, other)
    onmargin("evaluate", out, other, "--strict", code=1)
    other.write_text("age,income\n40,30000\n")
    message = onmargin("evaluate", out, other, code=1)
    assert f"{other} has no labels in a column 'buys': name the column with --label" in message


def test_copied_columns_are_complete(tmp_path):
    """An empty cell in the first row does not drop its column, and a column to keep must exist."""
    data, new, out = people(tmp_path / "a.csv"), tmp_path / "new.csv", tmp_path / "model"
    onmargin("train", data, "-o", out)
    new.write_text("id,age,income,town,kids,date,note\n7,40,30000,Ulm,1,2024-01-01,\n8,50,,Ulm,1,2024-01-01,late\n")
    for source, options in ((new, {}), ("-", {"stdin": new.read_text()})):
        onmargin("predict", out, source, "-o", tmp_path / "o.csv", "--force", **options)
        with open(tmp_path / "o.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [(row["note"], row["income"]) for row in rows] == [("", "30000"), ("late", "")]
    message = onmargin("predict", out, new, "-o", tmp_path / "p.csv", "--keep", "nope", code=1)
    assert "has no column 'nope' for --keep; it has 'id', 'age'" in message
    assert not (tmp_path / "p.csv").exists()


@pytest.mark.parametrize(
    "options", [(), ("--decimal", ","), ("--thousands", "."), ("--decimal", ",", "--thousands", ".")]
)
def test_one_number_mark_determines_the_other(tmp_path, options):
    data = tmp_path / "a.csv"
    data.write_text("size;label\n1.234,5;a\n12,5;b\n")
    assert '{"x": {"size": 1234.5}, "y": "a"}' in onmargin("convert", data, "--to", "jsonl", *options)
    same = ("--decimal", ".", "--thousands", ".")
    assert "must be two marks" in onmargin("convert", data, "--to", "jsonl", *same, code=2)


def test_files_to_predict_have_the_marks_of_the_training_data(tmp_path):
    """A comma in a categorical column is not the thousands mark of other files."""
    data, new, out = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "model"
    data.write_text("size;code;label\n" + "1.5;x;a\n2.5;1,200;b\n" * 20)
    onmargin("train", data, "-o", out, "--decimal", ".")
    new.write_text("size;code\n2.5;1,200\n")
    onmargin("predict", out, new, "-o", tmp_path / "o.jsonl")
    assert "--force is for" in onmargin("convert", data, "--to", "jsonl", "--force", code=2)
    assert library.load(out).feature_names_ == ["size", "code=x", "code=1,200"]
    assert adapt_recipe(str(new), load_learner(str(out))[1], None, {}).dialect["thousands"] is None


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--weight", "f1"), 1, "there is no column 'f1' for --weight; the columns are 'x', 'y'"),
        (("--set", "ngrams=(1, 2)"), 2, "ngrams is for texts"),
    ],
)
def test_options_without_effect_on_records(tmp_path, options, code, message):
    data, out = jsonl(tmp_path / "a.jsonl", 30), tmp_path / "model"
    assert message in onmargin("train", data, "-o", out, *options, code=code)
    onmargin("train", data, "-o", out)
    for option in ("--label", "--ignore"):
        assert f"there is no column 'zz' for {option}" in onmargin("predict", out, data, option, "zz", code=1)


@pytest.mark.parametrize("name", ["max_iter=3", "shuffle=false", "tol=0.1", "random_state=1", "separator=x"])
def test_parameters_without_effect_on_taggers(tmp_path, name):
    data = conll(tmp_path / "a.conll", 5)
    message = onmargin("train", data, "-o", tmp_path / "model", "--set", name, code=2)
    assert f"without effect on files: {name.partition('=')[0]}" in message


CONLLU = "".join(f"{k}\tword\tword\t{tag}" + "\t_" * 6 + "\n" for k, tag in enumerate("NVN", 1)) + "\n"


def test_sequences_of_other_formats_are_refused(tmp_path):
    """Tokens in columns, words of CoNLL-U and attributes of CRFsuite have different features."""
    files = {
        "a.conll": "the DT B\ndog NN I\n\n",
        "a.conllu": CONLLU,
        "a.crfsuite": "B\tw=the\tcap:2\nI\tw=dog\n\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        onmargin("train", tmp_path / name, "-o", tmp_path / f"{name}.model")
    for name in files:
        for other in files.keys() - {name}:
            for command in ("predict", "evaluate"):
                message = onmargin(command, tmp_path / f"{name}.model", tmp_path / other, code=1)
                assert "their examples differ" in message
    (tmp_path / "words.conll").write_text("the\ndog\n\n")
    message = onmargin("predict", tmp_path / "a.conll.model", tmp_path / "words.conll", code=1)
    assert "words.conll have 1 column, and the model needs 2" in message


def test_sequences_have_no_novelty(tmp_path):
    (tmp_path / "a.conllu").write_text(CONLLU)
    message = onmargin("train", tmp_path / "a.conllu", "-o", tmp_path / "model", "--task", "novelty", code=1)
    assert "the task 'novelty' does not go with them" in message


def test_a_column_of_conllu_that_does_not_exist(tmp_path):
    data = tmp_path / "a.conllu"
    data.write_text("1\tHello\thello\tINTJ" + "\t_" * 6 + "\n\n")
    message = onmargin("train", data, "-o", tmp_path / "model", "--label", "pos", code=2)
    assert "columns of CoNLL-U are id, form" in message
