"""ClassFeatureClassifier with label sets and with costs, for given, computed and learned features."""

import itertools
from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import label_ranking_average_precision_score

from onmargin import ClassFeatureClassifier, LabelRanker, PassiveAggressiveClassifier, reference
from onmargin.features import ClassTermFeatures
from tests.trials import SIMPLEX_TWINS, UPDATES, twin_step

RANDOM = np.random.default_rng(0)
N, K, D = 50, 5, 6
PHI = RANDOM.standard_normal((N, K, D))
PHI[7, 1] = PHI[7, 2]  # a pair without a direction
PHI[8] = np.round(PHI[8])
RELEVANT = PHI @ RANDOM.standard_normal(D) + RANDOM.standard_normal((N, K)) > 0.5
RELEVANT[3], RELEVANT[4] = False, True
SETS = [set(np.flatnonzero(row).tolist()) for row in RELEVANT]
ONE = RANDOM.integers(0, K, N)
COST = RANDOM.integers(0, 5, (K, K)) * (1.0 - np.eye(K))
X = RANDOM.standard_normal((N, 3))


def block(x, label):
    """Return block features: the example at the place of its class."""
    return np.kron(np.arange(K) == label, x).astype(float)


def twin(trials, sets, step, weight=None):
    """Return the reference run over the trials with a pair; the others have no loss."""
    kept = [i for i, (trial, labels) in enumerate(zip(trials, sets, strict=True)) if 0 < len(labels) < len(trial)]
    return reference.play_trials(
        [trials[i] for i in kept],
        [sorted(sets[i]) for i in kept],
        reference.label_pairs(),
        step,
        weight=None if weight is None else weight[kept],
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [0.02, 0.3, 5.0])
@pytest.mark.parametrize("update", UPDATES)
def test_sets_equal_twin(update, C, weighted):
    weight = 0.5 + RANDOM.random(N) if weighted else None
    model = ClassFeatureClassifier(update=update, C=C).partial_fit(PHI, SETS, sample_weight=weight)
    run = twin(list(PHI), SETS, twin_step(update, C), weight)
    np.testing.assert_allclose(model.coef_, run.weights, atol=1e-7)
    totals = model.totals_
    assert (totals.rounds, totals.mistakes, totals.updates) == (N, run.mistakes, run.updates)
    assert (totals.loss, totals.dual_value) == pytest.approx((run.loss, run.dual_value), rel=1e-7)


def test_squared_loss_is_pa2_of_the_worst_pair():
    model = ClassFeatureClassifier(C=0.3, loss="squared_hinge").partial_fit(PHI, SETS)
    kept = [i for i in range(N) if 0 < len(SETS[i]) < K]
    step = reference.each_part(reference.pa2(0.3))
    run = reference.play_trials(PHI[kept], [sorted(SETS[i]) for i in kept], reference.label_ranking(), step)
    np.testing.assert_allclose(model.coef_, run.weights, atol=1e-9)


@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("update", UPDATES)
def test_blocks_of_sets_are_the_label_ranker(update, C):
    """4.5 with block features is 4.6: prototypes, without an intercept and without a calibration label.

    Weights start at random values: from zero there are ties, which rounding breaks differently.
    """
    start = RANDOM.standard_normal((K, 3))
    joint = ClassFeatureClassifier(phi=block, update=update, C=C).partial_fit(X[:1], SETS[:1], classes=range(K))
    ranker = LabelRanker(update=update, C=C, calibrate=False, fit_intercept=False)
    ranker.partial_fit(X[:1], SETS[:1], classes=range(K))
    joint.coef_, ranker.coef_ = start.ravel(), start
    joint.partial_fit(X, SETS)
    ranker.partial_fit(X, SETS)
    np.testing.assert_allclose(joint.coef_.reshape(K, 3), ranker.coef_, atol=1e-9)
    assert joint.totals_.mistakes == ranker.totals_.mistakes
    assert joint.totals_.dual_value == pytest.approx(ranker.totals_.dual_value)
    np.testing.assert_allclose(joint.decision_function(X), ranker.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("max_loss", [False, True])
@pytest.mark.parametrize(("C", "loss"), [(0.3, "hinge"), (0.3, "squared_hinge"), (np.inf, "hinge")])
def test_costs_equal_twin_and_prototypes(C, loss, max_loss):
    options = {"C": C, "loss": loss, "cost": COST, "cost_update": "max_loss" if max_loss else "prediction"}
    model = ClassFeatureClassifier(**options).partial_fit(PHI, ONE)
    step = reference.each_part(reference.pa2(C) if loss == "squared_hinge" else reference.pa1(C))
    run = reference.play_trials(list(PHI), ONE, reference.cost_sensitive(COST, max_loss=max_loss), step)
    np.testing.assert_allclose(model.coef_, run.weights, atol=1e-8)
    predictions = [PHI[i] @ ClassFeatureClassifier(**options).partial_fit(PHI[:i], ONE[:i]).coef_ for i in range(1, N)]
    paid = COST[ONE[0], 0] + COST[ONE[1:], np.argmax(predictions, axis=1)].sum()
    assert model.totals_.cost == pytest.approx(paid)
    joint = ClassFeatureClassifier(phi=block, **options).partial_fit(X, ONE, classes=range(K))
    prototypes = PassiveAggressiveClassifier(fit_intercept=False, **options).partial_fit(X, ONE, classes=range(K))
    np.testing.assert_allclose(joint.coef_.reshape(K, 3), prototypes.coef_, atol=1e-9)
    assert joint.totals_.cost == prototypes.totals_.cost


def test_forms_of_the_same_sets():
    indicator = RELEVANT.astype(int)
    expected = ClassFeatureClassifier().partial_fit(PHI, SETS).coef_.tolist()
    for Y in (indicator, sparse.csr_matrix(indicator), [sorted(labels) for labels in SETS]):
        assert ClassFeatureClassifier().partial_fit(PHI, Y).coef_.tolist() == expected
    names = np.array(["d", "b", "e", "a", "c"])
    named = [set(names[list(labels)].tolist()) for labels in SETS]
    model = ClassFeatureClassifier().partial_fit(PHI, named, classes=names)
    assert model.coef_.tolist() == expected
    assert model.classes_.tolist() == names.tolist()
    passes = ClassFeatureClassifier(max_iter=1, tol=None, shuffle=False).fit(PHI, SETS)
    assert passes.coef_.tolist() == expected


WORDS = sparse.csr_matrix(RANDOM.poisson(0.4, (N, 20)))
TOPICS = [{"abcde"[r] for r in labels} for labels in SETS]


@pytest.mark.parametrize("kind", ["additive", "multiplicative", "tfidf"])
@pytest.mark.parametrize("update", ["max", "exact"])
def test_transformer_learns_sets_during_the_stream(update, kind):
    """Labels appear during the stream, and how the stream is cut makes no difference."""
    source = ClassTermFeatures(kind=kind)
    model = ClassFeatureClassifier(phi=source, update=update).partial_fit(WORDS, TOPICS, classes=["a"])
    terms = clone(source)
    rows, ends, codes = terms.learn_transform(WORDS, TOPICS, classes=["a"])
    trials = [rows[start:stop].toarray() for start, stop in itertools.pairwise(ends)]
    offsets = np.cumsum([0, *map(len, TOPICS)])
    own = [codes[start:stop].tolist() for start, stop in itertools.pairwise(offsets)]
    np.testing.assert_allclose(model.coef_, twin(trials, own, twin_step(update, 1.0)).weights, atol=1e-7)
    pieces = ClassFeatureClassifier(phi=source, update=update)
    for start, stop in ((0, 11), (11, 12), (12, N)):
        pieces.partial_fit(WORDS[start:stop], TOPICS[start:stop], classes=["a"])
    assert pieces.coef_.tolist() == model.coef_.tolist()
    assert pieces.totals_ == model.totals_
    assert model.classes_.tolist() == list("abcde")


@pytest.mark.parametrize("update", ["max", "simperc", "conproj", "simproj"])
def test_sets_on_the_simplex(update):
    rows = np.abs(PHI)
    model = ClassFeatureClassifier(geometry="entropic", update=update, C=0.5).partial_fit(rows, SETS)
    asked = reference.label_pairs()

    def task(scores, y):
        halfspaces, mistake = asked(scores, y)
        return [h._replace(loss=h.loss - 0.9) for h in halfspaces], mistake

    kept = [i for i in range(N) if 0 < len(SETS[i]) < K]
    trials, targets = rows[kept], [sorted(SETS[i]) for i in kept]
    run = reference.play_additive_trials(trials, targets, task, SIMPLEX_TWINS[update], reference.entropic(), C=0.5)
    np.testing.assert_allclose(model.coef_, run.weights, atol=1e-7)


def test_costs_cover_all_classes_of_a_call():
    """Classes of a call are known from its first example on; with a dict of costs, more may appear in the next call."""
    cost = {"home": {"work": 3.0}}
    folders = np.array(["work", "home", "spam"])[RANDOM.integers(0, 3, N)]
    first = folders != "spam"
    model = ClassFeatureClassifier(phi=ClassTermFeatures(), cost=cost).partial_fit(WORDS[first], folders[first])
    model.partial_fit(WORDS[~first], folders[~first])
    assert model.classes_.tolist() == ["home", "spam", "work"]
    matrix = ClassFeatureClassifier(phi=ClassTermFeatures(), cost=[[0, 1], [2, 0]])
    matrix.partial_fit(WORDS[first], folders[first])
    before = deepcopy(matrix)
    with pytest.raises(ValueError, match=r"cost must have shape \(3, 3\)"):
        matrix.partial_fit(WORDS[~first], folders[~first])
    assert matrix._phi.transformer.class_counts_.tolist() == before._phi.transformer.class_counts_.tolist()
    assert matrix.coef_.tolist() == before.coef_.tolist()


def test_one_label_and_sets_in_turn():
    model = ClassFeatureClassifier().partial_fit(PHI[:20], SETS[:20]).partial_fit(PHI[20:], ONE[20:])
    alone = [{label} for label in ONE[20:].tolist()]
    sets = ClassFeatureClassifier().partial_fit(PHI[:20], SETS[:20]).partial_fit(PHI[20:], alone)
    np.testing.assert_allclose(model.coef_, sets.coef_, atol=1e-12)
    assert model.predict(PHI).tolist() == PHI.dot(model.coef_).argmax(axis=1).tolist()


def test_precision_of_the_ranking_is_the_score_of_sets():
    model = ClassFeatureClassifier().partial_fit(PHI, SETS)
    scores = model.decision_function(PHI)
    assert model.score(PHI, SETS) == pytest.approx(label_ranking_average_precision_score(RELEVANT, scores))
    assert model.score(PHI, ONE) == pytest.approx((model.predict(PHI) == ONE).mean())
    assert (model.rank(PHI).argmin(axis=1) == scores.argmax(axis=1)).all()


@pytest.mark.parametrize(
    ("model", "Y", "message"),
    [
        (ClassFeatureClassifier(cost=COST), SETS, "one label per example"),
        (ClassFeatureClassifier(geometry="entropic", update="simopt"), SETS, "needs one label per example"),
        (ClassFeatureClassifier(cost=COST[:3, :3]), ONE, r"cost must have shape \(5, 5\)"),
        (ClassFeatureClassifier(cost=COST, update="exact"), ONE, "cost needs update='max'"),
        (ClassFeatureClassifier(cost=COST, margin=2.0), ONE, "margin"),
        (ClassFeatureClassifier(), RELEVANT[:, :4], "Y must have 5 columns"),
        (ClassFeatureClassifier(), [{7}] * N, "label 7, which is not among"),
        (ClassFeatureClassifier(), SETS[:-1], "the same number of examples"),
        (ClassFeatureClassifier(), [{"a"}, *SETS[1:]], "all strings or all integers"),
        (ClassFeatureClassifier(phi=block), [set()] * N, "no class is known yet"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_input(method, model, Y, message):
    with pytest.raises(ValueError, match=message):
        getattr(clone(model), method)(PHI if model.phi is None else X, Y)
