"""Reports of several passes, held-out or shuffled examples, skipped records, and signals within a block."""

import json
import signal
import subprocess
import sys
from itertools import count, islice
from types import SimpleNamespace

import numpy as np
import pytest

import onmargin as library
from onmargin.apps.chunks import Chunk, Position
from onmargin.apps.pace import Pace
from onmargin.io import load_with_notes
from tests.apps.program import CODE, conll, jsonl, onmargin, report, svmlight
from tests.saved import same_bytes
from tests.waiting import LIMIT


def test_the_progressive_error_is_that_of_the_first_pass(tmp_path):
    data, out = jsonl(tmp_path / "a.jsonl"), tmp_path / "model"
    once = report("train", data, "-o", out, "--C", 1)
    done = report("train", data, "-o", out, "--C", 1, "--passes", 3)
    assert done["progressive_error"] == once["progressive_error"]
    assert done["progressive_loss"] == once["progressive_loss"]
    assert done["later_passes"].keys() == {"pass 2", "pass 3"}
    assert done["later_passes"]["pass 3"]["error"] < once["progressive_error"]
    totals = library.load(out).totals_
    errors = [done["progressive_error"], *(one["error"] for one in done["later_passes"].values())]
    assert sum(errors) * 300 == pytest.approx(totals.mistakes)
    shown = onmargin("train", data, "-o", out, "--C", 1, "--passes", 2)
    assert "later passes" in shown
    # A resumed run reports the same.
    onmargin("train", data, "-o", out, "--C", 1, "--passes", 2)
    assert report("train", data, "-o", out, "--C", 1, "--passes", 3, "--resume") == done
    # Several files do, too.
    parts = [jsonl(tmp_path / f"{k}.jsonl", 100, seed=k) for k in range(2)]
    local = ("--engine", "local", "--workers", 1, "--C", 1)
    first = report("train", *parts, "-o", tmp_path / "b", *local)
    twice = report("train", *parts, "-o", tmp_path / "b", *local, "--passes", 2)
    assert twice["progressive_error"] == first["progressive_error"]


def test_a_continued_model_reports_its_new_data(tmp_path):
    first, second = jsonl(tmp_path / "a.jsonl", seed=0), jsonl(tmp_path / "b.jsonl", seed=1)
    out, more = tmp_path / "model", tmp_path / "more"
    before = report("train", first, "-o", out, "--C", 1)
    after = report("train", second, "--from", out, "-o", more)
    mistakes = library.load(more).totals_.mistakes
    assert after["progressive_error"] * 300 == pytest.approx(mistakes - before["progressive_error"] * 300)


def test_token_accuracy_is_that_of_the_predictions(tmp_path):
    data, out = conll(tmp_path / "a.conll", 20), tmp_path / "model"
    done = report("train", data, "-o", out, "--checkpoint-every", 7)
    model = library.load(out)
    assert done["token_accuracy"] == 1 - model.totals_.cost / (8 * 20)
    assert done["sequence_error"] == model.totals_.mistakes / 60
    assert "token accuracy" in onmargin("train", data, "-o", out)
    twice = report("train", data, "-o", out, "--passes", 2, "--holdout", 3)
    assert twice["later_passes"]["pass 2"]["token_accuracy"] >= twice["token_accuracy"]
    assert twice["held_out"]["pass 2"]["f1"] <= 1.0


def test_examples_held_out_are_not_learned(tmp_path):
    data, out, rest = svmlight(tmp_path / "a.svm"), tmp_path / "model", tmp_path / "rest.svm"
    done = report("train", data, "-o", out, "--holdout", 3, "--passes", 2, "--C", 1, "--checkpoint-every", 64)
    assert done["examples"] == 400
    lines = data.read_text().splitlines(keepends=True)
    rest.write_text("".join(line for k, line in enumerate(lines, 1) if k % 3))
    onmargin("train", rest, "-o", tmp_path / "b", "--passes", 2, "--C", 1)
    assert library.load(out).totals_ == library.load(tmp_path / "b").totals_
    held = tmp_path / "held.svm"
    held.write_text("".join(lines[2::3]))
    expected = report("evaluate", out, held)
    assert done["held_out"]["pass 2"]["accuracy"] == expected["accuracy"]
    assert done["held_out"]["pass 2"]["auc"] == expected["auc"]
    assert "read once" in onmargin("train", "-", "-o", out, "--holdout", 3, code=2)


@pytest.mark.parametrize("make", [svmlight, jsonl])
def test_shuffled_examples_are_all_learned_in_another_order(tmp_path, make):
    data, out = make(tmp_path / "data"), tmp_path / "model"
    shuffled = report("train", data, "-o", out, "--shuffle", "--passes", 2, "--C", 1)
    plain = report("train", data, "-o", tmp_path / "b", "--passes", 2, "--C", 1)
    assert shuffled["examples"] == plain["examples"] == 600
    assert shuffled["features"] == plain["features"]
    assert shuffled["progressive_loss"] != plain["progressive_loss"]
    onmargin("train", data, "-o", tmp_path / "c", "--shuffle", "--C", 1)
    onmargin("train", data, "-o", tmp_path / "c", "--shuffle", "--C", 1, "--passes", 2, "--resume")
    assert same_bytes(tmp_path / "c", out)


def test_wrong_records_are_skipped_counted_and_named(tmp_path):
    good = jsonl(tmp_path / "good.jsonl", 60)
    lines = good.read_text().splitlines()
    broken = [*lines[:20], "{broken", *lines[20:40], json.dumps({"x": {"f1": 1}, "y": [1]}), *lines[40:]]
    data, out = tmp_path / "a.jsonl", tmp_path / "model"
    data.write_text("\n".join(broken) + "\n")
    from click.testing import CliRunner

    from onmargin.apps.cli import main

    options = ["--task", "classify", "--on-error", "skip", "--json", "--passes", "2"]
    result = CliRunner().invoke(main, ["train", str(data), "-o", str(out), *options])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["skipped"] == 2
    named = [line for line in result.stderr.splitlines() if line.startswith("skipped")]
    assert len(named) == 2
    assert "a.jsonl, line 21, record 21: the line is not JSON" in named[0]
    assert "record 41: a label is a string" in named[1]
    onmargin("train", good, "-o", tmp_path / "b", "--passes", 2)
    assert library.load(out).totals_ == library.load(tmp_path / "b").totals_


def test_wrong_rows_and_sentences_are_skipped(tmp_path):
    table, out = tmp_path / "a.csv", tmp_path / "model"
    table.write_text("a,b,y\n" + "1,2,p\n3,4,q\n" * 10 + "1,2,3,4\n" + b"\xff,1,p\n".decode("latin-1") + "5,6,p\n")
    table.write_bytes(table.read_bytes().replace("\xff".encode(), b"\xff"))
    done = report("train", table, "-o", out, "--on-error", "skip")
    assert (done["examples"], done["skipped"]) == (21, 2)
    rows = tmp_path / "a.svm"
    rows.write_text("1 1:1\n-1 2:1\nbroken\n# comment\n1 3:x\n" + "1 1:1\n-1 2:1\n" * 5 + "1 2:1 1:1\n")
    done = report("train", rows, "-o", out, "--on-error", "skip")
    assert (done["examples"], done["skipped"]) == (12, 3)
    sentences = conll(tmp_path / "a.conll", 5)
    sentences.write_text(sentences.read_text() + "one two\nthree\nfour five six\n\n" + "he PRP B-NP\n\n")
    done = report("train", sentences, "-o", out, "--on-error", "skip")
    assert (done["examples"], done["skipped"]) == (16, 1)


def test_a_signal_is_handled_within_a_block(tmp_path):
    """The program stops between two pieces of a block. Here it receives the signal after its first piece."""
    data, out = svmlight(tmp_path / "a.svm", 3000), tmp_path / "model"
    code = "import os, signal; from onmargin.apps.progress import Progress; "
    code += "Progress.update = lambda *_: os.kill(os.getpid(), signal.SIGTERM); " + CODE
    arguments = [sys.executable, "-c", code, "train", data, "-o", out, "--passes", "40"]
    done = subprocess.run(arguments, capture_output=True, timeout=LIMIT, check=False)
    assert done.returncode == 128 + signal.SIGTERM
    assert b"10 examples are learned" in done.stderr
    assert b"continue with --resume" in done.stderr
    assert load_with_notes(out)[1]["position"] == [0, 0, 10]


@pytest.mark.parametrize(("seconds", "sizes"), [(0.5, [10, 2, 1, 1]), (0.1, [10, 10, 10]), (0.01, [10, 40, 160])])
def test_pieces_of_a_block_take_a_fraction_of_a_second(monkeypatch, seconds, sizes):
    clock = count(0.0, seconds)
    monkeypatch.setattr("onmargin.apps.pace.time", SimpleNamespace(monotonic=clock.__next__))
    chunk = Chunk(list(range(1000)))
    assert [len(piece) for piece, _ in islice(Pace().pieces(chunk, Position(records=1000)), len(sizes))] == sizes


def test_a_run_without_new_data_reports_no_error_rate(tmp_path):
    data, out = jsonl(tmp_path / "a.jsonl", 30), tmp_path / "model"
    onmargin("train", data, "-o", out)
    data.write_text("{broken\n" * 3)
    message = onmargin("train", data, "--from", out, "-o", out, code=1)
    assert "line 1, record 1: the line is not JSON" in message
    assert "30 examples" not in message
    one = jsonl(tmp_path / "one.jsonl", 1)
    one.write_text(one.read_text() + "{broken\n")
    assert "1 example is learned" in onmargin("train", one, "-o", tmp_path / "b", code=1)


def test_a_leading_tracker_is_named(tmp_path):
    """It follows the drift closely, and the model is wrong about old examples."""
    data, out = tmp_path / "a.csv", tmp_path / "model"
    numbers = np.random.default_rng(0).normal(size=(1500, 3)).tolist()
    rows = [f"{a},{b},{100 * np.sin(k / 60) * a + b + c / 10:.3f}" for k, (a, b, c) in enumerate(numbers)]
    data.write_text("a,b,y\n" + "\n".join(rows) + "\n")
    from click.testing import CliRunner

    from onmargin.apps.cli import main

    result = CliRunner().invoke(main, ["train", str(data), "-o", str(out), "--quiet"])
    assert result.stderr.startswith("warning: '")
    assert "train with --shuffle" in result.stderr
    shuffled = CliRunner().invoke(main, ["train", str(data), "-o", str(out), "--quiet", "--shuffle"])
    assert shuffled.stderr == ""


def test_features_of_tokens_are_made_once(tmp_path, monkeypatch):
    from onmargin.features import window

    made = []
    plain = window._Templates.__call__
    monkeypatch.setattr(window._Templates, "__call__", lambda self, x: made.append(1) or plain(self, x))
    data, out = conll(tmp_path / "a.conll", 20), tmp_path / "model"
    onmargin("train", data, data, "-o", out, "--passes", 4)
    assert len(made) == 120
    assert load_with_notes(out)[0].totals_.rounds == 4 * 120
    # A resumed run reads the file again, and writes the same bytes.
    onmargin("train", data, data, "-o", tmp_path / "b", "--passes", 2)
    onmargin("train", data, data, "-o", tmp_path / "b", "--passes", 4, "--resume")
    assert same_bytes(tmp_path / "b", out)
