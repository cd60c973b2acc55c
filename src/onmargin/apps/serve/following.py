"""Messages from a service to its reader processes, in order: states, examples, and the time.

Messages are sent over a socket, each preceded by its length. A reader applies them in order: after a `Beat` it has
learned everything that was acknowledged before the beat was sent. Times are those of the machine's monotonic clock.
"""

import asyncio
from ipaddress import ip_network
from typing import Any

import msgspec

from onmargin.apps.serve.json_learner import Room
from onmargin.apps.serve.limits import Limits
from onmargin.apps.serve.tokens import Right, Tokens

LAG = 1.0  # maximum delay of a reader in seconds
BEAT = 0.2  # seconds between beats


class Begin(msgspec.Struct, tag=True):
    """Configuration of a reader: tokens and limits. `listen` is the descriptor of its socket."""

    listen: int
    tokens: list[tuple[bytes, Right]] | None
    room: dict[str, int]
    limits: dict[str, Any]
    access_log: str | None

    @classmethod
    def of(cls, listen: int, room: Room, tokens: Tokens, limits: Limits, access_log: str | None) -> "Begin":
        given = msgspec.to_builtins({name: value for name, value in vars(limits).items() if name != "proxies"})
        given["proxies"] = [str(network) for network in limits.proxies]
        return cls(listen, tokens.known, dict(vars(room)), given, access_log)

    def read_limits(self) -> Limits:
        return Limits(**self.limits | {"proxies": tuple(map(ip_network, self.limits["proxies"]))})


class Loaded(msgspec.Struct, tag=True):
    """A model as a snapshot in a file, which the reader removes; it replaces the state with the same number."""

    id: int
    name: str
    task: str
    parameters: bytes
    earliest: int
    file: str


class Gone(msgspec.Struct, tag=True):
    """A model was deleted."""

    id: int


class Examples(msgspec.Struct, tag=True):
    """Learned examples of a model, and the number of the first one."""

    id: int
    first: int
    bodies: list[bytes]


class Beat(msgspec.Struct, tag=True):
    """The current time."""

    at: float


Message = Begin | Loaded | Gone | Examples | Beat
_decode = msgspec.msgpack.Decoder(Message).decode
_encode = msgspec.msgpack.encode


def packed(message: Message) -> bytes:
    data = _encode(message)
    return len(data).to_bytes(4, "big") + data


async def receive(reader: asyncio.StreamReader) -> Message:
    """Return the next message; it raises IncompleteReadError when the service has ended."""
    size = int.from_bytes(await reader.readexactly(4), "big")
    message: Message = _decode(await reader.readexactly(size))
    return message
