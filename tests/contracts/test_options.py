"""Which options go together: every pair either learns, or is refused by name before the data are looked at."""

import sys
from dataclasses import is_dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import onmargin
from onmargin import AutoClassifier, ParameterError, PassiveAggressiveClassifier, PassiveAggressiveRegressor
from onmargin.models.compatible import TABLE
from onmargin.models.options import declared

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
CLASSES, NUMBERS = np.arange(30) % 3, X @ [1.0, -2.0, 0.0, 0.5]
LEARNERS = [kind for name in onmargin.__all__ if is_dataclass(kind := getattr(onmargin, name))]
PACKAGE = Path(onmargin.__file__).parent

# Values of options that differ from the default, of which some go together and some do not.
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
OF_NUMBERS = {"loss": ["squared_epsilon_insensitive"], "epsilon": [0.0]}


def pairs(values):
    return [
        pytest.param({one: a, other: b}, id=f"{one}={a}-{other}={b}")
        for one, other in combinations(values, 2)
        for a in values[one]
        for b in values[other]
    ]


def learns_or_is_refused(kind, options, y):
    model = kind(max_iter=2, tol=None, **options)
    conflicts = [
        need
        for row in TABLE
        if (not row.having or hasattr(model, row.having))
        and row.choice.option in options
        and row.choice.holds(options[row.choice.option])
        for need in row.needs
        if hasattr(model, need.option) and not need.holds(getattr(model, need.option))
    ]
    if not conflicts:
        model.fit(X, y)
        assert np.isfinite(model.predict(X)).all()
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


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, np.uint8, Fraction], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(("update", "loss"), [("max", "hinge"), ("max", "squared_hinge"), ("exact", "hinge")])
def test_numbers_of_any_type_are_taken_for_what_they_are(kind, update, loss):
    C = kind(2)
    models = [PassiveAggressiveClassifier(C=value, update=update, loss=loss) for value in (C, float(C))]
    one, other = (model.partial_fit(X / 9, CLASSES).coef_ for model in models)
    np.testing.assert_array_equal(one, other)
    default = PassiveAggressiveClassifier(update=update, loss=loss).partial_fit(X / 9, CLASSES).coef_
    assert not np.array_equal(one, default)


def test_table_is_of_options_that_there_are():
    known = set().union(*(declared(kind) for kind in LEARNERS))
    assert {choice.option for row in TABLE for choice in (row.choice, *row.needs)} <= known
    assert all(row.why for row in TABLE)


@pytest.mark.parametrize("kind", [PassiveAggressiveClassifier, AutoClassifier])
def test_learning_begins_after_few_calls(kind):
    """Of Python functions of the library, in a first partial_fit."""
    y = (X[:, 0] > 0).astype(int)
    calls = []

    def count(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            calls.append(frame.f_code.co_qualname)

    kind().partial_fit(X, y)  # what is imported or remembered once does not count
    model, before = kind(), sys.getprofile()
    sys.setprofile(count)
    try:
        model.partial_fit(X, y)
    finally:
        sys.setprofile(before)
    assert 0 < len(calls) < 80, calls
