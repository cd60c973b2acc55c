"""The estimators are drop-in replacements for scikit-learn's passive-aggressive classes."""

import inspect

import numpy as np
import pytest
import sklearn.linear_model
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_sample_weight

from onmargin import PassiveAggressiveClassifier, PassiveAggressiveRegressor
from onmargin.estimators._linear_classifier import LinearClassifier

KINDS = [PassiveAggressiveClassifier, PassiveAggressiveRegressor]

beside_scikit_learn = pytest.mark.skipif(
    not hasattr(sklearn.linear_model, "PassiveAggressiveClassifier"),
    reason=f"scikit-learn {sklearn.__version__} no longer has the classes to compare with",
)
pytestmark = pytest.mark.filterwarnings("ignore:Class PassiveAggressive.* is deprecated:FutureWarning")


def data(kind, *, n_classes=3, n_samples=200):
    """Return rows and targets that are learned neither immediately nor perfectly."""
    if kind is PassiveAggressiveRegressor:
        return make_regression(n_samples, 10, noise=10.0, random_state=0)
    return make_classification(n_samples, 10, n_informative=6, n_classes=n_classes, flip_y=0.1, random_state=0)


def identity(n_samples):
    """Return rows with one feature each, whose weight stays 0 unless that row is learned; two classes alternate."""
    return np.eye(n_samples), np.arange(n_samples) % 2


def assert_same_weights(model, other, **tolerance):
    assert_allclose(model.coef_, other.coef_, **tolerance)
    assert_allclose(model.intercept_, other.intercept_, **tolerance)


# Everything that scikit-learn's classes have.


def theirs(kind):
    return getattr(sklearn.linear_model, kind.__name__)


@beside_scikit_learn
@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_has_its_name_and_default(kind):
    ours = kind().get_params()
    assert theirs(kind)().get_params().items() <= ours.items()


@beside_scikit_learn
@pytest.mark.parametrize("kind", KINDS)
def test_every_method_takes_the_same_arguments_in_the_same_order(kind):
    for name, method in inspect.getmembers(theirs(kind), inspect.isfunction):
        if not name.startswith("_"):
            wanted = list(inspect.signature(method).parameters)
            assert list(inspect.signature(getattr(kind, name)).parameters)[: len(wanted)] == wanted


@beside_scikit_learn
@pytest.mark.parametrize("kind", KINDS)
def test_every_fitted_attribute_has_its_type_and_shape(kind):
    X, y = data(kind)
    model, other = kind().fit(X, y), theirs(kind)().fit(X, y)
    for name, value in vars(other).items():
        if name.endswith("_") and not name.startswith("_"):
            assert type(getattr(model, name)) is type(value)
            assert np.shape(getattr(model, name)) == np.shape(value)


SCRIPT = """
import numpy as np
from sklearn.datasets import load_iris
from {module} import PassiveAggressiveClassifier, PassiveAggressiveRegressor

X, y = load_iris(return_X_y=True)
clf = PassiveAggressiveClassifier(C=0.01, max_iter=1000, random_state=0, tol=1e-3, loss="squared_hinge", n_jobs=2)
clf.fit(X, y, coef_init=np.zeros((3, 4)), intercept_init=np.zeros(3))
clf.partial_fit(X, y, np.unique(y))
results = [clf.predict(X), clf.decision_function(X), clf.classes_, clf.sparsify().coef_, clf.densify().coef_]
reg = PassiveAggressiveRegressor(C=1.0, epsilon=0.01, max_iter=100, tol=None, random_state=0, average=True, verbose=0)
reg.fit(X[:, 1:], X[:, 0], coef_init=np.zeros(3), intercept_init=np.zeros(1))
reg.partial_fit(X[:, 1:], X[:, 0])
results += [reg.predict(X[:, 1:]), reg.coef_, reg.intercept_, reg.n_iter_, reg.t_]
scores = [clf.score(X, y), reg.score(X[:, 1:], X[:, 0])]
"""


@beside_scikit_learn
def test_script_runs_with_only_the_import_changed():
    before, after = {}, {}
    exec(SCRIPT.format(module="sklearn.linear_model"), before)
    exec(SCRIPT.format(module="onmargin"), after)
    for was, now in zip(before["results"], after["results"], strict=True):
        assert type(now) is type(was)
        assert np.shape(now) == np.shape(was)
    assert min(after["scores"]) > 0.75


# Without intercept, one class against the rest: the same algorithm, so the same weights.


@beside_scikit_learn
@pytest.mark.parametrize("average", [False, True, 50])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize(
    ("kind", "n_classes", "loss"),
    [
        (PassiveAggressiveClassifier, 2, "hinge"),
        (PassiveAggressiveClassifier, 2, "squared_hinge"),
        (PassiveAggressiveClassifier, 3, "hinge"),
        (PassiveAggressiveClassifier, 3, "squared_hinge"),
        (PassiveAggressiveRegressor, None, "epsilon_insensitive"),
        (PassiveAggressiveRegressor, None, "squared_epsilon_insensitive"),
    ],
)
def test_one_pass_gives_the_same_weights(kind, n_classes, loss, *, C, container, average):
    X, y = data(kind, n_classes=n_classes)
    options = {"C": C, "loss": loss, "average": average, "fit_intercept": False, "shuffle": False}
    model = kind(**options, **({"strategy": "ovr"} if n_classes else {}))
    other = theirs(kind)(**options)
    for part in (slice(70), slice(70, None)):
        classes = {"classes": np.unique(y)} if n_classes else {}
        model.partial_fit(container(X[part]), y[part], **classes)
        other.partial_fit(container(X[part]), y[part], **classes)
    assert_allclose(model.coef_, other.coef_, rtol=1e-9)
    assert_allclose(model.predict(X), other.predict(X), rtol=1e-9)
    assert model.t_ == other.t_


# Shapes and counts.


@pytest.mark.parametrize(("n_classes", "columns", "scores"), [(2, 1, (200,)), (3, 3, (200, 3)), (5, 5, (200, 5))])
def test_classifier_shapes(n_classes, columns, scores):
    X, y = data(PassiveAggressiveClassifier, n_classes=n_classes)
    model = PassiveAggressiveClassifier().fit(X, y)
    assert model.coef_.shape == (columns, 10)
    assert model.intercept_.shape == (columns,)
    assert model.decision_function(X).shape == scores
    assert_array_equal(model.classes_, np.arange(n_classes))


def test_regressor_shapes():
    X, y = data(PassiveAggressiveRegressor)
    model = PassiveAggressiveRegressor().fit(X, y)
    assert model.coef_.shape == (10,)
    assert model.intercept_.shape == (1,)
    assert model.predict(X).shape == (200,)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_the_weights_times_the_row_plus_the_intercept(kind):
    X, y = data(kind)
    model = kind().fit(X, y)
    score = model.predict if kind is PassiveAggressiveRegressor else model.decision_function
    assert_allclose(score(X), X @ model.coef_.T + model.intercept_, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_passes_and_rounds_are_counted(kind):
    X, y = data(kind)
    model = kind(max_iter=7, tol=None).fit(X, y)
    assert (model.n_iter_, model.t_) == (7, 1 + 7 * 200)
    model.partial_fit(X[:50], y[:50])
    assert (model.n_iter_, model.t_) == (1, 1 + 7 * 200 + 50)


# When fit stops.


@pytest.mark.parametrize("kind", KINDS)
def test_fit_warns_when_the_passes_end_before_the_tolerance_is_met(kind):
    with pytest.warns(ConvergenceWarning, match="max_iter=2 .* tol=0.001") as warned:
        kind(max_iter=2).fit(*data(kind))
    assert warned[0].filename == __file__  # points at the call


@pytest.mark.parametrize("patience", [1, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_fit_stops_when_the_loss_no_longer_falls(kind, patience):
    # The first pass learns everything, the second has no loss, and later passes cannot improve.
    model = kind(C=np.inf, fit_intercept=False, n_iter_no_change=patience).fit(*identity(20))
    assert model.n_iter_ == 2 + patience


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_early_stopping_holds_out_a_part(kind, fraction):
    X, y = identity(40)
    model = kind(early_stopping=True, validation_fraction=fraction, fit_intercept=False, random_state=0)
    learned = model.fit(X, y + 1.0).coef_.ravel() != 0
    assert learned.sum() == 40 * (1 - fraction)
    assert model.totals_.rounds == model.n_iter_ * learned.sum()
    if kind is PassiveAggressiveClassifier:
        assert_array_equal(np.bincount(y[learned]), np.bincount(y[learned])[::-1])


@pytest.mark.parametrize("patience", [1, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_early_stopping_uses_the_held_out_score(kind, patience):
    # The loss falls with each pass, but held-out rows share no feature with the rest: their score never changes.
    X, y = identity(40)
    model = kind(C=0.01, fit_intercept=False, n_iter_no_change=patience, max_iter=20)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.set_params(early_stopping=True).fit(X, y).n_iter_ == 1 + patience


def test_early_stopping_weighs_what_it_held_out(monkeypatch):
    rated = []
    monkeypatch.setattr(LinearClassifier, "_quality", lambda self, scores, y, weight: rated.append((y, weight)) or 0.0)
    X, y = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 2
    options = {"early_stopping": True, "validation_fraction": 0.5, "random_state": 0}
    PassiveAggressiveClassifier(class_weight={0: 3.0, 1: 2.0}, **options).fit(X, y, sample_weight=np.full(40, 0.5))
    truth, weight = rated[0]
    assert weight.tolist() == np.where(truth == 0, 1.5, 1.0).tolist()
    rated.clear()
    PassiveAggressiveClassifier(**options).fit(X, y)
    assert rated[0][1] is None


@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
def test_early_stopping_ends_where_the_score_is_undefined():
    X, y = data(PassiveAggressiveRegressor, n_samples=5)
    assert PassiveAggressiveRegressor(early_stopping=True, n_iter_no_change=3).fit(X, y).n_iter_ <= 4


@pytest.mark.parametrize("options", [{}, {"average": True}, {"average": 300}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_warm_start_continues_where_fit_ended(kind, options):
    X, y = data(kind)
    options = options | {"shuffle": False, "tol": None}
    twice = kind(max_iter=1, warm_start=True, **options).fit(X, y).fit(X, y)
    assert_same_weights(twice, kind(max_iter=2, **options).fit(X, y))
    cold = kind(max_iter=1, **options)
    assert_same_weights(cold.fit(X, y).fit(X, y), kind(max_iter=1, **options).fit(X, y))


@pytest.mark.parametrize("kind", KINDS)
def test_fit_starts_from_given_weights(kind):
    X, y = data(kind)
    fitted = kind().fit(X, y)
    model = kind(C=1e-300, max_iter=1, tol=None)  # moves by less than rounding
    assert_same_weights(model.fit(X, y, fitted.coef_, fitted.intercept_), fitted)


@beside_scikit_learn
@pytest.mark.parametrize("intercept", [0.5, [0.5]], ids=["number", "array"])
@pytest.mark.parametrize("shape", [(10,), (1, 10)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_given_weights_of_one_column_may_be_flat(kind, shape, intercept):
    X, y = data(kind, n_classes=2)
    for model in (kind(C=1e-300, max_iter=1, tol=None), theirs(kind)(C=1e-300, max_iter=1, tol=None)):
        model.fit(X, y, np.ones(shape), intercept)
        assert_array_equal(model.coef_.ravel(), np.ones(10))
        assert_array_equal(model.intercept_, [0.5])


@pytest.mark.parametrize("sparsified", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_weights_may_be_replaced(kind, sparsified):
    X, y = data(kind)
    model, other = kind().partial_fit(X, y), kind().partial_fit(X[::-1], y[::-1])
    if sparsified:
        model.sparsify()
    model.coef_, model.intercept_ = other.coef_, other.intercept_
    assert_same_weights(model, other)
    assert_array_equal(model.predict(X), other.predict(X))


@pytest.mark.parametrize("kind", KINDS)
def test_verbose_prints_one_line_per_pass(kind, capsys):
    X, y = data(kind)
    model = kind(max_iter=3, tol=None).fit(X, y)
    assert not capsys.readouterr().out
    model.set_params(verbose=1).fit(X, y)
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_n_jobs_changes_nothing():
    X, y = data(PassiveAggressiveClassifier)
    one, two = (PassiveAggressiveClassifier(n_jobs=n_jobs, random_state=0).fit(X, y) for n_jobs in (None, 2))
    assert_same_weights(one, two, rtol=0)


@pytest.mark.parametrize("n_jobs", [0, "2", 1.5])
def test_numbers_of_threads_that_mean_nothing(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be None, or an integer at least 1, or an integer at most -1"):
        PassiveAggressiveClassifier(n_jobs=n_jobs).fit([[0.0], [1.0]], [0, 1])


# Class weights.


@pytest.mark.parametrize("sample_weight", [np.ones(200), np.arange(200) % 3 / 2], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("class_weight", [{0: 0.5, 1: 0.1, 2: 0.01}, {2: 0.0}, "balanced"], ids=str)
def test_class_weights_in_fit_are_sample_weights(class_weight, sample_weight):
    X, y = make_classification(200, n_informative=6, n_classes=3, weights=[0.6, 0.3, 0.1], random_state=0)
    explicit, seen = sample_weight.copy(), sample_weight > 0
    explicit[seen] *= compute_sample_weight(class_weight, y[seen])
    plain, weighted = (
        PassiveAggressiveClassifier(C=0.01, random_state=0).fit(X, y, sample_weight=weight)
        for weight in (sample_weight, explicit)
    )
    model = PassiveAggressiveClassifier(C=0.01, random_state=0, class_weight=class_weight)
    assert_same_weights(model.fit(X, y, sample_weight=sample_weight), weighted, rtol=1e-12)
    assert (model.coef_ != plain.coef_).any()


def balanced_so_far(y, classes, sample_weight):
    """Return n_samples / (n_classes * count of the class) after each example; examples of weight 0 do not count."""
    seen, counts, factors = set(classes), {}, np.zeros(len(y))
    for t, label in enumerate(y):
        if sample_weight[t] > 0:
            seen.add(label)
            counts[label] = counts.get(label, 0) + 1
            factors[t] = sample_weight[t] * sum(counts.values()) / (max(len(seen), 2) * counts[label])
    return factors


@pytest.mark.parametrize("pieces", [1, 2, 20])
@pytest.mark.parametrize("sample_weight", [np.ones(200), np.arange(200) % 3 / 2], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("classes", [[], [0, 1, 2], [0, 1, 2, 3]], ids=str)
def test_balanced_weights_in_partial_fit_come_from_running_counts(classes, sample_weight, pieces):
    X, y = make_classification(200, n_informative=6, n_classes=3, weights=[0.6, 0.3, 0.1], random_state=0)
    model, explicit = PassiveAggressiveClassifier(C=0.01, class_weight="balanced"), PassiveAggressiveClassifier(C=0.01)
    known = classes or None
    for part in np.array_split(np.arange(200), pieces):
        model.partial_fit(X[part], y[part], classes=known, sample_weight=sample_weight[part])
    explicit.partial_fit(X, y, classes=known, sample_weight=balanced_so_far(y, classes, sample_weight))
    assert_same_weights(model, explicit, rtol=1e-12)


# Averaging.


@pytest.mark.parametrize("start", [True, 2, 30, 60, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_average_is_the_mean_of_the_weights_from_its_start_on(kind, start):
    X, y = data(kind, n_classes=2, n_samples=60)
    plain = kind()
    path = [plain.partial_fit(X[[t]], y[[t]]).coef_.copy() for t in range(60)]
    mean = np.mean(path[start - 1 :], axis=0) if start <= 60 else path[-1]
    assert_allclose(kind(average=start).partial_fit(X, y).coef_, mean, rtol=1e-9)
