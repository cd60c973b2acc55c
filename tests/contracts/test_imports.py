"""Imports go downward only, and importing the package costs nothing until something of it is used."""

import ast
import re
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src/onmargin"

# From the bottom up. A module may import from its own part and from the layers below, never from a sibling.
LAYERS = [
    {"_core", "errors", "reference"},
    {"_parts"},
    {"learner", "_checks"},
    {"models"},
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
            module = "." * child.level + (child.module or "")
            yield from (f"{module}.{name.name}" for name in child.names)
        elif not only_for_types(child):
            yield from imports(child)


def cython_imports(source):
    """The same for Cython, whose imports stand on lines of their own."""
    for words in map(str.split, source.splitlines()):
        if words[:1] in (["from"], ["import"], ["cimport"]):
            yield words[1]


def in_package(path):
    return path.relative_to(PACKAGE).as_posix()


def imported_by(path):
    source = path.read_text(encoding="utf-8")
    return set(imports(ast.parse(source)) if path.suffix == ".py" else cython_imports(source))


def parts(modules):
    """Of the imported modules, the parts of onmargin that they belong to."""
    return {module.split(".")[1] for module in modules if module.startswith("onmargin.")}


def goes_up(part, own):
    """Whether a module of one part may not import another part, because that is not below it."""
    # What is neither a part nor a module is a public name of the package, which only the apps use.
    return HEIGHT.get(part, HEIGHT["estimators"]) >= HEIGHT.get(own, 0)


def test_every_module_has_a_layer():
    assert MODULES, f"no module was found in {PACKAGE}"
    without = [in_package(path) for path in MODULES if part_of(path) not in {TOP, *HEIGHT}]
    assert not without, "modules that LAYERS does not name:\n" + "\n".join(without)


def test_imports_are_absolute():
    relative = [
        f"{in_package(path)} imports {module}"
        for path in MODULES
        for module in sorted(imported_by(path))
        if module.startswith(".")
    ]
    assert not relative, "relative imports:\n" + "\n".join(relative)


def test_imports_go_downward():
    upward = [
        f"{in_package(path)} imports {part}"
        for path in MODULES
        for part in sorted(parts(imported_by(path)) - {part_of(path)})
        if goes_up(part, part_of(path))
    ]
    assert not upward, "imports from the same layer or from above:\n" + "\n".join(upward)


def test_package_imports_none_of_its_parts():
    assert not parts(imported_by(PACKAGE / "__init__.py"))


def test_reference_stands_on_numpy_alone():
    allowed = re.compile(rf"({'|'.join(sys.stdlib_module_names)}|numpy|onmargin\.reference)(\.|$)")
    foreign = [
        f"{in_package(path)} imports {module}"
        for path in (PACKAGE / "reference").rglob("*.py")
        for module in sorted(imported_by(path))
        if not allowed.match(module)
    ]
    assert not foreign, "imports of anything but NumPy:\n" + "\n".join(foreign)


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
