"""The interface of a peer: it learns a stream in each of its orders, and returns the best setting of its grid."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from workloads import Workload


class Best(NamedTuple):
    """The setting with the smallest mean error over the orders, and that error in %."""

    setting: str
    error: float


Peer = Callable[[Sequence[Workload]], Best | None]  # None: the stream is too long for it


def best(errors: Mapping[str, Sequence[float]]) -> Best:
    means = {setting: float(np.mean(each)) for setting, each in errors.items()}
    setting = min(means, key=lambda setting: means[setting])
    return Best(setting, means[setting])
