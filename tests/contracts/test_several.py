"""Several models at once through the public API: options, errors and attributes."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from onmargin import (
    AutoClassifier,
    AutoRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    reference,
    stream,
)
from onmargin.features import RecordFeatures
from onmargin.learner import as_rows
from onmargin.theory import NoTheorem, certify

X = np.random.default_rng(0).standard_normal((200, 5))
CODES = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)


@pytest.mark.parametrize("C", [[], [0.0], [1.0, -1.0], ["a"], [[1.0]], "each", np.zeros((1, 1)), [True]])
def test_sequences_of_invalid_c_are_refused(C):
    with pytest.raises(ValueError, match=r"C must be a number greater than 0, or a sequence.* or 'auto'"):
        PassiveAggressiveClassifier(C=C).fit(X, CODES)


@pytest.mark.parametrize(
    ("options", "need"),
    [
        ({"kernel": "rbf"}, "kernel=None"),
        ({"geometry": "entropic"}, "geometry other than 'entropic'"),
        ({"update": "mira"}, "update='max'"),
        ({"cost": "absolute"}, "cost=None"),
        ({"target_loss": 0.1}, "target_loss=None"),
    ],
)
def test_options_with_a_single_c_are_refused(options, need):
    with pytest.raises(ValueError, match=f"a sequence of C needs {need}"):
        PassiveAggressiveClassifier(C=[0.1, 1.0], **options).fit(X, CODES)


def test_the_regressor_refuses_likewise():
    with pytest.raises(ValueError, match="a sequence of C needs kernel=None"):
        PassiveAggressiveRegressor(C="auto", kernel="poly").partial_fit(X, X[:, 0])


@pytest.mark.parametrize("changed", [[0.1, 2.0], [0.1], 1.0, "auto"])
def test_values_of_c_cannot_change_after_the_first_example(changed):
    model = PassiveAggressiveClassifier(C=[0.1, 1.0]).partial_fit(X, CODES)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="C cannot change"):
        model.set_params(C=changed).partial_fit(X, CODES)
    np.testing.assert_array_equal(model.set_params(C=[0.1, 1.0]).decision_function(X), before)
    clone(model).set_params(C=changed).partial_fit(X, CODES)


@pytest.mark.parametrize(
    ("options", "need"),
    [
        ({"C": "auto"}, "one value of C"),
        ({"kernel": "rbf"}, "kernel=None"),
        ({"geometry": "entropic"}, "geometry other than 'entropic'"),
        ({"target_loss": 0.1}, "target_loss=None"),
    ],
)
def test_options_without_a_second_model_are_refused(options, need):
    for model, y in ((PassiveAggressiveClassifier, CODES), (PassiveAggressiveRegressor, X[:, 0])):
        with pytest.raises(ValueError, match=f"average='best' needs {need}|geometry='entropic' needs"):
            model(average="best", **options).fit(X, y)
    if "C" in options:
        with pytest.raises(ValueError, match=f"average='best' needs {need}"):
            stream.PassiveAggressiveClassifier(average="best", **options)


def test_averages_are_compared_from_the_start_or_not():
    model = PassiveAggressiveClassifier(average="best").partial_fit(X, CODES)
    with pytest.raises(ValueError, match="average cannot change"):
        model.set_params(average=True).partial_fit(X, CODES)
    with pytest.raises(AttributeError, match="one value of C"):
        model.set_params(average="best").grid_  # noqa: B018
    for other in (PassiveAggressiveClassifier(average=True), stream.PassiveAggressiveRegressor(average="mean")):
        with pytest.raises(AttributeError, match="averages_ needs average='best'"):
            other.averages_  # noqa: B018
    with pytest.raises(AttributeError, match="one value of C"):
        stream.PassiveAggressiveClassifier(average="best").grid_  # noqa: B018


def test_one_model_has_no_sweep():
    model = PassiveAggressiveClassifier().partial_fit(X, CODES)
    with pytest.raises(AttributeError, match="only one model"):
        model.grid_  # noqa: B018


@pytest.mark.parametrize("make", [AutoClassifier, lambda: PassiveAggressiveClassifier(C="auto")])
def test_weights_of_several_models_are_not_set(make):
    model = make().partial_fit(X, CODES)
    with pytest.raises(ValueError, match="setting weights needs one model"):
        model.coef_ = model.coef_
    assert not hasattr(model, "sparsify")


def test_attributes_are_those_of_the_leader():
    model = PassiveAggressiveClassifier(C="auto").partial_fit(X, CODES)
    sweep = model.grid_
    assert sweep.names[0] == "C=0.001"
    assert len(sweep.names) == len(sweep.mistakes) == 9
    assert sweep.leader == sweep.mistakes.argmin()
    np.testing.assert_array_equal(model.coef_, sweep.coef[sweep.leader])
    scores = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-6, atol=1e-9)
    assert sweep.weights[sweep.leader] == sweep.weights.sum() == 1


def graded(model, rows):
    """Votes, or the mean of scaled scores if that predicts, and graded scores, from the scores of all models."""
    task, learner = model._learner.task, model._learner
    each = learner.scores(as_rows(rows))[:, task.places[:, None] + np.arange(task.width)]
    state = task.state()
    units = np.sqrt(state["squares"][-1] / state["squares"][:-1])
    z = (each - (each.mean(axis=2, keepdims=True) if task.width > 1 else 0)) * units[:, None]
    best = each.argmax(axis=2) if task.width > 1 else np.where(each[..., 0] >= 0, 1, -1)
    votes = (best[..., None] == np.arange(task.width) if task.width > 1 else best[..., None]) * 1.0
    votes = votes if state["behind"][0] > 0 else z / (1 + abs(z))
    return np.tensordot(votes, state["weights"], (1, 0)), (odds(state, z) if task.width == 1 else ranked(state, z))


def ranked(state, z):
    ranks = state["ranks"][: z.shape[1]]
    shares = np.exp(-0.2 * (ranks - ranks.min()))
    return np.tensordot(z / (1 + abs(z)), shares / shares.sum(), (1, 0))


def odds(state, z):
    *first, h00, h01, h11, losses = state["odds"] + np.array([1, 0, 1, 0, 1, 0])[:, None]
    slopes, offsets = np.linalg.solve(np.moveaxis([[h00, h01], [h01, h11]], 2, 0), np.transpose(first)[..., None])[
        ..., 0
    ].T
    shares = np.exp(-np.sqrt(2 * np.log(len(losses)) / state["squares"][-1]) * (losses - losses.min()))
    p = 1 / (1 + np.exp(-slopes * np.clip(z[..., 0], -10, 10) - offsets)) @ (shares / shares.sum())
    return np.log(p / (1 - p))[:, None]


@pytest.mark.parametrize("codes", [CODES, CODES > 0], ids=["three classes", "two classes"])
@pytest.mark.parametrize(
    "make", [AutoClassifier, lambda: PassiveAggressiveClassifier(C="auto", combine="hedge")], ids=["Auto", "C"]
)
def test_scores_of_votes_are_graded(make, codes):
    rows = np.random.default_rng(1).normal(size=(500, X.shape[1]))
    model = make().partial_fit(X, codes)
    scores = model.decision_function(rows).reshape(len(rows), -1)
    votes, grades = graded(model, rows)
    predicted = votes.argmax(axis=1) if scores.shape[1] > 1 else (votes[:, 0] >= 0).astype(int)
    np.testing.assert_array_equal(model.classes_[predicted], model.predict(rows))
    np.testing.assert_array_equal(
        scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] >= 0).astype(int), predicted
    )
    agree = (grades.argmax(axis=1) if scores.shape[1] > 1 else (grades[:, 0] >= 0).astype(int)) == predicted
    assert agree.mean() > 0.8
    np.testing.assert_allclose(scores[agree], grades[agree], rtol=1e-9, atol=1e-5)
    assert len(np.unique(scores[agree, 0])) > 0.9 * agree.sum()


def test_scores_of_votes_rank_as_well_as_those_of_the_leader():
    data, y = load_breast_cancer(return_X_y=True)
    vote, leader = (AutoClassifier(combine=word).fit(data[:300], y[:300]) for word in ("hedge", "leader"))
    areas = [roc_auc_score(y[300:], model.decision_function(data[300:])) for model in (vote, leader)]
    assert areas[0] > 0.985
    assert areas[0] > areas[1] - 0.005


@pytest.mark.parametrize("seed", range(5))
def test_two_classes_have_the_same_order_by_probability_and_by_score(seed):
    random = np.random.default_rng(seed)
    rows = random.standard_normal((400, 4))
    model = AutoClassifier().partial_fit(rows, rows[:, 0] * rows[:, 1] + random.standard_normal(400) > 0)
    new = random.standard_normal((200, 4))
    by_score = model.predict_proba(new)[model.decision_function(new).argsort(), 1]
    assert (np.diff(by_score) >= -1e-12).all()


def test_numbers_are_weighted_means():
    model = AutoRegressor(experts="linear").partial_fit(X, X[:, 0] * 100)
    results = model.experts_
    rows = X[1:]  # predicting X itself would warn about a forgetting leader
    each = np.array([rows @ coef + intercept for coef, intercept in zip(results.coef, results.intercept, strict=True)])
    np.testing.assert_allclose(model.predict(rows), results.weights @ each)
    assert results.mixed_loss <= results.lost.min() + results.regret_bound


def test_the_regressor_does_not_depend_on_units():
    y = X @ np.arange(5.0) + 1
    small, large = (AutoRegressor().partial_fit(X, y * unit).predict(X) / unit for unit in (1e-3, 1e4))
    np.testing.assert_allclose(small, large, rtol=1e-6)


@pytest.mark.parametrize("combine", ["hedge", "leader"])
@pytest.mark.parametrize("container", [np.asarray, csr_matrix])
def test_the_regressor_does_not_depend_on_the_level_of_targets(container, combine):
    """Only the first prediction, 0, does."""
    rows, y = container(X), X @ np.arange(5.0) + np.random.default_rng(0).normal(size=len(X))
    low, high = (AutoRegressor(combine=combine).partial_fit(rows, y + level) for level in (0.0, 1000.0))
    np.testing.assert_allclose(high.predict(rows), low.predict(rows) + 1000, rtol=1e-9)
    np.testing.assert_allclose(high.intercept_, low.intercept_ + 1000, rtol=1e-9)
    assert high.totals_.loss - abs(y[0] + 1000) == pytest.approx(low.totals_.loss - abs(y[0]))


@pytest.mark.parametrize("container", [np.asarray, csr_matrix])
def test_some_experts_follow_the_level(container):
    y = np.cumsum(np.random.default_rng(0).normal(size=len(X))) + 30
    model = AutoRegressor().partial_fit(container(X), y)
    last, mean = reference.levels(y)
    lost = dict(zip(model.experts_.names, model.experts_.loss, strict=True))
    assert lost["last value"] == pytest.approx(np.abs(y - last).sum())
    assert lost["running mean"] == pytest.approx(np.abs(y - mean).sum())
    assert model.totals_.loss < y[0] + 1.5 * np.abs(np.diff(y)).sum()
    np.testing.assert_array_equal(model.experts_.coef[0], np.zeros(X.shape[1]))
    assert model.experts_.intercept[0] == pytest.approx(y[-1])
    assert model.coef_.any()


@pytest.mark.parametrize("learner", [AutoRegressor, stream.AutoRegressor])
@pytest.mark.parametrize("place", [0, 1, 7, 900])
@pytest.mark.parametrize("outlier", [1e10, -1e100, 1e300])
@pytest.mark.parametrize("options", [{}, {"combine": "leader"}], ids=str)
def test_one_outlier_does_not_spoil_the_experts(learner, place, outlier, options):
    random = np.random.default_rng(0)
    rows = random.normal(size=(2000, 5))
    y = rows @ np.arange(5.0) + 30 + 0.1 * random.normal(size=2000)
    errors = []
    for changed in (y, np.where(np.arange(2000) == place, outlier, y)):
        model = learner(experts="linear", **options)
        learn, predict = (
            (model.partial_fit, model.predict) if learner is AutoRegressor else (model.learn_many, model.predict_many)
        )
        for start in range(0, 2000, 250):
            if start >= 1000:
                errors.append(np.abs(predict(rows[start : start + 250]) - y[start : start + 250]).mean())
            learn(rows[start : start + 250], changed[start : start + 250])
    alone, with_outlier = np.reshape(errors, (2, -1)).mean(axis=1)
    assert with_outlier < 1.6 * alone
    assert model.totals_.loss >= abs(outlier) / 2


@pytest.mark.parametrize("first", [1e10, -1e100, 1e300])
def test_a_first_target_that_is_an_outlier_before_an_exact_zero_does_not_spoil_the_experts(first):
    random = np.random.default_rng(0)
    rows = random.normal(size=(1000, 5))
    y = rows @ np.arange(5.0) + 0.1 * random.normal(size=1000)
    y[1] = 0.0
    errors = []
    for changed in (y, np.array([first, *y[1:]])):
        model = AutoRegressor(experts="linear").partial_fit(rows[:500], changed[:500])
        errors.append(np.abs(model.predict(rows[500:]) - y[500:]).mean())
    assert errors[1] < 1.6 * errors[0]


def test_without_an_intercept_there_is_no_level():
    model = AutoRegressor(fit_intercept=False).partial_fit(csr_matrix(X), X @ np.arange(5.0) + 100)
    assert model.predict(np.zeros((1, X.shape[1])))[0] == 0
    assert "last value" not in model.experts_.names


@pytest.mark.parametrize("first", ["no", "yes"])
@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_rows_before_the_second_class_are_learned_as_if_both_were_known(first, form):
    random = np.random.default_rng(0)
    rows = random.normal(size=(120, 4))
    y = np.where(rows[:, 0] * rows[:, 1] > 0, "no", "yes")
    same, other = np.flatnonzero(y == first), np.flatnonzero(y != first)
    order = np.concatenate([same[:25], other, same[25:]])
    rows, y = form(rows[order]), y[order]
    told, found = AutoClassifier().partial_fit(rows, y, classes=["no", "yes"]), AutoClassifier().partial_fit(rows, y)
    new = form(random.normal(size=(50, 4)))
    each = [model._learner.scores(as_rows(new)) for model in (told, found)]
    np.testing.assert_array_equal(*each)
    for one, other in zip(told.experts_.coef, found.experts_.coef, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_auto_classifier_beats_an_untuned_model():
    digits, labels = load_digits(return_X_y=True)
    plain = PassiveAggressiveClassifier().partial_fit(digits, labels).totals_.mistakes
    assert AutoClassifier().partial_fit(digits, labels).totals_.mistakes < 0.8 * plain


@pytest.mark.parametrize(
    "model",
    [
        AutoClassifier(),
        AutoClassifier(combine="leader"),
        AutoRegressor(),
        PassiveAggressiveClassifier(C="auto"),
        PassiveAggressiveClassifier(C="auto", combine="hedge"),
        PassiveAggressiveRegressor(C=[0.1, 1.0], combine="hedge"),
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_only_the_first_pass_compares_models(model, n_classes):
    """Predictions of rows that were already learned favor models that memorize rows."""
    y = CODES % n_classes
    once, passes = (clone(model).set_params(max_iter=n, tol=None, shuffle=False).fit(X, y) for n in (1, 3))
    name = "experts_" if type(model).__name__.startswith("Auto") else "grid_"
    for field in ("loss", "weights", "leader"):
        np.testing.assert_array_equal(getattr(getattr(passes, name), field), getattr(getattr(once, name), field))
    assert passes.totals_.rounds == 3 * once.totals_.rounds
    more = passes.partial_fit(X, y)  # a call of its own: new examples as far as it can know
    assert (getattr(more, name).loss > getattr(once, name).loss).any()


def test_several_passes_do_not_overfit():
    """A table of 150 noisy rows: the nonlinear experts can memorize it, the linear ones cannot."""
    random = np.random.default_rng(0)
    rows = random.standard_normal((450, 12))
    numbers = rows[:, 0] + rows[:, 1] + 1.5 * random.standard_normal(450)
    seen, new = slice(150), slice(150, None)
    assert AutoRegressor(random_state=0).fit(rows[seen], numbers[seen]).score(rows[new], numbers[new]) > 0.3


@pytest.mark.parametrize("model", [AutoClassifier(combine="leader"), PassiveAggressiveClassifier(C="auto")])
def test_certify_points_to_the_regret(model):
    with pytest.raises(NoTheorem, match="regret_bound"):
        certify(model, X, CODES)


def test_certify_has_no_theorem_for_metrics():
    with pytest.raises(NoTheorem, match="individual learning rates"):
        certify(PassiveAggressiveClassifier(geometry="adaptive"), X, CODES)


@pytest.mark.parametrize("make", [csr_matrix, np.asarray])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_retiring_does_not_change_the_other_models(make, n_classes):
    rows, y = make(X), CODES % n_classes
    half = len(y) // 2
    whole = AutoClassifier().partial_fit(rows[:half], y[:half], classes=np.arange(n_classes))
    few = deepcopy(whole).retire(3)
    assert 3 <= len(few.experts_.names) <= 4
    assert sorted(few.experts_.mistakes)[:2] == sorted(whole.experts_.mistakes)[:2]
    for name in few.experts_.names:  # averages stay with their models
        assert {f"{name}, averaged", name.removesuffix(", averaged")} & {*whole.experts_.names} <= {*few.experts_.names}
    few = pickle.loads(pickle.dumps(few))
    for model in (whole, few):
        model.partial_fit(rows[half:], y[half:])
    for name, coef, mistakes in zip(few.experts_.names, few.experts_.coef, few.experts_.mistakes, strict=True):
        expert = whole.experts_.names.index(name)
        np.testing.assert_array_equal(coef, whole.experts_.coef[expert])
        assert mistakes == whole.experts_.mistakes[expert]
    few.retire(1).partial_fit(rows, y)
    assert len(few.experts_.names) <= 2
    assert few.fit(rows, y).experts_.names == whole.experts_.names  # all start over


def test_streams_retire_models_alike():
    rows = [[f"x{j}:{float(value)!r}" for j, value in enumerate(row)] for row in X]
    model = (
        stream.AutoClassifier(features=RecordFeatures(separator=":"))
        .learn_many(rows[:60], CODES[:60].tolist())
        .retire(2)
    )
    other = AutoClassifier().partial_fit(csr_matrix(X[:60]), CODES[:60]).retire(2)
    model.learn_many(rows[60:], CODES[60:].tolist())
    other.partial_fit(csr_matrix(X[60:]), CODES[60:])
    assert model.experts_.names == other.experts_.names
    assert model.totals_.mistakes == other.totals_.mistakes
    assert model.predict_many(rows) == other.predict(csr_matrix(X)).tolist()


@pytest.mark.parametrize("keep", [0, 100, 2.0, True, None])
def test_number_of_models_that_stay(keep):
    for model in (AutoClassifier().partial_fit(X, CODES), stream.AutoClassifier().learn_one({"a": 1}, "b")):
        with pytest.raises(ValueError, match="keep must be an integer at least 1 and at most"):
            model.retire(keep)
    with pytest.raises(NotFittedError):
        AutoClassifier().retire(2)
    with pytest.raises(ValueError, match="nothing was learned yet"):
        stream.AutoClassifier().retire(2)
