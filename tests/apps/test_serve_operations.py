"""Operations: an access log, errors that name what is accepted, and gzip only if requested."""

import json

import httpx
import pytest

from tests.apps.serving import create, learn, predict, process, served


def test_the_access_log_has_no_payload(tmp_path):
    path = tmp_path / "access.jsonl"
    with (
        process(tmp_path / "data", "--access-log", path) as (address, _),
        httpx.Client(base_url=address, verify=False) as client,
    ):
        create(client)
        learn(client, "m", ("secret words", "secret label"), ("b", "c"))
        predict(client, "m", "secret words")
        client.get("/v1/models/m/weights", params={"label": "secret label"})
        client.get("/v1/models/n")
        client.get("/v1/%1b%7f%c2%9b%e2%80%ae%f3%a0%80%81é")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert "secret" not in path.read_text()
    assert [(line["method"], line["path"], line["status"]) for line in lines] == [
        ("POST", "/v1/models", 201),
        ("POST", "/v1/models/m/learn", 200),
        ("POST", "/v1/models/m/predict", 200),
        ("GET", "/v1/models/m/weights", 200),
        ("GET", "/v1/models/n", 404),
        ("GET", "/v1/\x1b\x7f\x9b\u202e\U000e0001é", 404),
    ]
    assert all(line.isprintable() for line in path.read_text().splitlines())
    assert all(line.keys() == {"time", "client", "method", "path", "status", "ms"} for line in lines)
    assert {line["client"] for line in lines} == {"127.0.0.1"}


@pytest.mark.parametrize(
    ("asked", "status", "words", "allow"),
    [
        ("POST /v1/models/m", 405, "POST is not allowed here: /v1/models/m accepts DELETE and GET", "DELETE, GET"),
        ("PUT /v1/models", 405, "PUT is not allowed here: /v1/models accepts GET and POST", "GET, POST"),
        ("GET /v1/models/m/learn", 405, "accepts POST", "POST"),
        ("POST /v1/models/m/lern", 404, "or one of learn, predict, explain, ", None),
        ("POST /learn", 404, "/openapi.json describes all paths", None),
        ("GET /v1/models//learn", 404, "/openapi.json describes all paths", None),
        ("GET /v1/models/", 404, "/openapi.json describes all paths", None),
        ("GET /v1/model", 404, "/openapi.json describes all paths", None),
        ("GET /v1/models/n", 404, "there is no model 'n'; there are m and other", None),
        ("GET /v1/models/m?top=3", 422, "the query of this path has no parameters; got 'top'", None),
        ("GET /v1/models/m/weights?lable=a", 422, "accepts label and top; got 'lable'", None),
    ],
)
def test_errors_say_what_is_accepted(tmp_path, asked, status, words, allow):
    with served(tmp_path) as client:
        create(client)
        create(client, "other")
        answer = client.request(*asked.split(), json={})
        assert answer.status_code == status
        assert words in answer.json()["error"]
        assert answer.headers.get("allow") == allow


@pytest.mark.parametrize(
    ("accepted", "zipped"),
    [(None, False), ("identity", False), ("gzip, br", True), ("gzip;q=0", False), ("br, gzip; q=0.5", True)],
)
def test_the_page_is_compressed_only_if_asked_for(tmp_path, accepted, zipped):
    with served(tmp_path) as client:
        client.headers.pop("accept-encoding")
        answer = client.get("/page.js", headers={} if accepted is None else {"Accept-Encoding": accepted})
        assert (answer.headers.get("content-encoding") == "gzip") == zipped
        assert answer.headers["vary"] == "accept-encoding"
        assert "import" in answer.text
