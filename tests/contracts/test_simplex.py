"""geometry="entropic" in public: multiplicative PA, trials and balls on the simplex, and margins out of reach."""

from itertools import pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from onmargin import (
    BlockClassifier,
    ClassFeatureClassifier,
    DualAscentClassifier,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    PassiveAggressiveUniclass,
    QuasiAdditiveClassifier,
    Winnow,
    reference,
)
from onmargin.features import ClassTermFeatures
from tests.streams import uneven_weights
from tests.trials import SIMPLEX_TWINS as SCHEMES

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((80, 7))
Y = np.sign(X @ RANDOM.standard_normal(7))
THREE = (X @ RANDOM.standard_normal((7, 3))).argmax(axis=1)
T = X[:, 2] + 0.1 * RANDOM.standard_normal(80)
MARGIN = 0.1
UPDATES = list(SCHEMES)


def with_margin(task):
    def asked(scores, y):
        halfspaces, mistake = task(scores, y)
        return [h._replace(loss=h.loss - 1 + MARGIN) for h in halfspaces], mistake

    return asked


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("C", [0.3, inf])
@pytest.mark.parametrize(
    ("kind", "y", "task", "columns"),
    [
        (PassiveAggressiveClassifier, Y, with_margin(reference.binary), 1),
        (PassiveAggressiveClassifier, THREE, with_margin(reference.multiclass), 3),
        (PassiveAggressiveRegressor, T, reference.regression(0.1), 1),
    ],
    ids=["binary", "multiclass", "regression"],
)
def test_equals_twin(*, kind, y, task, columns, C, container):
    """tau = min(C, 4 l / r^2), where r is the spread of the direction: the corrected constants of 8.1."""
    classes = {"classes": np.unique(y)} if kind is PassiveAggressiveClassifier else {}
    model = kind(geometry="entropic", C=C).partial_fit(container(X), y, **classes)
    run = reference.play_additive(X, y, task, reference.bounded, reference.entropic(), C=C, columns=columns)
    np.testing.assert_allclose(model.coef_.reshape(columns, 7), run.weights.T, atol=1e-9)
    assert model.totals_.mistakes == run.mistakes
    assert model.totals_.dual_value == pytest.approx(run.dual_value, rel=1e-7)
    assert model.coef_.sum() == pytest.approx(1)
    assert (model.coef_ >= 0).all()
    assert not model.intercept_.any()


@given(st.lists(st.integers(0, 80), max_size=4))
def test_cuts_make_no_difference(cuts):
    """Classes appear during the stream."""
    whole = PassiveAggressiveClassifier(geometry="entropic").partial_fit(X, THREE)
    pieces = PassiveAggressiveClassifier(geometry="entropic")
    ends = sorted({0, 80, *cuts})
    for start, stop in pairwise(ends):
        pieces.partial_fit(X[start:stop], THREE[start:stop])
    assert pieces.coef_.tolist() == whole.coef_.tolist()
    assert pieces.totals_ == whole.totals_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"average": True}, "geometry='entropic' needs average=False"),
        ({"update": "simproj"}, "geometry='entropic' needs update='max'"),
        ({"cost": "absolute"}, "geometry='entropic' needs cost=None"),
        ({"strategy": "ovr"}, "geometry='entropic' needs strategy='joint'"),
        ({"target_loss": 0.5}, "geometry='entropic' needs target_loss=None"),
        ({"geometry": "simplex"}, "geometry must be 'euclidean' or 'entropic'"),
    ],
)
def test_bad_combinations(parameters, message):
    model = PassiveAggressiveClassifier(**{"geometry": "entropic", **parameters})
    with pytest.raises(ValueError, match=message):
        model.fit(X, THREE)


def test_what_needs_plain_weights_is_refused():
    model = PassiveAggressiveRegressor(geometry="entropic").partial_fit(X, T)
    before = model.coef_.tolist()
    assert not hasattr(model, "sparsify")
    for refused in (
        lambda: model.fit(X, T, coef_init=np.ones(7)),
        lambda: setattr(model, "coef_", T[:7]),
    ):
        with pytest.raises(ValueError, match="needs geometry='euclidean'"):
            refused()
    with pytest.raises(ValueError, match="geometry cannot change"):
        model.set_params(geometry="euclidean").partial_fit(X, T)
    assert model.coef_.tolist() == before


# Trials and balls.

PHI = np.abs(RANDOM.standard_normal((60, 4, 6)))
LABELS = (PHI @ RANDOM.dirichlet(np.ones(6))).argmax(axis=1)
TRIALS = np.arange(80) // 4


def blocks(**parameters):
    return BlockClassifier(**{"geometry": "entropic", "C": 0.3} | parameters)


def features(**parameters):
    return ClassFeatureClassifier(**{"geometry": "entropic", "C": 0.3} | parameters)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("update", UPDATES)
def test_blocks_equal_the_twin(update, container):
    """Sets and weights of trials are included; weights are float64 for any rows."""
    sets, weight = np.arange(80) % 2 + 1, uneven_weights(20)
    model = blocks(update=update, margin=0.2)
    model.partial_fit(container(X.astype(np.float32)), Y, TRIALS, sets, sample_weight=weight[TRIALS])
    run = reference.play_additive_trials(
        list(X.astype(np.float32).astype(float).reshape(20, 4, 7)),
        list((Y * sets).reshape(20, 4)),
        reference.block(0.2),
        SCHEMES[update],
        reference.entropic(),
        C=0.3,
        weight=weight,
    )
    assert model.coef_.shape == (1, 7)
    assert model.coef_.dtype == np.float64
    np.testing.assert_allclose(model.coef_[0], run.weights, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0], atol=1e-12)
    assert model.intercept_.tolist() == [0.0]
    assert model.intercept_scaling_ == 0
    assert model.totals_.cost == pytest.approx(run.cost)
    assert model.totals_.mistakes == run.mistakes
    assert model.totals_.max_squared_norm == pytest.approx(np.abs(X[weight[TRIALS] > 0]).max() ** 2)


@pytest.mark.parametrize("update", UPDATES)
def test_class_features_equal_the_twin(update):
    model = features(update=update).partial_fit(PHI, LABELS)
    run = reference.play_additive_trials(
        list(PHI), LABELS, with_margin(reference.rivals), SCHEMES[update], reference.entropic(), C=0.3
    )
    np.testing.assert_allclose(model.coef_, run.weights, atol=1e-9)
    assert model.totals_.mistakes == run.mistakes
    assert model.predict(PHI).tolist() == (PHI @ model.coef_).argmax(axis=1).tolist()


def test_class_features_from_a_transformer():
    """Counts are 1 or 0, as in the e-mail experiment on the simplex."""
    words = (RANDOM.random((70, 12)) < 0.4).astype(float)
    folders = np.array(["work", "home", "lists"])[RANDOM.integers(0, 3, 70)]
    model = features(phi=ClassTermFeatures(kind="multiplicative")).partial_fit(words, folders)
    assert model.totals_.updates > 10
    assert model.coef_.sum() == pytest.approx(1)
    pieces = features(phi=ClassTermFeatures(kind="multiplicative"))
    for start, stop in pairwise([0, 1, 33, 70]):
        pieces.partial_fit(words[start:stop], folders[start:stop])
    assert pieces.coef_.tolist() == model.coef_.tolist()


def test_margins_by_default():
    """The default is 1 for plain weights, and 0.1 on the simplex."""
    one = np.array([[1.0, -1.0]])
    for make, labels in ((BlockClassifier, {"y": [1], "classes": [-1, 1]}), (ClassFeatureClassifier, {"y": [0]})):
        rows = one if make is BlockClassifier else np.array([[one[0], -one[0]]])
        for geometry, margin in ("euclidean", 1.0), ("entropic", 0.1):
            assert make(geometry=geometry).partial_fit(rows, **labels).totals_.loss == pytest.approx(margin)
            assert make(geometry=geometry, margin=0.4).partial_fit(rows, **labels).totals_.loss == pytest.approx(0.4)


ACCEPTED = "geometry='entropic' needs update='max', 'simperc', 'conproj', 'simproj' or 'simopt'"


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("model", "data", "message"),
    [
        (blocks(update="conopt"), (X, Y), ACCEPTED),
        (blocks(update="exact", C=inf, average=True), (X, Y), "update='exact' needs a finite C"),
        (blocks(update="exact", average=True), (X, Y), f"needs average=False, {ACCEPTED[26:]}"),
        (blocks(C=inf), (X, Y), "geometry='entropic' needs a finite C"),
        (blocks(fit_intercept=True), (X, Y), "fit_intercept needs geometry='euclidean'"),
        (blocks(geometry="pnorm"), (X, Y), "geometry must be 'euclidean' or 'entropic'"),
        (blocks(margin=0.0), (X, Y), "margin must be a number greater than 0"),
        (features(update="conopt"), (PHI, LABELS), ACCEPTED),
        (features(loss="squared_hinge"), (PHI, LABELS), "geometry='entropic' needs loss='hinge'"),
        (features(average=True), (PHI, LABELS), "geometry='entropic' needs average=False"),
        (features(margin=-1.0), (PHI, LABELS), "margin must be a number greater than 0"),
        (
            PassiveAggressiveUniclass(geometry="entropic", radius="learn", max_radius=1.0, target_loss=0.1),
            (X,),
            "geometry='entropic' needs target_loss=None, radius='fixed'",
        ),
        (PassiveAggressiveUniclass(geometry="simplex"), (X,), "geometry must be 'euclidean' or 'entropic'"),
    ],
)
def test_bad_combinations_of_trials_and_balls(model, data, message, method):
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(*data)
    assert not hasattr(model, "_learner")


@pytest.mark.parametrize(
    ("kind", "data"),
    [(BlockClassifier, (X, Y)), (ClassFeatureClassifier, (PHI, LABELS)), (PassiveAggressiveUniclass, (X,))],
)
def test_the_geometry_stays(kind, data):
    for first, second in ("euclidean", "entropic"), ("entropic", "euclidean"):
        model = kind(geometry=first).partial_fit(*data)
        before = model.totals_
        with pytest.raises(ValueError, match="geometry cannot change"):
            model.set_params(geometry=second).partial_fit(*data)
        assert model.totals_ == before


@pytest.mark.parametrize(("kind", "data"), [(BlockClassifier, (X, Y)), (ClassFeatureClassifier, (PHI, LABELS))])
def test_a_new_fit_may_have_another_geometry(kind, data):
    options = {"max_iter": 2, "tol": None, "shuffle": False}
    model = kind(geometry="entropic", **options).fit(*data).set_params(geometry="euclidean")
    assert model.fit(*data).coef_.tolist() == kind(**options).fit(*data).coef_.tolist()
    with pytest.raises(ValueError, match="geometry cannot change"):
        model.set_params(geometry="entropic", warm_start=True).fit(*data)


def test_blocks_have_no_weights_to_set():
    model = blocks().partial_fit(X, Y)
    before = model.coef_.tolist()
    assert not hasattr(model, "sparsify")
    with pytest.raises(ValueError, match="needs geometry='euclidean'"):
        model.coef_ = X[:1]
    assert model.coef_.tolist() == before


def test_fit_makes_passes_and_continues():
    options = {"max_iter": 2, "tol": None, "shuffle": False}
    for model, data in ((blocks(**options), (X, Y, TRIALS)), (features(**options), (PHI, LABELS))):
        fitted = clone(model).fit(*data)
        warm = clone(model).set_params(max_iter=1, warm_start=True).fit(*data).fit(*data)
        assert fitted.coef_.tolist() == warm.coef_.tolist()
        assert fitted.totals_ == warm.totals_


def test_a_ball_on_the_simplex_starts_in_its_middle():
    """The first example is a normal round for any `init`."""
    inside = np.full((1, 4), 0.25)
    for init in "first", "zero":
        model = PassiveAggressiveUniclass(geometry="entropic", init=init).partial_fit(inside)
        assert model.totals_.rounds == 1
        assert model.totals_.loss == 0
        assert model.center_.tolist() == [0.25] * 4
        assert model.radius_ == 0.1
        assert model.predict(inside).tolist() == [1]


def test_a_ball_follows_proportions():
    shares = RANDOM.dirichlet([8.0, 4.0, 2.0, 1.0, 1.0], 400)
    model = PassiveAggressiveUniclass(geometry="entropic", C=0.05, epsilon=0.0).partial_fit(shares)
    np.testing.assert_allclose(model.center_, np.array([8, 4, 2, 1, 1]) / 16, atol=0.05)
    flagged = PassiveAggressiveUniclass(geometry="entropic", contamination=0.1, random_state=0).fit(shares)
    assert (flagged.predict(shares) == -1).mean() == pytest.approx(0.1)


# Margins that no weights on the simplex can give.


@pytest.mark.parametrize(
    ("model", "data", "margin", "most"),
    [
        (blocks(margin=5.0), (np.sign(X), Y, TRIALS), "5", "1"),
        (features(margin=5.0), (np.round(PHI / 3), LABELS), "5", "1"),
        (PassiveAggressiveClassifier(geometry="entropic"), (np.sign(X) / 20, Y), "0.1", "0.05"),
        (QuasiAdditiveClassifier(geometry="entropic", margin=3.0), (np.sign(X), Y), "3", "1"),
        (QuasiAdditiveClassifier(geometry="entropic", margin=3.0, balanced=False), (np.sign(X), Y), "3", "1"),
        (DualAscentClassifier(geometry="entropic", margin=3.0), (np.sign(X), Y), "3", "1"),
        (Winnow(margin=0.75), ((X > 0).astype(float), Y), "0.75", "0.5"),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_margin_out_of_reach_warns(*, model, data, margin, most, method, container):
    """The warning comes once, when training starts; no weight becomes infinite or NaN."""
    rows, *others = data
    model = clone(model).set_params(**{"max_iter": 3, "tol": None} if method == "fit" and hasattr(model, "tol") else {})
    rows = container(rows) if rows.ndim == 2 else rows
    with pytest.warns(UserWarning, match=f"margin {margin} is out of reach.*give these rows {most} at most") as caught:
        getattr(model, method)(rows, *others)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    model.partial_fit(rows, *([o + 100 if o is TRIALS else o for o in others]))
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(list(dict(model.totals_).values())).all()
    assert model.totals_.loss > 0


@pytest.mark.parametrize("C", [1.0, 1e6, 1e300])
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e5])
@pytest.mark.filterwarnings("ignore:margin .* is out of reach:UserWarning")
def test_steps_towards_it_stop(update, C, scale):
    for rows in (np.sign(X), X):
        model = blocks(update=update, C=C / scale, margin=10 * scale).partial_fit(scale * rows, Y, TRIALS)
        assert np.isfinite(model.coef_).all()
        assert model.coef_.sum() == pytest.approx(1)
        assert model.totals_.loss > 0
        assert not np.isnan(model.totals_.dual_value)


def test_margins_within_reach_do_not_warn():
    """Rows of zeros and rows of weight 0 do not warn either."""
    blocks(margin=1.0).partial_fit(np.sign(X), Y)
    blocks(margin=1.0).partial_fit(np.zeros((2, 7)), [-1, 1])
    features(margin=1.0).partial_fit(np.zeros((2, 3, 4)), [0, 1])
    heavy = np.vstack([10 * np.sign(X[:1]), np.sign(X)])
    with pytest.warns(UserWarning, match="give these rows 1 at most"):
        blocks(margin=3.0).partial_fit(heavy, np.append(1, Y), sample_weight=np.append(0.0, np.ones(80)))


def test_a_warning_turned_into_an_error_changes_nothing():
    model = blocks(margin=5.0)
    with pytest.raises(UserWarning, match="out of reach"):
        model.partial_fit(np.sign(X), Y)
    assert not hasattr(model, "_learner")
