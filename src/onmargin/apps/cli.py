"""The command line. Commands and what they run are imported when they are called, so that the program starts fast."""

import atexit
import gc
import os
from importlib import import_module
from typing import Any

import click

from onmargin.apps.failure import Failure

# The module of `onmargin.apps.commands` that has each command.
_COMMANDS = {
    **dict.fromkeys(("predict", "evaluate", "inspect"), "use"),
    **dict.fromkeys(("serve", "backup", "token"), "serve"),
    **dict.fromkeys(("demo", "lab"), "lab"),
    "train": "train",
    "convert": "convert",
}


class Program(click.Group):
    """Command group that imports commands on use, and reports problems with files and models in one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"onmargin.apps.commands.{_COMMANDS[cmd_name]}"), cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader of the output has stopped
            raise
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise Failure(f"{where}{error.strerror or error}") from error
        except ImportError as error:
            raise Failure(str(error)) from error
        except ValueError as error:
            # These errors name the location or the remedy. They are compared by name to avoid importing them.
            if type(error).__name__ == "OptionError":
                raise click.UsageError(str(error)) from error
            if type(error).__name__ not in {"FormatError", "ReadError", "ModelFileError"}:
                raise
            raise Failure(str(error)) from error


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="onmargin")
def main() -> None:
    """Online learning on the margin.

    FILES may be svmlight, CSV, TSV, tables separated by blanks, JSON, JSON lines, ARFF, Vowpal Wabbit text, lines of
    label, tab and text, Parquet, Arrow, folders of texts, mailboxes, CoNLL or CRFsuite files, compressed or not. Use -
    for the standard input.
    """
    # OpenBLAS threads are not used here, and starting them takes a sixth of the time of a prediction.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imports and records create many objects and hardly any cycles; collecting cycles would take a tenth of the time.
    gc.set_threshold(50_000, 20, 20)
    # The last collections, of what the system takes back anyway, would take another tenth.
    atexit.register(gc.freeze)
