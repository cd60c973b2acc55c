"""The OpenAPI document is accurate, and no request makes the service fail."""

import json
import subprocess
import sys
from importlib import import_module
from itertools import cycle

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from onmargin.apps.serve.openapi import document
from tests.apps.serving import TIMEOUT, learn, served
from tests.examples import examples

CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]
# Each task with an example; a model of that name always exists.
TASKS = {
    "classify": ({}, ({"a": 1.0}, "x")),
    "regress": ({}, ([1.0, 2.0], 0.5)),
    "rank": ({}, ("some words", ["x", "y"])),
    "ordinal": ({"ranks": [1, 2, 3]}, ({"a": 1.0}, 1)),
    "novelty": ({}, ([1.0, 1.0], None)),
    "tag": ({}, ([["the"], ["dog"]], ["D", "N"])),
}
NAMES = cycle(TASKS)
# A stream does not end: the test of the page reads it.
TESTED = schemathesis.openapi.from_dict(json.loads(document(tokens=False))).exclude(path_regex="events$")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with served(tmp_path_factory.mktemp("data")) as client:
        yield client


@TESTED.parametrize()
@examples(30, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck))
def test_operations(case, client):
    if case.path_parameters:
        name = next(NAMES)
        parameters, example = TASKS[name]
        made = client.post("/v1/models", json={"name": name, "task": name, "parameters": parameters})
        if made.status_code == 201:
            assert learn(client, name, example).status_code == 200
        case.path_parameters["name"] = name
    answer = case.call(base_url=str(client.base_url), timeout=TIMEOUT)
    case.validate_response(answer, checks=CHECKS)


def test_the_document_is_served(client):
    described = client.get("/openapi.json").json()
    assert described == json.loads(document(tokens=False))
    assert {"learn", "predict", "explain", "certificate"} <= {
        operation["operationId"] for path in described["paths"].values() for operation in path.values()
    }


def test_a_generated_client_learns_and_predicts(tmp_path, client, monkeypatch):
    """The generator reads the whole document, so that a client has every operation and the type of every answer."""
    (tmp_path / "openapi.json").write_bytes(document(tokens=True))
    # It has no types for these media, whose answers are files.
    files = dict.fromkeys(["application/jsonl", "application/x-tar"], "application/octet-stream")
    (tmp_path / "config.json").write_text(json.dumps({"content_type_overrides": files, "post_hooks": []}))
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning"]
    places = ["--path", "openapi.json", "--config", "config.json", "--output-path", "generated_client"]
    done = subprocess.run([*command, *places], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    monkeypatch.syspath_prepend(tmp_path)
    calls = {name: import_module(f"generated_client.api.default.{name}") for name in ("create", "learn", "predict")}
    models = import_module("generated_client.models")
    with import_module("generated_client").Client(base_url=str(client.base_url)) as service:
        calls["create"].sync(client=service, body=models.Create(name="generated"))
        examples = [models.Example(x="cheap pills", y="spam"), models.Example(x="lunch at noon", y="ham")]
        learned = calls["learn"].sync("generated", client=service, body=models.Learn(examples=examples))
        assert (learned.first, learned.last, learned.predictions) == (1, 2, [None, "spam"])
        asked = models.Predict(examples=[models.Asked(x="lunch")])
        assert calls["predict"].sync("generated", client=service, body=asked).predictions == ["ham"]
