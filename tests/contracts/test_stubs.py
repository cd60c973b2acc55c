"""The stubs of the compiled modules match the modules: the same names, with the same parameters."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

SRC = Path(__file__).parents[2] / "src"
SOURCES = sorted((SRC / "onmargin/_core").rglob("*.pyx"))


def dotted(path):
    """Return the name by which the module of a source is imported."""
    return ".".join(path.relative_to(SRC).with_suffix("").parts)


def stub_of(path):
    return ast.parse(path.with_suffix(".pyi").read_text(encoding="utf-8")).body


def is_special(name):
    return name.startswith("__")


def decorators(node):
    return {ast.unparse(decorator) for decorator in getattr(node, "decorator_list", [])}


def members(body):
    """Return the definitions of a stub by name: functions and annotated attributes."""
    named = {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return named | {node.target.id: node for node in body if isinstance(node, ast.AnnAssign)}


def parameters(stub):
    """Return a stub's parameters: the name of each, whether it has a default and whether it is keyword-only."""
    names = [argument.arg for argument in stub.args.args]
    required = len(names) - len(stub.args.defaults)
    return [(name, k >= required, False) for k, name in enumerate(names)] + [
        (argument.arg, default is not None, True)
        for argument, default in zip(stub.args.kwonlyargs, stub.args.kw_defaults, strict=True)
    ]


def compiled_parameters(function):
    found = inspect.signature(function).parameters.values()
    return [(p.name, p.default is not p.empty, p.kind is p.KEYWORD_ONLY) for p in found]


def source_parameters(path, name):
    """Return those of a compiled class's __init__, read from its source because it cannot be inspected."""
    source = path.read_text(encoding="utf-8")
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


def classes():
    """Yield each class that a stub and its module have: its name, its source, the compiled class and its stub."""
    for path in SOURCES:
        compiled = import_module(dotted(path))
        for stub in stub_of(path):
            if isinstance(stub, ast.ClassDef) and hasattr(compiled, stub.name):
                yield f"{dotted(path)}.{stub.name}", path, getattr(compiled, stub.name), stub


def refuse(problems):
    """Fail with one line per problem."""
    problems = list(problems)
    assert not problems, "stubs and compiled modules differ:\n" + "\n".join(problems)


def test_sources_are_found():
    assert SOURCES
    refuse(f"{dotted(path)} has no .pyi next to it" for path in SOURCES if not path.with_suffix(".pyi").exists())


def wrong_names(path):
    compiled = import_module(dotted(path))
    public = {
        name
        for name, value in vars(compiled).items()
        if getattr(value, "__module__", None) == compiled.__name__ and not is_special(name)
    }
    stub = members(stub_of(path))
    yield from (f"{dotted(path)}.{name} is not in the stub" for name in sorted(public - stub.keys()))
    yield from (f"{dotted(path)}.{name} is only in the stub" for name in sorted(stub.keys() - public))
    for name in sorted(public & stub.keys()):
        if isinstance(stub[name], ast.FunctionDef):
            found, said = compiled_parameters(getattr(compiled, name)), parameters(stub[name])
            if found != said:
                yield f"{dotted(path)}.{name} takes {found}, and its stub says {said}"


def test_modules_have_the_names_of_their_stubs():
    refuse(problem for path in SOURCES for problem in wrong_names(path))


def wrong_members(where, compiled, stub):
    declared = members(stub.body)
    declared.pop("__init__", None)
    for name in vars(compiled):
        if not is_special(name) and name not in declared:
            yield f"{where}.{name} is not in the stub"
    for name, node in declared.items():
        # A base class may declare members that all of its subclasses have.
        owners = [compiled] if name in vars(compiled) else compiled.__subclasses__()
        if not owners or not all(hasattr(owner, name) for owner in owners):
            yield f"{where}.{name} is only in the stub"
        elif isinstance(node, ast.FunctionDef) and not decorators(node):
            for owner in owners:
                found, said = compiled_parameters(getattr(owner, name)), parameters(node)
                if found != said:
                    yield f"{where}.{name} takes {found}, and its stub says {said}"


def test_classes_have_the_members_of_their_stubs():
    refuse(problem for where, _, compiled, stub in classes() for problem in wrong_members(where, compiled, stub))


def wrong_init(where, path, stub):
    init = members(stub.body).get("__init__")
    found, said = source_parameters(path, stub.name), init and parameters(init)
    if found != said:
        yield f"{where} is made with {found}, and its stub says {said}"


def test_constructors_match_their_stubs():
    refuse(problem for where, path, _, stub in classes() for problem in wrong_init(where, path, stub))


def is_readable(blank, name):
    """Return whether a property has a value even though nothing was constructed."""
    try:
        return hasattr(blank, name)
    except TypeError:  # it is computed from arrays that do not exist yet
        return False


def is_writable(blank, name):
    try:
        setattr(blank, name, getattr(blank, name))
    except AttributeError as error:
        if "not writable" not in str(error):
            raise
        return False
    return True


def wrong_access(where, compiled, stub):
    blank = compiled.__new__(compiled)
    for name, node in members(stub.body).items():
        if "property" in decorators(node):
            if is_readable(blank, name) and is_writable(blank, name):
                yield f"{where}.{name} can be set, and its stub says property"
        elif isinstance(node, ast.AnnAssign) and not is_writable(blank, name):
            yield f"{where}.{name} cannot be set, and its stub says attribute"


def test_properties_are_read_only_and_attributes_are_not():
    refuse(problem for where, _, compiled, stub in classes() for problem in wrong_access(where, compiled, stub))


def wrong_bases(where, compiled, stub):
    found = [base.__name__ for base in compiled.__bases__]
    said = [ast.unparse(base) for base in stub.bases] or ["object"]
    if found != said:
        yield f"{where} derives from {found}, and its stub says {said}"


def test_classes_have_the_bases_of_their_stubs():
    refuse(problem for where, _, compiled, stub in classes() for problem in wrong_bases(where, compiled, stub))
