"""Ranking measures."""

import re

import numpy as np
import pytest
from scipy import sparse

from onmargin.evaluate import ranking_report


def test_report_by_hand():
    labels = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]])
    scores = np.array([[0.1, 0.9, 0.5], [0.2, 0.7, 0.1], [3.0, 2.0, 1.0], [1.0, 2.0, 3.0]])
    report = ranking_report(labels, scores)
    assert report.one_error == pytest.approx(1 / 3)  # the first of three rows with relevant labels
    assert report.coverage == pytest.approx((3 + 1 + 0 + 3) / 4)
    assert report.ranking_loss == pytest.approx((1 + 0 + 0 + 0) / 4)
    assert report.average_precision == pytest.approx(((1 / 2 + 2 / 3) / 2 + 1 + 1 + 1) / 4)
    assert dict(report) == {name: getattr(report, name) for name in report.keys()}  # noqa: SIM118
    for form in (sparse.csr_matrix, sparse.coo_array, lambda Y: Y.astype(bool), lambda Y: Y.tolist()):
        assert ranking_report(form(labels), scores.tolist()) == report


def test_report_of_equal_scores_and_of_no_labels():
    assert ranking_report([[0, 1]], [[1.0, 1.0]]).one_error == 1
    assert ranking_report([[1, 0]], [[1.0, 1.0]]).one_error == 0
    assert ranking_report([[1, 0]], [[1.0, 1.0]]).ranking_loss == 1
    assert ranking_report([[0, 0]], [[1.0, 2.0]]).one_error == 0


@pytest.mark.parametrize(
    ("labels", "scores", "words"),
    [
        ([[1, 2]], [[1.0, 2.0]], "Y must hold 0 and 1 only"),
        ([[1, 0]], [[1.0, 2.0, 3.0]], "got (1, 2) and (1, 3)"),
        ([[1, 0]], [[1.0, np.nan]], "scores must be finite numbers"),
        ([[1]], [[1.0]], "at least two labels"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "needs an example"),
    ],
)
def test_report_is_refused(labels, scores, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        ranking_report(labels, scores)
