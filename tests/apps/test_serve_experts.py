"""Several models at once in the service: experts, and a grid of C."""

import re

import pytest

import onmargin
from onmargin.apps.serve.json_learner import Room
from onmargin.apps.serve.service import Service, Settings
from tests.apps.serving import create, learn, learned, records, served
from tests.sentences import corpus

PAIRS = list(records(120))
every_kind = pytest.mark.parametrize(
    "parameters", [{"model": "AutoClassifier"}, {"C": "auto", "combine": "hedge"}], ids=str
)


def alone(parameters):
    given = {name: value for name, value in parameters.items() if name != "model"}
    return getattr(onmargin.stream, parameters.get("model", "PassiveAggressiveClassifier"))(**given)


@every_kind
def test_the_service_learns_what_the_model_does(tmp_path, parameters):
    model = alone(parameters)
    with served(tmp_path) as client:
        create(client, **parameters)
        answer = learn(client, "m", *PAIRS).json()
        expected = []
        for x, y in PAIRS:
            expected.append(model.predict_one(x))
            model.learn_one(x, y)
        assert answer["predictions"] == expected
        experts = client.get("/v1/models/m/progress").json()["experts"]
        results = model.experts_ if "model" in parameters else model.grid_
        assert [one["name"] for one in experts] == results.names
        assert [one["lost"] for one in experts] == results.mistakes.tolist()
        assert [one["vote"] for one in experts] == results.weights.tolist()
        assert [one["leads"] for one in experts].index(True) == results.leader
        assert "several models" in client.get("/v1/models/m/certificate").json()["error"]


@every_kind
def test_replay_is_equal_bit_for_bit(tmp_path, parameters):
    with served(tmp_path, Settings(snapshot_every=50)) as client:
        create(client, **parameters)
        for k in range(0, len(PAIRS), 10):
            learn(client, "m", *PAIRS[k : k + 10])
        before, experts = learned(client.service), client.get("/v1/models/m/progress").json()["experts"]
    with served(tmp_path) as client:
        assert learned(client.service) == before
        assert client.get("/v1/models/m/progress").json()["experts"] == experts


def test_taggers_lose_what_their_labels_cost(tmp_path):
    X, y = corpus(30)
    model = onmargin.SequenceTagger(C=(0.01, 1.0), combine="hedge")
    with served(tmp_path) as client:
        create(client, task="tag", C=[0.01, 1.0], combine="hedge")
        answer = learn(client, "m", *zip(X, y, strict=True)).json()
        expected = []
        for row, labels in zip(X, y, strict=True):
            expected.append(model.predict_one(row) if expected else None)
            model.learn_one(row, labels)
        assert answer["predictions"][1:] == expected[1:]
        experts = client.get("/v1/models/m/progress").json()["experts"]
        assert [one["lost"] for one in experts] == model.grid_.cost.tolist()
        assert [one["vote"] for one in experts] == model.grid_.weights.tolist()
        assert "several models" in client.get("/v1/models/m/certificate").json()["error"]


def test_one_model_has_no_experts(tmp_path):
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *PAIRS)
        assert client.get("/v1/models/m/progress").json()["experts"] == []


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"model": "Winner"}, "model must be one of AROWClassifier, "),
        ({"model": "AutoClassifier", "task": "novelty"}, "is for the task 'classify', not 'novelty'"),
        ({"model": "SequenceTagger", "task": "classify"}, "is for the task 'tag', not 'classify'"),
        ({"model": "AutoClassifier", "parameters": {"C": 1.0}}, "AutoClassifier has no parameter C"),
        ({"parameters": {"auto": True}}, "AutoClassifier has no parameter auto"),
        ({"parameters": {"C": []}}, "C must be a number greater than 0, or a sequence"),
        ({"parameters": {"C": [1.0] * 101}}, "n_features must be at most"),
        ({"model": "AutoRegressor", "parameters": {"n_features": 64}}, "n_features must be at most"),
    ],
)
def test_invalid_parameters_are_refused(tmp_path, sent, words):
    with served(tmp_path, Settings(room=Room(weights=100))) as client:
        answer = client.post("/v1/models", json={"name": "m"} | sent)
        assert answer.status_code == 422
        assert words in answer.json()["error"]


def test_all_models_count_for_the_memory_limit(tmp_path):
    """Weights of ten features are allowed, but not those of all experts."""
    with served(tmp_path, Settings(room=Room(weights=40))) as client:
        create(client, model="AutoClassifier")
        answer = learn(client, "m", *(({f"f{k}": 1.0}, "yes" if k % 2 else "no") for k in range(10)))
        assert answer.status_code == 422
        assert re.search(r"labels of \d+ models", answer.json()["error"])
        create(client, "one")
        assert learn(client, "one", *(({f"f{k}": 1.0}, "yes" if k % 2 else "no") for k in range(10))).status_code == 200


def test_opening_needs_the_same_experts(tmp_path):
    with served(tmp_path) as client:
        create(client, model="AutoClassifier")
        learn(client, "m", *PAIRS)
    service = Service.open(tmp_path, Settings())
    assert isinstance(service.models["m"].state.learner.model, onmargin.stream.AutoClassifier)
    service.journal.close()


def test_matrices_count_for_the_memory_limit(tmp_path):
    """Learners with a number per pair of features, and curved experts, need more memory than weights."""
    rows = [([float(k == j) for k in range(20)], float(j)) for j in range(20)]
    with served(tmp_path, Settings(room=Room(weights=350))) as client:
        create(client, model="OnlineRidgeRegressor")
        answer = learn(client, "m", *rows)
        assert answer.status_code == 422
        assert "matrices of 400 numbers for 20 features" in answer.json()["error"]
        named = [({f"f{j}": 1.0}, 1.0) for j in range(20)]
        assert [learn(client, "m", one).status_code for one in named] == [200] * 18 + [422] * 2
    with served(tmp_path / "curved", Settings(room=Room(weights=50_000))) as client:
        create(client, model="AutoRegressor")
        answer = learn(client, "m", *rows)
        assert answer.status_code == 422
        assert "matrices" in answer.json()["error"]
        create(client, "linear", model="AutoRegressor", experts="linear")
        assert learn(client, "linear", *rows).status_code == 200
