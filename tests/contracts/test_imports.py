"""Imports go downward only, and importing the package costs nothing until something of it is used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src/onmargin"

# From the bottom up. A module may import from its own part and from the layers below, never from a sibling.
LAYERS = [
    {"_core", "reference"},
    {"_parts"},
    {"learner", "_checks", "_columns", "_kernels", "_parameters", "_updates"},
    {"_several", "kernel_learner"},
    {"_experts"},
    {"features", "io"},
    {"estimators", "stream"},
    {"scale", "theory"},
    {"evaluate", "river"},
    {"lab"},
    {"apps"},
]
HEIGHT = {part: height for height, layer in enumerate(LAYERS) for part in layer}
# `onmargin` itself only names its parts: it imports none of them when it is imported.
TOP = "onmargin"
MODULES = sorted(path for suffix in ("py", "pyx", "pxd") for path in PACKAGE.rglob(f"*.{suffix}"))


def part_of(path):
    relative = path.relative_to(PACKAGE)
    return TOP if relative.name == "__init__.py" and len(relative.parts) == 1 else relative.parts[0].removesuffix(".py")


def only_for_types(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def imports(node):
    """The modules that the code under a node imports, those for type checkers left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (name.name for name in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "imports are absolute"
            yield from (f"{child.module}.{name.name}" for name in child.names)
        elif not only_for_types(child):
            yield from imports(child)


def cython_imports(source):
    """The same for Cython, whose imports stand on lines of their own."""
    for words in map(str.split, source.splitlines()):
        if words[:1] in (["from"], ["import"], ["cimport"]):
            yield words[1]


def imported_by(path):
    source = path.read_text(encoding="utf-8")
    return set(imports(ast.parse(source)) if path.suffix == ".py" else cython_imports(source))


def parts(modules):
    """Of the imported modules, the parts of onmargin that they belong to."""
    return {module.split(".")[1] for module in modules if module.startswith("onmargin.")}


def test_every_module_has_a_layer():
    assert {part_of(path) for path in MODULES} - {TOP} <= HEIGHT.keys()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_downward(path):
    own = part_of(path)
    for part in parts(imported_by(path)) - {own}:
        # What is neither a part nor a module is a public name of the package, which only the apps use.
        assert HEIGHT.get(part, HEIGHT["estimators"]) < HEIGHT.get(own, 0), f"{own} imports {part}"


def test_package_imports_none_of_its_parts():
    assert not parts(imported_by(PACKAGE / "__init__.py"))


def test_reference_stands_on_numpy_alone():
    for path in (PACKAGE / "reference").rglob("*.py"):
        roots = {module.split(".")[0] for module in imported_by(path)}
        assert roots - sys.stdlib_module_names <= {"numpy", "onmargin"}, path.name
        assert parts(imported_by(path)) <= {"reference"}, path.name


def loaded_after(statement):
    """The modules that a fresh interpreter has loaded after a statement."""
    code = f"import sys; {statement}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


def test_import_is_lazy():
    slow = {"sklearn", "scipy", "numpy", "click", "rich"}
    assert not slow & loaded_after("import onmargin")


def test_streams_are_light():
    """A command line starts with them."""
    assert not {"sklearn", "scipy", "river", "safetensors"} & loaded_after("import onmargin.stream")


def test_reference_needs_nothing_compiled():
    loaded = loaded_after("import onmargin.reference")
    assert "numpy" in loaded
    assert not {name for name in loaded if name.startswith("onmargin._core")}
