"""Compatible options: every pair either learns, or is rejected by name before the data are read."""

import sys
from dataclasses import is_dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import onmargin
from onmargin import (
    AutoClassifier,
    BlockClassifier,
    ClassFeatureClassifier,
    ParameterError,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    SequenceTagger,
    StructuredPredictor,
)
from onmargin.models.compatible import ROWS, SEQUENCES, STRUCTURES, TABLE, TRIALS
from onmargin.models.options import declared
from tests.structures import stream

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
CLASSES, NUMBERS = np.arange(30) % 3, X @ [1.0, -2.0, 0.0, 0.5]
LEARNERS = [kind for name in onmargin.__all__ if is_dataclass(kind := getattr(onmargin, name))]
PACKAGE = Path(onmargin.__file__).parent

# Values of options that differ from the default; some pairs are compatible and some are not.
COMMON = {
    "C": [[0.1, 1.0], "auto", np.inf],
    "average": [True, "best"],
    "fit_intercept": [False],
    "geometry": ["entropic", "adaptive", "normalized"],
    "kernel": ["rbf", "linear"],
    "budget": [5],
    "target_loss": [50.0],
    "combine": ["hedge"],
    "early_stopping": [True],
}
OF_CLASSES = {
    "loss": ["squared_hinge"],
    "class_weight": ["balanced", {0: 2.0}],
    "class_margin": [{0: 2.0}],
    "update": ["simperc", "conproj", "simproj", "simopt", "conopt", "exact", "perceptron", "mira"],
    "cost": ["absolute"],
    "cost_update": ["max_loss"],
    "strategy": ["ovr"],
}
OF_TRIALS = {
    "C": [np.inf, 0.1],
    "margin": [0.5],
    "update": ["simperc", "conproj", "simproj", "simopt", "conopt", "exact"],
    "average": [True, 3],
    "geometry": ["entropic"],
}
OF_BLOCKS = {**OF_TRIALS, "fit_intercept": [True, np.True_], "intercept_scaling": [2.0]}
OF_CLASSES_WITH_FEATURES = {**OF_TRIALS, "loss": ["squared_hinge"], "phi": [lambda x, label: np.abs(x[label])]}
OF_SEQUENCES = {
    "C": [[0.1, 1.0], "auto", np.inf],
    "loss": ["squared_hinge"],
    "update": ["max_loss", "perceptron"],
    "cost": ["squared_hamming"],
    "label_cost": [{"A": 2.0}, [[0, 1], [2, 0]]],
    "transition_features": ["all", ("w",)],
    "separator": [None],
    "fit_intercept": [False],
    "average": [True, False],
    "combine": ["hedge"],
}
OF_STRUCTURES = {
    "C": [np.inf, 0.1],
    "loss": ["squared_hinge"],
    "update": ["max_loss"],
    "average": [True, 3],
    "check_rounds": [0],
}
OF_NUMBERS = {
    "loss": ["squared_epsilon_insensitive", "quantile"],
    "epsilon": [0.0],
    "quantile": [0.9],
    "geometry": ["entropic", "pnorm", "adaptive", "normalized"],
    "line_search": [True],
}


def pairs(values):
    return [
        pytest.param({one: a, other: b}, id=f"{one}={getattr(a, '__name__', a)}-{other}={getattr(b, '__name__', b)}")
        for one, other in combinations(values, 2)
        for a in values[one]
        for b in values[other]
    ]


def conflicts_of(model, options):
    """Return the unmet requirements of the table, which is read here without the library's own code."""
    return [
        need
        for row in TABLE
        if row.of == getattr(model, "round_of", "rows")
        if row.choice.option in options and row.choice.holds(options[row.choice.option])
        if row.along is None or row.along.holds(options.get(row.along.option))
        for need in row.needs
        if hasattr(model, need.option) and not need.holds(getattr(model, need.option))
    ]


def learns_or_is_refused(kind, options, y, X=X):
    model = kind(max_iter=2, tol=None, **options)
    conflicts = conflicts_of(model, options)
    if not conflicts:
        model.fit(X, y)
        assert len(model.predict(X)) == len(y)
        assert np.isfinite(model.totals_.loss)
        return
    with pytest.raises(ParameterError) as caught:
        model.fit("no data", y)
    assert {need.option for need in conflicts} <= set(caught.value.names)
    assert all(need.option in str(caught.value) or need.words in str(caught.value) for need in conflicts)


@pytest.mark.filterwarnings("ignore:margin .* is out of reach", "ignore:.*did not bring every loss down")
@pytest.mark.parametrize("options", pairs(COMMON | OF_CLASSES))
def test_pair_of_options_of_the_classifier(options):
    learns_or_is_refused(PassiveAggressiveClassifier, options, CLASSES)


@pytest.mark.filterwarnings("ignore:margin .* is out of reach", "ignore:.*did not bring every loss down")
@pytest.mark.parametrize("options", pairs(COMMON | OF_NUMBERS))
def test_pair_of_options_of_the_regressor(options):
    learns_or_is_refused(PassiveAggressiveRegressor, options, NUMBERS)


@pytest.mark.filterwarnings("ignore:margin .* is out of reach")
@pytest.mark.parametrize("options", pairs(OF_BLOCKS))
def test_pair_of_options_of_blocks(options):
    learns_or_is_refused(BlockClassifier, options, CLASSES > 0)


@pytest.mark.filterwarnings("ignore:margin .* is out of reach")
@pytest.mark.parametrize("options", pairs(OF_CLASSES_WITH_FEATURES))
def test_pair_of_options_of_classes_with_features(options):
    learns_or_is_refused(ClassFeatureClassifier, options, CLASSES, RNG.normal(size=(30, 3, 4)))


@pytest.mark.filterwarnings("ignore:all . values of C behaved the same")
@pytest.mark.parametrize("options", pairs(OF_SEQUENCES))
def test_pair_of_options_of_sequences(options):
    sequences = [[[f"w={i % 3}", f"v={i % 2}"], [f"w={(i + 1) % 3}"]] for i in range(12)]
    learns_or_is_refused(SequenceTagger, options, [["A", "B"] if i % 3 else ["B", "B"] for i in range(12)], sequences)


@pytest.mark.parametrize("options", pairs(OF_STRUCTURES))
def test_pair_of_options_of_structures(options):
    model, inputs, structures, _ = stream("chains", n=8)
    learns_or_is_refused(partial(StructuredPredictor, model=model), options, structures, inputs)


def test_three_incompatible_options():
    options = {"update": "max_loss", "label_cost": {"A": 2.0}, "C": [1.0, 2.0]}
    with pytest.raises(
        ParameterError, match=r"^update='max_loss' with label_cost needs cost='squared_hamming'"
    ) as caught:
        SequenceTagger(**options).fit("no data", [])
    assert caught.value.names == ("update", "label_cost", "cost")
    assert not conflicts_of(SequenceTagger(**options, cost="squared_hamming"), options)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, np.uint8, Fraction], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(("update", "loss"), [("max", "hinge"), ("max", "squared_hinge"), ("exact", "hinge")])
def test_numbers_may_have_any_type(kind, update, loss):
    C = kind(2)
    models = [PassiveAggressiveClassifier(C=value, update=update, loss=loss) for value in (C, float(C))]
    one, other = (model.partial_fit(X / 9, CLASSES).coef_ for model in models)
    np.testing.assert_array_equal(one, other)
    default = PassiveAggressiveClassifier(update=update, loss=loss).partial_fit(X / 9, CLASSES).coef_
    assert not np.array_equal(one, default)


def test_table_names_existing_options():
    known = dict.fromkeys((ROWS, TRIALS, SEQUENCES, STRUCTURES), frozenset())
    for kind in LEARNERS:
        known[getattr(kind, "round_of", ROWS)] |= declared(kind).keys()
    for row in TABLE:
        assert {choice.option for choice in (row.choice, *row.needs, *filter(None, [row.along]))} <= known[row.of]
    assert all(row.why for row in TABLE)


@pytest.mark.parametrize(("kind", "most"), [(PassiveAggressiveClassifier, 100), (AutoClassifier, 160)])
def test_learning_begins_after_few_calls(kind, most):
    """The calls are those of Python functions of the library, in a first partial_fit.

    Examples before the second label are a call of the rounds of their own: about 20 calls more.
    """
    y = (X[:, 0] > 0).astype(int)
    calls = []

    def count(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            calls.append(frame.f_code.co_qualname)

    kind().partial_fit(X, y)  # imports and caches do not count
    model, before = kind(), sys.getprofile()
    sys.setprofile(count)
    try:
        model.partial_fit(X, y)
    finally:
        sys.setprofile(before)
    assert 0 < len(calls) < most, calls
