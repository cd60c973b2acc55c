"""The readers of a service: processes that answer predictions on other cores, and the messages to them."""

import asyncio
import socket
import sys
import time
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import click

from onmargin.apps.serve.following import BEAT, Beat, Begin, Examples, Gone, Loaded, packed
from onmargin.apps.serve.journal import Entry, ModelRow
from onmargin.apps.serve.limits import Limits
from onmargin.apps.serve.served_model import ServedModel
from onmargin.apps.serve.service import Follower, Service
from onmargin.apps.serve.state import State
from onmargin.apps.serve.tokens import Tokens

MOST_BEHIND = 2**26  # bytes waiting for a reader, above which it is restarted
PAUSE = 1.0  # seconds before a reader that has ended is restarted


class Readers:
    """Readers at one address, each with its own socket: the operating system distributes connections over them."""

    def __init__(
        self, service: Service, address: tuple[str, int], n: int, given: tuple[Tokens, Limits, str | None]
    ) -> None:
        self._service = service
        self._given = given
        self._tasks: list[asyncio.Task[None]] = []
        self._sockets = [_listening(address)]
        self.port = self._sockets[0].getsockname()[1]
        self._sockets += [_listening((address[0], self.port)) for _ in range(n - 1)]

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._keep_up(one)) for one in self._sockets]

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for one in self._sockets:
            one.close()

    async def _keep_up(self, listening: socket.socket) -> None:
        """Start a reader, and restart it when it ends."""
        while True:
            reason = await _Reader(self._service).run(listening, self._given)
            click.echo(f"warning: a reader {reason}, and another one is started", err=True)
            await asyncio.sleep(PAUSE)


def _listening(address: tuple[str, int]) -> socket.socket:
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    return socket.create_server(address, family=family, reuse_port=True)


class _Reader(Follower):
    """A reader process, and the queue of messages to it."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._waiting: asyncio.Queue[tuple[float, tuple[ModelRow, State] | Examples | Gone]] = asyncio.Queue()
        self._size = 0
        self._beaten = 0.0

    def learned(self, entry: Entry) -> None:
        bodies = [body for _, body in entry.bodies]
        self._size += sum(map(len, bodies))
        self._put(Examples(entry.model, entry.first, bodies))

    def changed(self, model: ServedModel) -> None:
        self._put(Gone(model.id) if model.deleted else (model.kept, deepcopy(model.state)))

    def _put(self, item: tuple[ModelRow, State] | Examples | Gone) -> None:
        self._waiting.put_nowait((time.monotonic(), item))

    async def run(self, listening: socket.socket, given: tuple[Any, ...]) -> str:
        """Start the process, and send it messages until it ends or falls behind; return which of the two."""
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-m", "onmargin.apps.serve.reader", str(theirs.fileno())]
        process = await asyncio.create_subprocess_exec(
            *command, pass_fds=(theirs.fileno(), listening.fileno()), stdin=asyncio.subprocess.DEVNULL
        )
        theirs.close()
        _, writer = await asyncio.open_connection(sock=ours)
        telling: list[asyncio.Task[None]] = []
        try:
            writer.write(packed(Begin.of(listening.fileno(), self._service.settings.room, *given)))
            async with self._service.turn:  # nothing is learned between the states and the messages after them
                for model in self._service.models.values():
                    self.changed(model)
                self._service.followers.append(self)
            telling = [asyncio.create_task(self._tell(writer))]
            ended = asyncio.create_task(process.wait())
            await asyncio.wait([*telling, ended], return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait([ended], timeout=1)  # its messages end a little earlier than the process itself
            return f"has ended with exit status {ended.result()}" if ended.done() else "was too far behind"
        finally:
            if self in self._service.followers:
                self._service.followers.remove(self)
            for task in telling:
                task.cancel()
            writer.close()
            with suppress(ProcessLookupError):
                process.terminate()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(process.wait(), 5)

    async def _tell(self, writer: asyncio.StreamWriter) -> None:
        """Send messages, with beats in between; return when the reader is too far behind."""
        with suppress(ConnectionError):
            while writer.transport.get_write_buffer_size() + self._size < MOST_BEHIND:
                try:
                    at, item = await asyncio.wait_for(self._waiting.get(), BEAT)
                except TimeoutError:
                    self._beat(writer, time.monotonic())
                    continue
                if isinstance(item, Examples):
                    self._size -= sum(map(len, item.bodies))
                    writer.write(packed(item))
                elif isinstance(item, Gone):
                    writer.write(packed(item))
                else:
                    writer.write(packed(await self._written(*item)))
                    await writer.drain()
                if time.monotonic() - self._beaten > BEAT:
                    self._beat(writer, at)

    def _beat(self, writer: asyncio.StreamWriter, at: float) -> None:
        """Send a beat: all messages before this time were sent."""
        writer.write(packed(Beat(at)))
        self._beaten = time.monotonic()

    async def _written(self, kept: ModelRow, state: State) -> Loaded:
        path: Path = self._service.snapshots.temporary()
        await self._service.snapshots.write(state, path, kept)
        return Loaded(kept.id, kept.name, kept.task, kept.parameters, kept.earliest, str(path))
