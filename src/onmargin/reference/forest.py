"""A random forest of the rows that were learned last."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.ferns import mixed

Matrix = NDArray[np.float64]
TREES, NODES, DEEPEST, CUTS, BUDGET, SHORTEST = 24, 4096, 24, 5, 1000, 32


class Node(NamedTuple):
    """A node: the feature that it tests, -1 for a leaf, the threshold, and the first of its two children."""

    feature: int = -1
    threshold: float = 0.0
    child: int = 0


@dataclass
class Tree:
    """A tree: its nodes, and the sum of weights and of weighted targets in each."""

    nodes: list[Node]
    sums: Matrix
    examined: int

    def leaf(self, x: NDArray[np.float32]) -> int:
        k = 0
        while self.nodes[k].feature >= 0:
            k = self.nodes[k].child + int(x[self.nodes[k].feature] > self.nodes[k].threshold)
        return k


class Draws:
    """The random numbers of a tree."""

    def __init__(self, number: int):
        self.state = _mix_bits(number)

    def below(self, n: int) -> int:
        self.state = self.state + 0x9E3779B97F4A7C15 & 2**64 - 1
        return (_mix_bits(self.state) >> 32) * n >> 32


def _mix_bits(z: int) -> int:
    return int(mixed(np.array([z], np.uint64))[0])


def forest(
    X: Matrix, targets: Matrix, weight: NDArray[np.float64] | None = None, *, kept: int = 4096
) -> tuple[Matrix, list[int]]:
    """Return the scores of each row before it is learned, rows x columns, and the rows at which the concept changed.

    Scores are means, over the trees, of the mean target in the leaf of the row ([FOREST]). Trees are grown from the
    last `kept` rows, one at a time, and leaves count the rows that are learned after that. If the squared residuals
    of the last 32, 64, ... rows are larger than those before them by more than three standard errors, earlier rows and
    all trees are dropped. Rows are in single precision.
    """
    weight = np.ones(len(X)) if weight is None else weight
    rows, wanted = X.astype(np.float32), targets.astype(np.float32).astype(np.float64)
    scores, losses, changes = np.zeros(targets.shape), np.zeros(len(X)), []
    trees: list[Tree] = []
    grown = place = first = due = 0
    for t, x in enumerate(rows):
        scores[t] = np.mean([means(tree.sums[tree.leaf(x)]) for tree in trees], axis=0) if trees else 0
        losses[t] = np.square(targets[t] - scores[t]).sum()
        since = max(first, t - kept)
        recent = change(losses[since:t]) if t % SHORTEST == 0 else 0
        if recent:
            first, due, trees, place = t - recent, t, [], 0
            since = first
            changes.append(t)
        if t >= max(due, 2):
            grown += 1
            varied = np.flatnonzero((rows[max(t - kept, 0) : t] != rows[max(t - kept, 0)]).any(axis=0)).tolist()
            tree = grow(rows[since:t], wanted[since:t], weight[since:t], varied, Draws(grown))
            trees[place : place + 1] = [tree]
            place = (place + 1) % TREES
            due = t + max(1, (t - since) // 32, tree.examined // BUDGET)
        for tree in trees:
            tree.sums[tree.leaf(x)] += weight[t] * np.append(1.0, targets[t])
    return scores, changes


def means(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = sums[1:] / sums[0]
    return found


def change(losses: NDArray[np.float64]) -> int:
    """Return how many of the last losses are larger than those before them; 0 if there is no such change."""
    recent = SHORTEST
    while 2 * recent <= len(losses):
        new, old = losses[-recent:], losses[:-recent]
        if new.mean() > old.mean() + 3 * np.sqrt(new.var() / len(new) + old.var() / len(old)):
            return recent
        recent *= 2
    return 0


def grow(
    rows: NDArray[np.float32], targets: Matrix, weight: NDArray[np.float64], varied: list[int], draws: Draws
) -> Tree:
    """Return a tree, breadth first; a node is split until all targets in it are equal ([FOREST], [EXTRA])."""
    carried = weight[:, None] * np.hstack([np.ones((len(rows), 1)), targets])
    members, depths, nodes, examined = [np.arange(len(rows))], [0], [Node()], 0
    k = 0
    while k < len(nodes):
        own = members[k]
        if len(nodes) + 2 <= NODES and depths[k] < DEEPEST and (targets[own] != targets[own[0]]).any():
            tried, feature, threshold = split(rows[own], carried[own], varied, draws)
            examined += tried * len(own)
            if feature >= 0:
                values = rows[own, feature]
                above = values > threshold
                middle = np.float32((float(threshold) + float(values[above].min())) / 2)
                middle = middle if middle < values[above].min() else threshold
                nodes[k] = Node(feature, float(middle), len(nodes))
                nodes += [Node(), Node()]
                members += [own[~above], own[above]]
                depths += [depths[k] + 1] * 2
        k += 1
    return Tree(nodes, np.array([carried[own].sum(axis=0) for own in members]), examined)


def split(rows: NDArray[np.float32], carried: Matrix, varied: list[int], draws: Draws) -> tuple[int, int, np.float32]:
    """Return how many features were tried, the best one, -1 if there is none, and the threshold."""
    tried, n, total = int(np.ceil(np.sqrt(len(varied)))) + 1, len(rows), carried.sum(axis=0)
    drawn, gain, feature, threshold = 0, -1.0, -1, np.float32(0)
    while drawn < len(varied) and (drawn < tried or (gain < 0 and drawn < 4 * tried)):
        k = drawn + draws.below(len(varied) - drawn)
        varied[k], varied[drawn] = varied[drawn], varied[k]
        j = varied[drawn]
        drawn += 1
        values = rows[:, j]
        if values.min() == values.max():
            continue
        chosen = values if n <= CUTS else values[[draws.below(n) for _ in range(CUTS)]]
        for cut in np.sort(chosen[chosen < values.max()]):
            left = carried[values <= cut].sum(axis=0)
            right = total - left
            found = np.sum(left[1:] ** 2) / left[0] + np.sum(right[1:] ** 2) / right[0]
            if gain < 0 or found > gain * (1 + 1e-9):
                gain, feature, threshold = found, j, cut
    return drawn, feature, threshold
