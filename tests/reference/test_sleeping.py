"""Sleeping experts: the compiled weights equal the reference, with their guarantees on any losses."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from onmargin import AutoClassifier, AutoRegressor, reference
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.several.hedge import Hedge
from onmargin._core.several.steps import Projections
from onmargin._core.several.tasks import ExpertVote
from onmargin._core.tasks.task import Regression
from onmargin.learner import Learner, as_rows
from tests.examples import examples

CEILING = 0.1


def drawn_losses(seed, groups, rounds=700, scale=1.0, whole=True):
    """Return losses with different means per model, which change once."""
    random = np.random.default_rng(seed)
    means = random.uniform(0, 1, (2, len(groups))) ** 2
    turn = random.integers(rounds // 4, 3 * rounds // 4)
    chances = means[(np.arange(rounds) >= turn).astype(int)]
    drawn = random.uniform(size=chances.shape)
    return scale * (drawn < chances if whole else 2 * drawn * chances).astype(float)


def drawn_weights(seed, rounds):
    """Return weights of examples, all 1 for half of the seeds."""
    return np.ones(rounds) if seed % 2 else np.random.default_rng(seed).choice([0.2, 1.0, 7.0], rounds)


def lose(task, losses, weight):
    """Play one round with the given loss per model: the target is 0, and the scores are the losses."""
    n = len(losses)
    geometry = Euclidean(n, n, np.float64)
    geometry.weights[...] = np.diag(losses)
    Learner(task, Projections([0.0] * n, [0.0] * n), geometry).learn(
        as_rows(np.ones((1, n))), np.zeros(1), np.array([weight])
    )


given_losses = given(
    seed=st.integers(0, 10**6),
    groups=st.sampled_from([[0, 1, 2, 3, 4], [0, 0, 1, 2, 2], [0, 1], [0, 1, 1, 1, 2, 3]]),
    whole=st.booleans(),
    scale=st.sampled_from([1.0, 1e-3, 1e4]),
)


@examples(30)
@given_losses
def test_sleeping_models_are_weighted_as_by_the_twin(seed, groups, whole, scale):
    losses, weight = drawn_losses(seed, groups, 1400, scale, whole), drawn_weights(seed, 1400)
    ceiling = CEILING if scale == 1 else np.inf
    options = {"hedge": True, "by_loss": True, "ceiling": ceiling, "groups": groups}
    n = len(groups)
    task = ExpertVote([Regression(0.0)] * n, range(n), 1, Regression(0.0), **options)
    twin = reference.sleeping_hedge(losses, groups, ceiling, weight=weight)
    for t, loss in enumerate(losses):
        assert_array_equal(task.sleeping, twin.asleep[t])
        assert_allclose(task.weights, twin.weights[t], rtol=1e-7, atol=1e-12)
        lose(task, loss, weight[t])
    losses = losses * weight[:, np.newaxis]
    assert_allclose(task.sleep_counts, [twin.charged, twin.asleep[:-1].sum(axis=0)], rtol=1e-9, atol=1e-9 * scale)
    assert_allclose(task.losses(), np.where(twin.asleep[:-1], 0, losses).sum(axis=0) + twin.charged, rtol=1e-9)
    assert task.mixed == pytest.approx(twin.mixed, rel=1e-9)
    assert task.gap == pytest.approx(twin.gap, rel=1e-7)


@examples(30)
@given_losses
def test_votes_lose_little_more_than_sequences_of_models_while_they_are_awake(seed, groups, whole, scale):
    losses, weight = drawn_losses(seed, groups, 3000, scale, whole), drawn_weights(seed, 3000)
    ceiling = CEILING if scale == 1 else np.inf
    twin = reference.sleeping_hedge(losses, groups, ceiling, weight=weight)
    losses = losses * weight[:, np.newaxis]
    of_votes = (twin.weights[:-1] * losses).sum(axis=1)
    awake = ~twin.asleep[:-1]
    excess = awake * (of_votes[:, np.newaxis] - losses)
    assert twin.mixed == pytest.approx(of_votes.sum())
    random = np.random.default_rng(seed)
    for segments in (1, 2, 3, 10):
        bound = reference.sequence_bound(len(groups), twin.gap, twin.rate, twin.shares, segments)
        cuts = [0, *np.sort(random.integers(0, 3000, segments - 1)), 3000]
        best = sum(excess[start:end].sum(axis=0).max() for start, end in itertools.pairwise(cuts))
        assert best <= bound + 1e-9 * losses.sum()


@examples(30)
@given_losses
def test_a_sleeping_model_could_not_have_mattered_whatever_it_predicted(seed, groups, whole, scale):
    losses = drawn_losses(seed, groups, 3000, scale, whole)
    ceiling = CEILING if scale == 1 else np.inf
    twin = reference.sleeping_hedge(losses, groups, ceiling, weight=drawn_weights(seed, 3000))
    assert (twin.bounds * len(groups) < 0.01).all()
    assert not twin.asleep.all(axis=1).any()


def test_models_sleep_and_wake_where_the_losses_change():
    """The second model is bad at first and good later: it sleeps, and votes soon after the change."""
    random = np.random.default_rng(0)
    chances = np.where(np.arange(6000)[:, np.newaxis] < 4000, [0.05, 0.3], [0.6, 0.02])
    losses = (random.uniform(size=chances.shape) < chances).astype(float)
    twin = reference.sleeping_hedge(losses, [0, 1], CEILING)
    assert twin.asleep[1024:4000, 1].mean() > 0.7
    # It does not have to recover its losses first, about 1,000 mistakes, as shares keep its weight from vanishing.
    always = reference.adahedge(losses, CEILING)
    turned = [int(np.argmax(weights[:, 1] > 0.5)) for weights in (twin.weights, always.weights)]
    assert 4000 < turned[0] < 4300
    assert 4000 < turned[1] < 4300


@pytest.mark.parametrize("turn", [1600, 1730, 1900])
def test_models_wake_as_soon_as_the_vote_gets_worse(turn):
    random = np.random.default_rng(turn)
    chances = np.where(np.arange(2050)[:, np.newaxis] < turn, [0.05, 0.4], [0.6, 0.4])
    twin = reference.sleeping_hedge((random.uniform(size=chances.shape) < chances).astype(float), [0, 1], CEILING)
    assert twin.asleep[1100:turn, 1].mean() > 0.7
    assert not twin.asleep[turn + 30 : turn + 100, 1].any()


def test_groups_are_the_geometries_that_models_share():
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = AutoClassifier().partial_fit(X, X[:, 0] > 0)
    assert_array_equal(model._learner.task.settings()["groups"], range(len(model.experts_.names)))
    model = AutoClassifier().partial_fit(csr_array(X), X[:, 0] > 0)
    *linear, majority, last = model._learner.task.settings()["groups"]
    assert not any(linear)
    assert len({0, majority, last}) == 3


@pytest.mark.parametrize("bad", [[0, 1], [[0, 1, 2]]])
def test_one_group_per_model_is_needed(bad):
    with pytest.raises(ValueError, match="groups must be one number per model, 3"):
        Hedge(3, voting=True, groups=bad)


def test_weights_that_underflow_get_shares_in_the_next_round():
    """They may underflow where shards are mixed."""
    task = ExpertVote([Regression(0.0)] * 3, range(3), 1, Regression(0.0), hedge=True, by_loss=True, ceiling=CEILING)
    lose(task, [1.0, 0.0, 1.0], 1.0)
    state = {name: np.copy(value) for name, value in task.state().items()}
    task.__setstate__(state | {"weights": np.array([0.0, 1.0, 0.0]), "shares": 0.0})
    lose(task, [0.0, 1.0, 0.0], 1.0)
    assert_allclose(task.weights, np.array([1, 3e5 + 1, 1]) / (3e5 + 3), rtol=1e-5)
    assert task.state()["shares"] == 1


def test_a_state_in_which_the_leader_sleeps_is_refused():
    hedge = Hedge(2, voting=True, groups=[0, 1])
    state = {name: np.copy(value) for name, value in hedge.state().items()}
    state["sleep_counts"][5] = 1
    with pytest.raises(ValueError, match="sleep_counts must leave the model with the smallest loss awake"):
        hedge.__setstate__(state)


@pytest.mark.parametrize("learner", [AutoClassifier, AutoRegressor])
def test_sleeping_changes_nothing_until_a_model_falls_asleep(learner):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4))
    y = X[:, 0] > 0 if learner is AutoClassifier else X[:, 0]
    one, other = (learner(sleeping=word).partial_fit(X, y) for word in (True, False))
    assert_array_equal(one.experts_.weights, other.experts_.weights)
    assert not one.experts_.slept.any()


def scores_of_experts(model, rows):
    task = model._learner.task
    return model._learner.scores(as_rows(rows))[:, task.places[:, np.newaxis] + np.arange(task.width)]


def learned_one_by_one(X, y, weight, classes):
    """Return the model, the scores of all experts before each round, and which of them slept."""
    model = AutoClassifier().partial_fit(X[:1], y[:1], range(classes), weight[:1])
    experts, width = len(model.experts_.names), model._learner.task.width
    scores, asleep = [np.zeros((1, experts, width))], [np.zeros(experts, bool)]
    for i in range(1, len(y)):
        scores.append(scores_of_experts(model, X[i : i + 1]))
        asleep.append(model.experts_.asleep)
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weight[i : i + 1])
    return model, np.concatenate(scores), np.array(asleep)


@pytest.mark.parametrize("weighted", [False, True])
def test_graded_scores_of_three_classes_are_those_of_the_twin(weighted):
    random = np.random.default_rng(1)
    X = random.normal(size=(120, 4))
    y = (X @ random.normal(size=(4, 3)) + random.normal(size=(120, 3))).argmax(axis=1)
    weight = random.choice([0.5, 1.0, 3.0], 120) if weighted else np.ones(120)
    model, past, _ = learned_one_by_one(X, y, weight, 3)
    losses = reference.ranking_losses(past, y, weight=weight)
    state = model._learner.task.state()
    assert_allclose(state["ranks"][: len(losses)], losses, rtol=1e-9)
    squares = ((past - past.mean(axis=2, keepdims=True)) ** 2).mean(axis=(0, 2))
    rows = random.normal(size=(50, 4))
    wanted = reference.graded(scores_of_experts(model, rows), losses, squares, weight.max())
    found = model.decision_function(rows)
    agree = model.classes_[wanted.argmax(axis=1)] == model.predict(rows)
    assert agree.mean() > 0.8
    assert_allclose(found[agree], wanted[agree], rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize(
    ("rounds", "weighted"), [(120, False), (120, True), pytest.param(1300, False, marks=pytest.mark.full)]
)
def test_graded_scores_of_two_classes_are_those_of_the_twin(rounds, weighted):
    random = np.random.default_rng(1)
    X = random.normal(size=(rounds, 4))
    y = (X[:, 0] * X[:, 1] + 0.3 * random.normal(size=rounds) > 0.5).astype(int)
    weight = random.choice([0.5, 1.0, 3.0], rounds) if weighted else np.ones(rounds)
    model, past, asleep = learned_one_by_one(X, y, weight, 2)
    assert asleep.any() == (rounds > 1024)
    wanted = reference.calibrated_odds(past[:, :, 0], 2 * y - 1, weight, asleep)
    state = model._learner.task.state()
    assert_allclose(state["odds"][5], wanted.losses, rtol=1e-6)
    rows = random.normal(size=(50, 4))
    awake = wanted._replace(shares=wanted.shares * ~model.experts_.asleep)
    odds, found = awake.of(scores_of_experts(model, rows)[:, :, 0]), model.decision_function(rows)
    agree = (odds >= 0) == model.predict(rows)
    assert agree.mean() > 0.8
    assert_allclose(found[agree], odds[agree], rtol=1e-5)
    for side in (odds >= 0, odds < 0):  # scores on the side of the vote are in the order of the odds
        apart = ~agree & side
        assert (np.diff(found[apart][odds[apart].argsort()]) > -1e-6).all()


@examples(40)
@given(st.integers(0, 10**6), st.integers(2, 6), st.sampled_from([0.03, 0.5]))
def test_the_log_loss_of_the_mixture_is_near_that_of_the_best_model(seed, models, rare):
    random = np.random.default_rng(seed)
    y = np.where(random.random(120) < rare, 1, -1)
    scores = random.normal(size=(120, models)) * 10 ** random.uniform(-3, 3, models)
    scores += y[:, np.newaxis] * random.uniform(-1, 3, models)
    asleep = np.repeat(random.random((10, models)) < 0.3, 12, axis=0)
    asleep[:, 0] = False
    for sleeps in (None, asleep):
        found = reference.calibrated_odds(scores, y, asleep=sleeps)
        assert found.mixed <= found.losses.min() + max(np.log(models), np.sqrt(60 * np.log(models))) + 1e-9


def test_ranking_is_judged_by_as_many_examples_as_the_rare_class_has():
    """Examples of the frequent class are all compared with the same few examples, so they count little."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(400, 3)), np.zeros(400, int)
    y[::50] = 1
    model = AutoClassifier(experts="linear").partial_fit(X, y, classes=range(3))
    losses = model._learner.task.state()["ranks"][: len(model.experts_.names)]
    assert losses.max() <= 2 * y.sum()
    assert losses.min() > 2
