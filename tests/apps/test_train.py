"""`onmargin train`: detection of formats, options, the learned model, and one-line errors."""

import json
import sys

import numpy as np
import pytest

import onmargin as library
from onmargin import stream
from onmargin.features import WindowFeatures
from onmargin.io import load, read_jsonl, read_svmlight
from tests.apps.program import SENTENCES, conll, jsonl, onmargin, report, start, svmlight
from tests.waiting import LIMIT


def test_svmlight_is_learned_as_the_estimator_learns_it(tmp_path):
    data, out = svmlight(tmp_path / "a.svm"), tmp_path / "model"
    done = report("train", data, "-o", out, "--C", 0.5, "--loss", "squared_hinge")
    ((X, y, _),) = read_svmlight(data, n_features=20, dtype="float32")
    model = library.PassiveAggressiveClassifier(C=0.5, loss="squared_hinge").partial_fit(X, y.astype(int))
    assert done["task"] == "classify"
    assert done["examples"] == 300
    assert done["progressive_error"] == model.totals_.mistakes / 300
    learned = library.load(out)
    assert learned.classes_ == [-1, 1]
    assert learned.totals_ == model.totals_
    weights = learned.weights()
    np.testing.assert_array_equal([weights.get(k, 0.0) for k in range(20)], model.coef_[0].astype(float))


def test_records_are_learned_as_the_stream_model_learns_them(tmp_path):
    data, out = jsonl(tmp_path / "a.jsonl"), tmp_path / "model"
    onmargin("train", data, "-o", out, "--average", "--passes", 2)
    model = stream.PassiveAggressiveClassifier(average=True)
    for _ in range(2):
        for x, y, weight in read_jsonl(data):
            model.learn_one(x, y, weight)
    assert library.load(out).weights() == model.weights()


def test_only_the_first_pass_compares_experts(tmp_path):
    data = svmlight(tmp_path / "a.svm", 300)
    for passes in (1, 3):
        onmargin("train", data, "-o", tmp_path / f"{passes}", "--model", "AutoClassifier", "--passes", passes)
    once, often = (library.load(tmp_path / f"{passes}") for passes in (1, 3))
    assert often.totals_.rounds == 3 * once.totals_.rounds
    assert often.experts_.loss.tolist() == once.experts_.loss.tolist()


def test_many_files_are_one_stream(tmp_path):
    whole = svmlight(tmp_path / "whole.svm", 300)
    lines = whole.read_text().splitlines(keepends=True)
    parts = [tmp_path / f"{k}.svm" for k in range(3)]
    for k, part in enumerate(parts):
        part.write_text("".join(lines[100 * k : 100 * (k + 1)]))
    onmargin("train", whole, "-o", tmp_path / "a")
    onmargin("train", *parts, "-o", tmp_path / "b")
    onmargin("train", "-", "-o", tmp_path / "c", stdin=whole.read_bytes())
    totals = [library.load(tmp_path / name).totals_ for name in "abc"]
    assert totals[0] == totals[1] == totals[2]


@pytest.mark.parametrize(
    ("text", "task", "format"),
    [
        ("1 1:0.5 3:1\n-1 2:1\n", "classify", "svmlight"),
        ("0.25 1:0.5 3:1\n-1 2:1\n", "regress", "svmlight"),
        ("1,2 1:0.5 3:1\n2 2:1\n", "rank", "svmlight"),
        ('{"x": {"a": 1}, "y": "p"}\n{"x": {"b": 1}, "y": "q"}\n', "classify", "jsonl"),
        ('{"text": "a b", "y": ["p", "q"]}\n{"text": "c d", "y": []}\n', "rank", "jsonl"),
        ("size,colour,price\n1,red,2.5\n2,blue,3\n", "regress", "csv"),
        ("size\tcolour\tkind\n1\tred\tx\n2\tblue\ty\n", "classify", "csv"),
        ("1 | a b:2\n-1 | c\n", "classify", "vw"),
        ("spam\tcheap pills\nham\tlunch at noon\n", "classify", "text"),
        (SENTENCES, "tag", "conll"),
        ("B\tw=He\tc\nI\tw=said\n\nB\tw=She\n", "tag", "crfsuite"),
    ],
)
def test_task_and_format_are_guessed(tmp_path, text, task, format):
    data, out = tmp_path / "data", tmp_path / "model"
    data.write_text(text)
    done = report("train", data, "-o", out)
    assert (done["task"], done["format"]) == (task, format)
    onmargin("predict", out, data)
    onmargin("evaluate", out, data)
    onmargin("inspect", out)


def test_task_can_be_given(tmp_path):
    data = svmlight(tmp_path / "a.svm", label=lambda score: 1 + (score > 0) + (score > 1))
    out = tmp_path / "model"
    assert report("train", data, "-o", out, "--task", "regress")["task"] == "regress"
    assert report("train", data, "-o", out, "--task", "ordinal", "--set", "ranks=[1, 2, 3]")["classes"] == 3
    assert report("train", data, "-o", out, "--task", "novelty", "--set", "epsilon=2")["task"] == "novelty"
    assert "ranks" in onmargin("train", data, "-o", out, "--task", "ordinal", code=2)


@pytest.mark.parametrize(
    ("options", "kind"),
    [(["--model", "AutoClassifier"], "AutoClassifier"), (["--C", "auto"], "PassiveAggressiveClassifier")],
)
def test_several_models_at_once(tmp_path, options, kind):
    """Files of rows and of records give equal models, continue alike, and report the leader."""
    for data in (svmlight(tmp_path / "a.svm"), jsonl(tmp_path / "a.jsonl")):
        out = tmp_path / "model"
        done = report("train", data, "-o", out, *options)
        model = library.load(out)
        results = model.experts_ if kind == "AutoClassifier" else model.grid_
        assert type(model).__name__ == kind
        assert done["leading_model"] == results.names[results.leader] in onmargin("inspect", out)
        assert len(onmargin("predict", out, data).split()) == done["examples"]
        onmargin("train", data, "--from", out, "-o", out)
        assert library.load(out).totals_.rounds == 2 * done["examples"]


def test_columns_of_a_table(tmp_path):
    data, out = tmp_path / "a.csv", tmp_path / "model"
    data.write_text("kind;text;size;w\nspam;cheap pills;3;1\nham;lunch at noon;4;0\nham;dinner;5;2\n")
    done = report("train", data, "-o", out, "--label", "kind", "--weight", "w")
    assert (done["examples"], done["classes"]) == (2, 2)  # examples of weight 0 are skipped
    assert "size" in library.load(out).weights()
    onmargin("train", data, "-o", out, "--label", "kind", "--text", "text", "--only", "text")
    assert set(library.load(out).weights()) <= {"cheap", "pills", "lunch", "at", "noon", "dinner"}
    onmargin("train", data, "-o", out, "--label", "kind", "--text", "text", "--ignore", "w")
    assert {"size", "text=lunch"} < set(library.load(out).weights())
    message = onmargin("train", data, "-o", out, "--label", "colour", code=1)
    assert "no column 'colour'" in message


def test_no_header(tmp_path):
    data, out = tmp_path / "iris.data", tmp_path / "model"
    data.write_text("5.1,3.5,setosa\n7.0,3.2,versicolor\n")
    report("train", data, "-o", out, "--no-header")
    assert library.load(out).classes_ == ["setosa", "versicolor"]
    unlabelled = tmp_path / "new.data"
    unlabelled.write_text("5.1,3.5\n7.0,3.2\n")
    model = library.load(out)
    assert onmargin("predict", out, unlabelled).split() == [
        model.predict_one({"0": 5.1, "1": 3.5}),
        model.predict_one({"0": 7.0, "1": 3.2}),
    ]


def test_hashing_bounds_the_features(tmp_path):
    data, out = jsonl(tmp_path / "a.jsonl"), tmp_path / "model"
    assert report("train", data, "-o", out, "--hash", 4)["features"] == 16
    assert "--hash" in onmargin("train", conll(tmp_path / "a.conll"), "-o", out, "--hash", 4, code=2)


def test_rows_with_indices_of_any_size_are_hashed(tmp_path):
    data, out = tmp_path / "a.svm", tmp_path / "model"
    data.write_text("1 3:1 2000000000:0.5\n-1 4:1 90000000:0.5\n" * 50)
    assert "--hash" in onmargin("train", data, "-o", out, code=1)
    assert report("train", data, "-o", out, "--hash", 10, "--force")["features"] == 1024
    ((X, y, _),) = read_svmlight(data, n_features=1024, hashed=True, dtype="float32")
    np.testing.assert_array_equal(library.load(out).predict_many(X), y)
    assert onmargin("predict", out, data).split() == ["1", "-1"] * 50
    assert report("train", data, "-o", tmp_path / "on", "--from", out)["features"] == 1024
    assert report("train", data, "-o", out, "--hash", 10, "--passes", 2, "--resume")["examples"] == 200


def test_a_model_continues_with_new_data(tmp_path):
    first, second = svmlight(tmp_path / "a.svm", seed=0), svmlight(tmp_path / "b.svm", seed=1)
    onmargin("train", first, second, "-o", tmp_path / "both")
    onmargin("train", first, "-o", tmp_path / "model")
    onmargin("train", second, "--from", tmp_path / "model", "-o", tmp_path / "model")
    assert library.load(tmp_path / "model").totals_ == library.load(tmp_path / "both").totals_
    assert "--from" in onmargin(
        "train", second, "--from", tmp_path / "model", "-o", tmp_path / "model", "--C", 2, code=2
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--C", "-1"], "C must be a number greater than 0"),
        (["--loss", "huber"], "loss must be 'hinge' or 'squared_hinge'"),
        (["--set", "colour=red"], "AutoClassifier has no parameter colour"),
        (["--set", "colour"], "NAME=VALUE"),
        (["--C", "much"], "'--C'"),
        (["--model", "AutoClassifier", "--C", "1"], "AutoClassifier has no parameter C"),
        (["--model", "AutoClassifier", "--task", "novelty"], "is for the task 'classify', not 'novelty'"),
        (["--model", "Winner"], "model must be one of AROWClassifier, "),
        (["--task", "dance"], "'dance' is not one of"),
        (["--passes", "0"], "--passes"),
        (["--delimiter", "ab"], "--delimiter"),
    ],
)
def test_wrong_usage_ends_with_2(tmp_path, options, words):
    message = onmargin("train", svmlight(tmp_path / "a.svm"), "-o", tmp_path / "model", *options, code=2)
    assert words in " ".join(message.split())
    assert not (tmp_path / "model").exists()


def one_line(message):
    assert message.startswith("Error: ")
    assert message.count("\n") == 1
    return message


def test_errors_of_data_are_one_line_and_end_with_1(tmp_path):
    out = tmp_path / "model"
    assert "no file" in one_line(onmargin("train", tmp_path / "none.svm", "-o", out, code=1))
    (tmp_path / "noise").write_bytes(bytes(range(9)) * 9)
    assert "set --format" in one_line(onmargin("train", tmp_path / "noise", "-o", out, code=1))
    (tmp_path / "empty.svm").write_text("")
    assert "no examples" in one_line(onmargin("train", tmp_path / "empty.svm", "-o", out, code=1))
    data, table = svmlight(tmp_path / "a.svm"), jsonl(tmp_path / "a.jsonl")
    assert "one format" in one_line(onmargin("train", data, table, "-o", out, code=1))
    assert "does not go with" in one_line(onmargin("train", data, "-o", out, "--task", "tag", code=1))
    assert "no folder" in one_line(onmargin("train", data, "-o", tmp_path / "away" / "model", code=1))
    (tmp_path / "unlabelled.jsonl").write_text('{"x": {"a": 1}}\n')
    assert "no labels" in one_line(onmargin("train", tmp_path / "unlabelled.jsonl", "-o", out, code=1))
    (tmp_path / "damaged.svm.gz").write_bytes(b"\x1f\x8b damaged")
    assert "damaged" in one_line(onmargin("train", tmp_path / "damaged.svm.gz", "-o", out, code=1))
    assert not out.exists()


def test_errors_of_models_are_one_line_and_end_with_1(tmp_path):
    data = svmlight(tmp_path / "a.svm")
    assert "none" in one_line(onmargin("predict", tmp_path / "none", data, code=1))
    assert "cannot load a model" in one_line(onmargin("predict", data, data, code=1))
    library.save(library.PassiveAggressiveClassifier(), tmp_path / "foreign")
    assert "not made by onmargin train" in one_line(onmargin("predict", tmp_path / "foreign", data, code=1))
    onmargin("train", data, "-o", tmp_path / "model")
    assert "their examples differ" in one_line(
        onmargin("predict", tmp_path / "model", conll(tmp_path / "a.conll"), code=1)
    )


@pytest.mark.full
def test_progress_is_lines_on_the_standard_error(tmp_path, monkeypatch):
    from onmargin.apps import progress

    monkeypatch.setattr(progress, "_LINES", 0.0)
    data = jsonl(tmp_path / "a.jsonl", 30_000)  # more than the read-ahead
    from click.testing import CliRunner

    from onmargin.apps.cli import main

    arguments = ["train", str(data), "-o", str(tmp_path / "model"), "--json", "--model", "PassiveAggressiveClassifier"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["examples"] == 30_000
    lines = result.stderr.splitlines()
    assert lines[0].endswith("a.jsonl: jsonl; task classify, PassiveAggressiveClassifier")
    assert len(lines) >= 31
    (line,) = (line for line in lines if line.startswith("2,000 examples, "))
    assert "/s, error " in line
    assert any(" left" in line for line in lines)  # some bytes are read ahead
    assert "\x1b" not in result.output
    quiet = CliRunner().invoke(main, ["train", str(data), "-o", str(tmp_path / "model"), "-q"])
    assert quiet.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("no_color", [False, True])
def test_progress_on_a_terminal(tmp_path, no_color):
    import os
    import pty

    data = jsonl(tmp_path / "a.jsonl", 3000)
    main_end, end = pty.openpty()
    code = "from onmargin.apps import progress; progress._FRAMES = 0.0; "
    code += "import sys; from onmargin.apps.cli import main; main(sys.argv[1:], 'onmargin')"
    import subprocess

    environment = os.environ | {"TERM": "xterm"} | ({"NO_COLOR": "1"} if no_color else {})
    arguments = [sys.executable, "-c", code, "train", str(data), "-o", str(tmp_path / "model")]
    done = subprocess.run(arguments, stderr=end, stdout=subprocess.PIPE, env=environment, check=True, timeout=LIMIT)
    os.close(end)
    shown = os.read(main_end, 1 << 16).decode()
    os.close(main_end)
    assert "examples" in shown
    assert ("\x1b[32m" in shown) != no_color
    assert b"\x1b" not in done.stdout


def test_a_closed_pipe_is_not_an_error(tmp_path):
    data, out = jsonl(tmp_path / "a.jsonl", 3000), tmp_path / "model"
    onmargin("train", data, "-o", out)
    process = start("predict", out, data, "--json", stdout=-1)
    process.stdout.readline()
    process.stdout.close()
    assert b"Traceback" not in process.communicate(timeout=LIMIT)[1]


def test_templates_are_chosen(tmp_path):
    data, out = conll(tmp_path / "a.conll"), tmp_path / "model"
    onmargin("train", data, "-o", out, "--template", "w[0]", "--template", "w[-1]|pos[0]", "--checkpoint-every", 4)
    model = load(out)
    assert model.window == WindowFeatures(["w", "pos"], ["w[0]", "w[-1]|pos[0]"])
    names = {name.partition("=")[0] for name in model.feature_names_}
    assert names == {"w[0]", "w[-1]|pos[0]", "first", "last"}
    assert onmargin("predict", out, data).split() == [line.split()[2] for line in SENTENCES.splitlines() if line] * 10
    onmargin("train", data, "-o", out, "--template", "w[0]", "--template", "w[-1]|pos[0]", "--passes", 2, "--resume")
    message = onmargin("train", data, "-o", out, "--resume", code=1)
    assert "other reading: {'template': ['w[0]', 'w[-1]|pos[0]']}, not {'template': []}. Resume" in message
    assert "one of ['w', 'pos']; got 'c2[0]'" in onmargin("train", data, "-o", out, "--template", "c2[0]", code=2)
    rows = svmlight(tmp_path / "a.svm")
    assert "--template has no effect on svmlight files" in onmargin(
        "train", rows, "-o", out, "--template", "w[0]", code=2
    )
