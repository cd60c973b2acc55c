"""The stubs of the compiled modules say what the modules hold: the same names, with the same parameters."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "src/onmargin/_core"
MODULES = sorted(path.stem for path in CORE.glob("*.pyx"))
CLASSES = [
    pytest.param(module, node, id=f"{module}.{node.name}")
    for module in MODULES
    for node in ast.parse(CORE.joinpath(f"{module}.pyi").read_text(encoding="utf-8")).body
    if isinstance(node, ast.ClassDef)
]


def is_special(name):
    return name.startswith("__")


def decorators(node):
    return {ast.unparse(decorator) for decorator in getattr(node, "decorator_list", [])}


def members(body):
    """What a stub defines, by name: functions and annotated attributes."""
    named = {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return named | {node.target.id: node for node in body if isinstance(node, ast.AnnAssign)}


def parameters(stub):
    """A stub's parameters: the name of each, whether it has a default and whether it is keyword-only."""
    names = [argument.arg for argument in stub.args.args]
    required = len(names) - len(stub.args.defaults)
    return [(name, k >= required, False) for k, name in enumerate(names)] + [
        (argument.arg, default is not None, True)
        for argument, default in zip(stub.args.kwonlyargs, stub.args.kw_defaults, strict=True)
    ]


def compiled_parameters(function):
    found = inspect.signature(function).parameters.values()
    return [(p.name, p.default is not p.empty, p.kind is p.KEYWORD_ONLY) for p in found]


def source_parameters(module, name):
    """Those of a compiled class's __init__: it cannot be inspected, so they are read from its source."""
    source = CORE.joinpath(f"{module}.pyx").read_text(encoding="utf-8")
    body = re.search(rf"^cdef class {name}\b.*?(?=^\S|\Z)", source, re.MULTILINE | re.DOTALL)[0]
    found = re.search(r"def __init__\((.*?)\):", body, re.DOTALL)
    if found is None:
        return None
    declared = [argument.strip() for argument in found[1].split(",") if argument.strip()]
    star = declared.index("*") if "*" in declared else len(declared)
    return [
        (argument.partition("=")[0].split()[-1], "=" in argument, k > star)
        for k, argument in enumerate(declared)
        if k != star
    ]


@pytest.mark.parametrize("module", MODULES)
def test_module_has_the_names_of_its_stub(module):
    compiled = import_module(f"onmargin._core.{module}")
    public = {
        name
        for name, value in vars(compiled).items()
        if getattr(value, "__module__", None) == compiled.__name__ and not is_special(name)
    }
    stub = members(ast.parse(CORE.joinpath(f"{module}.pyi").read_text(encoding="utf-8")).body)
    assert public == stub.keys()
    for name, node in stub.items():
        if isinstance(node, ast.FunctionDef):
            assert compiled_parameters(getattr(compiled, name)) == parameters(node), name


@pytest.mark.parametrize(("module", "stub"), CLASSES)
def test_class_has_the_members_of_its_stub(module, stub):
    compiled = getattr(import_module(f"onmargin._core.{module}"), stub.name)
    declared = members(stub.body)
    declared.pop("__init__", None)
    assert {name for name in vars(compiled) if not is_special(name)} <= declared.keys()
    for name, node in declared.items():
        # A base class may promise what only its subclasses have: all of them.
        owners = [compiled] if name in vars(compiled) else compiled.__subclasses__()
        assert owners, name
        assert all(hasattr(owner, name) for owner in owners), name
        if isinstance(node, ast.FunctionDef) and not decorators(node):
            assert all(compiled_parameters(getattr(owner, name)) == parameters(node) for owner in owners), name


@pytest.mark.parametrize(("module", "stub"), CLASSES)
def test_class_is_made_as_its_stub_says(module, stub):
    init = members(stub.body).get("__init__")
    assert source_parameters(module, stub.name) == (init and parameters(init))


@pytest.mark.parametrize(("module", "stub"), CLASSES)
def test_properties_are_read_only_and_attributes_are_not(module, stub):
    compiled = getattr(import_module(f"onmargin._core.{module}"), stub.name)
    blank = compiled.__new__(compiled)
    for name, node in members(stub.body).items():
        if "property" in decorators(node) and hasattr(blank, name):
            with pytest.raises(AttributeError, match="not writable"):
                setattr(blank, name, getattr(blank, name))
        elif isinstance(node, ast.AnnAssign):
            setattr(blank, name, getattr(blank, name))


@pytest.mark.parametrize(("module", "stub"), CLASSES)
def test_class_has_the_bases_of_its_stub(module, stub):
    compiled = getattr(import_module(f"onmargin._core.{module}"), stub.name)
    assert [base.__name__ for base in compiled.__bases__] == ([ast.unparse(base) for base in stub.bases] or ["object"])
