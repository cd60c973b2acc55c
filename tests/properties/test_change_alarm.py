"""Guarantees of ChangeAlarm, and its behavior on invalid input."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin.evaluate import ChangeAlarm


def mistakes(*levels, seed=0):
    """Return mistakes with a given number of rounds at each rate."""
    random = np.random.default_rng(seed)
    return np.concatenate([random.random(n) < rate for rate, n in levels])


def alarm_rounds(alarm, losses):
    """Return the rounds at which the alarm was raised."""
    return [t for t, loss in enumerate(losses, start=1) if alarm.update(loss)]


@pytest.mark.parametrize("delta", [0.002, 0.05])
@pytest.mark.parametrize("rate", [0.0, 0.01, 0.1, 0.5, 1.0])
def test_false_alarms_are_rarer_than_delta(rate, delta):
    """Over 20,000 rounds without change, both directions counted."""
    rounds = 20_000
    alarm = ChangeAlarm(delta, direction="both")
    assert len(alarm_rounds(alarm, mistakes((rate, rounds), seed=int(100 * rate)))) <= delta * rounds
    assert alarm.rounds_ == rounds


@pytest.mark.parametrize("seed", range(20))
def test_default_is_quiet_for_a_long_time(seed):
    assert len(alarm_rounds(ChangeAlarm(), mistakes((0.15, 5000), seed=seed))) <= 1


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("low", "high"), [(0.05, 0.3), (0.1, 0.5), (0.3, 0.7), (0.0, 0.2)])
def test_abrupt_change_is_detected_soon(low, high, seed):
    """At most twice as many rounds are needed as until the means differ by the threshold."""
    alarm = ChangeAlarm()
    assert not alarm_rounds(alarm, mistakes((low, 2000), seed=seed))
    sure, gap = np.log(2 * np.log(2000) / alarm.delta), high - low
    variance = max(low * (1 - low), high * (1 - high))
    delay = 2 * (2 * variance * sure / gap**2 + 2 * sure / (3 * gap))
    rounds = alarm_rounds(alarm, mistakes((high, int(delay)), seed=seed + 100))
    assert rounds
    assert alarm.changes_ == [2000 + t for t in rounds]
    alarm_rounds(alarm, mistakes((high, 500), seed=seed + 200))
    assert alarm.mean_ == pytest.approx(high, abs=0.15)
    assert alarm.width_ < 1000


def test_falling_losses_shrink_the_window_without_an_alarm():
    stream = mistakes((0.6, 500), (0.05, 500), seed=3)
    alarm, both = ChangeAlarm(), ChangeAlarm(direction="both")
    assert not alarm_rounds(alarm, stream)
    assert alarm_rounds(both, stream)
    assert alarm.width_ == both.width_ < 600
    assert alarm.mean_ < 0.1


@given(st.lists(st.sampled_from([0, 1, True, False, np.True_, 0.5, np.float32(0.25)]), max_size=40), st.data())
def test_copies_continue_alike(losses, data):
    alarm = ChangeAlarm(0.3, buckets=2)
    alarm_rounds(alarm, losses[: data.draw(st.integers(0, len(losses)))])
    rest = data.draw(st.lists(st.sampled_from([0.0, 1.0]), max_size=60))
    twins = [deepcopy(alarm), pickle.loads(pickle.dumps(alarm))]
    expected = alarm_rounds(alarm, rest), alarm.width_, alarm.mean_, alarm.changes_, alarm.rounds_
    for twin in twins:
        np.testing.assert_equal(
            (alarm_rounds(twin, rest), twin.width_, twin.mean_, twin.changes_, twin.rounds_), expected
        )


@pytest.mark.parametrize("bad", [np.nan, -0.1, 1.1, np.inf, "1", None, [0.0], 1j, np.array([0.5, 0.5])], ids=str)
def test_invalid_losses_are_refused_and_change_nothing(bad):
    alarm = ChangeAlarm()
    alarm_rounds(alarm, mistakes((0.3, 50)))
    before = alarm.rounds_, alarm.width_, alarm.mean_
    with pytest.raises(ValueError, match="loss must be a number from 0 to 1, such as 1 for a mistake; got"):
        alarm.update(bad)
    assert (alarm.rounds_, alarm.width_, alarm.mean_) == before


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"delta": 0}, "delta must be a number greater than 0 and less than 1; got 0"),
        ({"delta": np.nan}, "delta must be"),
        ({"direction": "up"}, "direction must be 'rise' or 'both'; got 'up'"),
        ({"buckets": 0}, "buckets must be an integer at least 1"),
    ],
)
def test_parameters_are_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        ChangeAlarm(**parameters)


def test_before_the_first_loss():
    alarm = ChangeAlarm()
    assert (alarm.width_, alarm.rounds_, alarm.changes_) == (0, 0, [])
    assert np.isnan(alarm.mean_)
    assert repr(alarm) == "ChangeAlarm(delta=0.002, direction='rise', buckets=5)"


@pytest.mark.parametrize("seed", range(5))
def test_river_detects_the_same_changes(seed):
    """River's ADWIN checks only every few rounds, and skips cuts near the ends."""
    drift = pytest.importorskip("river.drift", reason="river is not installed")
    stream = mistakes((0.1, 1000), (0.5, 300), seed=seed)
    ours, theirs = ChangeAlarm(), drift.ADWIN(delta=0.002, clock=1)
    rounds = []
    for t, mistake in enumerate(stream, start=1):
        theirs.update(int(mistake))
        rounds += [t] if theirs.drift_detected else []
    [first, *_] = alarm_rounds(ours, stream)
    assert 1000 < first <= rounds[0] + 30
    assert abs(ours.mean_ - theirs.estimation) < 0.1
