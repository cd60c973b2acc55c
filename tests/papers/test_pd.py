"""[PD]: the mistake bound of the optimal step, as `onmargin.theory` states it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from onmargin import PassiveAggressiveClassifier
from onmargin.theory import pa1_mistakes

positive = st.floats(1e-3, 1e3)


@given(C=positive, squared_norm=positive, competitor=positive, loss=st.floats(0, 1e3))
def test_bound_is_never_above_that_of_the_journal_paper(C, squared_norm, competitor, loss):
    """[JMLR] Thm. 4: M <= max(R^2, 1/C) (|u|^2 + 2 C sum l*)."""
    journal = max(squared_norm, 1 / C) * (competitor + 2 * C * loss)
    assert pa1_mistakes(C, squared_norm, competitor, loss) <= journal * (1 + 1e-12)


@pytest.mark.parametrize("C", [0.01, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
def test_bound_holds_for_the_best_competitor_in_hindsight(C, noise):
    random = np.random.default_rng(7)
    X = random.standard_normal((300, 5))
    y = np.where(X @ random.standard_normal(5) > 0, 1, -1) * np.where(random.random(300) < noise, -1, 1)
    totals = PassiveAggressiveClassifier(C=C, fit_intercept=False).partial_fit(X, y).totals_
    u = LinearSVC(loss="hinge", C=C, fit_intercept=False, max_iter=100_000, random_state=0).fit(X, y).coef_[0]
    loss = np.maximum(0, 1 - y * (X @ u)).sum()
    assert totals.dual_value <= u @ u / 2 + C * loss
    assert totals.mistakes <= pa1_mistakes(C, totals.max_squared_norm, u @ u, loss)
