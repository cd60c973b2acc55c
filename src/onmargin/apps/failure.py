"""One-line errors about files and models."""

import click


class Failure(click.ClickException):
    """Error about data or a model that ends a command with exit status 1."""

    exit_code = 1
