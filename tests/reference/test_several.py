"""Several models at once equal models trained alone, and votes are weighted as in the NumPy reference."""

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from onmargin import (
    AROWClassifier,
    AutoClassifier,
    AutoRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    SCWClassifier,
    reference,
)
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.several.steps import Projections
from onmargin._core.several.tasks import ExpertVote
from onmargin._core.tasks.task import Binary, Regression
from onmargin.learner import Learner, as_rows
from onmargin.models import ensemble, experts
from onmargin.models.ensemble import join_pairs, keep_best
from onmargin.reference import adahedge
from tests.examples import examples
from tests.streams import Stream, streams

GRID = [0.01, 0.3, 1.0, 7.0, np.inf]
dtypes = st.sampled_from([np.float32, np.float64])
formats = st.sampled_from([np.ascontiguousarray, sparse.csr_matrix])
# The squares of these dense rows are summed in another order for several columns than for one.
LONG_ROWS = Stream("multiclass", np.random.default_rng(0).normal(size=(30, 40)), np.arange(30.0) % 5, 5)
SAME_ROWS = Stream("multiclass", np.array([[0, 0.01, 0, 0, 0, 271.36, 0, 0, 0, 0.01]] * 2), np.zeros(2), 5)


def model_for(stream: Stream, **parameters):
    if stream.task == "regression":
        return PassiveAggressiveRegressor(**parameters)
    strategy = "ovr" if stream.task == "one_vs_rest" else "joint"
    return PassiveAggressiveClassifier(strategy=strategy, **parameters)


def in_parts(model, X, y, cut):
    for part in (slice(cut), slice(cut, None)):
        if len(y[part]):
            model.partial_fit(X[part], y[part])
    return model


@pytest.mark.parametrize("geometry", ["euclidean", "adaptive", "normalized"])
@given(
    stream=streams(),
    dtype=dtypes,
    form=formats,
    cut=st.integers(0, 10),
    options=st.fixed_dictionaries({"average": st.sampled_from([False, True, 3]), "squared": st.booleans()}),
)
def test_each_c_learns_as_if_alone(geometry, stream, dtype, form, cut, options):  # noqa: PLR0917
    """Bit for bit, also where classes appear during the stream."""
    X, y = form(stream.X.astype(dtype)), stream.y
    loss = "epsilon_insensitive" if stream.task == "regression" else "hinge"
    loss = f"squared_{loss}" if options["squared"] else loss
    given = {"geometry": geometry, "average": options["average"], "loss": loss}
    sweep = in_parts(model_for(stream, C=GRID, **given), X, y, cut).grid_
    for m, C in enumerate(GRID):
        alone = in_parts(model_for(stream, C=C, **given), X, y, cut)
        np.testing.assert_array_equal(sweep.coef[m], alone.coef_)
        np.testing.assert_array_equal(sweep.intercept[m], alone.intercept_)
        totals = alone.totals_
        assert (sweep.mistakes[m], sweep.loss[m], sweep.squared_loss[m]) == (
            totals.mistakes,
            totals.loss,
            totals.squared_loss,
        )


@given(stream=streams("binary", "multiclass"), form=formats)
@example(stream=SAME_ROWS, form=np.ascontiguousarray)
def test_the_mean_of_gaussians_is_a_second_model_too(stream, form):
    X, y = form(stream.X), stream.y
    classes = [-1, 1] if stream.task == "binary" else np.arange(stream.columns)
    best, plain, mean = (
        AROWClassifier(forgetting=0.1, average=a).partial_fit(X, y, classes=classes) for a in ("best", False, True)
    )
    for coef, alone in zip(best.averages_.coef, (plain, mean), strict=True):
        np.testing.assert_array_equal(coef, alone.coef_)
    np.testing.assert_array_equal(best.confidence_, plain.confidence_)
    assert best.averages_.mistakes[0] == plain.totals_.mistakes


@pytest.mark.parametrize("options", [{}, {"geometry": "adaptive"}, {"update": "exact"}], ids=str)
@given(stream=streams(), dtype=dtypes, form=formats, cut=st.integers(0, 10))
@example(stream=LONG_ROWS, dtype=np.float64, form=np.ascontiguousarray, cut=7)
def test_weights_and_averages_are_those_of_models_that_have_one(options, stream, dtype, form, cut):
    """They are equal bit for bit; the averages are charged for their own predictions, and lead if they lost less."""
    if "update" in options and stream.task in {"regression", "one_vs_rest"}:
        return
    X, y = form(stream.X.astype(dtype)), stream.y
    best, plain, mean = (in_parts(model_for(stream, average=a, **options), X, y, cut) for a in ("best", False, "mean"))
    results = best.averages_
    assert results.names == ["current", "averaged"]
    for m, alone in enumerate((plain, mean)):
        np.testing.assert_array_equal(results.coef[m], alone.coef_)
        np.testing.assert_array_equal(results.intercept[m], alone.intercept_)
    assert (results.mistakes[0], results.loss[0]) == (plain.totals_.mistakes, plain.totals_.loss)
    lost = results.loss if stream.task == "regression" else results.mistakes
    assert results.leader == np.argmin(lost)
    np.testing.assert_array_equal(best.predict(X), (plain, mean)[results.leader].predict(X))


@given(stream=streams("binary"), form=formats, asked=st.tuples(*[st.sampled_from([0.5, 1.0, 3.0])] * 2))
def test_each_c_needs_the_margins_of_the_classes(stream, form, asked):
    given = {"class_margin": dict(zip((-1, 1), asked, strict=True))}
    X, y, classes = form(stream.X), stream.y.astype(int), [-1, 1]
    sweep = PassiveAggressiveClassifier(C=GRID, combine="hedge", **given).partial_fit(X, y, classes=classes).grid_
    for m, C in enumerate(GRID):
        alone = PassiveAggressiveClassifier(C=C, **given).partial_fit(X, y, classes=classes)
        np.testing.assert_array_equal(sweep.coef[m], alone.coef_)
        assert sweep.loss[m] == alone.totals_.loss


def test_a_score_of_zero_votes_as_it_predicts():
    X, y = np.zeros((2, 3)), [0, 1]  # from which nothing is learned
    alone, all_ = (PassiveAggressiveClassifier(C=C, combine="hedge", fit_intercept=False) for C in (1.0, GRID))
    assert alone.partial_fit(X, y).predict(X).tolist() == all_.partial_fit(X, y).predict(X).tolist() == [1, 1]


@given(
    losses=st.integers(1, 6).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 20), min_size=n, max_size=n), min_size=1, max_size=60)
    ),
    scale=st.sampled_from([1e-6, 0.1, 1.0, 1e6]),
    ceiling=st.sampled_from([0.1, 3.0, np.inf]),
    seed=st.none() | st.integers(0, 10**6),
)
def test_votes_are_weighted_as_by_the_twin(losses, scale, ceiling, seed):
    """Each model has a fixed score, its intercept, so that its losses are given.

    The weight of an example multiplies the losses, and the bound holds for these.
    """
    weight = np.ones(len(losses)) if seed is None else np.random.default_rng(seed).uniform(0.01, 5, len(losses))
    losses = scale * np.array(losses, dtype=np.float64)
    rounds, models = losses.shape
    task = ExpertVote(
        [Regression(0.0)] * models, range(models), 1, Regression(0.0), hedge=True, by_loss=True, ceiling=ceiling
    )
    twin = adahedge(losses, ceiling, weight)
    for own, loss in zip(weight, losses, strict=True):
        lose(task, loss, own)
    np.testing.assert_allclose(task.state()["outcomes"][:, 1], losses.sum(axis=0), rtol=1e-9)
    differ = losses.min(axis=1) < losses.max(axis=1)
    losses = losses * weight[:, np.newaxis]
    np.testing.assert_allclose(task.losses(), losses.sum(axis=0), rtol=1e-9)
    state = task.state()
    np.testing.assert_allclose(state["weights"], twin.weights[-1], rtol=1e-9, atol=1e-12)
    assert state["gap"] == pytest.approx(twin.gap, rel=1e-9, abs=1e-12 * scale)
    assert state["mixed"] == pytest.approx(twin.mixed, rel=1e-9, abs=1e-12 * scale)
    best = losses.sum(axis=0).min()
    n = np.log(models)
    heaviest = weight[differ].max(initial=0) or 1.0
    shares = np.count_nonzero(differ)
    assert (twin.shares, state["shares"]) == (shares, shares)
    slowest = max(twin.gap, n * heaviest / ceiling)  # ln(M) / eta
    bound = twin.gap + slowest * (1 + np.log1p(shares / 1e5) / max(n, np.log(2)))
    assert twin.mixed <= best + bound + 1e-9 * scale * rounds
    assert task.regret_bound() == pytest.approx(bound, rel=1e-9, abs=1e-12 * scale)
    if ceiling == np.inf:  # losses between 0 and b: a bound that is known before the stream
        b, squares = losses.max(), np.square(np.ptp(losses, axis=1)).sum()
        known = np.sqrt(squares * n) + b * (4 / 3 * n + 2)
        assert 2 * twin.gap <= known * (1 + 1e-9)
        assert twin.mixed <= best + known * (1 + np.log1p(shares / 1e5) / 2 / max(n, np.log(2))) + 1e-9 * scale * rounds


@given(
    losses=st.integers(2, 4).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=1, max_size=25)
    ),
    ceiling=st.sampled_from([0.2, 3.0, np.inf]),
    seed=st.none() | st.integers(0, 10**6),
)
def test_votes_lose_little_more_than_the_best_sequence(losses, ceiling, seed):
    """For each number of segments, the best of all sequences of models, by dynamic programming."""
    weight = np.ones(len(losses)) if seed is None else np.random.default_rng(seed).uniform(0.01, 5, len(losses))
    losses = np.array(losses, dtype=np.float64)
    twin = adahedge(losses, ceiling, weight)
    losses = losses * weight[:, np.newaxis]
    for segments, best in enumerate(best_sequences(losses), start=1):
        bound = reference.sequence_bound(losses.shape[1], twin.gap, twin.rate, twin.shares, segments)
        assert twin.mixed <= best + bound + 1e-9 * len(losses)


def best_sequences(losses):
    """Return the smallest loss of sequences of models with at most 1, 2, ... segments, up to one per round."""
    rounds, models = losses.shape
    least = np.full((rounds + 1, models), np.inf)
    least[1] = 0.0
    for loss in losses:
        least[1:] = np.minimum(least[1:], least[:-1].min(axis=1, keepdims=True))
        least += loss
    return np.minimum.accumulate(least[1:].min(axis=1))


def test_the_best_sequences_are_those_of_all_sequences():
    losses = np.random.default_rng(0).uniform(size=(6, 3))
    found = np.full(6, np.inf)
    for sequence in itertools.product(range(3), repeat=6):
        segments = 1 + np.count_nonzero(np.diff(sequence))
        found[segments - 1] = min(found[segments - 1], losses[np.arange(6), sequence].sum())
    np.testing.assert_allclose(best_sequences(losses), np.minimum.accumulate(found))


@pytest.mark.parametrize("segments", [1, 2, 5, 20])
@pytest.mark.parametrize("ceiling", [0.2, np.inf])
def test_votes_follow_a_best_model_that_changes(segments, ceiling):
    """The bound holds for the sequence of the good models, and is less than the loss without it."""
    random = np.random.default_rng(segments)
    good = np.repeat(random.permutation(20), 6000 // segments)[: 6000 // segments * segments]
    chances = np.where(np.arange(20) == good[:, np.newaxis], 0.02, 0.5)
    losses = (random.uniform(size=chances.shape) < chances).astype(float)
    task = ExpertVote([Regression(0.0)] * 20, range(20), 1, Regression(0.0), hedge=True, by_loss=True, ceiling=ceiling)
    for loss in losses:
        lose(task, loss)
    sequence = losses[np.arange(len(good)), good].sum()
    bound = task.regret_bound() + (segments - 1) * task.switch_cost()
    twin = adahedge(losses, ceiling)
    assert bound == pytest.approx(reference.sequence_bound(20, twin.gap, twin.rate, twin.shares, segments))
    assert task.mixed <= sequence + bound
    if ceiling < np.inf:
        assert task.mixed < losses.sum(axis=0).min() or segments == 1


@given(seed=st.integers(0, 10**6))
def test_after_models_are_removed_the_others_have_the_bound_for_sequences(seed):
    random = np.random.default_rng(seed)
    losses = random.integers(0, 2, (60, 5)).astype(float)
    task = ExpertVote([Regression(0.0)] * 5, range(5), 1, Regression(0.0), hedge=True, by_loss=True, ceiling=0.2)
    for loss in losses[:30]:
        lose(task, loss)
    learner = Learner(task, Projections([0.0] * 5, [0.0] * 5), five_columns())
    kept = keep_best(learner, 3)
    for loss in losses[30:]:
        lose(learner.task, loss[kept])
    for segments, best in enumerate(best_sequences(losses[:, kept]), start=1):
        bound = learner.task.regret_bound() + (segments - 1) * learner.task.switch_cost()
        assert learner.task.mixed <= best + bound + 1e-9


@given(seed=st.integers(0, 10**6), factor=st.sampled_from([2.0**-20, 0.25, 1.0, 64.0]), hedge=st.booleans())
def test_votes_depend_on_the_ratios_of_weights_only(seed, factor, hedge):
    """Factors are powers of two: the losses of several models may be equal, and rounding must not decide."""
    random = np.random.default_rng(seed)
    losses, weight = random.integers(0, 2, (40, 4)).astype(float), 2.0 ** random.integers(-3, 3, 40)
    tasks = []
    for scale in (1.0, factor):
        task = ExpertVote([Regression(0.0)] * 4, range(4), 1, Regression(0.0), hedge=hedge, by_loss=True, ceiling=0.2)
        for own, loss in zip(weight, losses, strict=True):
            lose(task, loss, scale * own)
        tasks.append(task)
    plain, scaled = tasks
    np.testing.assert_allclose(plain.weights, scaled.weights, rtol=1e-9, atol=1e-12)
    assert plain.leader == scaled.leader
    if hedge:
        assert plain.regret_bound() * factor == pytest.approx(scaled.regret_bound(), rel=1e-9)


def lose(task, losses, weight=1.0):
    """Play one round with the given loss per model: the target is 0, and the scores are the losses."""
    models = len(losses)
    geometry = Euclidean(models, models, np.float64)
    geometry.weights[...] = np.diag(losses)
    learner = Learner(task, Projections([0.0] * models, [0.0] * models), geometry)
    learner.learn(as_rows(np.ones((1, models))), np.zeros(1), np.array([weight]))


@given(
    first=st.lists(st.lists(st.integers(0, 1), min_size=5, max_size=5), max_size=40),
    then=st.lists(st.lists(st.integers(0, 1), min_size=5, max_size=5), max_size=40),
    keep=st.integers(1, 5),
)
def test_the_bound_holds_for_models_that_stay(first, then, keep):
    task = ExpertVote([Regression(0.0)] * 5, range(5), 1, Regression(0.0), hedge=True, by_loss=True)
    for losses in first:
        lose(task, np.array(losses, dtype=float))
    learner = Learner(task, Projections([0.0] * 5, [0.0] * 5), five_columns())
    kept = keep_best(learner, keep)
    for losses in then:
        lose(learner.task, np.array(losses, dtype=float)[kept])
    state = learner.task.state()
    total = np.array([*first, *then]).reshape(-1, 5).sum(axis=0)[kept]
    np.testing.assert_array_equal(state["outcomes"][:, 1], total)
    assert state["weights"].sum() == pytest.approx(1)
    assert state["mixed"] <= total.min() + learner.task.regret_bound() + 1e-9


def five_columns():
    """Return five geometries of one column each, side by side."""
    return join_pairs([Euclidean(1, 1, np.float64) for _ in range(5)])


ALONE = {
    "adaptive": PassiveAggressiveClassifier(geometry="adaptive", C=10.0, strategy="ovr"),
    "normalized": PassiveAggressiveClassifier(geometry="normalized", C=0.4, strategy="ovr"),
    "AROW": AROWClassifier(r=1.0),
    "SCW": SCWClassifier(C=0.1),
    "AROW that forgets": AROWClassifier(r=0.01, forgetting=0.1),
}
ON_DENSE_ROWS = ("adaptive", "SCW", "AROW that forgets")


@pytest.mark.parametrize("name", ALONE)
@given(stream=streams("binary", "multiclass"), dtype=dtypes, data=st.data())
def test_an_expert_learns_as_if_alone(name, stream, dtype, data):
    """They are equal bit for bit; packed experts, for dense rows of two classes, are tested separately."""
    form = data.draw(formats) if name in ON_DENSE_ROWS and stream.columns > 2 else sparse.csr_matrix
    X, y = form(stream.X.astype(dtype)), stream.y.astype(int)
    classes = [-1, 1] if stream.task == "binary" else np.arange(stream.columns)
    auto = AutoClassifier().partial_fit(X, y, classes=classes)
    alone = clone(ALONE[name]).partial_fit(X, y, classes=classes)
    results = auto.experts_
    expert = results.names.index(name)
    np.testing.assert_array_equal(results.coef[expert], alone.coef_)
    np.testing.assert_array_equal(results.intercept[expert], alone.intercept_)
    assert results.mistakes[expert] == alone.totals_.mistakes


@given(stream=streams("binary", "multiclass"), combine=st.sampled_from(["leader", "hedge"]))
def test_a_wrong_combined_prediction_is_a_mistake(stream, combine):
    model, y = AutoClassifier(combine=combine), stream.y.astype(int)
    for x, label in zip(stream.X[:, None], y[:, None], strict=True):
        before = model.totals_.mistakes if hasattr(model, "classes_") else 0
        wrong = hasattr(model, "classes_") and model.predict(x) != label
        model.partial_fit(x, label, classes=np.unique(y) if len(np.unique(y)) > 1 else [-1, 1])
        assert model.totals_.mistakes - before >= wrong


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_packed_experts_learn_as_separate_ones(form, seed, monkeypatch):
    """Two classes are learned in one block of memory, until a third class appears."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(90, 12)) * (rng.random((90, 12)) < 0.4), rng.integers(0, 3, 90)
    X[:, 0] += y - 1
    y[:60] = np.minimum(y[:60], 1)
    apart, together = AutoClassifier(experts="linear"), AutoClassifier(experts="linear")
    for part in (slice(0, 30), slice(30, 60), slice(60, 90)):
        with monkeypatch.context() as patched:
            patched.setattr(ensemble, "pack_columns", list)
            patched.setattr(experts, "pack_columns", list)
            apart.partial_fit(form(X[part]), y[part])
        together.partial_fit(form(X[part]), y[part])
        together = pickle.loads(pickle.dumps(together))
        for one, other in zip(apart.experts_.coef, together.experts_.coef, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(apart.experts_.mistakes, together.experts_.mistakes)


def test_packed_experts_sleep_one_by_one(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 5))
    y = (X[:, 0] + 0.3 * rng.normal(size=len(X)) > 0).astype(int)
    together = AutoClassifier(experts="linear").partial_fit(X, y).experts_
    monkeypatch.setattr(ensemble, "pack_columns", list)
    monkeypatch.setattr(experts, "pack_columns", list)
    apart = AutoClassifier(experts="linear").partial_fit(X, y).experts_
    assert 0 < np.count_nonzero(apart.slept) < len(apart.slept)
    np.testing.assert_array_equal(apart.slept, together.slept)
    np.testing.assert_array_equal(apart.mistakes, together.mistakes)
    for one, other in zip(apart.coef, together.coef, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@examples(50)
@given(seed=st.integers(0, 10**6), sure=st.sampled_from([0.0, 0.5, 1.0]), weighted=st.booleans())
def test_the_mean_of_scaled_scores_makes_few_mistakes_more_than_the_vote(seed, sure, weighted):
    """Whatever the scores are, and however much those that are wrong are larger."""
    random = np.random.default_rng(seed)
    y, weight = random.choice([-1.0, 1.0], 200), random.choice([0.5, 2.0], 200) if weighted else np.ones(200)
    wrong = random.uniform(size=(200, 3)) < [0.4, 0.3, 0.2]
    scores = np.where(wrong, -random.uniform(1, 9, (200, 3)), random.uniform(1, 9 - 8 * sure, (200, 3))) * y[:, None]
    task, behind = ExpertVote([Binary()] * 3, range(3), 1, Binary(), hedge=True), 0.0
    for t in range(200):
        geometry = Euclidean(1, 3, np.float64)
        geometry.weights[:, 0] = scores[t]
        learner = Learner(task, Projections([0.0] * 3, [0.0] * 3), geometry)
        vote = task.weights @ np.sign(scores[t])
        learner.learn(as_rows(np.ones((1, 1))), y[t : t + 1], weight[t : t + 1])
        behind += weight[t] * (learner.totals.mistakes - float(y[t] * vote <= 0))
        assert behind <= 10 * weight.max()
    assert task.state()["behind"][1] == pytest.approx(behind)


@pytest.mark.parametrize("n", [0, 1001])
def test_no_models_and_too_many_models_are_refused(n):
    with pytest.raises(ValueError, match=f"the number of models side by side must be from 1 to 1000; got {n}"):
        ExpertVote([Regression(0.1)] * n, np.arange(n), 1, Regression(0.1))


class Untempered(AutoRegressor):
    """A task that does not temper outliers."""

    def plan(self):
        plan = super().plan()
        return replace(plan, ensemble=replace(plan.ensemble, tempered=False))


far_targets = st.lists(st.integers(-9, 9) | st.sampled_from([1e3, -1e3, 2e6, 1e12, -1e100, 1e300]), max_size=30)


@examples(50)
@given(y=far_targets, first=st.integers(-3, 3), container=formats, cut=st.integers(0, 30))
def test_outliers_are_learned_as_by_the_twin(y, first, container, cut):
    """They are equal bit for bit, however the stream is split; mistakes are counted with the untempered targets."""
    y = np.array([first, *y], dtype=np.float64)
    near = [target for target in y if 0 < abs(target - y[0]) <= 100 * abs(y[0])]
    assume(not (near and 1e6 * abs(near[0]) < abs(y[0])))  # such a target replaces the origin
    X = container(np.random.default_rng(0).integers(-3, 4, (len(y), 3)).astype(float))
    ordinary = np.array([y[0], *reference.tempered(y[1:], y[0])])
    model, twin = AutoRegressor().partial_fit(X[: cut + 1], y[: cut + 1]), Untempered().partial_fit(X, ordinary)
    if cut + 1 < len(y):
        model = pickle.loads(pickle.dumps(model)).partial_fit(X[cut + 1 :], y[cut + 1 :])
    results, wanted = model.experts_, twin.experts_
    np.testing.assert_array_equal(results.loss, wanted.loss)
    np.testing.assert_array_equal(results.weights, wanted.weights)
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))
    assert (results.mixed_loss, results.regret_bound) == (wanted.mixed_loss, wanted.regret_bound)
    if (y == ordinary).all():
        assert model.totals_ == twin.totals_
