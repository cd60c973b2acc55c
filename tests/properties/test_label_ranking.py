"""LabelRanker equals its NumPy reference, for any form of the labels and any split of the stream."""

from itertools import pairwise
from math import inf

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from onmargin import LabelRanker, PassiveAggressiveClassifier, reference
from tests.streams import CONTAINERS, public_state, uneven_weights
from tests.trials import STEPS

SCHEMES = ["simperc", "conproj", "simproj", "simopt", "conopt"]
UPDATES = ["max", *SCHEMES, "exact"]
# Options of a model, without combinations that are refused.
KINDS = [
    *({"update": update, "calibrate": calibrate} for update in ["max", *SCHEMES] for calibrate in (True, False)),
    {"update": "exact", "calibrate": False},
    {"loss": "squared_hinge"},
    {"loss": "squared_hinge", "calibrate": False},
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)
NAMES = np.array(["ash", "birch", "elm", "fir", "oak", "yew"])


def examples(seed, n=60, n_features=7, labels=5, dtype=np.float64):
    """Return noisy data; some label sets are empty or full."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, n_features)) * (random.random((n, n_features)) < 0.8)
    Y = X @ random.standard_normal((n_features, labels)) + 0.5 * random.standard_normal((n, labels)) > 0.3
    Y[3], Y[11] = False, True
    return X.astype(dtype), Y.astype(int)


def sets_of(Y, names=None):
    names = np.arange(Y.shape[1]) if names is None else names
    return [set(names[np.flatnonzero(row)].tolist()) for row in Y]


def twin(kind, C, X, Y, weight):
    """Return the weights and averaged weights of the same rounds in NumPy, over a list of all pairs."""
    update, calibrated = kind.get("update", "max"), kind.get("calibrate", True)
    y = [np.flatnonzero(row).astype(float) for row in Y]
    if update == "exact":
        task, step = reference.sopopo_pairs(C)
    else:
        task = (reference.label_ranking if update == "max" else reference.label_pairs)(calibrated=calibrated)
        step = ({"max": reference.pa2 if "loss" in kind else reference.pa1}.get(update) or STEPS[update][1])(C)
    columns = Y.shape[1] + calibrated
    run = reference.play(X, y, task, step, columns=columns, weight=weight, total=max)
    return run, run.weights.T, run.mean.T


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("scaling", [None, "auto", 0.5])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [0.05, 0.7])
@every_kind
def test_twin(kind, C, weighted, scaling, average):
    X, Y = examples(1)
    weight = uneven_weights(len(X)) if weighted else np.ones(len(X))
    intercept = {"fit_intercept": False} if scaling is None else {"intercept_scaling": scaling}
    model = LabelRanker(C=C, average=average, **intercept, **kind).partial_fit(X, Y, sample_weight=weight)
    live = weight > 0
    extended = reference.with_intercept(X[live], {None: 0.0, "auto": None}.get(scaling, scaling))
    run, weights, mean = twin(kind, C, extended, Y[live], weight[live])
    columns, n = mean if average else weights, Y.shape[1]
    expected = columns[:n] - columns[n:].sum(axis=0)  # without the calibration label, if there is one
    np.testing.assert_allclose(model.coef_, expected[:, :-1], atol=1e-9)
    np.testing.assert_allclose(model.intercept_, extended[-1, -1] * expected[:, -1], atol=1e-9)
    for name in ("rounds", "mistakes", "updates", "loss", "squared_loss", "dual_value"):
        assert getattr(model.totals_, name) == pytest.approx(getattr(run, name), rel=1e-6, abs=1e-6), name


@given(st.integers(0, 1000), st.sampled_from([0.05, 0.7, inf]))
def test_closed_form_of_exact_projections_solves_their_problem(seed, C):
    """The reference equals the solution of a general solver."""
    X, Y = (part[:6] for part in examples(seed, n=12))
    trials, y = [np.kron(np.eye(5), x) for x in X], [np.flatnonzero(row).astype(float) for row in Y]
    kept = [t for t in range(len(X)) if 0 < len(y[t]) < 5 and X[t].any()]  # that solver needs pairs in every trial
    if kept:
        solved = reference.play_trials(
            [trials[t] for t in kept], [y[t] for t in kept], reference.label_pairs(), reference.joint(C)
        )
        run = reference.play(X[kept], [y[t] for t in kept], *reference.sopopo_pairs(C), columns=5, total=max)
        np.testing.assert_allclose(run.weights.T.ravel(), solved.weights, atol=1e-7)
        assert run.dual_value == pytest.approx(solved.dual_value, rel=1e-7)


@every_kind
def test_forms_of_labels_agree(kind):
    """Indicators, dense or sparse, and sets, lists, tuples and arrays of numbers or names give equal results."""
    X, Y = examples(2, labels=6)
    expected = LabelRanker(**kind).partial_fit(X, Y)
    sets = sets_of(Y)
    lists = [np.random.default_rng(0).permutation(sorted(labels)).astype(int).tolist() for labels in sets]
    objects = np.empty(len(X), dtype=object)
    objects[:] = [tuple(labels) for labels in lists]
    matrices = [
        Y.astype(bool),
        Y.astype(np.float32),
        Y.astype(object),
        pd.DataFrame(Y, columns=NAMES),
        *(form(Y) for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.lil_matrix)),
    ]
    numbers = [
        sets,
        lists,
        [np.array(labels, dtype=np.int16) for labels in lists],
        objects,
        pd.Series(lists),
        tuple(map(frozenset, sets)),
    ]
    forms = [*((form, None) for form in matrices), *((form, range(6)) for form in numbers), (sets_of(Y, NAMES), NAMES)]
    for form, names in forms:
        model = LabelRanker(**kind).partial_fit(X, form, classes=names)
        assert model.classes_.tolist() == list(range(6) if names is None else names)
        assert {**public_state(model), "classes_": ""} == {**public_state(expected), "classes_": ""}


@pytest.mark.parametrize("container", CONTAINERS)
@every_kind
def test_containers_and_precisions_agree(kind, container):
    X, Y = examples(3)
    expected = LabelRanker(C=0.3, **kind).partial_fit(X, Y).decision_function(X)
    for dtype, tolerance in ((np.float64, 1e-10), (np.float32, 5e-4)):
        rows = CONTAINERS[container](X.astype(dtype))
        model = LabelRanker(C=0.3, **kind).partial_fit(rows, Y)
        np.testing.assert_allclose(model.decision_function(rows), expected, atol=tolerance)


@st.composite
def label_streams(draw):
    """Draw streams with few points and many ties; labels appear in any order."""
    n, n_features = draw(st.integers(1, 10)), draw(st.integers(1, 4))
    values = st.sampled_from([0.0, 1.0, -1.0, 0.5, 2.0])
    X = np.array(draw(st.lists(st.lists(values, min_size=n_features, max_size=n_features), min_size=n, max_size=n)))
    Y = draw(st.lists(st.sets(st.sampled_from(NAMES.tolist())), min_size=n, max_size=n))
    weight = np.array(draw(st.lists(st.sampled_from([1.0, 0.25, 3.0]), min_size=n, max_size=n)))
    return X, Y, weight


@given(
    label_streams(), st.sampled_from(KINDS), st.sampled_from([0.1, 1.0]), st.sampled_from([False, True, 3]), st.data()
)
def test_partial_fit_in_pieces(stream, kind, C, average, data):
    """Results are equal bit for bit, also where labels appear during the stream."""
    X, Y, weight = stream
    ends = sorted(data.draw(st.sets(st.integers(0, len(X)))) | {0, len(X)})
    form = data.draw(st.sampled_from([np.ascontiguousarray, sparse.csr_array]))
    whole, pieces = (LabelRanker(C=C, average=average, **kind) for _ in range(2))
    whole.partial_fit(form(X), Y, sample_weight=weight)
    for start, stop in pairwise(ends):
        pieces.partial_fit(form(X[start:stop]), Y[start:stop], sample_weight=weight[start:stop])
    assert public_state(pieces) == public_state(whole)
    assert (pieces.decision_function(X) == whole.decision_function(X)).all()


@given(label_streams(), st.sampled_from(KINDS))
def test_examples_of_weight_zero_are_ignored(stream, kind):
    """Their labels do not become classes either."""
    X, Y, weight = stream
    expected = LabelRanker(**kind).partial_fit(X, Y, sample_weight=weight)
    more = [{"unheard of"}, {"zebrano"}]
    model = LabelRanker(**kind).partial_fit(
        np.vstack([X[:1] + 5, X, X[:1] - 5]), [more[0], *Y, more[1]], sample_weight=[0.0, *weight, 0.0]
    )
    assert public_state(model) == public_state(expected)


@given(label_streams(), st.sampled_from(KINDS), st.booleans())
def test_meeting_a_label_keeps_every_margin_between_the_others(stream, kind, average):
    X, Y, _ = stream
    scores = []
    for names in (NAMES, ["aspen", *NAMES, "cedar", "zebrano"]):
        model = LabelRanker(average=average, fit_intercept=False, **kind).partial_fit(X, Y, classes=NAMES)
        model.partial_fit(np.zeros_like(X[:1]), [set()], classes=names)  # a row without effect on the weights
        scores.append(model.decision_function(X))
    assert model.classes_.tolist() == sorted([*NAMES, "aspen", "cedar", "zebrano"])
    assert (scores[1][:, np.searchsorted(model.classes_, NAMES)] == scores[0]).all()


@pytest.mark.parametrize("labels", [3, 8])
@pytest.mark.parametrize(
    ("update", "C"),
    [(update, C) for update in UPDATES for C in (0.05, 1.0, inf) if (update, C) != ("simperc", inf)],
)
def test_one_relevant_label_per_example_is_multiclass(update, C, labels):
    random = np.random.default_rng(labels)
    X = random.standard_normal((80, 6))
    y = (X @ random.standard_normal((6, labels)) + random.standard_normal((80, labels))).argmax(axis=1)
    classifier = PassiveAggressiveClassifier(C=C, update=update).partial_fit(X, y, classes=range(labels))
    ranker = LabelRanker(C=C, update=update, calibrate=False).partial_fit(X, np.eye(labels, dtype=int)[y])
    np.testing.assert_allclose(ranker.coef_, classifier.coef_, atol=1e-10)
    np.testing.assert_allclose(ranker.intercept_, classifier.intercept_, atol=1e-10)
    for name, value in dict(classifier.totals_).items():
        assert ranker.totals_[name] == pytest.approx(value, abs=1e-9), name


@every_kind
def test_passes_of_fit_equal_calls_of_partial_fit(kind):
    X, Y = examples(4)
    fitted = LabelRanker(max_iter=3, tol=None, shuffle=False, **kind).fit(X, Y)
    streamed = LabelRanker(max_iter=3, tol=None, shuffle=False, **kind)
    for _ in range(3):
        streamed.partial_fit(X, Y)
    assert fitted.n_iter_ == 3
    assert (fitted.coef_ == streamed.coef_).all()
    assert fitted.totals_ == streamed.totals_


@pytest.mark.parametrize(("update", "labels"), [("max", 2), ("exact", 5)])
def test_after_a_step_without_cap_every_pair_has_its_margin(update, labels):
    """After "max" only the worst pair has it; with two labels there is no other pair."""
    model = LabelRanker(C=inf, update=update, calibrate=False)
    for x, y in zip(*examples(5, labels=labels), strict=True):
        scores = model.partial_fit(x[None], y[None]).decision_function(x[None])[0]
        assert scores[y == 1].min(initial=inf) - scores[y == 0].max(initial=-inf) >= 1 - 1e-9
