"""Apps use public methods only: anything else that they need of a model becomes a public method."""

import ast
from pathlib import Path

import pytest

APPS = Path(__file__).parents[2] / "src/onmargin/apps"
SOURCES = sorted(APPS.rglob("*.py"))
# A module of apps may use private attributes of itself and of objects of its own class.
OWN = {"self", "cls", "service", "copy"}
# Methods of tuples, and what notebooks call to show an object, are public in spite of their names.
PROTOCOLS = {"_replace", "_make", "_fields", "_repr_html_"}
# Modules for all interfaces, of which `Client` is one.
SHARED = ("onmargin._frames.", "onmargin._warnings.")


def private(name):
    return name.startswith("_") and not name.startswith("__")


def accesses(tree):
    """Return the private attributes that code reads from objects of other classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and private(node.attr):
            owner = node.value
            if not (isinstance(owner, ast.Name) and owner.id in OWN) and node.attr not in PROTOCOLS:
                yield f"line {node.lineno}: {ast.unparse(node)}"
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"getattr", "hasattr", "setattr"}
            and isinstance(node.args[1], ast.Constant)
            and private(str(node.args[1].value))
        ):
            yield f"line {node.lineno}: {ast.unparse(node)}"


def imports(tree):
    """Return the private modules of other parts that code imports, and the private names of any module."""
    for node in ast.walk(tree):
        modules = []
        if isinstance(node, ast.ImportFrom):
            modules = [f"{node.module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        for module in modules:
            if (
                module.startswith("onmargin.")
                and not module.startswith(SHARED)
                and any(map(private, module.split(".")))
            ):
                yield f"line {node.lineno}: {module}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(APPS)))
def test_nothing_private_is_used(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [*accesses(tree), *imports(tree)]
    assert not found, f"{path.relative_to(APPS)} uses what is private:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("model._learner.task", "model._learner"),
        ("state.learner.model._names", "state.learner.model._names"),
        ("hasattr(model, '_learner')", "hasattr(model, '_learner')"),
        ("from onmargin._core.text.names import Names", "onmargin._core.text.names.Names"),
        ("from onmargin.stream._labels import check_label", "onmargin.stream._labels.check_label"),
        ("import onmargin._parts", "onmargin._parts"),
    ],
)
def test_the_test_can_fail(code, found):
    tree = ast.parse(code)
    assert [*accesses(tree), *imports(tree)] == [f"line 1: {found}"]


def test_public_use_passes():
    code = "from onmargin.stream import AROWClassifier\nself._model.learn_one(x, y)\nmodel.__sklearn_is_fitted__()"
    tree = ast.parse(code)
    assert [*accesses(tree), *imports(tree)] == []
