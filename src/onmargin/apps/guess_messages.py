"""Messages about what was guessed: how files are read, and what is learned."""

import click

from onmargin.apps.chunk_learner import ChunkLearner
from onmargin.apps.looks import Look
from onmargin.apps.request import Request

_FEW_CLASSES = 10  # maximum number of distinct integer labels that are taken for classes without a message


class Silent:
    """Messages about guesses, switched off."""

    def look(self, look: Look) -> None:
        pass

    def task(self, learner: ChunkLearner) -> None:
        pass

    def classes(self, numbers: set[float]) -> None:
        pass


class Said(Silent):
    """Messages about guesses: one line about what was guessed, and one about ignored columns."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._look: Look | None = None

    def look(self, look: Look) -> None:
        self._look = look

    def task(self, learner: ChunkLearner) -> None:
        if self._look is None:
            return
        click.echo(
            f"{self._request.files[0]}: {self._look}; task {learner.task}, {type(learner.model).__name__}", err=True
        )
        if self._look.left_out:
            names = ", ".join(f"{name!r} ({reason})" for name, reason in self._look.left_out.items())
            click.echo(f"left out: {names}; --only keeps what it names", err=True)

    def classes(self, numbers: set[float]) -> None:
        """Report that numbers were taken for classes, if there are more than classifications usually have."""
        if len(numbers) > _FEW_CLASSES:
            click.echo(
                f"{len(numbers)} different whole numbers as labels are taken for classes; if they are quantities, add "
                "--task regress",
                err=True,
            )
