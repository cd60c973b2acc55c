"""HTTP of uvicorn, with a short way for predictions, and bounds on what a client leaves unsaid or unread.

A request to predict whose head and body come together is answered where it is parsed, without a task and without ASGI.
All others are uvicorn's: also those whose turn has not come, and those of a client that does not read its answers. Both
ways give the same bytes.
"""

import re
from asyncio import Transport
from collections.abc import Callable, Sized
from math import inf
from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from onmargin.apps.serve.gate import Answer

MOST = 2**19  # bytes of a head, counted by what comes at a time
_PREDICT = re.compile(rb"/v1/models/([A-Za-z0-9_.-]+)/predict")
# By the name of a model, headers, the client's address and a body.
Predict = Callable[[str, dict[bytes, bytes], tuple[str, int] | None, bytes], Answer]


class _Flow(FlowControl):
    """Reads nothing more while requests wait for their turn: uvicorn alone takes as many as a client sends."""

    def __init__(self, transport: Transport, pipeline: Sized) -> None:
        super().__init__(transport)
        self._pipeline = pipeline

    def resume_reading(self) -> None:
        if not self._pipeline:
            super().resume_reading()


class Guarded(HttpToolsProtocol):
    """A connection; `close_if_late` ends it if its client does not go on. Bodies are bounded where they are read."""

    def __init__(self, *arguments: Any, predict: Predict, seconds: float, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._predict = predict
        self._seconds = seconds
        self._due = inf  # by when the client must have said more; for ever: it is the service's turn
        self._unread = inf  # by when it must have read what waits for it
        self._head: int | None = None  # bytes of a head that is not complete
        self._answering: RequestResponseCycle | None = None
        self._name = b""
        self._body: list[bytes] | None = None  # of a request that may be answered at once

    def close_if_late(self, now: float) -> None:
        """For all connections now and then: to set and to cancel a timer takes longer than to predict."""
        if now > self._unread:
            self.transport.abort()
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

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.time() + self._seconds

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unread = inf

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._body is not None and not self.transport.is_closing():
            self._hand_over()  # the rest is on its way
        if self._head is not None:
            self._head += len(data)
            if self._head > MOST:
                self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head = 0
        self._wait(self._seconds)

    def on_headers_complete(self) -> None:
        self._head = None
        self._due = inf
        if self._may_be_answered_at_once():
            self._body = []
        else:
            self._hand_over()

    def on_body(self, body: bytes) -> None:
        if self._body is None:
            super().on_body(body)
        else:
            self._body.append(body)

    def on_message_complete(self) -> None:
        if self._body is not None and self._answered_at_once(b"".join(self._body)):
            self._body = None
            self._wait(self.timeout_keep_alive)
            return
        if self._body is not None:
            self._hand_over()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if self.pipeline:
            self._answering = self.pipeline[-1][0]
        super().on_response_complete()
        if self.cycle.response_complete and self.cycle.more_body:  # refused before all of it was there
            self._wait(self._seconds)

    def _may_be_answered_at_once(self) -> bool:
        """Where it is a prediction, its turn, and nothing has to be said about the connection."""
        asked = _PREDICT.fullmatch(self.url)
        if asked is None:
            return False
        self._name = asked[1]
        return (
            self.parser.get_method() == b"POST"
            and self.parser.get_http_version() == "1.1"
            and self.parser.should_keep_alive()
            and not self.parser.should_upgrade()
            and not self.expect_100_continue
            and (self.cycle is None or self.cycle.response_complete)
            and not self.flow.write_paused
            and max(len(self.connections), len(self.tasks)) < (self.limit_concurrency or inf)
        )

    def _answered_at_once(self, body: bytes) -> bool:
        try:
            answer = self._predict(self._name.decode(), dict(self.headers), self.client, body)
        except Exception:  # uvicorn comes to the same defect, logs it and answers
            return False
        lines = [b"%b: %b\r\n" % header for header in answer.headers]
        self.transport.write(b"".join([STATUS_LINE[answer.status], *lines, b"\r\n", answer.body]))
        return True

    def _hand_over(self) -> None:
        """Give a request to uvicorn, as far as it has come."""
        body, self._body = self._body, None
        super().on_headers_complete()
        if not self.pipeline:
            self._answering = self.cycle
        for part in body or ():
            super().on_body(part)
