"""Tasks: the half-spaces of a round, and whether the prediction is a mistake ([JMLR] sec. 3, 5 and 7)."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class HalfSpace(NamedTuple):
    """A constraint: the scores must move along `direction` (one coefficient per score) until `loss` is zero.

    A step reduces the loss and `beyond`. `part` is the index of its part in a trial that is split into parts.
    """

    direction: Vector
    loss: float
    mistaken: bool = True
    part: int = 0
    beyond: float = 0.0


# scores, target -> the half-spaces, and whether the round is a mistake
Task = Callable[[Vector, Any], tuple[list[HalfSpace], bool]]


def binary(scores: Vector, y: float) -> tuple[list[HalfSpace], bool]:
    """Binary classification, y in {-1, +1}: loss ``[1 - y s]_+``."""
    margin = y * scores[0]
    return [HalfSpace(np.array([y], dtype=float), 1 - margin)], bool(margin <= 0)


def regression(epsilon: float) -> Task:
    """Regression, y real: loss ``[|y - s| - epsilon]_+``."""

    def task(scores: Vector, y: float) -> tuple[list[HalfSpace], bool]:
        loss = abs(y - scores[0]) - epsilon
        return [HalfSpace(np.sign(np.array([y - scores[0]])), loss)], bool(loss > 0)

    return task


def quantile(epsilon: float, level: float) -> Task:
    """Regression of a quantile, y real: loss ``q [y - s - epsilon]_+ + (1 - q) [s - y - epsilon]_+``.

    A half-space is scaled by its price, so that steps of at most C move the score by C q upward or C (1 - q) downward.
    """

    def task(scores: Vector, y: float) -> tuple[list[HalfSpace], bool]:
        loss = abs(y - scores[0]) - epsilon
        price = level if y > scores[0] else 1 - level
        return [HalfSpace(price * np.sign(np.array([y - scores[0]])), price * loss)], bool(loss > 0)

    return task


def multiclass(scores: Vector, y: float) -> tuple[list[HalfSpace], bool]:
    """Multiclass, y a column: loss ``[1 - (s_y - max_{r != y} s_r)]_+``, the true class against its best rival."""
    right = int(y)
    rival = int(np.where(np.arange(len(scores)) == right, -np.inf, scores).argmax())
    direction = np.zeros(len(scores))
    direction[right], direction[rival] = 1, -1
    margin = scores[right] - scores[rival]
    return [HalfSpace(direction, 1 - margin)], bool(margin <= 0)


def one_vs_rest(scores: Vector, y: float) -> tuple[list[HalfSpace], bool]:
    """One-vs-rest, y a column: one binary problem per column."""
    right = int(y)
    sign = np.where(np.arange(len(scores)) == right, 1.0, -1.0)
    halfspaces = [HalfSpace(row, 1 - row @ scores) for row in np.diag(sign)]
    return halfspaces, bool(scores[right] <= np.delete(scores, right).max())


def rivals(scores: Vector, y: float) -> tuple[list[HalfSpace], bool]:
    """Multiclass, y a column: the true class against every other class; the loss of the round is the largest."""
    right = int(y)
    eye = np.eye(len(scores))
    halfspaces = [
        HalfSpace(eye[right] - eye[r], 1 - (scores[right] - scores[r]), bool(scores[right] <= scores[r]))
        for r in range(len(scores))
        if r != right
    ]
    return halfspaces, any(h.mistaken for h in halfspaces)


def with_margins(task: Task, margin: Mapping[float, float]) -> Task:
    """Return a classification task in which examples of class y need the margin ``margin[y]`` instead of 1."""

    def asking(scores: Vector, y: float) -> tuple[list[HalfSpace], bool]:
        halfspaces, mistake = task(scores, y)
        return [h._replace(loss=h.loss - 1 + margin[y]) for h in halfspaces], mistake

    return asking


def with_weights(task: Task) -> Task:
    """Return a classification task whose targets are pairs of a target and a weight.

    If there is a loss, a step aims at the margin ``m + (weight - 1) * min(loss, m)`` instead of the margin m.
    """

    def weighted(scores: Vector, target: tuple[float, float]) -> tuple[list[HalfSpace], bool]:
        y, weight = target
        halfspaces, mistake = task(scores, y)
        margins = [h.loss + float(h.direction @ scores) for h in halfspaces]
        return [
            h._replace(beyond=(weight - 1) * min(max(h.loss, 0.0), margin))
            for h, margin in zip(halfspaces, margins, strict=True)
        ], mistake

    return weighted


def cost_sensitive(cost: NDArray[np.float64], *, max_loss: bool = False) -> Task:
    """Cost-sensitive multiclass, y a column: loss ``s_q - s_y + sqrt(cost[y, q])``.

    The rival q is the prediction, or with `max_loss` the class of largest loss.
    """

    def task(scores: Vector, y: float) -> tuple[list[HalfSpace], bool]:
        right = int(y)
        q = int((scores + np.sqrt(cost[right]) if max_loss else scores).argmax())
        direction = np.zeros(len(scores))
        direction[q] -= 1
        direction[right] += 1
        loss = scores[q] - scores[right] + np.sqrt(cost[right, q])
        return [HalfSpace(direction, loss)], bool(scores[right] <= np.delete(scores, right).max())

    return task


def label_pairs(*, calibrated: bool = False) -> Task:
    """Label ranking, y the relevant labels: all pairs of a relevant and an irrelevant label; the loss is the largest.

    With `calibrated`, the last score is that of a calibration label between the relevant labels and the others.
    """

    def task(scores: Vector, y: Vector) -> tuple[list[HalfSpace], bool]:
        eye = np.eye(len(scores))
        labels = range(len(scores) - calibrated)
        above, below = [r for r in labels if r in y], [q for q in labels if q not in y]
        middle = [len(scores) - 1] if calibrated else []
        pairs = [(r, q) for r in above for q in below] + [(r, m) for r in above for m in middle]
        pairs += [(m, q) for m in middle for q in below]
        halfspaces = [
            HalfSpace(eye[r] - eye[q], 1 - (scores[r] - scores[q]), bool(scores[r] <= scores[q])) for r, q in pairs
        ]
        return halfspaces, any(h.mistaken for h in halfspaces)

    return task


def label_ranking(*, calibrated: bool = False) -> Task:
    """Label ranking, y the relevant labels: only the pair with the largest loss."""
    pairs = label_pairs(calibrated=calibrated)

    def task(scores: Vector, y: Vector) -> tuple[list[HalfSpace], bool]:
        halfspaces, mistake = pairs(scores, y)
        return sorted(halfspaces, key=lambda h: -h.loss)[:1], mistake

    return task


def softmax(scores: Vector, y: float, *, smallest: float = 1e-3) -> tuple[list[HalfSpace], bool]:
    """Log loss, y a column, or -1 or +1 with one column: the gradient of ``-ln p_y``, with p the softmax of the scores.

    Each column has its own half-space, whose `loss` is the gradient: ``1 - p_y`` up for the true column, ``p_c`` down
    for the others. Gradients of at most `smallest` are skipped. `log_loss` is the loss of the round.
    """
    if len(scores) == 1:
        margin = float(y * scores[0])
        wrong = float(np.exp(-np.logaddexp(0, margin)))
        halfspaces = [HalfSpace(np.array([y], dtype=float), wrong)]
    else:
        right = int(y)
        margin = float(scores[right] - np.delete(scores, right).max())
        p = np.exp(scores - np.logaddexp.reduce(scores))
        signs = np.where(np.arange(len(scores)) == right, 1.0, -1.0)
        halfspaces = [HalfSpace(row, abs(float(row.max() > 0) - p[c])) for c, row in enumerate(np.diag(signs))]
    return [h for h in halfspaces if h.loss > smallest], margin <= 0


def log_loss(scores: Vector, y: float) -> float:
    """Return ``-ln p_y``, with p the softmax of the scores; with one column, the logistic loss of y in {-1, +1}."""
    if len(scores) == 1:
        return float(np.logaddexp(0, -y * scores[0]))
    return float(np.logaddexp.reduce(scores) - scores[int(y)])
