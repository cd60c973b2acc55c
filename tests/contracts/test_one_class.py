"""A single label is learned as the first of two classes, with the result of a model that knows both from the start."""

from copy import deepcopy

import numpy as np
import pytest

import onmargin
from onmargin import river, stream
from onmargin.theory import certify

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5))
X[7] = 0  # learns nothing
SIDE = X @ RNG.normal(size=5) > 0
ORDER = np.argsort(SIDE, kind="stable")  # all of one side first
ROWS, SORTED = X[ORDER], SIDE[ORDER]

CASES = {
    "PassiveAggressiveClassifier": [
        {},
        {"loss": "squared_hinge"},
        {"strategy": "ovr"},
        {"average": True},
        {"class_margin": {"a": 2.0}},
        {"class_weight": "balanced"},
        {"geometry": "adaptive"},
        {"geometry": "normalized"},
        {"kernel": "rbf", "gamma": 0.2},
        {"update": "exact"},
        {"C": [0.1, 1.0]},
    ],
    "Perceptron": [{}, {"class_weight": {"a": 0.5}}],
    "PNormPerceptron": [{}],
    "QuasiAdditiveClassifier": [{}, {"geometry": "entropic"}, {"geometry": "pnorm", "step": "fixed"}],
    "DualAscentClassifier": [{}, {"window": 3}, {"kernel": "rbf", "gamma": 0.2}],
    "Winnow": [{"balanced": True}],
    "AROWClassifier": [{}, {"average": True}],
    "SCWClassifier": [{}],
    "NHERDClassifier": [{}],
    "OnlineLogisticClassifier": [{}, {"geometry": "euclidean", "rate": 0.1}],
    "AutoClassifier": [{}, {"combine": "leader"}],
}
every_case = pytest.mark.parametrize(
    ("name", "options"),
    [(name, options) for name, variants in CASES.items() for options in variants],
    ids=lambda value: value if isinstance(value, str) else ",".join(map(str, value)),
)


def labels(first, second):
    return np.where(SORTED, second, first)


def learned(model):
    """Return what a fitted model has learned, as users see it."""
    totals = np.array([*dict(model.totals_).values()])
    return [model.decision_function(ROWS), model.predict_proba(ROWS), model.classes_, model.class_counts_, totals]


def assert_equal(one, other, *, rounding=1e-12):
    for a, b in zip(learned(one), learned(other), strict=True):
        if one.get_params().get("kernel") is None or a.dtype.kind == "U":
            np.testing.assert_array_equal(a, b)
        else:  # kernel values are computed in blocks, whose size affects rounding
            np.testing.assert_allclose(a, b, rtol=rounding, atol=rounding)


@every_case
def test_both_classes_known_from_the_start(name, options):
    """The label that is met first is also the first of the two in order."""
    kind, y = getattr(onmargin, name), labels("a", "b")
    expected = kind(**options).partial_fit(ROWS, y, classes=["a", "b"])
    assert_equal(kind(**options).partial_fit(ROWS, y), expected)


@every_case
def test_order_of_labels(name, options):
    """If the label that is met first is the second in order, the weights change sign when the other is met."""
    if name == "AutoClassifier":
        pytest.skip("experts that tie vote for the second class in order, which is not known before its first example")
    kind, y = getattr(onmargin, name), labels("b", "a")
    expected = kind(**options).partial_fit(ROWS, y, classes=["a", "b"])
    assert_equal(kind(**options).partial_fit(ROWS, y), expected)


@every_case
def test_cut_everywhere(name, options):
    kind, y = getattr(onmargin, name), labels("b", "a")
    whole = kind(**options).partial_fit(ROWS, y)
    begun = kind(**options)
    for cut in range(1, len(y)):
        begun.partial_fit(ROWS[cut - 1 : cut], y[cut - 1 : cut])
        if cut % 5 == 0:
            assert_equal(deepcopy(begun).partial_fit(ROWS[cut:], y[cut:]), whole)


THREE = [
    *((name, options) for name, variants in CASES.items() for options in variants),
    ("PassiveAggressiveClassifier", {"geometry": "entropic"}),
    ("PassiveAggressiveClassifier", {"cost": {"0": {"1": 2.0}}}),
    ("PassiveAggressiveClassifier", {"cost": "absolute"}),
]


@pytest.mark.parametrize(("name", "options"), THREE, ids=str)
def test_a_third_class_cut_everywhere(name, options):
    """A third class begins where it first occurs, whether or not the call began before."""
    kind, y = getattr(onmargin, name), labels("1", "0")
    y[25::4] = "2"
    rows = np.abs(ROWS) if options.get("geometry") == "entropic" else ROWS
    whole = kind(**options).partial_fit(rows, y)
    begun = kind(**options)
    for cut in range(1, len(y)):
        begun.partial_fit(rows[cut - 1 : cut], y[cut - 1 : cut])
        if cut % 5 == 0:
            assert_equal(deepcopy(begun).partial_fit(rows[cut:], y[cut:]), whole, rounding=1e-9)


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
@every_case
def test_streams(name, options, order):
    """Stream learners of vectors learn the same, however they are called."""
    if "kernel" in options and name == "DualAscentClassifier":
        pytest.skip("a kernel over a window of examples needs a matrix")
    y = labels(*order).tolist()
    matrix = getattr(onmargin, name)(**options).partial_fit(ROWS, y)
    one, many = getattr(stream, name)(**options), getattr(stream, name)(**options)
    for row, label in zip(ROWS, y, strict=True):
        one.learn_one(row, label)
    for start in range(0, len(y), 7):
        many.learn_many(ROWS[start : start + 7], y[start : start + 7])
    for model in one, many:
        scores = [model.scores_one(row)["b"] for row in ROWS]
        if "kernel" in options:  # kernel values are computed in blocks, whose size affects rounding
            np.testing.assert_allclose(scores, matrix.decision_function(ROWS), rtol=1e-9, atol=1e-9)
        else:
            assert model.totals_ == matrix.totals_
            np.testing.assert_array_equal(scores, matrix.decision_function(ROWS))


@every_case
def test_river(name, options):
    """The river face learns dicts as the stream face does."""
    if "kernel" in options or name in {"Winnow", "PNormPerceptron"} or options.get("geometry") in {"entropic", "pnorm"}:
        pytest.skip("the number of features must be known, or the kernel needs a matrix")
    y, rows = labels("b", "a").tolist(), [dict(zip("vwxyz", row, strict=True)) for row in ROWS.tolist()]
    streamed, wrapped = getattr(stream, name)(**options).learn_many(rows, y), getattr(river, name)(**options)
    for row, label in zip(rows, y, strict=True):
        wrapped.learn_one(row, label)
    assert wrapped.model.totals_ == streamed.totals_
    assert [wrapped.predict_proba_one(row) for row in rows] == [streamed.predict_proba_one(row) for row in rows]


def test_every_classifier_has_a_case():
    """Other classifiers of rows have the same classes; `ClassFeatureClassifier` has features of them."""
    assert set(CASES) == {name for name in stream.__all__ if name.endswith(("Classifier", "Perceptron", "Winnow"))} - {
        "ClassFeatureClassifier"
    }


@pytest.mark.parametrize("name", CASES)
def test_one_class_only(name):
    """The only class is predicted, with certainty, and its examples are rounds of a problem with two classes."""
    y, options = np.full(20, "only"), CASES[name][0]
    model = getattr(onmargin, name)(**options).partial_fit(ROWS[:20], y)
    assert set(model.predict(ROWS)) == {"only"}
    np.testing.assert_array_equal(model.predict_proba(ROWS), np.ones((len(ROWS), 1)))
    records = getattr(stream, name)(**options).learn_many(ROWS[:20], y)
    assert records.predict_one(ROWS[0]) == "only"
    assert records.predict_proba_one(ROWS[0]) == {"only": 1.0}
    assert model.totals_.updates == records.totals_.updates > 0


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Winnow", {}),
        ("PassiveAggressiveClassifier", {"geometry": "entropic"}),
        ("QuasiAdditiveClassifier", {"geometry": "entropic", "balanced": False}),
        ("PassiveAggressiveClassifier", {"cost": {"a": {"b": 2.0}}}),
    ],
)
def test_models_that_wait(name, options):
    """Weights on the simplex have no opposite, and a cost is that of two labels: nothing is learned of one label."""
    rows, y = np.abs(ROWS), labels("b", "a")
    model = getattr(onmargin, name)(**options)
    for i in range(5):
        model.partial_fit(rows[i : i + 1], y[i : i + 1])
    assert model.totals_.rounds == 5
    assert model.totals_.updates == model.totals_.mistakes == 0


def test_three_classes_after_one():
    """Labels that are given together are columns; the first one takes the part of the class without a name."""
    y = np.array(["b"] * 10)
    model = onmargin.PassiveAggressiveClassifier(fit_intercept=False).partial_fit(ROWS[:10], y)
    before = model.decision_function(ROWS)
    model.partial_fit(np.zeros((1, 5)), ["b"], classes=["a", "b", "c"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    after = model.decision_function(ROWS)
    np.testing.assert_allclose(after[:, 0] - after[:, 1], before, atol=1e-12)


@pytest.mark.parametrize("update", ["max", "exact", "simproj"])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_blocks(order, average, update):
    """Blocks are learned alike, whichever label comes first, and however they are cut."""
    y, groups = labels(*order), np.arange(len(ROWS)) // 3
    options = {"update": update, "average": average, "fit_intercept": True}
    expected = onmargin.BlockClassifier(**options).partial_fit(ROWS, y, groups, classes=["a", "b"])
    for ends in [[len(y)], [3, len(y)], [3, 24, 36, len(y)], [*range(3, len(y), 3), len(y)]]:
        model = onmargin.BlockClassifier(**options)
        for start, stop in zip([0, *ends], ends, strict=False):
            model.partial_fit(ROWS[start:stop], y[start:stop], groups[start:stop])
            assert set(model.predict(ROWS)) <= set(y[:stop])
        assert model.totals_ == expected.totals_
        assert model.classes_.tolist() == ["a", "b"]
        np.testing.assert_array_equal(model.decision_function(ROWS), expected.decision_function(ROWS))


def test_blocks_of_one_class():
    y = np.full(len(ROWS), "only")
    model = onmargin.BlockClassifier().partial_fit(ROWS, y)
    assert set(model.predict(ROWS)) == {"only"}
    assert certify(model, ROWS, y).holds
    with pytest.raises(ValueError, match="fit needs both classes"):
        model.set_params(warm_start=True).fit(ROWS, y)
    with pytest.raises(ValueError, match="it has 3 labels"):
        model.partial_fit(ROWS[:2], ["one", "two"])
    with pytest.raises(ValueError, match="needs both classes"):
        onmargin.BlockClassifier(geometry="entropic").partial_fit(ROWS, y)
    assert model.fit(ROWS, labels("only", "other")).classes_.tolist() == ["only", "other"]
