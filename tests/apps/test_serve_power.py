"""Power cuts, and I/O errors at every system call that changes a file of a service: nothing acknowledged is lost."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def preload(tmp_path_factory):
    """The library of `faults.c`, compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if sys.platform != "linux":
        pytest.skip("system calls are intercepted on Linux only")
    if compiler is None:
        pytest.skip("there is no C compiler to build the library that intercepts system calls")
    library = tmp_path_factory.mktemp("faults") / "faults.so"
    source = Path(__file__).with_name("faults.c")
    options = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
    command = [compiler, *options, "-o", library, source, "-ldl"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode:
        pytest.skip(f"the library that intercepts system calls cannot be built: {built.stderr[-300:]}")
    return library


def gone_through(preload, kind, stride):
    """How many cuts or errors the service went through without a loss."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.apps.power", kind, str(stride)],
        cwd=ROOT,
        env=os.environ | {"LD_PRELOAD": str(preload)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return int(re.match(rf"(\d+) {kind}, nothing lost", run.stdout)[1])


def test_power_cuts(preload):
    assert gone_through(preload, "cuts", 20) > 50


def test_errors_of_the_disk(preload):
    assert gone_through(preload, "errors", 20) > 20


def test_a_start_on_a_full_disk_still_predicts(preload):
    assert gone_through(preload, "full", 1) >= 1
