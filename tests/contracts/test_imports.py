"""Imports go downward only, and importing the package loads nothing until a part of it is used."""

import ast
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import onmargin

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/onmargin"

# Layers, from the bottom up. A module may import from its own part and from lower layers, never from a sibling.
LAYERS = [
    {"_frames", "_lazy", "_numbers", "_tables", "_warnings", "errors"},
    {"_core", "reference"},
    {"_parts"},
    {"learner", "transaction", "_checks"},
    {"models"},
    {"features", "io", "pipeline"},
    {"estimators", "stream"},
    {"scale", "theory"},
    {"confidence", "crfsuite", "evaluate", "river"},
    {"lab"},
    {"apps"},
    {"__main__"},
]
HEIGHT = {part: height for height, layer in enumerate(LAYERS) for part in layer}
# Imports from above, each on first use: `fit` takes shards, and model files name the public classes of all modules.
UPWARD = {
    "estimators/_estimator.py imports scale",
    "io/_values.py imports confidence",
    "io/_values.py imports features",
    "io/_values.py imports river",
    "io/_values.py imports stream",
}
# `onmargin` itself only names its parts: it imports none of them when it is imported.
TOP = "onmargin"
MODULES = sorted(path for suffix in ("py", "pyx", "pxd") for path in PACKAGE.rglob(f"*.{suffix}"))


def part_of(path):
    relative = path.relative_to(PACKAGE)
    return TOP if relative.name == "__init__.py" and len(relative.parts) == 1 else relative.parts[0].removesuffix(".py")


def only_for_types(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def imports(node):
    """Return the modules imported by statements under a node, without those for type checkers."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (name.name for name in child.names)
        elif isinstance(child, ast.ImportFrom):
            module = "." * child.level + (child.module or "")
            yield from (f"{module}.{name.name}" for name in child.names)
        elif not only_for_types(child):
            yield from imports(child)


def named(node):
    """Return the modules of onmargin named by strings under a node, such as arguments of `import_module`.

    An f-string that begins like one counts as unknown. The name of the package alone counts only in a call.
    """
    for child in ast.walk(node):
        if isinstance(child, ast.JoinedStr) and ast.unparse(child)[2:].startswith("onmargin."):
            yield "onmargin.?"
        elif isinstance(child, ast.Constant) and re.fullmatch(r"onmargin(\.\w+)+", str(child.value)):
            yield child.value
        elif (
            isinstance(child, ast.Call)
            and [getattr(argument, "value", None) for argument in child.args] == ["onmargin"]
            and re.fullmatch(r"(.*\.)?(import_module|__import__)", ast.unparse(child.func))
        ):
            yield TOP


def cython_imports(source):
    """Return the same for Cython, whose imports are on separate lines."""
    for words in map(str.split, source.splitlines()):
        if words[:1] in (["from"], ["import"], ["cimport"]):
            yield words[1]


def in_package(path):
    return path.relative_to(PACKAGE).as_posix()


@cache
def imported_by(path):
    source = path.read_text(encoding="utf-8")
    return set(imports(ast.parse(source)) if path.suffix == ".py" else cython_imports(source))


@cache
def named_by(path):
    return set(named(ast.parse(path.read_text(encoding="utf-8")))) if path.suffix == ".py" else set()


def parts(modules):
    """Return the parts of onmargin that the imported modules belong to; the package itself is one."""
    return {f"{module}.{TOP}".split(".")[1] for module in modules if re.match(r"onmargin(\.|$)", module)}


def goes_up(part, own):
    """Return whether a module of one part must not import another part, because it is not below."""
    # A name that is neither a part nor a module is a public name of the package, which only the apps use.
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
        for part in sorted(parts(imported_by(path) | named_by(path)) - {part_of(path)})
        if goes_up(part, part_of(path)) and part_of(path) != TOP
    ]
    assert set(upward) == UPWARD, "imports from the same layer or from above:\n" + "\n".join(upward)


@pytest.mark.parametrize(
    "code",
    [
        "import onmargin",
        "import onmargin.scale",
        "from onmargin import scale",
        "from onmargin.scale.training import fit",
        "def fit(): return import_module('onmargin.scale').fit",
        "HOME = {'fit': 'onmargin.scale.training'}",
        "import_module(f'onmargin.{name}')",
        "importlib.import_module('onmargin').scale",
    ],
)
def test_every_way_to_import_is_seen(code):
    found = parts({*imports(ast.parse(code)), *named(ast.parse(code))})
    assert any(goes_up(part, "estimators") for part in found)


def test_package_imports_none_of_its_parts():
    """It imports only the module for imports on first use."""
    assert parts(imported_by(PACKAGE / "__init__.py")) == {"_lazy"}


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
    """Return the modules loaded in a fresh interpreter after a statement."""
    code = f"import sys; {statement}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


def test_import_is_lazy():
    slow = {"sklearn", "scipy", "numpy", "click", "rich"}
    assert not slow & loaded_after("import onmargin")


def test_import_needs_no_typing():
    """Importing typing takes longer than all the rest. `-S` is needed because an editable install imports it before."""
    code = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); import onmargin; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-IS", "-c", code], check=True, capture_output=True, text=True).stdout
    assert not {"typing", "collections", "importlib.metadata", "re"} & set(loaded.split())


def declared(package="."):
    """Return the names that a package declares for type checkers, with the modules that define them."""
    source = ast.parse((PACKAGE / package / "__init__.py").read_text(encoding="utf-8"))
    (block,) = (node for node in source.body if only_for_types(node))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname: (node.module, alias.name) for node in imports for alias in node.names}


@pytest.mark.parametrize("name", sorted(declared()))
def test_names_are_what_type_checkers_see(name):
    module, original = declared()[name]
    assert name == original
    assert getattr(onmargin, name) is getattr(import_module(module), name)


def test_the_same_names_are_declared_and_listed():
    listed = onmargin._HOME | dict.fromkeys(onmargin._MODULES, "onmargin")
    assert {name: module for name, (module, _) in declared().items()} == listed


def test_dir_shows_only_the_public_names():
    assert dir(onmargin) == sorted([*declared(), "__version__"])
    modules = {"confidence", "crfsuite", "evaluate", "features", "io", "lab", "pipeline", "reference", "river", "scale"}
    modules |= {"stream", "theory"}
    assert set(onmargin.__all__) == declared().keys() - modules
    assert not [name for name in onmargin.__all__ if name.startswith("_")]


def test_modules_are_imported_when_they_are_used():
    used = (
        "confidence.Intervals evaluate.progressive features.RunningScaler io.shards lab.run reference.play "
        "river.PassiveAggressiveRegressor"
    )
    used += " scale.fit stream.PassiveAggressiveClassifier theory.certify"
    loaded_after("import onmargin; " + "; ".join(f"onmargin.{name}" for name in used.split()))


@pytest.mark.parametrize("package", ["onmargin", "onmargin.io", "onmargin.stream", "onmargin.apps.serve"])
def test_a_lazy_name_is_not_that_of_a_module(package):
    """Importing the module would replace the function of that name."""
    shadowed = loaded_after(
        f"import {package} as p; names = [n for n in dir(p) if callable(getattr(p, n))]; "
        "import importlib, importlib.util; "
        f"found = [n for n in names if importlib.util.find_spec('{package}.' + n)]; assert not found, found"
    )
    assert package in shadowed


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'onmargin' has no attribute 'Classifier'"):
        onmargin.Classifier  # noqa: B018


def test_streams_are_light():
    """The command line imports them at its start."""
    assert not {"sklearn", "scipy", "river", "safetensors"} & loaded_after("import onmargin.stream")


def test_models_need_no_scikit_learn():
    modules = [f"onmargin.models.{path.stem}" for path in (PACKAGE / "models").glob("*.py") if path.stem != "__init__"]
    assert "onmargin.models.chain" in modules
    assert "sklearn" not in loaded_after(f"import {', '.join(modules)}")


def test_reference_needs_nothing_compiled():
    loaded = loaded_after("import onmargin.reference")
    assert "numpy" in loaded
    assert not {name for name in loaded if name.startswith("onmargin._core")}


def test_learners_of_streams_are_those_that_type_checkers_see():
    found = declared("stream")
    assert {name: module for name, (module, _) in found.items()} == onmargin.stream._HOME
    for name, (module, _) in found.items():
        assert getattr(onmargin.stream, name).__module__ == module
        assert name in onmargin.__all__


SCRIPTS = sorted(
    path.relative_to(ROOT) for folder in ("benchmarks", "examples") for path in ROOT.glob(f"{folder}/**/*.py")
)


@pytest.mark.parametrize("path", SCRIPTS, ids=str)
def test_examples_and_benchmarks_import_existing_names(path):
    """They run less often than tests."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "onmargin":
            for alias in node.names:
                found = hasattr(import_module(node.module), alias.name) or find_spec(f"{node.module}.{alias.name}")
                assert found, f"{node.module} has no {alias.name}"
