"""Readers: other processes serve predictions, at most a second behind, with the same weights."""

import os
import re
import signal
from contextlib import suppress
from types import SimpleNamespace

import httpx
import pytest

import onmargin
from onmargin.apps.serve.following import LAG, Beat
from onmargin.apps.serve.json_learner import Room
from onmargin.apps.serve.problems import NoModelError, ProblemError
from onmargin.apps.serve.reader import Replica
from tests.apps.serving import create, learn, predict, process, records
from tests.waiting import wait_until

PAIRS = list(records(60))


def wait_for(found, wanted):
    """Repeat a request until its response is as expected; readers may be a second behind and take time to start."""

    def as_expected():
        with suppress(httpx.TransportError):
            return found() == wanted
        return False

    wait_until(as_expected)


def test_readers_follow_the_service(tmp_path):
    with (
        process(tmp_path, "--readers", 1) as (address, running),
        httpx.Client(base_url=address, verify=False) as client,
    ):
        place = re.search(r"http://\S+:\d+", running.stderr.readline())[0]
        create(client)
        learn(client, "m", *PAIRS[:50])
        xs = [x for x, _ in PAIRS]
        with httpx.Client(base_url=place, verify=False, headers={"Connection": "close"}) as reader:
            expected = lambda: predict(client, "m", *xs, scores=True).json()  # noqa: E731
            wait_for(lambda: predict(reader, "m", *xs, scores=True).json(), expected())
            learn(client, "m", *PAIRS[50:])
            wait_for(lambda: predict(reader, "m", *xs, scores=True).json(), expected())
            assert expected()["seq"] == 60
            client.post("/v1/models/m/rewind", json={"seq": 20})
            wait_for(lambda: predict(reader, "m", *xs, scores=True).json(), expected())
            client.post("/v1/models/m/rename", json={"name": "n"})
            learn(client, "n", *PAIRS[:5])
            wait_for(lambda: reader.get("/v1/models/n").json().get("seq"), 25)
            for answer in (
                learn(reader, "n", *PAIRS[:5]),
                predict(reader, "n", {}, keep=True),
                reader.delete("/v1/models/n"),
            ):
                assert answer.status_code == 405
                assert "reader" in answer.json()["error"]
            process_id = next(
                int(name)
                for name in os.listdir("/proc")
                if name.isdigit() and _parent(name) == running.pid and b"serve.reader" in _command(name)
            )
            os.kill(process_id, signal.SIGKILL)  # another one is started
            assert "a reader has ended with exit status -9" in running.stderr.readline()
            wait_for(lambda: reader.get("/v1/models/n").json().get("seq"), 25)
            client.delete("/v1/models/n")
            wait_for(lambda: reader.get("/v1/models/n").status_code, 404)


def _parent(name):
    try:
        with open(f"/proc/{name}/stat", encoding="ascii") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _command(name):
    try:
        with open(f"/proc/{name}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def test_a_reader_that_is_behind_does_not_answer(monkeypatch):
    replica = Replica(Room())
    now = 1000.0
    monkeypatch.setattr("onmargin.apps.serve.reader.time", SimpleNamespace(monotonic=lambda: now))
    replica.apply(Beat(now))
    with pytest.raises(NoModelError):
        replica.get("m")
    now += LAG + 1
    with pytest.raises(ProblemError, match="behind") as caught:
        replica.get("m")
    assert caught.value.status == 503
    assert "behind" in replica.problem


def test_readers_end_with_the_service(tmp_path):
    with process(tmp_path, "--readers", 1) as (_, running):
        place = re.search(r"http://\S+:\d+", running.stderr.readline())[0]
        with onmargin.Client(place, retries=100) as reader:
            assert reader.models() == []
        running.kill()
        running.wait()

        def gone():
            try:
                httpx.get(f"{place}/health")
            except httpx.TransportError:
                return True
            return False

        wait_until(gone)
