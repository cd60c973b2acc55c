"""Time per round and detection delay of ChangeAlarm, compared with river's ADWIN in the same run."""

import argparse
from functools import partial

import numpy as np
from river.drift import ADWIN
from timing import race

from onmargin.evaluate import ChangeAlarm

ROUNDS, CHANGE = 20_000, 10_000


def mistakes(low: float, high: float, seed: int) -> list[int]:
    """Return mistakes at one rate, and from the middle on at another."""
    rates = np.where(np.arange(ROUNDS) < CHANGE, low, high)
    return (np.random.default_rng(seed).random(ROUNDS) < rates).astype(int).tolist()


def ours(stream: list[int]) -> list[int]:
    alarm = ChangeAlarm()
    for mistake in stream:
        alarm.update(mistake)
    return alarm.changes_


def theirs(stream: list[int], clock: int) -> list[int]:
    alarm, changes = ADWIN(clock=clock), []
    for t, mistake in enumerate(stream, start=1):
        alarm.update(mistake)
        if alarm.drift_detected:
            changes.append(t)
    return changes


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="turns of each alarm, of which the best counts")
    parser.add_argument("--streams", type=int, default=20, help="streams that delays and alarms are counted over")
    arguments = parser.parse_args()
    alarms = {
        "onmargin": ours,
        "river, every round": lambda stream: theirs(stream, 1),
        "river, every 32nd, its default": lambda stream: theirs(stream, 32),
    }
    print(
        "| mistakes, % | alarm | microseconds a round | alarms before the change | first alarm after | alarms after |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for low, high in ((0.1, 0.2), (0.1, 0.5)):
        streams = [mistakes(low, high, seed) for seed in range(arguments.streams)]
        seconds = race({name: partial(alarm, streams[0]) for name, alarm in alarms.items()}, arguments.repeats)
        for name, alarm in alarms.items():
            found = [np.array(alarm(stream)) for stream in streams]
            delay = np.median([changes[changes > CHANGE][0] - CHANGE for changes in found])
            early, late = (np.mean([side(changes) for changes in found]) for side in (before, after))
            cost = 1e6 * seconds[name] / ROUNDS
            print(f"| {low:.0%} to {high:.0%} | {name} | {cost:.1f} | {early:.2f} | {delay:.0f} | {late:.1f} |")


def before(changes: np.ndarray) -> int:
    return int((changes <= CHANGE).sum())


def after(changes: np.ndarray) -> int:
    return int((changes > CHANGE).sum())


if __name__ == "__main__":
    main()
