"""How a run gets on, on the standard error: a line that is written over, or a line now and then."""

import sys
import time
from types import TracebackType
from typing import Any, Self

import click

_LINES = 10.0  # seconds between lines where they stay
_FRAMES = 0.1  # and where they are written over


class Progress:
    """Examples, examples a second, what they cost so far, and how long it will take."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._live = not quiet and sys.stderr.isatty()
        self._start = self._shown = time.monotonic()
        self._first: int | None = None
        self._first_done = 0.0
        self._status: Any = None

    def __enter__(self) -> Self:
        if self._live:
            from rich.console import Console
            from rich.status import Status

            self._status = Status("reading", console=Console(stderr=True, highlight=False))
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def update(self, n_examples: int, measure: str, done: float | None) -> None:
        """Say how far it is; `done` is the part of the run that is, None if nobody knows."""
        now = time.monotonic()
        if self._first is None:
            # The first chunk pays for what happens once.
            self._start, self._first, self._first_done = now, n_examples, done or 0.0
        if self._quiet or now - self._shown < (_FRAMES if self._live else _LINES):
            return
        self._shown = now
        line = self._line(n_examples, measure, done, now - self._start)
        if self._status is not None:
            self._status.update(line)
        else:
            click.echo(line, err=True)

    def _line(self, n_examples: int, measure: str, done: float | None, seconds: float) -> str:
        parts = [f"{n_examples:,} example{'' if n_examples == 1 else 's'}"]
        if seconds > 0 and self._first is not None:
            parts.append(f"{(n_examples - self._first) / seconds:,.0f}/s")
        parts.append(measure)
        if done is not None and done > self._first_done:
            left = seconds * (1 - done) / (done - self._first_done)
            parts.append(f"{done:.0%}, {duration(left)} left")
        return ", ".join(parts)


def duration(seconds: float) -> str:
    """Time in words: 42 s, 3 min, 2 h 5 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
