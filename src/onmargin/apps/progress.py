"""Messages on standard error: what was detected, and the progress of a run.

Progress is one line that is overwritten on a terminal, otherwise occasional lines.
"""

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from onmargin.apps.report import tell
from onmargin.apps.sniff import describe

if TYPE_CHECKING:
    from onmargin.apps.chunk_learner import ChunkLearner
    from onmargin.apps.training_options import TrainingOptions
    from onmargin.io.format import FileProfile

_FEW_CLASSES = 10  # maximum number of distinct integer labels that are treated as classes without a message
_LINES = 10.0  # seconds between separate lines
_FRAMES = 0.1  # seconds between updates of an overwritten line


class NullReporter:
    """Messages about what was detected, switched off."""

    def profile(self, profile: "FileProfile") -> Sequence[str]:
        """Take a profile, and return its notes if they are shown."""
        return ()

    def task(self, learner: "ChunkLearner") -> None:
        pass

    def experts(self, left_out: Sequence[str]) -> None:
        pass

    def classes(self, numbers: set[float]) -> None:
        pass


class Reporter(NullReporter):
    """Messages about what was detected: how files are read, what is learned, and which columns are ignored."""

    def __init__(self, options: "TrainingOptions") -> None:
        self._options = options
        self._profile: FileProfile | None = None

    def profile(self, profile: "FileProfile") -> Sequence[str]:
        self._profile = profile
        return profile.notes

    def task(self, learner: "ChunkLearner") -> None:
        if self._profile is None:
            return
        detected = f"{describe(self._profile)}; task {learner.task}, {type(learner.model).__name__}"
        tell(f"{self._options.files[0]}: {detected}")
        if self._profile.left_out:
            names = ", ".join(f"{name!r} ({reason})" for name, reason in self._profile.left_out.items())
            tell(f"left out: {names}; --only keeps what it names")
        for note in self._profile.notes:
            tell(note)

    def experts(self, left_out: Sequence[str]) -> None:
        """Report experts that take no part in training on shards."""
        if left_out:
            click.echo(
                f"{len(left_out)} experts cannot be averaged over shards and take no part: {'; '.join(left_out)}",
                err=True,
            )

    def classes(self, numbers: set[float]) -> None:
        """Report that numbers are treated as classes, if there are more than classifications usually have."""
        if len(numbers) > _FEW_CLASSES:
            click.echo(
                f"{len(numbers)} different whole numbers as labels are treated as classes; if they are quantities, add "
                "--task regress",
                err=True,
            )


class Progress:
    """Display of the number of examples, examples per second, the error so far, and the remaining time."""

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
        """Update the display; `done` is the completed fraction of the run, or None if it is not known."""
        now = time.monotonic()
        if self._first is None:
            # The first chunk includes one-time costs and is not timed.
            self._start, self._first, self._first_done = now, n_examples, done or 0.0
        if self._quiet or now - self._shown < (_FRAMES if self._live else _LINES):
            return
        self._shown = now
        line = self._line(n_examples, measure, done, now - self._start)
        if self._status is not None:
            self._status.update(line)
        else:
            tell(line)

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
    """Format a duration: 42 s, 3 min, 2 h 5 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
