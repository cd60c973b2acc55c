"""`onmargin predict`, `evaluate`, `inspect` and `convert`."""

import json

import numpy as np
import pytest

import onmargin as library
from onmargin import stream
from onmargin.io import read_csv, read_jsonl, read_svmlight, read_vw
from tests.apps.program import conll, jsonl, onmargin, report, start, svmlight
from tests.waiting import LIMIT


@pytest.fixture
def rows(tmp_path):
    data, model = svmlight(tmp_path / "a.svm"), tmp_path / "model"
    onmargin("train", data, "-o", model)
    return data, model


@pytest.fixture
def records(tmp_path):
    data, model = jsonl(tmp_path / "a.jsonl"), tmp_path / "model"
    onmargin("train", data, "-o", model)
    return data, model


def test_predictions_are_those_of_the_model(records):
    data, path = records
    model = library.load(path)
    expected = [model.predict_one(x) for x, _, _ in read_jsonl(data)]
    assert onmargin("predict", path, data).splitlines() == expected
    assert onmargin("predict", path, "-", stdin=data.read_bytes()).splitlines() == expected
    lines = [json.loads(line) for line in onmargin("predict", path, data, "--json").splitlines()]
    assert [line["prediction"] for line in lines] == expected
    assert lines[7]["scores"] == model.scores_one(list(read_jsonl(data))[7].x)


def test_rows_without_labels_are_predicted_alike(rows, tmp_path):
    data, path = rows
    bare = tmp_path / "bare.svm"
    bare.write_text("\n".join(line.partition(" ")[2] for line in data.read_text().splitlines()) + "\n")
    assert onmargin("predict", path, data) == onmargin("predict", path, bare)
    assert "no labels" in onmargin("evaluate", path, bare, code=1)


def test_features_that_were_never_learned_are_ignored(rows, tmp_path):
    data, path = rows
    wider = tmp_path / "wider.svm"
    wider.write_text("\n".join(line + " 999:5" for line in data.read_text().splitlines()) + "\n")
    assert onmargin("predict", path, wider, "--json") == onmargin("predict", path, data, "--json")


def test_examples_through_a_pipe_are_answered_at_once(records):
    data, path = records
    process = start("predict", path, "-", stdin=-1, stdout=-1)
    try:
        for line in data.read_bytes().splitlines(keepends=True)[:3]:
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline().strip() in {b"yes", b"no"}
    finally:
        process.communicate(timeout=LIMIT)


def test_a_bad_record_stops_predictions_after_those_before(records):
    data, path = records
    lines = data.read_text().splitlines()
    data.write_text("\n".join([*lines[:20], "{", *lines[20:]]))
    from click.testing import CliRunner

    from onmargin.apps.cli import main

    result = CliRunner().invoke(main, ["predict", str(path), str(data)])
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 20
    assert "record 21" in result.stderr


def test_sequences_are_predicted_token_by_token(tmp_path):
    data, path = conll(tmp_path / "a.conll"), tmp_path / "model"
    onmargin("train", data, "-o", path, "--passes", 3)
    labels = [line.split()[-1] if line else "" for line in data.read_text().splitlines()]
    assert onmargin("predict", path, data).splitlines() == labels
    bare = tmp_path / "bare.conll"
    bare.write_text("\n".join(" ".join(line.split()[:-1]) for line in data.read_text().splitlines()) + "\n")
    assert onmargin("predict", path, bare).splitlines() == labels
    done = report("evaluate", path, data)
    assert done["f1"] == done["accuracy"] == 1.0
    assert done["spans"]["NP"]["examples"] == 30
    assert "B-NP" in onmargin("inspect", path)


def test_classes_are_evaluated(rows):
    data, path = rows
    done = report("evaluate", path, data)
    predicted = np.array(onmargin("predict", path, data).split(), int)
    ((_, y, _),) = read_svmlight(data)
    assert done["accuracy"] == np.mean(predicted == y)
    confusion = done["confusion"]
    assert confusion["-1"]["1"] == np.sum((y == -1) & (predicted == 1))
    assert "confusion" in onmargin("evaluate", path, data)


def test_numbers_are_evaluated(tmp_path):
    data, path = svmlight(tmp_path / "a.svm", label=lambda score: round(score, 3)), tmp_path / "model"
    onmargin("train", data, "-o", path)
    done = report("evaluate", path, data)
    predicted = np.array(onmargin("predict", path, data).split(), float)
    ((_, y, _),) = read_svmlight(data)
    assert done["mae"] == pytest.approx(np.abs(predicted - y).mean())
    assert done["rmse"] == pytest.approx(np.sqrt(((predicted - y) ** 2).mean()))
    assert done["r2"] == pytest.approx(1 - ((predicted - y) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def test_label_sets_are_evaluated(tmp_path):
    data = jsonl(tmp_path / "a.jsonl", label=lambda score: [n for n in "abc" if ord(n) - 98 < score])
    path = tmp_path / "model"
    onmargin("train", data, "-o", path)
    done = report("evaluate", path, data)
    pairs = [
        (set(y), set(line["prediction"]))
        for (_, y, _), line in zip(
            read_jsonl(data), map(json.loads, onmargin("predict", path, data, "--json").splitlines()), strict=True
        )
    ]
    assert done["exact_match"] == pytest.approx(np.mean([a == b for a, b in pairs]))
    assert done["recall"] == pytest.approx(sum(len(a & b) for a, b in pairs) / sum(len(a) for a, _ in pairs))


def test_inspect_shows_the_model(records, rows):
    _, path = rows
    done = report("inspect", path, "--top", 3)
    model = library.load(path)
    assert done["class"] == "AutoClassifier"
    assert done["totals"] == dict(model.totals_)
    # Features of svmlight files count from 1.
    assert done["heaviest_features"] == {str(k + 1): w for k, w in model.weights(top=3).items()}
    assert done["parameters"]["experts"] == "all"


@pytest.mark.parametrize("n_classes", [2, 3])
def test_inspect_shows_a_linear_expert_where_a_forest_leads(tmp_path, n_classes):
    X = np.random.default_rng(0).uniform(-1, 1, (600, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, 0) + (n_classes == 3) * (X[:, 2] > 0.8)
    data, path = tmp_path / "data.csv", tmp_path / "model"
    data.write_text("a,b,c,label\n" + "".join(f"{a},{b},{c},class {k}\n" for (a, b, c), k in zip(X, y, strict=True)))
    report("train", data, "-o", path, "-q")
    results, found = library.load(path).experts_, report("inspect", path)
    assert results.coef[results.leader] is None
    assert found["leading_model"] == results.names[results.leader]
    best = results.names.index(found["heaviest_features_of"])
    linear = [m for m, weights in enumerate(results.coef) if weights is not None and weights.any()]
    assert results.lost[best] == min(results.lost[m] for m in linear)
    features = found["heaviest_features"]
    for named in features.values() if n_classes == 3 else [features]:
        assert set(named) == {"a", "b", "c"}


def test_tables_of_words_begin_at_the_same_place(rows):
    _, path = rows
    lines = onmargin("inspect", path).splitlines()
    table = lines[lines.index("parameters") + 1 : lines.index("totals") - 1]
    assert len({len(line) - len(line.split(maxsplit=1)[1]) for line in table}) == 1


def test_inspect_takes_any_model(tmp_path):
    path = tmp_path / "model"
    library.save(library.PassiveAggressiveClassifier().partial_fit([[0.0, 1.0], [2.0, 0.0]], ["a", "b"]), path)
    assert report("inspect", path)["heaviest_features"].keys() == {"0", "1"}
    library.save(stream.PassiveAggressiveRegressor(), path)
    assert report("inspect", path)["features"] == 0


def test_svmlight_converts_to_json_and_back(tmp_path):
    data = svmlight(tmp_path / "a.svm")
    lines, again = tmp_path / "a.jsonl", tmp_path / "b.svm"
    onmargin("convert", data, "--to", "jsonl", "-o", lines)
    onmargin("convert", lines, "--to", "svmlight", "-o", again)
    ((X, y, _),), ((X2, y2, _),) = read_svmlight(data), read_svmlight(again)
    assert abs(X - X2).max() == 0
    np.testing.assert_array_equal(y, y2)
    assert onmargin("convert", "-", "--to", "jsonl", stdin=data.read_bytes()) == lines.read_text()


def test_a_table_converts_to_every_format(tmp_path):
    data, names = tmp_path / "a.csv", tmp_path / "names"
    data.write_text("size,colour,y\n1.5,dark red,1\n,blue,-1\n")
    out = onmargin("convert", data, "--to", "svmlight", "--names", names)
    assert out == "1 1:1.5 2:1.0\n-1 3:1.0\n"
    assert names.read_text().splitlines() == ["size", "colour=dark red", "colour=blue"]
    assert "--names" in onmargin("convert", data, "--to", "svmlight", code=1)
    vw = tmp_path / "a.vw"
    onmargin("convert", data, "--to", "vw", "-o", vw)
    assert [record.x for record in read_vw(vw)] == [{"size": 1.5, "colour=dark_red": 1.0}, {"colour=blue": 1.0}]
    again = tmp_path / "b.csv"
    onmargin("convert", data, "--to", "csv", "-o", again)
    assert list(read_csv(again)) == list(read_csv(data))


def test_values_that_a_format_cannot_store_are_refused(tmp_path):
    data = tmp_path / "a.jsonl"
    data.write_text('{"x": {"a": 1}, "y": "p"}\n{"x": {"b": 1}, "y": "q"}\n')
    assert "record 1: labels are numbers" in onmargin("convert", data, "--to", "vw", code=1)
    assert "record 2: the first example has no column 'b'" in onmargin("convert", data, "--to", "csv", code=1)
    assert "only a text" in onmargin("convert", data, "--to", "text", code=1)
    assert "sequences" in onmargin("convert", conll(tmp_path / "a.conll"), "--to", "jsonl", code=1)
    data.write_text('{"text": "a\\tb c", "y": "p"}\n')
    assert onmargin("convert", data, "--to", "text") == "p\ta b c\n"
    assert "write it as jsonl or text" in onmargin("convert", data, "--to", "svmlight", code=1)


def test_classes_are_measured_as_scikit_learn_measures_them(tmp_path):
    from sklearn import metrics

    for n_classes, average in ((2, "binary"), (3, "macro")):
        data = svmlight(tmp_path / "a.svm", label=lambda score, n=n_classes: int((score > 0) + (n > 2 and score > 2)))
        path = tmp_path / "model"
        onmargin("train", data, "-o", path)
        done = report("evaluate", path, data)
        ((_, y, _),) = read_svmlight(data)
        lines = [json.loads(line) for line in onmargin("predict", path, data, "--json").splitlines()]
        predicted = [line["prediction"] for line in lines]
        scores = np.array([[line["scores"][str(k)] for k in range(n_classes)] for line in lines])
        expected = metrics.precision_recall_fscore_support(y, predicted, average=average, zero_division=0)
        for name, value in zip(("precision", "recall", "f1"), expected, strict=False):
            assert done[name] == pytest.approx(value), name
        areas = [metrics.roc_auc_score(y == k, scores[:, k]) for k in range(n_classes)]
        assert done["auc"] == pytest.approx(areas[1] if n_classes == 2 else np.mean(areas))
        assert done["per_class"]["1"]["examples"] == (y == 1).sum()


def keys(value):
    """Return the keys of a report, except for the names of classes, features and passes."""
    named = {"per_class", "confusion", "heaviest_features", "spans", "labels", "later_passes", "held_out", "parameters"}
    for key, inner in value.items():
        yield key
        if isinstance(inner, dict) and key not in {*named, "strongest_transitions"}:
            yield from keys(inner)


def test_keys_of_json_are_identifiers(tmp_path):
    numbers = svmlight(tmp_path / "b.svm", label=lambda score: round(score, 3))
    sets = jsonl(tmp_path / "c.jsonl", label=lambda score: ["p"] if score > 0 else ["q", "r"])
    path = tmp_path / "model"
    for data in (svmlight(tmp_path / "a.svm"), numbers, sets, conll(tmp_path / "a.conll")):
        reports = [report("train", data, "-o", path, "--passes", 2, "--holdout", 5), report("evaluate", path, data)]
        for found in (*reports, report("inspect", path)):
            assert [key for key in keys(found) if not key.isidentifier()] == []


def test_a_file_of_unknown_features_is_noticed(tmp_path):
    from click.testing import CliRunner

    from onmargin.apps.cli import main

    texts = {"text": "spam\tcheap pills now\nham\tlunch at noon\n" * 20, "strange": "ham\tsie lacht\nspam\tdu nicht\n"}
    tables = {"text": "age,size,y\n" + "1,2,p\n3,1,q\n" * 20, "strange": "a;b;y\n1;2;p\n3;1;q\n"}
    rows = {"text": "1 1:1\n-1 2:1\n" * 20, "strange": "1 7:1\n-1 8:1\n"}
    tags = {"text": "the DT B\ndog NN I\n\n" * 20, "strange": "der ART B\nHund N I\n\n"}
    model = tmp_path / "model"
    for files in (texts, tables, rows, tags):
        known, strange = tmp_path / "known", tmp_path / "strange"
        known.write_text(files["text"])
        strange.write_text(files["strange"])
        template = ["--template", "w[0]"] if files is tags else []
        onmargin("train", known, "-o", model, *template)
        for command in ("predict", "evaluate"):
            result = CliRunner().invoke(main, [command, str(model), str(strange)])
            assert result.exit_code == 0, result.output
            assert result.stderr.startswith("warning: ")
            assert "known" not in CliRunner().invoke(main, [command, str(model), str(known)]).stderr
            onmargin(command, model, known, "--strict")
            assert "Error: " in onmargin(command, model, strange, "--strict", code=1)


def test_predictions_are_written_with_the_columns_of_the_input(tmp_path):
    data, model = tmp_path / "a.csv", tmp_path / "model"
    data.write_text("id,size,note,y\n" + "".join(f"{k:03d},{k % 5},'{k}',{'ab'[k % 5 > 2]}\n" for k in range(40)))
    onmargin("train", data, "-o", model)
    new = tmp_path / "new.csv"
    new.write_text('id,size,note\n007,4,"x, y"\n008,0,\n')
    out = tmp_path / "out.csv"
    assert onmargin("predict", model, new, "-o", out) == ""
    assert out.read_text() == 'id,size,note,prediction\n007,4,"x, y",b\n008,0,,a\n'
    assert "already" in onmargin("predict", model, new, "-o", out, code=1)
    onmargin("predict", model, new, "-o", out, "--force", "--keep", "id")
    assert out.read_text() == "id,prediction\n007,b\n008,a\n"
    onmargin("predict", model, new, "-o", tmp_path / "out.jsonl")
    first, _ = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert (first["id"], first["prediction"]) == ("007", "b")
    onmargin("predict", model, new, "-o", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == "b\na\n"
    assert "is an input" in onmargin("predict", model, new, "-o", new, "--force", code=1)


def test_labels_that_become_numbers_keep_their_names(tmp_path):
    data, names, labels = tmp_path / "a.csv", tmp_path / "names", tmp_path / "labels"
    data.write_text("size,kind\n1.5,red\n2,blue\n3,red\n")
    assert "--labels FILE" in onmargin("convert", data, "--to", "svmlight", "--names", names, code=1)
    assert not names.exists()
    out = onmargin("convert", data, "--to", "svmlight", "--names", names, "--labels", labels)
    assert out == "1 1:1.5\n2 1:2.0\n1 1:3.0\n"
    assert labels.read_text() == "red\nblue\n"
    assert onmargin("convert", data, "--to", "vw", "--labels", labels, "--force").startswith("1 | size:1.5\n2 | ")
    assert "--labels is for" in onmargin("convert", data, "--to", "jsonl", "--labels", labels, "--force", code=2)


def test_probabilities_are_added(rows, tmp_path):
    data, path = rows
    lines = onmargin("predict", path, data, "--proba").splitlines()
    plain = onmargin("predict", path, data).splitlines()
    assert [line.split("\t")[0] for line in lines] == plain
    assert all(0 <= float(line.split("\t")[1]) <= 1 for line in lines)
    first = json.loads(onmargin("predict", path, data, "--proba", "--json").splitlines()[0])
    assert sum(first["probabilities"].values()) == pytest.approx(1)
    assert first["probability"] == first["probabilities"][str(first["prediction"])]
    onmargin("predict", path, data, "--proba", "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().startswith("prediction,probability\n")
    numbers = svmlight(tmp_path / "b.svm", label=lambda score: round(score, 3))
    onmargin("train", numbers, "-o", tmp_path / "b")
    assert "has no probabilities" in onmargin("predict", tmp_path / "b", numbers, "--proba", code=1)
