"""ASGI application: every request passes the gate, and then goes to an operation or the page.

Requests to learn and to predict go directly to their operation. All others go through Starlette.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from onmargin.apps.serve.access_log import AccessLog
from onmargin.apps.serve.answers import OPERATIONS, Context, Operation, allowed
from onmargin.apps.serve.gate import HEADERS, Answer, Gate, allow, granted, refused
from onmargin.apps.serve.limits import Held, InFlight, Limits
from onmargin.apps.serve.openapi import document
from onmargin.apps.serve.page import page_routes
from onmargin.apps.serve.problems import ProblemError
from onmargin.apps.serve.readers import Readers
from onmargin.apps.serve.service import Service
from onmargin.apps.serve.tokens import Tokens

_FAST = {one.run.__name__: one for one in OPERATIONS if one.run.__name__ in {"learn", "predict"}}


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
        self._in_flight = InFlight(max(limits.in_flight, limits.body))
        self._files_in_flight = InFlight(limits.file)
        self._expired: set[asyncio.Task[Any] | None] = set()
        self._metrics = service.metrics
        self._log = log
        self._reads_only = reads_only
        self.readers: Readers | None = None
        routes = [Route(one.path, self._endpoint(one), methods=[one.method]) for one in OPERATIONS]
        described = document(tokens=bool(tokens))

        async def describe(_: Request) -> Response:
            return Response(described, media_type="application/json")

        routes.append(Route("/openapi.json", describe))
        self._behind = Starlette(
            routes=[*routes, *page_routes()], lifespan=self._lifespan, exception_handlers={HTTPException: _no_route}
        )

    @asynccontextmanager
    async def _lifespan(self, _: Any) -> AsyncIterator[None]:
        self.context.service.start()
        if self.readers is not None:
            self.readers.start()
        try:
            yield
        finally:
            if self.readers is not None:
                await self.readers.close()
            await self.context.service.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._behind(scope, receive, send)
            return
        path: str = scope["path"]
        if scope["method"] == "POST" and path.startswith("/v1/models/"):
            name, _, last = path[11:].partition("/")
            if (operation := _FAST.get(last)) is not None:
                await self._quickly(operation, name, scope, receive, send)
                return
        await self._behind_counted(scope, receive, send)

    async def _quickly(self, operation: Operation, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Learn or predict. The time limit works like asyncio.timeout, at a fifth of its cost."""
        started = time.perf_counter()
        status = 500
        task = asyncio.current_task()
        alarm = asyncio.get_running_loop().call_later(self._limits.seconds, self._expire, task)
        held = Held(self._in_flight)
        try:
            try:
                sent = await self._sent(operation, scope, receive, held)
                answer = granted(await operation.run(self.context, name, sent))
            except ProblemError as problem:
                answer = refused(problem)
            except asyncio.CancelledError:
                if task is None or task not in self._expired:
                    raise
                task.uncancel()
                answer = refused(self._too_slow())
            alarm.cancel()
            status = answer.status
            await send({"type": "http.response.start", "status": status, "headers": answer.headers})
            await send({"type": "http.response.body", "body": answer.body})
        finally:
            held.release()
            alarm.cancel()
            self._expired.discard(task)
            self._observe(operation.run.__name__, status, started, scope)

    def _expire(self, task: asyncio.Task[Any] | None) -> None:
        if task is not None:
            self._expired.add(task)
            task.cancel()

    async def _behind_counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request through Starlette, and count it."""
        started = time.perf_counter()
        status = 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(one for one in HEADERS if one[0] not in given)]
            await send(message)

        try:
            await self._behind(scope, receive, sending)
        finally:
            self._observe("other", status, started, scope)

    def _observe(self, kind: str, status: int, started: float, scope: Scope) -> None:
        """Count an answer, and log it."""
        elapsed = time.perf_counter() - started
        self._metrics.observe(kind, status, elapsed)
        if self._log is not None:
            client = self._gate.address(dict(scope["headers"]), scope.get("client"))
            self._log.write(client, scope["method"], scope["path"], status, elapsed)

    async def _sent(self, operation: Operation, scope: Scope, receive: Receive, held: Held) -> Any:
        """Return the validated body of a request, or None if the operation has no body."""
        headers = dict(scope["headers"])
        if self._reads_only and not operation.reads:
            raise ProblemError(f"a reader only reads: send {operation.method} requests to the port of the service", 405)
        level = self._gate.let_in(headers, scope.get("client"), operation.scope)
        if operation.sent is None:
            return None
        most = self._gate.announced(headers, operation.sent)
        parts = []
        size = 0
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ProblemError("the client is gone", 400)
            part = message.get("body", b"")
            held.add(len(part))
            parts.append(part)
            size += len(part)
            if size > most:
                raise ProblemError(f"a request has at most {most} bytes", 413)
            more = message.get("more_body", False)
        body = b"".join(parts)
        if operation.sent is bytes:
            return body
        sent = self._gate.decoded(operation.sent, body)
        allow(level, sent.scope())
        if self._reads_only and sent.scope():
            raise ProblemError("a reader keeps no predictions: send this to the port of the service", 405)
        return sent

    def _endpoint(self, operation: Operation) -> Any:
        """Return the Starlette endpoint of an operation."""

        async def endpoint(request: Request) -> Response:
            try:
                async with asyncio.timeout(None if operation.patient else self._limits.seconds):
                    return await self._answer(operation, request)
            except ProblemError as problem:
                return _response(refused(problem))
            except TimeoutError:
                return _response(refused(self._too_slow()))

        return endpoint

    async def _answer(self, operation: Operation, request: Request) -> Response:
        held = Held(self._files_in_flight if operation.sent is bytes else self._in_flight)
        try:
            sent = await self._sent(operation, request.scope, request.receive, held)
            if isinstance(operation.answer, str) or operation.query:
                return await operation.run(self.context, request)  # type: ignore[no-any-return]
            answer = await operation.run(self.context, request.path_params.get("name"), sent)
        finally:
            held.release()
        return Response(status_code=204) if answer is None else _response(granted(answer, operation.status))

    def _too_slow(self) -> ProblemError:
        words = f"no answer within {self._limits.seconds:g} s: a retry with its key tells whether it was learned"
        return ProblemError(words, 503)


def _response(answer: Answer) -> Response:
    response = Response(answer.body, answer.status)
    response.raw_headers = answer.headers
    return response


async def _no_route(request: Request, error: Exception) -> Response:
    """Answer with the methods that a path accepts, or with the existing paths."""
    path = request.url.path
    accepted = allowed(path)
    if accepted:
        problem = ProblemError(
            f"{request.method} is not allowed here: {path:.200} accepts {' and '.join(accepted)}", 405
        )
        answer = refused(problem)
        answer.headers.append((b"allow", ", ".join(accepted).encode()))
        return _response(answer)
    verbs = ", ".join(dict.fromkeys(one.path.rpartition("/")[2] for one in OPERATIONS if one.path.count("/") == 4))
    words = "there is nothing at this path"
    if path.startswith("/v1/models/"):
        words += f": after the name of a model comes nothing, or one of {verbs}"
    return _response(refused(ProblemError(f"{words}. /openapi.json describes all paths", 404)))
