"""Delayed labels: predictions are kept on disk, and the error counts the prediction made at that time."""

import sqlite3
import time
from contextlib import closing
from dataclasses import replace

import pytest

from onmargin.apps.serve.held import HeldLimits
from onmargin.apps.serve.journal_file import JournalError
from onmargin.apps.serve.json_learner import Room
from onmargin.apps.serve.repair import check
from onmargin.apps.serve.service import Service, Settings
from onmargin.apps.serve.witness import Witness, read_witness
from tests.apps.program import onmargin as command
from tests.apps.serving import alone, create, learn, learned, predict, records, served

PAIRS = list(records(60))


def label(client, ids, ys, name="m", **options):
    examples = [{"id": one, "y": y} for one, y in zip(ids, ys, strict=True)]
    return client.post(f"/v1/models/{name}/learn", json={"examples": examples, **options})


def kept(client, *xs, name="m"):
    answer = predict(client, name, *xs, keep=True)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_label_that_comes_later(tmp_path):
    """Weights are those without a delay, and mistakes are those of the returned predictions."""
    first, second = PAIRS[:30], PAIRS[30:]
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *first)
        before = client.get("/v1/models/m").json()["progressive"]
        given = kept(client, *(x for x, _ in second))
        answer = label(client, given["ids"], [y for _, y in second])
        assert answer.status_code == 200, answer.text
        assert answer.json()["predictions"] == given["predictions"]
        model, _ = alone(PAIRS)
        found = client.get("/v1/models/m").json()
        assert client.service.models["m"].state.learner.model.weights() == model.weights()
        assert found["totals"]["mistakes"] == model.totals_.mistakes
        wrong = sum(p != y for p, (_, y) in zip(given["predictions"], second, strict=True))
        assert found["progressive"] == {
            "examples": 60, "mistakes": before["mistakes"] + wrong, "absolute_error": None
        }  # fmt: skip
        assert found["progressive"]["mistakes"] != found["totals"]["mistakes"]
        curve = client.get("/v1/models/m/progress").json()["curve"]
        assert curve[-1][1] == found["progressive"]["mistakes"]
        state = learned(client.service)
    with served(tmp_path) as client:  # the journal stores the returned prediction
        assert learned(client.service) == state
        assert client.get("/v1/models/m").json() == found


def test_kept_predictions_outlive_the_service(tmp_path):
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *PAIRS[:10])
        given = kept(client, PAIRS[10][0], PAIRS[11][0])
    with served(tmp_path) as client:
        assert label(client, given["ids"][:1], ["yes"]).json()["predictions"] == given["predictions"][:1]
        assert label(client, given["ids"][:1], ["yes"]).status_code == 404  # it is labeled
        more = kept(client, PAIRS[12][0])
        assert more["ids"][0] not in given["ids"]
    with served(tmp_path) as client:
        assert label(client, [given["ids"][1], *more["ids"]], ["no", "no"]).status_code == 200


def test_a_retry_with_its_key_is_learned_once(tmp_path):
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *PAIRS[:10])
        given = kept(client, PAIRS[10][0])
        first = label(client, given["ids"], ["yes"], key="k").json()
        again = label(client, given["ids"], ["yes"], key="k").json()
        assert again == first | {"repeated": True}
        assert client.get("/v1/models/m").json()["seq"] == 11


@pytest.mark.parametrize(
    ("examples", "status", "words"),
    [
        ([{"y": "yes"}], 422, "either x or the id"),
        ([{"id": "1-0000000000000000", "x": {}, "y": "yes"}], 422, "either x or the id"),
        ([{"id": "1-0000000000000000", "y": "yes"}], 404, "keeps no prediction '1-0000000000000000'"),
        ([{"id": "2-0000000000000000", "y": "yes"}, {"id": "nonsense", "y": "yes"}], 404, "keeps no prediction"),
        ([{"id": "1-0000000000000000", "y": "yes"}] * 2, 422, "given twice"),
    ],
)
def test_ids_that_are_refused(tmp_path, examples, status, words):
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *PAIRS[:10])
        kept(client, PAIRS[10][0])
        answer = client.post("/v1/models/m/learn", json={"examples": examples})
        assert answer.status_code == status
        assert words in answer.json()["error"]
        assert client.get("/v1/models/m").json()["seq"] == 10


def test_kept_predictions_are_bounded(tmp_path, monkeypatch):
    settings = Settings(held=HeldLimits(number=3))
    with served(tmp_path, settings) as client:
        create(client)
        learn(client, "m", *PAIRS[:10])
        ids = kept(client, *(x for x, _ in PAIRS[:5]))["ids"]
        assert label(client, ids[:1], ["yes"]).status_code == 404
        assert label(client, ids[4:], ["yes"]).status_code == 200
        assert "onmargin_dropped_predictions_total 2" in client.get("/metrics").text
        client.service.settings = replace(settings, held=HeldLimits(size=600))
        ids = kept(client, *(x for x, _ in PAIRS[:20]))["ids"]
        n, size = client.service.journal.held.size(1)
        assert 0 < n < 8
        assert size <= 600
        client.service.settings = settings
        later = time.time() + 8 * 86400
        monkeypatch.setattr("onmargin.apps.serve.held.steady_time", lambda: later)
        kept(client, PAIRS[0][0])
        assert label(client, ids[-1:], ["yes"]).status_code == 404


def test_keeping_needs_the_scope_learn(tmp_path):
    from onmargin.apps.serve.tokens import Tokens, line

    path = tmp_path / "tokens"
    path.write_text("\n".join(line(scope, scope) for scope in ("read", "learn", "admin")))
    with served(tmp_path / "data", tokens=Tokens.read(path)) as client:
        client.headers["Authorization"] = "Bearer admin"
        create(client)
        for scope, status in (("read", 403), ("learn", 200)):
            client.headers["Authorization"] = f"Bearer {scope}"
            assert predict(client, "m", "words").status_code == 200
            assert predict(client, "m", "words", keep=True).status_code == status


def test_numbers_have_an_absolute_error(tmp_path):
    with served(tmp_path) as client:
        create(client, task="regress")
        learn(client, "m", ({"a": 1.0}, 2.0))
        given = kept(client, {"a": 1.0})
        learn(client, "m", *[({"a": 1.0}, 2.0)] * 5)
        label(client, given["ids"], [5.0])
        found = client.get("/v1/models/m").json()["progressive"]
        assert found["mistakes"] is None
        assert found["examples"] == 6  # the first has no prediction
        assert found["absolute_error"] >= abs(5.0 - given["predictions"][0])


def test_lost_kept_predictions_are_damage(tmp_path):
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *PAIRS[:10])
        kept(client, PAIRS[10][0])
    path = tmp_path / "witness" / "1"
    seen = read_witness(path)
    assert seen.point.held == 1
    witness = Witness(path, seen)
    witness.advance(seen.point.seq, seen.point.chain, 2)
    witness.close()
    with pytest.raises(JournalError, match="2 predictions were kept"):
        Service.open(tmp_path, Settings())


def test_a_repair_keeps_them(tmp_path):
    with served(tmp_path / "old") as client:
        create(client)
        learn(client, "m", *PAIRS[:10])
        given = kept(client, PAIRS[10][0], PAIRS[11][0])
        label(client, given["ids"][:1], ["yes"])
    command("serve", "--data", tmp_path / "old", "--repair", tmp_path / "new")
    command("serve", "--data", tmp_path / "new", "--check")
    with served(tmp_path / "new") as client:
        assert label(client, given["ids"][:1], ["yes"]).status_code == 404
        assert label(client, given["ids"][1:], ["yes"]).json()["predictions"] == given["predictions"][1:]


def test_sizes_are_updated_and_not_counted_again(tmp_path):
    """A label costs the same whether ten or a hundred thousand predictions are kept."""
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *PAIRS[:10])
        ids = kept(client, *(x for x, _ in PAIRS[:9]))["ids"]
        journal = client.service.journal
        asked = []
        journal.db.set_trace_callback(asked.append)
        label(client, ids[:4], ["yes"] * 4)
        kept(client, PAIRS[0][0])
        journal.db.set_trace_callback(None)
        assert any("from held" in words for words in asked)
        assert not any("count(*)" in words for words in asked)
        assert client.get("/v1/models/m").json()["kept"] == 6
        assert 'onmargin_kept_predictions{model="m"} 6' in client.get("/metrics").text
        size = journal.held.size(1)
        journal.held.forget_sizes()
        assert journal.held.size(1) == size
        client.service.settings = replace(client.service.settings, held=HeldLimits(number=2))
        kept(client, PAIRS[0][0])
        assert client.get("/v1/models/m").json()["kept"] == 2
    with served(tmp_path) as client:
        assert client.get("/v1/models/m").json()["kept"] == 2


def test_a_clock_that_is_set_ahead_drops_nothing(tmp_path, monkeypatch):
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *PAIRS[:5])
        ids = predict(client, "m", PAIRS[5][0], keep=True).json()["ids"]
        ahead = time.time() + 8 * 86400
        monkeypatch.setattr(time, "time", lambda: ahead)
        predict(client, "m", PAIRS[6][0], keep=True)
        monkeypatch.undo()
        assert label(client, ids, ["yes"]).status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        "delete from held where number = 2",
        "delete from held where number = 3",
        "delete from held",
        "update held set body = '{}' where number = 2",
        "update held set at = 0 where number = 2",
        "update held_counts set number = 2",
    ],
)
def test_kept_predictions_that_were_changed_in_the_file_are_noticed(tmp_path, change):
    with served(tmp_path / "data") as client:
        for name in ("m", "other"):
            create(client, name)
            learn(client, name, *PAIRS[:5])
        kept(client, *(x for x, _ in PAIRS[:3]))
    with closing(sqlite3.connect(tmp_path / "data" / "journal.sqlite")) as db, db:
        db.execute(change)
    report = check(tmp_path / "data", Room())
    assert not report.good
    assert "kept prediction" in report.lines[0]
    assert report.lines[1].startswith("other: intact")
