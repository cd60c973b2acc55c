"""Failures of disks, files, clocks and processes give clear errors, and nothing is corrupted or lost."""

import asyncio
import json
import os
import re
import sqlite3
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

import onmargin
from onmargin.apps.serve.connection import Connection
from onmargin.apps.serve.journal_file import JournalError
from onmargin.apps.serve.service import Service, Settings
from tests.apps.crashes import crash
from tests.apps.program import onmargin as command
from tests.apps.serving import create, learn, learned, predict, process, records, served
from tests.waiting import LIMIT, wait_until

PAIRS = list(records(100))
JOURNAL = "journal.sqlite"


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a stopped service that has learned a hundred examples."""
    with served(tmp_path, Settings(snapshot_every=30)) as client:
        create(client)
        for k in range(0, 100, 10):
            learn(client, "m", *PAIRS[k : k + 10])
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "-" not in path.suffix}


def test_kill_under_load(tmp_path):
    *_, (kills, acknowledged, found) = crash(tmp_path, 3)
    assert kills == 3
    assert 0 < acknowledged <= found


def test_the_end_does_not_wait_for_a_certificate(tmp_path, monkeypatch):
    asked = threading.Event()

    async def never(*_):
        asked.set()
        await asyncio.Event().wait()

    monkeypatch.setattr("onmargin.apps.serve.service.spawn_certificate", never)
    with ThreadPoolExecutor(1) as beside, served(tmp_path) as client:
        create(client)
        learn(client, "m", *PAIRS)
        answer = beside.submit(httpx.get, f"{client.base_url}/v1/models/m/certificate", timeout=LIMIT)
        assert asked.wait(LIMIT)
        assert client.service._tasks  # the end waits until its process has ended
    assert answer.result().status_code == 503
    assert "shutting down" in answer.result().json()["error"]


@pytest.mark.parametrize("kept", [0.0, 0.5, 0.95])
def test_a_truncated_journal_is_an_error(folder, kept):
    path = folder / JOURNAL
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept) or 100])
    before = contents(folder)
    with pytest.raises(JournalError, match="damaged"):
        Service.open(folder, Settings())
    assert contents(folder) == before
    assert "damaged" in command("serve", "--data", folder, "--port", 0, code=1)
    path.write_bytes(whole)
    with served(folder) as client:
        assert client.get("/v1/models/m").json()["seq"] == 100


@pytest.mark.parametrize(
    "damage",
    [
        "delete from journal where seq > 80",
        "delete from journal where seq = 95",
        "update journal set body = replace(body, 'yes', 'no') where seq > 95",
        "update journal set chain = chain + 1 where seq = 99",
    ],
)
def test_damage_within_the_journal_is_found(folder, damage):
    database = sqlite3.connect(folder / JOURNAL)
    with database:
        assert database.execute(damage).rowcount > 0
    database.close()
    with pytest.raises(JournalError, match="damaged"):
        Service.open(folder, Settings())


def test_other_files_are_not_taken_for_journals(tmp_path):
    database = sqlite3.connect(tmp_path / JOURNAL)
    database.execute("create table cats (name)")
    database.close()
    with pytest.raises(JournalError, match="not a journal"):
        Service.open(tmp_path, Settings())


def test_one_service_per_folder(folder):
    with served(folder):
        for options in (["--port", 0], ["--check"], ["--repair", folder.with_name("new")]):
            message = command("serve", "--data", folder, *options, code=1)
            assert "another onmargin serve uses this folder" in message
            assert "damaged" not in message
        assert not folder.with_name("new").exists()


def test_a_full_disk_refuses_and_continues(folder):
    with served(folder) as client:
        before = learned(client.service)
        database = client.service.journal.db
        client.service._disk.submit(
            lambda: database.execute(f"pragma max_page_count = {database.execute('pragma page_count').fetchone()[0]}")
        ).result()
        answers = [learn(client, "m", *PAIRS) for _ in range(5)]
        assert answers[-1].status_code == 507
        assert "disk is full" in answers[-1].json()["error"]
        written = before["seq"] + 100 * sum(answer.status_code == 200 for answer in answers)
        assert client.get("/v1/models/m").json()["seq"] == written
        assert predict(client, "m", PAIRS[0][0]).status_code == 200
        client.service._disk.submit(lambda: database.execute("pragma max_page_count = 100000")).result()
        assert learn(client, "m", *PAIRS).json()["last"] == written + 100
        after = learned(client.service)
    with served(folder) as client:
        assert learned(client.service) == after


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are set on Linux only")
def test_a_disk_that_fails_ends_learning_and_loses_nothing(tmp_path):
    import resource

    with process(tmp_path) as (address, running):
        client = onmargin.Client(address, retries=0)
        client.create("m")
        client.learn_many("m", *zip(*PAIRS, strict=True))
        resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        with pytest.raises(onmargin.ServiceError, match="nothing was learned") as caught:
            client.learn("m", *PAIRS[0])
        assert caught.value.status in {503, 507}
        assert client.model("m")["seq"] == 100
        assert client.predict("m", PAIRS[0][0]) in {"yes", "no"}
        resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        client.close()
    with process(tmp_path) as (address, _), onmargin.Client(address) as client:
        assert client.model("m")["seq"] == 100
        client.learn("m", *PAIRS[0])


@pytest.mark.skipif(not os.path.isdir("/sys"), reason="no folder here that cannot be written to")
def test_a_folder_that_cannot_be_written_to():
    assert "/sys/onmargin" in command("serve", "--data", "/sys/onmargin", "--port", 0, code=1)


def test_a_clock_that_goes_backwards(tmp_path, monkeypatch):
    clock = iter(range(10**9, 0, -1000))
    monkeypatch.setattr("onmargin.apps.serve.journal.time.time", lambda: float(next(clock)))
    with served(tmp_path) as client:
        create(client)
        for pair in PAIRS[:20]:
            learn(client, "m", pair)
        before = learned(client.service)
        lines = [json.loads(line) for line in client.get("/v1/models/m/journal").text.splitlines()]
        assert [line["x"] for line in lines] == [x for x, _ in PAIRS[:20]]
        assert lines[0]["at"] > lines[-1]["at"]
    with served(tmp_path) as client:
        assert learned(client.service) == before


def test_a_snapshot_that_cannot_be_written_is_counted(tmp_path):
    with served(tmp_path, Settings(snapshot_every=10)) as client:
        create(client)
        (tmp_path / "snapshots").rmdir()
        for _ in range(3):
            assert learn(client, "m", *PAIRS[:10]).status_code == 200
        wait_until(lambda: re.search(r"onmargin_failed_snapshots_total [1-9]", client.get("/metrics").text))
        (tmp_path / "snapshots").mkdir()
        before = learned(client.service)
    with served(tmp_path) as client:
        assert learned(client.service) == before


def test_shutdown_answers_waiting_requests(tmp_path):
    answered = []

    def post(address, number):
        connection = Connection(address, None, LIMIT, 0)
        while True:
            body = {"examples": [{"x": {f"f{number}": 1.0}, "y": "ab"[number % 2]}]}
            try:
                answer = connection.exchange("POST", "/v1/models/m/learn", json.dumps(body).encode())
            except Exception:
                connection.close()
                return
            answered.append(json.loads(answer)["last"])

    with process(tmp_path) as (address, running):
        with onmargin.Client(address) as client:
            client.create("m")
        threads = [threading.Thread(target=post, args=(address, k)) for k in range(8)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(answered) > 50)
        running.terminate()
        for thread in threads:
            thread.join()
        running.wait(LIMIT)
    service = Service.open(tmp_path, Settings())
    assert service.models["m"].state.seq == len(answered) == max(answered)
    service.journal.close()
