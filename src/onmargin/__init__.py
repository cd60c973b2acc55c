"""Online learning on the margin: compiled passive-aggressive algorithms and related learners.

The stub `__init__.pyi` declares the public names and modules. They are imported on first use: importing scikit-learn
alone takes over a second, and importing `typing` takes longer than the rest of this file.
"""

from onmargin import _late
from onmargin._lazy import declared_names, lazy_names

_HOME = declared_names(__file__.rpartition(".")[0] + ".pyi")  # names of `onmargin` itself are submodules

__all__ = [name for name in _HOME if _HOME[name] != "onmargin"]


_get_attribute, _ = lazy_names(__name__, _HOME)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("onmargin")
    return _get_attribute(name)


def __dir__() -> list[str]:
    return sorted([*_HOME, "__version__"])


def _fit_shards(*arguments: object, **options: object) -> object:
    from importlib import import_module

    return import_module("onmargin.scale").fit(*arguments, **options)


def _public_modules() -> object:
    """Return the modules whose public names model files use, each after the prefix of its names in files."""
    return (
        ("", "onmargin"),
        ("", "onmargin.features"),
        ("stream.", "onmargin.stream"),
        ("confidence.", "onmargin.confidence"),
    )


_late.fit_shards.connect(_fit_shards)
_late.public_modules.connect(_public_modules)
