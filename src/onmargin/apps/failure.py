"""One-line errors about files and models."""

from collections.abc import Sequence

import click


class Failure(click.ClickException):
    """Error about data or a model that ends a command with exit status 1."""

    exit_code = 1


def listed(names: Sequence[str], most: int = 20) -> str:
    """Return the first names for an error message."""
    return ", ".join([*map(repr, names[:most]), *(["..."] if len(names) > most else [])])
