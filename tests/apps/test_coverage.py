"""`--coverage` and `--abstain`: prediction sets, intervals and abstaining on the command line."""

import csv
import json

import numpy as np
import pytest

import onmargin as library
from onmargin.apps.serve.client import Client
from onmargin.apps.serve.connection import ServiceError
from onmargin.confidence import Intervals, PredictionSets
from tests.apps.program import onmargin, report, svmlight
from tests.apps.serving import served

N = 600


def table(path, target, n=N):
    """Write a table of three columns and a label."""
    rng = np.random.default_rng(0)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["a", "b", "low", "y"])
        for row in rng.standard_normal((n, 3)):
            out.writerow([*row.round(4).tolist(), target(row.sum(), rng)])
    return path


@pytest.fixture
def classes(tmp_path):
    data = table(tmp_path / "a.csv", lambda s, rng: "yes" if 2 * s + rng.logistic() > 0 else "no")
    onmargin("train", data, "-o", tmp_path / "model", "--coverage", "0.8", "--model", "AROWClassifier")
    return data, tmp_path / "model"


def test_sets_are_trained_saved_predicted_and_measured(classes, tmp_path):
    data, path = classes
    sets = library.load(path)
    assert isinstance(sets, PredictionSets)
    found = report("train", data, "-o", tmp_path / "again", "--coverage", "0.8", "--model", "AROWClassifier")
    assert found["coverage"] == sets.coverage_.covered
    assert found["mean_set_size"] == sets.coverage_.size
    assert found["asked_coverage"] == 0.8
    assert abs(found["coverage"] - 0.8) <= found["coverage_bound"] == sets.coverage_.bound
    with data.open() as file:
        rows = [{name: float(row[name]) for name in ("a", "b", "low")} for row in csv.DictReader(file)]
    lines = [json.loads(line) for line in onmargin("predict", path, data, "--json").splitlines()]
    assert [line["prediction_set"] for line in lines] == [sets.predict_set_one(row) for row in rows]
    assert len({len(line["prediction_set"]) for line in lines}) > 1
    text = onmargin("predict", path, data).splitlines()
    assert text == [f"{line['prediction']}\t{','.join(line['prediction_set'])}" for line in lines]
    onmargin("predict", path, data, "-o", tmp_path / "out.csv")
    with (tmp_path / "out.csv").open() as file:
        written = list(csv.DictReader(file))
    assert [*written[0]] == ["a", "b", "low", "y", "prediction", "prediction_set"]
    measured = report("evaluate", path, data)
    hits = [row["y"] in row["prediction_set"].split() for row in written]
    assert measured["coverage"] == np.mean(hits)
    assert report("inspect", path)["coverage"] == 0.8


def test_intervals(tmp_path):
    data = table(tmp_path / "a.csv", lambda s, rng: round(s + rng.exponential(), 4))
    path = tmp_path / "model"
    found = report("train", data, "-o", path, "--coverage", "0.9", "--task", "regress", "--model", "AROWRegressor")
    assert isinstance(library.load(path), Intervals)
    assert abs(found["coverage"] - 0.9) <= found["coverage_bound"]
    assert found["mean_interval_width"] > 0
    lines = [json.loads(line) for line in onmargin("predict", path, data, "--json").splitlines()]
    assert all(line["prediction_low"] < line["prediction"] < line["prediction_high"] for line in lines)
    assert 0.8 < report("evaluate", path, data)["coverage"] <= 1


def test_an_interval_without_ends_is_null_in_json(tmp_path):
    data = table(tmp_path / "a.csv", lambda s, rng: round(s, 3))
    path = tmp_path / "model"
    onmargin("train", data, "-o", path, "--coverage", "0.9", "--task", "regress", "--C", "1")
    intervals = library.load(path)
    intervals._trackers["both"].level = 1.0
    _, notes = library.io.load_with_notes(path)
    library.save(intervals, path, notes=notes)
    line = json.loads(onmargin("predict", path, data, "--json").splitlines()[0])
    assert line["prediction_low"] is line["prediction_high"] is None
    assert onmargin("predict", path, data).splitlines()[0].endswith("\t-inf\tinf")
    assert report("evaluate", path, data)["mean_interval_width"] is None


def test_later_passes_are_not_evaluated(tmp_path):
    data = table(tmp_path / "a.csv", lambda s, rng: "yes" if s + rng.logistic() > 0 else "no")
    onmargin("train", data, "-o", tmp_path / "model", "--coverage", "0.8", "--C", "1", "--passes", "3")
    sets = library.load(tmp_path / "model")
    assert sets.coverage_.rounds == N - 1
    assert sets.model.totals_.rounds == 3 * N


def test_a_run_continues(tmp_path):
    data = table(tmp_path / "a.csv", lambda s, rng: "yes" if s + rng.logistic() > 0 else "no")
    lines = data.read_text().splitlines(keepends=True)
    first, second = tmp_path / "b.csv", tmp_path / "c.csv"
    first.write_text("".join(lines[:300]))
    second.write_text("".join([lines[0], *lines[300:]]))
    options = ("--coverage", "0.8", "--C", "1")
    onmargin("train", data, "-o", tmp_path / "whole", *options)
    onmargin("train", first, "-o", tmp_path / "part", *options)
    onmargin("train", second, "-o", tmp_path / "more", "--from", tmp_path / "part")
    whole, more = (library.load(tmp_path / name) for name in ("whole", "more"))
    assert whole.coverage_ == more.coverage_
    assert "coverage" in onmargin("train", second, "-o", tmp_path / "no", "--from", tmp_path / "part", *options, code=2)


def test_rows_that_become_wider(tmp_path):
    data = svmlight(tmp_path / "a.svm")
    wider = tmp_path / "b.svm"
    wider.write_text("\n".join(line + " 999:0.1" for line in data.read_text().splitlines()) + "\n")
    found = report("train", data, wider, "-o", tmp_path / "model", "--coverage", "0.8")
    assert abs(found["coverage"] - 0.8) <= found["coverage_bound"]
    assert len(json.loads(onmargin("predict", tmp_path / "model", wider, "--json").splitlines()[0])) == 3


def test_label_sets(tmp_path):
    rng = np.random.default_rng(0)
    with (tmp_path / "a.jsonl").open("w") as file:
        for row in rng.standard_normal((300, 3)).tolist():
            labels = [name for name, value in zip("xyz", row, strict=True) if value + rng.standard_normal() > 0]
            file.write(json.dumps({"features": dict(zip("abc", row, strict=True)), "label": labels}) + "\n")
    found = report("train", tmp_path / "a.jsonl", "-o", tmp_path / "model", "--task", "rank", "--coverage", "0.8")
    assert abs(found["coverage"] - 0.8) <= found["coverage_bound"]
    measured = report("evaluate", tmp_path / "model", tmp_path / "a.jsonl")
    assert 0.6 < measured["coverage"] <= 1


def test_abstaining(classes, tmp_path):
    data, path = classes
    lines = [json.loads(line) for line in onmargin("predict", path, data, "--json", "--proba").splitlines()]
    kept = [json.loads(line) for line in onmargin("predict", path, data, "--json", "--abstain", "0.2").splitlines()]
    sure = [max(line["probabilities"].values()) >= 0.8 for line in lines]
    assert [line["prediction"] is not None for line in kept] == sure
    assert 0 < sum(sure) < N
    empty = [not line.split("\t")[0] for line in onmargin("predict", path, data, "--abstain", "0.2").splitlines()]
    assert empty == [not one for one in sure]
    found = report("evaluate", path, data, "--abstain", "0.2")
    assert found["abstained"] == pytest.approx(1 - sum(sure) / N)
    assert found["error_of_decided"] < found["error"]
    mistakes = found["error_of_decided"] * sum(sure)
    assert found["mean_cost"] == pytest.approx((mistakes + 0.2 * (N - sum(sure))) / N)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--coverage", "1"], "not in the range"),
        (["--coverage", "0.9", "--engine", "local"], "leave --engine out"),
        (["--coverage", "0.9", "--task", "ordinal", "--set", "ranks=[0, 1]"], "OrdinalRegressor is none of them"),
    ],
)
def test_incompatible_options_are_refused(options, words, tmp_path):
    data = table(tmp_path / "a.csv", lambda s, rng: int(s > 0), 20)
    assert words in onmargin("train", data, "-o", tmp_path / "model", *options, code=2)


@pytest.mark.parametrize(
    ("task", "target"),
    [
        ("classify", lambda s, rng: "yes" if s + rng.logistic() > 0 else "no"),
        ("regress", lambda s, rng: round(s + rng.exponential(), 4)),
    ],
)
def test_sets_and_intervals_are_served(tmp_path, task, target):
    """The service refused files with them, although `onmargin train` writes them."""
    data, path = table(tmp_path / "a.csv", target), tmp_path / "model"
    found = report("train", data, "-o", path, "--coverage", "0.8", "--task", task)
    alone = library.load(path)
    with open(data, newline="") as file:
        rows = list(csv.DictReader(file))
    ask = alone.predict_set_one if task == "classify" else alone.predict_interval_one
    with served(tmp_path / "service") as http, Client(str(http.base_url)) as client:
        client.upload("covered", path)
        assert client.model("covered")["coverage"]["covered"] == pytest.approx(found["coverage"])
        assert list(map(tuple, client.predict_sets("covered", rows))) == [tuple(ask(row)) for row in rows]
        *_, label = rows[0]
        y = [float(row[label]) if task == "regress" else row[label] for row in rows]
        client.learn_many("covered", rows[:50], y[:50])
        for row, one in zip(rows[:50], y[:50], strict=True):
            alone.learn_one(row, one)
        assert list(map(tuple, client.predict_sets("covered", rows))) == [tuple(ask(row)) for row in rows]
    with served(tmp_path / "service") as http, Client(str(http.base_url)) as client:
        assert list(map(tuple, client.predict_sets("covered", rows))) == [tuple(ask(row)) for row in rows]


def test_other_sets_are_not_served(classes, tmp_path):
    path = classes[1]
    library.save(PredictionSets(library.load(path).model, 0.8, nonempty=True), path)
    with (
        served(tmp_path / "service") as http,
        Client(str(http.base_url)) as client,
        pytest.raises(ServiceError, match="with nonempty=True cannot be served"),
    ):
        client.upload("covered", path)


def test_a_snapshot_with_a_coverage_can_be_read(tmp_path):
    """No file of a service with prediction sets could be loaded: its whole numbers were read as floats."""
    with served(tmp_path / "service") as http, Client(str(http.base_url)) as client:
        client.create("covered", coverage=0.8)
        rows = [{"a": k % 7} for k in range(60)]
        client.learn_many("covered", rows, ["yes" if row["a"] > 3 else "no" for row in rows])
        client.download("covered", tmp_path / "file")
        client.upload("again", tmp_path / "file")
        assert client.model("again")["coverage"] == client.model("covered")["coverage"]
