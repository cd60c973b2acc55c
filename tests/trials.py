"""Streams of trials: blocks, ordinal ranks and label sets, in the core and in the NumPy reference."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onmargin import reference
from onmargin._core.steps.pairs import EvenPairs, SeparablePairs, SopopoPairs
from onmargin._core.steps.simultaneous import Even, Joint, Largest, Separable
from onmargin._core.steps.step import Step


def max_step(loss, q, mistaken, weight, *, C):
    """MaxPA as a scheme: only the largest loss; ties go to the first."""
    tau = np.zeros_like(loss)
    worst = loss.argmax()
    tau[worst] = min(C * weight, loss[worst] / q[worst])
    return tau, float(tau @ loss)


# Value of `update`: the step of the core, and its NumPy reference.
STEPS = {
    "max": (Largest, lambda C: lambda *given: max_step(*given, C=C)),
    "simperc": (
        lambda C: Even(C, mistaken=True, fixed=True),
        lambda C: reference.simultaneous(reference.simperc, C),
    ),
    "conproj": (lambda C: Even(C, mistaken=True), lambda C: reference.simultaneous(reference.conproj, C)),
    "simproj": (lambda C: Even(C, mistaken=False), lambda C: reference.simultaneous(reference.simproj, C)),
    "simopt": (lambda C: Separable(C, mistaken=False), lambda C: reference.simultaneous(reference.simopt, C)),
    "conopt": (lambda C: Separable(C, mistaken=True), lambda C: reference.simultaneous(reference.conopt, C)),
}
PAIR_STEPS = {
    "simperc": lambda C: EvenPairs(C, mistaken=True, fixed=True),
    "conproj": lambda C: EvenPairs(C, mistaken=True),
    "simproj": lambda C: EvenPairs(C, mistaken=False),
    "simopt": lambda C: SeparablePairs(C, mistaken=False),
    "conopt": lambda C: SeparablePairs(C, mistaken=True),
    "exact": SopopoPairs,
}
UPDATES = [*STEPS, "exact"]
# On the simplex: the step of the reference along a half-space, and its mixture.
SIMPLEX_TWINS = {
    "max": (reference.optimal, reference.largest),
    "simperc": (reference.fixed, reference.even_mistakes),
    "conproj": (reference.optimal, reference.even_mistakes),
    "simproj": (reference.optimal, reference.even),
    "simopt": reference.separable,
}


def core_step(update: str, C: float) -> Step:
    return Joint(C) if update == "exact" else STEPS[update][0](C)


def twin_step(update: str, C: float) -> reference.trials.TrialStep:
    return reference.joint(C) if update == "exact" else reference.each_part(STEPS[update][1](C))


def offsets(lengths) -> NDArray[np.intp]:
    return np.concatenate([[0], np.cumsum(list(lengths))]).astype(np.intp)


@dataclass(frozen=True)
class Trials:
    """Stacked rows, the start of each trial, and one target per row."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    ends: NDArray[np.intp]

    def matrices(self, bias: float = 0.0) -> list[NDArray[np.float64]]:
        full = np.column_stack([self.X, np.full(len(self.X), bias)]).astype(np.float64)
        return np.split(full, self.ends[1:-1])

    def labels(self) -> list[NDArray[np.float64]]:
        return np.split(self.y, self.ends[1:-1])


def some_trials(seed: int, *, n_trials: int = 40, n_features: int = 9, most_sets: int = 1, dtype=np.float64) -> Trials:
    """Return trials of one to seven rows with noisy labels; some rows are zero, some equal."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 8, n_trials)
    X = random.standard_normal((lengths.sum(), n_features)) * (random.random((lengths.sum(), n_features)) < 0.7)
    X[random.random(len(X)) < 0.05] = 0
    again = np.flatnonzero(random.random(len(X) - 1) < 0.1)
    X[again + 1] = X[again]
    labels = np.sign(X @ random.standard_normal(n_features) + 0.5 * random.standard_normal(len(X)))
    ends = offsets(lengths)
    sets = []
    for length in lengths:
        chosen = random.integers(0, most_sets, length)
        sets.append(np.unique(chosen, return_inverse=True)[1] + 1)
    return Trials(X.astype(dtype), labels * np.concatenate(sets), ends)
