"""The OpenAPI document, generated from the types that requests are validated against."""

import re
from importlib.metadata import version
from typing import Any

import msgspec

from onmargin.apps.serve import schema
from onmargin.apps.serve.answers import OPERATIONS, Operation

PROBLEMS = {
    400: "The body is not valid JSON.",
    401: "A token is needed.",
    403: "The token lacks the required scope.",
    404: "There is no such model.",
    409: "The request conflicts with the current state.",
    413: "The request is too large.",
    415: "The content type must be application/json.",
    421: "The request is for another host.",
    422: "The request is invalid; nothing has changed.",
    429: "Too many requests: try again after Retry-After seconds.",
    503: "The journal cannot be written, or it took too long.",
    507: "The disk is full.",
}


def document(*, tokens: bool) -> bytes:
    """Return the document as JSON."""
    kinds = {one.sent for one in OPERATIONS if one.sent is not bytes} | {
        one.answer for one in OPERATIONS if not isinstance(one.answer, str)
    }
    types = sorted({*(kind for kind in kinds if kind is not None), schema.Problem}, key=lambda kind: kind.__name__)
    _, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    _declare_items(components)
    paths: dict[str, dict[str, Any]] = {}
    for one in OPERATIONS:
        paths.setdefault(one.path, {})[one.method.lower()] = _described(one, tokens=tokens)
    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "onmargin serve", "version": version("onmargin")},
        "paths": paths,
        "components": {"schemas": components},
    }
    if tokens:
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return msgspec.json.encode(described)


def _declare_items(schema: Any) -> None:
    """Give each array a schema of its items: generators of clients read neither none nor `false`."""
    for value in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        _declare_items(value)
    if isinstance(schema, dict) and schema.get("type") == "array" and schema.get("items", False) is False:
        schema["items"] = {}


def _described(one: Operation, *, tokens: bool) -> dict[str, Any]:
    answers = {str(one.status): _answer(one)}
    problem = {"application/json": {"schema": _reference(schema.Problem)}}
    answers |= {str(status): {"description": words, "content": problem} for status, words in PROBLEMS.items()}
    operation: dict[str, Any] = {
        "operationId": one.run.__name__,
        "summary": one.words,
        "parameters": _parameters(one),
        "responses": answers,
    }
    if tokens and one.needs is not None:
        operation["security"] = [{"token": []}]
        operation["description"] = f"Needs a token that may {one.needs.word}."
    if one.sent is bytes:
        binary = {"schema": {"type": "string", "contentMediaType": "application/octet-stream"}}
        operation["requestBody"] = {"required": True, "content": {"application/octet-stream": binary}}
    elif one.sent is not None:
        content = {"application/json": {"schema": _reference(one.sent)}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _answer(one: Operation) -> dict[str, Any]:
    if one.answer is None:
        return {"description": "Done."}
    if isinstance(one.answer, str):
        return {"description": one.words, "content": {one.answer: {"schema": {"type": "string"}}}}
    return {"description": one.words, "content": {"application/json": {"schema": _reference(one.answer)}}}


def _reference(kind: type) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _parameters(one: Operation) -> list[dict[str, Any]]:
    path = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", one.path)
    ]
    kinds = {"label": {"type": "string"}, "top": {"type": "integer", "minimum": 1, "maximum": 1000}}
    return path + [{"name": name, "in": "query", "schema": kinds[name]} for name in one.query]
