"""However a stream is cut into calls of `partial_fit`, every learner learns the same, to the bit."""

from copy import deepcopy

import numpy as np
import pytest

import onmargin
from onmargin.features import ClassTermFeatures
from tests.saved import CASES as SAVED
from tests.saved import N_ROWS, Case, answers, phi

# Parameters that would otherwise be set by the rows of the first call.
FROM_ROWS = {"gamma": 0.3, "rate": 0.01}
# Classes that the first call needs: thresholds lie between ranks, and weights of rows on the simplex have no opposite.
NEEDED = {"OrdinalRegressor": [0, 1, 2], "entropic": [0, 1]}
COSTS = [
    Case("ClassFeatureClassifier", {"phi": source, "cost": cost})
    for source in (phi, ClassTermFeatures())
    for cost in ("squared", {1: {0: 3.0}})
]
CASES = [case for case in SAVED if (case.dtype, case.sparse) in {(np.float64, False), (np.float32, True)}] + COSTS
SEQUENCES = {"SequenceTagger", "StructuredPredictor"}


def learner(case):
    model = case.model()
    params = model.get_params(deep=False)
    return model.set_params(
        **{name: value for name, value in FROM_ROWS.items() if params.get(name, 0) in (None, "scale")}
    )


def stream(case):
    """Return a stream whose classes begin one after the other, and what its first call needs."""
    X, y = case.data()
    order = np.arange(N_ROWS)
    if case.name == "SequenceTagger":  # the first call needs a label
        order = np.roll(order, -1)
    elif y is not None and isinstance(y, np.ndarray) and y.dtype.kind == "i":
        order = np.argsort(np.where(order < N_ROWS // 3, -y, 0), kind="stable")
    matrix = not isinstance(case.parameters.get("cost", ""), str | dict)
    kind = case.parameters.get("geometry") if case.name == "BlockClassifier" else case.name
    classes = [0, 1, 2] if matrix else NEEDED.get(kind)
    if case.name in SEQUENCES:
        return [X[i] for i in order], [y[i] for i in order], {}
    y = y if y is None else [y[i] for i in order]
    return X[order], y, {} if classes is None else {"classes": classes}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cut_everywhere(case):
    X, y, named = stream(case)

    def learn(model, start, stop):
        first = {} if hasattr(model, "_model") else named
        return model.partial_fit(X[start:stop], None if y is None else y[start:stop], **first)

    whole, begun = learn(learner(case), 0, N_ROWS), learner(case)
    expected, totals = answers(whole, X), dict(whole.totals_)
    for cut in range(1, N_ROWS):
        learn(begun, cut - 1, cut)
        if cut % 4 == 1 or cut == N_ROWS - 1:
            both = learn(deepcopy(begun), cut, N_ROWS)
            if whole.get_params().get("kernel") is None:
                assert (answers(both, X), dict(both.totals_)) == (expected, totals)
            else:  # kernel values are computed in blocks, whose size affects rounding
                np.testing.assert_allclose(answers(both, X), expected, rtol=1e-9, atol=1e-9)
                assert dict(both.totals_) == pytest.approx(totals)


@pytest.mark.parametrize("options", [{}, {"phi": phi}], ids=["classes", "phi"])
@pytest.mark.parametrize("n", [1, 2])
def test_a_matrix_of_costs_needs_all_classes_at_first(options, n):
    """Whatever part of the stream the first call has."""
    kind = onmargin.ClassFeatureClassifier if options else onmargin.PassiveAggressiveClassifier
    model, X = kind(cost=np.ones((3, 3)) - np.eye(3), **options), np.eye(6)
    with pytest.raises(ValueError, match=rf"shape \({n}, {n}\) .* give classes= in the first call"):
        model.partial_fit(X[:n], [*range(n)])
    model.partial_fit(X[:n], [*range(n)], classes=[0, 1, 2])
