"""Weighted votes of several models, with weights from their past losses (AdaHedge)."""

from collections.abc import Sequence
from math import inf, log, log1p
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.rounds import Run

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


FIRST_SHARE = 100_000


class Hedged(NamedTuple):
    """Result of AdaHedge with shares.

    Attributes
    ----------
    weights : ndarray of shape (rounds + 1, models)
        Weights before each round and after the last.
    mixed, gap : float
        The weighted loss, and the mixability gap of AdaHedge.
    rate : float
        The rate eta after the last round.
    shares : int
        The number of rounds with shares.
    """

    weights: Matrix
    mixed: float
    gap: float
    rate: float
    shares: int


def sequence_bound(models: int, gap: float, rate: float, shares: int, segments: int = 1) -> float:
    """Return how much more than any sequence of models with so many segments the votes can lose, `models` > 1."""
    switches = (segments - 1) * log(FIRST_SHARE + shares)
    return gap + (segments * log(models) + switches + log1p(shares / FIRST_SHARE)) / rate


def adahedge(losses: Matrix, ceiling: float = inf, weight: Vector | None = None) -> Hedged:
    """Weight models by their losses, rounds x models.

    The rate eta is ``ln(models) / gap`` ([ADAHEDGE]), or the ceiling if that is smaller. In the n-th round in which
    losses differ, all models get an equal share of a part ``1 / (100_000 + n)`` of the weights ([FIXED-SHARE]); so
    `mixed` is at most the loss of any sequence of models plus `sequence_bound`. With `weight`, one number per
    round, the losses are multiplied by it, also in the bound, and the ceiling is divided by the largest weight so far
    of rounds in which losses differed: multiplied by one number, the weights lead to the same votes.
    """
    mixed, gap, heaviest, shares = 0.0, 0.0, 0.0, 0
    p = np.full(losses.shape[1], 1 / losses.shape[1])
    weights = [p]
    for own, unweighted in zip(_weights(losses, weight), losses, strict=True):
        loss = own * unweighted
        excess = loss - loss[p > 0].min()
        weighed = own if excess.max() > 0 else 0.0
        heaviest = heaviest or weighed  # before losses differ, all votes are equal, and the bound holds for any rate
        eta = _rate(losses.shape[1], gap, ceiling, heaviest)
        mixed += float(p @ loss)
        gap += max(float(p @ excess) + (_log_mean(p, -eta * excess) / eta if eta < inf else 0.0), 0.0)
        heaviest = max(heaviest, weighed)
        if weighed:
            shares += 1
            p = _shared(p, excess, eta, _rate(losses.shape[1], gap, ceiling, heaviest), shares)
        weights.append(p)
    return Hedged(np.array(weights), mixed, gap, _rate(losses.shape[1], gap, ceiling, heaviest), shares)


def _shared(p: Vector, excess: Vector, eta: float, then: float, n: int) -> Vector:
    """Return the weights after a round with rate eta and the n-th share, for the rate that follows."""
    q, part = p ** (then / eta) * np.exp(-then * excess), 1 / (FIRST_SHARE + n)
    found: Vector = (1 - part) * q / q.sum() + part / len(p)
    return found


def _log_mean(p: Vector, exponents: Vector) -> float:
    """Return ln <p, exp(exponents)>, exact where that is near 0 and where it is far below."""
    shrunk = float(p @ np.expm1(exponents))
    return log1p(shrunk) if shrunk > -0.5 else log(float(p @ np.exp(exponents)))


class Slept(NamedTuple):
    """Result of AdaHedge with sleeping models.

    Attributes
    ----------
    weights : ndarray of shape (rounds + 1, models)
        Vote weights before each round and after the last; 0 for sleeping models.
    asleep : ndarray of bool of shape (rounds + 1, models)
        Which models sleep in each round, and after the last.
    bounds : ndarray of shape (rounds + 1, models)
        An upper bound on the weight, relative to the leader's, that each sleeping model could have without shares if
        it had kept learning.
    charged : ndarray of shape (models,)
        The loss charged to each model for the rounds it slept.
    mixed, gap, rate, shares
        As in `Hedged`.
    """

    weights: Matrix
    asleep: NDArray[np.bool_]
    bounds: Matrix
    charged: Vector
    mixed: float
    gap: float
    rate: float
    shares: int


def sleeping_hedge(
    losses: Matrix,
    groups: Sequence[int],
    ceiling: float = inf,
    *,
    school: int = 1024,
    watch: int = 64,
    longest: int = 448,
    lag: float = 500,
    negligible: float = 0.01,
    recent: int = 16,
    usual: int = 512,
    worse: float = 3,
    weight: Vector | None = None,
) -> Slept:
    """Weight models by their losses, rounds x models; models of negligible weight sleep ([SLEEPING]).

    A sleeping model is charged the weighted mean loss of the others. A model falls asleep after `watch` rounds in which
    its loss was at least that of the vote, but not before `school` rounds, if its weight, and without shares its weight
    relative to the leader's, are below ``negligible / models`` and it is behind by at least the leader's loss in `lag`
    rounds. It sleeps while its weight without shares, computed from its loss before it fell asleep, stays below that
    limit, for at most `longest` rounds. The models of a group fall asleep and wake up together. All models wake, and
    none falls asleep, while the mean loss of the vote over about the last `recent` rounds exceeds the one over the last
    `usual` rounds by more than `worse` standard deviations. `weight` is as for `adahedge`.
    """
    models = losses.shape[1]
    number = np.asarray(groups)
    lost, charged, before, behind = (np.zeros(models) for _ in range(4))
    asleep, since = np.zeros(models, bool), np.zeros(models, int)
    p, mixed, gap, heaviest, shares = np.full(models, 1 / models), 0.0, 0.0, 0.0, 0
    history = [(p, asleep, np.zeros(models))]
    now, mean, square = 0.0, 0.0, 0.0
    for t, (own, unweighted) in enumerate(zip(_weights(losses, weight), losses, strict=True), start=1):
        loss = own * unweighted
        v = p * ~asleep / (p @ ~asleep)
        low = loss[~asleep & (v > 0)].min()
        expected = float(v @ loss)
        suffered = np.where(asleep, expected, loss)
        excess = suffered - low
        weighed = own if loss[~asleep].max() > low else 0.0
        heaviest = heaviest or weighed
        eta = _rate(models, gap, ceiling, heaviest)
        mixed += expected
        gap += max(float(v @ excess) + (_log_mean(p, -eta * excess) / eta if eta < inf else 0.0), 0.0)
        lost = lost + suffered
        charged = charged + expected * asleep
        behind, since = behind + (loss - expected) * ~asleep, since + 1
        heaviest = max(heaviest, weighed)
        then = _rate(models, gap, ceiling, heaviest)
        if weighed:
            shares += 1
            p = _shared(p, excess, eta, then, shares)
        now += (expected - now) / min(recent, t)
        mean += (expected - mean) / min(usual, t)
        square += (expected**2 - square) / min(usual, t)
        more = now - mean
        alarm = t > recent and more > 0 and more**2 * (2 * recent - 1) > worse**2 * (square - mean**2)
        stays = asleep & (not alarm or t < school)
        for group in np.unique(number) if t >= school and not alarm else ():
            its = number == group
            if asleep[its][0]:
                far = np.exp(-then * (before[its] - lost.min())) * models < negligible
                stays[its] = far.all() and since[its][0] < longest
            elif since[its][0] >= watch:
                late = lost[its] - lost.min() >= lag * lost.min() / t
                far = np.exp(-then * (lost[its] - lost.min())) * models < negligible
                far &= p[its] * models < negligible
                stays[its] = (far & late & (behind[its] >= 0)).all()
                since[its], behind[its] = 0, 0.0
        fresh = stays & ~asleep
        since[asleep & ~stays], behind[asleep & ~stays] = 0, 0.0
        before = np.where(fresh, lost, before)
        asleep = stays
        bound = np.exp(-then * (np.where(asleep, before, np.inf) - lost.min())) if asleep.any() else np.zeros(models)
        history.append((p * ~asleep / (p @ ~asleep), asleep, bound))
    weights, slept, bounds = map(np.array, zip(*history, strict=True))
    return Slept(weights, slept, bounds, charged, mixed, gap, _rate(models, gap, ceiling, heaviest), shares)


def graded(scores: Matrix, losses: Vector, squares: Vector, heaviest: float = 1.0) -> Matrix:
    """Combine scores of examples x models x classes into graded scores, before the voted class is made the highest.

    These are for more than two classes; for two see `calibrated_odds`. `losses` are the ranking losses (see
    `ranking_losses`), and `squares` the mean squared scores, one per model. `heaviest` is the largest weight of an
    example on which some models were right and others wrong.
    """
    shares = np.exp(-0.2 / heaviest * (losses - losses.min()))
    return blended(scores, squares, shares / shares.sum())


def blended(scores: Matrix, squares: Vector, weights: Vector) -> Matrix:
    """Return the weighted mean of z / (1 + |z|) over models, from scores of examples x models x columns.

    z are the centered scores divided by the root of their mean square; models whose scores were all zero count as 0.
    """
    z = _center(scores) / np.sqrt(np.where(squares > 0, squares, inf))[:, np.newaxis]
    found: Matrix = np.einsum("imc,m->ic", z / (1 + np.abs(z)), weights)
    return found


def ranking_losses(scores: Matrix, labels: NDArray[np.intp], kept: int = 8, weight: Vector | None = None) -> Vector:
    """Return the ranking loss of each model, from scores of rounds x models x classes, for at most 4096 rounds.

    Each round is compared with the last `kept` rounds with an even label and the last `kept` with an odd one, without
    those of its own label. A model loses the fraction of these pairs that it orders wrongly; ties count half. A round
    counts as many times as there were rounds with the other parity of labels per round with its own, at most once,
    times its weight.
    """
    weight = _weights(scores, weight)
    total = np.zeros(scores.shape[1])
    for t, label in enumerate(labels):
        earlier = [np.flatnonzero(labels[:t] % 2 == half)[-kept:] for half in (0, 1)]
        others = [i for i in np.concatenate(earlier) if labels[i] != label]
        if not others:
            continue
        now, then = scores[t], scores[others]
        same = np.count_nonzero(labels[:t] % 2 == label % 2)
        counts = weight[t] * (min(1.0, (t - same) / same) if 0 < same < t else 1.0)
        own = now[:, label] - then[:, :, label]
        theirs = np.array([row[:, labels[i]] - now[:, labels[i]] for i, row in zip(others, then, strict=True)])
        wrong = [(ahead < 0) + 0.5 * (ahead == 0) for ahead in (own, theirs)]
        total += counts * np.mean(wrong, axis=(0, 1))
    return total


class Odds(NamedTuple):
    """Calibrated models of two classes, and their mixture.

    Attributes
    ----------
    slopes, offsets : ndarray of shape (models,)
        The log odds of a model are ``slope * x + offset`` for a score x in units of its root mean square.
    squares : ndarray of shape (models,)
        The mean squared scores, clipped to 10,000 times the mean before. A sleeping model keeps its own.
    losses, shares : ndarray of shape (models,)
        Total log losses, and the weights of the probabilities.
    mixed : float
        The total log loss of the mixture, at most that of any model plus ``max(ln M, sqrt(n ln M / 2))`` where weights
        are 1.
    """

    slopes: Vector
    offsets: Vector
    squares: Vector
    losses: Vector
    shares: Vector
    mixed: float

    def of(self, scores: Matrix) -> Vector:
        """Return the log odds of the mixture, from scores of examples x models."""
        f = self.each(scores)
        found: Vector = np.log(_sigmoid(f) @ self.shares) - np.log(_sigmoid(-f) @ self.shares)
        return found

    def each(self, scores: Matrix) -> Matrix:
        """Return the log odds of each model, from scores of examples x models."""
        found: Matrix = np.clip(self.slopes * _in_units(scores, self.squares) + self.offsets, -30, 30)
        return found


def calibrated_odds(
    scores: Matrix, y: Vector, weight: Vector | None = None, asleep: NDArray[np.bool_] | None = None
) -> Odds:
    """Calibrate models of two classes by Newton steps on their log losses, and weight them by these.

    There are at most 4096 rounds. The scores are of rounds x models, y is -1 or 1, and `asleep` tells which models
    sleep in each round: these learn nothing and are charged the log loss of the mixture. After n rounds, a model with a
    total log loss L has a weight proportional to ``exp(-min(1, sqrt(2 ln(M) / n)) L / W)``. W is the largest weight of
    a round in which some models were wrong and others right, before which all weights are equal.
    """
    rounds, models = scores.shape
    sleeps = np.zeros((rounds, models), bool) if asleep is None else asleep
    matrices = np.tile(np.eye(2), (models, 1, 1))
    w = np.tile([1.0, 0.0], (models, 1))
    squares, heaviest = np.zeros(models), 0.0
    odds = Odds(w[:, 0], w[:, 1], squares, np.zeros(models), np.full(models, 1 / models), 0.0)
    for t, (own, s, label) in enumerate(zip(_weights(scores, weight), scores, y, strict=True)):
        awake = ~sleeps[t]
        f = odds.each(s[np.newaxis])[0]
        p, likely = _sigmoid(f), _sigmoid(label * f)
        charge = -np.log(likely[awake] @ odds.shares[awake] / odds.shares[awake].sum())
        losses = odds.losses + own * np.where(awake, -np.log(likely), charge)
        z = np.column_stack([_in_units(s[np.newaxis], odds.squares)[0], np.ones(models)])
        part = own / max(own, heaviest) * awake
        matrices += (part * np.maximum(p * (1 - p), 1e-3))[:, np.newaxis, np.newaxis] * z[:, :, None] * z[:, None, :]
        gradient = (part * label * _sigmoid(-label * f))[:, np.newaxis] * z
        w = w + np.linalg.solve(matrices, gradient[:, :, np.newaxis])[:, :, 0]
        most = np.where(squares > 0, 1e4 * squares, inf)
        squares = (t * squares + np.where(awake, np.minimum(s**2, most), squares)) / (t + 1)
        wrong = label * s[awake] <= 0
        heaviest = max(heaviest, own) if wrong.any() and not wrong.all() else heaviest
        rate = min(1.0, np.sqrt(2 * log(models) / (t + 1))) / heaviest if heaviest else 0.0
        shares = np.exp(-rate * (losses - losses.min()))
        odds = Odds(w[:, 0], w[:, 1], squares, losses, shares / shares.sum(), odds.mixed + own * charge)
    return odds


def _sigmoid(f: Matrix) -> Matrix:
    found: Matrix = 1 / (1 + np.exp(-f))
    return found


def _in_units(scores: Matrix, squares: Vector) -> Matrix:
    """Return scores in units of their root mean square, clipped to 10; 0 where all were zero."""
    found: Matrix = np.clip(scores / np.sqrt(np.where(squares > 0, squares, inf)), -10, 10)
    return found


def _center(scores: Matrix) -> Matrix:
    centered: Matrix = scores - scores.mean(axis=2, keepdims=True) if scores.shape[2] > 1 else scores
    return centered


def tempered(y: Vector, origin: float) -> Vector:
    """Clip outliers among the targets after the first, the origin, to the largest distance from the origin so far.

    An outlier is more than 100 times as far from the origin as any earlier target, and not the third such in a row.
    """
    reach, learned = 0.0, []
    far: list[float] = []
    for distance in y - origin:
        size, usual = abs(distance), reach or abs(origin)
        far = [*far, size] if 0 < 100 * usual < size else []
        if len(far) == 3:
            reach = usual = min(far)
            far = [size] if 100 * usual < size else []
        reach = reach if far else max(reach, size)
        learned.append(origin + (np.copysign(usual, distance) if far else distance))
    return np.array(learned)


def units_of_c(squared_norms: Vector, y: Vector | None = None, power: float = 1.0) -> Vector:
    """Return the unit of ``C="auto"`` in each round: ``deviation(y) / mean(squared_norms)^power``, both so far.

    The deviation is that of the targets together with one 0; without y it is 1. Squared norms are clipped to 100 times
    the mean before them, and targets to ten deviations from the mean.
    """
    norms: list[float] = []
    targets, units = [0.0], []
    for t, square in enumerate(squared_norms):
        if square > 0:
            norms.append(min(square, 100 * float(np.mean(norms))) if norms else square)
            if y is not None:
                mean, limit = np.mean(targets), 10 * np.std(targets)
                targets.append(float(np.clip(y[t], mean - limit, mean + limit) if limit > 0 else y[t]))
        unit = np.mean(norms) ** -power if norms else 1.0
        units.append(unit * (1.0 if y is None else np.std(targets)))
    return np.array(units)


class Several(NamedTuple):
    """Result of several models: mistakes of the combined prediction and of each model, and the AdaHedge result."""

    mistakes: int
    each: NDArray[np.intp]
    hedged: Hedged


def several(
    runs: Sequence[Run], y: Matrix, *, hedge: bool, ceiling: float = inf, weight: Vector | None = None
) -> Several:
    """Combine classifiers that learned the same examples independently: one column for two classes, otherwise K.

    The model with the fewest mistakes so far (the leader) predicts. With `hedge`, it is the vote weighted by `adahedge`
    or the mean of scaled scores with the same weights (see `blended`): the one with fewer mistakes so far, but where
    the mean predicted it makes at most 10 mistakes more than the vote. Mistakes count as much as the `weight` of their
    example, by default 1.
    """
    scores = np.array([run.scores for run in runs]).swapaxes(0, 1)  # rounds x models x columns
    lost = np.array([[_wrong(own, target) for own in row] for row, target in zip(scores, y, strict=True)])
    hedged, mistakes = adahedge(lost.astype(np.float64), ceiling, weight), 0
    own = _weights(lost, weight)
    weighted = lost * own[:, np.newaxis]
    squares = np.square(_center(scores)).mean(axis=2)
    behind, behind_now, heaviest = 0.0, 0.0, 0.0
    for t, target in enumerate(y):
        votes = scores[t, weighted[:t].sum(axis=0).argmin()]
        if hedge:
            votes = sum((p * _ballot(s) for p, s in zip(hedged.weights[t], scores[t], strict=True)), 0 * votes)
        if hedge and t:
            mean = blended(scores[t : t + 1], squares[:t].mean(axis=0), hedged.weights[t])[0]
            more = own[t] * (float(_wrong(mean, target)) - float(_wrong(votes, target)))
            if behind <= 0 and behind_now <= 9 * heaviest:
                behind_now, votes = behind_now + more, mean
            behind += more
        heaviest = max(heaviest, own[t] * (lost[t].min() < lost[t].max()))
        mistakes += _wrong(votes, target)
    return Several(mistakes, lost.sum(axis=0), hedged)


def _wrong(scores: Vector, y: float) -> bool:
    """Return whether the margin is zero or negative."""
    if len(scores) == 1:
        return bool(y * scores[0] <= 0)
    return bool(scores[int(y)] <= np.delete(scores, int(y)).max())


def _ballot(scores: Vector) -> Vector:
    """Return one vote for the predicted class, as scores."""
    if len(scores) == 1:
        return np.where(scores >= 0, 1.0, -1.0)
    return np.asarray(np.arange(len(scores)) == scores.argmax(), dtype=np.float64)


def vote(paths: NDArray[np.intp], weights: NDArray[np.float64], labels: int) -> NDArray[np.intp]:
    """Combine labelings, models x tokens: the label with the most votes per token; ties go to the first label."""
    votes = np.zeros((paths.shape[1], labels))
    for path, weight in zip(paths, weights, strict=True):
        votes[np.arange(len(path)), path] += weight
    best: NDArray[np.intp] = votes.argmax(axis=1)
    return best


def _weights(losses: Matrix, weight: Vector | None) -> Vector:
    """Return the weights of the rounds, by default 1."""
    return np.ones(len(losses)) if weight is None else weight


def _rate(models: int, gap: float, ceiling: float, heaviest: float) -> float:
    """Return the rate of AdaHedge, at most the ceiling for losses between 0 and `heaviest` (0: not known yet)."""
    return min(ceiling / (heaviest or 1.0), log(models) / gap if gap > 0 else inf)
