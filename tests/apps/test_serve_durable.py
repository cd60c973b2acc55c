"""Acknowledged examples are never lost, even if clients disconnect; only disk errors stop learning."""

import asyncio
import errno
import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest

import onmargin
from onmargin.apps.serve.certified import spawn_certificate
from onmargin.apps.serve.journal import ModelRow
from onmargin.apps.serve.journal_file import JournalError
from onmargin.apps.serve.json_learner import JsonLearner
from onmargin.apps.serve.limits import Limits
from onmargin.apps.serve.problems import DiskError
from onmargin.apps.serve.service import Service, Settings
from onmargin.apps.serve.state import State
from onmargin.apps.serve.writer import Writer
from tests.apps.serving import blocked, create, learn, learned, process, records, served
from tests.waiting import LIMIT, wait_until

PAIRS = list(records(100))


def snapshots(folder):
    return sorted(int(path.name.split("-")[1]) for path in (folder / "snapshots").iterdir())


def damage(folder, seq):
    (path,) = (folder / "snapshots").glob(f"*-{seq}-*")
    path.write_bytes(path.read_bytes()[:-7])


def test_a_key_that_was_forgotten_is_new(tmp_path, monkeypatch):
    monkeypatch.setattr("onmargin.apps.serve.served_model.MOST_KEYS", 5)
    with served(tmp_path) as client:
        create(client)
        for k in range(8):
            learn(client, "m", PAIRS[k], key=f"k{k}")
        assert learn(client, "m", PAIRS[0], key="k0").json()["first"] == 9
        assert learn(client, "m", PAIRS[0], key="k0").json()["repeated"]
    with served(tmp_path) as client:
        assert learn(client, "m", PAIRS[0], key="k0").json()["first"] == 9


def test_a_compacted_model_does_not_silently_go_back(tmp_path):
    """It must not load a snapshot older than the one that replaced the compacted examples."""
    with served(tmp_path, Settings(snapshot_every=30)) as client:
        create(client)
        learn(client, "m", *PAIRS[:30])
        wait_until(lambda: snapshots(tmp_path) == [30])
        learn(client, "m", *PAIRS[30:50])
        client.post("/v1/models/m/compact", json={})
        assert snapshots(tmp_path) == [50]
        client.post("/v1/models/m/compact", json={})
        assert snapshots(tmp_path) == [50]  # one file, not two
    damage(tmp_path, 50)
    with pytest.raises(JournalError, match="cannot be read"):
        Service.open(tmp_path, Settings())


def test_other_files_are_left_alone(tmp_path):
    (tmp_path / "snapshots" / "of others").mkdir(parents=True)
    others = [tmp_path / "snapshots" / name for name in ("thesis.pt", "1-2.safetensors", ".hidden")]
    for path in others:
        path.write_text("dear")
    unfinished = tmp_path / "snapshots" / ".1-30-0123abcd.safetensors.0123456789abcdef.tmp"
    with served(tmp_path) as client:
        create(client)
    unfinished.write_text("half")
    with served(tmp_path):
        pass
    assert all(path.exists() for path in others)
    assert not unfinished.exists()


@pytest.mark.skipif(os.name != "posix", reason="folders have no such modes here")
def test_the_folder_is_private_to_its_owner(tmp_path):
    with served(tmp_path / "data"):
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("method", "path", "body", "after"),
    [
        ("DELETE", "/v1/models/m", None, 404),
        ("POST", "/v1/models", {"name": "n"}, 200),
        ("POST", "/v1/models/m/compact", {}, 200),
    ],
)
def test_a_started_request_completes_after_its_client_left(tmp_path, method, path, body, after):
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *PAIRS[:10])
    with served(tmp_path, limits=Limits(seconds=0.5)) as client:
        go_on = blocked(client.service)
        assert client.request(method, path, json=body).status_code == 503
        go_on.set()
        name = body.get("name", "m") if body else "m"
        wait_until(lambda: client.get(f"/v1/models/{name}").status_code == after)
        if path.endswith("compact"):
            wait_until(lambda: client.get("/v1/models/m").json()["earliest"] == 10)
        in_memory = client.get("/v1/models").json()
    with served(tmp_path) as client:
        assert client.get("/v1/models").json() == in_memory


def test_requests_that_wait_when_the_disk_fails_are_not_written(tmp_path, monkeypatch):
    with served(tmp_path, Settings(group=1)) as client, ThreadPoolExecutor(3) as pool:
        create(client)
        own, failed = client.service.journal.append, []

        def fail(entries):
            if failed:
                return own(entries)
            failed.append(entries)
            raise DiskError("the disk fails")

        monkeypatch.setattr(client.service.journal, "append", fail)
        go_on = blocked(client.service)
        posted = [pool.submit(learn, client, "m", pair) for pair in PAIRS[:3]]
        wait_until(lambda: client.service.turn.locked() and client.service.waiting == 2)
        go_on.set()
        assert [one.result().status_code for one in posted] == [503] * 3
        assert client.get("/v1/models/m").json()["seq"] == 0
        assert not client.get("/health").json()["learning"]


def test_a_writer_that_ends_responds_and_the_service_stops(tmp_path, monkeypatch):
    with served(tmp_path) as client:
        create(client)

        def fail(*_):
            raise MemoryError

        monkeypatch.setattr(Writer, "_apply", fail)
        answer = learn(client, "m", PAIRS[0])
        assert answer.status_code == 503
        assert "retry with the same key" in answer.json()["error"]  # and not the response after the time limit
        assert "learning has ended" in client.get("/health").json()["problem"]
        monkeypatch.undo()
    with served(tmp_path) as client:  # it has closed the journal
        assert client.get("/v1/models/m").json()["seq"] == 1


def test_an_example_that_fails_is_skipped_now_and_in_replays(tmp_path, monkeypatch):
    own = JsonLearner.learn

    def fail(self, example):
        if example.y == "bad":
            raise OverflowError
        return own(self, example)

    monkeypatch.setattr(JsonLearner, "learn", fail)
    monkeypatch.setattr(JsonLearner, "_rehearse", lambda *_: iter(()))
    with served(tmp_path) as client:
        create(client)
        for y in ("a", "bad", "b"):
            assert learn(client, "m", ({"x": 1.0}, y)).status_code == 200
        before = learned(client.service)
    with served(tmp_path) as client:
        assert learned(client.service) == before
        assert before["seq"] == 3


def test_snapshots_count_from_the_last_one_also_after_a_start(tmp_path):
    for k in range(3):
        with served(tmp_path, Settings(snapshot_every=25)) as client:
            if k == 0:
                create(client)
            learn(client, "m", *PAIRS[10 * k : 10 * k + 10])
    assert snapshots(tmp_path) == [30]


def test_a_snapshot_that_fails_is_not_tried_with_every_example(tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("no room, no memory")

    monkeypatch.setattr(State, "save", fail)
    with served(tmp_path, Settings(snapshot_every=10)) as client:
        create(client)
        for pair in PAIRS[:35]:
            assert learn(client, "m", pair).status_code == 200
        wait_until(lambda: client.service.metrics.failed_snapshots == 3)


def test_long_examples_are_read_a_few_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr("onmargin.apps.serve.journal.MOST_BYTES", 1000)
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *[({f"name{k}" * 50: 1.0}, "ab"[k % 2]) for k in range(20)])
        model = client.service.models["m"]
        assert len(client.service._disk.submit(client.service.journal.rows, model.id, 0, 0).result()) < 6
        assert len(client.get("/v1/models/m/journal").text.splitlines()) == 20
        monkeypatch.setattr("onmargin.apps.serve.service._CERTIFIED", 1000)
        assert "MB" in client.get("/v1/models/m/certificate").json()["error"]
        before = learned(client.service)
    with served(tmp_path) as client:
        assert learned(client.service) == before


def test_damage_found_while_running_is_reported(tmp_path):
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *PAIRS)
        database = client.service.journal.db
        client.service._disk.submit(lambda: database.execute("update journal set chain = 1 where seq = 5")).result()
        answer = client.post("/v1/models/m/rewind", json={"seq": 50})
        assert answer.status_code == 503
        assert "damaged" in answer.json()["error"]
        assert client.get("/v1/models/m").json()["seq"] == 100


@pytest.mark.full
def test_certificates_do_not_run_files_of_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "msgspec.py").write_text("raise SystemExit('taken over')")
    monkeypatch.chdir(tmp_path)
    bodies = [b'{"x":{"a":1.0},"y":"b"}', b'{"x":{"c":1.0},"y":"d"}']
    kept = ModelRow(1, "m", "classify", b'{"C": 1.0}', 0)
    assert asyncio.run(spawn_certificate(kept, bodies)).rounds == 2


def test_a_client_may_stop_reading_a_journal(tmp_path):
    with process(tmp_path) as (address, _), onmargin.Client(address, retries=0) as client:
        client.create("m")
        client.learn_many("m", *zip(*PAIRS, strict=True))
        assert [line["seq"] for line in islice(client.journal("m"), 2)] == [1, 2]
        assert client.rewind("m", 50)["seq"] == 50
        lines = client.journal("m")
        assert next(lines)["seq"] == 1
        assert client.model("m")["seq"] == 50
        assert len(list(lines)) == 49


def test_requests_that_must_not_be_repeated_use_a_new_connection():
    """The service closes idle connections, and a client cannot know whether a request over one was executed."""
    body = b'{"models": []}'
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)

    closed = threading.Event()

    def answer_once_each(listening):
        for _ in range(2):
            connection, _ = listening.accept()
            with connection:
                connection.recv(10_000)
                connection.sendall(answer)
            closed.set()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer_once_each, args=(listening,))
        thread.start()
        with onmargin.Client(f"http://127.0.0.1:{listening.getsockname()[1]}") as client:
            assert client.models() == []
            assert closed.wait(LIMIT)
            client.delete("m")
        thread.join()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.example:8700"},
        {"Origin": "http://127.0.0.1:1"},  # another program on this machine
        {"Origin": "http://localhost"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_foreign_pages_change_nothing_and_cost_nothing(tmp_path, headers):
    """A foreign page may send simple posts to this machine without permission, and load images."""
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *PAIRS)
        address = "/v1/models/m"
        for name in ("certificate", "events", "journal", "progress", "weights"):
            assert client.get(f"{address}/{name}", headers=headers).status_code == 403
        assert client.post(f"{address}/compact", headers=headers, json={}).status_code == 403
        assert client.post(f"{address}/predict", headers=headers, json={"examples": [{"x": {}}]}).status_code == 403
        for kind in ({}, {"Content-Type": "text/plain"}):
            assert client.post(f"{address}/compact", headers=kind, content=b"{}").status_code == 415
        assert client.get("/v1/models/m").json()["earliest"] == 0
        own = {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
        assert client.post(f"{address}/compact", headers=own, json={}).status_code == 200


def test_compaction_on_a_full_disk(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *PAIRS)
        with monkeypatch.context() as patched:
            patched.setattr(State, "save", fail)
            answer = client.post("/v1/models/m/compact", json={})
        assert answer.status_code == 507
        assert "No space left" in answer.json()["error"]
        database = client.service.journal.db
        client.service._disk.submit(
            lambda: database.execute(f"pragma max_page_count = {database.execute('pragma page_count').fetchone()[0]}")
        ).result()
        learn(client, "m", *PAIRS)
        assert learn(client, "m", *PAIRS).status_code == 507
        before = learned(client.service)
        assert client.post("/v1/models/m/compact", json={}).status_code in {200, 507}
        assert learned(client.service) == before
    with served(tmp_path) as client:
        assert learned(client.service) == before


def test_snapshots_at_once_keep_each_other(tmp_path):
    """A snapshot that is written but not yet listed is not deleted as obsolete."""
    with served(tmp_path, Settings(snapshot_every=10)) as client, ThreadPoolExecutor(4) as pool:
        create(client)
        for k in range(0, 100, 10):
            learn(client, "m", *PAIRS[k : k + 10])
            if k >= 50:
                compacted = [pool.submit(client.post, "/v1/models/m/compact", json={}) for _ in range(3)]
                assert {one.result().status_code for one in compacted} == {200}
        wait_until(lambda: not client.service._tasks)
        before = learned(client.service)
        listed = client.service._disk.submit(client.service.journal.snapshots, 1).result()
        assert {name for _, name in listed} == {path.name for path in (tmp_path / "snapshots").iterdir()}
    with served(tmp_path) as client:
        assert learned(client.service) == before


def test_health_has_no_paths(tmp_path, monkeypatch):
    """It is available without a token."""
    with served(tmp_path) as client:
        create(client)

        def fail(*_):
            raise DiskError(f"{tmp_path} cannot be written")

        monkeypatch.setattr(client.service.journal, "append", fail)
        assert str(tmp_path) in learn(client, "m", *PAIRS).json()["error"]
        problem = client.get("/health").json()["problem"]
        assert "cannot be written" in problem
        assert str(tmp_path) not in problem
        assert str(tmp_path) in learn(client, "m", *PAIRS).json()["error"]


def test_a_sequence_of_weight_zero_is_refused(tmp_path):
    with served(tmp_path) as client:
        create(client, task="tag")
        for _ in range(2):
            example = {"x": [["a"], ["b"]], "y": ["x", "y"], "weight": 0}
            answer = client.post("/v1/models/m/learn", json={"examples": [example]})
            assert answer.status_code == 422
            assert "weight" in answer.json()["error"]
            assert learn(client, "m", ([["a"], ["b"]], ["x", "y"])).status_code == 200
        assert client.service.models["m"].state.skipped == 0


def test_a_full_disk_is_visible(tmp_path, capfd):
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", PAIRS[0])
        database = client.service.journal.db
        limit = lambda n: client.service._disk.submit(  # noqa: E731
            lambda: database.execute(f"pragma max_page_count = {n}").fetchall()
        ).result()
        limit(client.service._disk.submit(lambda: database.execute("pragma page_count").fetchone()[0]).result())
        for _ in range(2):
            assert learn(client, "m", *PAIRS).status_code == 507
        health = client.get("/health").json()
        assert (health["learning"], "disk is full" in health["problem"]) == (False, True)
        metrics = client.get("/metrics").text
        assert "onmargin_refused_full_total 2" in metrics
        assert "onmargin_learning 0" in metrics
        limit(2**30)
        assert learn(client, "m", *PAIRS).status_code == 200
        assert client.get("/health").json()["learning"]
    assert capfd.readouterr().err.count("the disk is full") == 1
