"""BlockClassifier: scikit-learn's checks, equivalent learners, reading of trials and sets, and errors."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from onmargin import BlockClassifier, PassiveAggressiveClassifier, reference
from tests.contracts.test_errors import refused
from tests.streams import CONTAINERS, public_state, uneven_weights
from tests.trials import UPDATES, some_trials, twin_step

ESTIMATORS = [
    *(BlockClassifier(update=update) for update in UPDATES),
    BlockClassifier(fit_intercept=True),
    BlockClassifier(fit_intercept=True, intercept_scaling=1.0, average=True),
    BlockClassifier(C=0.1, margin=0.5, shuffle=False),
    BlockClassifier(geometry="entropic", C=0.3),
]

# scikit-learn expects the same two of its SGD classes.
EXPECTED_FAILURES = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "a weight scales C in one round: a trial of weight 2 is not two trials",
)

TRIALS = some_trials(13, n_trials=30, most_sets=3)
X, Y, SETS = TRIALS.X, np.sign(TRIALS.y).astype(int), np.abs(TRIALS.y).astype(int)
N = len(X)
GROUPS = np.repeat(np.arange(30), np.diff(TRIALS.ends))


@parametrize_with_checks(
    ESTIMATORS,
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_check_of_scikit_learn(estimator, check):
    check(estimator)


# Equivalent learners.


@pytest.mark.parametrize("container", ["dense", "csr_matrix"])
@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("update", UPDATES)
def test_equals_the_reference(update, C, container):
    """Sets, weights of trials, another margin and an intercept are included."""
    weight, bias, margin = uneven_weights(30), 0.5, 0.7
    model = BlockClassifier(C=C, update=update, margin=margin, fit_intercept=True, intercept_scaling=bias)
    model.partial_fit(CONTAINERS[container](X), Y, GROUPS, SETS, sample_weight=weight[GROUPS])
    run = reference.play_trials(
        TRIALS.matrices(bias), TRIALS.labels(), reference.block(margin), twin_step(update, C), weight=weight
    )
    assert_allclose(model.coef_[0], run.weights[:-1], atol=1e-8)
    assert_allclose(model.intercept_, bias * run.weights[-1:], atol=1e-8)
    for name, value in dict(model.totals_).items():
        assert value == pytest.approx(getattr(run, name), rel=1e-8, abs=1e-8), name
    assert model.t_ == 1 + (weight > 0).sum()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("update", ["max", "simproj", "simopt", "exact"])
def test_trials_of_one_row_are_rounds_of_pa1(update, intercept):
    one = BlockClassifier(C=0.3, update=update, fit_intercept=intercept).partial_fit(X, Y)
    other = PassiveAggressiveClassifier(C=0.3, fit_intercept=intercept).partial_fit(X, Y, classes=[-1, 1])
    assert_allclose(one.coef_, other.coef_, rtol=1e-12)
    assert_allclose(one.intercept_, other.intercept_, rtol=1e-12)
    assert one.totals_.mistakes == other.totals_.mistakes == one.totals_.cost
    assert one.totals_.loss == pytest.approx(other.totals_.loss)


@pytest.mark.parametrize("update", UPDATES)
def test_rivals_of_the_right_class_are_a_block(update):
    """Rows with x in the columns of the right class and -x in those of a rival give multiclass prototypes."""
    random = np.random.default_rng(0)
    rows, y = random.standard_normal((40, 3)), random.integers(0, 4, 40)
    signs = np.eye(4)[np.repeat(y, 4)] - np.tile(np.eye(4), (40, 1))
    pairs = (signs[:, :, None] * np.repeat(rows, 4, axis=0)[:, None]).reshape(160, 12)
    rival = signs.any(axis=1)
    model = BlockClassifier(C=0.2, update=update).partial_fit(np.zeros((1, 12)), [1], classes=[-1, 1])
    prototypes = PassiveAggressiveClassifier(C=0.2, update=update, fit_intercept=False)
    prototypes.partial_fit(np.zeros((1, 3)), [0], classes=range(4))
    model.coef_ = prototypes.coef_ = random.standard_normal(
        (4, 3)
    )  # no two equal prototypes, because rounding decides ties
    model.partial_fit(pairs[rival], np.ones(120), np.repeat(np.arange(40), 3))
    prototypes.partial_fit(rows, y)
    assert_allclose(model.coef_.reshape(4, 3), prototypes.coef_, atol=1e-8)
    assert model.totals_.mistakes == prototypes.totals_.mistakes


def test_the_first_of_equal_losses_in_a_set_counts():
    model = BlockClassifier().partial_fit(np.eye(4), np.ones(4), [0] * 4, ["a", "b", "b", "a"], classes=[-1, 1])
    assert model.coef_.tolist() == [[0.5, 0.5, 0.0, 0.0]]


def test_small_margin_is_right():
    model = BlockClassifier(update="simperc", C=1e-17).partial_fit([[1.0], [1.0]], [1, 1], classes=[-1, 1])
    assert model.totals_.updates == 1
    assert model.totals_.mistakes == 1


def test_fit_makes_passes_over_trials():
    options = {"update": "exact", "C": 0.1, "shuffle": False, "max_iter": 3, "tol": None}
    fitted = BlockClassifier(**options).fit(X, Y, GROUPS, SETS)
    streamed = BlockClassifier(**options)
    for _ in range(3):
        streamed.partial_fit(X, Y, GROUPS, SETS)
    assert public_state(fitted) == public_state(streamed)
    assert fitted.n_iter_ == 3


def test_fit_shuffles_trials_and_never_rows():
    """In each of two trials one row has no loss unless the other row is learned first."""
    rows, groups = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 2.0]]), [7, 7, 3, 3]
    seen = set()
    for seed in range(10):
        model = BlockClassifier(C=np.inf, max_iter=1, tol=None, random_state=seed).fit(rows, [0, 0, 1, 1], groups)
        assert model.totals_.rounds == 2
        seen.add(tuple(model.coef_[0]))
    assert seen == {(-1.0, 1.0)}  # the first row of each: at zero weights all have a loss of 1


def test_predictions():
    model = BlockClassifier().fit(X, np.where(Y > 0, "yes", "no"), GROUPS)
    scores = model.decision_function(X)
    assert scores.shape == (N,)
    assert model.classes_.tolist() == ["no", "yes"]
    assert_allclose(scores, X @ model.coef_[0], atol=1e-12)
    assert_array_equal(model.predict(X), np.where(scores >= 0, "yes", "no"))
    assert model.predict(np.zeros((1, 9))).tolist() == ["yes"]
    assert model.coef_.shape == (1, 9)
    assert model.intercept_.tolist() == [0.0]


def test_trial_score_counts_perfect_trials():
    model = BlockClassifier().fit(X, Y, GROUPS)
    right = model.decision_function(X) * Y > 0
    by_hand = np.mean([right[start:stop].all() for start, stop in pairwise(TRIALS.ends)])
    assert 0 < by_hand < 1
    assert model.trial_score(X, Y, GROUPS) == by_hand
    assert model.trial_score(X, Y) == right.mean()
    assert model.trial_score(np.zeros((2, 9)), [1, 1], [0, 1]) == 0  # a score of zero is right for no label


def test_cost_is_the_part_of_the_sets_that_are_imperfect():
    rows = np.array([[1.0], [1.0], [-1.0], [1.0]])
    model = BlockClassifier(C=np.inf).partial_fit([[1.0]], [1], [0], classes=[-1, 1])
    assert model.totals_.cost == 1
    model.partial_fit(rows, [1, 1, 1, -1], [1] * 4, ["a", "b", "c", "b"])
    assert model.totals_.mistakes == 2
    assert model.totals_.cost == pytest.approx(1 + 2 / 3)  # b and c


# How trials and sets are read.

IDS = {
    "integers": lambda ids: ids,
    "a list": lambda ids: ids.tolist(),
    "falling": lambda ids: -3 * ids,
    "strings": lambda ids: np.array([f"trial {i}" for i in ids]),
    "objects": lambda ids: np.array([str(i) if i % 2 else int(i) for i in ids], dtype=object),
    "a series": lambda ids: pd.Series(ids, index=ids[::-1]),
    "categories": lambda ids: pd.Series(ids.astype(str), dtype="category"),
    "dates": lambda ids: np.datetime64("2020-01-01") + ids.astype("timedelta64[D]"),
}


@pytest.mark.parametrize("name", IDS)
def test_ids_are_of_any_kind(name):
    ids = IDS[name]
    plain = BlockClassifier(update="exact").partial_fit(X, Y, GROUPS, SETS)
    other = BlockClassifier(update="exact").partial_fit(X, Y, ids(GROUPS), ids(SETS))
    assert public_state(plain) == public_state(other)


def test_sets_are_numbered_within_their_trial():
    """Names may be reused in other trials, in any order, and need not be consecutive."""
    names = np.array([f"{number % 2} of {number}" for number in SETS])
    shifted = SETS + 7 * GROUPS
    states = [public_state(BlockClassifier().partial_fit(X, Y, GROUPS, sets)) for sets in (SETS, names, shifted, -SETS)]
    assert states[0] == states[1] == states[2] == states[3]
    assert states[0] != public_state(BlockClassifier().partial_fit(X, Y, GROUPS))


def test_one_class_is_enough_for_a_stream():
    model = BlockClassifier().partial_fit(X, np.ones(N), GROUPS, classes=[-1, 1])
    assert model.classes_.tolist() == [-1, 1]
    assert model.partial_fit(X, -np.ones(N), GROUPS, classes=[1, -1]).classes_.tolist() == [-1, 1]


def test_parameters_may_change_between_calls():
    """w = (1, 0) after the first trial; the second needs a step along (0, 2)."""
    model = BlockClassifier(C=np.inf).partial_fit([[1.0, 0.0]], [1], [0], classes=[0, 1])
    model.set_params(margin=3.0, C=0.25).partial_fit([[0.0, 2.0]], [1], [1])
    assert model.coef_.tolist() == [[1.0, 0.5]]


@pytest.mark.parametrize("options", [{}, {"average": True}, {"average": 4, "update": "exact"}], ids=str)
def test_stored_model_continues_unchanged(options):
    half, rest = GROUPS < 15, GROUPS >= 15
    model = BlockClassifier(**options).partial_fit(X[half], Y[half], GROUPS[half])
    copy = pickle.loads(pickle.dumps(model))
    for one in model, copy:
        one.partial_fit(X[rest], Y[rest], GROUPS[rest])
    assert public_state(model) == public_state(copy)
    with refused(copy, ValueError, "trial 29 was already learned"):
        copy.partial_fit(X[-1:], Y[-1:], GROUPS[-1:])
    assert vars(clone(model)).keys() == model.get_params().keys()


def test_groups_are_split_and_passed_on():
    model = BlockClassifier(random_state=0)
    folds = GroupKFold(3)
    scores = cross_val_score(model, X, Y, groups=GROUPS, cv=folds, params={"groups": GROUPS})
    by_hand = [
        clone(model).fit(X[train], Y[train], GROUPS[train]).score(X[test], Y[test])
        for train, test in folds.split(X, Y, GROUPS)
    ]
    assert_array_equal(scores, by_hand)


def test_groups_are_routed_through_a_pipeline():
    scaled = MaxAbsScaler().fit_transform(X)
    with config_context(enable_metadata_routing=True):
        model = BlockClassifier(random_state=0).set_fit_request(groups=True, sets=True)
        routed = make_pipeline(MaxAbsScaler(), model).fit(X, Y, groups=GROUPS, sets=SETS)
    assert_array_equal(routed[-1].coef_, BlockClassifier(random_state=0).fit(scaled, Y, GROUPS, SETS).coef_)


# Refused input.


def with_one(value, array, place=3):
    array = np.array(array, dtype=np.result_type(array, value) if isinstance(value, int | float) else object)
    array[place] = value
    return array


REFUSED = {
    "groups too short": ({"groups": GROUPS[:-1]}, f"groups must be an array of {N} ids", f"({N - 1},)"),
    "groups of two dimensions": ({"groups": np.c_[GROUPS, GROUPS]}, "groups must be", f"({N}, 2)"),
    "ragged groups": ({"groups": [[0], [1, 2]] + [[3]] * (N - 2)}, "groups must be"),
    "missing group": ({"groups": with_one(np.nan, GROUPS)}, "groups must be", "row 3 has nan"),
    "no group": ({"groups": with_one(None, GROUPS)}, "groups must be", "row 3 has None"),
    "groups that cannot be ids": ({"groups": np.array([{}] * N)}, "groups must be", "unhashable"),
    "missing value of pandas": ({"groups": with_one(pd.NA, GROUPS.astype(object))}, "groups must be"),
    "group that returns": ({"groups": with_one(0, GROUPS, -1)}, "group 0 comes back", f"row {N - 1}", "Sort the rows"),
    "named group that returns": (
        {"groups": with_one("0", GROUPS.astype(str), -1)},
        "group '0' comes back",
        f"row {N - 1}",
    ),
    "sets too short": ({"sets": SETS[:-1]}, f"sets must be an array of {N} ids", f"({N - 1},)"),
    "missing set": ({"sets": with_one(np.nan, SETS)}, "sets must be", "row 3 has nan"),
    "sets without groups": ({"groups": None, "sets": SETS}, "sets", "give groups="),
    "NaN label": ({"y": with_one(np.nan, Y)}, "NaN"),
    "real labels": ({"y": X[:, 0]}, "Unknown label type"),
    "labels too short": ({"y": Y[:-1]}, "inconsistent numbers of samples"),
    "weights that differ within a trial": (
        {"sample_weight": with_one(2.0, np.ones(N), 1), "groups": [0, 0, *range(2, N)]},
        "sample_weight must be the same for all rows of a trial",
        "row 0 has 1, and row 1 of the same trial 2",
    ),
    "negative weights": ({"sample_weight": -np.ones(N)}, "sample_weight must not be negative"),
    "weights too short": ({"sample_weight": np.ones(30)}, f"sample_weight must have shape ({N},)"),
    "no weight at all": ({"sample_weight": np.zeros(N)}, "sample_weight is zero for all"),
}
STAGES = {
    "new": BlockClassifier,
    "learned": lambda: BlockClassifier(warm_start=True).partial_fit(X, Y, GROUPS),
    "sparsified": lambda: BlockClassifier(warm_start=True, average=3).partial_fit(X, Y, GROUPS).sparsify(),
}


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", REFUSED)
def test_refused_input_changes_nothing(name, stage, method):
    arguments, *words = REFUSED[name]
    model = STAGES[stage]()
    with refused(model, ValueError, *words):
        getattr(model, method)(**{"X": X, "y": Y, "groups": GROUPS} | arguments)


def test_third_label_is_refused():
    y = with_one(5, Y)
    for method in "fit", "partial_fit":
        with refused(
            BlockClassifier(), ValueError, "Only binary", "[-1, 1, 5]", "PassiveAggressiveClassifier"
        ) as model:
            getattr(BlockClassifier(), method)(X, y, GROUPS)
    model = BlockClassifier(warm_start=True).partial_fit(X, Y, GROUPS)
    for call in model.fit, model.partial_fit, model.trial_score:
        with refused(model, ValueError, "two labels [-1, 1]", "got 5"):
            call(X, y, GROUPS)
    model = BlockClassifier()
    with refused(model, ValueError, "two labels [-1, 1]", "got 5"):
        model.partial_fit(X, y, GROUPS, classes=[-1, 1])
    with refused(model, ValueError, "Only binary"):
        model.partial_fit(X, Y, GROUPS, classes=[-1, 0, 1])


def test_label_of_a_trial_without_weight_does_not_count():
    y, weight = with_one(5, Y), np.where(GROUPS[3] == GROUPS, 0.0, 1.0)
    kept = weight > 0
    for method in "fit", "partial_fit":
        models = BlockClassifier(shuffle=False), BlockClassifier(shuffle=False)
        getattr(models[0], method)(X, y, GROUPS, sample_weight=weight)
        getattr(models[1], method)(X[kept], Y[kept], GROUPS[kept])
        assert public_state(models[0]) == public_state(models[1])


@pytest.mark.parametrize(
    ("method", "geometry"), [("fit", "euclidean"), ("fit", "entropic"), ("partial_fit", "entropic")]
)
def test_one_class_only_is_refused(method, geometry):
    """Other weights learn it in `partial_fit`: see test_one_class.py."""
    model = BlockClassifier(geometry=geometry)
    with refused(model, ValueError, method, "one class only: 1", "classes="):
        getattr(model, method)(X, np.ones(N, int), GROUPS)


def test_classes_must_stay():
    model = BlockClassifier().partial_fit(X, Y, GROUPS)
    with refused(model, ValueError, "classes must stay the same", "[-1, 1]", "[0, 1]"):
        model.partial_fit(X, Y, GROUPS, classes=[0, 1])
    with refused(model, ValueError, "all strings or all numbers"):
        model.partial_fit(X, Y.astype(str), GROUPS)


@pytest.mark.parametrize("first", ["fit", "partial_fit"])
@pytest.mark.parametrize("ids", [GROUPS, GROUPS.astype(str)], ids=["integers", "strings"])
def test_trial_split_over_calls_is_refused(ids, first):
    cut = TRIALS.ends[10] + 1
    assert ids[cut - 1] == ids[cut]
    model = BlockClassifier()
    getattr(model, first)(X[:cut], Y[:cut], ids[:cut])
    with refused(model, ValueError, f"trial {ids[cut].item()!r} was already learned", "in one call"):
        model.partial_fit(X[cut:], Y[cut:], ids[cut:])
    rest = TRIALS.ends[11]
    model.partial_fit(X[rest:], Y[rest:], ids[rest:])


def test_trials_without_ids_are_never_the_same():
    model = BlockClassifier().partial_fit(X, Y, GROUPS)
    model.partial_fit(X, Y).partial_fit(X[-1:], Y[-1:], GROUPS[-1:])
    model.set_params(warm_start=True).fit(X[-1:], Y[-1:], GROUPS[-1:])
    assert model.t_ > N


PARAMETERS = {"C": [0, np.nan], "margin": [0, -1.0, np.inf, "1"], "update": ["sim", "MAX", None, "perceptron"]}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in PARAMETERS.items() for value in values])
def test_parameter_is_refused(name, value):
    model = BlockClassifier(**{name: value})
    for method in model.fit, model.partial_fit:
        with refused(model, ValueError, f"{name} must be", f"got {value!r}"):
            method(X, Y, GROUPS)


@pytest.mark.parametrize("update", UPDATES)
def test_infinite_c(update):
    model = BlockClassifier(update=update, C=np.inf)
    if update in {"simperc", "exact"}:
        with refused(model, ValueError, f"update={update!r} needs a finite C"):
            model.partial_fit(X, Y, GROUPS)
    else:
        assert np.isfinite(model.partial_fit(X, Y, GROUPS, SETS).coef_).all()


@pytest.mark.parametrize("method", ["predict", "decision_function", "trial_score", "score"])
def test_nothing_learned(method):
    model = BlockClassifier()
    with refused(model, NotFittedError, "not fitted"):
        getattr(model, method)(X, *([Y] if method.endswith("score") else []))
