"""HTTP: a gate that every request passes, and behind it the operations and the page.

The gate knows who asks, bounds what is sent and how long it takes, turns problems into answers and counts them.
Requests to learn and to predict go straight to their operation; all others go through Starlette.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from onmargin.apps.serve import schema
from onmargin.apps.serve.answers import OPERATIONS, Context, Operation, json
from onmargin.apps.serve.limits import Limits, Rate
from onmargin.apps.serve.openapi import document
from onmargin.apps.serve.page import page_routes
from onmargin.apps.serve.problems import ProblemError
from onmargin.apps.serve.service import Service
from onmargin.apps.serve.tokens import SCOPES, Tokens

LOCAL = {"localhost", "127.0.0.1", "[::1]"}
HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]
_JSON = [(b"content-type", b"application/json"), *HEADERS]
_encode = msgspec.json.Encoder().encode
_FAST = {one.run.__name__: one for one in OPERATIONS if one.run.__name__ in {"learn", "predict"}}
_DECODERS: dict[Any, Any] = {one.sent: msgspec.json.Decoder(one.sent) for one in OPERATIONS if one.sent}


class App:
    """The service as an ASGI application. Without tokens only this machine is answered, by its own names."""

    def __init__(self, service: Service, tokens: Tokens, limits: Limits) -> None:
        self.context = Context(service, limits, asyncio.Event())
        self._tokens = tokens
        self._limits = limits
        self._rate = Rate(limits.rate)
        self._expired: set[asyncio.Task[Any] | None] = set()
        self._metrics = service.metrics
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
        try:
            yield
        finally:
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
        """Learn or predict. The limit of time is asyncio.timeout's, for a fifth of what that takes."""
        started = time.perf_counter()
        status = 500
        task = asyncio.current_task()
        alarm = asyncio.get_running_loop().call_later(self._limits.seconds, self._expire, task)
        try:
            headers = dict(scope["headers"])
            self._let_in(headers, scope, operation.scope)
            sent = await self._sent(operation, headers, receive)
            body = _encode(await operation.run(self.context, name, sent))
            alarm.cancel()
            status = 200
            length = (b"content-length", b"%d" % len(body))
            await send({"type": "http.response.start", "status": 200, "headers": [*_JSON, length]})
            await send({"type": "http.response.body", "body": body})
        except ProblemError as problem:
            status = problem.status
            await _refusal(problem)(scope, receive, send)
        except asyncio.CancelledError:
            if task is None or task not in self._expired:
                raise
            task.uncancel()
            status = 503
            await _refusal(self._too_slow())(scope, receive, send)
        finally:
            alarm.cancel()
            self._expired.discard(task)
            self._metrics.observe(operation.run.__name__, status, time.perf_counter() - started)

    def _expire(self, task: asyncio.Task[Any] | None) -> None:
        if task is not None:
            self._expired.add(task)
            task.cancel()

    async def _behind_counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Through Starlette."""
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
            self._metrics.observe("other", status, time.perf_counter() - started)

    def _let_in(self, headers: dict[bytes, bytes], scope: Scope, needed: int | None) -> None:
        """Refuse those who may not, or who ask too often."""
        if self._limits.rate:
            client = scope.get("client")
            self._rate.take(client[0] if client else "")
        if not self._tokens:
            # A page elsewhere can give this machine another name, and ask in its visitor's.
            host = headers.get(b"host", b"").decode("latin-1")
            if host.rpartition(":")[0] not in LOCAL and host not in LOCAL:
                raise ProblemError(f"this service answers as localhost or 127.0.0.1 only; got Host {host!r:.80}", 421)
        elif needed is not None:
            level = self._tokens.level(headers.get(b"authorization"))
            if level < 0:
                raise ProblemError("a token is needed: send it as Authorization: Bearer ...", 401)
            if level < needed:
                raise ProblemError(f"this token may {SCOPES[level]}, and {SCOPES[needed]} is needed", 403)

    async def _sent(self, operation: Operation, headers: dict[bytes, bytes], receive: Receive) -> Any:
        """What a request is about, checked."""
        limit = self._limits.body
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > limit:
            raise ProblemError(f"a request has at most {limit} bytes; got {length.decode('latin-1'):.40}", 413)
        # Browsers ask before they send JSON to another origin, and are refused.
        if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
            raise ProblemError("what is sent must be JSON, with Content-Type: application/json", 415)
        body = b""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ProblemError("the client is gone", 400)
            body += message.get("body", b"")
            if len(body) > limit:
                raise ProblemError(f"a request has at most {limit} bytes", 413)
            if not message.get("more_body"):
                break
        try:
            return _DECODERS[operation.sent].decode(body)
        except msgspec.ValidationError as error:
            raise ProblemError(str(error), 422) from error
        except (ValueError, RecursionError) as error:
            raise ProblemError(f"this is no JSON: {error}", 400) from error

    def _endpoint(self, operation: Operation) -> Any:
        """An operation behind Starlette."""

        async def endpoint(request: Request) -> Response:
            try:
                self._let_in(dict(request.scope["headers"]), request.scope, operation.scope)
                # To certify or to rewind takes as long as it takes.
                patient = operation.run.__name__ in {"certificate", "rewind"}
                async with asyncio.timeout(None if patient else self._limits.seconds):
                    return await self._answer(operation, request)
            except ProblemError as problem:
                return _refusal(problem)
            except TimeoutError:
                return _refusal(self._too_slow())

        return endpoint

    async def _answer(self, operation: Operation, request: Request) -> Response:
        if isinstance(operation.answer, str) or operation.query:
            return await operation.run(self.context, request)  # type: ignore[no-any-return]
        sent = None
        if operation.sent is not None:
            sent = await self._sent(operation, dict(request.scope["headers"]), request.receive)
        answer = await operation.run(self.context, request.path_params.get("name"), sent)
        return Response(status_code=204) if answer is None else json(answer, operation.status)

    def _too_slow(self) -> ProblemError:
        words = f"no answer within {self._limits.seconds:g} s: a retry with its key tells whether it was learned"
        return ProblemError(words, 503)


def _refusal(problem: ProblemError) -> Response:
    headers = {}
    if problem.retry_after is not None:
        headers["retry-after"] = str(problem.retry_after)
    if problem.status == 401:
        headers["www-authenticate"] = "Bearer"
    headers |= {name.decode(): value.decode() for name, value in HEADERS}
    return Response(_encode(schema.Problem(str(problem))), problem.status, headers, "application/json")


async def _no_route(_: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    words = "this is not how it is asked for" if status == 405 else "there is nothing here"
    return _refusal(ProblemError(f"{words}: see /openapi.json", status))
