"""The compiled chain and the compiled round of sequences equal their NumPy references."""

from itertools import pairwise, product
from math import inf, sqrt

import numpy as np
import pytest

from onmargin import reference
from onmargin._core.geometries.chain import EdgePaths, Paths
from onmargin._core.steps.simultaneous import Even
from onmargin._core.steps.step import Projection
from onmargin._core.tasks.sequence import RivalSequences, Sequence, decode, decode_best, decode_most_wrong
from onmargin.learner import Learner, as_rows
from tests.streams import CONTAINERS, uneven_weights
from tests.trials import core_step, twin_step

TOLERANCE = {np.float64: 1e-9, np.float32: 2e-4}


def some_chain(random, tokens, labels, *, whole=False, varied=False):
    """Return emissions and transitions, which may vary per token; integers make ties."""
    draw = (lambda shape: random.integers(-2, 3, shape).astype(float)) if whole else random.standard_normal
    return draw((tokens, labels)), draw((tokens, labels, labels) if varied else (labels, labels))


def all_paths(emissions, transitions):
    """Return every labeling with its score."""
    tokens, labels = emissions.shape
    to_token = np.broadcast_to(transitions, (tokens, labels, labels))
    for path in product(range(labels), repeat=tokens):
        steps = sum(to_token[i, path[i - 1], path[i]] for i in range(1, tokens))
        yield sum(emissions[i, a] for i, a in enumerate(path)) + steps, path


def padded(emissions, transitions, padding):
    """Return scores as stored in the core: padding scores 0 and no path leads to it."""
    no_step = [(0, 0)] * (transitions.ndim - 1) + [(0, padding)]
    return np.pad(emissions, ((0, 0), (0, padding))), np.pad(transitions, no_step, constant_values=-inf)


@pytest.mark.parametrize("varied", [False, True])
@pytest.mark.parametrize("padding", [0, 3])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("tokens", "labels"), [(1, 1), (1, 4), (4, 1), (2, 2), (5, 3), (4, 5)])
def test_the_best_path_is_the_best_of_all(tokens, labels, *, whole, padding, varied):
    chain = some_chain(np.random.default_rng(tokens), tokens, labels, whole=whole, varied=varied)
    best, path = max(all_paths(*chain), key=lambda pair: (round(pair[0], 9), [-a for a in reversed(pair[1])]))
    found = decode(*padded(*chain, padding), np.array([0, tokens], dtype=np.intp))
    assert tuple(found) == path
    assert tuple(reference.viterbi(*chain)) == path
    assert {p: s for s, p in all_paths(*chain)}[tuple(found)] == pytest.approx(best)


@pytest.mark.parametrize("varied", [False, True])
@pytest.mark.parametrize("padding", [0, 3])
@pytest.mark.parametrize(("tokens", "labels"), [(1, 1), (1, 4), (4, 1), (2, 2), (5, 3), (4, 5)])
@pytest.mark.parametrize("seed", range(5))
def test_the_most_wrong_path_is_the_worst_of_all(*, tokens, labels, seed, padding, varied):
    random = np.random.default_rng(seed)
    chain = some_chain(random, tokens, labels, varied=varied)
    right = random.integers(labels, size=tokens)
    worth = {p: s + sqrt(sum(a != b for a, b in zip(p, right, strict=True))) for s, p in all_paths(*chain)}
    found = decode_most_wrong(*padded(*chain, padding), right.astype(np.int32))
    assert worth[tuple(found)] == pytest.approx(max(worth.values()))
    assert tuple(reference.hamming_rival(*chain, right)) == tuple(found)


@pytest.mark.parametrize("varied", [False, True])
@pytest.mark.parametrize("padding", [0, 3])
@pytest.mark.parametrize(
    ("tokens", "labels", "n"), [(1, 1, 3), (1, 4, 2), (2, 2, 10), (5, 3, 1), (5, 3, 300), (4, 5, 7)]
)
def test_the_best_few_paths_are_the_best_of_all(*, tokens, labels, n, padding, varied):
    chain = some_chain(np.random.default_rng(n), tokens, labels, varied=varied)
    ranked = sorted(all_paths(*chain), reverse=True)[:n]
    scores, paths = decode_best(*padded(*chain, padding), n)
    assert len(scores) == len(paths) == min(n, labels**tokens)
    np.testing.assert_allclose(scores, [score for score, _ in ranked], atol=1e-12)
    assert [tuple(path) for path in paths] == [path for _, path in ranked]


def test_ties_among_the_best_few_are_all_there():
    chain = some_chain(np.random.default_rng(0), 3, 3, whole=True)
    scores, paths = decode_best(*chain, 27)
    assert sorted(map(tuple, paths)) == sorted(path for _, path in all_paths(*chain))
    assert list(scores) == sorted((score for score, _ in all_paths(*chain)), reverse=True)
    assert list(paths[0]) == list(decode(*chain, np.array([0, 3], dtype=np.intp)))


def test_empty_sequences_have_empty_paths():
    transitions = np.zeros((2, 2))
    assert len(decode(np.zeros((0, 2)), transitions, np.array([0, 0, 0], dtype=np.intp))) == 0
    scores, paths = decode_best(np.zeros((0, 2)), transitions, 3)
    assert scores.tolist() == [0.0]
    assert paths.shape == (1, 0)
    assert len(decode_most_wrong(np.zeros((0, 2)), transitions, np.zeros(0, np.int32))) == 0


@pytest.mark.parametrize("shapes", [((3, 4), (4, 5)), ((3, 2), (4, 2)), ((3, 0), (0, 0))])
def test_chains_that_do_not_fit_are_refused(shapes):
    emissions, transitions = map(np.zeros, shapes)
    with pytest.raises(ValueError, match="do not fit together"):
        decode(emissions, transitions, np.array([0, 3], dtype=np.intp))


def test_sequences_beyond_the_tokens_are_refused():
    with pytest.raises(ValueError, match="3 tokens are fewer than the 4"):
        decode(np.zeros((3, 2)), np.zeros((2, 2)), np.array([0, 4], dtype=np.intp))


def some_sequences(dtype, labels, n=40, features=6):
    """Return sequences of up to six rows with few, repeated values, some without features, and their labels."""
    random = np.random.default_rng(labels)
    ends = np.append(0, np.cumsum(random.integers(1, 7, n))).astype(np.intp)
    X = (random.integers(-2, 3, (ends[-1], features)) * (random.random((ends[-1], features)) < 0.5)).astype(dtype)
    y = (X @ random.standard_normal((features, labels)) + random.standard_normal((ends[-1], labels))).argmax(axis=1)
    return X, y, ends


UPDATES = {
    "prediction": (False, lambda cost: reference.predicted_rival),
    "max_loss": (True, lambda cost: reference.hamming_rival),
    "squared": (True, reference.additive_rival),
}
STEPS = {
    "pa": (Projection(), reference.pa),
    "pa1": (Projection(cap=0.05), reference.pa1(0.05)),
    "pa2": (Projection(damping=1 / (2 * 0.3)), reference.pa2(0.3)),
    "perceptron": (Even(1.0, mistaken=True, fixed=True), lambda loss, q, mistaken, weight: (mistaken * weight, 0.0)),
}


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("labels", [1, 2, 5])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("chosen", [None, [1, 4]])
def test_rounds(*, chosen, update, step, labels, dtype, container):
    X, y, ends = some_sequences(dtype, labels)
    # Irregular numbers leave no ties for rounding to decide.
    X += np.random.default_rng(0).normal(0, 0.1, X.shape).astype(dtype) * (X != 0)
    weight = uneven_weights(len(ends) - 1)
    cost = 1 - np.eye(labels)
    max_loss, rival = UPDATES[update]
    if update == "squared":
        cost *= np.arange(1, labels + 1)[:, None] / 2
    core, twin = STEPS[step]
    bias = 0.5
    kind = Paths if chosen is None else EdgePaths
    geometry = kind(X.shape[1], labels, dtype, sparse=container != "dense", bias=bias, average=1)
    if chosen:
        geometry.choose(0, np.isin(np.arange(X.shape[1]), chosen))
    learner = Learner(Sequence(cost, squared=update == "squared", max_loss=max_loss), core, geometry)
    rows = as_rows(CONTAINERS[container](X))
    learner.learn(rows, y.astype(float), weight, trials=ends, targets=ends)
    Z = reference.with_intercept(X.astype(np.float64), bias)
    pieces = [slice(a, b) for a, b in pairwise(ends)]
    run = reference.play_sequences(
        [Z[piece] for piece in pieces],
        [y[piece] for piece in pieces],
        cost,
        rival(cost),
        twin,
        squared=update == "squared",
        chosen=chosen or (),
        weight=weight,
    )
    tolerance = TOLERANCE[dtype]
    size = labels * Z.shape[1]
    for mine, theirs in (
        ((geometry.weights, geometry.intercept, geometry.transitions), run.weights),
        ((*geometry.mean(), geometry.mean_transitions()[:, :labels]), run.mean),
    ):
        emitted = theirs[:size].reshape(labels, -1)
        np.testing.assert_allclose(mine[0], emitted[:, :-1], atol=tolerance)
        np.testing.assert_allclose(mine[1], bias * emitted[:, -1], atol=tolerance)
        np.testing.assert_allclose(mine[2], theirs[size:][: labels**2].reshape(labels, labels), atol=tolerance)
    if chosen:
        for mine, theirs in ((geometry.by_pair()[0], run.weights), (geometry.mean_by_pair(), run.mean)):
            stepped = theirs[size + labels**2 :].reshape(labels, labels, len(chosen))
            np.testing.assert_allclose(mine, np.moveaxis(stepped, 2, 0), atol=tolerance)
        assert labels == 1 or geometry.by_pair()[0].any()
    totals = dict(learner.totals)
    for name in totals.keys() - ({"dual_value"} if step == "perceptron" else set()):
        assert totals[name] == pytest.approx(getattr(run, name), rel=tolerance, abs=tolerance), name
    assert labels == 1 or 0 < totals["updates"] < totals["rounds"] + max_loss


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("n_rivals", [1, 4, 40])
@pytest.mark.parametrize("C", [0.02, 1.0])
@pytest.mark.parametrize("update", ["conproj", "simproj", "simopt", "exact"])
@pytest.mark.parametrize("chosen", [None, [1, 4]])
def test_rounds_against_many_rivals(*, chosen, update, C, n_rivals, squared, container):
    """The twin knows all labelings; a short sequence has fewer than 40."""
    labels, bias, random = 3, 0.5, np.random.default_rng(1)
    X, y, ends = some_sequences(np.float64, labels, n=25)
    X += random.normal(0, 0.1, X.shape) * (X != 0)
    weight = uneven_weights(len(ends) - 1)
    cost = (1 - np.eye(labels)) * np.arange(1, labels + 1)[:, None] / 2
    geometry = (Paths if chosen is None else EdgePaths)(X.shape[1], labels, np.float64, sparse=True, bias=bias)
    if chosen:
        geometry.choose(0, np.isin(np.arange(X.shape[1]), chosen))
    pieces = [slice(a, b) for a, b in pairwise(ends)]
    Z = reference.with_intercept(X, bias)
    paths = {len(y[piece]): np.array([*product(range(labels), repeat=len(y[piece]))]) for piece in pieces}
    trials = [
        np.array([reference.path_features(Z[piece], z, labels, chosen or ()) for z in paths[len(y[piece])]])
        for piece in pieces
    ]
    targets = [
        (paths[len(y[piece])], int(np.flatnonzero((paths[len(y[piece])] == y[piece]).all(axis=1))[0]))
        for piece in pieces
    ]
    # Weights that are not zero leave no ties, whose order differs.
    start = random.normal(0, 0.1, trials[0].shape[1])
    emitted, steps = np.split(start, [labels * Z.shape[1]])
    emitted = emitted.reshape(labels, -1)
    geometry.assign(emitted[:, :-1], bias * emitted[:, -1])
    geometry.transitions[:] = steps[: labels**2].reshape(labels, labels)
    if chosen:
        geometry.by_pair()[0][:] = np.moveaxis(steps[labels**2 :].reshape(labels, labels, len(chosen)), 2, 0)
    learner = Learner(RivalSequences(cost, n_rivals=n_rivals, squared=squared), core_step(update, C), geometry)
    learner.learn(as_rows(CONTAINERS[container](X)), y.astype(float), weight, trials=ends, targets=ends)
    task = reference.rival_labelings(cost, n_rivals, squared=squared)
    run = reference.play_trials(trials, targets, task, twin_step(update, C), weight=weight, start=start)
    emitted, steps = np.split(run.weights, [labels * Z.shape[1]])
    emitted = emitted.reshape(labels, -1)
    np.testing.assert_allclose(geometry.weights, emitted[:, :-1], atol=1e-8)
    np.testing.assert_allclose(geometry.intercept, bias * emitted[:, -1], atol=1e-8)
    np.testing.assert_allclose(geometry.transitions, steps[: labels**2].reshape(labels, labels), atol=1e-8)
    if chosen:
        stepped = steps[labels**2 :].reshape(labels, labels, len(chosen))
        np.testing.assert_allclose(geometry.by_pair()[0], np.moveaxis(stepped, 2, 0), atol=1e-8)
    for name in ("rounds", "mistakes", "updates", "loss", "squared_loss", "dual_value"):
        assert getattr(learner.totals, name) == pytest.approx(getattr(run, name), rel=1e-7, abs=1e-9), name


@pytest.mark.parametrize("place", [-2, 2])
def test_indices_beyond_the_weights_are_refused(place):
    """A model file may contain any index."""
    geometry = EdgePaths(3, 2, np.float64)
    geometry.choose(0, [True, False, True])
    state = geometry.__reduce__()[2]
    geometry.__setstate__(state)
    with pytest.raises(ValueError, match="places must be from -1 to 1"):
        geometry.__setstate__(state | {"places": np.array([0, -1, place], np.int32)})


def test_an_empty_sequence_is_a_round_without_loss():
    geometry = Paths(2, 3, np.float64)
    learner = Learner(Sequence(1 - np.eye(3)), Projection(), geometry)
    ends = np.array([0, 0], dtype=np.intp)
    learner.learn(as_rows(np.zeros((0, 2))), np.zeros(0), trials=ends, targets=ends)
    assert learner.totals.rounds == 1
    assert learner.totals.mistakes == learner.totals.loss == 0
