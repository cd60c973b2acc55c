"""Trials of several rows on the simplex: the compiled round equals the NumPy reference."""

import numpy as np
import pytest

from onmargin import reference
from onmargin._core.geometries.additive import Balanced, Entropic, PNorm
from onmargin._core.geometries.trials import AdditiveBlocks, Blocks
from onmargin._core.steps.simultaneous import Even, EvenLineSearch, Largest, LargestLineSearch
from onmargin._core.tasks.task import Multiclass
from onmargin._core.tasks.trial import Block
from onmargin.learner import Learner, as_rows
from onmargin.models.updates import SIMPLEX_TRIALS
from tests.streams import CONTAINERS, uneven_weights
from tests.trials import SIMPLEX_TWINS, some_trials

LINKS = {
    "entropic": (lambda n: Entropic(n, 1), reference.entropic()),
    "balanced": (lambda n: Balanced(n, 1), reference.balanced()),
    "pnorm": (lambda n: PNorm(n, 1, 4.0), reference.pnorm(4.0)),
}
MARGIN = 0.3


def assert_same(learner, run, *left_out):
    np.testing.assert_allclose(learner.geometry.mean()[0][0], run.weights, atol=1e-9)
    totals = dict(learner.totals)
    for name in totals.keys() - {"max_squared_norm", *left_out}:
        assert totals[name] == pytest.approx(getattr(run, name), rel=1e-8, abs=1e-9), name


def data(rows, seed, **options):
    """Return rows of real numbers, whose step is searched for, or of -1, 0 and 1, with a step in closed form."""
    trials = some_trials(seed, n_trials=16, **options)
    if rows == "signs":
        trials.X[:] = np.sign(trials.X)
    return trials


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("rows", ["signs", "reals"])
@pytest.mark.parametrize(("sets", "C"), [(1, 0.05), (1, 2.0), (3, 2.0)])
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("update", SIMPLEX_TWINS)
def test_blocks(*, update, link, C, sets, rows, container):
    trials = data(rows, 1, most_sets=sets)
    weight = uneven_weights(len(trials.ends) - 1)
    make, twin = LINKS[link]
    learner = Learner(Block(MARGIN), SIMPLEX_TRIALS[update](C), AdditiveBlocks(make(9)))
    matrix = CONTAINERS[container](trials.X)
    learner.learn(as_rows(matrix), trials.y, weight, trials=trials.ends, targets=trials.ends)
    matrices = np.split(trials.X, trials.ends[1:-1])
    run = reference.play_additive_trials(
        matrices, trials.labels(), reference.block(MARGIN), SIMPLEX_TWINS[update], twin, C=C, weight=weight
    )
    assert_same(learner, run)
    assert learner.geometry.clock == run.rounds


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("rows", ["signs", "reals"])
@pytest.mark.parametrize("C", [0.05, 2.0])
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("update", SIMPLEX_TWINS)
def test_class_features(*, update, link, C, rows, container):
    """Directions are differences of two rows; some classes have the features of the right one."""
    trials = data(rows, 3)
    lengths = np.diff(trials.ends)
    y = np.random.default_rng(0).integers(0, lengths).astype(np.float64)
    make, twin = LINKS[link]
    learner = Learner(Multiclass(MARGIN, every=True), SIMPLEX_TRIALS[update](C), AdditiveBlocks(make(9)))
    learner.learn(as_rows(CONTAINERS[container](trials.X)), y, trials=trials.ends)
    keep = lengths > 1

    def rivals(scores, right):
        halfspaces, mistake = reference.rivals(scores, right)
        return [h._replace(loss=h.loss - 1 + MARGIN) for h in halfspaces], mistake

    matrices = [m for m, more in zip(np.split(trials.X, trials.ends[1:-1]), keep, strict=True) if more]
    run = reference.play_additive_trials(matrices, y[keep], rivals, SIMPLEX_TWINS[update], twin, C=C)
    assert_same(learner, run, "rounds", "cost")


@pytest.mark.parametrize("sets", [1, 3])
@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize(
    ("reach", "plain"),
    [
        (LargestLineSearch, Largest),
        (lambda C: EvenLineSearch(C, mistaken=True), lambda C: Even(C, mistaken=True)),
        (lambda C: EvenLineSearch(C, mistaken=False), lambda C: Even(C, mistaken=False)),
    ],
    ids=["max", "conproj", "simproj"],
)
def test_with_plain_weights_they_are_the_plain_schemes(reach, plain, C, sets):
    trials = some_trials(3, most_sets=sets)
    weights = []
    for step in (reach, plain):
        learner = Learner(Block(), step(C), Blocks(9, 1, np.float64, bias=0.5))
        learner.learn(as_rows(trials.X), trials.y, trials=trials.ends, targets=trials.ends)
        weights.append([*learner.geometry.weights[0], *learner.geometry.intercept, learner.totals])
    assert weights[0] == weights[1]


def test_thetas_of_very_different_size():
    """Rows of very different size raise theta by thousands and lower it again."""
    random = np.random.default_rng(0)
    trials = some_trials(4, n_trials=60)
    trials.X[:] *= 10.0 ** random.integers(-2, 3, (len(trials.X), 1))
    for container in ("dense", "csr_array"):
        learner = Learner(Block(MARGIN), SIMPLEX_TRIALS["simproj"](50.0), AdditiveBlocks(Entropic(9, 1)))
        rows = as_rows(CONTAINERS[container](trials.X))
        learner.learn(rows, trials.y, trials=trials.ends, targets=trials.ends)
        matrices = np.split(trials.X, trials.ends[1:-1])
        run = reference.play_additive_trials(
            matrices, trials.labels(), reference.block(MARGIN), SIMPLEX_TWINS["simproj"], reference.entropic(), C=50.0
        )
        assert np.ptp(learner.geometry.single.theta) > 2000
        np.testing.assert_allclose(learner.geometry.mean()[0][0], run.weights, atol=1e-6)
