"""Public names of a package that are imported on first use (PEP 562)."""

import sys

TYPE_CHECKING = False  # every `import onmargin` runs this module, so it must import nothing that takes time

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def lazy_names(package: str, home: dict[str, str]) -> "tuple[Callable[[str], Any], Callable[[], list[str]]]":
    """Return `__getattr__` and `__dir__` of a package, given the module that defines each lazy name.

    A name whose module is the package itself is a submodule.
    """

    def get_attribute(name: str) -> object:
        from importlib import import_module

        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        is_module = home[name] == package
        value = import_module(f"{package}.{name}") if is_module else getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def list_attributes() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home})

    return get_attribute, list_attributes
