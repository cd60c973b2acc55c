"""Files of every format, every kind of model, the same result for any number of workers; and errors."""

import gzip
import json
from copy import deepcopy

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from onmargin import (
    AROWClassifier,
    BlockClassifier,
    DualAscentClassifier,
    LabelRanker,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    PassiveAggressiveUniclass,
    SequenceTagger,
    Winnow,
    io,
    load,
    scale,
    stream,
)
from onmargin.features import RecordFeatures, WindowFeatures
from onmargin.io import ReadError
from onmargin.io.model_file import to_bytes
from onmargin.scale import LocalEngine
from tests.shards import Rows

HERE = LocalEngine(1)


@pytest.fixture(scope="module")
def pair():
    engine = LocalEngine(2)
    yield engine
    engine.close()


@pytest.fixture
def rows(tmp_path):
    """Write shards of svmlight text, of different lengths and widths, one of them empty."""
    rng = np.random.default_rng(0)
    for k, n in enumerate([30, 0, 50, 20]):
        lines = []
        for _ in range(n):
            x = np.flatnonzero(rng.random(8 + k) < 0.4) + 1
            label = int(x.sum() % 3) if k else int(x.sum() % 2)
            lines.append(f"{label} " + " ".join(f"{j}:{rng.normal():.3f}" for j in x))
        (tmp_path / f"part{k}.svm").write_text("\n".join(lines) + "\n" * bool(lines))
    return io.shards(f"{tmp_path}/*.svm")


def table(folder, k, columns):
    pq.write_table(pa.table(columns), folder / f"part{k}.parquet")


@pytest.mark.parametrize(
    "model",
    [
        PassiveAggressiveClassifier(average=True),
        PassiveAggressiveRegressor(),
        AROWClassifier(average=True),
        stream.PassiveAggressiveClassifier(average=True, features=RecordFeatures(dtype="float32")),
        stream.PassiveAggressiveRegressor(),
    ],
    ids=repr,
)
def test_any_number_of_workers_gives_the_same(model, rows, pair):
    one, two = (scale.fit(fresh(model), rows, engine=engine, epochs=3) for engine in (HERE, pair))
    assert to_bytes(one) == to_bytes(two)
    assert one.totals_.rounds == 300


def fresh(model):
    return type(model)(**model.get_params())


def test_fit_of_an_estimator_takes_shards(rows):
    model = PassiveAggressiveClassifier(C=0.1)
    assert model.fit(rows, engine="local", workers=1, epochs=2, mixing="uniform") is model
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert model.n_features_in_ == 11
    assert model.n_iter_ == 2
    assert model.fit(rows, workers=1, epochs=1).totals_.rounds == 100  # starts over
    model.warm_start = True
    assert model.fit(rows, workers=1, epochs=1).totals_.rounds == 200


def test_columns_by_name_are_merged(tmp_path):
    """Shards have different columns and classes; Arrow has one thread, as in a Ray task."""
    table(tmp_path, 0, {"age": [1.0, 2.0], "town": ["Bonn", None], "label": ["old", "young"]})
    table(tmp_path, 1, {"height": [1.5, 1.7, 1.8], "age": [3.0, 1.0, 2.0], "label": ["tall", "old", "young"]})
    threads = pa.cpu_count()
    pa.set_cpu_count(1)
    try:
        model = PassiveAggressiveClassifier().fit(io.shards(f"{tmp_path}/*.parquet"), workers=1, epochs=2)
        named = scale.fit(
            stream.PassiveAggressiveClassifier(), io.shards(f"{tmp_path}/*.parquet"), engine=HERE, epochs=2
        )
    finally:
        pa.set_cpu_count(threads)
    assert model.feature_names_in_.tolist() == ["age", "town=Bonn", "height"]
    assert model.classes_.tolist() == named.classes_ == ["old", "tall", "young"]
    assert model.totals_ == named.totals_
    for label, weights in zip(model.classes_, model.coef_, strict=True):
        by_name = dict(zip(model.feature_names_in_, weights, strict=True))
        assert named.weights(label) == pytest.approx({name: w for name, w in by_name.items() if w})
    assert named.predict_one({"height": 1.6, "age": 3.0}) in named.classes_


WRITERS = {
    "csv": lambda k: f"word,size,label\nw{k},1.5,a\nw{k + 1},-1,b\n",
    "jsonl": lambda k: "".join(
        json.dumps({"x": {f"w{k + j}": 1.0}, "y": "ab"[j], "weight": j + 0.5}) + "\n" for j in (0, 1)
    ),
    "vw": lambda k: f"1 |f w{k}:0.5 v\n-1 2.0 |f w{k + 1}\n",
    "txt": lambda k: f"spam\tcheap pills {k}\nham\tlunch at noon {k}\n",
}


@pytest.mark.parametrize("ending", WRITERS)
def test_files_of_any_reader(ending, tmp_path):
    for k in range(3):
        data = WRITERS[ending](k).encode()
        (tmp_path / f"part{k}.{ending}.gz").write_bytes(gzip.compress(data))
    shards = io.shards(f"{tmp_path}/*")
    learner = stream.PassiveAggressiveClassifier(features=RecordFeatures(idf=ending == "txt"))
    model = scale.fit(learner, shards, engine=HERE, epochs=3)
    assert model.totals_.rounds == 18
    assert len(model.classes_) == 2
    assert model.n_features_ > 3


def test_document_frequencies_are_those_of_all_shards(tmp_path):
    for k, words in enumerate(["a b", "a c", "a d"]):
        (tmp_path / f"{k}.txt").write_text(f"x\t{words}\ny\tz {k}\n")
    shards = io.shards([tmp_path / f"{k}.txt" for k in range(3)], format="text")
    serial = stream.PassiveAggressiveClassifier(features=RecordFeatures(idf=True))
    model = scale.fit(deepcopy(serial), shards, engine=HERE, epochs=2)
    for _ in range(2):
        for shard in shards:
            for batch in shard.batches():
                serial.learn_many(batch.X, batch.y)
    assert model._frequencies.documents == serial._frequencies.documents == 12
    counts = dict(zip(model._names.names, model._frequencies.counts, strict=False))
    assert counts == dict(zip(serial._names.names, serial._frequencies.counts, strict=False))


def test_hashed_names(tmp_path):
    for k in range(3):
        (tmp_path / f"{k}.jsonl").write_text(WRITERS["jsonl"](k))
    hashed = stream.PassiveAggressiveClassifier(features=RecordFeatures(n_features=2**6))
    model = scale.fit(hashed, io.shards(f"{tmp_path}/*"), engine=HERE, epochs=2)
    assert model.n_features_ == 64
    assert model.totals_.rounds == 12


@pytest.mark.parametrize("transitions", [None, ("w[0]=a",)])
def test_tagger(transitions, tmp_path):
    for k, text in enumerate(["a D\ndog N\n\nruns V\n\n", "the D\nant N\n\n", "oh I\na D\n\n"]):
        (tmp_path / f"{k}.conll").write_text(text)
    features = WindowFeatures(columns=["w"], templates=["w[0]", "w[-1]"])
    model = SequenceTagger(transition_features=transitions)
    model.fit(io.shards(f"{tmp_path}/*", features=features, label=-1), workers=1, epochs=4)
    assert model.classes_.tolist() == ["D", "I", "N", "V"]
    assert model.totals_.rounds == 16
    assert model._learner.geometry.average == 1  # as fit does
    assert model.predict([features([("a",), ("ant",)])]) == [["D", "N"]]


def test_label_ranker(tmp_path):
    (tmp_path / "0.svm").write_text("1,3 1:1\n2 2:1\n" * 5)
    (tmp_path / "1.svm").write_text("4 3:1\n1,3 1:1\n" * 5)
    model = LabelRanker().fit(io.shards(f"{tmp_path}/*", multilabel=True), workers=1, epochs=3)
    assert model.classes_.tolist() == [1, 2, 3, 4]
    assert model.predict(sparse.csr_matrix([[1.0, 0.0, 0.0]])) == [{1, 3}]


def test_weights_scale_c_and_weight_zero_adds_no_label():
    X, y = sparse.csr_matrix(np.eye(4)), np.array([0, 1, 2, 1])
    shards = [Rows("a", X, y, weights=[1.0, 2.0, 0.0, 0.5]), Rows("b", X, y, weights=[0.0] * 4)]
    model = scale.fit(PassiveAggressiveClassifier(C=0.1), shards, engine=HERE, epochs=1)
    assert model.classes_.tolist() == [0, 1]
    assert model.totals_.rounds == 3


def test_progress_is_reported_per_shard(rows):
    reports = []
    scale.fit(PassiveAggressiveClassifier(), rows, engine=HERE, epochs=2, progress=reports.append)
    assert [(report.epoch, report.place, report.rounds) for report in reports] == [
        (epoch, place, n) for epoch in (1, 2) for place, n in enumerate([30, 0, 50, 20])
    ]
    assert reports[0].shard == rows[0].name
    assert all(report.weight == report.updates for report in reports)


def test_checkpoint_is_resumed_to_the_same_model(rows, tmp_path):
    path = tmp_path / "run.model"
    whole = scale.fit(AROWClassifier(average=True), rows, engine=HERE, epochs=4)

    def stop(report):
        if report.epoch == 3 and report.place == 2:
            raise KeyboardInterrupt

    model = AROWClassifier(average=True)
    with pytest.raises(KeyboardInterrupt):
        scale.fit(model, rows, engine=HERE, epochs=4, checkpoint=path, progress=stop)
    assert not hasattr(model, "_learner")
    assert load(path).n_iter_ == 2
    epochs = []
    scale.fit(
        model, rows, engine=HERE, epochs=4, checkpoint=path, resume=True, progress=lambda r: epochs.append(r.epoch)
    )
    assert set(epochs) == {3, 4}
    assert to_bytes(model) == to_bytes(whole) == to_bytes(load(path))


def test_checkpoint_of_another_run_is_refused(rows, tmp_path):
    path = tmp_path / "run.model"
    scale.fit(PassiveAggressiveClassifier(), rows, engine=HERE, epochs=1, checkpoint=path, notes={"colour": "red"})
    again = {"engine": HERE, "epochs": 2, "checkpoint": path, "resume": True}
    for other, shards, options in (
        ("shards", rows[:2], {}),
        ("mixing", rows, {"mixing": "uniform"}),
        ("colour", rows, {"notes": {"colour": "blue"}}),
    ):
        with pytest.raises(ValueError, match=f"a run with other {other}: resume it"):
            scale.fit(PassiveAggressiveClassifier(), shards, **again, **options)
    with pytest.raises(ValueError, match="other parameters"):
        scale.fit(PassiveAggressiveClassifier(C=2.0), rows, **again)
    with pytest.raises(ValueError, match=r"is not a checkpoint of scale\.fit"):
        PassiveAggressiveClassifier().fit(rows, workers=1, checkpoint=_saved(tmp_path), resume=True)


def _saved(folder):
    from onmargin import save

    save(PassiveAggressiveClassifier(), folder / "plain.model")
    return folder / "plain.model"


def test_corrupt_file_is_named_and_nothing_is_learned(rows, tmp_path):
    (tmp_path / "part2.svm").write_text("1 1:0.5\n1 1:oops\n")
    model = PassiveAggressiveClassifier().partial_fit(np.eye(2), [0, 1])
    before = to_bytes(model)
    with pytest.raises(ReadError, match=r"part2\.svm, line 2, record 2"):
        model.fit(rows, workers=1, checkpoint=tmp_path / "run.model")
    assert to_bytes(model) == before
    assert not (tmp_path / "run.model").exists()


def test_file_that_breaks_between_epochs(rows, tmp_path):
    def corrupt(report):
        if report.epoch == 1 and report.place == 3:
            (tmp_path / "part2.svm").write_text("rubbish\n")

    path = tmp_path / "run.model"
    with pytest.raises(ReadError, match=r"part2\.svm, line 1"):
        scale.fit(PassiveAggressiveClassifier(), rows, engine=HERE, epochs=3, checkpoint=path, progress=corrupt)
    assert load(path).totals_.rounds == 100


@pytest.mark.parametrize("model", [PassiveAggressiveClassifier(), stream.PassiveAggressiveClassifier()])
def test_file_that_grows_between_epochs(model, rows, tmp_path):
    def grow(report):
        (tmp_path / "part3.svm").write_text("1 99:1\n")

    with pytest.raises(
        ValueError, match=r"part3\.svm(: X has 99 features| has features or labels that it did not have)"
    ):
        scale.fit(fresh(model), rows, engine=HERE, epochs=3, progress=grow)


def test_shards_with_labels_of_two_kinds():
    X = sparse.csr_matrix(np.eye(2))
    shards = [Rows("words", X, ["a", "b"]), Rows("numbers", X, [1, 2])]
    with pytest.raises(ValueError, match="all strings or all numbers: words has 'b', and numbers has 2"):
        scale.fit(PassiveAggressiveClassifier(), shards, engine=HERE)


def test_refused_examples_are_reported_with_their_shard():
    X, y = sparse.csr_matrix(np.eye(2)), np.array([0, 1])
    bad = X.copy()
    bad.data[1] = np.nan
    with pytest.raises(ValueError, match=r"^bad: .*NaN"):
        scale.fit(PassiveAggressiveClassifier(), [Rows("good", X, y), Rows("bad", bad, y)], engine=HERE)
    with pytest.raises(ValueError, match=r"^bad: its examples have no labels"):
        scale.fit(PassiveAggressiveClassifier(), [Rows("bad", X, _Nothing())], engine=HERE)


class _Nothing:
    def __getitem__(self, _):
        return None


def test_new_labels_and_features_of_a_warm_start():
    X, y = sparse.csr_matrix(np.eye(3)), np.array([0, 1, 0])
    model = PassiveAggressiveClassifier(warm_start=True).partial_fit(X, y)
    with pytest.raises(ValueError, match="late has the label 7, and this model has learned others"):
        scale.fit(model, [Rows("late", X, np.array([0, 1, 7]))], engine=HERE)
    with pytest.raises(ValueError, match="the shards have the feature number 4"):
        scale.fit(model, [Rows("wide", sparse.csr_matrix(np.eye(4)), np.array([0, 1, 0, 1]))], engine=HERE)
    model.sparsify()
    before = model.totals_.rounds
    assert scale.fit(model, [Rows("again", X, y)] * 2, engine=HERE, epochs=1).totals_.rounds == before + 6
    words = stream.PassiveAggressiveClassifier().learn_one({"a": 1.0}, "x").learn_one({"b": 1.0}, "y")
    scale.fit(words, [Rows("more", [{"c": 1.0, "a": 2.0}], ["x"])] * 2, engine=HERE, epochs=1)
    assert words._names.names == ["a", "b", "c"]
    assert words.totals_.rounds == 4


@pytest.mark.parametrize(
    "model",
    [
        PassiveAggressiveClassifier(kernel="rbf"),
        PassiveAggressiveClassifier(geometry="entropic"),
        PassiveAggressiveUniclass(),
        DualAscentClassifier(),
        BlockClassifier(),
        Winnow(),
        stream.PassiveAggressiveUniclass(),
    ],
    ids=repr,
)
def test_models_whose_weights_cannot_be_mixed(model, rows):
    with pytest.raises((TypeError, ValueError), match=r"cannot be mixed: |shards are for"):
        scale.fit(model, rows, engine=HERE)
    with pytest.raises(TypeError, match="shards are for classifiers"):
        scale.fit(object(), rows)


def test_arguments(rows):
    model = PassiveAggressiveClassifier()
    for options, message in (
        ({"mixing": "best"}, "mixing must be one of 'uniform', 'updates', 'examples'; got 'best'"),
        ({"epochs": 0}, "epochs must be an integer at least 1; got 0"),
        ({"engine": "dask"}, "engine must be 'local', 'ray' or an object"),
        ({"workers": 0}, "workers must be an integer at least 1"),
        ({"address": "auto"}, "set engine='ray' too"),
        ({"engine": HERE, "workers": 2}, "workers and address are for"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(rows, **options)
    with pytest.raises(TypeError, match="engine must be"):
        model.fit(rows, engine=3)
    with pytest.raises(ValueError, match=r"there is no folder .*nowhere for the checkpoint"):
        model.fit(rows, checkpoint="nowhere/run.model")
    with pytest.raises(ValueError, match="at least one part"):
        scale.fit(model, [])
    with pytest.raises(ValueError, match=r"there are no examples with a feature in .*part1\.svm"):
        scale.fit(model, rows[1:2], engine=HERE)


def test_lists_of_files(tmp_path):
    for name in ("a.svm", "b.svm", "c.svm"):
        (tmp_path / name).write_text("1 1:1\n")
    (tmp_path / "d.csv").write_text("x,y\n1,2\n")
    (tmp_path / "e.svm").touch()
    shards = io.shards([tmp_path / "c.svm", tmp_path / "a.svm", tmp_path / "b.svm"], n_shards=2)
    assert [[path[-5:] for path in shard.paths] for shard in shards] == [["c.svm"], ["a.svm", "b.svm"]]
    assert shards[1].name.endswith("a.svm and 1 more")
    for files, options, message in (
        (f"{tmp_path}/*.txt", {}, "there is no file"),
        ([], {}, "at least one"),
        ([tmp_path / "a.svm", tmp_path / "none"], {}, "there is no file .*none"),
        ([tmp_path / "a.svm", tmp_path / "d.csv"], {}, "is svmlight and .* is csv: shards have one format"),
        (tmp_path / "e.svm", {}, "e.svm is empty"),
        (tmp_path / "a.svm", {"n_shards": 2}, "n_shards must be from 1 to 1"),
        (tmp_path / "a.svm", {"format": "xml"}, "format must be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            io.shards(files, **options)


def test_models_are_compared(rows, pair):
    models = [PassiveAggressiveClassifier(C=0.01), AROWClassifier(), stream.PassiveAggressiveClassifier()]
    outcomes = scale.compare(models, rows, engine=pair, epochs=2)
    for model, outcome in zip(models, outcomes, strict=True):
        serial = scale.fit(fresh(model), [Rows("all", *whole(rows))], engine=HERE, epochs=2)
        assert outcome.model.totals_ == serial.totals_
        assert outcome.error == outcome.reports[0].mistakes / 100
        assert outcome.loss == outcome.reports[0].loss / 100
    tasks = scale.compare(models[:2], [rows, rows[:1]], engine=HERE)
    assert [outcome.model.totals_.rounds for outcome in tasks] == [100, 30]
    with pytest.raises(ValueError, match="one for each of 2 models; got 1"):
        scale.compare(models[:2], [rows], engine=HERE)


def whole(shards):
    batches = [batch for shard in shards for batch in shard.batches()]
    width = max(batch.X.shape[1] for batch in batches)
    for batch in batches:
        batch.X.resize((batch.X.shape[0], width))
    return sparse.vstack([batch.X for batch in batches], format="csr"), np.concatenate([batch.y for batch in batches])
