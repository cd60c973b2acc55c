"""Errors carry data: which example, which parameters. Nothing in the package reads the messages of errors."""

import pickle
import re
from pathlib import Path

import pytest

from onmargin import ExampleError, ParameterError, stream

PACKAGE = Path(__file__).parents[2] / "src/onmargin"


@pytest.mark.parametrize("index", [0, 1, 3])
def test_learn_many_names_the_refused_example(index):
    model = stream.PassiveAggressiveRegressor()
    X = [{"a": 1.0}] * 4
    with pytest.raises(ExampleError, match=f"^example {index}: ") as caught:
        model.learn_many([*X[:index], {"a": float("inf")}, *X[index:]], [1.0] * 5)
    assert caught.value.index == index
    assert caught.value.reason == str(caught.value.__cause__)
    assert model.totals_.rounds == index


def test_an_example_of_a_wrong_type_is_a_type_error_too():
    with pytest.raises(TypeError) as caught:
        stream.PassiveAggressiveClassifier().learn_many([{"a": 1.0}, {"a": 1.0}], ["spam", ["ham"]])
    assert isinstance(caught.value, ExampleError)
    assert isinstance(caught.value, ValueError)
    assert caught.value.index == 1


@pytest.mark.parametrize(
    "error",
    [
        ExampleError("x must be finite", 3),
        ExampleError.wrap(TypeError("x must be a dict"), 3),
        ParameterError("C must be positive", ["C"]),
        ParameterError("C and average do not go together", ("C", "average"), "Leave one out"),
    ],
    ids=["example", "type of an example", "parameter", "parameters"],
)
def test_errors_survive_pickling(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_a_parameter_error_names_the_parameters():
    error = ParameterError("C and average do not go together", ("C", "average"), "Leave one out")
    assert isinstance(error, ValueError)
    assert error.names == ("C", "average")
    assert str(error) == "C and average do not go together. Leave one out."


@pytest.mark.parametrize("folder", ["apps", "io"])
def test_no_message_is_searched(folder):
    """No module searches a message by a regular expression or a prefix."""
    searched = re.compile(
        r"(?:re\.\w+\(.*|\bin )str\((?:error|problem)\)|str\((?:error|problem)\)\.(?:remove|start|find|split|partition)"
    )
    found = [
        f"{path.relative_to(PACKAGE)}: {line.strip()}"
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if searched.search(line)
    ]
    assert not found, "messages of errors that are searched:\n" + "\n".join(found)
