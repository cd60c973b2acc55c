"""Compiled probabilities equal those of the NumPy reference, round by round."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs

from onmargin import AROWClassifier, AutoClassifier, PassiveAggressiveClassifier
from onmargin.learner import as_rows
from onmargin.reference import Calibration, binary, calibrate, pa1, play
from onmargin.reference.calibration import gap


def stream(n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    y = (X @ rng.standard_normal((4, n_classes)) + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
    return X, y


def same(compiled, twin):
    state = compiled.state()
    assert_allclose(state["factors"], [twin.a, twin.b, twin.a_squares, twin.b_squares], rtol=1e-9)
    assert_allclose(state["squares"], [twin.s_square, twin.v_square], rtol=1e-9)
    assert_allclose(state["offsets"], [twin.c, twin.c_squares], rtol=1e-9, atol=1e-12)
    assert_allclose(state["sums"], [twin.weight, twin.log_loss, twin.brier], rtol=1e-9)
    assert_allclose(state["bins"], twin.bins, rtol=1e-9)
    assert_allclose(state["best"], twin.best, rtol=1e-9, atol=1e-12)
    assert_allclose(state["best_squares"], twin.best_squares, rtol=1e-9)
    assert_allclose(state["lifts"], [twin.lifts.ravel(), twin.lift_squares.ravel()], rtol=1e-9, atol=1e-12)
    assert_allclose(state["doubt"], [twin.doubt], rtol=1e-9, atol=1e-9)
    assert state["judged"] == twin.judged


def evidence(model, x):
    """Return the scores that probabilities use: of the leading model and of the vote; of the vote if two classes."""
    task, scores = model._learner.task, model._learner.scores(as_rows(x))
    if model._model.combined is None:
        return scores[0], None
    leading = scores[0, task.places[task.leader] :][: task.width]
    if not task.hedge:
        return leading, None
    vote = task.combine(scores)[0]
    return (vote, None) if task.width == 1 else (leading, vote)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    "model",
    [
        PassiveAggressiveClassifier(),
        PassiveAggressiveClassifier(average=True),
        PassiveAggressiveClassifier(C=[0.01, 1.0], average=True),
        PassiveAggressiveClassifier(kernel="rbf"),
        AROWClassifier(),
        AutoClassifier(experts="linear"),
    ],
    ids=lambda model: str(model)[:60],
)
def test_rounds(model, n_classes):
    X, y = stream(60, n_classes)
    model, twin = model.__class__(**model.get_params()), Calibration(n_classes)
    model.partial_fit(X[:1], y[:1], classes=np.arange(n_classes))
    nothing = np.zeros(1 if n_classes == 2 else n_classes)
    combined = model._model.combined
    # While scores are 0, all models vote for the second of two classes, or for the first of more.
    first = np.eye(len(nothing))[0] if combined is not None and combined.hedge else None
    twin.learn(int(y[0]), *((nothing, first) if first is None or n_classes > 2 else (first, None)))
    for t in range(1, len(y)):
        s, v = evidence(model, X[t : t + 1])
        shown = model.predict_proba(X[t : t + 1])[0]
        assert_allclose(twin.learn(int(y[t]), s, v), shown, rtol=1e-9)
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    same(model._model.calibration, twin)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_an_extreme_score_add_up_to_one(n_classes):
    """They added up to less where all other classes had less than 1e-13 before the last stage."""
    X, y = np.eye(3)[np.arange(60) % n_classes], np.arange(60) % n_classes
    model = PassiveAggressiveClassifier().partial_fit(X, y)
    assert_allclose(model.predict_proba(1e6 * X).sum(axis=1), 1, rtol=0, atol=1e-15)


def test_rounds_that_stand_for_others():
    gaps = [gap(t, 63) for t in range(4097, 20_000)]
    assert 31 < np.mean(gaps) < 33
    chosen = [4097]
    while chosen[-1] < 200_000:
        chosen.append(chosen[-1] + gap(chosen[-1], 63))
    assert 0.45 < np.mean(np.array(chosen) % 2) < 0.55  # alternating labels do not mislead it
    X, y = stream(10_000, 2)
    scores = play(X, y * 2.0 - 1, binary, pa1(0.01)).scores
    model = PassiveAggressiveClassifier(C=0.01, fit_intercept=False).partial_fit(X, y, classes=[0, 1])
    same(model._model.calibration, calibrate(scores, y, 2))


def test_probabilities_have_the_order_of_the_scores_where_they_disagree():
    """The margins of these forty rows are poor, so most of them are less probable than the predicted class must be."""
    X, y = make_blobs(100, n_features=4, centers=[(2, 2), (4, 4)], random_state=0)
    for seed in range(30):
        model = PassiveAggressiveClassifier(early_stopping=True, validation_fraction=0.5, random_state=seed)
        model.fit(X[:80], y[:80])
        order = model.decision_function(X).argsort()
        assert (np.diff(model.predict_proba(X)[order, 1]) > 0).all()
