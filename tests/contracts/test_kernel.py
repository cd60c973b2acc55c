"""Public API of kernels: scikit-learn's parameters, attributes and checks, and errors that lose nothing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_circles
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from onmargin import LabelRanker, PassiveAggressiveClassifier, PassiveAggressiveRegressor, PassiveAggressiveUniclass

EXPECTED_FAILURES = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "a weight scales C in one round: an example of weight 2 is not two examples",
)
OF_PRECOMPUTED = EXPECTED_FAILURES | dict.fromkeys(
    ["check_fit_score_takes_y", "check_decision_proba_consistency"],
    "X is not square, which SVC refuses too, or lacks the kernel values of earlier examples; SVC has no partial_fit",
)
X, y = make_circles(200, noise=0.1, factor=0.4, random_state=0)
ALL = [PassiveAggressiveClassifier, PassiveAggressiveRegressor, LabelRanker, PassiveAggressiveUniclass]
Y = {LabelRanker: np.column_stack([y, 1 - y])}


@parametrize_with_checks(
    [
        PassiveAggressiveClassifier(kernel="rbf"),
        PassiveAggressiveClassifier(kernel="rbf", budget=30),
        PassiveAggressiveRegressor(kernel="linear"),
        PassiveAggressiveRegressor(kernel="rbf", budget=30),
        PassiveAggressiveUniclass(kernel="rbf"),
        PassiveAggressiveUniclass(kernel="rbf", budget=10, epsilon=0.8),
        PassiveAggressiveClassifier(kernel="precomputed"),
    ],
    expected_failed_checks=lambda model: OF_PRECOMPUTED if model.kernel == "precomputed" else EXPECTED_FAILURES,
)
# With class weights of 1000 and 0.0001, steps of the second class reduce its loss by a little in every pass.
@pytest.mark.filterwarnings("ignore:max_iter=1000 passes ended:sklearn.exceptions.ConvergenceWarning")
def test_check_of_scikit_learn(estimator, check):
    check(estimator)


def learned(kind, **options):
    return kind(**options).partial_fit(X, Y.get(kind, y))


def scores(model, rows):
    return (model.predict if isinstance(model, PassiveAggressiveRegressor) else model.decision_function)(rows)


@pytest.mark.parametrize("kind", ALL)
def test_kernel_learns_what_no_line_separates(kind):
    model = learned(kind, kernel="rbf", C=10.0) if kind is not PassiveAggressiveUniclass else None
    if kind is PassiveAggressiveClassifier:
        assert model.score(X, y) > 0.95
        assert learned(kind).score(X, y) < 0.8
    if kind is PassiveAggressiveRegressor:
        assert model.score(X, y) > 0.7
    if kind is LabelRanker:
        assert (model.predict(X) == Y[kind]).mean() > 0.95
    if kind is PassiveAggressiveUniclass:
        ring = PassiveAggressiveUniclass(kernel="rbf", gamma=5.0, C=0.01).fit(X[y == 0])
        # The mean of all rows is unlike each of them.
        assert ring.score_samples([[0.0, 0.0]]) < np.quantile(ring.score_samples(X[y == 0]), 0.05)


@pytest.mark.parametrize("kernel", ["poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.7])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_parameters_mean_what_they_mean_in_scikit_learn(kernel, gamma, container):
    """The kernel values are those that SVC uses."""
    rows = container(X + 1)
    svc = SVC(kernel=kernel, gamma=gamma, degree=2, coef0=0.3).fit(rows, y)
    expected = svc.decision_function(rows) - svc.intercept_
    model = PassiveAggressiveClassifier(kernel=kernel, gamma=gamma, degree=2, coef0=0.3).partial_fit(rows, y)
    values = model._learner.kernel(rows, rows[svc.support_])
    dual = svc.dual_coef_.toarray() if sparse.issparse(svc.dual_coef_) else svc.dual_coef_
    assert_allclose(values @ dual[0], expected, atol=1e-8)


def test_gamma_is_fixed_by_the_first_call():
    model = PassiveAggressiveClassifier(kernel="rbf").partial_fit(X, y)
    before = model._learner.kernel
    assert model.partial_fit(100 * X, y)._learner.kernel is before


@pytest.mark.parametrize("kind", ALL)
def test_attributes(kind):
    model = learned(kind, kernel="rbf")
    assert model.support_vectors_.shape == (model.n_support_, 2)
    assert model.dual_coef_.shape[1] == model.n_support_ == len(model.support_)
    assert_array_equal(model.support_vectors_, X[model.support_])
    name = "center_" if kind is PassiveAggressiveUniclass else "coef_"
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="only available with a linear kernel"):
        getattr(model, name)
    with pytest.raises(AttributeError, match="no supports with kernel=None"):
        learned(kind).support_  # noqa: B018
    with pytest.raises(AttributeError, match="has not learned anything"):
        kind(kernel="rbf").support_  # noqa: B018


def test_supports_are_rows_of_fit_once_each():
    model = PassiveAggressiveClassifier(kernel="rbf", random_state=0).fit(X, y)
    assert model.n_iter_ > 1
    assert len(set(model.support_)) == model.n_support_ < model.totals_.updates
    assert_array_equal(model.support_vectors_, X[model.support_])


@pytest.mark.parametrize("policy", ["projection", "forgetron", "oldest", "smallest"])
def test_passes_of_fit_keep_the_budget(policy):
    """Rows may be forgotten and learned again."""
    how = {"max_iter": 8, "tol": None, "random_state": 0}
    model = PassiveAggressiveClassifier(kernel="rbf", budget=15, budget_policy=policy, **how).fit(X, y)
    assert len(set(model.support_)) == model.n_support_ == 15
    assert_array_equal(model.support_vectors_, X[model.support_])


def test_kernel_cannot_change_the_supports():
    def spoil(A, B):
        if B.shape[0] and A is not B:
            B *= 2
        return rbf_kernel(A, B)

    with pytest.raises(ValueError, match="read-only"):
        PassiveAggressiveClassifier(kernel=spoil).partial_fit(X, y).partial_fit(X, y)


def test_supports_of_streams_count_all_rows():
    weight = (np.arange(200) % 3 > 0).astype(float)
    model = PassiveAggressiveClassifier(kernel="rbf")
    for part in (slice(0, 7), slice(7, 100), slice(100, 200)):
        model.partial_fit(X[part], y[part], sample_weight=weight[part])
    assert_array_equal(model.support_vectors_, X[model.support_])
    assert (weight[model.support_] > 0).all()


def test_warm_start_continues():
    how = {"kernel": "rbf", "tol": None, "shuffle": False, "random_state": 0}
    warm = PassiveAggressiveClassifier(warm_start=True, max_iter=1, **how).fit(X, y).fit(X, y)
    cold = PassiveAggressiveClassifier(max_iter=2, **how).fit(X, y)
    assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=1e-10)
    assert warm.support_.max() >= 200  # counted over both calls


@pytest.mark.parametrize("kind", ALL[:3])
@pytest.mark.parametrize("options", [{}, {"budget": 20}], ids=str)
def test_dense_and_sparse_rows_may_alternate(kind, options):
    target = Y.get(kind, y)
    turns, plain = (kind(kernel="rbf", gamma=2.0, **options) for _ in range(2))
    for start in range(0, 200, 50):
        part = slice(start, start + 50)
        plain.partial_fit(X[part], target[part])
        turns.partial_fit((sparse.csr_matrix if start % 100 else np.asarray)(X[part]), target[part])
    assert_allclose(scores(turns, sparse.csr_array(X)), scores(plain, X), atol=1e-9)


@pytest.mark.parametrize("kind", ALL[:3])
def test_precomputed_is_the_kernel(kind):
    K, how = rbf_kernel(X, gamma=2.0), {"random_state": 0, "max_iter": 3, "tol": None}
    target = Y.get(kind, y)
    one = kind(kernel="rbf", gamma=2.0, **how).fit(X[:150], target[:150])
    other = kind(kernel="precomputed", **how).fit(K[:150, :150], target[:150])
    assert_allclose(scores(other, K[150:, :150]), scores(one, X[150:]), atol=1e-9)
    assert other.support_.tolist() == one.support_.tolist()
    assert other.support_vectors_.shape == (other.n_support_, 0)


def test_precomputed_in_cross_validation_and_early_stopping():
    K = rbf_kernel(X, gamma=2.0)
    model = PassiveAggressiveClassifier(kernel="precomputed", random_state=0)
    expected = cross_val_score(clone(model).set_params(kernel="rbf", gamma=2.0), X, y, cv=3)
    assert_allclose(cross_val_score(model, K, y, cv=3), expected)
    assert model.set_params(early_stopping=True).fit(K, y).score(K, y) > 0.9


def test_callable_kernel():
    one = PassiveAggressiveClassifier(kernel=lambda A, B: rbf_kernel(A, B, gamma=2.0)).partial_fit(X, y)
    other = PassiveAggressiveClassifier(kernel="rbf", gamma=2.0).partial_fit(X, y)
    assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-9)


def test_rows_without_direction_change_nothing():
    """K(x, x) <= 0: the loss counts, and the row does not become a support."""
    model = PassiveAggressiveClassifier(kernel=lambda A, B: -np.asarray(A @ B.T), fit_intercept=False)
    model.partial_fit(X, y, classes=[0, 1])
    assert (model.totals_.updates, model.n_support_, model.totals_.rounds) == (0, 0, 200)
    assert model.totals_.loss == 200
    assert model.decision_function(X).tolist() == [0.0] * 200


WRONG = [
    (
        {"kernel": "gaussian"},
        "kernel must be None, or 'linear' or 'poly' or 'rbf' or 'sigmoid'",
    ),
    ({"kernel": "rbf", "gamma": 0}, "gamma must be 'scale' or 'auto', or a number greater than 0"),
    ({"kernel": "rbf", "gamma": -1.0}, "gamma must be"),
    ({"kernel": "rbf", "gamma": "large"}, "gamma must be"),
    ({"kernel": "poly", "degree": -1}, "degree must be an integer at least 0"),
    ({"kernel": "poly", "degree": 2.5}, "degree must be"),
    ({"kernel": "poly", "coef0": np.nan}, "coef0 must be"),
    ({"kernel": "rbf", "budget": 0}, "budget must be None, or an integer at least 1"),
    ({"kernel": "rbf", "budget": 2.5}, "budget must be"),
    ({"kernel": "rbf", "budget": 5, "budget_policy": "random"}, "budget_policy must be"),
    ({"budget": 5}, "budget needs a kernel"),
    ({"kernel": "rbf", "budget": 5, "average": True}, "budget needs average=False"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=str)
@pytest.mark.parametrize("kind", ALL)
def test_wrong_parameters(kind, options, message):
    if kind is PassiveAggressiveUniclass and "budget" in options:
        return
    with pytest.raises(ValueError, match=message):
        learned(kind, **options)
    with pytest.raises(ValueError, match=message):
        kind(**options).fit(X, Y.get(kind, y))


def test_geometry_is_euclidean():
    with pytest.raises(ValueError, match="geometry='entropic' needs kernel=None"):
        learned(PassiveAggressiveClassifier, kernel="rbf", geometry="entropic")


def broken(calls, answer):
    """Return a kernel that fails after a number of calls."""
    left = [calls]

    def kernel(A, B):
        left[0] -= 1
        values = rbf_kernel(A, B)
        return values if left[0] >= 0 else answer(values)

    return kernel


def fail(values):
    raise ArithmeticError("no value")


BROKEN = {
    "transposed": (lambda values: values[:, :-1], ValueError, "matrix of numbers of shape"),
    "flat": (np.ravel, ValueError, "matrix of numbers of shape"),
    "words": (lambda values: values.astype(str), ValueError, "matrix of numbers of shape"),
    "nan": (lambda values: values * np.nan, ValueError, "not finite"),
    "inf": (lambda values: values / 0, ValueError, "not finite"),
    "raises": (fail, ArithmeticError, "no value"),
}


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize("options", [{}, {"budget": 5}, {"budget": 5, "budget_policy": "forgetron"}], ids=str)
@pytest.mark.parametrize("kind", ALL)
def test_failing_kernel_loses_nothing(kind, options, fault):
    """It fails in the second block of the second call."""
    if kind is PassiveAggressiveUniclass:
        options = {}
    answer, error, message = BROKEN[fault]
    many = np.vstack([X] * 2)
    target = np.concatenate([Y.get(kind, y)] * 2)
    kernel = broken(10**9, answer)
    model = kind(kernel=kernel, **options).partial_fit(X, Y.get(kind, y))
    before, totals = scores(model, X), model.totals_
    supports = model.support_.tolist()
    kernel.__closure__[-1].cell_contents[0] = 3  # the first block of the next call takes two
    with pytest.raises(error, match=message):
        model.partial_fit(many, target)
    kernel.__closure__[-1].cell_contents[0] = 10**9
    assert_array_equal(scores(model, X), before)
    assert (model.totals_, model.support_.tolist()) == (totals, supports)
    model.partial_fit(many, target)
    never = kind(kernel=rbf_kernel, **options).partial_fit(X, Y.get(kind, y)).partial_fit(many, target)
    assert_array_equal(scores(model, X), scores(never, X))


def test_overflow_is_refused():
    model = learned(PassiveAggressiveClassifier, kernel="poly", degree=9, gamma=1.0)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="not finite: scale X"), np.errstate(over="ignore"):
        model.partial_fit(X * 1e60, y)
    assert_array_equal(model.decision_function(X), before)


@pytest.mark.parametrize("change", [{"kernel": "poly"}, {"gamma": 3.0}, {"kernel": None}, {"budget": 3}], ids=str)
def test_kernel_cannot_change_after_the_first_example(change):
    model = learned(PassiveAggressiveClassifier, kernel="rbf")
    with pytest.raises(ValueError, match="cannot change after training has started"):
        model.set_params(**change).partial_fit(X, y)
    model.set_params(**change).fit(X, y)  # starts over


def test_what_needs_plain_weights_is_refused():
    model = learned(PassiveAggressiveClassifier, kernel="linear")
    assert not hasattr(model, "sparsify")
    with pytest.raises(ValueError, match="setting weights needs kernel=None"):
        model.coef_ = np.zeros((1, 2))
    with pytest.raises(ValueError, match="setting weights needs kernel=None"):
        clone(model).fit(X, y, coef_init=np.zeros((1, 2)))
    assert not hasattr(LabelRanker(kernel="linear"), "sparsify")


@pytest.mark.parametrize("kind", ALL[:3])
def test_precomputed_must_be_square(kind):
    K, target = rbf_kernel(X), Y.get(kind, y)
    with pytest.raises(ValueError, match=r"needs X to be a square array.*got an array of shape \(200, 199\)"):
        kind(kernel="precomputed").fit(K[:, :199], target)
    model = kind(kernel="precomputed").partial_fit(K, target)
    with pytest.raises(ValueError, match="which was learned already"):
        model.partial_fit(K, target)
    with pytest.raises(ValueError, match="199 features"):
        model.predict(K[:, :199])


def test_ball_has_no_precomputed_kernel():
    with pytest.raises(ValueError, match=r"kernel must be None, or 'linear' .* 'sigmoid', or a function"):
        PassiveAggressiveUniclass(kernel="precomputed").fit(rbf_kernel(X))


def test_ball_has_no_forgetron():
    with pytest.raises(ValueError, match="budget_policy must be 'projection' or 'smallest' or 'oldest'"):
        PassiveAggressiveUniclass(kernel="rbf", budget=5, budget_policy="forgetron").fit(X)


def test_budget_of_a_ball_needs_a_kernel():
    model = learned(PassiveAggressiveUniclass, kernel="rbf", budget=5)
    before = model.score_samples(X)
    with pytest.raises(ValueError, match="budget needs a kernel"):
        model.set_params(kernel=None).fit(X)
    with pytest.raises(ValueError, match="budget cannot change"):
        model.set_params(kernel="rbf", budget=6).partial_fit(X)
    assert_array_equal(model.score_samples(X), before)
