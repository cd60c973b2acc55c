"""Public API of QuasiAdditiveClassifier, Perceptron, PNormPerceptron and Winnow."""

import pickle
from math import inf, log, nan

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from onmargin import Perceptron, PNormPerceptron, QuasiAdditiveClassifier, Winnow
from tests.streams import public_state

EXPECTED_FAILURES = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "a weight scales C in one round: an example of weight 2 is not two examples",
)
random = np.random.default_rng(0)
X = random.standard_normal((80, 6))
TWO, FOUR = (X[:, 0] > 0.2 * X[:, 1]).astype(int), X[:, :4].argmax(axis=1)
MODELS = {
    "euclidean": QuasiAdditiveClassifier(),
    "intercept": QuasiAdditiveClassifier(fit_intercept=True, step="aggressive"),
    "entropic": QuasiAdditiveClassifier(geometry="entropic", C=0.2),
    "simplex": QuasiAdditiveClassifier(geometry="entropic", balanced=False, C=0.2),
    "pnorm": QuasiAdditiveClassifier(geometry="pnorm", p=3.0, step="aggressive"),
    "Perceptron": Perceptron(),
    "PNormPerceptron": PNormPerceptron(),
    "Winnow": Winnow(balanced=True),
    "Winnow of positive rows": Winnow(),
}
every = pytest.mark.parametrize("name", MODELS)


def rows_for(name):
    return np.abs(X) if name == "Winnow of positive rows" else X


@parametrize_with_checks(
    [
        QuasiAdditiveClassifier(fit_intercept=True),
        QuasiAdditiveClassifier(fit_intercept=True, step="aggressive", C=0.1, shuffle=False),
        QuasiAdditiveClassifier(geometry="pnorm", p=3.0),
        QuasiAdditiveClassifier(geometry="entropic", C=0.1),
        Perceptron(),
        PNormPerceptron(),
        Winnow(balanced=True),
    ],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (QuasiAdditiveClassifier(geometry="pnorm", p=1.9), "p must be a number at least 2"),
        (QuasiAdditiveClassifier(geometry="pnorm", p=inf), "p must be a number at least 2 and at most 500"),
        (PNormPerceptron(p=1.0), "p must be a number at least 2"),
        (PNormPerceptron(p=nan), "p must be a number at least 2"),
        (PNormPerceptron(p="large"), "p must be a number at least 2"),
        (QuasiAdditiveClassifier(geometry="sphere"), "geometry must be 'euclidean' or 'entropic' or 'pnorm'"),
        (QuasiAdditiveClassifier(step="newton"), "step must be 'fixed' or 'aggressive' or 'optimal'"),
        (QuasiAdditiveClassifier(C=0.0), "C must be a number greater than 0"),
        (QuasiAdditiveClassifier(C=-1.0), "C must be a number greater than 0"),
        (QuasiAdditiveClassifier(C=inf), "C must be a number greater than 0 and less than inf"),
        (QuasiAdditiveClassifier(C=nan), "C must be a number greater than 0"),
        (Perceptron(C=inf), "C must be a number greater than 0 and less than inf"),
        (QuasiAdditiveClassifier(margin=0.0), "margin must be a number greater than 0"),
        (QuasiAdditiveClassifier(margin=inf), "margin must be a number greater than 0"),
        (QuasiAdditiveClassifier(balanced="yes"), "balanced must be True or False"),
        (Winnow(margin=-0.1), "margin must be a number greater than 0"),
        (Winnow(margin=None), "margin must be a number greater than 0"),
        (Winnow(threshold=0.0), "threshold must be a number greater than 0"),
        (Winnow(rate=0.0), "rate must be a number greater than 0"),
        (Winnow(rate=-1.0), "rate must be a number greater than 0"),
        (Winnow(rate=inf), "rate must be a number greater than 0"),
        (QuasiAdditiveClassifier(geometry="pnorm", fit_intercept=True), "fit_intercept needs geometry='euclidean'"),
        (QuasiAdditiveClassifier(geometry="entropic", fit_intercept=True), "fit_intercept needs geometry='euclidean'"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_parameters(method, model, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        getattr(model, method)(X, TWO)
    assert not hasattr(model, "classes_")


def test_all_bad_parameters_at_once():
    with pytest.raises(ValueError, match=r"(?s)geometry must be.*C must be"):
        QuasiAdditiveClassifier(C=-1.0, geometry="sphere").fit(X, TWO)


@pytest.mark.parametrize("container", [np.ascontiguousarray, sparse.csr_array])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_winnow_refuses_negative_rows(method, container):
    with pytest.raises(ValueError, match="balanced=True") as error:
        getattr(Winnow(), method)(container(X), TWO)
    assert f"{X.min():g}" in str(error.value)
    getattr(Winnow(balanced=True), method)(container(X), TWO)
    getattr(Winnow(), method)(container(np.abs(X)), TWO)


def test_winnow_refuses_them_later():
    model = Winnow().partial_fit(np.abs(X), TWO)
    before = public_state(model)
    with pytest.raises(ValueError, match="balanced=True"):
        model.partial_fit(X, TWO)
    assert public_state(model) == before


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("container", [np.ascontiguousarray, sparse.csr_array])
def test_winnow_accepts_them_with_weight_zero(container, method):
    rows, weight = np.abs(X), (X[:, 0] > 0).astype(float)
    options = {"shuffle": False, "max_iter": 2, "tol": None}
    mixed = np.where(weight[:, None] > 0, rows, -rows)
    model = getattr(Winnow(**options), method)(container(mixed), TWO, sample_weight=weight)
    assert model.coef_.tolist() == getattr(Winnow(**options), method)(rows, TWO, sample_weight=weight).coef_.tolist()
    with pytest.raises(ValueError, match="NaN"):
        getattr(model, method)(container(np.where(weight[:, None] > 0, rows, nan)), TWO, sample_weight=weight)


@every
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (lambda x, y: (x * nan, y), "NaN"),
        (lambda x, y: (x[:, :3], y), "features"),
        (lambda x, y: (x, y[:-1]), "inconsistent numbers of samples"),
        (lambda x, y: (x, y + 0.5), "continuous"),
        (lambda x, y: (x, y.astype(str)), "all strings or all numbers"),
    ],
    ids=["nan", "features", "length", "continuous", "strings"],
)
def test_a_call_that_raises_changes_nothing(name, bad, message):
    rows = rows_for(name)
    model = clone(MODELS[name]).partial_fit(rows, FOUR, classes=range(4))
    before, learner = public_state(model), pickle.dumps(model._learner.geometry)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(*bad(rows, FOUR))
    assert public_state(model) == before
    assert pickle.dumps(model._learner.geometry) == learner
    whole = clone(MODELS[name]).partial_fit(np.vstack([rows, rows]), np.concatenate([FOUR, FOUR]), classes=range(4))
    assert public_state(model.partial_fit(rows, FOUR, classes=range(4))) == public_state(whole)


@every
def test_bad_parameters_later_change_nothing(name):
    model = clone(MODELS[name]).partial_fit(rows_for(name), TWO)
    before = public_state(model)
    model.max_iter = -1
    with pytest.raises(ValueError, match="max_iter must be"):
        model.partial_fit(rows_for(name), TWO)
    assert public_state(model) == before


@every
def test_one_class(name):
    """`fit` needs two; a stream may begin with one, which is the first of two unless the geometry is not symmetric."""
    rows = rows_for(name)
    model = clone(MODELS[name])
    with pytest.raises(ValueError, match="one class only") as error:
        model.fit(rows, np.zeros(80, int))
    assert "classes=" in str(error.value)
    assert not hasattr(model, "classes_")
    model = clone(MODELS[name]).partial_fit(rows[:1], [1], classes=[1, 0])
    assert model.classes_.tolist() == [0, 1]
    assert model.predict(rows).shape == (80,)
    model = clone(MODELS[name]).partial_fit(rows[:1], [1])
    assert model.predict(rows[:2]).tolist() == [1, 1]
    assert model.totals_.updates == (name not in {"simplex", "Winnow of positive rows"})
    assert model.partial_fit(rows, TWO).classes_.tolist() == [0, 1]


@every
def test_classes_may_be_named_before_they_occur(name):
    rows, names = rows_for(name), np.array(["a", "b", "c", "d"])
    whole = clone(MODELS[name]).partial_fit(rows, names[FOUR], classes=names)
    told = (
        clone(MODELS[name]).partial_fit(rows[:3], names[FOUR[:3]], classes=names).partial_fit(rows[3:], names[FOUR[3:]])
    )
    assert public_state(whole) == public_state(told)


@pytest.mark.parametrize("name", ["simplex", "Winnow of positive rows"])
def test_one_vector_for_two_classes_cannot_become_three(name):
    """However the stream is cut: a call that meets three classes is refused like the calls with one row each."""
    model = clone(MODELS[name])
    with pytest.raises(ValueError, match="cannot become three: name all classes with classes="):
        model.partial_fit(rows_for(name), FOUR)
    assert not hasattr(model, "classes_")


def with_pairs(name):
    """Return a model of two classes and the rows it learned."""
    return clone(MODELS[name]).partial_fit(rows_for(name), np.array(["b", "d"])[TWO]), rows_for(name)


@every
def test_a_third_class_does_not_change_the_others(name):
    model, rows = with_pairs(name)
    before = model.decision_function(rows)
    if name in {"simplex", "Winnow of positive rows"}:
        state = public_state(model)
        with pytest.raises(ValueError, match="cannot become three: name all classes with classes="):
            model.partial_fit(rows[:1], ["c"])
        assert public_state(model) == state
        return
    model._model.add_labels(np.array(["c"]))
    scores = rows @ model.coef_.T + model.intercept_
    margin = scores[:, 2] - scores[:, 0]
    ratio = margin / before
    np.testing.assert_allclose(ratio, ratio[0])
    assert 0 < ratio[0] <= 1 + 1e-12
    if name not in {"entropic", "Winnow"}:  # where all classes share the simplex
        assert ratio[0] == pytest.approx(1)
    assert not scores[:, 1].any()


@every
def test_a_fourth_class_does_not_change_the_others(name):
    rows = rows_for(name)
    model = clone(MODELS[name]).partial_fit(
        rows, np.array(["a", "c", "d"])[np.minimum(FOUR, 2)], classes=["a", "c", "d"]
    )
    before = model.decision_function(rows)
    model.partial_fit(rows[:1], ["b"], sample_weight=[1e-300])
    scores = model.decision_function(rows)[:, [0, 2, 3]]
    ratio = (scores[:, 0] - scores[:, 1]) / (before[:, 0] - before[:, 1])
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
    assert model.classes_.tolist() == ["a", "b", "c", "d"]


@every
@pytest.mark.parametrize("labels", [TWO, FOUR], ids=["two", "four"])
@pytest.mark.parametrize("container", [np.ascontiguousarray, sparse.csr_array])
def test_weights_reproduce_the_scores(container, labels, name):
    rows = rows_for(name)
    model = clone(MODELS[name]).partial_fit(container(rows), labels, classes=np.unique(labels))
    k = 1 if labels is TWO else 4
    assert model.coef_.shape == (k, 6)
    assert model.intercept_.shape == (k,)
    scores = rows @ model.coef_.T + model.intercept_
    shown = model.decision_function(container(rows))
    np.testing.assert_allclose(shown, scores if k > 1 else scores[:, 0], rtol=1e-9, atol=1e-12)
    best = shown.argmax(axis=1) if k > 1 else (shown >= 0).astype(int)
    assert model.predict(container(rows)).tolist() == best.tolist()
    if name != "Winnow of positive rows":  # whose labels are nearly independent of them
        assert (model.predict(rows) == labels).mean() > (0.4 if k > 1 else 0.6)
    if name in ("entropic", "Winnow"):
        assert np.abs(model.coef_).sum() <= 1 + 1e-12
    if name in ("simplex", "Winnow of positive rows"):
        assert model.coef_.sum() == pytest.approx(1)
        assert (model.coef_ >= 0).all()


def test_threshold_of_winnow():
    """It is minus the intercept with two classes; with more classes or balanced weights there is none."""
    assert Winnow().partial_fit(np.abs(X), TWO).intercept_.tolist() == [-0.5]
    assert Winnow(threshold=0.2).partial_fit(np.abs(X), TWO).intercept_.tolist() == [-0.2]
    assert Winnow().partial_fit(np.abs(X), FOUR, classes=range(4)).intercept_.tolist() == [0.0] * 4
    assert Winnow(balanced=True).partial_fit(X, TWO).intercept_.tolist() == [0.0]


@every
def test_fit_and_warm_start(name):
    rows, options = rows_for(name), {"shuffle": False, "tol": None}
    two_passes = clone(MODELS[name]).set_params(max_iter=2, **options).fit(rows, FOUR)
    warm = clone(MODELS[name]).set_params(max_iter=1, warm_start=True, **options).fit(rows, FOUR).fit(rows, FOUR)
    streamed = clone(MODELS[name]).partial_fit(rows, FOUR, classes=range(4)).partial_fit(rows, FOUR)
    assert public_state(streamed) == public_state(warm)
    assert (2 * two_passes.class_counts_ == warm.class_counts_).all()  # the examples of its passes count once
    two_passes._model.labels = warm._model.labels
    assert public_state(warm) == public_state(two_passes)


@every
def test_examples_of_weight_zero_are_ignored(name):
    rows, weight = rows_for(name), np.arange(80) % 3 / 2.0
    model = clone(MODELS[name]).partial_fit(rows, FOUR, sample_weight=weight, classes=range(4))
    kept = weight > 0
    same = clone(MODELS[name]).partial_fit(rows[kept], FOUR[kept], sample_weight=weight[kept], classes=range(4))
    assert public_state(model) == public_state(same)
    strange = np.where(kept, FOUR, 9)
    model = clone(MODELS[name]).partial_fit(rows, strange, sample_weight=weight, classes=range(4))
    assert model.classes_.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("labels", [TWO, FOUR], ids=["two", "four"])
@pytest.mark.parametrize("C", [2.0**-40, 0.5, 8.0, 2.0**60])
def test_predictions_of_the_perceptron_do_not_depend_on_c(C, labels):
    """For powers of two, they are equal bit for bit."""
    one, other = Perceptron().partial_fit(X, labels), Perceptron(C=C).partial_fit(X, labels)
    assert one.totals_.mistakes == other.totals_.mistakes
    assert (C * one.coef_).tolist() == other.coef_.tolist()
    assert (C * one.intercept_).tolist() == other.intercept_.tolist()


@pytest.mark.parametrize("labels", [TWO, FOUR], ids=["two", "four"])
@pytest.mark.parametrize("p", [2.0, 3.0, 7.3, 50.0])
@pytest.mark.parametrize("C", [2.0**-40, 0.3, 8.0, 2.0**60])
def test_predictions_of_p_norms_do_not_depend_on_c(C, p, labels):
    one, other = PNormPerceptron(p=p).partial_fit(X, labels), PNormPerceptron(p=p, C=C).partial_fit(X, labels)
    assert one.totals_.mistakes == other.totals_.mistakes
    assert one.predict(X).tolist() == other.predict(X).tolist()
    np.testing.assert_allclose(C * one.coef_, other.coef_, rtol=1e-9)


def test_predictions_of_the_simplex_do_depend_on_c():
    """Section 7."""
    some, more = (Winnow(rate=rate, balanced=True).partial_fit(X, TWO) for rate in (0.01, 1.0))
    assert some.totals_.mistakes != more.totals_.mistakes


def test_special_cases_are_the_general_learner():
    perceptron = Perceptron(C=0.5, fit_intercept=False).partial_fit(X, FOUR)
    same = QuasiAdditiveClassifier(step="fixed", C=0.5).partial_fit(X, FOUR)
    assert public_state(perceptron) == public_state(same)
    pnorm = PNormPerceptron(p=3.0).partial_fit(X, FOUR)
    same = QuasiAdditiveClassifier(geometry="pnorm", p=3.0, step="fixed").partial_fit(X, FOUR)
    assert public_state(pnorm) == public_state(same)
    winnow = Winnow(balanced=True, margin=0.2).partial_fit(X, FOUR)
    same = QuasiAdditiveClassifier(geometry="entropic", step="fixed", C=0.2, margin=0.2).partial_fit(X, FOUR)
    assert public_state(winnow) == public_state(same)
    plain = PNormPerceptron(p=2.0).partial_fit(X, FOUR)
    np.testing.assert_allclose(plain.coef_, Perceptron(fit_intercept=False).partial_fit(X, FOUR).coef_, atol=1e-12)


@pytest.mark.parametrize(("balanced", "times"), [(False, 4), (True, 1)])
def test_proven_rate_of_winnow(balanced, times):
    """The rate is 4 gamma, or gamma if balanced."""
    chosen = Winnow(margin=0.15, balanced=balanced).partial_fit(np.abs(X), TWO)
    given = Winnow(margin=0.15, balanced=balanced, rate=times * 0.15).partial_fit(np.abs(X), TWO)
    assert public_state(chosen) == public_state(given)
    other = Winnow(margin=0.15, balanced=balanced, rate=(5 - times) * 0.15).partial_fit(np.abs(X), TWO)
    assert public_state(chosen) != public_state(other)


def test_default_p_is_two_log_n():
    assert PNormPerceptron().partial_fit(X, TWO)._learner.geometry.p == 2 * log(6)
    assert PNormPerceptron().partial_fit(X[:, :2], TWO)._learner.geometry.p == 2
    assert PNormPerceptron().partial_fit(X[:, :1], TWO)._learner.geometry.p == 2


def test_default_margins():
    """The default is 1, and 0.1 for entropic weights."""
    for geometry, margin in ("euclidean", 1.0), ("pnorm", 1.0), ("entropic", 0.1):
        default, given = (
            QuasiAdditiveClassifier(geometry=geometry, margin=m, C=0.2).partial_fit(X, TWO) for m in (None, margin)
        )
        assert public_state(default) == public_state(given)


def test_parameters_may_change_between_calls():
    """C, the step and the margin take effect with the next call; the geometry cannot change."""
    model = QuasiAdditiveClassifier(geometry="pnorm", p=3.0).partial_fit(X, TWO)
    before = model.coef_.copy()
    model.set_params(step="fixed", C=5.0).partial_fit(X, TWO)
    assert model._learner.step.C == 5.0
    assert model.coef_.tolist() != before.tolist()


def test_geometry_cannot_change():
    model = QuasiAdditiveClassifier(geometry="pnorm", p=3.0).partial_fit(X, TWO)
    before = public_state(model)
    with pytest.raises(ValueError, match="geometry, p cannot change after training has started"):
        model.set_params(geometry="entropic", p=4.0).partial_fit(X, TWO)
    assert public_state(model) == before


def test_class_weight_scales_c():
    one = Perceptron(class_weight={1: 2.0}).partial_fit(X, TWO)
    other = Perceptron().partial_fit(X, TWO, sample_weight=1.0 + TWO)
    assert public_state(one) == public_state(other)


def test_float32_rows_are_learned_in_float64():
    for name, model in MODELS.items():
        rows = rows_for(name)
        single = clone(model).partial_fit(rows.astype(np.float32), TWO)
        assert single.coef_.dtype == np.float64
        np.testing.assert_allclose(single.coef_, clone(model).partial_fit(rows, TWO).coef_, atol=1e-4)


def test_names_of_features():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    model = QuasiAdditiveClassifier(geometry="pnorm").partial_fit(frame, TWO)
    assert model.feature_names_in_.tolist() == list("abcdef")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("fedcba")])


def test_nothing_learned_yet():
    for model in MODELS.values():
        with pytest.raises(AttributeError, match="has not learned anything yet"):
            _ = clone(model).coef_
        with pytest.raises(AttributeError, match="has not learned anything yet"):
            _ = clone(model).totals_


def test_iris():
    rows, labels = load_iris(return_X_y=True)
    for model in QuasiAdditiveClassifier(fit_intercept=True), QuasiAdditiveClassifier(geometry="pnorm", p=3.0):
        assert model.set_params(random_state=0).fit(rows, labels).score(rows, labels) > 0.85
