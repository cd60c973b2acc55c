"""Pages name what exists: every module of the core is on the map, and the excerpts and tests that they cite exist."""

import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import onmargin

ROOT = Path(__file__).parents[2]
CORE = ROOT / "src/onmargin/_core"
PAGE = ROOT / "docs/how_it_works.rst"
ON_THE_MAP = set(re.findall(r"``([\w/]+\.(?:pyx|pxd|h|c))``", PAGE.read_text(encoding="utf-8")))


def modules():
    """Return Cython modules, declarations without a module, and C sources."""
    paths = [path.relative_to(CORE) for path in CORE.rglob("*") if path.suffix in {".pyx", ".pxd", ".h", ".c"}]
    return {path.as_posix() for path in paths if path.suffix != ".pxd" or path.with_suffix(".pyx") not in paths}


def test_map_has_every_module():
    assert modules() == ON_THE_MAP


def test_every_cython_module_is_built():
    """A module that is not named in `meson.build` is never compiled."""
    build = (CORE / "meson.build").read_text(encoding="utf-8")
    assert not [path for path in modules() if path.endswith(".pyx") and f"'{Path(path).stem}'" not in build]


def test_the_calls_of_the_page_exist():
    """Each line of a trace has a file and the functions that it calls there; Python resolves them."""
    text = (
        PAGE.read_text(encoding="utf-8").split("One example, from each interface", 1)[1].split("The half-space\n", 1)[0]
    )
    calls = [
        (path, name)
        for path, names in re.findall(r"^ {3,}([\w/]+)\.pyx? +([\w.]+(?:, [\w.]+)*)(?=  |\n| ->)", text, re.MULTILINE)
        for name in names.split(", ")
    ]
    assert len(calls) > 20
    for path, name in calls:
        if name != "run_round":  # compiled, and not visible to Python
            assert callable(attrgetter(name)(import_module(f"onmargin.{path.replace('/', '.')}")))


def test_included_code_is_there():
    text = PAGE.read_text(encoding="utf-8")
    for block in re.findall(r"literalinclude:: (\S+)\n((?:   :.*\n)+)", text):
        source = (PAGE.parent / block[0]).read_text(encoding="utf-8")
        for mark in re.findall(r":(?:start-at|end-at|end-before): (.*)", block[1]):
            assert mark in source, f"{block[0]} has no line with {mark!r}"


def test_tests_that_pages_name_exist():
    pages = [*(ROOT / "docs").rglob("*.rst"), *ROOT.glob("*.md")]
    named = {
        name
        for page in pages
        for name in re.findall(r"(tests/\w+/\w+\.py)(?:::|``, ``)(test_\w+)(?![\w.])", page.read_text("utf-8"))
    }
    missing = [f"{file}::{test}" for file, test in named if f"def {test}(" not in (ROOT / file).read_text("utf-8")]
    assert named
    assert not missing


def test_every_public_name_is_in_the_api():
    """By its name, or by the module of estimators whose learners a page lists."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs/api").glob("*.rst")))
    modules = re.findall(r"^\.\. (?:classifiers|regressors):: (.*)$", text, re.MULTILINE)
    listed = {f"onmargin.estimators.{module}" for line in modules for module in line.split(", ")}
    names = set(re.findall(r"^   (\w+)$", text, re.MULTILINE))
    assert [name for name in onmargin.__all__ if name not in names and onmargin._HOME[name] not in listed] == []
