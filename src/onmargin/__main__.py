"""`python -m onmargin` is the command line."""

from onmargin.apps.cli import main

if __name__ == "__main__":
    main(prog_name="python -m onmargin")
