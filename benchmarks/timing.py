"""CPU time of several ways to do the same work, measured side by side on one thread."""

from collections.abc import Callable, Mapping
from time import process_time

from threadpoolctl import threadpool_limits


def race(
    runners: Mapping[str, Callable[[], object]], repeats: int, clock: Callable[[], float] = process_time
) -> dict[str, float]:
    """Return the best CPU seconds of each runner, or those of another clock.

    The runners alternate, so that other load slows all of them; the best time is the least disturbed one.
    """
    best = dict.fromkeys(runners, float("inf"))
    with threadpool_limits(limits=1):
        for _ in range(repeats):
            for name, run in runners.items():
                start = clock()
                run()
                best[name] = min(best[name], clock() - start)
    return best


def ratios(seconds: Mapping[str, float], to: str) -> dict[str, float]:
    """Return the ratio of each runner's time to that of `to`."""
    return {name: taken / seconds[to] for name, taken in seconds.items() if name != to}
