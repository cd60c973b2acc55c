"""Every learner of rows of `onmargin.stream` works on the command line, in the service, and on shards."""

import random
import re

import pytest

import onmargin
from onmargin import scale, stream
from onmargin.apps.learners import OFFERED, learner_class
from onmargin.errors import ParameterError
from onmargin.features import ClassTermFeatures
from onmargin.scale import LocalEngine
from tests.apps.program import jsonl, report, svmlight
from tests.apps.program import onmargin as program
from tests.apps.serving import create, learn, learned, predict, served
from tests.shards import cut

# Required parameters of some learners, and requirements on their examples.
NEEDS = {"OrdinalRegressor": {"ranks": [1, 2, 3]}, "ClassFeatureClassifier": {"phi": ClassTermFeatures()}}
NOT_NEGATIVE = {"Winnow"}
# Learners whose weights cannot be mixed, with the reason.
UNMIXED = {
    "ClassFeatureClassifier": "no mix is defined for Blocks weights",
    "DualAscentClassifier": "keeps examples besides its weights",
    "DualAscentRegressor": "keeps examples besides its weights",
    "ExponentiatedGradientRegressor": "is not in the geometry",
    "PNormPerceptron": "is not in the geometry",
    "PassiveAggressiveUniclass": "no mix is defined for Center weights",
    "Winnow": "is not in the geometry",
}
# Learners whose number of features must be known in advance: names are hashed.
SIZED = {"ExponentiatedGradientRegressor", "PNormPerceptron", "Winnow"}

every_learner = pytest.mark.parametrize("name", OFFERED)


def target(task, score):
    label = "yes" if score > 0 else "no"
    rank = 1 + (score > 0) + (score > 1)
    return {"regress": score, "rank": [label], "ordinal": rank, "novelty": None}.get(task, label)


def options(name):
    return NEEDS.get(name, {}) | ({"n_features": 64} if name in SIZED else {})


def examples(name, n=60):
    random_ = random.Random(0)
    task = getattr(stream, name).task if name in stream.__all__ else "tag"
    for _ in range(n):
        if task == "tag":
            words = random_.choices(["the", "dog", "sees", "cat"], k=3)
            yield [{"word": word} for word in words], ["V" if word == "sees" else "N" for word in words]
            continue
        x = {f"f{k}": round(random_.gauss(0, 1), 2) for k in random_.sample(range(8), 3)}
        if name in NOT_NEGATIVE:
            x = {feature: abs(value) for feature, value in x.items()}
        yield x, target(task, sum(x.values()) - 1.5 * (name in NOT_NEGATIVE))


@every_learner
def test_command_line(name, tmp_path):
    if name == "SequenceTagger":
        data = tmp_path / "a.conll"
        data.write_text("the DT\ndog NN\n\n" * 10)
    else:
        task = getattr(stream, name).task
        data = jsonl(tmp_path / "a.jsonl", n=60, label=lambda score: target(task, score))
        if name in NOT_NEGATIVE:
            data.write_text(data.read_text().replace(": -", ": "))
    given = [f"{option}={value}" for option, value in options(name).items()]
    settings = [word for pair in given for word in ("--set", pair)]
    done = report("train", data, "-o", tmp_path / "model", "--model", name, *settings)
    model = onmargin.load(tmp_path / "model")
    assert type(model).__name__ == name
    assert done["task"] == model.task
    assert done["examples"] == model.totals_.rounds > 0
    assert len(program("predict", tmp_path / "model", data).split()) > 0
    assert report("evaluate", tmp_path / "model", data)["examples"] > 0
    assert report("inspect", tmp_path / "model")["class"] == name


@pytest.mark.parametrize("name", [name for name in OFFERED if name != "SequenceTagger"])
def test_rows_of_numbers(name, tmp_path):
    """Weights have single precision by default if the learner supports it."""
    task = getattr(stream, name).task
    labels = {"regress": lambda score: score, "rank": lambda score: "1,2", "ordinal": lambda score: 1 + (score > 0)}
    data = svmlight(tmp_path / "a.svm", n=60, label=labels.get(task, lambda score: 1 if score > 0 else -1))
    if name in NOT_NEGATIVE:
        data.write_text(re.sub(r":-", ":", data.read_text()))
    given = [word for option, value in NEEDS.get(name, {}).items() for word in ("--set", f"{option}={value}")]
    report("train", data, "-o", tmp_path / "model", "--model", name, *given)
    model = onmargin.load(tmp_path / "model")
    single = "float32" in map(str, model.plan().rows.dtypes)
    assert model.features_.dtype == ("float32" if single else "float64")


@every_learner
def test_service(name, tmp_path):
    with served(tmp_path) as client:
        create(client, model=name, **options(name))
        assert client.get("/v1/models/m").json()["model"] == name
        answer = learn(client, "m", *examples(name))
        assert answer.status_code == 200, answer.text
        x = next(iter(examples(name)))[0]
        predicted = predict(client, "m", x)
        assert predicted.status_code == 200, predicted.text
        before = learned(client.service)
        wrong = client.post("/v1/models/m/learn", json={"examples": [{"x": [1.0, 2.0], "y": "no"}]})
        assert wrong.status_code == 422
        assert client.get("/v1/models/m").json()["seq"] == 60
    with served(tmp_path) as client:  # the journal stores the learner
        assert client.get("/v1/models/m").json()["model"] == name
        assert learned(client.service) == before


def test_learners_of_several_rows_are_not_offered():
    with pytest.raises(ParameterError, match=r"model must be one of .*; got 'ClassFeatureClassifier'"):
        learner_class("ClassFeatureClassifier", None)


@pytest.mark.parametrize("name", [*stream.__all__, "SequenceTagger"])
def test_shards(name):
    X, y = map(list, zip(*examples(name), strict=True))
    kind = getattr(stream, name, None) or onmargin.SequenceTagger
    given = options(name)
    if "n_features" in given:
        given["features"] = onmargin.features.RecordFeatures(n_features=given.pop("n_features"))
    model = kind(**given)
    if name in UNMIXED:
        with pytest.raises(ValueError, match=f"{name} cannot be mixed: .*{UNMIXED[name]}"):
            scale.fit(model, cut(X, y, 3), engine=LocalEngine(1))
        return
    scale.fit(model, cut(X, y, 3), engine=LocalEngine(1), epochs=2)
    assert model.totals_.rounds == 120
    if hasattr(onmargin, name) and name in stream.__all__:
        estimator = getattr(onmargin, name)(**NEEDS.get(name, {}))
        scale.fit(estimator, cut(X, y, 3), engine=LocalEngine(1), epochs=2)
        assert estimator.totals_.rounds == 120
