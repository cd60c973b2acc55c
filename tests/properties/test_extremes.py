"""Numbers of any magnitude: rejected input changes nothing, and all other input leaves a finite model."""

import warnings
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError

import onmargin
from onmargin import stream
from onmargin._parts import is_part, take_apart
from tests.contracts.test_every_learner import NEEDS, SIZED
from tests.contracts.test_every_learner import examples as stream_examples
from tests.examples import examples
from tests.saved import CASES, TARGETS, anatomy, answers
from tests.structures import Classes

# Learners of rows, in both precisions and in double precision.
BOTH = [case for case in CASES if case.name not in {"SequenceTagger", "StructuredPredictor"} and not case.takes_blocks]
LEARNERS = [case for case in BOTH if case.dtype is np.float64]
# Options that are numbers of any size.
SCALES = {
    "C", "epsilon", "rate", "alpha", "r", "eta", "margin", "gamma", "coef0", "intercept_scaling", "threshold", "radius",
    "max_radius", "forgetting", "target_loss", "p",
}  # fmt: skip


# Thresholds of trees, above every value where a feature has fewer.
UNBOUNDED = {"cuts", "thresholds"}


def is_finite(value, name=""):
    """Return whether all floating-point numbers in the state of a model are finite."""
    if sparse.issparse(value):
        value = value.data
    if isinstance(value, np.ndarray | float):
        numbers = np.asarray(value)
        if numbers.dtype.kind != "f":
            return True
        return not np.isnan(numbers).any() if name in UNBOUNDED else bool(np.isfinite(numbers).all())
    if isinstance(value, dict):
        return all(is_finite(item, key) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(map(is_finite, value))
    if is_part(value):
        pieces = take_apart(value)
        inner = [argument for argument in pieces.arguments if is_part(argument) or isinstance(argument, tuple | list)]
        return is_finite(pieces.state) and all(is_finite(part) for part in inner if is_part(part))
    return True


def check_learned_is_finite(model):
    assert all(is_finite(value) for name, value in vars(model).items() if name.startswith("_") or name.endswith("_"))


def check_finite(model, X):
    check_learned_is_finite(model)
    with np.errstate(all="ignore"):
        assert np.isfinite(answers(model, X)).all()


sizes = st.floats(-320, 300).map(lambda exponent: 10.0**exponent) | st.sampled_from([0.0, 5e-324, 1e300])


@pytest.mark.parametrize("case", LEARNERS, ids=str)
@examples(25)
@given(st.data())
def test_model_stays_finite_and_keeps_learning(case, data):
    X, y = case.half(0)
    container = sparse.csr_matrix if case.sparse else np.asarray
    model = case.model().partial_fit(X, y)
    for i in range(data.draw(st.integers(1, 4))):
        x = X[[i]].toarray() if case.sparse else X[[i]]
        x = x * (data.draw(st.lists(sizes, min_size=x.size, max_size=x.size)) if data.draw(st.booleans()) else 1.0)
        weight = data.draw(sizes) if data.draw(st.booleans()) else 1.0
        target = None if y is None else y[i : i + 1]
        if TARGETS.get(case.name) == "numbers" and data.draw(st.booleans()):
            target = target * data.draw(sizes)
        before = deepcopy(model)
        try:
            with np.errstate(all="ignore"):
                model.partial_fit(container(x), target, sample_weight=[weight])
        except ValueError:
            assert anatomy(model) == anatomy(before)
        check_finite(model, X)
    rounds = model.totals_.rounds
    with np.errstate(all="ignore"):
        model.partial_fit(*case.half(1))
    assert model.totals_.rounds == rounds + 30
    check_finite(model, X)


@pytest.mark.filterwarnings("ignore::UserWarning")  # a margin that no row can have
@pytest.mark.parametrize("case", BOTH, ids=str)
@examples(25)
@given(st.data())
def test_first_rows_of_any_size(case, data):
    """Whatever the size and order of rows, weights and targets, nothing learned or answered is NaN or infinite."""
    X, y = case.half(0)
    model = case.model()
    for _ in range(data.draw(st.integers(1, 6))):
        i = data.draw(st.integers(0, 29))
        x = X[[i]].toarray() if case.sparse else X[[i]]
        with np.errstate(all="ignore"):
            x = x * data.draw(sizes | st.lists(sizes, min_size=x.size, max_size=x.size).map(np.array))
            x = x.astype(case.dtype)
        target = None if y is None else y[i : i + 1]
        if TARGETS.get(case.name) == "numbers":
            target = target * data.draw(st.just(1.0) | sizes)
        before = deepcopy(model)
        try:
            with np.errstate(all="ignore"):
                weight = data.draw(st.just(1.0) | sizes)
                model.partial_fit(sparse.csr_matrix(x) if case.sparse else x, target, sample_weight=[weight])
        except ValueError:
            assert anatomy(vars(model)) == anatomy(vars(before))
            continue
        try:
            check_finite(model, X)
            with np.errstate(all="ignore"):  # its scores may overflow, and are clipped
                assert np.isfinite(answers(model, sparse.csr_matrix(x) if case.sparse else x)).all()
        except ValueError as error:  # refused, because kernel values of these rows overflow
            assert "the kernel gives values that are not finite" in str(error)  # noqa: PT017
            return


@pytest.mark.parametrize("size", [1e-320, 1e-170, 1e-162, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_odd_first_row_does_not_blind_a_vote(size, n_classes):
    """Squares of the first scores underflowed, the votes were NaN from then on, and NaN counted as right."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, n_classes, 300)
    X[:, 0] += 3 * y
    X[0] *= size
    model = onmargin.AutoClassifier()
    wrong = 0
    for k in range(300):
        if k > n_classes:
            scores = model.decision_function(X[[k]])
            assert np.isfinite(scores).all()
            assert np.isfinite(model.predict_proba(X[[k]])).all()
            wrong += model.predict(X[[k]])[0] != y[k]
        with np.errstate(all="ignore"):
            model.partial_fit(X[[k]], y[[k]], classes=np.arange(n_classes) if k == 0 else None)
    assert wrong <= model.totals_.mistakes <= wrong + n_classes + 1
    assert wrong < 100


ROUNDS = {
    "a long step of the forecaster": (
        onmargin.OnlineRidgeRegressor(forecast=True), [[3e-275], [0.6]], [-7e53, -4e224], [1.0, 2e296],
    ),
    "a large weight in a window": (
        onmargin.DualAscentRegressor(),
        [[1e154, 0.0], [-3e71, 1e71], [9e255, -1e256], [1.0, -0.8], [0.5, 0.7]],
        [8e33, 3.0, -6e185, 0.9, 5e-24],
        [1.0, 1.0, 7e175, 1e300, 5e251],
    ),
    "an intercept coordinate whose square is large": (
        onmargin.AutoRegressor(), [[0.0], [1e150]], [-35861018601.0, -6e228], [1.0, 9e194],
    ),
    "a row without features and a huge target": (
        onmargin.PassiveAggressiveRegressor(C="auto"),
        [[0.1, 0.1], [1e-162, 0.0], [0.1, 0.0]],
        [1.0, 1e300, 3e200],
        [1.0, 1.0, 1.0],
    ),
    "large changes of the target": (
        onmargin.AutoRegressor(),
        np.random.default_rng(0).normal(size=(6, 3)),
        [2e-10, 1e-77, 3e149, 8e-232, -1.7e150, -7e142],
        [1.0, 1.0, 1.0, 1.0, 1e200, 1.0],
    ),
}  # fmt: skip


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_overflow_within_a_round_leaves_finite_weights(rounds, container):
    model, X, y, weights = ROUNDS[rounds]
    model = deepcopy(model)
    for i in range(len(X)):
        with np.errstate(all="ignore"):
            model.partial_fit(container(X[i : i + 1]), y[i : i + 1], sample_weight=weights[i : i + 1])
    assert np.isfinite([*model.coef_.ravel(), *np.ravel(model.intercept_)]).all()
    if hasattr(model, "grid_"):
        assert np.isfinite(model.grid_.unit)
    if hasattr(model, "experts_"):
        assert is_finite([model.experts_.coef, model.experts_.intercept])


@pytest.mark.parametrize("weight", [1e-320, 1e-310, 1e-300, 1e-200])
def test_a_large_row_of_tiny_weight_moves_finitely(weight):
    """Descent divided the row by the root of its squares times a subnormal slope."""
    model = stream.AutoClassifier()
    for x, label in [({"a": 0.5, "b": -5e-156}, "p"), ({"a": 6e-201, "c": -0.8}, "q"), ({"d": 0.9}, "q")]:
        model.learn_one(x, label)
    model.learn_one({"a": 1.2e154}, "r", weight)
    assert all(is_finite(model.weights(label)) for label in model.classes_)
    assert is_finite(model.__getstate__())


def test_a_column_that_stays_is_not_multiplied_by_a_large_row():
    """Its rate times the row was infinite, and times a move of 0 not a number."""
    model = stream.AutoClassifier()
    model.learn_one({"b": -3.1e147}, "v").learn_one({"c": -3.4e-156}, "u").learn_one({"c": -8.9e153}, "u", 5.6e-179)
    assert is_finite(model.__getstate__())


def test_a_column_without_a_step_is_not_multiplied_by_a_large_row():
    """The squares of its tiny slope were too small for a step, and its rate was still infinite."""
    model = stream.AutoClassifier().learn_one({"f": -6.4e150}, "v", 1e-310)
    assert is_finite(model.__getstate__())


def test_a_step_of_the_intercept_is_finite():
    """The step times the square of its coordinate overflowed, before the variance made it small again."""
    model = stream.AROWRegressor().learn_one({"b": -1.1994799641844841e154}, 1e299, 1.0479547884937294e-302)
    model.learn_one({}, 1.0).learn_one({}, 1.0)
    assert is_finite(model.__getstate__())


def test_the_rate_of_an_intercept_of_large_rows_stays_finite():
    model = stream.AutoClassifier().learn_one({"f": 1.2187782850571393e154}, "v")
    for label in "vvv-vuvuvuuu":
        model.learn_one({}, label.replace("-", "v"), 1e-10 if label == "-" else 1.0)
    model.learn_one({"d": 0.5}, "v")
    assert is_finite(model.__getstate__())


def test_sums_of_trees_stay_finite():
    model = stream.AutoRegressor().learn_one({"g": -0.9}, 1.0)
    for target, weight in (1e10, 1.0), (-1e153, 1.0), (1e250, 1.0), (1.0, 1e300):
        model.learn_one({}, target, weight)
    assert is_finite(model.__getstate__())


def test_votes_over_clipped_scores_are_clipped():
    """The weights of the votes may sum to a little more than 1, and the largest double times that is infinite."""
    model = stream.PassiveAggressiveRegressor(C=(0.1, np.inf), combine="hedge").learn_one({"d": -0.1}, -3e125, 1e300)
    for x in {}, {}, {"c": -0.7}, {"c": 3e249}, {}, {}, {}:
        model.learn_one(x, 1.0)
        for far in {"d": 1e300}, {"d": -1e300}:
            assert np.isfinite([model.predict_one(far), model.scores_one(far)]).all()


@pytest.mark.parametrize("options", [{}, {"C": np.inf}, {"geometry": "adaptive"}, {"geometry": "normalized"}], ids=str)
@pytest.mark.parametrize(("size", "weight"), [(1.0, 1e77), (1e-25, 1e30), (1e-5, 1e39)])
def test_single_precision_weights_stay_finite(options, size, weight):
    """Steps were limited to what weights in double precision can hold."""
    row = np.array([[0.6 * size, 0.5 * size, 1e-42]], dtype=np.float32)
    for container in (np.asarray, sparse.csr_matrix):
        for kind in (onmargin.PassiveAggressiveClassifier(**options), onmargin.AutoClassifier()):
            model = kind.partial_fit(container(row), [0], classes=[0, 1, 2], sample_weight=[weight])
            check_finite(model, container(row))


@pytest.mark.parametrize("options", [{"geometry": "entropic"}, {"geometry": "pnorm", "p": 3.0}], ids=str)
@pytest.mark.parametrize("size", [1e100, 1e149])
def test_a_search_from_a_step_that_underflows_ends(options, size):
    """The search multiplied its first step by four until it was long enough, and a step of zero never is."""
    model = onmargin.DualAscentClassifier(margin=1e-300, **options)
    X = size * np.array([[1.0, -0.1], [-0.3, 1e-3], [0.3, -1.0]])
    for row, label in zip(X, [1, 0, 1], strict=True):
        with np.errstate(all="ignore"):
            model.partial_fit([row], [label], classes=[0, 1])
    check_finite(model, np.eye(2))


def test_scores_that_overflow_are_clipped():
    model = onmargin.Perceptron().partial_fit([[1e200, 0.0]], [1], classes=[0, 1, 2])
    far = [[1e300, 0.0], [1e300, 1e300]]
    for X in (np.array(far), sparse.csr_matrix(far)):
        assert np.isfinite(model.decision_function(X)).all()
        assert np.isfinite(model.predict_proba(X)).all()
    one = onmargin.stream.Perceptron().learn_one({"a": 1e200}, "u").learn_one({"a": -1e200, "b": 1.0}, "v")
    for label in "w", "u":
        one.learn_one({"a": 1e100, "b": 2.0}, label)
    assert np.isfinite(list(one.scores_one({"a": 1e300, "b": -1e300}).values())).all()
    assert np.isfinite(list(one.predict_proba_one({"a": 1e300, "b": -1e300}).values())).all()


def test_contributions_that_overflow_are_clipped():
    model = onmargin.stream.AROWClassifier().learn_one({"a": 1e-150}, "u").learn_one({"a": -1e-150}, "v")
    model.learn_one({"a": 1e-150}, "v", 1e200)
    assert abs(model.weights()["a"]) > 1e40
    voting = onmargin.stream.PassiveAggressiveRegressor(C=(0.1, np.inf), combine="hedge").learn_one({"a": 1e-100}, 1.0)
    ball = onmargin.stream.PassiveAggressiveUniclass().learn_one({"a": 1.0})
    for one in (model, voting, ball):
        explained = one.explain({"a": 1e300, "b": -1e300})
        assert list(explained) == ["a"]
        assert np.isfinite(explained["a"])


@pytest.mark.parametrize(
    ("model", "rows", "weight"),
    [
        (onmargin.DualAscentClassifier(), [[1e150, -5e149], [1.0, -0.5], [1e250, -5e249]], 1.0),
        (onmargin.PNormPerceptron(), [[0.4, -0.2]], 1e-308),
    ],
    ids=str,
)
def test_models_of_extreme_rows_can_be_loaded_again(model, rows, weight, tmp_path):
    model = deepcopy(model)
    for k, row in enumerate(rows):
        with np.errstate(all="ignore"):
            model.partial_fit([row], [k % 2], classes=[0, 1], sample_weight=[weight])
        onmargin.save(model, tmp_path / "model")
        onmargin.load(tmp_path / "model")


def test_average_over_many_rounds_stays_finite():
    """The step of 1e307 is finite, and forty times as much is not."""
    model = onmargin.PassiveAggressiveClassifier(C=np.inf, average=True, fit_intercept=False)
    model.partial_fit(np.tile([[1.0, 0.0], [-1.0, 0.0]], (20, 1)), [0, 1] * 20)
    model.partial_fit([[0.0, 3e-154]], [0])
    check_finite(model, np.eye(2))


@pytest.mark.parametrize("kind", [onmargin.GradientDescentRegressor, onmargin.ExponentiatedGradientRegressor])
@pytest.mark.parametrize("size", [1e-157, 1e160, 1e300])
def test_first_rows_without_a_proved_rate_are_refused(kind, size):
    model = kind()
    with pytest.raises(ValueError, match=r"row 1 of X is too large or too small .* set rate"):
        model.partial_fit(size * np.array([[0.0, 0.0], [1.0, 0.0]]), [1.0, 1.0])
    with pytest.raises(NotFittedError):
        model.predict([[1.0, 0.0]])


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.dtype is np.float64 and case.takes_blocks][:1], ids=str
)
@examples(20)
@given(st.data())
def test_blocks_of_any_size(case, data):
    X, y = case.half(0)
    model = case.model().partial_fit(X, y)
    for i in range(3):
        before = deepcopy(model)
        size, weight = data.draw(sizes), data.draw(sizes)
        try:
            with np.errstate(all="ignore"):
                model.partial_fit(X[[i]] * size, y[i : i + 1], sample_weight=[weight])
        except ValueError:
            assert anatomy(model) == anatomy(before)
        check_finite(model, X)


@pytest.mark.parametrize("update", ["prediction", "max_loss"])
@examples(15)
@given(st.data())
def test_structures_of_any_size(update, data):
    X, y = np.eye(3), [0, 1, 2]
    model = onmargin.StructuredPredictor(model=Classes(1 - np.eye(3)), update=update).partial_fit(X, y)
    for i in range(3):
        before = deepcopy(model)
        try:
            with np.errstate(all="ignore"):
                model.partial_fit([X[i] * data.draw(sizes)], [y[i - 1]], sample_weight=[data.draw(sizes)])
        except ValueError:
            assert np.array_equal(model.coef_, before.coef_)
            assert model.totals_ == before.totals_
        check_finite(model, X)


@examples(30)
@given(st.data())
def test_sequences_of_any_size(data):
    model = onmargin.SequenceTagger().partial_fit([[{"a": 1.0}, {"b": 1.0}]] * 3, [["A", "B"]] * 3)
    for _ in range(3):
        tokens = [{name: data.draw(sizes) for name in "ab"} for _ in range(2)]
        before = deepcopy(model)
        try:
            with np.errstate(all="ignore"):
                model.partial_fit([tokens], [["B", "A"]], sample_weight=[data.draw(sizes)])
        except ValueError:
            assert model.totals_ == before.totals_
        check_finite(model, [[{"a": 1.0}, {"b": 1.0}]])


@pytest.mark.parametrize("name", stream.__all__)
@examples(15)
@given(st.data())
def test_stream_stays_finite_and_keeps_learning(name, data):
    X, y = map(list, zip(*stream_examples(name, 30), strict=True))
    needs = dict(NEEDS.get(name, {}))
    if name in SIZED:
        needs["features"] = onmargin.features.RecordFeatures(n_features=16)
    model = getattr(stream, name)(**needs).learn_many(X[:15], y[:15])
    for i in range(data.draw(st.integers(1, 3))):
        x = {feature: value * data.draw(sizes) for feature, value in X[i].items()}
        target = y[i] * data.draw(sizes) if model.task == "regress" else y[i]
        before = anatomy(model.__getstate__())
        try:
            with np.errstate(all="ignore"):
                model.learn_one(x, target, data.draw(sizes))
        except ValueError:
            assert anatomy(model.__getstate__()) == before
        assert is_finite(model.__getstate__())
    rounds = model.totals_.rounds
    model.learn_many(X[15:], y[15:])
    assert model.totals_.rounds == rounds + 15
    assert is_finite(model.__getstate__())
    scores = [model.scores_one(x) for x in X]
    assert np.isfinite([value for one in scores for value in (one.values() if isinstance(one, dict) else [one])]).all()


ends = st.sampled_from([1e-300, 1e-160, 1e-20, 1e20, 1e160, 1e300])


@pytest.mark.parametrize("case", [case for case in LEARNERS if not case.sparse and not case.parameters], ids=str)
@examples(15)
@given(st.data())
def test_options_of_any_size(case, data):
    X, y = case.half(0)
    options = sorted(SCALES & {*case.model().get_params()})
    if not options:
        return
    name, value = data.draw(st.sampled_from(options)), data.draw(ends)
    try:
        model = case.model(**{name: value})
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a margin that no row can have
            model.partial_fit(X, y)
    except ValueError:
        return
    check_learned_is_finite(model)
    with np.errstate(all="ignore"):
        assert not np.isnan(answers(model, X)).any()
