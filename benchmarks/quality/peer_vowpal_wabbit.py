"""Vowpal Wabbit, which counts its mistakes on each row before it learns it."""

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from peer import Best, best
from vowpal_wabbit import VowpalWabbit
from workloads import Workload

LOSSES = ("hinge", "logistic")
# Rates of its adaptive updates, decreasing (power_t 0.5, the default) or constant; coin betting has no rate.
RATES = {0.5: (0.1, 0.5, 2, 8, 32), 0: (0.02, 0.1, 0.5)}
UPDATES = [*(f"-l {rate} --power_t {power}" for power, rates in RATES.items() for rate in rates), "--coin"]


def vowpal_wabbit(works: Sequence[Workload]) -> Best:
    errors: dict[str, list[float]] = defaultdict(list)
    for work in works:
        with tempfile.TemporaryDirectory() as folder:
            wabbit = VowpalWabbit(work, Path(folder))
            plain = wabbit.options
            for loss, update in product(LOSSES, UPDATES):
                wabbit.options = [loss if option == "hinge" else option for option in plain] + update.split()
                errors[f"{loss} {update}"].append(100 * wabbit.progressive_error())
    return best(errors)
