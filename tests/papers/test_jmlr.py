"""[JMLR] Crammer et al., Online Passive-Aggressive Algorithms, 2006: its lemma, theorems and examples.

R^2 is the largest |v_t|^2: of rows, or twice that with one prototype per class; |u|^2 is of all prototypes (Cor. 8).
A theorem is a function of a run and a competitor u that gives both sides of its inequality, left <= right.
"""

from itertools import pairwise
from math import inf, sqrt

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.streams import EPSILON, PA, Rule, Stream, competitors, gaussian, paper_weights, realizable, rules, streams

TASKS = ("binary", "regression", "multiclass")
COLUMNS = {"multiclass": 4}


class Played:
    """A run of the core without an intercept."""

    def __init__(self, stream: Stream, rule: Rule) -> None:
        learner = stream.learner(rule)
        self.stream, self.rule = stream, rule
        self.rounds = list(stream.rounds(learner))
        self.losses = np.array([sum(h.loss for h in r.violated) for r in self.rounds])
        self.weights = paper_weights(learner)[:-1]
        self.totals = learner.totals
        self.radius2 = stream.blocks * learner.totals.max_squared_norm


def lemma1(run, u):
    """For any steps: sum tau (2 l - tau s - 2 l*) <= |u|^2 - |u - w_{T+1}|^2."""
    theirs = run.stream.losses(u)[:, 0]
    left = sum(
        r.tau(h) * (2 * h.loss - r.tau(h) * r.squared_length(h) - 2 * loss)
        for r, loss in zip(run.rounds, theirs, strict=True)
        for h in r.violated
    )
    return left, (u**2).sum() - ((u - run.weights) ** 2).sum()


def theorem2(run, u):
    """PA, if u has no loss."""
    return run.totals.squared_loss, run.radius2 * (u**2).sum()


def theorem3(run, u):
    """PA, if all |v_t| = 1."""
    return run.totals.squared_loss, (np.linalg.norm(u) + 2 * np.linalg.norm(run.stream.losses(u))) ** 2


def theorem4(run, u):
    """PA-I: mistakes."""
    C = run.rule.C
    return run.totals.mistakes, max(run.radius2, 1 / C) * ((u**2).sum() + 2 * C * run.stream.losses(u).sum())


def theorem4_by_duality(run, u):
    """PA-I: mistakes, each of which raises the dual value by at least the denominator ([PD] Thm. 1)."""
    C = run.rule.C
    step = min(C, 1 / run.radius2)
    primal = (u**2).sum() / 2 + C * run.stream.losses(u).sum()
    return run.totals.mistakes, primal / (step - step**2 * run.radius2 / 2)


def theorem4_of_losses(run, u):
    """PA-I: losses, for any task."""
    C = run.rule.C
    suffered = np.minimum(C * run.losses, run.losses**2 / run.radius2)
    return suffered.sum(), (u**2).sum() + 2 * C * run.stream.losses(u).sum()


def theorem5(run, u):
    """PA-II."""
    C = run.rule.C
    right = (run.radius2 + 1 / (2 * C)) * ((u**2).sum() + 2 * C * (run.stream.losses(u) ** 2).sum())
    return run.totals.squared_loss, right


OF_PA1 = [theorem4, theorem4_by_duality, theorem4_of_losses]
finite = st.sampled_from([0.01, 0.3, 1.0, 10.0])


def tasks_of(theorem) -> tuple[str, ...]:
    """Return tasks that the theorem covers; Theorem 4 does not count mistakes of regression."""
    return ("binary", "multiclass") if theorem in (theorem4, theorem4_by_duality) else TASKS


def assert_holds(theorem, run, u) -> None:
    left, right = theorem(run, u)
    size = 1 + abs(right) + (run.weights**2).sum() + (u**2).sum()
    assert left <= right + 1e-9 * size


# On any data, against any competitor.


@given(streams(*TASKS), rules, st.data())
def test_lemma1(stream, rule, data):
    run = Played(stream, rule)
    for u in (np.zeros_like(run.weights), run.weights, data.draw(competitors(stream))):
        assert_holds(lemma1, run, u)


@given(realizable(*TASKS))
def test_theorem2(stream_and_u):
    stream, u = stream_and_u
    assert_holds(theorem2, Played(stream, PA), u)


@given(streams(*TASKS), st.data())
def test_theorem3(stream, data):
    norms = np.linalg.norm(stream.X, axis=1)
    assume(norms.any())
    X = stream.X[norms > 0] / (norms[norms > 0, None] * sqrt(stream.blocks))
    run = Played(Stream(stream.task, X, stream.y[norms > 0], stream.columns), PA)
    for u in (np.zeros_like(run.weights), run.weights, data.draw(competitors(stream))):
        assert_holds(theorem3, run, u)


@given(streams(*TASKS), finite, st.data())
def test_theorem4(stream, C, data):
    assume(stream.X.any())
    run = Played(stream, Rule(C))
    for u in (np.zeros_like(run.weights), run.weights, data.draw(competitors(stream))):
        for theorem in OF_PA1:
            if stream.task in tasks_of(theorem):
                assert_holds(theorem, run, u)


@given(streams(*TASKS), finite, st.data())
def test_theorem5(stream, C, data):
    run = Played(stream, Rule(C, squared=True))
    for u in (np.zeros_like(run.weights), run.weights, data.draw(competitors(stream))):
        assert_holds(theorem5, run, u)


# Against the competitor with the smallest bound.


def best_competitor(stream: Stream, objective, *, lossless: bool = False) -> np.ndarray:
    """Return the weights that minimize a convex function of themselves and of their losses."""
    u = cp.Variable((stream.X.shape[1], stream.columns))
    scores = stream.X @ u
    if stream.task == "multiclass":
        right = np.eye(stream.columns)[stream.y.astype(int)]
        losses = cp.pos(cp.max(scores + 1 - right, axis=1) - cp.sum(cp.multiply(right, scores), axis=1))
    elif stream.task == "binary":
        losses = cp.pos(1 - cp.multiply(stream.y, scores[:, 0]))
    else:
        losses = cp.pos(cp.abs(stream.y - scores[:, 0]) - EPSILON)
    constraints = [losses <= 0] if lossless else []
    cp.Problem(cp.Minimize(objective(u, losses)), constraints).solve(solver=cp.CLARABEL)
    return u.value


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("task", TASKS)
def test_theorem2_against_the_widest_margin(task, seed):
    random = np.random.default_rng(seed)
    X, hidden = random.standard_normal((30, 6)), random.standard_normal((6, COLUMNS.get(task, 1)))
    scores = X @ hidden
    y = {"binary": np.sign(scores[:, 0]), "regression": scores[:, 0]}.get(task, scores.argmax(axis=1).astype(float))
    stream = Stream(task, X, y, hidden.shape[1])
    u = best_competitor(stream, lambda u, _: cp.sum_squares(u), lossless=True)
    assert stream.losses(u).max() < 1e-6
    assert_holds(theorem2, Played(stream, PA), u)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("task", TASKS)
def test_theorem3_against_the_best(task, seed):
    stream = gaussian(task, COLUMNS.get(task, 1), n_rows=41, n_features=6, seed=seed)
    norms = np.linalg.norm(stream.X, axis=1)
    X = stream.X[norms > 0] / (norms[norms > 0, None] * sqrt(stream.blocks))
    stream = Stream(task, X, stream.y[norms > 0], stream.columns)
    u = best_competitor(stream, lambda u, losses: cp.norm(u, "fro") + 2 * cp.norm(losses))
    assert_holds(theorem3, Played(stream, PA), u)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [0.01, 0.3, 10.0])
@pytest.mark.parametrize(("theorem", "task"), [(theorem, task) for theorem in OF_PA1 for task in tasks_of(theorem)])
def test_theorem4_against_the_best(theorem, task, C, seed):
    stream = gaussian(task, COLUMNS.get(task, 1), n_rows=41, n_features=6, seed=seed)
    u = best_competitor(stream, lambda u, losses: cp.sum_squares(u) + 2 * C * cp.sum(losses))
    assert_holds(theorem, Played(stream, Rule(C)), u)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [0.01, 0.3, 10.0])
@pytest.mark.parametrize("task", TASKS)
def test_theorem5_against_the_best(task, C, seed):
    stream = gaussian(task, COLUMNS.get(task, 1), n_rows=41, n_features=6, seed=seed)
    u = best_competitor(stream, lambda u, losses: cp.sum_squares(u) + 2 * C * cp.sum_squares(losses))
    assert_holds(theorem5, Played(stream, Rule(C, squared=True)), u)


@pytest.mark.parametrize("task", TASKS)
def test_theorem5_with_c_chosen_for_the_competitor(task):
    """C = |u| / (2 R sqrt(sum l*^2)) makes the bound (R |u| + sqrt(sum l*^2))^2."""
    stream = gaussian(task, COLUMNS.get(task, 1), n_rows=41, n_features=6)
    u = best_competitor(stream, lambda u, losses: cp.sum_squares(u) + cp.sum_squares(losses))
    radius = sqrt(Played(stream, PA).radius2)
    norm, loss = np.linalg.norm(u), np.linalg.norm(stream.losses(u))
    run = Played(stream, Rule(norm / (2 * radius * loss), squared=True))
    assert theorem5(run, u)[1] == pytest.approx((radius * norm + loss) ** 2)
    assert_holds(theorem5, run, u)


@pytest.mark.parametrize(
    ("theorem", "rule", "length"),
    [
        (lemma1, PA, 1.0),
        (theorem2, PA, 1.0),
        (theorem3, PA, 1.0),
        (theorem4, Rule(1.0), 1.0),
        (theorem4_of_losses, Rule(1.0), 1.0),
        (theorem4_by_duality, Rule(0.3), 0.3),
        (theorem5, Rule(0.3, squared=True), 0.6 / 1.6),
    ],
)
def test_orthonormal_rows_make_it_an_equality(theorem, rule, length):
    """The best competitor has the same coefficient along every row: 1, C, or 2 C / (1 + 2 C)."""
    stream = Stream("binary", np.eye(8), np.resize([1.0, -1.0, -1.0], 8))
    left, right = theorem(Played(stream, rule), length * stream.y[:, None])
    assert left == pytest.approx(right)


def test_theorem3_fails_for_shorter_rows():
    """E11: with |x| <= 1 in place of |x| = 1, a small row leaves a large weight behind."""
    X, y, u = np.array([[0.1], [1.0]]), np.array([1.0, -1.0]), np.zeros((1, 1))
    short, unit = (theorem3(Played(Stream("binary", rows, y), PA), u) for rows in (X, np.sign(X)))
    assert short == pytest.approx((1 + 11**2, 8.0))
    assert unit == pytest.approx((1 + 2**2, 8.0))


# Relations between the three algorithms.


@pytest.mark.parametrize("task", TASKS)
def test_pa1_is_pa_once_c_exceeds_every_step(task):
    stream = gaussian(task, COLUMNS.get(task, 1))
    run = Played(stream, PA)
    longest = max(r.tau(h) for r in run.rounds for h in r.violated)
    assert (Played(stream, Rule(1.001 * longest)).weights == run.weights).all()
    assert (Played(stream, Rule(0.999 * longest)).weights != run.weights).any()


@pytest.mark.parametrize("task", TASKS)
def test_pa2_approaches_pa_as_c_grows(task):
    stream = gaussian(task, COLUMNS.get(task, 1))
    pa = Played(stream, PA).weights
    distances = [np.abs(Played(stream, Rule(C, squared=True)).weights - pa).max() for C in (1e6, 1e8, 1e10, inf)]
    assert distances[0] < 1e-3
    assert all(far > 50 * near for far, near in pairwise(distances))
    assert distances[-1] == 0


@pytest.mark.parametrize("task", TASKS)
def test_pa2_is_pa_on_rows_with_a_coordinate_of_their_own(task):
    """The coordinate is sqrt(1/(2C)); a direction over two blocks has it twice, so they share 1/(2C)."""
    stream, C = gaussian(task, COLUMNS.get(task, 1)), 0.3
    own = sqrt(1 / (2 * C * stream.blocks)) * np.eye(len(stream.y))
    extended = Stream(task, np.hstack([stream.X, own]), stream.y, stream.columns)
    # A row of zeros is projected too, along its own coordinate.
    expected, actual = Played(stream, Rule(C, squared=True)), Played(extended, PA)
    np.testing.assert_allclose(actual.weights[: stream.X.shape[1]], expected.weights, atol=1e-12)
    assert actual.totals.loss == pytest.approx(expected.totals.loss)


# Worked examples. Its experiments are those of the lab.


@pytest.mark.parametrize(
    ("rule", "first", "second"),
    [(PA, [1, 0], [0, -1]), (Rule(0.5), [0.5, 0], [0, -0.5]), (Rule(0.5, squared=True), [0.5, 0], [0, -0.5])],
    ids=str,
)
def test_two_rounds_of_classification(rule, first, second):
    X, y = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1.0, -1.0])
    run = Played(Stream("binary", X, y), rule)
    assert run.rounds[0].weights[1][:-1, 0].tolist() == first
    assert run.weights[:, 0].tolist() == second
    assert run.losses.tolist() == [1, 1 + first[0]]


def test_one_round_of_regression():
    run = Played(Stream("regression", np.array([[2.0]]), np.array([1.0])), PA)
    assert run.losses == pytest.approx([0.9])
    assert run.weights == pytest.approx(np.array([[0.45]]))
    assert run.rounds[0].scores[1] == pytest.approx([0.9])


def test_one_round_of_three_prototypes():
    run = Played(Stream("multiclass", np.array([[1.0]]), np.array([0.0]), 3), PA)
    assert run.losses.tolist() == [1]
    assert run.weights.tolist() == [[0.5, -0.5, 0]]
