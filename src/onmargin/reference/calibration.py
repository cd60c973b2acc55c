"""Online calibration of class probabilities from scores."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

RATE, LEAST_FACTOR, MEMORY, MOST_DEVIATIONS, DEPTH, BINS = 1.0, 0.01, 1024, 8, 30, 10
AHEAD = 0.01
KNEE, SLOW, PROVEN = 1.5, 0.3, np.log(1000)
KNOTS = np.array([0.0, 1.0, 2.0, 4.0])
MASK = 2**64 - 1


@dataclass
class Calibration:
    """``p = softmax(a s / dev(s) + b v / dev(v) + c)``, with a, b and c learned by AdaGrad ([ADAGRAD]).

    s are the centered scores of a model, and v those of a vote, if there is one. Each example is evaluated before it is
    learned. A row with one score holds that of the second of two classes.

    The log odds z of the best class become ``slope z + shift + bend max(z - 1.5, 0)``, plus lifts that are interpolated
    between knots, separately for each of two classes. The class with the highest score is made the most probable, until
    the log likelihood ratio `doubt` rejects this.
    """

    n_classes: int
    a: float = 0.5
    b: float = 0.5
    a_squares: float = 4.0
    b_squares: float = 4.0
    s_square: float = 0.0
    v_square: float = 0.0
    doubt: float = 0.0
    judged: int = 0
    weight: float = 0.0
    log_loss: float = 0.0
    brier: float = 0.0
    c: Vector = field(init=False)
    c_squares: Vector = field(init=False)
    bins: Matrix = field(init=False)
    best: Vector = field(init=False)
    best_squares: Vector = field(init=False)
    lifts: Matrix = field(init=False)
    lift_squares: Matrix = field(init=False)

    def __post_init__(self) -> None:
        self.c, self.c_squares = np.zeros(self.n_classes), np.full(self.n_classes, 4.0)
        self.bins = np.zeros((3, BINS))
        self.best, self.best_squares = np.array([1.0, 0.0, 0.0]), np.full(3, 4.0)
        self.lifts, self.lift_squares = np.zeros((2, len(KNOTS))), np.full((2, len(KNOTS)), 4.0)

    def probabilities(self, s: Vector, v: Vector | None = None) -> Vector:
        """Return the probability of each class from scores s and, if given, vote scores v."""
        logits = self.a * _in_units(_center(s), self.s_square) + self.c
        if v is not None:
            logits += self.b * _in_units(_center(v), self.v_square)
        p = np.exp(np.maximum(logits - logits.max(), -DEPTH))
        normalized: Vector = p / p.sum()
        return normalized

    def learn(self, right: int, s: Vector, v: Vector | None = None, weight: float = 1.0) -> Vector:
        """Learn from an example; evaluate and return the probabilities from before the update."""
        p = self.probabilities(s, v)
        g = p - np.eye(self.n_classes)[right]
        self.judged += 1
        self.a, self.a_squares = _descend(self.a, self.a_squares, g, _in_units(_center(s), self.s_square))
        self.c_squares += g**2
        self.c -= RATE * g / np.sqrt(self.c_squares)
        self.s_square = self._follow_squares(self.s_square, s)
        if v is not None:
            self.b, self.b_squares = _descend(self.b, self.b_squares, g, _in_units(_center(v), self.v_square))
            self.v_square = self._follow_squares(self.v_square, v)
        shown = self._settle(p, s if v is None else v, right)
        self._judge(shown, right, weight)
        return shown

    def _settle(self, p: Vector, s: Vector, right: int) -> Vector:
        """Return the final probabilities, and learn the log odds of the best class."""
        agrees, best = self.doubt < PROVEN, int(s[0] >= 0) if len(s) == 1 else int(s.argmax())
        raised = with_highest(p, best)
        self.doubt += float(np.log(p[right] / raised[right]))
        p = raised if agrees else p
        best = best if agrees else int(p.argmax())
        rest = float(np.delete(p, best).sum())
        z = float(np.log(p[best] / rest))
        x = np.array([z, 1.0, max(z - KNEE, 0.0)])
        side = best if self.n_classes == 2 else 0
        hats = np.array([np.interp(z, KNOTS, hat) for hat in np.eye(len(KNOTS))])
        share = 1 / (1 + np.exp(-np.clip(self.best @ x + self.lifts[side] @ hats, -DEPTH, DEPTH)))
        g = share - (best == right)
        self.best_squares += (g * x) ** 2
        self.best -= SLOW * g * x / np.sqrt(self.best_squares)
        self.best[0] = max(self.best[0], LEAST_FACTOR)
        self.best[2] = max(self.best[2], LEAST_FACTOR - self.best[0])
        self.lift_squares[side] += (g * hats) ** 2
        self.lifts[side] -= SLOW * g * hats / np.sqrt(self.lift_squares[side])
        falls = (min(self.best[0], self.best[0] + self.best[2]) - LEAST_FACTOR / 2) * np.diff(KNOTS)
        for j, fall in enumerate(falls):  # the map stays increasing
            self.lifts[:, j + 1] = np.maximum(self.lifts[:, j + 1], self.lifts[:, j] - fall)
        adjusted = p * (1 - share) / rest
        adjusted[best] = share
        return with_highest(adjusted, best)

    def _judge(self, p: Vector, right: int, weight: float) -> None:
        g = p - np.eye(self.n_classes)[right]
        shown = 1 if self.n_classes == 2 else int(p.argmax())
        self.weight += weight
        self.log_loss -= weight * np.log(p[right])
        self.brier += weight * float(g @ g) / (2 if self.n_classes == 2 else 1)
        self.bins[:, min(int(BINS * p[shown]), BINS - 1)] += weight * np.array([1, p[shown], shown == right])

    def _follow_squares(self, square: float, s: Vector) -> float:
        """Return the running mean square after these scores."""
        now = float(np.mean(_center(s) ** 2))
        now = min(now, 1e4 * square) if square > 0 else now
        return square + (now - square) / min(self.judged, MEMORY)


def calibrate(scores: Matrix, y: NDArray[np.intp], n_classes: int, votes: Matrix | None = None) -> Calibration:
    """Calibrate the scores of a stream, one row per example; y are class indices from 0.

    The first 4096 rows are all used, then about one in 2. The fraction halves each time the number of rows doubles,
    down to one in 64. With votes it is the first 8192 rows, and down to one in 16.
    """
    calibration, due = Calibration(n_classes), 1
    for t, (s, right) in enumerate(zip(scores, y, strict=True), 1):
        if t == due:
            stands_for, until = 1, 4096 if votes is None else 8192
            while stands_for < (64 if votes is None else 16) and calibration.weight >= until:
                stands_for, until = 2 * stands_for, 2 * until
            due += gap(t, 2 * stands_for - 1)
            calibration.learn(int(right), s, None if votes is None else votes[t - 1], stands_for)
    return calibration


def gap(t: int, most: int) -> int:
    """Return the number of rounds from round t to the next one used: from 1 to `most`, by a hash of t."""
    h = t * 0x9E3779B97F4A7C15 & MASK
    return 1 + (((h ^ (h >> 32)) * 0xD6E8FEB86659FD93 & MASK) >> 32) % most


def with_highest(p: Vector, best: int) -> Vector:
    """Return probabilities in which class `best` is the most probable; they increase with p[best]."""
    top = np.delete(p, best).max()
    if p[best] >= (1 + AHEAD) * top:
        return p
    raised = p.copy()
    raised[best] = top + AHEAD / (1 + AHEAD) * p[best]
    raised /= raised.sum()
    return raised


def _center(s: Vector) -> Vector:
    return np.array([-s[0] / 2, s[0] / 2]) if len(s) == 1 else s - s.mean()


def _in_units(s: Vector, square: float) -> Vector:
    return s / np.sqrt(square) if square > 0 else np.zeros_like(s)


def _descend(factor: float, squares: float, g: Vector, z: Vector) -> tuple[float, float]:
    """Return the factor of scores z after a step of AdaGrad, and its sum of squared gradients."""
    gradient = float(g @ np.clip(z, -MOST_DEVIATIONS, MOST_DEVIATIONS))
    squares += gradient**2
    return max(factor - RATE * gradient / float(np.sqrt(squares)), LEAST_FACTOR), squares
