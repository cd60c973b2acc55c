"""One-line errors about files and models."""

import click

from onmargin.apps.report import printable_lines


class Failure(click.ClickException):
    """Error about data or a model that ends a command with exit status 1."""

    exit_code = 1

    def format_message(self) -> str:
        """Return the message, with control characters as escapes: it may name files of a folder."""
        return printable_lines(self.message)
