"""Requests to predict in their plainest form, which can be read at a glance.

The form is a part of HTTP/1.1 that leaves nothing to judge: one space where one is expected, no header twice, a length
and no other way to say where the body ends, and a connection that is kept. All else is left to a parser of HTTP, which
reads what is read here in the same way.
"""

import re
from typing import NamedTuple

LONGEST = 2**16  # bytes of a body; longer ones are read as they come
_HEAD = re.compile(
    rb"POST /v1/models/([A-Za-z0-9_.-]+)/predict HTTP/1\.1\r\n((?:[A-Za-z0-9-]+: [!-~][ -~]*(?<! )\r\n)+)\r\n"
)
_LINE = re.compile(rb"([A-Za-z0-9-]+): ([ -~]+)\r\n")
_MORE_TO_IT = {b"expect", b"proxy-connection", b"transfer-encoding", b"upgrade"}


class Plain(NamedTuple):
    """A request: the name of the model, headers in small letters, and where in the data its body begins and ends."""

    name: str
    headers: dict[bytes, bytes]
    begin: int
    end: int


def plain(data: bytes) -> Plain | None:
    """The request that begins some data, if its head is all there and plain."""
    head = _HEAD.match(data)
    if head is None:
        return None
    lines = _LINE.findall(head[2])
    headers = {name.lower(): value for name, value in lines}
    length = headers.get(b"content-length", b"")
    if (
        len(headers) < len(lines)
        or not length.isdigit()
        or len(length) > 9
        or int(length) > LONGEST
        or headers.get(b"connection", b"keep-alive").lower() != b"keep-alive"
        or not _MORE_TO_IT.isdisjoint(headers)
    ):
        return None
    return Plain(head[1].decode(), headers, head.end(), head.end() + int(length))
