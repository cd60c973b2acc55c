"""Invariants of trials and balls on the simplex, for any input."""

import pickle
from copy import deepcopy
from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from onmargin import BlockClassifier, ClassFeatureClassifier, PassiveAggressiveUniclass, QuasiAdditiveClassifier
from onmargin._core.geometries.additive import Entropic
from onmargin._core.geometries.trials import AdditiveBlocks
from onmargin._core.steps.simultaneous import LargestLineSearch
from onmargin._core.tasks.task import Multiclass
from onmargin._core.tasks.trial import Block
from onmargin.learner import Learner, as_rows
from onmargin.models.updates import SIMPLEX_TRIALS
from tests.streams import containers, integers, matrices
from tests.trials import offsets

updates = st.sampled_from(list(SIMPLEX_TRIALS))
aggressiveness = st.sampled_from([0.02, 0.5, 20.0])


@st.composite
def blocks(draw):
    """Draw trials of rows, with labels and the numbers of their sets."""
    X = draw(matrices((-2, 1)))
    cuts = draw(st.sets(st.integers(1, len(X))))
    ends = np.array(sorted({0, len(X)} | cuts), dtype=np.intp)
    labels = np.where(draw(integers(len(X))) % 2, 1.0, -1.0)
    sets = np.ones(len(X))
    for start, stop in pairwise(ends):  # numbered without gaps
        sets[start:stop] = np.unique(draw(integers(int(stop - start))) % 2, return_inverse=True)[1] + 1.0
    return X, labels * sets, ends


def learner(n_features, update="max", C=1.0, margin=0.1):
    return Learner(Block(margin), SIMPLEX_TRIALS[update](C), AdditiveBlocks(Entropic(n_features, 1)))


def learned(trials, *settings, container=np.ascontiguousarray, weight=None):
    X, y, ends = trials
    model = learner(X.shape[1], *settings)
    model.learn(as_rows(container(X)), y, weight, trials=ends, targets=ends)
    return model


def state(model):
    """Return the complete state, for bitwise comparison."""
    single = model.geometry.single
    return [
        {name: np.asarray(part).tolist() for name, part in single.__reduce__()[2].items()},
        single.weights().tolist(),
        model.totals,
    ]


@given(blocks(), updates, aggressiveness, containers)
def test_weights_are_on_the_simplex_and_are_the_link_of_theta(trials, update, C, container):
    geometry = learned(trials, update, C, container=container).geometry
    weights, theta = geometry.mean()[0][0], geometry.single.theta[:, 0]
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1, rel=1e-9)
    np.testing.assert_allclose(weights, np.exp(theta - np.logaddexp.reduce(theta)), rtol=1e-6, atol=1e-12)


@given(blocks(), updates, aggressiveness, containers, st.data())
def test_cuts_copies_and_trials_of_weight_zero_make_no_difference(trials, update, C, container, data):
    X, y, ends = trials
    n = len(ends) - 1
    weight = np.array([1.0, 0.25, 3.0, 0.0])[data.draw(integers(n)) % 4]
    whole, pieces = learned(trials, update, C, container=container, weight=weight), learner(X.shape[1], update, C)
    for i in range(n):
        rows, own = slice(ends[i], ends[i + 1]), offsets([ends[i + 1] - ends[i]])
        if weight[i] > 0 or data.draw(st.booleans()):
            pieces.learn(as_rows(container(X[rows])), y[rows], weight[i : i + 1], trials=own, targets=own)
        pieces = pickle.loads(pickle.dumps(pieces)) if data.draw(st.booleans()) else deepcopy(pieces)
        pieces.scores(as_rows(container(X)))
    assert state(pieces) == state(whole)


@given(blocks(), updates, aggressiveness)
def test_dense_sparse_and_shuffled_features_agree(trials, update, C):
    """They agree up to rounding; margins that are exactly zero or exactly as required are left out."""
    X, y, ends = trials
    model = learner(X.shape[1], update, C)
    for start, stop in pairwise(ends):
        rows, own = as_rows(X[start:stop]), offsets([stop - start])
        margins = np.sign(y[start:stop]) * model.scores(rows)[:, 0]
        assume(np.abs(np.subtract.outer(margins, [0, model.task.margin])).min() > 1e-9)
        model.learn(rows, y[start:stop], trials=own, targets=own)
    order = np.random.default_rng(0).permutation(X.shape[1])
    others = {
        "sparse": (learned(trials, update, C, container=sparse.csr_array), slice(None)),
        "shuffled": (learned((X[:, order], y, ends), update, C), order),
    }
    for other, places in others.values():
        np.testing.assert_allclose(other.geometry.mean()[0][0], model.geometry.mean()[0][0][places], atol=1e-6)


@given(blocks(), st.sampled_from([0.05, 0.3, 1.0, 2.5]))
def test_an_uncapped_projection_meets_its_constraint(trials, margin):
    """The constraint can be met: the margin is below the largest entry of the direction."""
    X, y, _ = trials
    model = learner(X.shape[1], "max", 1e9, margin)
    for x, label in zip(X, np.sign(y), strict=True):
        before = label * (x @ model.geometry.mean()[0][0])
        if (label * x).max() > 1.001 * margin:
            model.learn(as_rows(x[None]), np.array([label]), trials=offsets([1]), targets=offsets([1]))
            after = label * (x @ model.geometry.mean()[0][0])
            assert after == pytest.approx(max(before, margin), abs=1e-9 * np.abs(x).max())


@given(blocks(), updates, aggressiveness)
def test_trials_of_one_row_are_rounds(trials, update, C):
    """All projections are the optimal step, and SimPerc is the fixed one."""
    X, y, _ = trials
    rows, labels = X, np.sign(y)
    assume(np.abs(X).max() >= 0.1)
    model = BlockClassifier(geometry="entropic", update=update, C=C).partial_fit(rows, labels, classes=[-1, 1])
    step = "fixed" if update == "simperc" else "optimal"
    single = QuasiAdditiveClassifier(geometry="entropic", balanced=False, C=C, step=step)
    if update != "conproj":  # which learns only from mistakes
        single.partial_fit(rows, labels, classes=[-1, 1])
        np.testing.assert_allclose(model.coef_, single.coef_, rtol=1e-9, atol=1e-12)
        assert model.totals_.mistakes == single.totals_.mistakes


# The step is the Bregman projection: a convex solver finds the same weights.


def bregman(start, z, margin, C):
    """Return argmin KL(w || start) + C [margin - z.w]_+ over the simplex."""
    w, xi = cp.Variable(len(start)), cp.Variable(nonneg=True)
    objective = cp.sum(cp.rel_entr(w, start)) + C * xi
    problem = cp.Problem(cp.Minimize(objective), [cp.sum(w) == 1, z @ w >= margin - xi])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return w.value


@pytest.mark.parametrize("kind", ["signs", "reals", "differences"])
@pytest.mark.parametrize("C", [0.05, 0.6, 30.0])
@pytest.mark.parametrize("seed", range(4))
def test_step_is_the_bregman_projection(kind, C, seed):
    """The row with the largest loss of three is projected; `differences` are between the right class and its rivals."""
    random = np.random.default_rng([seed, 7])
    first, X = random.standard_normal((2, 3, 6))
    X = np.sign(X) if kind == "signs" else X
    margin, whole = 1.5 if kind == "differences" else 0.7, offsets([3])
    if kind == "differences":
        task, y, targets, Z = Multiclass(margin, every=True), np.zeros(1), None, X[:1] - X[1:]
    else:
        task, y, targets = Block(margin), np.array([1.0, -1.0, 1.0]), whole
        Z = y[:, None] * X
    model = Learner(task, LargestLineSearch(0.3), AdditiveBlocks(Entropic(6, 1)))
    model.learn(as_rows(first), y, trials=whole, targets=targets)
    start = model.geometry.mean()[0][0]
    model.step = LargestLineSearch(C)
    model.learn(as_rows(X), y, trials=whole, targets=targets)
    z = Z[(Z @ start).argmin()]
    assert z @ start < margin
    # If the optimal value has ten correct digits, the solution has five.
    np.testing.assert_allclose(model.geometry.mean()[0][0], bregman(start, z, margin, C), atol=5e-5)


# Balls.


@given(matrices((-2, 1)), st.sampled_from([0.0, 0.1, 1.0]), aggressiveness, containers, st.data())
def test_a_ball_stays_on_the_simplex_however_the_stream_is_cut(X, epsilon, C, container, data):
    settings = {"geometry": "entropic", "epsilon": epsilon, "C": C}
    weight = np.array([1.0, 0.25, 3.0, 0.0])[data.draw(integers(len(X))) % 4]
    assume(weight.any())
    whole, pieces = (PassiveAggressiveUniclass(**settings) for _ in range(2))
    whole.partial_fit(container(X), sample_weight=weight)
    for i in np.flatnonzero(weight):
        pieces.partial_fit(container(X[i : i + 1]), sample_weight=weight[i : i + 1])
        pieces = pickle.loads(pickle.dumps(pieces)) if data.draw(st.booleans()) else deepcopy(pieces)
    center = whole.center_
    assert pieces.center_.tolist() == center.tolist()
    assert pieces.totals_ == whole.totals_
    assert (center >= 0).all()
    assert center.sum() == pytest.approx(1)
    geometry = whole._learner.geometry
    assert geometry.squared_norm == pytest.approx(center @ center)
    np.testing.assert_allclose(np.exp(geometry.theta), center, rtol=1e-12)


@given(matrices((-1, 0)), st.sampled_from([0.0, 0.1, 1.0]))
def test_a_step_moves_the_ball_nearer(X, epsilon):
    """It never overshoots: <v, w> grows by no more than the loss."""
    model = PassiveAggressiveUniclass(geometry="entropic", epsilon=epsilon, C=np.inf)
    before = np.full(X.shape[1], 1 / X.shape[1])
    for x in X:
        after = model.partial_fit(x[None]).center_
        d = np.linalg.norm(x - before)
        gained = (x - before) @ (after - before) / max(d, 1e-300)
        assert -1e-9 <= gained <= max(d - epsilon, 0) + 1e-9
        before = after


@given(st.integers(1, 4), updates, aggressiveness, st.data())
def test_class_features_that_are_all_alike_move_nothing(n_features, update, C, data):
    rows = data.draw(integers(n_features)) % 5 + 1.0
    Phi = np.tile(rows, (3, 4, 1))
    model = ClassFeatureClassifier(geometry="entropic", update=update, C=C, margin=1e-3).partial_fit(Phi, [0, 1, 2])
    assert model.totals_.mistakes == 3
    assert model.totals_.updates == 0
    assert model.coef_.tolist() == pytest.approx([1 / n_features] * n_features)
