"""ASGI application: every request passes the gate, and then goes to an operation; the page needs no permission."""

import asyncio
import time
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from onmargin.apps.serve.access_log import AccessLog
from onmargin.apps.serve.answers import OPERATIONS, Context, Operation, allowed
from onmargin.apps.serve.gate import HEADERS, Answer, Gate, allow, granted, refused, sized, too_large
from onmargin.apps.serve.limits import SMALL, Claim, InFlight, Limits
from onmargin.apps.serve.openapi import document
from onmargin.apps.serve.page import page_answer
from onmargin.apps.serve.problems import ProblemError
from onmargin.apps.serve.readers import Readers
from onmargin.apps.serve.service import Service
from onmargin.apps.serve.tokens import Tokens

_MODELS = "/v1/models/"
# By method and path; the paths of a model without its name, such as "/learn".
_TABLE = {(one.method, one.path.removeprefix(f"{_MODELS}{{name}}")): one for one in OPERATIONS}
_VERBS = {one.path.removeprefix(f"{_MODELS}{{name}}") for one in OPERATIONS if one.path.startswith(f"{_MODELS}{{")}


def find_operation(method: str, path: str) -> tuple[Operation | None, str]:
    """Return the operation of a request, or None, and the name of its model."""
    name = ""
    if path.startswith(_MODELS):
        end = path.find("/", len(_MODELS))
        name, path = (path[len(_MODELS) :], "") if end < 0 else (path[len(_MODELS) : end], path[end:])
        if not name:
            return None, ""
    elif path in _VERBS:
        return None, ""
    return _TABLE.get(("GET" if method == "HEAD" else method, path)), name


class App:
    """The service as an ASGI application."""

    def __init__(
        self,
        service: Service,
        tokens: Tokens,
        limits: Limits,
        log: AccessLog | None = None,
        *,
        reads_only: bool = False,
    ) -> None:
        self.context = Context(service, limits, asyncio.Event())
        self._gate = Gate(tokens, limits)
        self._limits = limits
        self._in_flight = InFlight(limits.in_flight, limits.body)
        self._files_in_flight = InFlight(limits.file, limits.file)
        self._expired: set[asyncio.Task[Any] | None] = set()
        self._metrics = service.metrics
        self._log = log
        self._reads_only = reads_only
        self._document = document(tokens=bool(tokens))
        self.readers: Readers | None = None

    async def _live(self, receive: Receive, send: Send) -> None:
        """Start the service, and close it at the end."""
        await receive()
        self.context.service.start()
        if self.readers is not None:
            self.readers.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        if self.readers is not None:
            await self.readers.close()
        await self.context.service.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        if scope["type"] != "http":
            return
        started, status, kind = time.perf_counter(), 500, "other"
        operation, name = find_operation(scope["method"], scope["path"])
        task = asyncio.current_task()
        try:
            if operation is None:
                answer: Answer | Response = self._page(scope)
            else:
                kind = operation.run.__name__
                answer = await self._run(operation, name, scope, receive, task)
            if isinstance(answer, Response):
                status = answer.status_code
                given = {key for key, _ in answer.raw_headers}
                answer.raw_headers += [one for one in HEADERS if one[0] not in given]
                await answer(scope, receive, send)
                return
            status = answer.status
            await send({"type": "http.response.start", "status": status, "headers": answer.headers})
            await send({"type": "http.response.body", "body": answer.body})
        finally:
            self._observe(kind, status, started, scope)

    async def _run(
        self, operation: Operation, name: str, scope: Scope, receive: Receive, task: asyncio.Task[Any] | None
    ) -> Answer | Response:
        """Return the answer of an operation. The time limit works like asyncio.timeout, at a fifth of its cost."""
        seconds = None if operation.patient else self._limits.seconds
        alarm = seconds and asyncio.get_running_loop().call_later(seconds, self._expire, task)
        claims: list[Claim] = []
        try:
            sent = await self._read(operation, scope, receive, claims)
            if scope["query_string"]:
                _check_query(operation, scope["query_string"].decode("latin-1"))
            if isinstance(operation.answer, str) or operation.query:
                scope["path_params"] = {"name": name}
                return await operation.run(self.context, Request(scope, receive))
            found = await operation.run(self.context, name, sent)
            return Response(status_code=204) if found is None else granted(found, operation.status)
        except ProblemError as problem:
            return refused(problem)
        except asyncio.CancelledError:
            if task is None or task not in self._expired:
                raise
            task.uncancel()
            words = f"no answer within {self._limits.seconds:g} s: a retry with its key tells whether it was learned"
            return refused(ProblemError(words, 503))
        finally:
            for claim in claims:
                claim.release()
            if alarm:
                alarm.cancel()
            self._expired.discard(task)

    def _expire(self, task: asyncio.Task[Any] | None) -> None:
        if task is not None:
            self._expired.add(task)
            task.cancel()

    def _observe(self, kind: str, status: int, started: float, scope: Scope) -> None:
        """Count an answer, and log it."""
        elapsed = time.perf_counter() - started
        self._metrics.observe(kind, status, elapsed)
        if self._log is not None:
            client = self._gate.address(dict(scope["headers"]), scope.get("client"))
            self._log.write(client, scope["method"], scope["path"], status, elapsed)

    async def _read(self, operation: Operation, scope: Scope, receive: Receive, claims: list[Claim]) -> Any:
        """Return the validated body of a request, or None if the operation has no body; add the claim of its bytes."""
        headers, client = dict(scope["headers"]), scope.get("client")
        if self._reads_only and not operation.reads:
            raise ProblemError(f"a reader only reads: send {operation.method} requests to the port of the service", 405)
        right = self._gate.let_in(headers, client, operation.needs)
        if operation.sent is None:
            return None
        most = self._gate.announced(headers, operation.sent)
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ProblemError("the client is gone", 400)
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > most:
                raise too_large(operation.sent, most)
            more = message.get("more_body", False)
            if more or size > SMALL:
                if not claims:
                    in_flight = self._files_in_flight if operation.sent is bytes else self._in_flight
                    claims.append(Claim(in_flight, self._gate.client(headers, client), reads=not operation.needs))
                claims[0].add(len(parts[-1]))
        body = b"".join(parts)
        if operation.sent is bytes:
            return body
        sent = self._gate.decoded(operation.sent, body)
        allow(right, sent.needs())
        if self._reads_only and sent.needs():
            raise ProblemError("a reader keeps no predictions: send this to the port of the service", 405)
        return sent

    def _page(self, scope: Scope) -> Answer:
        """Return a file of the page, the OpenAPI document, or the problem with the path or the method."""
        path, reads = scope["path"], scope["method"] in {"GET", "HEAD"}
        if reads and path == "/openapi.json":
            return sized(200, [(b"content-type", b"application/json"), *HEADERS], self._document)
        if reads and (found := page_answer(path, dict(scope["headers"]).get(b"accept-encoding", b""))) is not None:
            return found
        return _refuse_path(scope["method"], path)


def _check_query(operation: Operation, query: str) -> None:
    """Refuse parameters of the query that would have no effect, such as a key, which belongs into the body."""
    for name, _ in parse_qsl(query, keep_blank_values=True):
        if name not in operation.query:
            accepted = f"accepts {' and '.join(operation.query)}" if operation.query else "has no parameters"
            raise ProblemError(f"the query of this path {accepted}; got {name!r:.80}", 422)


def _refuse_path(method: str, path: str) -> Answer:
    """Answer with the methods that a path accepts, or with the existing paths."""
    if accepted := allowed(path):
        words = f"{method} is not allowed here: {path:.200} accepts {' and '.join(accepted)}"
        answer = refused(ProblemError(words, 405))
        answer.headers.append((b"allow", ", ".join(accepted).encode()))
        return answer
    words = "there is nothing at this path"
    if path.startswith(_MODELS):
        verbs = dict.fromkeys(one.path.rpartition("/")[2] for one in OPERATIONS if one.path.count("/") == 4)
        words += f": after the name of a model comes nothing, or one of {', '.join(verbs)}"
    return refused(ProblemError(f"{words}. /openapi.json describes all paths", 404))
