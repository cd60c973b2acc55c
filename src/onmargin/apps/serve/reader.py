"""A reader: a process that follows a service and answers predictions with its own copy of the models.

It answers only while it is at most `LAG` seconds behind: the model of every answer has learned everything that was
acknowledged until then. It learns the same examples as the service in the same order, so its weights are the same to
the last bit. When the service ends, the reader ends.
"""

import asyncio
import socket
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

from onmargin.apps.serve.access_log import AccessLog
from onmargin.apps.serve.app import App
from onmargin.apps.serve.following import LAG, Beat, Begin, Examples, Gone, Loaded, Message, receive
from onmargin.apps.serve.journal import ModelRow
from onmargin.apps.serve.json_learner import Room
from onmargin.apps.serve.metrics import Metrics
from onmargin.apps.serve.problems import NoModelError, ProblemError
from onmargin.apps.serve.run import configured
from onmargin.apps.serve.served_model import ServedModel
from onmargin.apps.serve.service import Settings
from onmargin.apps.serve.slices import Turn
from onmargin.apps.serve.state import Snapshot, decode
from onmargin.apps.serve.tokens import Tokens
from onmargin.learner import collect_warnings


class Replica:
    """Copy of the models of a service in a reader process, with the read-only interface of `Service`."""

    def __init__(self, room: Room) -> None:
        self.settings = Settings(room=room)
        self.metrics = Metrics()
        self.models: dict[str, ServedModel] = {}
        self.damaged: dict[str, str] = {}
        self.waiting = 0
        self.turn = Turn()
        self._by_id: dict[int, ServedModel] = {}
        self._synced = 0.0

    @property
    def problem(self) -> str | None:
        """The reason why requests are refused, or None while the reader is up to date."""
        if time.monotonic() - self._synced <= LAG:
            return None
        return f"this reader is more than {LAG:g} s behind: try again later"

    def start(self) -> None:
        """There is nothing to write."""

    async def close(self) -> None:
        """There is nothing to write."""

    def get(self, name: str) -> ServedModel:
        if (problem := self.problem) is not None:
            late = ProblemError(problem, 503)
            late.retry_after = 1
            raise late
        try:
            return self.models[name]
        except KeyError:
            raise NoModelError(f"there is no model {name!r:.80}") from None

    def apply(self, message: Message) -> None:
        """Apply a message of the service."""
        if isinstance(message, Examples):
            model = self._by_id[message.id]
            if message.first != model.state.seq + 1:
                raise RuntimeError(f"example {model.state.seq + 1} did not come")
            for body in message.bodies:
                model.state.learn(decode(body))
            model.throughput.count(learned=len(message.bodies))
            self.metrics.learned += len(message.bodies)
        elif isinstance(message, Beat):
            self._synced = message.at
        elif isinstance(message, Loaded):
            self._load(message)
        elif isinstance(message, Gone):
            self._by_id.pop(message.id).deleted = True
        if isinstance(message, Loaded | Gone):
            self.models = {model.name: model for model in self._by_id.values()}

    def _load(self, message: Loaded) -> None:
        path = Path(message.file)
        try:
            found = Snapshot.load(path, self.settings.room)
        finally:
            path.unlink(missing_ok=True)
        if found is None:
            raise RuntimeError(f"model {message.name!r} could not be read")
        kept = ModelRow(message.id, message.name, message.task, message.parameters, message.earliest)
        if (model := self._by_id.get(message.id)) is None:
            self._by_id[message.id] = ServedModel(kept, found.state)
        else:
            model.kept, model.state = kept, found.state


async def _follow(reader: asyncio.StreamReader, replica: Replica, server: Any) -> None:
    """Apply the messages of the service, and stop the server when the service ends."""
    try:
        while True:
            message = await receive(reader)
            async with replica.turn:
                replica.apply(message)
    except asyncio.IncompleteReadError:
        pass
    finally:
        server.end()


async def _run(told: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=told, limit=2**26)
    begin = await receive(reader)
    if not isinstance(begin, Begin):
        raise TypeError("the first message must be Begin")
    replica = Replica(Room(**begin.room))
    tokens = Tokens(begin.tokens)
    log = None if begin.access_log is None else AccessLog(begin.access_log)
    app: App = App(replica, tokens, begin.read_limits(), log, reads_only=True)  # type: ignore[arg-type]
    server = configured(app)
    listening = socket.socket(fileno=begin.listen)
    with collect_warnings(deque(maxlen=0)):  # the service warns of what it learns
        following = asyncio.create_task(_follow(reader, replica, server))
    try:
        await server.serve(sockets=[listening])
    finally:
        following.cancel()
        writer.close()


def main() -> None:
    """Run the reader process; its argument is the descriptor of the socket for messages."""
    told = socket.socket(fileno=int(sys.argv[1]))
    try:
        import uvloop
    except ModuleNotFoundError:
        asyncio.run(_run(told))
    else:
        uvloop.run(_run(told))


if __name__ == "__main__":
    main()
