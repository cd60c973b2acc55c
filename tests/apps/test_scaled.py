"""`onmargin train --engine`: files in parallel, the same model for any number of workers, and resuming."""

import pytest

from onmargin import io, load, scale, stream
from onmargin.features import RecordFeatures
from onmargin.io import load_with_notes
from tests.apps.program import conll, jsonl, onmargin, report, said, svmlight
from tests.saved import same_bytes


@pytest.fixture
def parts(tmp_path):
    return [svmlight(tmp_path / f"{k}.svm", n=100 + 10 * k, seed=k) for k in range(3)]


def test_files_are_shards(parts, tmp_path):
    out = tmp_path / "model"
    done = report("train", *parts, "-o", out, "--engine", "local", "--workers", 1, "--passes", 3, "--C", 0.1)
    assert done["examples"] == 3 * 330
    assert done["passes"] == 3
    model = stream.PassiveAggressiveClassifier(C=0.1, features=RecordFeatures(dtype="float32"))
    shards = io.shards(parts, dtype="float32")
    scale.fit(model, shards, workers=1, epochs=3)
    assert load(out).weights() == model.weights()
    assert report("evaluate", out, parts[0])["examples"] == 100


def test_workers_make_no_difference(parts, tmp_path):
    for workers in (1, 2):
        onmargin("train", *parts, "-o", tmp_path / f"{workers}", "--engine", "local", "--workers", workers, "--average")
    assert same_bytes(tmp_path / "1", tmp_path / "2")


def test_sequences_and_records(tmp_path):
    sentences = [conll(tmp_path / f"{k}.conll", n=2 + k) for k in range(2)]
    local = ("--engine", "local", "--workers", 1, "--passes", 2, "--quiet")
    assert report("train", *sentences, "-o", tmp_path / "tags", *local)["task"] == "tag"
    assert report("evaluate", tmp_path / "tags", sentences[0])["accuracy"] > 0.9
    records = [jsonl(tmp_path / f"{k}.jsonl", n=50, seed=k) for k in range(2)]
    done = report("train", *records, "-o", tmp_path / "hashed", *local, "--hash", 6, "--mixing", "uniform")
    assert done["examples"] == 200
    assert done["features"] == 64


def test_progress_names_the_files(parts, tmp_path):
    from click.testing import CliRunner

    from onmargin.apps.cli import main

    arguments = ["train", *map(str, parts), "-o", str(tmp_path / "model"), "--engine", "local", "--workers", "1"]
    detected, left_out, *lines = CliRunner().invoke(main, arguments).stderr.splitlines()
    assert detected == f"{parts[0]}: svmlight; task classify, AutoClassifier"
    assert "take no part: " in left_out
    assert len(lines) == 3
    assert lines[1].startswith(f"pass 1, {parts[1]}: 110 examples, ")


def test_more_passes_continue_from_a_checkpoint(parts, tmp_path):
    local = ("--engine", "local", "--workers", 1)
    onmargin("train", *parts, "-o", tmp_path / "whole", *local, "--passes", 3)
    onmargin("train", *parts, "-o", tmp_path / "half", *local, "--passes", 1)
    assert load_with_notes(tmp_path / "half")[1]["scale"]["epochs"] == 1
    onmargin("train", *parts, "-o", tmp_path / "half", *local, "--passes", 3, "--resume")
    assert same_bytes(tmp_path / "half", tmp_path / "whole")
    wrong = onmargin("train", *parts[:2], "-o", tmp_path / "half", *local, "--resume", code=1)
    assert "a run with other shards" in wrong
    assert "is not a checkpoint" in onmargin("train", *parts, "-o", tmp_path / "half", "--resume", code=1)


def test_errors_are_one_line(parts, tmp_path):
    out = ("-o", tmp_path / "model")
    local = ("--engine", "local", "--workers", 1)
    parts[1].write_text("1 1:0.5\n1 1:oops\n")
    assert f"{parts[1]}, line 2, record 2" in onmargin("train", *parts, *out, *local, code=1)
    assert not (tmp_path / "model").exists()
    assert "--workers is for --engine" in onmargin("train", *parts, *out, "--workers", 2, code=2)
    assert "the standard input is not a file" in onmargin("train", "-", *out, *local, code=2)
    assert "no --from" in onmargin("train", parts[0], *out, *local, "--from", "x", code=2)
    assert "--address is for --engine ray" in onmargin("train", parts[0], *out, *local, "--address", "auto", code=2)
    novelty = onmargin("train", parts[0], *out, *local, "--task", "novelty", code=1)
    assert "cannot be mixed" in novelty


def test_experts_that_shards_leave_out_are_named(parts, tmp_path):
    local = ("--engine", "local", "--workers", 1)
    assert "; forest" in said("train", *parts, "-o", tmp_path / "auto", *local)
    assert "take no part" not in said("train", *parts, "-o", tmp_path / "one", *local, "--C", 1)
