"""The OpenAPI document is accurate, and no request makes the service fail."""

import json
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


def test_every_schema_is_an_object():
    """Generators of clients, such as openapi-python-client, do not read Boolean schemas."""
    waiting = [json.loads(document(tokens=True))["components"]["schemas"]]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            assert not isinstance(one.get("items"), bool), one
            if "prefixItems" in one:
                assert one["minItems"] == one["maxItems"] == len(one["prefixItems"])
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
