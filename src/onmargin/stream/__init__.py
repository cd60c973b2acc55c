"""Learners for streams of dicts, lists of names, text or vectors; new features may appear at any time.

A learner has the name that it has in `onmargin`, and is defined in the module of that name: the class of
`onmargin/estimators/ridge.py` for matrices is in `onmargin/stream/ridge.py` for streams. `__init__.pyi` tells type
checkers the same. Learners are imported on first use, so a program that uses one does not wait for the others.
"""

import os

from onmargin._lazy import declared_names, lazy_names

_HERE = os.path.dirname(__file__)
_MODULES = {file.removesuffix(".py") for file in os.listdir(_HERE)}
_HOME = {
    name: f"{__name__}.{module}"
    for name, home in declared_names(os.path.join(os.path.dirname(_HERE), "__init__.pyi")).items()
    for *package, module in [home.split(".")]
    if package == ["onmargin", "estimators"] and module in _MODULES
}

__all__ = sorted(_HOME)  # noqa: PLE0605

__getattr__, __dir__ = lazy_names(__name__, _HOME)
