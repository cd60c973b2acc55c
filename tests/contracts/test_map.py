"""Pages name what exists: every module of the core is on the map, and the excerpts and tests that they cite exist."""

import re
import sys
from functools import partial
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

import onmargin
from onmargin import river
from onmargin.apps.commands.train import train

ROOT = Path(__file__).parents[2]
CORE = ROOT / "src/onmargin/_core"
HOW, CALLS, MAP = (ROOT / f"docs/{name}.rst" for name in ("how_it_works", "calls", "modules"))
ON_THE_MAP = set(
    re.findall(r"``([\w/]+\.(?:pyx|pxd|h|c))``", MAP.read_text(encoding="utf-8").split("The Python modules")[0])
)


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
    text = CALLS.read_text(encoding="utf-8")
    calls = [
        (path, name)
        for path, names in re.findall(r"^ {3,}([\w/]+)\.pyx? +([\w.]+(?:, [\w.]+)*)(?=  |\n| ->)", text, re.MULTILINE)
        for name in names.split(", ")
    ]
    assert len(calls) > 20
    for path, name in calls:
        if name != "run_round":  # compiled, and not visible to Python
            assert callable(attrgetter(name)(import_module(f"onmargin.{path.replace('/', '.')}")))


def train_by_command(folder):
    """Return a call of the command line that trains a model."""
    table = folder / "people.csv"
    table.write_text("age,name\n" + "".join(f"{i % 7},{'ab'[i % 3 > 1]}\n" for i in range(40)), encoding="utf-8")
    arguments = [str(table), "-o", str(folder / "people.model"), "--label", "name"]
    return lambda: train.main(arguments, standalone_mode=False)


def learn_by_name(kind):
    """Return a call that learns the second example of a learner of records."""
    model = kind()
    for label in "ab":
        model.learn_one({"age": 3}, label)
    return lambda: model.learn_one({"age": 5}, "a")


INTERFACES = {
    "scikit-learn": lambda folder: partial(
        onmargin.PassiveAggressiveClassifier().partial_fit(np.eye(2), [0, 1]).partial_fit, np.eye(2), [0, 1]
    ),
    "Dicts and texts": lambda folder: learn_by_name(onmargin.stream.PassiveAggressiveClassifier),
    "river": lambda folder: learn_by_name(river.PassiveAggressiveClassifier),
    "Command line": train_by_command,
}


@pytest.mark.parametrize("interface", INTERFACES)
def test_the_calls_of_the_page_are_made(interface, tmp_path):
    """Each line of a trace has a function that is called after that of the line before."""
    page = CALLS.read_text(encoding="utf-8").split(f"**{interface}**", 1)[1].split("text\n\n", 1)[1].split("\n\n", 1)[0]
    lines = re.findall(r"^ +([\w/]+\.py) +([\w.]+(?:, [\w.]+)*)", page, re.MULTILINE)
    expected = [(path, name) for path, names in lines for name in names.split(", ")]
    call, made = INTERFACES[interface](tmp_path), []

    def note(frame, event, argument):
        if event == "call":
            made.append((frame.f_code.co_filename, frame.f_code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    rest = iter(made)
    for path, name in expected:
        assert any(file.endswith(f"onmargin/{path}") and found == name for file, found in rest), f"{path} {name}"


@pytest.mark.parametrize("page", [HOW, MAP], ids=lambda page: page.stem)
def test_included_code_is_there(page):
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"literalinclude:: (\S+)\n((?:   :.*\n)+)", text):
        source = (page.parent / block[0]).read_text(encoding="utf-8")
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
