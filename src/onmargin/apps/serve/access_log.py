"""Access log: one line of JSON per answered request, without the content of requests or answers."""

import logging
import sys
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler

import msgspec


def _escaped(c: str) -> str:
    units = c.encode("utf-16-be").hex()
    return "".join(f"\\u{units[k : k + 4]}" for k in range(0, len(units), 4))


class AccessLog:
    """Access log in a file, which may be rotated, or on standard output if the path is "-"."""

    def __init__(self, path: str) -> None:
        handler = logging.StreamHandler(sys.stdout) if path == "-" else WatchedFileHandler(path, encoding="utf-8")
        self._handler: logging.Handler = handler

    def write(self, client: str, method: str, path: str, status: int, seconds: float) -> None:
        """Log an answer. The query is omitted, since it may contain a label."""
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "client": client,
            "method": method,
            "path": path[:200],
            "status": status,
            "ms": round(1000 * seconds, 3),
        }
        text = msgspec.json.encode(line).decode()
        if not text.isprintable():  # a path may have characters that control a terminal
            text = "".join(c if c.isprintable() else _escaped(c) for c in text)
        self._handler.handle(logging.LogRecord("onmargin.access", logging.INFO, "", 0, text, None, None))

    def close(self) -> None:
        self._handler.close()
