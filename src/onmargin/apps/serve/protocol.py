"""Uvicorn connections with limits on slow clients and pipelined requests.

Uvicorn parses HTTP and writes the answers. By itself it keeps a connection open whose client never finishes a header or
never reads an answer, and it reads pipelined requests without a limit. These classes close such connections, and stop
reading while pipelined requests wait.
"""

from asyncio import Transport
from collections.abc import Sized
from math import inf
from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MAX_HEAD = 2**19  # maximum bytes of a request header, counted in chunks as they are received
GRACE = 5.0  # seconds after which a body that arrives too slowly ends its connection
SLOWEST = 2**12  # minimum bytes of a body per second


class _Flow(FlowControl):
    """Flow control that pauses reading while pipelined requests wait."""

    def __init__(self, transport: Transport, pipeline: Sized) -> None:
        super().__init__(transport)
        self._pipeline = pipeline

    def resume_reading(self) -> None:
        if not self._pipeline:
            super().resume_reading()


class Guarded(HttpToolsProtocol):
    """A connection that `end_if_late` closes if its client takes too long. Bodies are limited where they are read."""

    def __init__(self, *arguments: Any, seconds: float, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._seconds = seconds
        self._due = inf  # deadline for the client to send more; infinite while the service is computing
        self._unread = inf  # deadline for the client to read the pending answer
        self._incomplete = False  # whether a request is being read
        self._head: int | None = None  # bytes of an incomplete header
        self._body = 0  # bytes of the body in the last seconds
        self._answering: RequestResponseCycle | None = None

    def end_if_late(self, now: float) -> None:
        """Close the connection of a client that takes too long.

        It is called for all connections several times a second: a timer per request would cost more.
        """
        if now > self._unread:
            self.transport.abort()
        elif now > self._due:
            if self._body < GRACE * SLOWEST and not self.flow.read_paused:
                self.transport.close()
            self._body, self._due = 0, now + GRACE

    def _wait(self) -> None:
        self._body, self._due = 0, self.loop.time() + self._seconds

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = _Flow(transport, self.pipeline)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answering is not None:  # uvicorn notifies only the latest request, and this one would keep writing
            self._answering.disconnected = True
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.time() + self._seconds

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unread = inf

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head is not None:
            self._head += len(data)
            if self._head > MAX_HEAD:
                self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._incomplete = True
        self._head = 0
        self._wait()

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():  # the following bytes are in another protocol, and must not be parsed as HTTP
            raise ValueError("no other protocol is supported")
        super().on_headers_complete()
        self._head = None
        self._body, self._due = 0, self.loop.time() + GRACE
        if not self.pipeline:
            self._answering = self.cycle

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        self._body += len(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._incomplete = False
        if self.cycle.response_complete:  # refused earlier: no timer of uvicorn runs, because the body stopped it
            self._wait()
        else:
            self._due = inf

    def on_response_complete(self) -> None:
        if self.pipeline:
            self._answering = self.pipeline[-1][0]
        super().on_response_complete()
        if self.cycle.response_complete and self._incomplete:  # refused before the whole body was received
            self._wait()
