"""Requests over a persistent connection, with retries."""

import http.client
import json
import time
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit


class ServiceError(Exception):
    """Error answer of the service to a request.

    Parameters
    ----------
    status : int
        The HTTP status, kept as an attribute.
    message : str
        The problem.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Connection:
    """Connection that repeats requests until they are answered, if repeating them is safe."""

    def __init__(self, url: str, token: str | None, timeout: float, retries: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(f"url must be like 'http://127.0.0.1:8700'; got {url!r}")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._new = partial(kind, parts.hostname, parts.port, timeout=timeout)
        self._connection = self._new()
        self._base = parts.path.rstrip("/")
        self._headers = {}
        if token is not None:
            if not (token.isascii() and token.isprintable()):  # the error of http.client would show it
                raise ValueError("token must be one line of printable ASCII characters")
            self._headers["Authorization"] = f"Bearer {token}"
        self._retries = retries

    def close(self) -> None:
        self._connection.close()

    def exchange(self, method: str, path: str, body: bytes | None, media: str = "application/json") -> bytes:
        """Return the answer to a request."""
        again = method == "GET" or path.endswith(("/learn", "/predict", "/explain"))
        if not again:
            self._connection.close()  # the service may have closed it, which would be noticed too late
        for tried in count():
            left, wait = tried < self._retries, min(0.1 * 2**tried, 5.0)
            try:
                answer = self._send(self._connection, method, path, body, media)
                content = answer.read()
            except (http.client.HTTPException, OSError) as error:
                self._connection.close()
                if not left or not (again or isinstance(error, ConnectionRefusedError)):  # a refused one was not sent
                    where = f"{self._connection.host}:{self._connection.port}"
                    raise ConnectionError(f"no answer from the service at {where}: {error or repr(error)}") from error
            else:
                if answer.status < 400:
                    return content
                if answer.status not in {429, 503} or not (left and again):
                    _raise(answer.status, content)
                wait = max(wait, min(float(answer.getheader("Retry-After", "0")), 10.0))
            time.sleep(wait)
        raise AssertionError("requests are repeated until they are answered")

    def save(self, path: str, file: Path) -> Mapping[str, str]:
        """Write a long answer to a file, which is replaced once the answer is complete; return its headers."""
        connection = self._new()
        part = file.with_name(f"{file.name}.part")
        try:
            answer = self._send(connection, "GET", path, None)
            if answer.status >= 400:
                _raise(answer.status, answer.read())
            with open(part, "wb") as target:
                while chunk := answer.read(2**20):
                    target.write(chunk)
            if answer.length:
                raise http.client.IncompleteRead(b"", answer.length)
            part.replace(file)
            return {name.lower(): value for name, value in answer.getheaders()}
        finally:
            connection.close()
            part.unlink(missing_ok=True)

    def lines(self, path: str) -> Iterator[bytes]:
        """Yield the lines of a long answer as they arrive, over a separate connection, so that others need not wait."""
        connection = self._new()
        try:
            answer = self._send(connection, "GET", path, None)
            if answer.status >= 400:
                _raise(answer.status, answer.read())
            yield from answer
        finally:
            connection.close()

    def _send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: bytes | None,
        media: str = "application/json",
    ) -> http.client.HTTPResponse:
        connection.request(method, self._base + path, body, self._headers | {"Content-Type": media})
        return connection.getresponse()


def _raise(status: int, content: bytes) -> NoReturn:
    try:
        message = str(json.loads(content)["error"])
    except (ValueError, KeyError, TypeError):
        message = content.decode("utf-8", "replace")[:200]
    raise ServiceError(status, message)
