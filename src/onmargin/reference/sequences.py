"""Labels of a chain: the best labelling, the one most worth beating, and learning from it ([JMLR] sec. 9)."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.rounds import Matrix, Run
from onmargin.reference.step import Step, Vector

Path = NDArray[np.intp]
# emissions (tokens by labels), transitions (from, to), the right path -> the path to be beaten
Rival = Callable[[Matrix, Matrix, Path], Path]


def path_features(X: Matrix, path: Path, labels: int) -> Vector:
    """Phi(x, z): the sum of the rows of each label, then how often each label follows each."""
    emissions, transitions = np.zeros((labels, X.shape[1])), np.zeros((labels, labels))
    np.add.at(emissions, path, X)
    np.add.at(transitions, (path[:-1], path[1:]), 1)
    return np.concatenate([emissions.ravel(), transitions.ravel()])


def viterbi(emissions: Matrix, transitions: Matrix) -> Path:
    """The path of highest score; of equal ones that whose last label comes first, then its last but one..."""
    best = [emissions[0]]
    for row in emissions[1:]:
        best.append((best[-1][:, None] + transitions).max(axis=0) + row)
    path = [best[-1].argmax()]
    for ways in best[-2::-1]:
        path.append((ways + transitions[:, path[-1]]).argmax())
    return np.array(path[::-1])


def hamming_rival(emissions: Matrix, transitions: Matrix, right: Path) -> Path:
    """The path of highest score plus root of its errors, from the best path of every number of errors."""
    tokens, labels = emissions.shape
    wrong = np.arange(labels) != right[:, None]
    best = np.full((tokens, tokens + 1, labels), -np.inf)
    best[0, wrong[0].astype(int), np.arange(labels)] = emissions[0]
    for i in range(1, tokens):
        ways = (best[i - 1][:, :, None] + transitions).max(axis=1) + emissions[i]
        best[i] = np.where(wrong[i], np.vstack([np.full(labels, -np.inf), ways[:-1]]), ways)
    ends = best[-1] + np.sqrt(np.arange(tokens + 1))[:, None]
    errors, label = np.unravel_index(ends.argmax(), ends.shape)
    path = [label]
    for i in range(tokens - 1, 0, -1):
        errors = errors - wrong[i, path[-1]]
        path.append((best[i - 1, errors] + transitions[:, path[-1]]).argmax())
    return np.array(path[::-1])


def additive_rival(cost: Matrix) -> Rival:
    """The path of highest score plus cost, which is a sum over the tokens as the score is."""
    return lambda emissions, transitions, right: viterbi(emissions + cost[right], transitions)


def predicted_rival(emissions: Matrix, transitions: Matrix, right: Path) -> Path:
    """The prediction itself."""
    return viterbi(emissions, transitions)


def play_sequences(
    sequences: Sequence[Matrix],
    paths: Sequence[Path],
    cost: Matrix,
    rival: Rival,
    step: Step,
    *,
    squared: bool = False,
    weight: Vector | None = None,
) -> Run:
    """Learn the sequences in their order; rho(y, z) is the sum over the tokens of ``cost[y_i, z_i]``, or its square."""
    labels, features = len(cost), sequences[0].shape[1]
    w = np.zeros(labels * (features + labels))
    run = Run(weights=w, mean=np.zeros_like(w))
    power = 2 if squared else 1
    for X, y, scale in zip(sequences, paths, np.ones(len(paths)) if weight is None else weight, strict=True):
        if scale == 0:
            continue
        emissions, transitions = X @ w[: labels * features].reshape(labels, -1).T, w[labels * features :]
        scores = emissions, transitions.reshape(labels, labels)
        prediction, q = viterbi(*scores), rival(*scores, y)
        v = path_features(X, y, labels) - path_features(X, q, labels)
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
