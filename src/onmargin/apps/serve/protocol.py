"""HTTP of uvicorn, with a short way for predictions, and bounds on what a client leaves unsaid or unread.

A plain request to predict is answered as soon as it is there, without a parser, a task and ASGI. All others are
uvicorn's: also those whose turn has not come, and those of a client that does not read its answers. Both ways give the
same bytes.
"""

from asyncio import Transport
from collections.abc import Callable, Sized
from math import inf
from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from onmargin.apps.serve.gate import Answer
from onmargin.apps.serve.plain import Plain, plain

MAX_HEAD = 2**19  # bytes of a head, counted by what comes at a time
PAUSE = 1.0  # seconds between the head and the end of the body of a request that is answered at once
# By the name of a model, headers, the client's address and a body; None, if it cannot be answered at once.
Predict = Callable[[str, dict[bytes, bytes], tuple[str, int] | None, bytes], Answer | None]


class _Flow(FlowControl):
    """Reads nothing more while requests wait for their turn: uvicorn alone takes as many as a client sends."""

    def __init__(self, transport: Transport, pipeline: Sized) -> None:
        super().__init__(transport)
        self._pipeline = pipeline

    def resume_reading(self) -> None:
        if not self._pipeline:
            super().resume_reading()


class Guarded(HttpToolsProtocol):
    """A connection; `end_if_late` closes it if its client does not go on. Bodies are bounded where they are read."""

    def __init__(self, *arguments: Any, predict: Predict, seconds: float, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._predict = predict
        self._seconds = seconds
        self._due = inf  # by when the client must have said more; for ever: it is the service's turn
        self._unread = inf  # by when it must have read what waits for it
        self._held = b""  # a plain request without the end of its body
        self._message = False  # whether uvicorn reads a request that is not complete
        self._head: int | None = None  # bytes of its head, where that is not complete
        self._answering: RequestResponseCycle | None = None

    def end_if_late(self, now: float) -> None:
        """For all connections now and then: to set and to cancel a timer takes as long as to predict."""
        if now > self._unread:
            self.transport.abort()
        elif now > self._due and self._held:
            self._hand_over()
        elif now > self._due:
            self.transport.close()

    def _wait(self, seconds: float) -> None:
        self._due = self.loop.time() + seconds

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = _Flow(transport, self.pipeline)
        self._wait(self._seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answering is not None:  # uvicorn tells the latest request alone, and this one would go on writing
            self._answering.disconnected = True
        super().connection_lost(exc)

    def shutdown(self) -> None:
        if self._held:
            self._hand_over()
        super().shutdown()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.time() + self._seconds

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unread = inf

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        due = self.loop.time() + min(PAUSE, self._seconds)
        if self._held:
            data, due, self._held = self._held + data, self._due, b""
        while data and self._is_free() and (request := plain(data)):
            if len(data) < request.end:
                self._held, self._due = data, due
                return
            if not self._answered(request, data[request.begin : request.end]):
                break
            data = data[request.end :]
        if data:
            self._read(data)

    def _is_free(self) -> bool:
        """Whether what comes next can be answered at once: it is a new request, and it is its turn."""
        return (
            not self._message
            and (self.cycle is None or self.cycle.response_complete)
            and not self.flow.write_paused
            and max(len(self.connections), len(self.tasks)) < (self.limit_concurrency or inf)
        )

    def _answered(self, request: Plain, body: bytes) -> bool:
        try:
            answer = self._predict(request.name, request.headers, self.client, body)
        except Exception:  # uvicorn comes to the same defect, logs it and answers
            return False
        if answer is None:
            return False
        self._wait(self.timeout_keep_alive)
        lines = [b"%b: %b\r\n" % header for header in answer.headers]
        self.transport.write(b"".join([STATUS_LINE[answer.status], *lines, b"\r\n", answer.body]))
        return True

    def _hand_over(self) -> None:
        data, self._held = self._held, b""
        self._read(data)

    def _read(self, data: bytes) -> None:
        """Have uvicorn read."""
        super().data_received(data)
        if self._head is not None:
            self._head += len(data)
            if self._head > MAX_HEAD:
                self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._message = True
        self._head = 0
        self._wait(self._seconds)

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():  # what follows is in another protocol, and must not be read as requests
            raise ValueError("no other protocol is spoken here")
        super().on_headers_complete()
        self._head = None
        self._due = inf
        if not self.pipeline:
            self._answering = self.cycle

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._message = False

    def on_response_complete(self) -> None:
        if self.pipeline:
            self._answering = self.pipeline[-1][0]
        super().on_response_complete()
        if self.cycle.response_complete and self._message:  # refused before all of it was there
            self._wait(self._seconds)
