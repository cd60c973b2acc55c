"""The command line. Commands import what they need when they run, so that the program starts at once."""

import click


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="onmargin")
def main() -> None:
    """Online learning on the margin."""


@main.command()
def demo() -> None:
    """Learn a real data set online and show what came of it."""
    from onmargin.apps.demo import run

    run()
