"""Nothing acknowledged is lost after power cuts and I/O errors at any system call that changes a file."""

import re

import pytest

from tests import faults


@pytest.fixture(scope="module")
def preload(tmp_path_factory):
    return faults.preload(tmp_path_factory.mktemp("faults"))


def gone_through(preload, kind, stride):
    """Return how many cuts or errors the service survived without a loss."""
    printed = faults.run_preloaded(preload, "tests.apps.power", kind, stride)
    return int(re.match(rf"(\d+) {kind}, nothing lost", printed)[1])


def test_power_cuts(preload):
    assert gone_through(preload, "cuts", 20) > 50


@pytest.mark.parametrize("stride", [100, pytest.param(20, marks=pytest.mark.full)])
def test_errors_of_the_disk(preload, stride):
    assert gone_through(preload, "errors", stride) > 400 // stride


@pytest.mark.full
def test_a_start_on_a_full_disk_still_predicts(preload):
    assert gone_through(preload, "full", 1) >= 1
