"""The limit on weights counted seven experts, but a model of vectors has eleven and could exceed it."""

from onmargin.apps.serve.json_learner import Room
from onmargin.apps.serve.service import Settings
from tests.apps.serving import create, learn, served


def test_vectors_have_more_experts_to_make_room_for(tmp_path):
    """Two numbers for two labels of the experts for records would be allowed; vectors have more."""
    with served(tmp_path, Settings(room=Room(weights=40))) as client:
        create(client, model="AutoClassifier")
        answer = learn(client, "m", ([1.0, 2.0], "yes"), ([2.0, 1.0], "no"))
        assert answer.status_code == 422
        assert "of 32 models" in answer.json()["error"]
        assert client.get("/v1/models/m/progress").json()["experts"] == []
