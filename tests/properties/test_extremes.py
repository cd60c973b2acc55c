"""Numbers of any size that a double can have: what is refused changes nothing, and all else leaves a finite model."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError

import onmargin
from onmargin._parts import take_apart
from tests.examples import examples
from tests.saved import CASES, TARGETS, anatomy, is_part

# Learners of rows with labels or numbers, in double precision.
LEARNERS = [
    case
    for case in CASES
    if case.dtype is np.float64
    and TARGETS.get(case.name, "classes") not in {"sets"}
    and case.name not in {"SequenceTagger", "StructuredPredictor", "ClassFeatureClassifier", "BlockClassifier"}
]


def numbers(value):
    """All floating-point numbers that a model has learned."""
    if isinstance(value, np.ndarray):
        return value.ravel().tolist() if value.dtype.kind == "f" else []
    if isinstance(value, float):
        return [value]
    if sparse.issparse(value):
        return value.data.tolist()
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers(item)]
    if isinstance(value, list | tuple):
        return [number for item in value for number in numbers(item)]
    if is_part(value):
        pieces = take_apart(value)
        inner = [argument for argument in pieces.arguments if is_part(argument) or isinstance(argument, tuple | list)]
        return numbers(pieces.state) + [number for part in inner if is_part(part) for number in numbers(part)]
    return []


def check_finite(model, X):
    learned = {name: value for name, value in vars(model).items() if name.startswith("_") or name.endswith("_")}
    assert np.isfinite(numbers(learned)).all()
    answer = model.decision_function if hasattr(model, "decision_function") else model.predict
    with np.errstate(all="ignore"):
        assert np.isfinite(answer(X)).all()


sizes = st.floats(-300, 300).map(lambda exponent: 10.0**exponent) | st.sampled_from([0.0, 5e-324, 1e300])


@pytest.mark.parametrize("case", LEARNERS, ids=str)
@examples(25)
@given(st.data())
def test_model_stays_finite_and_learns_on(case, data):
    X, y = case.half(0)
    container = sparse.csr_matrix if case.sparse else np.asarray
    model = case.model().partial_fit(X, y)
    for i in range(data.draw(st.integers(1, 4))):
        x = X[[i]].toarray() if case.sparse else X[[i]]
        x = x * (data.draw(st.lists(sizes, min_size=x.size, max_size=x.size)) if data.draw(st.booleans()) else 1.0)
        weight = data.draw(sizes) if data.draw(st.booleans()) else 1.0
        target = None if y is None else y[i : i + 1]
        if TARGETS.get(case.name) == "numbers" and data.draw(st.booleans()):
            target = target * data.draw(sizes)
        before = deepcopy(model)
        try:
            with np.errstate(all="ignore"):
                model.partial_fit(container(x), target, sample_weight=[weight])
        except ValueError:
            assert anatomy(model) == anatomy(before)
        check_finite(model, X)
    rounds = model.totals_.rounds
    with np.errstate(all="ignore"):
        model.partial_fit(*case.half(1))
    assert model.totals_.rounds == rounds + 30
    check_finite(model, X)


def test_average_over_many_rounds_stays_finite():
    """The step is 1e307, which has a number, and forty times as much has none."""
    model = onmargin.PassiveAggressiveClassifier(C=np.inf, average=True, fit_intercept=False)
    model.partial_fit(np.tile([[1.0, 0.0], [-1.0, 0.0]], (20, 1)), [0, 1] * 20)
    model.partial_fit([[0.0, 3e-154]], [0])
    check_finite(model, np.eye(2))


@pytest.mark.parametrize("kind", [onmargin.GradientDescentRegressor, onmargin.ExponentiatedGradientRegressor])
@pytest.mark.parametrize("size", [1e-157, 1e160, 1e300])
def test_first_rows_without_a_proved_rate_are_refused(kind, size):
    model = kind()
    with pytest.raises(ValueError, match=r"row 1 of X is too large or too small .* set rate"):
        model.partial_fit(size * np.array([[0.0, 0.0], [1.0, 0.0]]), [1.0, 1.0])
    with pytest.raises(NotFittedError):
        model.predict([[1.0, 0.0]])
