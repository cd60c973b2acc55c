"""What can be proved about a run."""

from onmargin.theory.bounds import pa1_mistakes

__all__ = ["pa1_mistakes"]
