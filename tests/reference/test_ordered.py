"""Experts for ordered streams: the core equals the NumPy reference, and late labels leave them out."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from onmargin import AutoClassifier, AutoRegressor, reference, stream
from onmargin._core.geometries.forest import Forest
from onmargin._core.geometries.label_chain import LabelChain
from onmargin._core.geometries.lagged import Lagged
from onmargin._core.geometries.ridge import Ridge
from onmargin._core.geometries.standardized import Standardized
from onmargin._core.steps.step import Residual
from onmargin._core.tasks.task import Indicators, Regression
from onmargin.evaluate import progressive
from onmargin.learner import Learner, as_rows
from onmargin.models.ensemble import find_members
from tests.reference.test_forest import scores_before
from tests.streams import CONTAINERS

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(400, 3))
NEXT = RANDOM.dirichlet(np.full(4, 0.3), (4, 4))
LABELS = [0, 1]
for _ in range(398):
    LABELS.append(int(RANDOM.choice(4, p=NEXT[LABELS[-2], LABELS[-1]])))
WEIGHT = RANDOM.choice([0.5, 1.0, 4.0], 400)
SERIES = np.cumsum(RANDOM.normal(size=400)) + 3 * X[:, 0]


def chain(n_columns, order):
    return Learner(Indicators(), Residual(), LabelChain(3, n_columns, np.float64, order))


def changes(inner, n_features=3, dtype=np.float64, **settings):
    return Learner(Regression(0.0), Residual(), Lagged(inner, n_features, dtype, **settings))


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("container", CONTAINERS)
def test_frequencies_are_those_of_the_twin(order, container):
    found = scores_before(chain(4, order), X, np.array(LABELS, float), WEIGHT, container)
    assert_allclose(found, reference.label_chain(LABELS, 4, order, WEIGHT), rtol=1e-12)
    signs = [int(label > 1) for label in LABELS]
    found = scores_before(chain(1, order), X, 2.0 * np.array(signs) - 1, WEIGHT, container)
    wanted = reference.label_chain(signs, 2, order, WEIGHT)
    assert_allclose(found[:, 0], wanted[:, 1] - wanted[:, 0], rtol=1e-12, atol=1e-15)


def test_counts_begin_again_where_there_are_too_many_labels():
    labels = np.random.default_rng(1).integers(0, 300, 8000).tolist()
    model = chain(300, 1)
    found = scores_before(model, np.zeros((8000, 3)), np.array(labels, float))
    assert_allclose(found, reference.label_chain(labels, 300, 1), rtol=1e-12)
    assert 0 < model.geometry.used < len(set(pairwise(labels)))


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_changes_are_those_of_the_twin(container, dtype):
    rows = X[:150].astype(dtype)

    def of_changes(rows, targets):
        return reference.forest(rows, targets[:, None])[0][:, 0]

    model = changes(Forest(6, 1, dtype), dtype=dtype)
    found = scores_before(model, rows, SERIES[:150], container=container)
    assert_allclose(found[:, 0], reference.lagged(X[:150], SERIES[:150], of_changes), rtol=1e-4, atol=1e-4)


def test_changes_without_rows():
    model = changes(Ridge(3, 1, np.float64, alpha=1.0), with_rows=False)
    with_rows = changes(Ridge(6, 1, np.float64, alpha=1.0))
    found = scores_before(model, X, SERIES)
    assert_allclose(found, scores_before(with_rows, np.zeros((400, 3)), SERIES), rtol=1e-9, atol=1e-12)


def test_weights_of_changes_predict():
    model = changes(Standardized(Ridge(6, 1, np.float64, alpha=1.0, bias=0.3)))
    model.learn(as_rows(X[:300]), SERIES[:300])
    (member,) = find_members(model.geometry, 1)
    weights, intercepts = member.plain(*member.leaf.mean())
    assert_allclose(X[300:] @ weights[0] + intercepts[0], model.scores(as_rows(X[300:]))[:, 0], rtol=1e-9)


def test_calls_and_copies_go_on_as_before():
    for make, y in (
        (lambda: chain(4, 2), np.array(LABELS, float)),
        (lambda: changes(Standardized(Ridge(6, 1, np.float64, alpha=1.0, bias=0.3))), SERIES),
    ):
        whole, parts = make(), make()
        whole.learn(as_rows(X), y)
        for some, targets in zip(np.split(X, [1, 50, 51]), np.split(y, [1, 50, 51]), strict=True):
            parts = pickle.loads(pickle.dumps(parts))
            parts.learn(as_rows(some), targets)
        assert_array_equal(whole.scores(as_rows(X)), parts.scores(as_rows(X)))


def test_classes_that_come_later_keep_their_counts():
    """Names of classes sort before and between the known ones."""
    cycle = ["m", "z", "m", "a", "z", "c"] * 30
    model = AutoClassifier()
    for t, label in enumerate(cycle):
        model.partial_fit(X[t : t + 1], [label])
    results = model.experts_
    assert results.mistakes[results.names.index("label chain of order 2")] < 20
    records = stream.AutoClassifier()
    for t, label in enumerate(["z", "a"] * 30):
        records.learn_one({"x": X[t, 0]}, label)
    assert records.experts_.mistakes[records.experts_.names.index("label chain")] < 5
    assert records.predict_one({"x": 0.0}) == "z"


def test_auto_follows_chains_and_changes():
    model = AutoClassifier().partial_fit(X, LABELS)
    assert model.experts_.names[model.experts_.leader] == "label chain of order 2"
    hours = np.arange(1500)
    series = 10 * np.sin(hours * 2 * np.pi / 24) + np.cumsum(np.random.default_rng(2).normal(size=1500))
    rows = np.column_stack([hours % 24, hours % 7]).astype(float)
    model = AutoRegressor().partial_fit(rows, series)
    last = np.abs(np.diff(series)).sum()
    assert model.totals_.loss < 0.7 * last
    records = [{"hour": row[0], "day": row[1]} for row in rows.tolist()]
    of_records = stream.AutoRegressor()
    of_records.learn_many(records, series.tolist())
    assert of_records.totals_.loss == pytest.approx(model.totals_.loss, rel=0.05)


ORDERED = {"last label", "label chain", "label chain of order 2", "last value", "autoregression", "ridge of changes",
           "forest of changes"}  # fmt: skip


@pytest.mark.parametrize(("learns", "y"), [(AutoClassifier, LABELS), (AutoRegressor, SERIES)])
def test_ordered_experts_can_be_left_out_at_any_time(learns, y):
    model = learns().partial_fit(X[:200], y[:200])
    names = model.experts_.names
    assert ORDERED & set(names)
    rest = [name for name in names if name not in ORDERED]
    assert learns(ordered=False).partial_fit(X[:200], y[:200]).experts_.names == rest
    assert model.set_params(ordered=False).partial_fit(X[200:], y[200:]).experts_.names == rest
    assert pickle.loads(pickle.dumps(model)).experts_.names == rest
    assert model.set_params(ordered=True).partial_fit(X[:1], y[:1]).experts_.names == rest


@pytest.mark.parametrize("module", ["estimators", "stream"])
def test_late_labels_are_not_known(module):
    """A cycle that a chain knows once labels are in time is as hard as its features if they are late."""
    kind = AutoClassifier if module == "estimators" else stream.AutoClassifier
    y = np.arange(300) % 4
    in_time = progressive(kind(), X[:300], y, delay=0)
    late = progressive(kind(), X[:300], y, delay=5)
    never = progressive(kind(ordered=False), X[:300], y, delay=5)
    assert in_time.error[-1] < 0.2
    assert late.error[-1] == never.error[-1]


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("clock", -1),
        ("names", np.array([-1, 0], np.int32)),
        ("last", np.zeros(3, np.int32)),
        ("counts", np.full(8192, -1.0)),
        ("keys", np.ones(8192, np.int64)),
    ],
)
def test_states_that_do_not_fit_are_refused(word, value):
    geometry = LabelChain(3, 1, np.float64, 1)
    with pytest.raises(ValueError, match=word):
        geometry.__setstate__(geometry.state() | {word: value})
    with pytest.raises(ValueError, match="inner geometry"):
        Lagged(Ridge(3, 1, np.float64, alpha=1.0), 3, np.float64)
