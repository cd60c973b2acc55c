"""Memory: after a warm-up, requests leave no objects behind."""

import gc

from onmargin.apps.serve import served_model
from onmargin.apps.serve.held import HeldLimits
from onmargin.apps.serve.service import Settings
from tests.apps.serving import learn, predict, records, served

PAIRS = list(records(40))


def requests(client, n, begin):
    """Send `n` requests of each kind: learned with and without a key, predicted, kept, labeled and refused."""
    for k in range(begin, begin + n):
        pair = PAIRS[k % len(PAIRS)]
        learn(client, "m", pair)
        learn(client, "m", pair, key=f"key {k}")
        predict(client, "m", pair[0], scores=True, probabilities=True, sets=True)
        ids = predict(client, "m", pair[0], pair[0], keep=True).json()["ids"]
        client.post("/v1/models/m/learn", json={"examples": [{"id": ids[0], "y": pair[1]}]})
        assert learn(client, "m", ([1.0], "yes")).status_code == 422
        assert client.get(f"/v1/models/unknown{k}").status_code == 404


def objects():
    gc.collect()
    return len(gc.get_objects())


def test_requests_leave_no_objects_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(served_model, "MOST_KEYS", 8)
    with served(tmp_path, Settings(held=HeldLimits(number=8))) as client:
        client.post("/v1/models", json={"name": "m", "task": "classify", "coverage": 0.9})
        requests(client, 40, 0)
        before = objects()
        requests(client, 80, 40)
        # Points of the curve are added, up to a limit, and some are of the last requests of either run.
        assert objects() - before - len(client.service.models["m"].state.curve.points) < 40
        model = client.service.models["m"]
        assert len(model.keys) == 8
        assert model.n_kept == client.service.journal.held.size(1)[0] == 7
        assert not model.claimed
