"""Hypothesis never times out a slow machine, and draws the same examples every time in continuous integration."""

import os

from hypothesis import settings

settings.register_profile("onmargin", deadline=None, derandomize="CI" in os.environ, print_blob=True)
settings.load_profile("onmargin")
