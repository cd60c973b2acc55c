"""C="auto": nine values in units of the rows, and a warning if values of C make no difference."""

import warnings
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.datasets import load_diabetes, load_digits, load_iris

import onmargin
from onmargin import PassiveAggressiveClassifier, PassiveAggressiveRegressor, SequenceTagger, reference, stream
from onmargin._core.tasks.task import Multiclass
from onmargin.models.ensemble import AUTO

random = np.random.default_rng(0)
X = random.standard_normal((120, 4)) * 10.0 ** random.uniform(-1, 1, (120, 1))
X[50] *= 1e4
X[70] = 0
Y = 5 + X @ np.array([0.5, 0.0, -3.0, 0.2])
Y[60] = 1e6
CODES = (X[:, 0] > 0) + 2 * (X[:, 1] > 0.5)
POWERS = {"euclidean": 1.0, "adaptive": 0.5, "normalized": 0.0}


class OfWeightedC(PassiveAggressiveClassifier):
    """Weights of examples multiply C only, not the margin."""

    def plan(self):
        return replace(super().plan(), task=lambda labels: Multiclass())


@pytest.mark.parametrize("geometry", POWERS)
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive", "squared_epsilon_insensitive"])
def test_each_value_is_one_model_with_its_c_in_units_of_the_rows(geometry, loss):
    """The weights of the core multiply C as well."""
    kind, y = (OfWeightedC, CODES) if loss == "hinge" else (PassiveAggressiveRegressor, Y)
    options = {"loss": loss, "geometry": geometry, "intercept_scaling": 1.0}
    model = kind(C="auto", **options).partial_fit(X, y)
    targets = Y if loss == "epsilon_insensitive" else None
    units = reference.units_of_c((X**2).sum(axis=1) + 1, targets, POWERS[geometry])
    assert model.grid_.unit == pytest.approx(units[-1])
    for m in (0, 4, 8):
        alone = kind(C=AUTO[m], **options).partial_fit(X, y, sample_weight=units)
        assert_allclose(model.grid_.coef[m], alone.coef_, rtol=1e-6, atol=1e-12)
        assert model.grid_.mistakes[m] == alone.totals_.mistakes


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_units_do_not_matter(loss):
    def swept(rows, targets):
        options = {"loss": loss, "epsilon": 0.125 * targets, "fit_intercept": False}
        return PassiveAggressiveRegressor(C="auto", **options).partial_fit(rows * X, targets * Y).grid_

    plain, other = swept(1.0, 1.0), swept(2.0**20, 2.0**-5)
    assert_allclose(other.loss, plain.loss / 32, rtol=1e-9)
    assert_allclose(other.coef, np.array(plain.coef) / 2**25, rtol=1e-6, atol=1e-20)
    assert len(set(plain.loss)) == 9


def test_how_a_stream_is_cut_changes_no_bit_and_sparse_rows_agree():
    whole = PassiveAggressiveRegressor(C="auto").partial_fit(X, Y)
    cut = PassiveAggressiveRegressor(C="auto")
    for start, stop in ((0, 1), (1, 70), (70, 120)):
        cut.partial_fit(X[start:stop], Y[start:stop])
    assert_array_equal(cut.grid_.coef, whole.grid_.coef)
    assert cut.grid_.unit == whole.grid_.unit
    rows = PassiveAggressiveRegressor(C="auto").partial_fit(csr_matrix(X), Y)
    assert_allclose(rows.grid_.coef, whole.grid_.coef, rtol=1e-6)


def test_saved_and_loaded_it_continues(tmp_path):
    model = PassiveAggressiveRegressor(C="auto").partial_fit(X[:60], Y[:60])
    onmargin.save(model, tmp_path / "model")
    loaded = onmargin.load(tmp_path / "model").partial_fit(X[60:], Y[60:])
    assert_array_equal(loaded.grid_.coef, model.partial_fit(X[60:], Y[60:]).grid_.coef)


def test_models_of_version_0_1_keep_their_grid(tmp_path):
    """Their files have the values of C, and no units."""
    plain = PassiveAggressiveClassifier(C=AUTO).partial_fit(X[:60], CODES[:60], classes=[0, 1, 2, 3])
    onmargin.save(deepcopy(plain).set_params(C="auto"), tmp_path / "m")
    loaded = onmargin.load(tmp_path / "m")
    assert loaded.grid_.unit == 1
    assert_array_equal(
        loaded.partial_fit(X[60:], CODES[60:]).grid_.coef, plain.partial_fit(X[60:], CODES[60:]).grid_.coef
    )


def test_values_differ_and_the_best_is_found():
    """This holds for pixels, centimeters and standardized numbers."""
    order = np.random.default_rng(0).permutation(150)
    for rows, labels in (load_digits(return_X_y=True), [part[order] for part in load_iris(return_X_y=True)]):
        sweep = PassiveAggressiveClassifier(C="auto").partial_fit(rows, labels).grid_
        assert len(set(sweep.mistakes)) >= 3
        plain = PassiveAggressiveClassifier().partial_fit(rows, labels)
        assert sweep.mistakes.min() <= plain.totals_.mistakes
    rows, targets = load_diabetes(return_X_y=True)
    sweep = PassiveAggressiveRegressor(C="auto").partial_fit(rows, targets).grid_
    assert 0 < sweep.leader < 8
    assert sweep.loss.min() < 0.9 * PassiveAggressiveRegressor().partial_fit(rows, targets).totals_.loss


LARGE = 1000 * X
ALIKE = "all 3 values of C behaved the same.*C='auto'"
GRID = [0.1, 1.0, 10.0]


def test_a_grid_that_makes_no_difference_warns():
    with pytest.warns(UserWarning, match=ALIKE) as caught:
        PassiveAggressiveClassifier(C=GRID).fit(LARGE, CODES)
    assert caught[0].filename == __file__
    model = PassiveAggressiveClassifier(C=GRID).partial_fit(LARGE[:15], CODES[:15], classes=[0, 1, 2, 3])
    with pytest.warns(UserWarning, match=ALIKE):
        model.partial_fit(LARGE[15:30], CODES[15:30])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(LARGE[30:60], CODES[30:60])  # the warning was issued already
        PassiveAggressiveClassifier(C="auto").fit(LARGE, CODES)
        PassiveAggressiveClassifier(C=GRID).partial_fit(LARGE[:1], CODES[:1])
        PassiveAggressiveClassifier(average="best").fit(LARGE, CODES)
    with pytest.warns(UserWarning, match=ALIKE):
        assert len(model.grid_.names) == 3
    records = stream.PassiveAggressiveRegressor(C=[1e12, 1e13, 1e14]).learn_many(X, Y)
    with pytest.warns(UserWarning, match=ALIKE):
        assert records.grid_.leader == 0


def test_taggers_warn_likewise():
    sentences = [[{"word": "dog"}, {"word": "sees"}]] * 30
    with pytest.warns(UserWarning, match=ALIKE):
        SequenceTagger(C=[1e3, 1e4, 1e5], max_iter=1, tol=None).fit(sentences, [["N", "V"]] * 30)
