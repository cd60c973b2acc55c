"""Sequence labeling: Viterbi decoding, the rival labeling of largest loss, and updates ([JMLR] sec. 9)."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.rounds import Matrix, Run
from onmargin.reference.step import Step, Vector
from onmargin.reference.task import HalfSpace

Path = NDArray[np.intp]
# emissions (tokens by labels), transitions (from, to), the true path -> the rival path
Rival = Callable[[Matrix, Matrix, Path], Path]


def path_features(X: Matrix, path: Path, labels: int, chosen: Sequence[int] = ()) -> Vector:
    """Return Phi(x, z): the sum of the rows of each label, then the count of each label transition.

    Last, for each pair of labels, are the sums of the `chosen` features of the rows where the second follows the first.
    """
    emissions, transitions = np.zeros((labels, X.shape[1])), np.zeros((labels, labels, 1 + len(chosen)))
    np.add.at(emissions, path, X)
    np.add.at(transitions, (path[:-1], path[1:]), np.insert(X[1:, list(chosen)], 0, 1, axis=1))
    return np.concatenate([emissions.ravel(), transitions[..., 0].ravel(), transitions[..., 1:].ravel()])


def chain_scores(w: Vector, X: Matrix, labels: int, chosen: Sequence[int] = ()) -> tuple[Matrix, Matrix]:
    """Return emissions, tokens by labels, and transitions to each token, tokens by labels by labels."""
    W, T, E = np.split(w, [labels * X.shape[1], labels * (X.shape[1] + labels)])
    steps = np.einsum("abj,ij->iab", E.reshape(labels, labels, len(chosen)), X[:, list(chosen)])
    return X @ W.reshape(labels, -1).T, T.reshape(labels, labels) + steps


def viterbi(emissions: Matrix, transitions: Matrix) -> Path:
    """Return the path of highest score; ties go to the smallest last label, then the smallest second to last, ..."""
    steps = each_step(transitions, len(emissions))
    best = [emissions[0]]
    for i in range(1, len(emissions)):
        best.append((best[-1][:, None] + steps[i]).max(axis=0) + emissions[i])
    path = [best[-1].argmax()]
    for i in range(len(emissions) - 1, 0, -1):
        path.append((best[i - 1] + steps[i][:, path[-1]]).argmax())
    return np.array(path[::-1])


def each_step(transitions: Matrix, tokens: int) -> Matrix:
    """Return the transitions to each token; one matrix is repeated for all tokens."""
    return np.broadcast_to(transitions, (tokens, *transitions.shape[-2:]))


def hamming_rival(emissions: Matrix, transitions: Matrix, right: Path) -> Path:
    """Return the path of highest score plus sqrt(errors), from the best path for every number of errors."""
    tokens, labels = emissions.shape
    steps = each_step(transitions, tokens)
    wrong = np.arange(labels) != right[:, None]
    best = np.full((tokens, tokens + 1, labels), -np.inf)
    best[0, wrong[0].astype(int), np.arange(labels)] = emissions[0]
    for i in range(1, tokens):
        ways = (best[i - 1][:, :, None] + steps[i]).max(axis=1) + emissions[i]
        best[i] = np.where(wrong[i], np.vstack([np.full(labels, -np.inf), ways[:-1]]), ways)
    ends = best[-1] + np.sqrt(np.arange(tokens + 1))[:, None]
    errors, label = np.unravel_index(ends.argmax(), ends.shape)
    path = [label]
    for i in range(tokens - 1, 0, -1):
        errors = errors - wrong[i, path[-1]]
        path.append((best[i - 1, errors] + steps[i][:, path[-1]]).argmax())
    return np.array(path[::-1])


def additive_rival(cost: Matrix) -> Rival:
    """Return a rival function: the path of highest score plus cost, if the cost is a sum over tokens."""
    return lambda emissions, transitions, right: viterbi(emissions + cost[right], transitions)


def predicted_rival(emissions: Matrix, transitions: Matrix, right: Path) -> Path:
    """Return the predicted path."""
    return viterbi(emissions, transitions)


def rival_labelings(
    cost: Matrix, n: int, *, squared: bool = False
) -> Callable[[Vector, tuple[NDArray[np.intp], int]], tuple[list[HalfSpace], bool]]:
    """Return the task of `play_trials` whose rows are Phi(x, z) of all labelings: the n best wrong ones are rivals.

    A target is the paths of all labelings, and the place of the right one among them ([SIMPROJ] sec. 10).
    """

    def task(scores: Vector, target: tuple[NDArray[np.intp], int]) -> tuple[list[HalfSpace], bool]:
        paths, right = target
        costs = cost[paths[right], paths].sum(axis=1) ** (2 if squared else 1)
        order = np.argsort(-scores, kind="stable")
        halfspaces = [
            HalfSpace(
                np.eye(len(scores))[right] - np.eye(len(scores))[z],
                scores[z] - scores[right] + np.sqrt(costs[z]),
                bool(scores[z] >= scores[right]),
            )
            for z in order[order != right][:n]
        ]
        return halfspaces, any(h.mistaken for h in halfspaces)

    return task


def play_sequences(
    sequences: Sequence[Matrix],
    paths: Sequence[Path],
    cost: Matrix,
    rival: Rival,
    step: Step,
    *,
    squared: bool = False,
    chosen: Sequence[int] = (),
    weight: Vector | None = None,
) -> Run:
    """Learn the sequences in order; rho(y, z) is the sum over tokens of ``cost[y_i, z_i]``, or its square."""
    labels, features = len(cost), sequences[0].shape[1]
    w = np.zeros(labels * (features + labels * (1 + len(chosen))))
    run = Run(weights=w, mean=np.zeros_like(w))
    power = 2 if squared else 1
    for X, y, scale in zip(sequences, paths, np.ones(len(paths)) if weight is None else weight, strict=True):
        if scale == 0:
            continue
        scores = chain_scores(w, X, labels, chosen)
        prediction, q = viterbi(*scores), rival(*scores, y)
        v = path_features(X, y, labels, chosen) - path_features(X, q, labels, chosen)
        loss = cost[y, q].sum() ** (power / 2) - w @ v
        run.rounds += 1
        run.mistakes += bool((prediction != y).any())
        run.cost += cost[y, prediction].sum() ** power
        if (q != y).any() and loss > 0 and v @ v > 0:
            tau, gain = step(np.array([loss]), np.array([v @ v]), np.array([(prediction != y).any()]), scale)
            w += tau[0] * v
            run.updates += bool(tau[0] > 0)
            run.dual_value += gain - tau[0] ** 2 * (v @ v) / 2
            run.loss += loss
            run.squared_loss += loss**2
            run.max_squared_norm = max(run.max_squared_norm, float(v @ v))
        run.mean += (w - run.mean) / run.rounds
    return run
