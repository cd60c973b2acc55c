"""Public API of the second-order estimators and the adaptive geometries."""

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from onmargin import (
    AROWClassifier,
    AROWRegressor,
    NHERDClassifier,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    SCWClassifier,
)

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((90, 6))
THREE = (X @ RANDOM.standard_normal((6, 3))).argmax(axis=1)
TWO = np.where(X @ RANDOM.standard_normal(6) > 0, "up", "down")
T = X @ RANDOM.standard_normal(6) + 0.1 * RANDOM.standard_normal(90)

CLASSIFIERS = [AROWClassifier, NHERDClassifier, SCWClassifier]
every_classifier = pytest.mark.parametrize("kind", CLASSIFIERS)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (AROWClassifier(r=0.0), "r must be a number greater than 0"),
        (AROWClassifier(r=np.inf), "r must be"),
        (AROWRegressor(r=-1.0), "r must be"),
        (AROWRegressor(epsilon=-0.1), "epsilon must be a number at least 0"),
        (AROWClassifier(forgetting=-0.1), "forgetting must be a number at least 0"),
        (AROWRegressor(forgetting="much"), "forgetting must be"),
        (AROWClassifier(strategy="one"), "strategy must be 'joint' or 'ovr'"),
        (NHERDClassifier(C=0), "C must be a number greater than 0"),
        (NHERDClassifier(C=np.inf), "C must be"),
        (SCWClassifier(C=-1.0), "C must be"),
        (SCWClassifier(eta=0.5), "eta must be a number greater than 0.5 and less than 1"),
        (SCWClassifier(eta=1.0), "eta must be"),
        (SCWClassifier(variant="III"), "variant must be 'I' or 'II'"),
        (SCWClassifier(average=-1, max_iter=0), "max_iter must be"),
        (PassiveAggressiveClassifier(geometry="adaptive", update="simproj"), "geometry='adaptive' needs update='max'"),
        (PassiveAggressiveClassifier(geometry="normalized", target_loss=0.5), "needs target_loss=None"),
        (PassiveAggressiveRegressor(geometry="adaptive", target_loss=0.5), "needs target_loss=None"),
        (
            PassiveAggressiveRegressor(geometry="diagonal"),
            "geometry must be 'euclidean' or 'entropic' or 'pnorm' or 'adaptive'",
        ),
    ],
    ids=repr,
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_parameters_are_named(model, message, method):
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(X, T if "Regressor" in type(model).__name__ else THREE)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.where(X > 2, np.nan, X)}, "NaN"),
        ({"X": X[:, :5]}, "features"),
        ({"sample_weight": np.full(90, -1.0)}, "must not be negative"),
        ({"y": THREE[:5]}, "inconsistent numbers of samples"),
    ],
    ids=["nan", "features", "weights", "lengths"],
)
@pytest.mark.parametrize("sparsified", [False, True])
@pytest.mark.parametrize("kind", [*CLASSIFIERS, AROWRegressor])
def test_bad_input_changes_nothing(kind, arguments, message, *, sparsified):
    model = kind().partial_fit(X, THREE)
    model = model.sparsify() if sparsified else model
    before = joblib.hash(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(**{"X": X, "y": THREE} | arguments)
    assert joblib.hash(model) == before


@pytest.mark.parametrize("words", [("euclidean", "adaptive"), ("adaptive", "normalized"), ("normalized", "entropic")])
def test_geometry_stays(words):
    model = PassiveAggressiveRegressor(geometry=words[0]).partial_fit(X, T)
    with pytest.raises(ValueError, match="geometry cannot change"):
        model.set_params(geometry=words[1]).partial_fit(X, T)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, AROWRegressor])
def test_nothing_is_known_at_first(kind):
    """Features that no row has keep variance 1 and weight 0."""
    wide = sparse.csr_array(np.hstack([X, np.zeros((90, 2))]))
    model = kind().partial_fit(wide, THREE)
    columns = np.atleast_2d(model.confidence_)
    assert columns.shape == np.atleast_2d(model.coef_).shape
    assert (columns[:, :6] < 1).all()
    assert (columns[:, 6:] == 1).all()
    assert not np.atleast_2d(model.coef_)[:, 6:].any()


def test_arow_by_hand():
    """For variance 1, r = 1, x = 2 and a loss of 1, beta is 1/5."""
    model = AROWClassifier(r=1.0, fit_intercept=False).partial_fit([[2.0]], ["b"], classes=["a", "b"])
    assert_allclose(model.coef_, [[0.4]])
    assert_allclose(model.confidence_, [[1 - 4 / 5]])
    model.set_params(forgetting=0.5, r=2.0).partial_fit([[1.0]], ["b"])  # loss 0.6, beta 1 / 2.2
    assert_allclose(model.coef_, [[0.4 + 0.6 / 2.2 * 0.2]])
    assert_allclose(model.confidence_, [[1.5 * (0.2 - 0.04 / 2.2)]])


def test_adaptive_by_hand():
    """For x = (3, 4) the norm in the metric is 3 + 4, and both weights move equally; the next row is (3, 0)."""
    model = PassiveAggressiveClassifier(geometry="adaptive", fit_intercept=False, C=np.inf)
    model.partial_fit([[3.0, 4.0]], [1], classes=[0, 1])
    assert_allclose(model.coef_, [[1 / 7, 1 / 7]])
    model.partial_fit([[3.0, 0.0]], [0])
    assert_allclose(model.coef_, [[1 / 7 - (1 + 3 / 7) / 3, 1 / 7]])


@every_classifier
@pytest.mark.parametrize("strategy", ["joint", "ovr"])
def test_a_new_class_has_variance_one_and_the_others_stay(kind, strategy):
    model = kind(strategy=strategy).partial_fit(X, TWO)
    margins, known = model.decision_function(X), model.confidence_.copy()
    model.partial_fit(X[:1], ["new"], sample_weight=[1e-300])
    assert model.classes_.tolist() == ["down", "new", "up"]
    scores = model.decision_function(X)
    half = 2 if strategy == "joint" else 1
    assert_allclose(scores[:, 2] * half, margins, atol=1e-9)
    assert_allclose(scores[:, 0] * half, -margins, atol=1e-9)
    assert_array_equal(model.confidence_[2], known[0])
    assert_array_equal(model.confidence_[0], known[0])
    assert_array_equal(model.confidence_[1], np.ones(6))


@pytest.mark.parametrize("kind", [*CLASSIFIERS, AROWRegressor])
def test_example_weights_divide_r(kind):
    """Twice the weight equals half of r, or twice C."""
    halved = {"r": 0.05} if hasattr(kind(), "r") else {"C": 2 * kind().C}
    heavy = kind().partial_fit(X, THREE, sample_weight=np.full(90, 2.0))
    other = kind(**halved).partial_fit(X, THREE)
    assert_allclose(heavy.coef_, other.coef_, rtol=1e-9)
    assert_allclose(heavy.confidence_, other.confidence_, rtol=1e-9)
    assert not np.allclose(heavy.confidence_, kind().partial_fit(X, THREE).confidence_)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, AROWRegressor])
def test_fit_learns_in_passes(kind):
    model = kind(random_state=0).fit(X, T if kind is AROWRegressor else THREE)
    assert model.score(X, T if kind is AROWRegressor else THREE) > 0.9
    again = kind(random_state=0, warm_start=True, max_iter=1, tol=None).fit(X, T if kind is AROWRegressor else THREE)
    before = again.confidence_.copy()
    again.fit(X, T if kind is AROWRegressor else THREE)
    assert again.t_ == 181
    assert (again.confidence_ <= before).all()


def test_rare_features_move_further():
    """A feature that was seen a hundred times moves less than one that is seen for the first time."""
    rows = np.zeros((101, 2))
    rows[:, 0] = 1
    rows[100, 1] = 1
    labels = np.append(np.arange(100) % 2, 1)
    for model in (
        AROWClassifier(fit_intercept=False),
        PassiveAggressiveClassifier(geometry="adaptive", fit_intercept=False),
    ):
        model.partial_fit(rows[:100], labels[:100])
        before = model.coef_.copy()
        moved = (model.partial_fit(rows[100:], labels[100:]).coef_ - before)[0]
        assert moved[1] > 5 * moved[0] > 0


def test_costs_and_averaging_work_with_a_metric():
    model = PassiveAggressiveClassifier(geometry="adaptive", cost="absolute", average=True).partial_fit(X, THREE)
    assert model.score(X, THREE) > 0.7
    assert model.totals_.cost > 0
