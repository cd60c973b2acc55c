"""Rounds of sequences: results of uncapped steps, copies that continue alike, and the bounds of [JMLR] sec. 8 and 9."""

import copy
import pickle
from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin import SequenceTagger, reference


@st.composite
def sequences(draw):
    """Draw up to eight sequences of up to four rows with three features, and labels of two or three classes."""
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=8))
    n, classes = sum(lengths), draw(st.integers(2, 3))
    value = st.sampled_from([0.0, 0.5, 1.0, -1.0, 2.0])
    X = np.array(draw(st.lists(st.lists(value, min_size=3, max_size=3), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n)))
    return X, y, lengths, classes


@st.composite
def settings_of_learning(draw):
    return {
        "C": draw(st.sampled_from([0.05, 1.0, inf])),
        "loss": draw(st.sampled_from(["hinge", "squared_hinge"])),
        "update": draw(st.sampled_from(["prediction", "max_loss"])),
        "cost": draw(st.sampled_from(["hamming", "squared_hamming"])),
        "transition_features": draw(st.sampled_from([None, "all"])),
        "fit_intercept": False,
    }


def learned(options, X, y, lengths, classes):
    return SequenceTagger(**options).partial_fit(X, y.tolist(), classes=range(classes), lengths=lengths)


def pieces(X, y, lengths):
    ends = np.cumsum(lengths)[:-1]
    return zip(np.split(X, ends), np.split(y, ends), strict=True)


def weights_of(model):
    tables = [model.coef_, model.transitions_, *([model.transition_coef_] if model.transition_features else [])]
    return np.concatenate([table.ravel() for table in tables])


def largest_losses(u, stream, power, chosen):
    """Return the max-loss of u on every sequence, over all labelings."""
    X, y, lengths, classes = stream
    for rows, right in pieces(X, y, lengths):
        phi = reference.path_features(rows, right, classes, chosen)
        yield max(
            (right != path).sum() ** (power / 2) - u @ (phi - reference.path_features(rows, path, classes, chosen))
            for path in map(np.array, product(range(classes), repeat=len(rows)))
        )


@given(sequences(), settings_of_learning(), st.integers(0, 2**32 - 1))
def test_pa2_and_pa_costs_stay_below_their_bounds(stream, options, seed):
    """B9, B11: sum rho <= sum l^2 <= (R^2 + 1/(2C)) (|u|^2 + 2 C sum l_ML(u)^2) for PA-II; B4 where u loses nothing."""
    totals = learned(options, *stream).totals_
    assert totals.cost <= totals.squared_loss + 1e-9
    R2, C = totals.max_squared_norm, options["C"]
    classes = stream[-1]
    chosen = range(3) if options["transition_features"] else ()
    u = np.random.default_rng(seed).standard_normal(classes * (3 + classes * (1 + len(chosen))))
    power = 2 if options["cost"] == "squared_hamming" else 1
    losses = np.array(list(largest_losses(u, stream, power, chosen)))
    if inf > C and options["loss"] == "squared_hinge":
        bound = (R2 + 1 / (2 * C)) * (u @ u + 2 * C * (losses**2).sum())
        assert totals.squared_loss <= bound * (1 + 1e-9) + 1e-9
    elif inf > C:
        assert totals.dual_value <= u @ u / 2 + C * losses.sum() + 1e-9
    elif (losses <= 0).all():
        assert totals.squared_loss <= R2 * (u @ u) * (1 + 1e-9) + 1e-9


@given(sequences(), settings_of_learning())
def test_the_dual_value_grows_and_an_uncapped_step_leaves_no_loss(stream, options):
    X, y, lengths, classes = stream
    options = {**options, "C": inf}
    before = learned(options, X, y, lengths, classes)
    model = copy.deepcopy(before).partial_fit(X[: lengths[0]], y[: lengths[0]].tolist(), lengths=lengths[:1])
    assert model.totals_.dual_value >= before.totals_.dual_value
    if model.totals_.updates > before.totals_.updates:
        moved = weights_of(model) - weights_of(before)
        loss = model.totals_.loss - before.totals_.loss
        # The move is tau v with tau = loss / |v|^2: so |move|^2 = tau * loss, and the dual gained half of that.
        assert moved @ moved == pytest.approx(2 * (model.totals_.dual_value - before.totals_.dual_value), rel=1e-6)
        norm = loss**2 / (moved @ moved)
        assert norm <= model.totals_.max_squared_norm * (1 + 1e-6)
    else:
        np.testing.assert_array_equal(weights_of(model), weights_of(before))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@given(sequences(), settings_of_learning(), st.booleans())
def test_copies_continue_alike_and_independently(duplicate, stream, options, average):
    X, y, lengths, _classes = stream
    model = learned({**options, "average": average}, *stream)
    before = weights_of(model).tolist(), model.totals_
    twin = duplicate(model)
    twin.partial_fit(X, y.tolist(), lengths=lengths)
    assert (weights_of(model).tolist(), model.totals_) == before
    model.partial_fit(X, y.tolist(), lengths=lengths)
    assert (weights_of(model).tolist(), model.totals_) == (weights_of(twin).tolist(), twin.totals_)
