"""Checkpoints: however a run ends, --resume continues as if it had not been interrupted."""

import json
import random
import signal
from functools import partial

import numpy as np
import pytest

from onmargin._core.files.checksum import add_words
from onmargin.apps.chunks import Chunk, Digest
from onmargin.io import load_with_notes
from onmargin.io.svmlight import SparseRows
from tests.apps.program import conll, jsonl, onmargin, report, start, svmlight
from tests.saved import same_bytes
from tests.waiting import LIMIT, wait_until


def train_arguments(kind, folder):
    if kind == "svmlight":
        # Rows become wider: the weights grow during training.
        data = [svmlight(folder / f"{k}.svm", 400, seed=k, n_features=20 * (k + 1)) for k in range(2)]
        return [*data, "--passes", 2, "--average"]
    if kind == "conll":
        return [conll(folder / "a.conll", 60)]
    return [jsonl(folder / "a.jsonl", 500, n_features=60), jsonl(folder / "b.jsonl", 300, seed=1), "--average"]


def contents(path):
    return path.read_bytes() if path.exists() else b""


def ended_or_written(process, path, before):
    return process.poll() is not None or contents(path) != before


@pytest.mark.parametrize(
    "kind", [pytest.param("svmlight", marks=pytest.mark.full), "jsonl", pytest.param("conll", marks=pytest.mark.full)]
)
def test_killed_runs_end_with_the_same_bytes(tmp_path, kind):
    arguments = train_arguments(kind, tmp_path)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    onmargin("train", *arguments, "-o", whole)
    random_ = random.Random(kind)
    deaths = 0
    while deaths < 3:
        process = start("train", *arguments, "-o", killed, "--checkpoint-every", 7, "--resume", stdout=-3)
        try:
            for _ in range(random_.randint(1, 5)):  # checkpoints before the kill
                wait_until(partial(ended_or_written, process, killed, contents(killed)))
        finally:
            process.kill()
            process.communicate()
        if process.returncode == -signal.SIGKILL:
            deaths += 1
        else:  # it was faster than this process
            killed.unlink()
    onmargin("train", *arguments, "-o", killed, "--resume")
    assert same_bytes(killed, whole)
    # A run killed while it wrote leaves only its unfinished file, which is hidden.
    assert {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")} == {
        *(str(a.name) for a in arguments if hasattr(a, "name")),
        "whole",
        "killed",
    }


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.full), signal.SIGTERM])
def test_a_stop_signal_leaves_a_checkpoint(tmp_path, number):
    data = jsonl(tmp_path / "a.jsonl", 2000)
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    onmargin("train", data, "-o", whole)
    # No more data arrive: the program waits.
    process = start("train", "-", "-o", stopped, "--checkpoint-every", 1000, stdin=-1)
    lines = data.read_bytes().splitlines(keepends=True)
    process.stdin.write(b"".join(lines[:1500]))
    process.stdin.flush()
    wait_until(stopped.exists)  # it has learned the data so far
    process.send_signal(number)
    _, message = process.communicate(timeout=LIMIT)
    assert process.returncode == 128 + number
    assert b"1000 examples are learned" in message
    assert b"--resume" in message
    _, notes = load_with_notes(stopped)
    assert notes["position"] == [0, 0, 1000]
    onmargin("train", "-", "-o", stopped, "--resume", stdin=data.read_bytes())
    assert load_with_notes(stopped)[0].totals_ == load_with_notes(whole)[0].totals_


def test_resume_without_a_checkpoint_begins(tmp_path):
    data, out = svmlight(tmp_path / "a.svm"), tmp_path / "model"
    assert report("train", data, "-o", out, "--resume")["examples"] == 300


def test_resume_of_a_finished_run_learns_nothing_and_more_passes_do(tmp_path):
    data, out, twice = svmlight(tmp_path / "a.svm"), tmp_path / "model", tmp_path / "twice"
    onmargin("train", data, "-o", out)
    done = out.read_bytes()
    assert report("train", data, "-o", out, "--resume")["examples"] == 300
    assert out.read_bytes() == done
    onmargin("train", data, "-o", out, "--resume", "--passes", 2)
    onmargin("train", data, "-o", twice, "--passes", 2)
    assert same_bytes(out, twice)


def test_a_bad_record_keeps_earlier_ones_and_says_how_to_continue(tmp_path):
    data, out = jsonl(tmp_path / "a.jsonl", 50), tmp_path / "model"
    good = data.read_text().splitlines()
    data.write_text("\n".join([*good[:30], "{broken", *good[31:]]) + "\n")
    message = onmargin("train", data, "-o", out, code=1)
    assert "a.jsonl, line 31, record 31: the line is not JSON" in message
    assert "30 examples are learned and kept in" in message
    assert "--resume" in message
    assert "Traceback" not in message
    data.write_text("\n".join(good) + "\n")
    onmargin("train", data, "-o", out, "--resume")
    onmargin("train", data, "-o", tmp_path / "whole")
    assert same_bytes(out, tmp_path / "whole")


@pytest.mark.parametrize("kind", ["svmlight", "jsonl"])
def test_a_refused_label_is_a_bad_record(tmp_path, kind):
    out = tmp_path / "model"
    if kind == "jsonl":
        data = jsonl(tmp_path / "a.jsonl", 50)
        lines = data.read_text().splitlines()
        lines[40] = json.dumps({"x": {"f1": 1.0}, "y": 3})
    else:
        data = svmlight(tmp_path / "a.svm", 50)
        lines = data.read_text().splitlines()
        lines[40] = "1.5 2:1"
    data.write_text("\n".join(lines) + "\n")
    message = onmargin("train", data, "-o", out, "--task", "classify", code=1)
    assert "record 41: " in message
    assert "40 examples are learned" in message
    _, notes = load_with_notes(out)
    assert notes["position"] == [0, 0, 40]


def test_another_run_is_not_resumed(tmp_path):
    data, out = svmlight(tmp_path / "a.svm"), tmp_path / "model"
    onmargin("train", data, "-o", out)
    before = out.read_bytes()
    assert "other parameters" in onmargin("train", data, "-o", out, "--resume", "--C", 0.5, code=1)
    other = svmlight(tmp_path / "b.svm")
    assert "other files" in onmargin("train", other, "-o", out, "--resume", code=1)
    svmlight(data, 10)
    onmargin("train", data, "-o", out, "--resume")
    assert out.read_bytes() == before


def test_a_run_is_resumed_with_another_number_of_threads(tmp_path):
    data, out = jsonl(tmp_path / "a.jsonl", 50), tmp_path / "model"
    good = data.read_text()
    data.write_text(good[: good.rindex("{")] + "{broken\n")
    onmargin("train", data, "-o", out, "--set", "n_jobs=2", code=1)
    data.write_text(good)
    onmargin("train", data, "-o", out, "--resume", "--set", "n_jobs=1")
    model, notes = load_with_notes(out)
    assert model.totals_.rounds == 50
    assert model.features.n_jobs == 1
    # It is not among the parameters that must be the same.
    assert "n_jobs" not in notes["options"]["parameters"]


def test_a_file_that_became_shorter_is_another_file(tmp_path):
    data, out = jsonl(tmp_path / "a.jsonl", 50), tmp_path / "model"
    data.write_text(data.read_text() + "{broken")
    onmargin("train", data, "-o", out, code=1)
    jsonl(data, 20)
    assert "has 20 records" in onmargin("train", data, "-o", out, "--resume", code=1)


def edited(lines):
    """Yield edits of learned records: a name, and the lines."""
    label = ('"y": "', '"y": "x') if "{" in lines[0] else ("1", "2")
    yield "label", [lines[0].replace(*label, 1), *lines[1:]]
    yield "value", [*lines[:5], lines[5].replace("0.", "0.9", 1), *lines[6:]]
    yield "one less", lines[1:]
    yield "one more", [lines[0], *lines]
    yield "order", [lines[1], lines[0], *lines[2:]]
    if "{" not in lines[0]:
        label, (first, a), (second, b), *rest = (pair.split(":") for pair in lines[0].split())
        assert a != b
        swapped = [*label, f"{first}:{b}", f"{second}:{a}", *map(":".join, rest)]
        yield "places of values", [" ".join(swapped) + "\n", *lines[1:]]


@pytest.mark.parametrize("make", [svmlight, jsonl])
def test_records_that_were_learned_must_not_change(tmp_path, make):
    data, out = make(tmp_path / "data", 300), tmp_path / "model"
    lines = data.read_text().splitlines(keepends=True)
    data.write_text("".join(lines) + "broken\n")
    onmargin("train", data, "-o", out, "--checkpoint-every", 64, code=1)
    before = out.read_bytes()
    for name, changed in edited(lines):
        assert changed != lines, name
        data.write_text("".join(changed) + changed[-1])
        assert "has changed: its first 300 records" in onmargin("train", data, "-o", out, "--resume", code=1), name
        assert out.read_bytes() == before
    # A file that cannot be read does not invalidate the checkpoint.
    data.write_text("broken\n")
    assert "record 1" in onmargin("train", data, "-o", out, "--resume", code=1)
    assert out.read_bytes() == before
    # Later records may change.
    data.write_text("".join(lines) + lines[0])
    assert report("train", data, "-o", out, "--resume", "--checkpoint-every", 7)["examples"] == 301
    whole = tmp_path / "whole"
    onmargin("train", data, "-o", whole)
    assert same_bytes(out, whole)


def test_digests_depend_on_examples_and_not_on_blocks():
    mixed = Chunk(["a", {"x": 1.0}, "b\n", ["c"]], ["y", "n", "y", "n"], [1.0, 2.0, 1.0, 1.0])

    def digest(*chunks):
        made = Digest()
        for chunk in chunks:
            made.update(chunk)
        return str(made)

    whole = digest(mixed)
    assert all(digest(mixed.part(0, k), mixed.part(k, 4)) == whole for k in range(5))
    others = [
        mixed._replace(X=["a", {"x": 1.0}, "b", ["c"]]),
        mixed._replace(X=["a", {"x": 1.5}, "b\n", ["c"]]),
        mixed._replace(y=["y", "y", "y", "n"]),
        mixed._replace(weights=None),
    ]
    assert len({whole, *map(digest, others)}) == 5


def test_checksums_are_polynomials():
    """Their values are in checkpoints, and must stay as they are."""
    words = np.random.default_rng(0).integers(0, 2**32, 100, np.uint32)
    for n in range(100):
        checksum = 7
        for word in words[:n].tolist():
            checksum = (checksum * 0x9E3779B97F4A7C15 + word) % 2**64
        assert add_words(words[:n].view(np.float32), 7) == checksum


def test_digests_of_rows_tell_them_apart_and_not_how_they_are_cut():
    rng = np.random.default_rng(0)
    ends = np.cumsum([0, 3, 0, 5, 1, 2], dtype=np.int32)
    X = SparseRows(rng.random(11).astype(np.float32), rng.integers(0, 9, 11, np.int32), ends, (5, 9))
    rows = Chunk(X, np.arange(5.0))

    def digest(*chunks):
        made = Digest()
        for chunk in chunks:
            made.update(chunk)
        return str(made)

    whole = digest(rows)
    assert all(digest(rows.part(0, k), rows.part(k, 5)) == whole for k in range(6))
    others = {digest(Chunk(X, rows.y[::-1].copy())), digest(rows.part(0, 4))}
    for k in range(11):
        data, indices = X.data.copy(), X.indices.copy()
        data[k] += 1
        indices[k] += 1
        others |= {digest(Chunk(X._replace(data=data), rows.y)), digest(Chunk(X._replace(indices=indices), rows.y))}
    assert len(others) == 24
    assert whole not in others
