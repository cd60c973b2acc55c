"""Public API of ClassFeatureClassifier: given, computed and learned features; new classes at any time; errors."""

import itertools
import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from onmargin import ClassFeatureClassifier, PassiveAggressiveClassifier, reference
from onmargin.features import ClassTermFeatures
from tests.streams import uneven_weights
from tests.trials import UPDATES, twin_step

RANDOM = np.random.default_rng(0)
PHI = RANDOM.standard_normal((60, 4, 6))
Y = (PHI @ RANDOM.standard_normal(6) + RANDOM.standard_normal((60, 4))).argmax(axis=1)
WORDS = (RANDOM.random((70, 12)) < 0.4).astype(float)
FOLDERS = np.array(["work", "home", "spam", "lists"])[RANDOM.integers(0, 4, 70)]


def phi(x, label):
    """Return block features: the example at the place of its class."""
    return np.kron(np.arange(3) == label, x).astype(float)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("update", UPDATES)
def test_equals_twin(*, update, C, weighted, average):
    weight = uneven_weights(60) if weighted else None
    model = ClassFeatureClassifier(update=update, C=C, average=average).partial_fit(PHI, Y, sample_weight=weight)
    run = reference.play_trials(list(PHI), Y, reference.rivals, twin_step(update, C), weight=weight)
    expected = run.mean if average else run.weights
    np.testing.assert_allclose(model.coef_, expected, atol=1e-8)
    np.testing.assert_allclose(model.decision_function(PHI), PHI @ expected, atol=1e-7)
    assert model.predict(PHI).tolist() == (PHI @ model.coef_).argmax(axis=1).tolist()
    totals = model.totals_
    assert (totals.rounds, totals.mistakes, totals.updates) == (run.rounds, run.mistakes, run.updates)


def test_squared_loss_is_pa2():
    model = ClassFeatureClassifier(loss="squared_hinge", C=0.3).partial_fit(PHI, Y)
    run = reference.play_trials(list(PHI), Y, reference.multiclass, reference.each_part(reference.pa2(0.3)))
    np.testing.assert_allclose(model.coef_, run.weights, atol=1e-9)


@pytest.mark.parametrize("update", ["max", "simproj", "simopt", "exact"])
def test_blocks_of_a_class_are_its_prototype(update):
    """4.6 is 4.5 with block features: the multiclass learner without an intercept."""
    X, y = RANDOM.standard_normal((50, 4)), RANDOM.integers(0, 3, 50)
    joint = ClassFeatureClassifier(phi=phi, update=update, C=0.3).partial_fit(X, y, classes=[0, 1, 2])
    prototypes = PassiveAggressiveClassifier(update=update, C=0.3, fit_intercept=False).partial_fit(X, y, [0, 1, 2])
    np.testing.assert_allclose(joint.coef_.reshape(3, 4), prototypes.coef_, atol=1e-9)
    assert joint.totals_.mistakes == prototypes.totals_.mistakes
    np.testing.assert_allclose(joint.decision_function(X), prototypes.decision_function(X), atol=1e-8)


def test_classes_of_an_array_are_named_in_its_order():
    names = np.array(["d", "b", "a", "c"])
    model = ClassFeatureClassifier().fit(PHI, names[Y], classes=names)
    numbers = ClassFeatureClassifier().fit(PHI, Y)
    assert model.classes_.tolist() == names.tolist()
    assert numbers.classes_.tolist() == [0, 1, 2, 3]
    model, numbers = (
        ClassFeatureClassifier().partial_fit(PHI, labels, classes=classes)
        for labels, classes in ((names[Y], names), (Y, None))
    )
    assert model.coef_.tolist() == numbers.coef_.tolist()
    assert model.predict(PHI).tolist() == names[numbers.predict(PHI)].tolist()


def test_float32_stays_float32():
    model = ClassFeatureClassifier().partial_fit(PHI.astype(np.float32), Y)
    assert model.coef_.dtype == np.float32
    np.testing.assert_allclose(model.coef_, ClassFeatureClassifier().partial_fit(PHI, Y).coef_, atol=1e-4)
    model.partial_fit(PHI, Y)


def mail(update="max", **parameters):
    return ClassFeatureClassifier(phi=ClassTermFeatures(), update=update, **parameters)


@pytest.mark.parametrize("update", ["max", "simopt", "exact"])
def test_transformer_learns_during_the_stream(update):
    """Each message has the features from before it was learned.

    Margins of exactly 1 are common here, and rounding decides whether they count; continuous steps are not affected.
    """
    model = mail(update).partial_fit(WORDS, FOLDERS)
    terms = ClassTermFeatures()
    rows, ends, codes = terms.learn_transform(WORDS, FOLDERS)
    trials = [rows[start:stop].toarray() for start, stop in itertools.pairwise(ends)]
    kept = [(trial, code) for trial, code in zip(trials, codes, strict=True) if len(trial) > 1]
    run = reference.play_trials(*zip(*kept, strict=True), reference.rivals, twin_step(update, 1.0))
    np.testing.assert_allclose(model.coef_, run.weights, atol=1e-8)
    assert model.totals_.mistakes == run.mistakes
    assert model.classes_.tolist() == ["home", "lists", "spam", "work"]
    scores = (terms.transform(WORDS) @ model.coef_).reshape(70, 4)
    np.testing.assert_allclose(model.decision_function(WORDS), scores, atol=1e-10)
    assert not hasattr(model.phi, "classes_")  # a copy learned


@given(st.lists(st.integers(0, 70), max_size=4), st.booleans(), st.sampled_from(["transformer", "function"]))
def test_cuts_make_no_difference(cuts, as_sparse, kind):
    """Classes and features appear during the stream."""
    X = sparse.csr_array(WORDS) if as_sparse and kind == "transformer" else WORDS
    source = ClassTermFeatures() if kind == "transformer" else overlap
    whole = ClassFeatureClassifier(phi=source).partial_fit(X, FOLDERS)
    pieces = ClassFeatureClassifier(phi=source)
    ends = sorted({0, 70, *cuts})
    for start, stop in itertools.pairwise(ends):
        pieces.partial_fit(X[start:stop], FOLDERS[start:stop])
        pieces = pickle.loads(pickle.dumps(pieces))
        pieces.predict(X[:2])
    assert pieces.coef_.tolist() == whole.coef_.tolist()
    assert pieces.totals_ == whole.totals_


def overlap(x, label):
    return [x[: len(label)].sum(), float(len(label)), x[0]]


def test_fit_continues_with_warm_start():
    model = mail(warm_start=True, max_iter=2, tol=None, shuffle=False).fit(WORDS, FOLDERS)
    assert model.totals_.rounds == 140
    counts = model._phi.transformer.class_counts_.sum()
    model.fit(WORDS, FOLDERS)
    assert model.totals_.rounds == 280
    assert model._phi.transformer.class_counts_.sum() == 2 * counts
    assert clone(model).fit(WORDS, FOLDERS).totals_.rounds == 140


def test_long_streams_are_read_in_parts():
    X, y = np.tile(WORDS, (8, 1)), np.tile(FOLDERS, 8)
    model = mail().partial_fit(X, y)
    assert model.totals_.rounds == 560
    assert model.coef_.tolist() == mail().partial_fit(X[:10], y[:10]).partial_fit(X[10:], y[10:]).coef_.tolist()
    passes = mail(max_iter=1, tol=None, shuffle=False).fit(X, y)
    assert passes.coef_.tolist() == model.coef_.tolist()


def test_weight_zero_is_a_no_op():
    weight = np.ones(70)
    weight[[0, 5, 6]] = 0
    model = mail().partial_fit(WORDS, FOLDERS, sample_weight=weight)
    rest = weight > 0
    assert model.coef_.tolist() == mail().partial_fit(WORDS[rest], FOLDERS[rest]).coef_.tolist()


@pytest.mark.parametrize(
    ("model", "X", "y", "message"),
    [
        (ClassFeatureClassifier(), PHI[:, 0], Y, "examples x classes x features"),
        (ClassFeatureClassifier(), PHI, Y + 1, r"label 4, which is not among the classes \[0, 1, 2, 3\]"),
        (ClassFeatureClassifier(), PHI, Y[:-1], "the same number of examples; got 60 and 59"),
        (ClassFeatureClassifier(), np.where(PHI > 2, np.nan, PHI), Y, "NaN"),
        (ClassFeatureClassifier(), PHI[:0], Y[:0], "no examples"),
        (ClassFeatureClassifier(phi=3), PHI, Y, "phi must be None, or a function"),
        (ClassFeatureClassifier(phi=lambda x, r: np.ones((2, 2))), PHI, Y, "phi must give a vector"),
        (ClassFeatureClassifier(phi=lambda x, r: np.ones(2 + r)), PHI, Y, "phi must give a vector, of one length"),
        (ClassFeatureClassifier(update="simopt", loss="squared_hinge"), PHI, Y, "needs loss='hinge'"),
        (ClassFeatureClassifier(update="exact", C=np.inf), PHI, Y, "needs a finite C"),
        (ClassFeatureClassifier(update="mira"), PHI, Y, "update must be 'max'"),
        (mail(), np.full((60, 3), np.nan), Y, "NaN"),
        (mail(), WORDS, WORDS[:, 0] / 3, "Unknown label type"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_input(method, model, X, y, message):
    with pytest.raises(ValueError, match=message):
        getattr(clone(model), method)(X, y)


@pytest.mark.parametrize(
    ("model", "X", "y", "bad"),
    [
        (ClassFeatureClassifier(), PHI, Y, PHI[:, :3]),
        (ClassFeatureClassifier(), PHI, Y, PHI[:, :, :5]),
        (ClassFeatureClassifier(phi=lambda x, r: x[0]), PHI, Y, PHI[:, :, :5]),
        (mail(), WORDS, FOLDERS, WORDS[:, :5]),
    ],
)
def test_bad_input_changes_nothing(model, X, y, bad):
    model.partial_fit(X, y)
    before = deepcopy(model)
    new = np.array(["new" if y.dtype.kind == "U" else 3] * len(y))
    with pytest.raises(ValueError, match=r"classes|features|must be"):
        model.partial_fit(bad, new)
    with pytest.raises(ValueError, match=r"classes|features|must be"):
        model.predict(bad)
    assert model.coef_.tolist() == before.coef_.tolist()
    assert model.classes_.tolist() == before.classes_.tolist()
    assert model.totals_ == before.totals_
