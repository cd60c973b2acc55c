"""Taggers of several C at once: each equals a tagger trained alone, and the vote is that of the NumPy reference."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin import SequenceTagger, reference
from tests.properties.test_sequences import pieces, sequences

GRID = [0.03, 0.5, 4.0, inf]
options_of_learning = st.fixed_dictionaries(
    {
        "loss": st.sampled_from(["hinge", "squared_hinge"]),
        "update": st.sampled_from(["prediction", "max_loss"]),
        "cost": st.sampled_from(["hamming", "squared_hamming"]),
        "transition_features": st.sampled_from([None, "all"]),
        "average": st.sampled_from([False, True, 3]),
        "fit_intercept": st.booleans(),
    }
)


def learned(options, X, y, lengths, cut):
    """Return a tagger trained in two calls; labels may appear at any time."""
    model, tokens = SequenceTagger(**options), sum(lengths[:cut])
    for part, some in ((slice(tokens), lengths[:cut]), (slice(tokens, None), lengths[cut:])):
        if some:
            model.partial_fit(X[part], y[part].tolist(), lengths=some)
    return model


@given(sequences(), options_of_learning, st.sampled_from(["leader", "hedge"]), st.integers(0, 8))
def test_each_c_learns_as_if_alone(stream, options, combine, cut):
    """Bit for bit."""
    X, y, lengths, _ = stream
    model = learned({**options, "C": GRID, "combine": combine}, X, y, lengths, cut)
    each = [learned({**options, "C": C}, X, y, lengths, cut) for C in GRID]
    assert model.totals_.max_squared_norm == max(alone.totals_.max_squared_norm for alone in each)
    assert model.totals_.dual_value == pytest.approx(sum(alone.totals_.dual_value for alone in each))
    sweep = model.grid_
    for m, alone in enumerate(each):
        np.testing.assert_array_equal(sweep.coef[m], alone.coef_)
        np.testing.assert_array_equal(sweep.intercept[m], alone.intercept_)
        np.testing.assert_array_equal(sweep.transitions[m], alone.transitions_)
        if options["transition_features"]:
            np.testing.assert_array_equal(sweep.transition_coef[m], alone.transition_coef_)
        totals = alone.totals_
        assert (sweep.mistakes[m], sweep.loss[m], sweep.squared_loss[m], sweep.cost[m]) == (
            totals.mistakes,
            totals.loss,
            totals.squared_loss,
            totals.cost,
        )


def test_a_sequence_too_large_for_one_model_moves_the_others():
    """The squared difference may overflow for the rival of one model and not for that of another."""
    random = np.random.default_rng(274)
    X, y = random.choice([0, 1, -1, 2.0], size=(36, 3)), random.integers(0, 3, 36).tolist()
    X[random.random(36) < 0.08] *= 1e200
    together, *each = (
        SequenceTagger(C=C, fit_intercept=False).partial_fit(X, y, classes=range(3), lengths=[3] * 12)
        for C in ([0.03, 1.0], 0.03, 1.0)
    )
    assert together.totals_.dual_value == pytest.approx(sum(alone.totals_.dual_value for alone in each))


def one_by_one(model, X, y, lengths, classes):
    """Return the labeling of each sequence before it is learned, and the vote of each model at that time."""
    model.partial_fit(X[:0], [], classes=range(classes), lengths=[])
    for rows, labels in pieces(X, y, lengths):
        weights = model.grid_.weights if hasattr(model, "grid_") else None
        yield np.array(model.predict(rows, lengths=[len(rows)])[0]), weights
        model.partial_fit(rows, labels.tolist(), lengths=[len(rows)])


@pytest.mark.parametrize("combine", ["leader", "hedge"])
@given(sequences(), options_of_learning)
def test_the_labeling_is_that_of_the_twin(combine, stream, options):
    """It is that of the leader, or the vote weighted by AdaHedge; its cost is counted."""
    X, y, lengths, classes = stream
    options = {**options, "average": False}
    alone = [[path for path, _ in one_by_one(SequenceTagger(**options, C=C), *stream)] for C in GRID]
    power = 2 if options["cost"] == "squared_hamming" else 1
    right = [labels for _, labels in pieces(X, y, lengths)]
    costs = np.array([[(path != z).sum() ** power for path in paths] for z, *paths in zip(right, *alone, strict=True)])
    before = np.vstack([np.zeros(len(GRID)), np.cumsum(costs, axis=0)])
    twin = reference.adahedge(costs.astype(float))
    model, suffered = SequenceTagger(**options, C=GRID, combine=combine), 0
    for t, (path, weights) in enumerate(one_by_one(model, *stream)):
        wanted = twin.weights[t] if combine == "hedge" else np.eye(len(GRID))[before[t].argmin()]
        np.testing.assert_allclose(weights, wanted, rtol=1e-9, atol=1e-12)
        paths = np.array([labellings[t] for labellings in alone])
        np.testing.assert_array_equal(path, reference.vote(paths, weights, classes))
        suffered += (right[t] != path).sum() ** power
    sweep = model.grid_
    assert model.totals_.cost == suffered
    assert sweep.leader == before[-1].argmin()
    np.testing.assert_array_equal(sweep.cost, before[-1])
    if combine == "hedge":
        assert sweep.mixed_loss == pytest.approx(twin.mixed, rel=1e-9)
        wanted = reference.sequence_bound(len(GRID), twin.gap, twin.rate, twin.shares)
        assert sweep.regret_bound == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@given(sequences(), options_of_learning)
def test_the_regret_is_bounded(stream, options):
    """Models drawn by their weights lose little more than the best; half of the votes mislabel a wrong token."""
    X, y, lengths, classes = stream
    model = SequenceTagger(**options, C=GRID, combine="hedge")
    model.partial_fit(X, y.tolist(), classes=range(classes), lengths=lengths)
    sweep = model.grid_
    assert sweep.mixed_loss <= sweep.cost.min() + sweep.regret_bound + 1e-9
    assert model.totals_.cost <= (4 if options["cost"] == "squared_hamming" else 2) * sweep.mixed_loss + 1e-9
