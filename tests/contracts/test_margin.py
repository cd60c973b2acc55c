"""The margin parameter ([NIPS] eq. 2): any number of at least 0, in every interface."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onmargin
from onmargin import ParameterError, PassiveAggressiveClassifier, stream
from onmargin.theory import NoTheorem, certify

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 4))
LABELS = {2: np.where(X[:, 0] > 0.3, "up", "down"), 3: np.array(["a", "b", "c"])[np.abs(X[:, :3]).argmax(axis=1)]}
UPDATES = ["max", "conproj", "simproj", "simopt", "conopt", "exact"]


def learned(n_classes=2, **options):
    return PassiveAggressiveClassifier(**options).partial_fit(
        X, LABELS[n_classes], classes=np.unique(LABELS[n_classes])
    )


def by_hand(margin, C, n_classes):
    """Return the weights of PA-I without an intercept: one prototype per class, or the difference of two."""
    classes = np.unique(LABELS[n_classes])
    W = np.zeros((1 if n_classes == 2 else n_classes, X.shape[1]))
    for x, right in zip(X, np.searchsorted(classes, LABELS[n_classes]), strict=True):
        s = W @ x
        if n_classes == 2:
            sign = 2 * right - 1
            W[0] += min(C, max(0, margin - sign * s[0]) / (x @ x)) * sign * x
        else:
            rival = max((r for r in range(n_classes) if r != right), key=lambda r: s[r])
            tau = min(C, max(0, margin - s[right] + s[rival]) / (2 * x @ x))
            W[right] += tau * x
            W[rival] -= tau * x
    return W


@pytest.mark.parametrize("n_classes", [2, 3])
@given(margin=st.floats(0.01, 100), C=st.floats(0.001, 10))
def test_steps_are_those_of_the_definition(n_classes, margin, C):
    model = learned(n_classes, margin=margin, C=C, fit_intercept=False)
    np.testing.assert_allclose(model.coef_, by_hand(margin, C, n_classes), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", [*({"update": update} for update in UPDATES), {"strategy": "ovr"}], ids=str)
def test_margin_is_a_unit(n_classes, options):
    """Margins are powers of two, so that no bit is lost."""
    wide, unit = learned(n_classes, margin=8.0, C=2.0, **options), learned(n_classes, C=0.25, **options)
    np.testing.assert_array_equal(wide.coef_, 8 * unit.coef_)
    assert wide.totals_.mistakes == unit.totals_.mistakes
    assert wide.totals_.loss == 8 * unit.totals_.loss


def test_margin_is_a_unit_of_squared_losses():
    wide, unit = (learned(3, margin=margin, loss="squared_hinge", C=0.5) for margin in (4.0, 1.0))
    np.testing.assert_array_equal(wide.coef_, 4 * unit.coef_)


@pytest.mark.parametrize("update", ["perceptron", "simperc"])
def test_fixed_steps_are_taken_whatever_the_margin(update):
    """The margin then only defines the losses in the totals."""
    one, other = learned(3, update=update), learned(3, update=update, margin=0.5)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.totals_.loss > other.totals_.loss


def test_margin_of_zero_learns_only_from_mistakes():
    assert not learned(margin=0.0).coef_.any()
    start = np.array([[0.0, 1.0, 0.0, 0.0]])
    codes = (LABELS[2] == "up").astype(int)
    model = PassiveAggressiveClassifier(margin=0.0, fit_intercept=False, max_iter=1, tol=None, shuffle=False)
    assert model.fit(X, codes, coef_init=start).totals_.updates == model.totals_.mistakes > 0


def test_classes_without_a_margin_of_their_own_have_this_one():
    both = learned(3, margin=2.0, class_margin={"a": 5.0})
    all_named = learned(3, class_margin={"a": 5.0, "b": 2.0, "c": 2.0})
    np.testing.assert_array_equal(both.coef_, all_named.coef_)


def test_default_is_one_and_a_tenth_on_the_simplex():
    np.testing.assert_array_equal(learned(margin=1.0).coef_, learned().coef_)
    positive = np.abs(X)
    one, other = (
        PassiveAggressiveClassifier(geometry="entropic", margin=margin).partial_fit(positive, LABELS[3])
        for margin in (0.1, None)
    )
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_streams_and_kernels_have_it():
    model = stream.PassiveAggressiveClassifier(margin=3.0).learn_many(X, LABELS[2])
    alone = PassiveAggressiveClassifier(margin=3.0).partial_fit(X, LABELS[2])
    assert model.weights("up") == {int(j): alone.coef_[0, j] for j in np.argsort(-np.abs(alone.coef_[0]))}
    linear, plain = learned(3, margin=3.0, kernel="linear"), learned(3, margin=3.0)
    np.testing.assert_allclose(linear.coef_, plain.coef_, rtol=1e-9)


@pytest.mark.parametrize("margin", [0.3, 7.0])
@pytest.mark.parametrize("options", [{"C": 0.1}, {"C": 0.5, "loss": "squared_hinge"}, {"update": "exact"}], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_bounds_hold_and_are_named(n_classes, options, margin):
    model = learned(n_classes, margin=margin, **options)
    certificate = certify(model, X, LABELS[n_classes], classes=model.classes_)
    assert certificate.holds
    assert model.totals_.mistakes <= certificate.bound


def test_no_bound_for_a_margin_of_zero():
    with pytest.raises(NoTheorem, match="margin=0 has no mistake bound"):
        certify(learned(margin=0.0), X, LABELS[2], classes=["down", "up"])


@pytest.mark.parametrize("margin", [-1.0, np.inf, np.nan, "wide", True])
@pytest.mark.parametrize("face", [onmargin, stream])
def test_margins_that_are_refused(face, margin):
    with pytest.raises(ParameterError, match="margin must be None, or a number at least 0"):
        face.PassiveAggressiveClassifier(margin=margin)._check_parameters()


@pytest.mark.parametrize(
    ("options", "need"), [({"update": "mira"}, "update other than 'mira'"), ({"cost": "absolute"}, "cost=None")]
)
def test_margins_fixed_by_other_options(options, need):
    with pytest.raises(ParameterError, match=f"margin needs {need}"):
        learned(3, margin=2.0, **options)
