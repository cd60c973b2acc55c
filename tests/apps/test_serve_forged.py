"""Uploaded model files whose checksums are right and whose content is not: none of them harms another model."""

import pytest

import onmargin
from onmargin.apps.serve import costs
from onmargin.apps.serve.json_learner import JsonLearner, Room
from onmargin.apps.serve.repair import check, repair
from onmargin.apps.serve.service import Settings
from onmargin.apps.serve.state import Snapshot, State
from onmargin.io import load_with_notes
from tests.apps.serving import create, learn, predict, records, served
from tests.waiting import wait_until

PAIRS = list(records(40))
BINARY = {"Content-Type": "application/octet-stream"}
NUMBERS = (-1, 2**63, 2**64, 0.5, "x", None, [], True)
COVERING = {"coverage": 0.9, "rounds": 5, "misses": 1, "level": 0.5, "unit": 0.0, "size": 4.0, "sized": 5}
# Values of notes that no service writes, by the name of the note.
FORGED = {
    "name": (1, None, "", "a b", "\x1b[2J", "a" * 65),
    "task": ("regress", "juggle", 1, None),
    "parameters": (1, None, [], "x"),
    "rewinds": NUMBERS,
    "seq": NUMBERS,
    "chain": (*NUMBERS, 2**32),
    "skipped": (*NUMBERS, 10**6),
    "stride": (0, 2, *NUMBERS),
    "points": (
        [[1]],
        [[1, 0, "x"]],
        [[0.5, 0, 0.0]],
        [[10**6, 0, 0.0]],
        [[2, 0, 0.0], [1, 0, 0.0]],
        1,
        [[1, 0, 0.0]] * 500,
        [[0, 0, 0.0]] * 399,
    ),
    "confusion": (
        [[1]],
        [["yes", "no", -1]],
        [["yes", "no", "x"]],
        [[["yes"], "no", 1]],
        1,
        [[{}, "no", 1]],
        [["yes", "no", 21]],
    ),
    "corrected": ("x", 0.5, None, -(10**6), 21, 2**63, []),
    "errors": ([1], [1, 2, 3], ["x", 0.0], [1, -1.0], [-1, 1.0], [21, 1.0], 1, None),
    "covering": (
        1,
        {},
        {"coverage": 0.9},
        *(COVERING | one for one in ({"rounds": -1}, {"misses": 9}, {"level": 7.0}, {"unit": -1.0}, {"size": -1.0})),
        *(COVERING | one for one in ({"sized": -1}, {"coverage": 2.0}, {"rounds": 0.5}, {"level": "x"})),
    ),
}
CASES = [pytest.param(name, k, id=f"{name}-{k}") for name, values in FORGED.items() for k in range(len(values))]


@pytest.fixture(scope="module")
def downloaded(tmp_path_factory):
    """Return the model and the notes of a file that a service wrote."""
    folder = tmp_path_factory.mktemp("downloaded")
    with served(folder) as client:
        create(client)
        learn(client, "m", *PAIRS[:20])
        path = folder / "file"
        path.write_bytes(client.get("/v1/models/m/file").content)
    return load_with_notes(path)


def upload(client, model, notes, path, name="forged"):
    onmargin.save(model, path, notes=notes)
    return client.put(f"/v1/models/{name}/file", content=path.read_bytes(), headers=BINARY)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Serve a model beside which forged ones are uploaded."""
    with served(tmp_path_factory.mktemp("served")) as client:
        create(client, "good")
        yield client


@pytest.mark.parametrize(("name", "k"), CASES)
def test_forged_notes_are_refused(client, downloaded, tmp_path, name, k):
    model, notes = downloaded
    answer = upload(client, model, notes | {name: FORGED[name][k]}, tmp_path / "file")
    assert answer.status_code == 422, answer.text
    assert "notes of the file" in answer.json()["error"]
    assert [one["name"] for one in client.get("/v1/models").json()["models"]] == ["good"]
    assert learn(client, "good", PAIRS[0]).status_code == 200
    assert not list(client.service.snapshots.folder.iterdir())


@pytest.mark.parametrize("seq", [2**53 + 1, 2**62 - 2, 2**62])
def test_a_model_near_the_limits_of_counters_is_refused(client, downloaded, tmp_path, seq):
    """After a few more examples, no snapshot of it could be loaded."""
    model, notes = downloaded
    answer = upload(client, model, notes | {"seq": seq}, tmp_path / "file")
    assert answer.status_code == 422, answer.text
    assert f"more than {2**53}" in answer.json()["error"]


def test_a_model_whose_next_snapshot_cannot_be_loaded_is_refused(client, downloaded, tmp_path, monkeypatch):
    save, written = State.save, []

    def fail(self, path, kept):
        save(self, path, kept)
        written.append(path)
        if len(written) == 2:
            path.write_bytes(b"damaged")

    monkeypatch.setattr(State, "save", fail)
    answer = upload(client, *downloaded, tmp_path / "file")
    assert (answer.status_code, len(written)) == (422, 2), answer.text
    assert not any(path.exists() for path in written)


def test_missing_notes_are_refused(client, downloaded, tmp_path):
    model, notes = downloaded
    for name in sorted(FORGED.keys() - {"chain"}):
        rest = {key: value for key, value in notes.items() if key != name}
        assert upload(client, model, rest, tmp_path / "file").status_code == 422, name


@pytest.mark.parametrize("task", ["classify", "regress", "rank", "ordinal", "novelty", "tag"])
@pytest.mark.parametrize("x", [{"a": 1.0, "b": "c"}, [1.0, 2.0], "a text"], ids=["names", "vector", "text"])
def test_every_kind_of_model_passes_the_rehearsal(client, tmp_path, task, x):
    y = {"classify": "u", "regress": 2.0, "rank": ["u"], "ordinal": 1, "tag": ["u"]}.get(task)
    other = {"classify": "v", "rank": ["v"], "tag": ["v"]}.get(task, y)
    parameters = {"ranks": [1, 2, 3]} if task == "ordinal" else {}
    name = create(client, f"{task}-{type(x).__name__}", task, **parameters)
    x = [["a", "b"]] if task == "tag" else x
    assert learn(client, name, (x, y), (x, other)).status_code == 200
    path = tmp_path / "file"
    path.write_bytes(client.get(f"/v1/models/{name}/file").content)
    copied = client.put(f"/v1/models/{name}-2/file", content=path.read_bytes(), headers=BINARY)
    assert copied.status_code == 201, copied.text
    assert copied.json()["totals"] == client.get(f"/v1/models/{name}").json()["totals"]
    for one in (name, f"{name}-2"):
        client.delete(f"/v1/models/{one}")


def test_a_model_that_cannot_learn_is_not_accepted(client, downloaded, tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("broken")

    monkeypatch.setattr(JsonLearner, "learn", fail)
    answer = upload(client, *downloaded, tmp_path / "file")
    assert (answer.status_code, "broken" in answer.json()["error"]) == (422, True)


@pytest.mark.parametrize(("sweeps", "status"), [(1, 200), (10**9, 422)])
def test_a_model_that_takes_too_long_to_learn_is_not_rehearsed(client, tmp_path, sweeps, status):
    """A rehearsal of a billion sweeps did not end, and no snapshot was written any more."""
    model = onmargin.stream.DualAscentClassifier(C=1e6, sweeps=1, window=None)
    for x, y in PAIRS[:30]:
        model.learn_one(x, y)
    model.sweeps = sweeps
    assert upload(client, model, {}, tmp_path / "file", "dear").status_code == 201
    assert predict(client, "dear", PAIRS[0][0]).status_code == 200
    assert learn(client, "dear", PAIRS[30]).status_code == status
    client.delete("/v1/models/dear")


def test_a_model_that_takes_too_long_to_predict_is_refused(client, downloaded, tmp_path, monkeypatch):
    monkeypatch.setattr(costs, "MOST_WORK", 1000)
    answer = upload(client, *downloaded, tmp_path / "file")
    assert (answer.status_code, "too large for this model" in answer.json()["error"]) == (422, True)


def test_what_reads_a_model_is_rehearsed(client, downloaded, tmp_path, monkeypatch):
    """A model that could learn, but not explain, was accepted."""

    def fail(*_, **__):
        raise IndexError("broken")

    monkeypatch.setattr(onmargin.stream.PassiveAggressiveClassifier, "explain", fail)
    answer = upload(client, *downloaded, tmp_path / "file")
    assert (answer.status_code, "broken" in answer.json()["error"]) == (422, True)


def test_examples_stay_if_the_snapshot_in_their_place_cannot_be_read(tmp_path, monkeypatch):
    settings = Settings(snapshot_every=2, compact=True)
    with served(tmp_path, settings) as client, monkeypatch.context() as patch:
        create(client)
        patch.setattr(Snapshot, "read", lambda *_: 1 / 0)
        for k in range(6):
            learn(client, "m", PAIRS[k])
        for path, sent in (("compact", {}), ("clone", {"name": "n"})):
            answer = client.post(f"/v1/models/m/{path}", json=sent)
            assert (answer.status_code, "ZeroDivisionError" in answer.json()["error"]) == (422, True)
        wait_until(lambda: client.service.metrics.failed_snapshots >= 2)
        assert not list(client.service.snapshots.folder.iterdir())
        (found,) = client.get("/v1/models").json()["models"]
        assert (found["seq"], found["earliest"]) == (6, 0)
    with served(tmp_path, settings) as client:
        assert client.get("/v1/models/m").json()["seq"] == 6


def broken(monkeypatch, text="poison"):
    """Let learners fail at examples that contain a text, as a forged model could."""
    learn_one = JsonLearner.learn

    def fail(self, example):
        if text in example.x:
            raise RuntimeError("broken")
        return learn_one(self, example)

    monkeypatch.setattr(JsonLearner, "learn", fail)


@pytest.fixture
def poisoned(tmp_path, monkeypatch):
    """Make a folder in which the third example of one model cannot be learned."""
    folder = tmp_path / "served"
    with served(folder) as client, monkeypatch.context() as patch:
        for name in ("bad", "good"):
            create(client, name)
            learn(client, name, *PAIRS[:2], key="first")
        broken(patch)
        answer = learn(client, "bad", ({"poison": 1.0}, "yes"), PAIRS[3])
        assert (answer.status_code, "model 'bad'" in answer.json()["error"]) == (503, True)
        assert predict(client, "bad", PAIRS[0][0]).status_code == 503
        assert learn(client, "bad", PAIRS[4]).status_code == 503
        assert learn(client, "good", *PAIRS[2:6]).json()["last"] == 6
        health = client.get("/health").json()
        assert (health["learning"], health["damaged"]) == (True, 1)
        for path in ("/v1/models", "/metrics"):
            assert client.get(path).status_code == 200
    return folder


def test_an_exception_damages_one_model(poisoned, monkeypatch):
    """The model is damaged as long as learning its examples fails; none of them is lost."""
    with monkeypatch.context() as patch:
        broken(patch)
        with served(poisoned) as client:
            answer = predict(client, "bad", PAIRS[0][0])
            assert (answer.status_code, "example 3 cannot be learned" in answer.json()["error"]) == (503, True)
            assert learn(client, "good", PAIRS[6]).json()["last"] == 7
    with served(poisoned) as client:
        assert {one["name"]: one["seq"] for one in client.get("/v1/models").json()["models"]} == {"bad": 4, "good": 7}


def test_check_and_repair_end_with_a_report(poisoned, tmp_path, monkeypatch):
    broken(monkeypatch)
    report = check(poisoned, Room())
    assert not report.good
    assert [line.partition(":")[0] for line in report.lines] == ["bad", "good"]
    assert "example 3 cannot be learned" in report.lines[0]
    report = repair(poisoned, tmp_path / "fixed", Room())
    assert report.lines[0].startswith("bad: kept 2 examples")
    assert "the last 2 examples that were acknowledged are lost" in report.lines[0]
    assert report.lines[1].startswith("good: kept 6 examples")
    assert check(tmp_path / "fixed", Room()).good


def test_a_repair_that_fails_for_one_model_keeps_the_others(poisoned, tmp_path, monkeypatch):
    save = State.save

    def fail(self, path, kept):
        if kept.name == "bad":
            raise MemoryError("no room")
        save(self, path, kept)

    monkeypatch.setattr(State, "save", fail)
    report = repair(poisoned, tmp_path / "fixed", Room())
    assert report.lines[0].startswith("bad: nothing could be kept: MemoryError")
    assert report.lines[1].startswith("good: kept 6 examples")
    assert not report.good
    assert [line.partition(":")[0] for line in check(tmp_path / "fixed", Room()).lines] == ["good"]


def test_a_model_that_could_not_be_created_leaves_nothing(tmp_path, downloaded, monkeypatch):
    """The next model gets the same number, and must not find a snapshot of another one."""
    with served(tmp_path / "served", headers={"Connection": "close"}) as client:
        with monkeypatch.context() as patch:
            patch.setattr(client.service.journal, "_update", lambda _: 1 / 0)
            assert upload(client, *downloaded, tmp_path / "file").status_code == 500
        create(client)
        learn(client, "m", *PAIRS[:3])
    with served(tmp_path / "served") as client:
        assert client.get("/v1/models/m").json()["seq"] == 3
