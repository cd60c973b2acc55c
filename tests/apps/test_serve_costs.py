"""The cost of a request is bounded: bytes that are kept or sent, and time that others wait."""

import asyncio
import random
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from types import SimpleNamespace

import pytest

from onmargin.apps.serve import costs
from onmargin.apps.serve.json_learner import JsonLearner, Room
from onmargin.apps.serve.limits import Limits
from onmargin.apps.serve.schema import Example
from onmargin.apps.serve.service import Settings
from onmargin.apps.serve.slices import SECONDS, Turn
from tests.apps import serving
from tests.apps.serving import blocked, create, learn, served
from tests.waiting import LIMIT, wait_until

HEAD = b"POST /v1/models/m/learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def predict(client, xs, **options):
    return serving.predict(client, "m", *xs, **options)


@pytest.mark.parametrize(
    ("task", "example", "words"),
    [
        ("classify", ({"a" * 513: 1.0}, "x"), "names and words"),
        ("classify", ({"a": "b" * 513}, "x"), "names and words"),
        ("classify", (["a", "b" * 513], "x"), "names and words"),
        ("classify", ("a text " + "b" * 513, "x"), "names and words"),
        ("classify", ({"a": 1.0}, "x" * 257), "label"),
        ("rank", ({"a": 1.0}, ["x", "y" * 257]), "label"),
        ("tag", ([["a"], ["b" * 513]], ["x", "y"]), "names and words"),
        ("tag", ([{"a": "b" * 513}], ["x"]), "names and words"),
        ("tag", ([["a"]], ["x" * 257]), "label"),
    ],
)
@pytest.mark.parametrize("begun", [False, True])
def test_stored_values_are_bounded(tmp_path, task, example, words, begun):
    good = {"classify": ({"a": 1.0}, "x"), "rank": ({"a": 1.0}, ["x"]), "tag": ([["a"]], ["x"])}[task]
    with served(tmp_path) as client:
        create(client, task=task)
        if begun:
            assert learn(client, "m", good).status_code == 200
        answer = learn(client, "m", example)
        assert answer.status_code == 422
        assert words in answer.json()["error"]
        assert learn(client, "m", good).status_code == 200


def test_long_ngrams_are_refused(tmp_path):
    with served(tmp_path) as client:
        made = {"name": "m", "parameters": {"ngrams": [1, 100]}}
        answer = client.post("/v1/models", json=made)
        assert answer.status_code == 422
        assert "ngrams" in answer.json()["error"]


@pytest.mark.parametrize("task", ["classify", "rank"])
def test_answers_are_bounded(tmp_path, task):
    labels = [f"{k:0250}" for k in range(400)]
    with served(tmp_path) as client:
        create(client, task=task)
        learn(client, "m", *(({"a": 1.0}, label if task == "classify" else [label]) for label in labels))
        many = [{}] * 1000
        answer = predict(client, many, scores=True)
        assert answer.status_code == 413
        assert "fewer examples" in answer.json()["error"]
        assert predict(client, many[:100], scores=True).status_code == 200
        if task == "rank":
            assert predict(client, many).status_code == 413
            assert learn(client, "m", *[({"a": 1.0}, [])] * 1000).status_code == 413
        else:
            assert predict(client, many).status_code == 200


def tagger(client, n_labels=1000):
    create(client, task="tag")
    for k in range(0, n_labels, 100):
        assert learn(client, "m", ([["a"]] * 100, [f"l{k + j}" for j in range(100)])).status_code == 200


def test_a_long_sequence_with_many_labels_is_refused(tmp_path, monkeypatch):
    with served(tmp_path) as client:
        tagger(client)
        computed = []
        monkeypatch.setattr(JsonLearner, "answer", lambda *_: computed.append(1))
        for answer in (
            predict(client, [[["a"]] * 60_000]),
            learn(client, "m", ([["a"]] * 60_000, ["l0"] * 60_000)),
        ):
            assert answer.status_code == 422
            assert "too large" in answer.json()["error"]
        monkeypatch.undo()
        assert computed == []
        assert predict(client, [[["a"]] * 10]).status_code == 200


def test_others_are_answered_while_a_request_is_computed(tmp_path, monkeypatch):
    """It is computed in slices, with other requests in between, on one state of the model."""
    clock = SimpleNamespace(perf_counter=count(0.0, SECONDS / 2 + 1e-6).__next__, thread_time=lambda: 0.0)
    monkeypatch.setattr("onmargin.apps.serve.slices.time", clock)  # one slice per sequence
    with served(tmp_path) as client, ThreadPoolExecutor(1) as beside:
        tagger(client, 100)
        begun, asked, answered = (threading.Event() for _ in range(3))
        own, n_computed = JsonLearner.predict, count(1)

        def predict_one(self, x):
            """Compute the first sequence once another request is there, and the last one once that is answered."""
            n = next(n_computed)
            if n == 1:
                begun.set()
                assert asked.wait(LIMIT)
            elif n == 40:
                assert answered.wait(LIMIT)
            return own(self, x)

        monkeypatch.setattr(JsonLearner, "predict", predict_one)
        answer = beside.submit(predict, client, [[["a"]] * 50] * 40)
        assert begun.wait(LIMIT)
        with socket.create_connection((client.base_url.host, client.base_url.port), timeout=LIMIT) as other:
            other.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            asked.set()
            assert b" 200 " in other.recv(1000).splitlines()[0]
            answered.set()
        assert len(answer.result().json()["predictions"]) == 40
        assert answer.result().json()["seq"] == 1


def test_a_request_has_a_time_limit(tmp_path):
    with served(tmp_path) as client:
        tagger(client, 300)
    with served(tmp_path, Settings(computing=0.05), Limits(computing=0.05)) as client:
        sequences = [[["a"]] * 100] * 300
        answer = predict(client, sequences)
        assert answer.status_code == 413
        assert "0.05 s" in answer.json()["error"]
        answer = learn(client, "m", *((x, ["l0"] * 100) for x in sequences))
        assert answer.status_code == 413
        assert client.get("/v1/models/m").json()["seq"] == 3
        assert predict(client, sequences[:1]).status_code == 200


@pytest.mark.parametrize("vectors", [True, False])
def test_supports_of_kernels_are_bounded(tmp_path, monkeypatch, vectors):
    """The estimate is an upper bound; too many supports are refused, and a budget avoids it."""
    random_ = random.Random(0)
    rows = [[random_.gauss(0, 1) for _ in range(20)] for _ in range(60)]
    pairs = [(x if vectors else {f"f{k}": v for k, v in enumerate(x)}, "ab"[i % 2]) for i, x in enumerate(rows)]
    with served(tmp_path) as client:
        create(client, kernel="rbf", gamma=0.1)
        create(client, "n", kernel="rbf", gamma=0.1, budget=15)
        for name in ("m", "n"):
            assert learn(client, name, *pairs[:40]).status_code == 200
        learner = client.service.models["m"].state.learner
        n, values = learner.model.support_size_
        assert n > 25
        assert values == 20 * n
        monkeypatch.setattr(costs, "MOST_WORK", 2 * learner.costs.of_supports(n + 10, values + 200))
        answer = learn(client, "m", *pairs[40:])
        assert answer.status_code == 422
        assert '"budget"' in answer.json()["error"]
        assert predict(client, [pairs[40][0]]).status_code == 200
        assert learn(client, "n", *pairs[40:]).status_code == 200
        monkeypatch.undo()
        learner.room = Room(weights=22 * (n + 2))
        assert learn(client, "m", *pairs[40:]).status_code == 422
        assert learn(client, "m", pairs[40]).status_code == 200


def send_half(client, operation, size=45_000):
    """Send the first part of a request, and return its connection."""
    connection = socket.create_connection((client.base_url.host, client.base_url.port), timeout=LIMIT)
    head = HEAD.replace(b"/learn", b"/" + operation.encode())
    connection.sendall(head + b'Content-Length: 59000\r\n\r\n{"examples": [{"x": "' + b"a" * size)
    return connection


@pytest.mark.parametrize("operation", ["learn", "predict"])
def test_bytes_in_flight_are_bounded(tmp_path, operation):
    """Bytes of partially sent requests count, and are released."""
    with served(tmp_path, limits=Limits(in_flight=100_000, body=60_000, seconds=60)) as client:
        create(client)
        with send_half(client, operation):
            wait_until(lambda: client.app._in_flight.held.get("all", 0) >= 45_000)
            with send_half(client, operation) as refused:
                received = refused.recv(1000)
                assert b" 429 " in received.splitlines()[0]
                assert b"retry-after" in received
        wait_until(lambda: not client.app._in_flight.held)
        assert learn(client, "m", ("a " * 20_000, "x")).status_code == 200
        assert client.get("/v1/models/m").json()["seq"] == 1


def test_whoever_reads_cannot_stop_learning(tmp_path):
    """Eight half-sent predictions filled the memory for all requests."""
    with served(tmp_path, limits=Limits(in_flight=120_000, body=60_000, seconds=60)) as client:
        create(client)
        half = [send_half(client, "predict", 40_000) for _ in range(8)]
        wait_until(lambda: client.app._in_flight.held.get("all", 0) >= 40_000)
        assert learn(client, "m", ("a " * 20_000, "x")).status_code == 200
        for connection in half:
            connection.close()


def test_a_body_that_stops_ends_its_connection(tmp_path, monkeypatch):
    monkeypatch.setattr("onmargin.apps.serve.protocol.GRACE", 0.2)
    with served(tmp_path, limits=Limits(seconds=LIMIT)) as client:
        create(client)
        with send_half(client, "learn") as slow:
            assert slow.recv(1000) == b""
        wait_until(lambda: not client.app._in_flight.held)


async def nothing():
    """Do nothing."""


def take_turns(kinds):
    """Return the order in which requests of these kinds get their turn."""

    async def run():
        turn, order = Turn(), []

        async def take(kind):
            async with turn.reading if kind == "read" else turn:
                order.append(kind)
                await asyncio.create_task(nothing())  # the other tasks run

        await asyncio.gather(*map(take, kinds))
        assert not turn.locked()
        return order

    return asyncio.run(run())


def test_reading_and_learning_take_turns():
    assert take_turns(["read"] * 5 + ["learn"] * 2) == ["read", "learn", "read", "learn", "read", "read", "read"]
    assert take_turns(["learn"] * 4 + ["read"]) == ["learn", "read", "learn", "learn", "learn"]


def test_a_turn_is_not_lost_when_a_client_goes():
    async def run():
        turn = Turn()
        async with turn:
            waiting = [asyncio.create_task(turn.__aenter__()) for _ in range(2)]
            await asyncio.create_task(nothing())  # the other tasks run
            waiting[0].cancel()
            await asyncio.create_task(nothing())  # the other tasks run
        waiting[1].cancel()  # it has just been handed over
        await asyncio.gather(*waiting, return_exceptions=True)
        assert not turn.locked()

    asyncio.run(run())


def test_models_take_turns(tmp_path):
    """A model with many waiting requests does not keep another one from learning."""
    with served(tmp_path, Settings(group=1)) as client:
        for name in ("busy", "other"):
            create(client, name)
            learn(client, name, ("a", "x"), ("b", "y"))
        order = []
        learned = client.service.learned
        client.service.learned = lambda entry: (order.append(entry.model), learned(entry))
        go_on = blocked(client.service)
        threads = []
        for n_before, name in enumerate(["busy"] * 4 + ["other"]):
            threads.append(threading.Thread(target=learn, args=(client, name, ("a", "x"))))
            threads[-1].start()
            wait_until(lambda n=n_before: client.service.turn.locked() and client.service.waiting == n)
        go_on.set()
        for thread in threads:
            thread.join()
        assert order == [1, 1, 2, 1, 1]


def test_sweeps_over_a_window_have_a_price(tmp_path):
    """An example took 37 s and more, and everything else waited."""
    with served(tmp_path) as client:
        create(client, model="DualAscentClassifier", C=1e6, sweeps=10**9, window=None)
        answer = learn(client, "m", ({"a": 1.0}, "x"), ({"a": -1.0}, "y"))
        assert (answer.status_code, "window and sweeps" in answer.json()["error"]) == (422, True)
        for name, sweeps in (("n", 1000), ("p", None)):  # None: until the maximum is reached
            create(client, name, model="DualAscentClassifier", window=None, sweeps=sweeps)
            statuses = [
                learn(client, name, *(({"a": 1.0}, "x"), ({"a": -1.0}, "y")) * 25).status_code for _ in range(5)
            ]
            assert statuses[0] == 200
            assert statuses[-1] == 422  # the window is too long
            examples = (({"a": 1.0}, "x"), ({"a": -1.0}, "y")) * 200
            assert learn(client, name, *examples).status_code == 422
            at_once = create(client, f"{name}-at-once", model="DualAscentClassifier", window=None, sweeps=sweeps)
            assert learn(client, at_once, *examples[:2]).status_code == 200
            assert learn(client, at_once, *examples).status_code == 422  # those before count, too
        create(client, "o", model="DualAscentClassifier")
        assert learn(client, "o", *(({"a": 1.0}, "x"), ({"a": -1.0}, "y")) * 200).status_code == 200


@pytest.mark.parametrize(("C", "expected"), [(1.0, {200}), (1e300, {200, 422})])
def test_large_steps_between_rivals_have_a_price(tmp_path, C, expected):
    """An example took 1.3 s."""
    with served(tmp_path) as client:
        create(client, model="DualAscentClassifier", geometry="entropic", n_features=64, C=C)
        pairs = [({f"f{k % 7}": 1.0}, "xyz"[k % 3]) for k in range(20)]
        assert {learn(client, "m", pair).status_code for pair in pairs} == expected


def test_long_predictions_are_not_kept_for_retries(tmp_path):
    with served(tmp_path) as client:
        create(client, task="rank", calibrate=False)
        learn(client, "m", *(({"a": 1.0}, [f"{k:0250}"]) for k in range(20)))
        first = learn(client, "m", ({"a": 1.0}, []), key="k").json()
        assert len(first["predictions"][0]) == 20
        again = learn(client, "m", ({"a": 1.0}, []), key="k").json()
        assert again["repeated"]
        assert again["predictions"] is None


def trained(task, parameters, x, n_labels):
    learner = JsonLearner.begin(None, task, parameters, Room())
    for k in range(n_labels):
        learner.learn(Example(x, [f"l{k}"] * len(x) if task == "tag" else f"l{k}"))
    return learner


@pytest.mark.parametrize(
    ("task", "parameters", "of_size"),
    [
        ("classify", {"ngrams": [1, 3]}, lambda n: "some words of a text " * n),
        ("classify", {"n_features": 2**12}, lambda n: "some words of a text " * n),
        ("classify", {}, lambda n: {f"f{k}": 1.0 for k in range(n)}),
        ("tag", {}, lambda n: [["a", "b"]] * n),
    ],
)
def test_estimates_grow_with_the_example_and_the_labels(task, parameters, of_size):
    """benchmarks/serve_costs.py measures that they are upper bounds."""
    few, many = (trained(task, parameters, of_size(1), n).costs for n in (100, 200))
    assert 1.8 < few.work(of_size(800)) / few.work(of_size(400)) < 2.0
    assert 1.5 < many.work(of_size(400)) / few.work(of_size(400)) < 4.0
