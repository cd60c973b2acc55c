"""HTTP of uvicorn, with bounds on the head of a request: on its size and on how long it takes."""

from asyncio import TimerHandle, Transport
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST = 2**19  # bytes, counted by what comes at a time


class Guarded(HttpToolsProtocol):
    """Closes a connection whose next request does not get to its body. Bodies are bounded where they are read."""

    def __init__(self, *arguments: Any, seconds: float, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._seconds = seconds
        self._size = 0
        self._alarm: TimerHandle | None = None  # set while a head is expected

    def _expect(self) -> None:
        self._size = 0
        self._alarm = self.loop.call_later(self._seconds, self.transport.close)

    def _relax(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._relax()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        if self._alarm is None:
            self._expect()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._relax()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._alarm is not None:
            self._size += len(data)
            if self._size > MOST:
                self.transport.close()
