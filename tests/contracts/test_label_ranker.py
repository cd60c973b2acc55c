"""LabelRanker behaves like scikit-learn's estimators, and its attributes match what it learned."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import label_ranking_average_precision_score, label_ranking_loss, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from onmargin import LabelRanker, PassiveAggressiveClassifier

X, Y = make_multilabel_classification(80, n_features=6, n_classes=4, random_state=0)
X = StandardScaler().fit_transform(X)
SETS = [set(np.flatnonzero(row).tolist()) for row in Y]
NAMES = np.array(["ash", "birch", "elm", "fir"])
NAMED = [set(NAMES[sorted(labels)].tolist()) for labels in SETS]


# scikit-learn.


class OneColumn(LabelRanker):
    """An adapter for scikit-learn's checks, which have no indicator matrices: one column becomes three of 0 and 1.

    Predictions are one column too: whether the first label is relevant, or its rank.
    """

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, columns(y), sample_weight)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        return super().partial_fit(X, columns(y), sample_weight=sample_weight)

    def predict(self, X):
        return (super().predict(X) if self.calibrate else self.rank(X))[:, :1]

    def score(self, X, y, sample_weight=None):
        return super().score(X, columns(y), sample_weight)


def columns(y):
    return y if y is None else (np.asarray(y).reshape(-1, 1) > [0.5, -1.0, 1.5]).astype(int)


EXPECTED_FAILURES = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "a weight scales C in one round: an example of weight 2 is not two examples",
)


@parametrize_with_checks(
    [
        OneColumn(),
        OneColumn(loss="squared_hinge", average=True),
        OneColumn(update="simopt"),
        OneColumn(update="exact", calibrate=False),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_check_of_scikit_learn(estimator, check):
    check(estimator)


def test_scikit_learn_sees_labels_that_are_not_one_column():
    tags = LabelRanker().__sklearn_tags__()
    assert tags.target_tags.required
    assert tags.target_tags.multi_output
    assert not tags.target_tags.single_output
    assert tags.input_tags.sparse


@pytest.mark.parametrize("labels", [Y, NAMED], ids=["matrix", "sets"])
def test_search_and_cross_validation(labels):
    model = LabelRanker(random_state=0, tol=None, max_iter=3)
    search = GridSearchCV(make_pipeline(StandardScaler(), model), {"labelranker__C": [0.001, 1.0]}, cv=3).fit(X, labels)
    assert len(set(search.cv_results_["mean_test_score"])) == 2
    folds = KFold(3)
    by_hand = []
    for train, test in folds.split(X):
        fitted = clone(model).fit(X[train], [labels[i] for i in train] if labels is NAMED else labels[train])
        by_hand.append(fitted.score(X[test], [labels[i] for i in test] if labels is NAMED else labels[test]))
    assert_array_equal(cross_val_score(model, X, labels, cv=folds), by_hand)


def test_scorers_may_use_the_decision_function():
    scorer = make_scorer(label_ranking_loss, response_method="decision_function", greater_is_better=False)
    model = LabelRanker().partial_fit(X, Y)
    assert scorer(model, X, Y) == -label_ranking_loss(Y, model.decision_function(X))


def test_names_of_features():
    model = LabelRanker().partial_fit(pd.DataFrame(X, columns=list("abcdef")), Y)
    assert model.feature_names_in_.tolist() == list("abcdef")
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(pd.DataFrame(X, columns=list("abcdeg")), Y)


@pytest.mark.parametrize("calibrate", [True, False])
def test_pickled_models_continue_and_clones_are_untrained(calibrate):
    model = LabelRanker(average=True, calibrate=calibrate).partial_fit(X[:40], NAMED[:40])
    copy = pickle.loads(pickle.dumps(model))
    for one in (model, copy):
        one.partial_fit(X[40:], [labels | {"zebrano"} for labels in NAMED[40:]])
    assert_array_equal(copy.coef_, model.coef_)
    assert_array_equal(copy.intercept_, model.intercept_)
    assert copy.classes_.tolist() == [*NAMES, "zebrano"]
    assert copy.totals_ == model.totals_
    assert vars(clone(model)).keys() == model.get_params().keys()


def test_warm_start_continues():
    """Two fits of one pass equal one fit of two passes; the second may have new labels."""
    options = {"max_iter": 1, "tol": None, "shuffle": False}
    warm = LabelRanker(warm_start=True, **options).fit(X, NAMED).fit(X, NAMED)
    assert_array_equal(warm.coef_, LabelRanker(**options | {"max_iter": 2}).fit(X, NAMED).coef_)
    assert warm.fit(X[:2], [{"yew"}, {"ash"}]).classes_.tolist() == [*NAMES, "yew"]
    cold = LabelRanker(**options).fit(X, NAMED).fit(X[:2], [{"yew"}, {"ash"}])
    assert cold.classes_.tolist() == ["ash", "yew"]


# Parameters set between calls: scores are (s, 0, ..., -s), and the margin of the second row is too small by 2 s.
@pytest.mark.parametrize(
    ("change", "tau"),
    [({"C": 0.125}, 0.125), ({"C": 1.0, "loss": "squared_hinge"}, 2 / (2 + 1 / 2)), ({"update": "simproj"}, 1.0)],
    ids=str,
)
def test_obeys_parameters_set_between_calls(change, tau):
    model = LabelRanker(C=np.inf, fit_intercept=False, calibrate=False).partial_fit([[1.0]], np.array([[1, 0]]))
    assert_allclose(model.coef_, [[0.5], [-0.5]])
    model.set_params(**change).partial_fit([[1.0]], np.array([[0, 1]]))
    assert_allclose(model.coef_, [[0.5 - tau], [-0.5 + tau]])


# Results.


def test_a_round_by_hand():
    """From zero weights with x = 2, the first of the two pairs of label 0, with label 1, moves."""
    model = LabelRanker(C=np.inf, fit_intercept=False).partial_fit([[2.0]], np.array([[1, 0]]))
    assert_allclose(model._learner.geometry.weights, [[0.25], [-0.25], [0.0]])
    assert_allclose(model.coef_, [[0.25], [-0.25]])
    assert_allclose(model.decision_function([[2.0]]), [[0.5, -0.5]])
    assert model.predict([[2.0], [-2.0]]).tolist() == [[1, 0], [0, 1]]
    assert model.rank([[2.0], [-2.0], [0.0]]).tolist() == [[1, 2], [2, 1], [1, 2]]


@pytest.mark.parametrize("kind", [{}, {"average": True}, {"calibrate": False}, {"update": "simopt"}], ids=str)
def test_decision_function_equals_coef_and_intercept(kind):
    model = LabelRanker(**kind).partial_fit(X, Y)
    assert model.coef_.shape == (4, 6)
    assert model.intercept_.shape == (4,)
    assert model.t_ == 81
    assert_allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_, atol=1e-12)


def test_ranks_are_those_of_the_scores():
    model = LabelRanker().partial_fit(X, NAMED)
    scores, ranks = model.decision_function(X), model.rank(X)
    assert (np.sort(ranks, axis=1) == [1, 2, 3, 4]).all()
    assert (np.diff(np.take_along_axis(scores, ranks.argsort(axis=1), axis=1), axis=1) <= 0).all()
    assert model.rank(np.zeros((1, 6))).dtype.kind == "i"
    untouched = LabelRanker(fit_intercept=False).partial_fit(np.zeros((1, 6)), Y[:1])
    assert untouched.rank(X[:1]).tolist() == [[1, 2, 3, 4]]


def test_predictions_have_the_form_of_the_labels():
    matrix, numbers, names = (LabelRanker().partial_fit(X, labels) for labels in (Y, SETS, NAMED))
    numbers, names = (LabelRanker().partial_fit(X, L, classes=c) for L, c in ((SETS, range(4)), (NAMED, NAMES)))
    predicted = matrix.predict(X)
    assert predicted.dtype.kind == "i"
    assert_array_equal(predicted, matrix.decision_function(X) > 0)
    assert 0.2 < (predicted == Y).all(axis=1).mean() < 1  # the comparison is not trivial
    assert numbers.predict(X) == [set(np.flatnonzero(row).tolist()) for row in predicted]
    assert names.predict(X) == [set(NAMES[np.flatnonzero(row)].tolist()) for row in predicted]


def test_both_forms_may_follow_each_other():
    sets = LabelRanker().partial_fit(X[:40], SETS[:40], classes=range(4)).partial_fit(X[40:], Y[40:])
    matrix = LabelRanker().partial_fit(X[:40], Y[:40]).partial_fit(X[40:], SETS[40:])
    assert_array_equal(sets.coef_, matrix.coef_)
    assert isinstance(sets.predict(X), list)
    assert isinstance(matrix.predict(X), np.ndarray)


def test_uncalibrated_rankers_do_not_predict_sets():
    model = LabelRanker(calibrate=False).partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"use rank or decision_function, or learn with LabelRanker\(calibrate=True\)"):
        model.predict(X)
    for method in ("predict", "rank", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(LabelRanker(calibrate=False), method)(X)


@pytest.mark.parametrize("labels", [Y, sparse.csr_array(Y), SETS], ids=["dense", "sparse", "sets"])
def test_score_is_average_precision(labels):
    model = LabelRanker().partial_fit(X, Y)
    weight = np.arange(80.0)
    scores = model.decision_function(X)
    assert model.score(X, labels) == label_ranking_average_precision_score(Y, scores)
    expected = label_ranking_average_precision_score(Y, scores, sample_weight=weight)
    assert model.score(X, labels, sample_weight=weight) == expected


def test_labels_never_learned_rank_last_in_the_score():
    model = LabelRanker(fit_intercept=False).partial_fit([[1.0]], [{"b"}], classes=["b", "c"])
    assert model.score([[1.0]], [{"b"}]) == 1
    assert model.score([[1.0]], [{"a"}]) == pytest.approx(1 / 3)
    assert model.score([[1.0]], [{"b", "a"}]) == pytest.approx((1 + 2 / 3) / 2)


@pytest.mark.parametrize("relevant", [0, 1], ids=["empty", "full"])
@pytest.mark.parametrize("update", ["max", "simperc", "conproj", "simproj", "simopt", "conopt", "exact"])
def test_empty_and_full_sets_have_no_loss_without_a_calibration_label(update, relevant):
    model = LabelRanker(update=update, calibrate=False).partial_fit(X, Y)
    before, totals = model.coef_.copy(), model.totals_
    model.partial_fit(X, np.full_like(Y, relevant))
    assert_array_equal(model.coef_, before)
    assert model.totals_.rounds == totals.rounds + 80
    assert (model.totals_.loss, model.totals_.mistakes) == (totals.loss, totals.mistakes)


@pytest.mark.parametrize("relevant", [0, 1], ids=["empty", "full"])
@pytest.mark.parametrize("update", ["max", "simperc", "conproj", "simproj", "simopt", "conopt"])
def test_empty_and_full_sets_are_learned_against_the_calibration_label(update, relevant):
    labels = np.full((80, 4), relevant)
    model = LabelRanker(update=update)
    for _ in range(10):
        model.partial_fit(X, labels)
    assert model.totals_.updates > 0
    assert_array_equal(model.predict(X), labels)


def test_one_label_against_the_calibration_label_is_binary():
    """Both move, in opposite directions: their difference moves twice as far per step."""
    model = LabelRanker(C=0.1).partial_fit(X, Y[:, :1])
    binary = PassiveAggressiveClassifier(C=0.2).partial_fit(X, Y[:, 0], classes=[0, 1])
    assert_allclose(model.coef_, binary.coef_, atol=1e-12)
    assert_allclose(model.intercept_, binary.intercept_, atol=1e-12)
    assert_array_equal(model.predict(X)[:, 0], binary.predict(X))


def test_streams_that_begin_without_labels():
    """All rounds are counted, also those before the first label."""
    for calibrate in (True, False):
        model = LabelRanker(calibrate=calibrate).partial_fit(X[:5], [[]] * 5)
        assert model.decision_function(X).shape == (80, 0)
        assert model.coef_.shape == (0, 6)
        model.sparsify().densify()
        model.partial_fit(X, NAMED)
        assert model.classes_.tolist() == NAMES.tolist()
        assert model.t_ == 86


@pytest.mark.parametrize("kind", [{}, {"average": True}, {"calibrate": False}], ids=str)
def test_sparsify_and_densify(kind):
    model, expected = (LabelRanker(**kind).partial_fit(X, Y) for _ in range(2))
    model.sparsify()
    assert sparse.issparse(model.coef_)
    assert_allclose(model.coef_.toarray(), expected.coef_)
    assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-12)
    assert_allclose(model.densify().coef_, expected.coef_)
    assert_allclose(model.intercept_, expected.intercept_)
    if "average" not in kind:  # averaging restarts when weights are set
        for one in (model.sparsify(), expected):
            one.partial_fit(-X, Y)
        assert_allclose(model.coef_, expected.coef_, atol=1e-9)


def test_weights_may_be_given():
    model = LabelRanker().partial_fit(X, Y)
    coef = np.arange(24.0).reshape(4, 6)
    model.coef_, model.intercept_ = coef, [1.0, 2.0, 3.0, 4.0]
    assert_array_equal(model.coef_, coef)
    assert_allclose(model.decision_function(X), X @ coef.T + [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(ValueError, match=r"coef_ must have shape \(4, 6\), got \(5, 6\)"):
        model.coef_ = np.zeros((5, 6))


@pytest.mark.parametrize("update", ["simopt", "conopt"])
def test_weights_that_grow_without_end_do_not_hang(update):
    """Without a bound on C the steps of all pairs add up and overshoot, until weights overflow."""
    X, Y = np.array([[1.0, 0.0], [-0.9, 0.436]]), np.eye(8)[[0, 1]] + np.eye(8)[[2, 3]]
    model = LabelRanker(C=np.inf, update=update, calibrate=False, fit_intercept=False)
    with np.errstate(all="ignore"):
        for _ in range(400):
            model.partial_fit(X, Y)
    assert model.totals_.rounds == 800
