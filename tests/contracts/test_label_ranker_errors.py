"""Bad input to LabelRanker raises a helpful error and leaves the model as it was."""

import re

import joblib
import numpy as np
import pytest
from scipy import sparse

from onmargin import LabelRanker
from tests.contracts.test_label_ranker import NAMED, NAMES, SETS, X, Y

COMBINATIONS = {
    "squared loss": ({"update": "simproj", "loss": "squared_hinge"}, "update='simproj' needs loss='hinge'"),
    "fixed step without end": ({"update": "simperc", "C": np.inf}, "needs a finite C"),
    "exact, calibrated": ({"update": "exact"}, "update='exact' needs calibrate=False"),
    "all at once": (
        {"update": "exact", "loss": "squared_hinge"},
        "needs loss='hinge'; update='exact' needs calib",
    ),
    "update of the classifier": ({"update": "mira"}, "update must be 'max' or"),
    "loss of the regressor": ({"loss": "epsilon_insensitive"}, "loss must be"),
    "no flag": ({"calibrate": "yes"}, "calibrate must be True or False"),
}
with_2, with_nan = Y.copy(), Y.astype(float)
with_2[3, 1], with_nan[3, 1] = 2, np.nan
unsound = sparse.csr_matrix(Y)
unsound.indices = unsound.indices.copy()
unsound.indices[0] = 99
LABELS = {
    "nothing": (None, "requires y to be passed"),
    "flat": (Y[:, 0], "indicator matrix of shape (n_samples, n_labels)", "got an array of shape (80,)"),
    "flat names": (NAMES[Y[:, 0]], "[{label} for label in y]"),
    "flat list": (Y[:, 0].tolist(), "Y[0] is 0, not a set of labels"),
    "of three dimensions": (Y[None], "got an array of shape (1, 80, 4)"),
    "text": ("abc", "got 'abc'"),
    "dict": (dict(enumerate(SETS)), "a list of label sets"),
    "generator": ((labels for labels in SETS), "a list of label sets"),
    "twos": (with_2, "Y must hold 0 and 1 only", "got 2"),
    "signs": (2 * Y - 1, "got -1"),
    "NaN": (with_nan, "Y must hold 0 and 1 only", "got nan"),
    "sparse twos": (sparse.csc_matrix(with_2), "Y must hold 0 and 1 only", "got 2"),
    "sparse twice": (sparse.coo_matrix((np.ones(2), ([0, 0], [1, 1])), shape=(80, 4)), "got 2.0"),
    "sparse and flat": (sparse.coo_array(Y[:, 0]), "got a sparse array of shape (80,)"),
    "unsound": (unsound, "Y is not a valid CSR matrix"),
    "matrix of names": (np.full((80, 2), "ash"), "For label sets give a list"),
    "matrix of objects": (np.full((80, 2), "ash", dtype=object), "For label sets give a list"),
    "no columns": (Y[:, :0], "Y has no columns"),
    "short": (Y[1:], "got 80 and 79"),
    "short list": (SETS[1:], "got 80 and 79"),
    "strings": (["abc"] * 80, "Y[0] is the string 'abc', not a set of labels: write {'abc'} for one label"),
    "string among sets": ([*NAMED[:7], "ash", *NAMED[8:]], "Y[7] is the string 'ash'"),
    "dict among sets": ([{"ash": 1}] * 80, "Y[0] is {'ash': 1}, not a set"),
    "matrix among sets": ([np.eye(2)] * 80, "Y[0] is array"),
    "float labels": ([[], [0.5], *SETS[2:]], "Y[1] has the label 0.5; labels must be strings or integers"),
    "bool labels": (Y.astype(bool).tolist(), "labels must be strings or integers"),
    "unhashable labels": ([[["ash"]]] * 80, "Y[0] has the label ['ash']"),
    "missing labels": ([[None]] * 80, "Y[0] has the label None"),
    "mixed labels": ([*SETS[:40], *NAMED[40:]], "all strings or all integers", "Convert them with str"),
    "huge labels": ([[2**70]] * 80, "fit 64 bits"),
    "indicator as a list": (Y.tolist(), "twice", "np.asarray(Y)"),
}


STAGES = {
    "new": lambda labels: LabelRanker(),
    "learned": lambda labels: LabelRanker(warm_start=True).partial_fit(X, labels),
    "averaged": lambda labels: LabelRanker(average=True, warm_start=True).partial_fit(X, labels),
    "sparsified": lambda labels: LabelRanker(warm_start=True).partial_fit(X, labels).sparsify(),
}
every_stage = pytest.mark.parametrize("stage", STAGES)
every_method = pytest.mark.parametrize("method", ["fit", "partial_fit"])


def assert_refused(model, call, *words):
    """Check that an error has these words in its message, and that the model does not change, bit for bit."""
    before = joblib.hash(model)
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        call()
    for word in words:
        assert word in str(caught.value)
    assert joblib.hash(model) == before


@every_method
@pytest.mark.parametrize("name", COMBINATIONS)
def test_combinations_are_refused(name, method):
    parameters, words = COMBINATIONS[name]
    for make in STAGES.values():
        model = make(Y).set_params(**parameters)
        assert_refused(model, lambda model=model: getattr(model, method)(X, Y), words)


@every_stage
@every_method
@pytest.mark.parametrize("name", LABELS)
def test_labels_are_refused(name, method, stage):
    labels, *words = LABELS[name]
    model = STAGES[stage](Y)
    assert_refused(model, lambda: getattr(model, method)(X, labels), *words)


@every_method
def test_labels_that_do_not_fit_those_learned(method):
    matrix, names, numbers = (STAGES["learned"](labels) for labels in (Y, NAMED, [{label + 1} for label in range(80)]))
    cases = [
        (matrix, Y[:, :3], "Y is an indicator matrix of 3 columns", "give a matrix of 4 columns"),
        (matrix, NAMED, "labels must be all strings or all integers"),
        (matrix, [{7}] * 80, "the label 7 is not one of 0 to 3", "start with label sets"),
        (names, Y, "the 4 labels learned so far are ['ash', 'birch', 'elm', 'fir']: give a list of label sets"),
        (names, SETS, "labels must be all strings or all integers"),
        (numbers, np.zeros((80, 80), int), "Y is an indicator matrix of 80 columns"),
    ]
    for model, labels, *words in cases:
        assert_refused(model, lambda model=model, labels=labels: getattr(model, method)(X, labels), *words)
        if "7" not in words[0]:
            assert_refused(model, lambda model=model, labels=labels: model.score(X, labels), *words)


@pytest.mark.parametrize(
    ("classes", "labels", "words"),
    [
        ("abc", NAMED, "classes must be a list"),
        (3, NAMED, "classes must be a list"),
        ([0.5, 1.5], SETS, "classes has the label 0.5"),
        (["ash", 3], NAMED, "all strings or all integers"),
        (range(4), NAMED, "labels must be all strings or all integers"),
        (range(5), Y, "the label 4 is not one of 0 to 3"),
        (NAMES, Y, "labels must be all strings or all integers"),
    ],
)
def test_classes_are_refused(classes, labels, words):
    model = LabelRanker()
    assert_refused(model, lambda: model.partial_fit(X, labels, classes=classes), words)


def test_calibration_cannot_change():
    model = LabelRanker(warm_start=True).partial_fit(X, Y).set_params(calibrate=False)
    for call in (model.fit, model.partial_fit):
        assert_refused(model, lambda call=call: call(X, Y), "calibrate cannot change after training has started")


def test_too_few_labels_to_fit():
    for parameters, labels, words in (
        ({}, [set()] * 80, "at least one label with calibrate=True, and Y has 0"),
        ({"calibrate": False}, Y[:, :1], "at least two labels with calibrate=False, and Y has 1"),
    ):
        model = LabelRanker(**parameters)
        assert_refused(model, lambda model=model, labels=labels: model.fit(X, labels), words)
        model.partial_fit(X, labels)


def test_sample_weight_is_refused():
    model = LabelRanker()
    assert_refused(model, lambda: model.fit(X, Y, sample_weight=[1.0]), "sample_weight must have shape (80,)")
    assert_refused(model, lambda: model.fit(X, Y, sample_weight=-np.ones(80)), "must not be negative")
