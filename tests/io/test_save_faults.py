"""`onmargin.save` leaves the old file or the new one after any failure of the disk."""

import re

from tests import faults


def test_errors_of_the_disk_and_power_cuts(tmp_path):
    printed = faults.run_preloaded(faults.preload(tmp_path), "tests.io.save_faults")
    n_errors, n_cuts = map(int, re.match(r"(\d+) errors and (\d+) cuts, nothing lost", printed).groups())
    assert n_errors >= 30
    assert n_cuts >= 60
