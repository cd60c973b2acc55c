"""A service learns posted examples exactly as the model by itself would."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import onmargin
from onmargin import stream
from onmargin.apps.learners import LEARNERS
from onmargin.apps.serve.certified import certificate
from onmargin.apps.serve.json_learner import JsonLearner, Room
from onmargin.apps.serve.problems import ConflictError
from onmargin.apps.serve.schema import Example
from onmargin.apps.serve.service import Settings
from tests.apps.serving import alone, blocked, create, learn, learned, predict, process, records, served
from tests.waiting import LIMIT, wait_until

TASKS = {
    "classify": ({}, [({"a": 1.0}, "x"), ({"b": 2.0, "c": "red"}, "y"), ("words of text", "x"), (["a", "b"], "z")]),
    "regress": ({"epsilon": 0.01}, [([1.0, 2.0], 0.5), ([0.0, 1.0], 1.5), ([3.0, 1.0], 2)]),
    "rank": ({}, [({"a": 1.0}, ["x", "y"]), ({"b": 1.0}, []), ({"a": 1.0, "b": 1.0}, ["z"])]),
    "ordinal": ({"ranks": [1, 2, 3]}, [({"a": 1.0}, 1), ({"a": 2.0}, 2), ({"a": 5.0}, 3)]),
    "novelty": ({}, [([1.0, 1.0], None), ([1.1, 0.9], None), ([5.0, 5.0], None)]),
    "tag": ({}, [([["the"], ["dog"]], ["D", "N"]), ([{"w": "a"}, {"w": "cat"}, ["barks"]], ["D", "N", "V"])]),
}


@pytest.mark.parametrize("task", TASKS)
def test_every_task_learns_predicts_and_starts_again(tmp_path, task):
    parameters, examples = TASKS[task]
    with served(tmp_path) as client:
        create(client, task=task, **parameters)
        for k, example in enumerate(examples * 3):
            answer = learn(client, "m", example)
            assert answer.status_code == 200, answer.text
            assert answer.json()["first"] == answer.json()["last"] == k + 1
        xs = [x for x, _ in examples]
        predicted = predict(client, "m", *xs, scores=True).json()
        totals = client.get("/v1/models/m").json()["totals"]
    assert totals["rounds"] == 3 * len(examples) - (task == "novelty")  # the first example is the initial center
    assert predicted["seq"] == 3 * len(examples)
    with served(tmp_path) as client:
        assert client.get("/v1/models/m").json()["totals"] == totals
        assert predict(client, "m", *xs, scores=True).json() == predicted


def test_the_service_learns_as_the_model_alone(tmp_path):
    pairs = list(records(300))
    model, predictions = alone(pairs, C=0.3)
    with served(tmp_path) as client:
        create(client, C=0.3)
        answers = [learn(client, "m", *pairs[k : k + 7]).json() for k in range(0, 300, 7)]
        assert [p for answer in answers for p in answer["predictions"]] == predictions
        own = client.service.models["m"].state.learner.model
        assert own.weights() == model.weights()
        assert own.totals_ == model.totals_
        # The progressive error is that of the returned predictions.
        wrong = sum(p != y for p, (_, y) in zip(predictions[2:], pairs[2:], strict=True))
        assert abs(client.get("/v1/models/m").json()["totals"]["mistakes"] - wrong) <= 2


def test_many_at_once_or_none(tmp_path):
    with served(tmp_path) as client:
        create(client)
        before = learned(client.service)
        answer = learn(client, "m", ({"a": 1.0}, "x"), ({"b": 1.0}, "y"), ([1.0, 2.0], "x"))
        assert answer.status_code == 422
        assert "example 2" in answer.json()["error"]
        assert learned(client.service) == before
        assert client.get("/v1/models/m/journal").text == ""
        assert learn(client, "m", ({"a": 1.0}, "x"), ({"b": 1.0}, "y")).json()["last"] == 2


def test_a_retry_is_learned_once(tmp_path):
    pairs = list(records(40))
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *pairs)
        first = learn(client, "m", *pairs[:3], key="k1").json()
        again = learn(client, "m", *pairs[:3], key="k1").json()
        assert again == first | {"repeated": True}
        assert client.get("/v1/models/m").json()["seq"] == 43
    with served(tmp_path) as client:
        after = learn(client, "m", *pairs[:3], key="k1").json()
        assert (after["first"], after["last"], after["repeated"]) == (41, 43, True)
        client.post("/v1/models/m/rewind", json={"seq": 40})
        assert learn(client, "m", *pairs[:3], key="k1").json() == first


@pytest.mark.parametrize("others", [slice(3, 6), slice(0, 2)], ids=["as many", "fewer"])
def test_a_key_of_other_examples_is_refused(tmp_path, others):
    """The answer used to be that to the first examples, and the others were lost without a word."""
    pairs = list(records(6))
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *pairs[:3], key="k1")
        answer = learn(client, "m", *pairs[others], key="k1")
        assert answer.status_code == 422
        assert "the key 'k1' was used for other examples (1 to 3)" in answer.json()["error"]
        assert client.get("/v1/models/m").json()["seq"] == 3


def test_rewind_to_any_number(tmp_path):
    pairs = list(records(60))
    with served(tmp_path, Settings(snapshot_every=25)) as client:
        create(client, average=True)
        states = [learned(client.service)]
        for pair in pairs:
            learn(client, "m", pair)
            states.append(learned(client.service))
        for seq in (59, 31, 30, 7, 0):
            assert client.post("/v1/models/m/rewind", json={"seq": seq}).json()["seq"] == seq
            assert learned(client.service) == states[seq]
        answer = client.post("/v1/models/m/rewind", json={"seq": 1})
        assert answer.status_code == 409
        learn(client, "m", *pairs[:20])
        assert learned(client.service) == states[20]


def test_start_is_snapshot_and_replay(tmp_path):
    pairs = list(records(100))
    with served(tmp_path, Settings(snapshot_every=30)) as client:
        create(client)
        for pair in pairs:
            learn(client, "m", pair)
        before = learned(client.service)
    assert len(list((tmp_path / "snapshots").iterdir())) == 2
    with served(tmp_path) as client:
        assert learned(client.service) == before
    for path in (tmp_path / "snapshots").iterdir():
        path.write_bytes(path.read_bytes()[:-7])
    with served(tmp_path) as client:  # the journal has everything
        assert learned(client.service) == before


@pytest.mark.parametrize("by_hand", [True, False])
def test_compaction(tmp_path, by_hand):
    pairs = list(records(100))
    with served(tmp_path, Settings(snapshot_every=1000 if by_hand else 30, compact=True)) as client:
        create(client)
        for pair in pairs:
            learn(client, "m", pair)
        if by_hand:
            assert client.post("/v1/models/m/compact", json={}).json()["earliest"] == 100
            learn(client, "m", *pairs[:5])
        before = learned(client.service)
        earliest = client.get("/v1/models/m").json()["earliest"]
        assert earliest > 0
        assert client.post("/v1/models/m/rewind", json={"seq": earliest - 1}).status_code == 409
        assert len(client.get("/v1/models/m/journal").text.splitlines()) == before["seq"] - earliest
    with served(tmp_path) as client:
        assert learned(client.service) == before
        client.post("/v1/models/m/rewind", json={"seq": earliest})
        assert client.get("/v1/models/m").json()["seq"] == earliest
        assert client.get("/v1/models/m/certificate").status_code == 409


def test_journal_is_exported_as_it_was_sent(tmp_path):
    pairs = [({"a": 0.1, "b": "red"}, "x"), ("some text", "y")]
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *pairs)
        lines = [json.loads(line) for line in client.get("/v1/models/m/journal").text.splitlines()]
    assert [(line["seq"], line["x"], line["y"], line["weight"]) for line in lines] == [
        (k, *pair, 1.0) for k, pair in enumerate(pairs, 1)
    ]


def test_explanations_and_weights(tmp_path):
    pairs = list(records(50))
    model, _ = alone(pairs)
    x = pairs[3][0]
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *pairs)
        (found,) = client.post("/v1/models/m/explain", json={"examples": [{"x": x}]}).json()["explanations"]
        weights = client.get("/v1/models/m/weights", params={"label": "yes", "top": 3}).json()
    assert {part["feature"]: part["value"] for part in found["parts"]} == model.explain(x)
    assert found["prediction"] == found["label"] == model.predict_one(x)
    assert {part["feature"]: part["value"] for part in weights["parts"]} == model.weights("yes", top=3)


def test_certificate_is_of_what_was_learned(tmp_path):
    pairs = [(x, float(y == "yes")) for x, y in records(120)]
    with served(tmp_path) as client:
        create(client, task="regress", C=0.2)
        learn(client, "m", *pairs)
        found = client.get("/v1/models/m/certificate").json()
        totals = client.get("/v1/models/m").json()["totals"]
    assert found["holds"]
    assert found["suffered"] == pytest.approx(totals[found["counted"]])
    assert found["curve"][-1] == [120, pytest.approx(found["bound"])]
    bounds = [bound for _, bound in found["curve"]]
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("task", TASKS)
def test_certificates_of_every_task(task):
    """With two or more classes the certificate is for a learner that knows all classes from the start."""
    parameters, pairs = TASKS[task]
    examples = [Example(*pair) for pair in pairs * 3]
    try:
        found = certificate(JsonLearner.begin(None, task, parameters, Room()), examples)
    except ConflictError as error:
        assert "theorem" in str(error)  # noqa: PT017
    else:
        assert found.holds
        assert found.rounds == len(examples)
        assert len(found.curve) == len(examples) - (task == "novelty")


def test_models_without_a_certificate(tmp_path):
    with served(tmp_path) as client:
        create(client)
        assert "nothing was learned" in client.get("/v1/models/m/certificate").json()["error"]
        body = {"examples": [{"x": "a", "y": "b", "weight": 2}]}
        assert client.post("/v1/models/m/learn", json=body).status_code == 200
        assert "weights" in client.get("/v1/models/m/certificate").json()["error"]


def test_memory_is_bounded(tmp_path):
    room = Room(features=50, classes=3, weights=120)
    with served(tmp_path, Settings(room=room)) as client:
        create(client)
        for k in range(10):
            learn(client, "m", ({f"n{5 * k + j}": 1.0 for j in range(5)}, "ab"[k % 2]))
        full = learn(client, "m", ({"n1": 1.0, "other": 1.0}, "a"))
        assert full.status_code == 422
        assert "n_features" in full.json()["error"]
        assert learn(client, "m", ({"n1": 1.0, "n2": 2.0}, "a")).status_code == 200
        assert "weights" in learn(client, "m", ({"n1": 1.0}, "c")).json()["error"]
        assert client.get("/v1/models/m").json()["features"] == 50
        client.post("/v1/models/m/rewind", json={"seq": 8})
        go_on = blocked(client.service)  # concurrent requests near the limit are checked one by one
        with ThreadPoolExecutor(4) as pool:
            posted = [pool.submit(learn, client, "m", ({f"o{k}{j}": 1.0 for j in range(4)}, "a")) for k in range(4)]
            wait_until(lambda: len(client.server.server_state.tasks) == 4)
            go_on.set()
        assert sorted(one.result().status_code for one in posted) == [200, 200, 422, 422]
        assert client.get("/v1/models/m").json()["features"] == 48
        create(client, "small", n_features=16)
        for label in "abc":
            assert learn(client, "small", ("any words at all", label)).status_code == 200
        assert "labels" in learn(client, "small", ("any", "d")).json()["error"]
        too_large = {"name": "large", "parameters": {"n_features": 2**20}}
        assert client.post("/v1/models", json=too_large).status_code == 422


def test_models_come_and_go(tmp_path):
    with served(tmp_path, Settings(models=2)) as client:
        create(client, "a")
        assert client.post("/v1/models", json={"name": "a"}).status_code == 409
        create(client, "b", "regress")
        assert client.post("/v1/models", json={"name": "c"}).status_code == 409
        assert [model["name"] for model in client.get("/v1/models").json()["models"]] == ["a", "b"]
        learn(client, "a", ("x", "y"))
        assert client.delete("/v1/models/a").status_code == 204
        assert client.get("/v1/models/a").status_code == 404
        assert learn(client, "a", ("x", "y")).status_code == 404
        create(client, "a")
        assert client.get("/v1/models/a").json()["seq"] == 0


def test_the_client_and_a_shutdown(tmp_path):
    pairs = list(records(30))
    model, predictions = alone(pairs)
    with process(tmp_path) as (address, running):
        with onmargin.Client(address) as client:
            client.create("m", C=1.0)
            assert [client.learn("m", x, y) for x, y in pairs] == predictions
            assert client.predict_many("m", [x for x, _ in pairs]) == model.predict_many([x for x, _ in pairs])
            assert client.weights("m") == dict(list(model.weights().items())[:20])
            assert client.certificate("m")["holds"]
            assert client.health()["learning"]
            assert "onmargin_learned_total 30" in client.metrics()
            assert [line["seq"] for line in client.journal("m")] == list(range(1, 31))
            with pytest.raises(onmargin.ServiceError, match="vector"):
                client.learn("m", np.array([1.0]), "yes")
            client.create("v", "regress")
            client.learn_many("v", np.eye(3), np.arange(3.0), weights=[1, 0, 1])
            assert client.model("v")["totals"]["rounds"] == 2
            assert client.rewind("m", 10)["seq"] == 10
            assert client.compact("m")["earliest"] == 10
            client.delete("v")
            assert [one["name"] for one in client.models()] == ["m"]
        running.terminate()
        running.wait(LIMIT)
    with process(tmp_path) as (address, _), onmargin.Client(address) as client:
        assert client.model("m")["seq"] == 10


@pytest.mark.parametrize(("task", "name"), [("classify", "AutoClassifier"), ("regress", "AutoRegressor")])
def test_the_default_learner_is_that_of_the_command_line(tmp_path, task, name):
    with served(tmp_path) as client:
        made = lambda **sent: client.post("/v1/models", json=sent).json()["model"]  # noqa: E731
        assert made(name="a", task=task) == name
        assert made(name="b", task=task, parameters={"C": 0.5}) == LEARNERS[task]
        if task == "classify":
            assert made(name="c") == name
    with served(tmp_path) as client:
        assert [one["model"] for one in client.get("/v1/models").json()["models"]][:2] == [name, LEARNERS[task]]


def test_probabilities(tmp_path):
    pairs = list(records(100))
    with served(tmp_path) as client:
        create(client, C=0.3)
        learn(client, "m", *pairs)
        answer = predict(client, "m", *(x for x, _ in pairs[:5]), probabilities=True).json()
        own = client.service.models["m"].state.learner.model
        assert [dict(p) for p in answer["probabilities"]] == [own.predict_proba_one(x) for x, _ in pairs[:5]]
        assert "probabilities" not in predict(client, "m", {}).json()
        create(client, name="numbers", task="regress")
        refused = predict(client, "numbers", {}, probabilities=True)
        assert refused.status_code == 422
        assert "probabilities are those of classes" in refused.text


@pytest.mark.parametrize(
    ("verb", "body", "words"),
    [
        ("predict", {"examples": ["free prize"]}, "Expected `object`, got `str` - at `$.examples[0]`"),
        ("predict", {"examples": [{"size": 1.5}]}, "unknown field `size`"),
        ("predict", {"examples": [{"x": "free prize", "y": "spam"}]}, "unknown field `y`"),
        ("predict", {"x": "free prize"}, "unknown field `x`"),
        ("predict", [{"x": "free prize"}], "Expected `object`, got `array`"),
        ("explain", {"x": "free prize"}, "unknown field `x`"),
        ("explain", {"examples": ["free prize"]}, "Expected `object`, got `str`"),
        ("learn", {"examples": ["free prize"]}, "Expected `object`, got `str`"),
        ("learn", {"x": "free prize", "y": "spam"}, "unknown field `x`"),
    ],
)
def test_all_verbs_take_one_shape(tmp_path, verb, body, words):
    """The shape of another verb is refused, and never read as a record with the category x=..."""
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *[("free prize", "spam"), ("lunch at noon", "ham")] * 2)
        refused = client.post(f"/v1/models/m/{verb}", json=body)
        assert refused.status_code == 422
        assert words in refused.json()["error"]
        right = '{"examples": [{"x": ..., "y": ...}]}' if verb == "learn" else '{"examples": [{"x": ...}]}'
        assert refused.json()["error"].endswith(f"Send a body like {right}")
        assert predict(client, "m", "free prize").json()["predictions"] == ["spam"]


def test_names_of_models_are_explained_in_words(tmp_path):
    """The message contained a regular expression."""
    with served(tmp_path) as client:
        refused = client.post("/v1/models", json={"name": "my model", "task": "classify"})
        assert refused.status_code == 422
        assert "a name begins with a letter or digit" in refused.text
        assert "regex" not in refused.text


def test_unknown_tasks_are_answered_with_the_known_ones(tmp_path):
    with served(tmp_path) as client:
        refused = client.post("/v1/models", json={"name": "m", "task": "clasify"})
        assert refused.status_code == 422
        assert "task must be one of classify, regress, rank, ordinal, novelty, tag; got 'clasify'" in refused.text


def test_null_is_a_missing_value(tmp_path):
    """JSON has no NaN, and a client sends NaN as null: both were refused."""
    model = stream.PassiveAggressiveClassifier()
    examples = [({"a": 1.0, "b": None}, "x"), ({"a": None, "b": 2.0, "c": "red"}, "y"), ({"a": -1.0, "c": None}, "y")]
    for x, y in examples:
        model.learn_one(x, y)
    with served(tmp_path) as client:
        create(client)
        assert learn(client, "m", *examples).status_code == 200
        parts = client.get("/v1/models/m/weights", params={"label": "y"}).json()["parts"]
        assert {part["feature"]: part["value"] for part in parts} == model.weights("y")
        assert predict(client, "m", {"b": None, "a": 3.0}).json()["predictions"] == [model.predict_one({"a": 3.0})]
        certified = certificate(
            JsonLearner.begin(None, "classify", {"C": 1.0}, Room()), [Example(x, y) for x, y in examples]
        )
        assert certified.holds
        explained = client.post("/v1/models/m/explain", json={"examples": [{"x": {"b": None, "a": 3.0}}]}).json()
        assert [part["feature"] for part in explained["explanations"][0]["parts"]] == ["a"]
    with served(tmp_path) as client:  # after a replay of the journal
        assert predict(client, "m", {"b": None, "a": 3.0}).json()["predictions"] == [model.predict_one({"a": 3.0})]
