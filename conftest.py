"""Test selection: `pytest` runs a quick selection by default, and everything with `--full`.

The quick run calls every test function that is not marked `full`. For a parametrized test it runs some combinations,
which cover each value of each parameter if there are few, and for a property test it draws a tenth of the examples.
`--rest` runs what the quick run left out.
"""

import os
import time
from _thread import start_new_thread
from dataclasses import fields, is_dataclass
from math import isqrt
from random import Random

import pytest
from hypothesis import is_hypothesis_test, settings

FEW = 3  # combinations of a parametrized test that always run
COUNTS = pytest.StashKey[tuple[int, int]]()  # numbers of selected and of requested tests
STARTED = pytest.StashKey[float]()  # time in seconds
CPU_SECONDS = pytest.StashKey[float]()  # of the worker processes, or of the process if there are none

# Use one thread per worker. NumPy reads these variables on first import, and so do programs started by tests.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Disable deadlines for slow machines, and use the same examples every time in continuous integration.
settings.register_profile("full", deadline=None, derandomize="CI" in os.environ, print_blob=True, max_examples=100)
settings.register_profile("quick", settings.get_profile("full"), max_examples=10)


@pytest.fixture(autouse=True)
def same_random_numbers():
    """Start every test with the same state of NumPy's generator in continuous integration, as for drawn examples."""
    if "CI" in os.environ:
        import numpy as np

        np.random.seed(0)  # noqa: NPY002  # estimators without a random_state use this generator


@pytest.fixture
def threads(monkeypatch):
    """The threads that were started to run rounds."""
    started = []

    def noted(*arguments):
        started.append(arguments)
        return start_new_thread(*arguments)

    monkeypatch.setattr("onmargin._core.background.start_new_thread", noted)
    return started


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="run every test, with all drawn examples (default: quick run)")
    parser.addoption("--rest", action="store_true", help="run the tests and drawn examples that the quick run left out")
    parser.addoption("--max-cpu", type=float, metavar="SECONDS", help="fail if the run takes more processor time")


def pytest_configure(config):
    config.stash[STARTED] = time.monotonic()
    config.stash[CPU_SECONDS] = 0.0
    settings.load_profile("full" if config.option.full or config.option.rest else "quick")


def values(item):
    """Return the values of a test's parameters, compared by identity, so that 1, 1.0 and True differ."""
    found = set()
    for name, value in item.callspec.params.items() if hasattr(item, "callspec") else ():
        if is_dataclass(value) and not isinstance(value, type):  # a case with several parameters
            found.update((name, field.name, id(getattr(value, field.name))) for field in fields(value))
        else:
            found.add((name, id(value)))
    return found


def some_of(items):
    """Return combinations of one test that cover each value of each parameter, or as many values as so few can.

    Their number is at most the square root of all, or FEW. The search begins at a place that depends on the file: tests
    in one file share what they compute for a value, and those in different files run with different values.
    """
    left = {item: values(item) for item in Random(items[0].path.name).sample(items, len(items))}
    missing = set().union(*left.values())
    chosen = []
    while missing and len(chosen) < max(FEW, isqrt(len(items))):
        chosen.append(max(left, key=lambda item: len(missing & left[item])))
        missing -= left.pop(chosen[-1])
    return chosen or items


def quick(items):
    """Return the set of tests of the quick run."""
    functions = {}
    for item in items:
        if not item.get_closest_marker("full"):
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return {item for combinations in functions.values() for item in some_of(combinations)}


def named(config):
    """Return whether single tests are requested, as in `pytest tests/test_a.py::test_b`; those are never left out."""
    return any("::" in argument for argument in config.args)


@pytest.hookimpl(trylast=True)  # after -k and -m
def pytest_collection_modifyitems(config, items):
    asked = len(items)
    if not config.option.full and not named(config):
        chosen = quick(items)
        if config.option.rest:
            items[:] = [item for item in items if item not in chosen or is_hypothesis_test(getattr(item, "obj", None))]
        else:
            items[:] = [item for item in items if item in chosen]
    config.stash[COUNTS] = len(items), asked


def pytest_terminal_summary(terminalreporter, config):
    running, asked = config.stash.get(COUNTS, (0, 0))
    used, most = config.stash[CPU_SECONDS], config.option.max_cpu
    if running < asked and not config.option.rest:
        terminalreporter.section("quick run")
        took = f"{time.monotonic() - config.stash[STARTED]:.0f} s, {used:.0f} s of processor time"
        fewer = f"{running} of {asked} tests, with a tenth of the drawn examples, in {took}"
        terminalreporter.line(f"quick run: {fewer}; `pytest --full` runs everything")
    if most is not None and used > most:
        terminalreporter.line(f"FAILED: the run took {used:.0f} s of processor time, and {most:g} s are allowed")


# With pytest-xdist the workers count, and the main process reports.
@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    config, output = session.config, getattr(session.config, "workeroutput", None)
    has_workers = output is None and getattr(config.option, "numprocesses", 0)
    used = sum(os.times()[: 2 if has_workers else 4])  # with child processes, unless they are workers
    config.stash[CPU_SECONDS] += used
    if output is not None:
        output["counts"], output["cpu"] = config.stash.get(COUNTS, (0, 0)), used
    elif config.option.max_cpu is not None and config.stash[CPU_SECONDS] > config.option.max_cpu:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    if "counts" in getattr(node, "workeroutput", {}):
        node.config.stash[COUNTS] = tuple(node.workeroutput["counts"])
        node.config.stash[CPU_SECONDS] += node.workeroutput["cpu"]
    elif error:  # the run would wait forever for the other files of the crashed worker
        pytest.exit(f"worker {node.gateway.id} crashed: {error}", returncode=1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Return one worker per core; none for single tests and with -s, where workers do not help."""
    if named(config) or config.option.capture == "no":
        return 0
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
