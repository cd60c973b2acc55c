"""Model transfer: files, clones, renaming, earlier states and backups."""

import json
import tarfile
import threading
from datetime import UTC, datetime, timedelta

import httpx
import pytest

import onmargin
from onmargin.apps.serve.json_learner import Room
from onmargin.apps.serve.limits import Limits
from onmargin.apps.serve.service import Service, Settings
from onmargin.apps.serve.witness import Witness
from tests.apps.program import onmargin as command
from tests.apps.serving import create, learn, learned, predict, process, records, served
from tests.waiting import LIMIT, wait_until

PAIRS = list(records(120))
BINARY = {"Content-Type": "application/octet-stream"}


def upload(client, content, name="m"):
    return client.put(f"/v1/models/{name}/file", content=content, headers=BINARY)


@pytest.fixture
def trained(tmp_path):
    """Train a model file with the command line."""
    data, out = tmp_path / "data.jsonl", tmp_path / "model"
    data.write_text("\n".join(json.dumps({**x, "label": y}) for x, y in PAIRS[:60]))
    command("train", data, "-o", out, "--label", "label", "--quiet")
    return out


def test_a_trained_model_is_served_continues_and_is_downloaded(tmp_path, trained):
    alone = onmargin.load(trained)
    with served(tmp_path / "served") as client:
        answer = upload(client, trained.read_bytes())
        assert answer.status_code == 201, answer.text
        assert answer.json()["seq"] == answer.json()["earliest"] == 60
        assert answer.json()["model"] == type(alone).__name__
        for x, y in PAIRS[60:]:
            assert learn(client, "m", (x, y)).json()["predictions"] == [alone.predict_one(x)]
            alone.learn_one(x, y)
        before = learned(client.service)
    with served(tmp_path / "served") as client:
        assert learned(client.service) == before
        found = client.get("/v1/models/m/file")
        assert found.headers["onmargin-seq"] == "120"
        again = tmp_path / "again"
        again.write_bytes(found.content)
        assert onmargin.load(again).predict_many([x for x, _ in PAIRS]) == alone.predict_many([x for x, _ in PAIRS])
        rows = tmp_path / "rows.jsonl"
        rows.write_text("\n".join(json.dumps(x) for x, _ in PAIRS))
        assert command("predict", again, rows).split() == alone.predict_many([x for x, _ in PAIRS])
        assert upload(client, found.content, "copy").json()["seq"] == 120
        assert learned(client.service, "copy")["weights"] == before["weights"]
        assert not [path for path in (tmp_path / "served" / "snapshots").iterdir() if path.name.endswith(".tmp")]


def test_files_that_are_refused(tmp_path, trained):
    from sklearn.datasets import load_iris

    estimator = tmp_path / "estimator"
    onmargin.save(onmargin.PassiveAggressiveClassifier().fit(*load_iris(return_X_y=True)), estimator)
    empty = tmp_path / "empty"
    onmargin.save(onmargin.stream.PassiveAggressiveClassifier(), empty)
    with served(tmp_path / "served", Settings(room=Room(weights=1000))) as client:
        for content, words in (
            (b"nonsense", "not a model file"),
            (estimator.read_bytes(), "learners of rows of onmargin.stream"),
            (empty.read_bytes(), "learned nothing"),
            (trained.read_bytes(), "weights are allowed here"),
        ):
            answer = upload(client, content)
            assert answer.status_code == 422, answer.text
            assert words in answer.json()["error"]
            assert str(tmp_path) not in answer.json()["error"]
        assert upload(client, b"x", "no%20name").status_code == 422
        assert client.put("/v1/models/m/file", json={}).status_code == 415
        assert client.get("/v1/models").json() == {"models": []}
    with served(tmp_path / "served", limits=Limits(file=1000)) as client:
        assert upload(client, trained.read_bytes()).status_code == 413
        create(client)
        assert upload(client, trained.read_bytes()[:900]).status_code in {409, 422}
        assert "learned nothing yet" in client.get("/v1/models/m/file").json()["error"]


def test_a_clone_is_independent(tmp_path):
    with served(tmp_path) as client:
        create(client, C=0.3)
        assert client.post("/v1/models/m/clone", json={"name": "early"}).json()["seq"] == 0
        learn(client, "m", *PAIRS[:50])
        made = client.post("/v1/models/m/clone", json={"name": "late"})
        assert made.status_code == 201
        assert (made.json()["seq"], made.json()["parameters"]) == (50, {"C": 0.3})
        assert client.post("/v1/models/m/clone", json={"name": "late"}).status_code == 409
        assert client.post("/v1/models/none/clone", json={"name": "other"}).status_code == 404
        learn(client, "m", *PAIRS[50:60])
        learn(client, "late", *PAIRS[50:60])
        learn(client, "early", *PAIRS[:60])
        states = [learned(client.service, name) for name in ("m", "late", "early")]
        assert states[0] == states[1] == states[2]
    with served(tmp_path) as client:
        assert [learned(client.service, name) for name in ("m", "late", "early")] == states
        assert client.post("/v1/models/late/rewind", json={"seq": 49}).status_code == 409
        assert client.post("/v1/models/late/rewind", json={"seq": 55}).status_code == 200


def test_another_name(tmp_path):
    with served(tmp_path) as client:
        create(client)
        create(client, "other")
        learn(client, "m", *PAIRS[:20], key="k")
        assert client.post("/v1/models/m/rename", json={"name": "other"}).status_code == 409
        assert client.post("/v1/models/m/rename", json={"name": "n"}).json()["name"] == "n"
        assert predict(client, "m", {}).status_code == 404
        assert learn(client, "n", *PAIRS[:20], key="k").json()["repeated"]
        learn(client, "n", *PAIRS[20:30])
        state = learned(client.service, "n")
    with served(tmp_path) as client:
        assert learned(client.service, "n") == state
        create(client)


def test_a_model_is_replaced_without_a_gap(tmp_path):
    with served(tmp_path) as client:
        for name, n in (("mail", 10), ("next", 20)):
            create(client, name)
            learn(client, name, *PAIRS[:n])
        client.post("/v1/models/mail/compact", json={})
        assert "replace" in client.post("/v1/models/next/rename", json={"name": "mail"}).json()["error"]
        statuses, ending = set(), threading.Event()

        def ask():
            with httpx.Client(base_url=client.base_url, timeout=LIMIT) as own:
                while not ending.is_set():
                    statuses.add(predict(own, "mail", PAIRS[0][0]).status_code)

        asking = threading.Thread(target=ask)
        asking.start()
        wait_until(lambda: statuses)
        made = client.post("/v1/models/next/rename", json={"name": "mail", "replace": True})
        ending.set()
        asking.join()
        assert (made.json()["name"], made.json()["seq"], statuses) == ("mail", 20, {200})
        assert learn(client, "mail", *PAIRS[20:30]).json()["last"] == 30
        state = learned(client.service, "mail")
        assert not list((tmp_path / "snapshots").iterdir())
    with served(tmp_path) as client:
        assert [one["name"] for one in client.get("/v1/models").json()["models"]] == ["mail"]
        assert learned(client.service, "mail") == state


@pytest.mark.parametrize("done", [False, True])
def test_a_crash_while_a_model_is_replaced_is_not_damage(tmp_path, done, monkeypatch):
    with served(tmp_path) as client:
        for name, n in (("mail", 10), ("next", 20)):
            create(client, name)
            learn(client, name, *PAIRS[:n])
    service = Service.open(tmp_path, Settings())

    def crash(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(*((Witness, "settle") if done else (service.journal, "_update")), crash)
    with pytest.raises(KeyboardInterrupt):
        service.journal.rename(service.models["next"].kept, "mail", service.models["mail"].id)
    monkeypatch.undo()
    service.journal.close()
    with served(tmp_path) as client:
        found = {one["name"]: one["seq"] for one in client.get("/v1/models").json()["models"]}
        assert found == ({"mail": 20} if done else {"mail": 10, "next": 20})
        assert client.get("/health").json()["damaged"] == 0


@pytest.mark.parametrize("done", [False, True])
def test_a_crash_while_a_model_is_renamed_is_not_damage(tmp_path, done, monkeypatch):
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *PAIRS[:20])
    service = Service.open(tmp_path, Settings())

    def crash(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(*((Witness, "settle") if done else (service.journal, "writing")), crash)
    with pytest.raises(KeyboardInterrupt):
        service.journal.rename(service.models["m"].kept, "n")
    monkeypatch.undo()
    service.journal.close()
    with served(tmp_path) as client:
        assert learn(client, "n" if done else "m", *PAIRS[20:30]).json()["last"] == 30
    with served(tmp_path) as client:
        assert [model["seq"] for model in client.get("/v1/models").json()["models"]] == [30]


def test_back_to_a_time(tmp_path, monkeypatch):
    early = datetime.now(UTC) - timedelta(hours=2)
    with served(tmp_path) as client:
        create(client)
        with monkeypatch.context() as clock:
            clock.setattr("onmargin.apps.serve.journal.time.time", early.timestamp)
            learn(client, "m", *PAIRS[:10])
        learn(client, "m", *PAIRS[10:20])
        rewind = lambda **sent: client.post("/v1/models/m/rewind", json=sent)  # noqa: E731
        for sent in ({}, {"seq": 1, "time": early.isoformat()}, {"time": "2026-01-01T00:00:00"}, {"time": "noon"}):
            answer = rewind(**sent)
            assert answer.status_code == 422
            assert '{"seq": 1000} or {"time": "2026-01-31T12:00:00Z"}' in answer.json()["error"]
        assert rewind(time=datetime.now(UTC).isoformat()).json()["seq"] == 20
        assert rewind(time=(early + timedelta(hours=1)).isoformat()).json()["seq"] == 10
        assert rewind(time=(early - timedelta(hours=1)).isoformat()).json()["seq"] == 0
        learn(client, "m", *PAIRS[:10])
        client.post("/v1/models/m/compact", json={})
        assert "compacted" in rewind(time=early.isoformat()).json()["error"]


def test_a_backup_while_the_service_learns(tmp_path):
    with process(tmp_path / "live", "--snapshot-every", 25) as (address, _), onmargin.Client(address) as client:
        client.create("m")
        client.learn_many("m", *zip(*PAIRS[:60], strict=True))
        client.create("n", "regress")
        ids = client.predict_later("m", [PAIRS[0][0]])[1]
        said = command("backup", address, "-o", tmp_path / "copy")
        assert "m: intact, 60 examples" in said
        client.learn_many("m", *zip(*PAIRS[60:], strict=True))
        client.backup(tmp_path / "copy.tar")
        with tarfile.open(tmp_path / "copy.tar") as tar:
            assert {"journal.sqlite", "witness/1", "witness/2"} <= set(tar.getnames())
        wait_until(lambda: not list((tmp_path / "live").glob(".backup*")))  # it is removed after it was sent
        assert "must be a folder that is empty" in command("backup", address, "-o", tmp_path / "copy", code=1)
    with process(tmp_path / "copy") as (address, _), onmargin.Client(address) as client:
        assert client.model("m")["seq"] == 60
        assert client.label("m", ids, ["yes"]) is not None


def test_the_client_moves_models(tmp_path, trained):
    with process(tmp_path / "served") as (address, _), onmargin.Client(address) as client:
        assert client.upload("m", trained)["seq"] == 60
        assert client.download("m", tmp_path / "out") == 60
        assert onmargin.load(tmp_path / "out").predict_one(PAIRS[0][0]) == client.predict("m", PAIRS[0][0])
        assert client.clone("m", "n")["name"] == "n"
        assert client.rename("n", "o")["name"] == "o"
        predictions, ids = client.predict_later("m", [x for x, _ in PAIRS[:3]])
        assert client.label("m", ids, [y for _, y in PAIRS[:3]]) == predictions
        assert client.rewind("m", time=datetime.now(UTC))["seq"] == 63
        with pytest.raises(onmargin.ServiceError, match="no model"):
            client.download("none", tmp_path / "none")
        assert not (tmp_path / "none").exists()


def test_damage_found_while_running_names_the_model(tmp_path):
    with served(tmp_path) as client:
        create(client, "mail")
        learn(client, "mail", *PAIRS)
        database = client.service.journal.db
        client.service._disk.submit(lambda: database.execute("update journal set chain = 1 where seq = 5")).result()
        for answer in (
            client.post("/v1/models/mail/rewind", json={"seq": 50}),
            client.get("/v1/models/mail/journal"),
            client.get("/v1/models/mail/certificate"),
        ):
            assert answer.status_code == 503
            assert answer.json()["error"].startswith("model 'mail': ")


def test_uploads_need_the_scope_of_an_admin(tmp_path, trained):
    from onmargin.apps.serve.tokens import Tokens, line

    path = tmp_path / "tokens"
    path.write_text("\n".join(line(scope, scope) for scope in ("read", "learn", "admin")))
    with served(tmp_path / "data", tokens=Tokens.read(path)) as client:
        for scope, status in (("learn", 403), ("admin", 201)):
            client.headers["Authorization"] = f"Bearer {scope}"
            assert upload(client, trained.read_bytes()).status_code == status
        for where in ("/v1/models/m/file", "/v1/backup"):
            headers = {"Authorization": "Bearer learn"}
            assert httpx.get(f"{client.base_url}{where}", headers=headers).status_code == 403
            assert client.get(where).status_code == 200


def test_models_that_only_predict_are_served_and_refuse_to_learn(tmp_path, trained):
    alone, small = onmargin.load(trained), tmp_path / "small"
    onmargin.save(alone, small, notes=onmargin.io.load_with_notes(trained)[1], predict_only=True)
    with served(tmp_path / "served") as client:
        assert upload(client, small.read_bytes()).status_code == 201
        answer = learn(client, "m", PAIRS[60])
        assert answer.status_code == 409
        assert "saved with predict_only=True" in answer.json()["error"]
        assert predict(client, "m", PAIRS[60][0]).json()["predictions"] == [alone.predict_one(PAIRS[60][0])]
    with served(tmp_path / "served") as client:
        assert client.get("/v1/models/m").json()["seq"] == 60
        assert learn(client, "m", PAIRS[60]).status_code == 409
