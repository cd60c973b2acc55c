"""Damaged files of a service give a clear error that names the model, or the same state bit for bit."""

import asyncio
import json
import random
import shutil
import sqlite3

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from onmargin.apps.serve import schema
from onmargin.apps.serve.journal import Journal
from onmargin.apps.serve.journal_file import JournalError
from onmargin.apps.serve.json_learner import Room
from onmargin.apps.serve.problems import DiskError
from onmargin.apps.serve.repair import check, repair
from onmargin.apps.serve.service import Service, Settings
from onmargin.apps.serve.witness import Point, Witness, read_witness
from tests.apps.program import onmargin as command
from tests.apps.serving import create, learn, learned, predict, records, served
from tests.examples import examples
from tests.waiting import wait_until

PAIRS = list(records(230))
NAMES = ("mail", "news", "shop")
SNAPSHOTS = ["1-100", "1-200", "2-230", "3-100"]  # models and numbers


def killed(folder, target):
    """Make three models whose service is killed: one with a write-ahead log, one compacted, one rewound."""
    with served(folder, Settings(snapshot_every=100)) as client:
        for name in NAMES:
            create(client, name)
            for k in range(0, 230, 10):
                answer = learn(client, name, *PAIRS[k : k + 10], key=f"{name}-{k}")
                assert answer.status_code == 200
                wait_until(lambda: not client.service._tasks)  # a snapshot is written
        client.post("/v1/models/news/compact", json={})
        client.post("/v1/models/shop/rewind", json={"seq": 150})
        assert sorted(path.name.rpartition("-")[0] for path in (folder / "snapshots").iterdir()) == SNAPSHOTS
        learn(client, "news", *PAIRS[:5], key="after")
        client.service._disk.submit(int).result()
        shutil.copytree(folder, target)


async def exported(service, model):
    return [line async for line in service.export(model)]


def contents(folder):
    """Return the state, keys and journals of all models of a service; None if it is damaged."""
    service = Service.open(folder, Settings())
    try:
        found = {}
        for name, model in service.models.items():
            try:
                rows = asyncio.run(exported(service, model))
            except DiskError:
                rows = None
            keys = {key: (one.first, one.last) for key in model.keys if (one := model.known(key))}
            found[name] = learned(service, name), keys, model.n_keys, model.describe(), rows
        for name, words in service.damaged.items():
            assert repr(name) in words
            found[name] = None
        return found
    finally:
        service.journal.close()


async def teach(folder):
    """Learn one example more of each model that can learn, and end; how many there are."""
    service = Service.open(folder, Settings())
    service.start()
    try:
        if service.problem is None:
            for name in service.models:
                await service.learn(name, schema.Learn([schema.Example({"a": 1.0}, "yes")], key="more"))
        return {name: model.state.seq for name, model in service.models.items()}
    finally:
        await service.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damage")
    killed(folder / "live", folder / "killed")
    return folder / "killed"


@pytest.fixture(scope="module")
def whole(folder, tmp_path_factory):
    copy = tmp_path_factory.mktemp("whole") / "copy"
    shutil.copytree(folder, copy)
    found = contents(copy)
    assert all(found.values())
    assert {name: one[0]["seq"] for name, one in found.items()} == {"mail": 230, "news": 235, "shop": 150}
    return Whole(found)


class Whole(dict):
    """The contents of a folder, with a short repr, because hypothesis would print all of it."""

    def __repr__(self):
        return "whole"


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)


def flip(data, random_):
    at = random_.randrange(len(data))
    data[at] ^= 1 << random_.randrange(8)


def overwrite(data, random_):
    at = random_.randrange(len(data))
    part = random_.choice([bytes(16), b"\xff" * 16, random_.randbytes(16)])
    data[at : at + 16] = part[: len(data) - at]


def truncate(data, random_):
    del data[random_.randrange(len(data)) :]


def extend(data, random_):
    data += random_.randbytes(random_.choice([1, 24, 4096, 4120]))


def swap(data, random_):
    size = random_.choice([512, 4096, 4120])
    n = len(data) // size
    if n > 1:
        a, b = (size * k for k in random_.sample(range(n), 2))
        data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]


def zero(data, random_):
    at = random_.randrange(len(data)) // 4096 * 4096
    data[at : at + 4096] = bytes(len(data[at : at + 4096]))


def empty(data, random_):
    data.clear()


DAMAGES = (flip, flip, flip, overwrite, truncate, extend, swap, zero, empty, None)


def damaged(folder, random_):
    """Damage one file, or delete it, and return its name."""
    path = random_.choice(files(folder))
    how = random_.choice(DAMAGES)
    if how is None:
        path.unlink()
    else:
        data = bytearray(path.read_bytes())
        how(data, random_)
        path.write_bytes(data)
    return path.relative_to(folder).as_posix(), getattr(how, "__name__", "delete")


def harmless_or_said(folder, whole):
    """Open a folder: "harmless", or "said" if there was a clear error."""
    before = {path.name: path.read_bytes() for path in (folder / "snapshots").iterdir()}
    try:
        found = contents(folder)
    except JournalError as error:
        if not any(name in str(error) for name in (*NAMES, "journal.sqlite")):
            raise
        found = {}
    after = {path.name: path.read_bytes() for path in (folder / "snapshots").iterdir()}
    assert after == before, "a snapshot was removed"
    for name, one in found.items():
        if one is not None:
            *same, rows = one
            *expected, expected_rows = whole[name]
            assert same == expected, f"{name} is not what it was"
            assert rows is None or rows == expected_rows
    if any(found.values()):
        assert asyncio.run(teach(folder)) == asyncio.run(teach(folder))
    return "harmless" if found.keys() == whole.keys() and all(found.values()) else "said"


@pytest.fixture(params=["killed", "ended"])
def damage(request, folder, whole, tmp_path_factory):
    """Damage a copy of the folder, whose examples are in the write-ahead log or in the database, and check it."""
    source = tmp_path_factory.mktemp("source") / "folder"
    shutil.copytree(folder, source)
    if request.param == "ended":
        contents(source)

    def damage(seed):
        copy = tmp_path_factory.mktemp("damaged") / "copy"
        shutil.copytree(source, copy)
        try:
            damaged(copy, random.Random(seed))
            harmless_or_said(copy, whole)
        finally:
            shutil.rmtree(copy.parent)

    return damage


FIXTURES = {"suppress_health_check": [HealthCheck.function_scoped_fixture]}  # it is the same for all examples


@examples(300, **FIXTURES)
@given(seed=st.integers(0, 2**32))
def test_damage_is_harmless_or_reported(damage, seed):
    damage(seed)


@pytest.fixture
def copy(folder, tmp_path):
    """Return a copy of the folder of a service that was killed."""
    shutil.copytree(folder, tmp_path / "copy")
    return tmp_path / "copy"


def execute(folder, *statements):
    database = sqlite3.connect(folder / "journal.sqlite")
    with database:
        for statement in statements:
            assert database.execute(statement).rowcount
    database.close()


def test_a_damaged_log_never_silently_loses_examples(copy, whole, tmp_path):
    """SQLite silently drops the end of a log from the first damaged page on."""
    path = copy / "journal.sqlite-wal"
    data = bytearray(path.read_bytes())
    data[len(data) // 20] ^= 1
    path.write_bytes(data)
    before = {path: path.read_bytes() for path in files(copy)}
    with pytest.raises(JournalError, match="model 'mail'") as caught:
        Service.open(copy, Settings())
    assert "were acknowledged" in str(caught.value)
    assert "--repair" in str(caught.value)
    assert {path: path.read_bytes() for path in files(copy)} == before
    assert any("mail: the journal is damaged" in line for line in check(copy, Room()).lines)
    assert "damaged" in command("serve", "--data", copy, "--check", code=1)
    assert {path: path.read_bytes() for path in files(copy)} == before
    fixed = tmp_path / "fixed"
    said = command("serve", "--data", copy, "--repair", fixed)
    assert "mail: kept 200 examples, in the journal from 201 on, and the last 30 examples" in said
    assert {path: path.read_bytes() for path in files(copy)} == before
    command("serve", "--data", fixed, "--check")
    found = contents(fixed)
    assert found["mail"][0]["seq"] == 200
    assert found["mail"][1].items() <= whole["mail"][1].items()


@pytest.mark.parametrize("name", ["journal.sqlite", "journal.sqlite-wal", "witness/1"])
def test_missing_files_are_noticed(copy, name):
    (copy / name).unlink()
    try:
        service = Service.open(copy, Settings())
    except JournalError as error:
        words = str(error)
    else:
        service.journal.close()
        words = service.damaged["mail"]
    assert "mail" in words


def test_one_damaged_model_does_not_stop_the_others(copy, whole):
    contents(copy)
    execute(copy, "update journal set body = replace(body, 'yes', 'no') where model = 1 and seq > 210")
    with served(copy) as client:
        answer = predict(client, "mail", {})
        assert answer.status_code == 503
        assert "model 'mail'" in answer.json()["error"]
        assert client.get("/health").json()["damaged"] == 1
        assert client.post("/v1/models", json={"name": "mail"}).status_code == 409
        assert learned(client.service, "shop") == whole["shop"][0]
        assert learn(client, "shop", *PAIRS[:3]).json()["last"] == 153
        assert {one["name"] for one in client.get("/v1/models").json()["models"]} == {"news", "shop"}
    assert contents(copy)["mail"] is None


def test_an_error_does_not_keep_the_journal_open(copy):
    """An exception may be kept, and with it everything that it refers to."""
    contents(copy)
    execute(copy, "update journal set chain = 1 where model = 1 and seq = 205")
    journal = Journal(copy / "journal.sqlite", writable=False)
    with pytest.raises(JournalError) as caught:
        journal.rows(1, 200, None)
    journal.close()
    Journal(copy / "journal.sqlite").close()
    assert "example 205" in str(caught.value)


def test_a_damaged_structure_is_not_written_to(copy, whole):
    """Writing to a file with misplaced pages could destroy more; predictions continue."""
    contents(copy)
    execute(copy, "delete from journal where model = 1 and seq < 150", "delete from keys where model = 1")
    path = copy / "journal.sqlite"
    data = bytearray(path.read_bytes())
    trunk = 4096 * (int.from_bytes(data[32:36], "big") - 1)  # in the list of free pages
    data[trunk + 8 : trunk + 12] = (2).to_bytes(4, "big")
    path.write_bytes(data)
    with served(copy) as client:
        assert predict(client, "shop", PAIRS[0][0]).status_code == 200
        for method, path, body in (
            ("POST", "/v1/models/shop/learn", {"examples": [{"x": {}, "y": "yes"}]}),
            ("POST", "/v1/models/shop/compact", {}),
            ("POST", "/v1/models/shop/rewind", {"seq": 1}),
            ("POST", "/v1/models", {"name": "new"}),
            ("DELETE", "/v1/models/shop", None),
        ):
            answer = client.request(method, path, json=body)
            assert (answer.status_code, "damaged" in answer.json()["error"]) == (503, True)
    assert contents(copy)["shop"] == whole["shop"]


def test_a_snapshot_that_is_ahead_stops_its_model_and_stays(copy):
    contents(copy)
    (ahead,) = (copy / "snapshots").glob("1-200-*")
    execute(copy, "delete from journal where model = 1 and seq > 150", "delete from snapshots where model = 1")
    witness = Witness(copy / "witness" / "1", read_witness(copy / "witness" / "1"))
    witness.settle(Point())
    witness.close()
    service = Service.open(copy, Settings())
    service.journal.close()
    assert str(ahead) in service.damaged["mail"]
    assert ahead.exists()


def test_a_witness_that_is_behind_is_accepted(copy, whole):
    """It is written after the journal, and reaches the disk later."""
    service = Service.open(copy, Settings())
    chain = service.journal.chain(1, 120)
    service.journal.close()
    witness = Witness(copy / "witness" / "1", read_witness(copy / "witness" / "1"))
    witness.settle(Point(120, chain, 0))
    assert contents(copy) == whole
    witness.settle(Point(120, chain + 1, 0))
    assert contents(copy)["mail"] is None
    witness.close()


def test_a_rewind_into_a_request(tmp_path):
    """Its key is forgotten, and earlier keys are kept."""
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *PAIRS[:5], key="a")
        learn(client, "m", *PAIRS[5:10], key="b")
        client.post("/v1/models/m/rewind", json={"seq": 8})
    with served(tmp_path) as client:
        assert learn(client, "m", *PAIRS[:5], key="a").json()["repeated"]
        assert not learn(client, "m", *PAIRS[5:10], key="b").json()["repeated"]
    assert contents(tmp_path)["m"][2] == 2


@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("change", ["rewind", "delete", "create"])
def test_a_crash_during_a_change_is_not_damage(copy, whole, change, done, monkeypatch):
    """The witness announces a change before its commit, and confirms it after."""
    service = Service.open(copy, Settings())
    journal = service.journal

    def crash(*_, **__):
        raise KeyboardInterrupt

    own = Witness.settle
    monkeypatch.setattr(Witness, "settle", lambda *a, absent=False: own(*a, absent=True) if absent else crash())
    monkeypatch.setattr(Witness, "remove", crash)
    if not done:
        monkeypatch.setattr(journal, "_update" if change != "delete" else "writing", crash)

    def make():
        if change == "rewind":
            journal.rewind(service.models["mail"].kept, 200, journal.chain(1, 200), 20, 1)
        elif change == "delete":
            journal.delete(1)
            journal.unwatch(1)
        else:
            journal.create("new", "classify", b"{}")

    with pytest.raises(KeyboardInterrupt):
        make()
    monkeypatch.undo()
    journal.close()
    found = contents(copy)
    expected = {"rewind": {"mail": 200}, "delete": {"mail": None}, "create": {"new": 0}}[change] if done else {}
    seqs = {name: one[0]["seq"] for name, one in found.items() if one is not None}
    before = {name: one[0]["seq"] for name, one in whole.items()} | expected
    assert seqs == {name: seq for name, seq in before.items() if seq is not None}
    assert contents(copy) == found


@examples(200)
@given(seed=st.integers(0, 2**32))
def test_a_repair_keeps_the_consistent_part(folder, whole, tmp_path_factory, seed):
    """The repaired folder has a prefix of the learned examples, and is consistent."""
    base = tmp_path_factory.mktemp("repair")
    shutil.copytree(folder, base / "copy")
    try:
        damaged(base / "copy", random.Random(seed))
        before = {path: path.read_bytes() for path in files(base / "copy")}
        repair(base / "copy", base / "fixed", Room())
        assert {path: path.read_bytes() for path in files(base / "copy")} == before
        assert check(base / "fixed", Room()).good
        for name, one in contents(base / "fixed").items():
            if name in whole:
                state, keys, *_, rows = one
                assert state["seq"] <= whole[name][0]["seq"]
                assert keys.items() <= whole[name][1].items()
                for line in map(json.loads, b"".join(rows).splitlines()):
                    assert line["x"] == (PAIRS + PAIRS)[line["seq"] - 1][0]
                assert state["seq"] < whole[name][0]["seq"] or state == whole[name][0]
    finally:
        shutil.rmtree(base)


def test_a_repair_needs_a_new_folder(copy):
    assert "empty" in command("serve", "--data", copy, "--repair", copy, code=1)
    assert "together" in command("serve", "--data", copy, "--check", "--repair", copy / "new", code=2)
