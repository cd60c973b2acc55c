"""Test selection: `pytest` runs a quick selection by default, and everything with `--full`.

The quick run calls every test function that is not marked `full`. For a parametrized test it runs only enough
combinations to cover each value of each parameter, and for a property test it draws a tenth of the examples.
"""

import os
from _thread import start_new_thread
from collections import Counter
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import settings

# Tests that start services, browsers, clusters and other programs run one after the other, because they mostly wait.
PROGRAMS = ("tests/apps/", "tests/scale/test_ray.py")

COUNTS = pytest.StashKey[tuple[int, int]]()  # numbers of selected and of requested tests

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
    """The threads that were started to play rounds."""
    started = []

    def noted(*arguments):
        started.append(arguments)
        return start_new_thread(*arguments)

    monkeypatch.setattr("onmargin._core.background.start_new_thread", noted)
    return started


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="run every test, with all drawn examples (default: quick run)")


def pytest_configure(config):
    settings.load_profile("full" if config.option.full else "quick")


def values(item):
    """Return the values of a test's parameters, compared by identity, so that 1, 1.0 and True differ."""
    found = set()
    for name, value in item.callspec.params.items() if hasattr(item, "callspec") else ():
        if is_dataclass(value) and not isinstance(value, type):  # a case with several parameters
            found.update((name, field.name, id(getattr(value, field.name))) for field in fields(value))
        else:
            found.add((name, id(value)))
    return found


def covering(items):
    """Return a subset of the combinations of one test that covers each value of each parameter."""
    left = Counter(value for item in items for value in values(item))
    # A value that occurs once requires its combination. This covers most values, and the search below is slow.
    chosen = [item for item in items if any(left[value] == 1 for value in values(item))] or items[:1]
    missing = left.keys() - set().union(*map(values, chosen))
    while missing:
        chosen.append(max(items, key=lambda item: len(missing & values(item))))
        missing -= values(chosen[-1])
    return chosen


def quick(items):
    """Return the tests of the quick run, in the same order."""
    functions = {}
    for item in items:
        if not item.get_closest_marker("full"):
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    chosen = {item for combinations in functions.values() for item in covering(combinations)}
    return [item for item in items if item in chosen]


def named(config):
    """Return whether single tests are requested, as in `pytest tests/test_a.py::test_b`; those are never left out."""
    return any("::" in argument for argument in config.args)


@pytest.hookimpl(trylast=True)  # after -k and -m
def pytest_collection_modifyitems(config, items):
    asked = len(items)
    if not config.option.full and not named(config):
        items[:] = quick(items)
    config.stash[COUNTS] = len(items), asked


def pytest_terminal_summary(terminalreporter, config):
    running, asked = config.stash.get(COUNTS, (0, 0))
    if running < asked:
        terminalreporter.section("quick run")
        fewer = f"{running} of {asked} tests, with a tenth of the drawn examples"
        terminalreporter.line(f"quick run: {fewer}; `pytest --full` runs everything")


# With pytest-xdist the workers count the tests, and the main process reports.
def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["counts"] = session.config.stash.get(COUNTS, (0, 0))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    if "counts" in getattr(node, "workeroutput", {}):
        node.config.stash[COUNTS] = tuple(node.workeroutput["counts"])
    elif error:  # The scheduler below would wait forever for the rest of the crashed worker's files.
        pytest.exit(f"worker {node.gateway.id} crashed: {error}", returncode=1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Return one worker per core; none for single tests and with -s, where workers do not help."""
    if named(config) or config.option.capture == "no":
        return 0
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.option.dist != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        """Send one file at a time to a worker, and all files of tests that start programs to the same worker."""

        def _split_scope(self, nodeid):
            path = super()._split_scope(nodeid)
            return "programs" if path.startswith(PROGRAMS) else path

    return Scheduling(config, log)
