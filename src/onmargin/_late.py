"""Functions of higher layers that lower layers call without importing them.

`onmargin/__init__.py` connects each function when the package is imported. The module that defines the function is
imported when it is called.
"""

TYPE_CHECKING = False  # every `import onmargin` runs this module, so it must import nothing

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class LateFunction:
    """A function of a higher layer, connected later."""

    def __init__(self) -> None:
        self._function: Callable[..., Any] | None = None

    def connect(self, function: "Callable[..., Any]") -> None:
        """Set the function."""
        self._function = function

    def __call__(self, *arguments: "Any", **options: "Any") -> "Any":
        """Call the function."""
        if self._function is None:
            raise RuntimeError("this function of a higher layer is not connected: import onmargin first")
        return self._function(*arguments, **options)


# fit_shards(model, shards, **options): train a model on shards of data.
fit_shards = LateFunction()
# public_modules(): the modules whose public names model files use, each after the prefix of its names in files.
public_modules = LateFunction()
