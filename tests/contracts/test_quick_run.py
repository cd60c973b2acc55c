"""The quick run skips only what it may, and reports it; `--full` and named tests skip nothing."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = """
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


@dataclass(frozen=True)
class Case:
    name: str
    size: object


@pytest.mark.parametrize("a", [1, 2, 3])
@pytest.mark.parametrize("b", ["x", "y"])
def test_product(a, b): ...


@pytest.mark.parametrize("case", [Case(name, size) for name in ("m", "n") for size in (None, True)], ids=str)
def test_cases(case): ...


@pytest.mark.parametrize("kind", [1, 1.0, True])
def test_equal_values_of_other_types(kind): ...


@pytest.mark.parametrize("n", range(100))
def test_many(n): ...


@pytest.mark.full
def test_slow(): ...


drawn = []


@given(st.integers())
def test_property(number):
    drawn.append(number)


def test_drawn(request):
    assert settings.default.max_examples == (100 if request.config.option.full else 10)
    assert len(drawn) == settings.default.max_examples
"""
ALL = {
    *(f"test_product[{b}-{a}]" for a in (1, 2, 3) for b in "xy"),
    *(f"test_cases[Case(name='{name}', size={size})]" for name in "mn" for size in (None, True)),
    *(f"test_equal_values_of_other_types[{kind}]" for kind in ("1", "1.0", "True")),
    *(f"test_many[{n}]" for n in range(100)),
    *("test_slow", "test_property", "test_drawn"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite")
    shutil.copy(ROOT / "conftest.py", folder)
    folder.joinpath("pytest.ini").write_text("[pytest]\naddopts = -n auto --dist loadfile\nmarkers = full\n")
    folder.joinpath("test_all.py").write_text(TESTS)
    return folder


def run(folder, *arguments, code=0):
    """Run the tests of a folder; return the names of those that passed, and the output."""
    command = [sys.executable, "-m", "pytest", "-v", "-p", "xdist.plugin", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    passed = re.findall(r"PASSED.* test_all\.py::(.*?) *$|^test_all\.py::(.*?) PASSED", done.stdout, re.MULTILINE)
    return {one or other for one, other in passed}, done.stdout


@pytest.mark.parametrize("workers", [["-n0"], []], ids=["alone", "with workers"])
def test_quick_run_has_each_value_of_each_parameter(folder, workers):
    passed, printed = run(folder, *workers)
    assert passed < ALL
    assert ALL - passed >= {"test_slow"}
    for part in ("1]", "2]", "3]", "product[x", "product[y", "name='m'", "name='n'", "size=None", "size=True"):
        assert any(part in name for name in passed), part
    kept = [name.partition("[")[0] for name in passed]
    assert kept.count("test_product") == 3
    assert kept.count("test_cases") == 2
    assert kept.count("test_equal_values_of_other_types") == 3
    assert kept.count("test_many") == 10
    assert f"{len(passed)} of {len(ALL)} tests" in printed
    assert re.search(r"in \d+ s, \d+ s of processor time", printed)
    assert "`pytest --full` runs everything" in printed


def test_the_rest_is_what_the_quick_run_left_out(folder):
    quick, rest = (run(folder, "-n0", *options)[0] for options in ([], ["--rest"]))
    assert quick | rest == ALL
    assert quick & rest == {"test_property"}  # which draws more examples


def test_processor_time_is_limited(folder):
    _, printed = run(folder, "--max-cpu", "0.01", "test_all.py::test_slow", code=1)
    assert re.search(r"FAILED: the run took \d+ s of processor time, and 0.01 s are allowed", printed)
    run(folder, "--max-cpu", "1000", "test_all.py::test_slow")


def test_full_run_has_everything(folder):
    passed, printed = run(folder, "-n0", "--full")
    assert passed == ALL
    assert "quick run" not in printed


def test_named_tests_are_not_left_out(folder):
    passed, printed = run(folder, "test_all.py::test_slow", "test_all.py::test_product")
    assert passed == {name for name in ALL if name.startswith(("test_slow", "test_product"))}
    assert "quick run" not in printed
