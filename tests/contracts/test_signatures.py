"""The docstring of a learner describes the parameters that its signature has, and signatures are short."""

import re
from dataclasses import MISSING
from inspect import Parameter, signature

import pytest
from sklearn.base import BaseEstimator

import onmargin
from onmargin import stream
from onmargin.estimators._estimator import Estimator
from onmargin.models.options import check_options, declared

LEARNERS = [
    value
    for module in (onmargin, stream)
    for value in (getattr(module, name) for name in module.__all__)
    if isinstance(value, type) and (issubclass(value, BaseEstimator) or module is stream)
]
PLANNED = [kind for kind in LEARNERS if issubclass(kind, Estimator) and hasattr(kind, "plan")]
SECTION = re.compile(r"    Parameters\n    -+\n(.*?)(?=\n\n    \w[\w ]*\n    -+\n)", re.DOTALL)


def name_of(kind):
    return f"{kind.__module__}.{kind.__name__}"


@pytest.mark.parametrize("kind", LEARNERS, ids=name_of)
def test_parameters_are_described_in_the_order_of_the_signature(kind):
    described = re.findall(r"^    (\w+) : ", SECTION.search(kind.__doc__)[1] + "\n", re.MULTILINE)
    assert described == list(signature(kind).parameters)


@pytest.mark.parametrize("kind", LEARNERS, ids=name_of)
def test_attributes_are_described_once(kind):
    section = kind.__doc__.split("    Attributes\n")[1].split("\n\n")[0]
    described = re.findall(r"^    (\w+) : ", section, re.MULTILINE)
    assert "totals_" in described
    assert len(described) == len(set(described))


def test_attributes_replace_inherited_ones_in_their_place():
    text = onmargin.AutoClassifier.__doc__.split("    Attributes\n")[1]
    assert text.index("Weights of the best linear expert") < text.index("classes_ :") < text.index("experts_ :")
    assert "Weights; a view of the learned weights" not in text


@pytest.mark.parametrize("kind", LEARNERS, ids=name_of)
def test_parameters_are_keywords(kind):
    assert {parameter.kind for parameter in signature(kind).parameters.values()} == {Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("kind", LEARNERS, ids=name_of)
def test_signatures_name_types_by_one_word(kind):
    methods = [value for name, value in vars(kind).items() if callable(value) and not name.startswith("_")]
    for function in [kind, *methods]:
        assert "_SupportsArray" not in str(signature(function))


@pytest.mark.parametrize("kind", PLANNED, ids=name_of)
def test_defaults_are_accepted_and_compatible(kind):
    """Defaults are not checked at run time, so that learning begins sooner."""
    required = {name: object() for name, (default, _) in declared(kind).items() if default is MISSING}
    options = kind(**required)
    for name, (default, accepted) in declared(kind).items():
        assert not accepted or any(rule.accepts(default) for rule in accepted), name
    for name, value in vars(options).items():
        # As if each had been passed by the user.
        vars(options)[name] = _same(value)
    check_options(options)


def _same(value):
    """Return an equal value that is another object, if possible."""
    return type(value)(f"{value}") if isinstance(value, float | str) and value else value


@pytest.mark.parametrize("name", ["BlockClassifier", "ClassFeatureClassifier", "SequenceTagger", "StructuredPredictor"])
def test_learners_of_more_than_rows_have_plans(name):
    assert getattr(onmargin, name) in PLANNED
