"""`python -m onmargin` is the command line."""

from onmargin.apps.cli import main

main(prog_name="python -m onmargin")
