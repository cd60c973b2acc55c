"""Kernels in streams learn what they learn from matrices, example by example."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

import onmargin
from onmargin import ParameterError, stream
from onmargin.features import RecordFeatures

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)) * (RNG.uniform(size=(60, 5)) < 0.7)
NAMES = [f"f{j}" for j in range(5)]
DICTS = [{NAMES[j]: float(row[j]) for j in np.flatnonzero(row)} for row in X]
ORDER = list(dict.fromkeys(name for x in DICTS for name in x))  # of first appearance
CSR = sparse.csr_matrix(X[:, [NAMES.index(name) for name in ORDER]])
CLASSES = np.array(["a", "b", "c"])[np.abs(X[:, :3]).argmax(axis=1)]
TARGETS = {
    "PassiveAggressiveClassifier": CLASSES,
    "PassiveAggressiveRegressor": X[:, 0] - X[:, 1],
    "LabelRanker": [{str(label), "x"} if i % 3 else {str(label)} for i, label in enumerate(CLASSES)],
    "PassiveAggressiveUniclass": [None] * len(X),
}
KERNELS = [
    {"kernel": "rbf", "gamma": 0.5},
    {"kernel": "linear"},
    {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
    {"kernel": "rbf", "gamma": 0.5, "budget": 7},
]


def scores(model, name, rows):
    if name.endswith("Regressor"):
        return model.predict(rows)
    return model.decision_function(rows)


def learned_by_rows(name, rows, options):
    model = getattr(onmargin, name)(**options)
    for i, y in enumerate(TARGETS[name]):
        model.partial_fit(rows[i : i + 1], *([] if y is None else [[y]]))
    return model


def of_stream(model, x):
    found = model.scores_one(x)
    if not isinstance(found, dict):
        return found
    return [found[label] for label in sorted(found)]


@pytest.mark.parametrize("options", KERNELS, ids=str)
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("form", ["names", "vectors"])
def test_scores_are_those_of_the_estimator(name, options, form):
    examples, rows = (DICTS, CSR) if form == "names" else (list(X), X)
    model, alone = getattr(stream, name)(**options), learned_by_rows(name, rows, options)
    for x, y in zip(examples, TARGETS[name], strict=True):
        model.learn_one(x, y)
    found = np.array([of_stream(model, x) for x in examples])
    np.testing.assert_allclose(found, scores(alone, name, rows), rtol=1e-9, atol=1e-9)
    assert model.totals_.mistakes == alone.totals_.mistakes
    assert model.totals_.updates == alone.totals_.updates


@pytest.mark.parametrize("name", TARGETS)
def test_learn_many_and_copies_continue_alike(name):
    model, single = (getattr(stream, name)(kernel="rbf", gamma=0.5) for _ in range(2))
    y = TARGETS[name]
    model.learn_many(DICTS[:40], None if name.endswith("Uniclass") else y[:40])
    model = pickle.loads(pickle.dumps(copy.deepcopy(model)))
    model.learn_many(DICTS[40:], None if name.endswith("Uniclass") else y[40:])
    for x, target in zip(DICTS, y, strict=True):
        single.learn_one(x, target)
    for x in DICTS:
        assert of_stream(model, x) == pytest.approx(of_stream(single, x))


def test_they_are_saved(tmp_path):
    model = stream.PassiveAggressiveClassifier(kernel="rbf", gamma=0.5).learn_many(DICTS[:30], CLASSES[:30])
    onmargin.save(model, tmp_path / "model")
    again = onmargin.load(tmp_path / "model").learn_many(DICTS[30:], CLASSES[30:])
    model.learn_many(DICTS[30:], CLASSES[30:])
    assert [of_stream(again, x) for x in DICTS] == [of_stream(model, x) for x in DICTS]


def test_gamma_needs_the_number_of_features():
    with pytest.raises(ParameterError, match="gamma='scale' depends on the number of features: set gamma to a number"):
        stream.PassiveAggressiveClassifier(kernel="rbf").learn_one(DICTS[0], "a")
    hashed = RecordFeatures(n_features=2**6)
    stream.PassiveAggressiveClassifier(kernel="rbf", features=hashed).learn_many(DICTS, CLASSES)
    alone = learned_by_rows("PassiveAggressiveRegressor", X, {"kernel": "rbf"})
    model = stream.PassiveAggressiveRegressor(kernel="rbf").learn_many(X, TARGETS["PassiveAggressiveRegressor"])
    np.testing.assert_allclose([model.predict_one(x) for x in X], alone.predict(X), rtol=1e-9, atol=1e-9)


def test_methods_that_kernels_do_not_have():
    model = stream.PassiveAggressiveClassifier(kernel="linear").learn_many(DICTS, CLASSES)
    for ask in (lambda: model.weights("a"), lambda: model.explain(DICTS[0])):
        with pytest.raises(ValueError, match="a kernel has no weights by feature"):
            ask()
    with pytest.raises(ParameterError, match="kernel='precomputed' needs a matrix"):
        stream.PassiveAggressiveClassifier(kernel="precomputed")
    with pytest.raises(ParameterError, match="a kernel over a window of examples needs a matrix"):
        stream.DualAscentClassifier(kernel="rbf")
