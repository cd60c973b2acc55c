"""What goes wrong with files and models, said in one line."""

import click


class Failure(click.ClickException):
    """Data or a model that a command cannot go on with; the program ends with 1."""

    exit_code = 1
