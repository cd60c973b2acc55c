"""Per-class margins: the compiled round equals the NumPy reference, for every task, step, type and container."""

import numpy as np
import pytest

from onmargin import PassiveAggressiveClassifier, reference
from tests.reference.test_simultaneous import SCHEMES
from tests.streams import CONTAINERS, RULES, TASKS, gaussian

MARGINS = [2.5, 1.0, 0.25, 40.0, 1e-3]


def by_target(stream):
    """Return margins by the class codes of the task, and by label."""
    targets = [-1.0, 1.0] if stream.task == "binary" else np.arange(float(stream.columns)).tolist()
    return dict(zip(targets, MARGINS * 2, strict=False))


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize(
    ("task", "columns"), [("binary", 1), ("multiclass", 3), ("multiclass", 9), ("one_vs_rest", 3), ("one_vs_rest", 9)]
)
def test_core_equals_twin(task, columns, rule, dtype, container):
    stream = gaussian(task, columns, dtype=dtype)
    margin = by_target(stream)
    model = stream.estimator(rule, class_margin={int(label): value for label, value in margin.items()})
    model.partial_fit(CONTAINERS[container](stream.X), stream.y.astype(int), **stream.classes)
    asking = reference.with_margins(TASKS[task][1], margin)
    run = reference.play(stream.X.astype(np.float64), stream.y, asking, rule.twin, columns=columns)
    tolerance = 1e-9 if dtype is np.float64 else 1e-4
    scale = np.abs(run.weights).max()
    np.testing.assert_allclose(model.coef_, run.weights.T, atol=tolerance * scale)
    for name, value in dict(model.totals_).items():
        assert value == pytest.approx(getattr(run, name), rel=10 * tolerance), name


@pytest.mark.parametrize("C", [0.05, np.inf])
@pytest.mark.parametrize("update", sorted(set(SCHEMES) - {"simperc"}))
def test_all_rivals_need_the_margin(update, C):
    stream = gaussian("multiclass", 5)
    margin = by_target(stream)
    model = PassiveAggressiveClassifier(C=C, update=update, fit_intercept=False, class_margin=margin)
    model.partial_fit(stream.X, stream.y.astype(int), classes=range(5))
    asking, step = reference.with_margins(reference.rivals, margin), reference.simultaneous(SCHEMES[update], C)
    run = reference.play(stream.X, stream.y, asking, step, columns=5, total=max)
    np.testing.assert_allclose(model.coef_, run.weights.T, atol=1e-8)
    assert model.totals_.mistakes == run.mistakes
    assert model.totals_.loss == pytest.approx(run.loss)


def test_classes_without_a_given_margin_need_one():
    stream = gaussian("multiclass", 3)
    named = PassiveAggressiveClassifier(class_margin={2: 5.0, 0: 1.0, 1: 1.0}).partial_fit(stream.X, stream.y)
    model = PassiveAggressiveClassifier(class_margin={2: 5.0}).partial_fit(stream.X, stream.y)
    np.testing.assert_array_equal(model.coef_, named.coef_)


def test_on_the_simplex_the_default_margin_is_a_tenth():
    stream = gaussian("multiclass", 3)
    models = [
        PassiveAggressiveClassifier(geometry="entropic", class_margin=margin).partial_fit(stream.X, stream.y)
        for margin in (None, {2: 0.1}, {2: 0.3}, {0: 0.1, 1: 0.1, 2: 0.3})
    ]
    plain, same, wide, named = (model.coef_ for model in models)
    np.testing.assert_array_equal(plain, same)
    np.testing.assert_array_equal(wide, named)
    assert (plain != wide).any()


def test_margin_out_of_reach_on_the_simplex_warns():
    with pytest.warns(UserWarning, match="margin 7 is out of reach"):
        PassiveAggressiveClassifier(geometry="entropic", class_margin={1: 7.0}).partial_fit(np.eye(2), [0, 1])


def test_a_class_that_comes_late_has_its_margin():
    """Both earlier classes score 0 on its row, so the loss is the whole margin."""
    late = PassiveAggressiveClassifier(C=np.inf, fit_intercept=False, class_margin={"c": 4.0})
    late.partial_fit(np.eye(3)[:2], ["a", "b"]).partial_fit(np.eye(3)[2:], ["c"])
    assert late.totals_.loss == 1 + 1 + 4
    assert late.coef_[:, 2].tolist() == [-2.0, 0.0, 2.0]


@pytest.mark.parametrize("task", ["binary", "multiclass", "one_vs_rest"])
def test_several_c_and_kernels_need_the_margin_too(task):
    stream = gaussian(task, 1 if task == "binary" else 3)
    margin, y = {int(label): value for label, value in by_target(stream).items()}, stream.y.astype(int)

    def learned(**parameters):
        return stream.estimator(class_margin=margin, **parameters).partial_fit(stream.X, y, **stream.classes)

    alone = learned(C=0.05)
    np.testing.assert_array_equal(learned(C=[1.0, 0.05]).grid_.coef[1], alone.coef_)
    np.testing.assert_allclose(learned(C=0.05, kernel="linear").coef_, alone.coef_, atol=1e-9)


def test_target_loss_is_what_is_missing_from_the_margin():
    X, y = np.array([[2.0, 1.0], [-1.0, 1.0], [0.5, -2.0]]), ["rare", "usual", "usual"]
    model = PassiveAggressiveClassifier(class_margin={"rare": 5.0}, target_loss=1e-3, fit_intercept=False)
    scores = model.fit(X, y).decision_function(X)
    assert model.converged_
    assert -scores[0] >= 5 - 1e-3
    assert scores[1:].min() >= 1 - 1e-3
