"""Costs from a hierarchy: distances in the tree, by paths and by parents, and what learners pay."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin import PassiveAggressiveClassifier
from onmargin.features import tree_costs


@given(st.lists(st.integers(0, 100), min_size=1, max_size=12), st.data())
def test_distances_are_shortest_paths(draws, data):
    """They equal those of Floyd and Warshall for a random tree with root 0."""
    parents = {node + 1: draw % (node + 1) for node, draw in enumerate(draws)}
    n = len(parents) + 1
    ways = np.where(np.eye(n), 0, np.inf)
    for node, parent in parents.items():
        ways[node, parent] = ways[parent, node] = 1
    for middle in range(n):
        ways = np.minimum(ways, ways[:, [middle]] + ways[[middle]])
    classes = data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True))
    assert tree_costs(classes, parents).tolist() == ways[np.ix_(classes, classes)].tolist()
    paths = {0: "0"}
    for node in sorted(parents):
        paths[node] = f"{paths[parents[node]]}.{node}"
    named = tree_costs([paths[node] for node in classes], separator=".")
    assert named.tolist() == ways[np.ix_(classes, classes)].tolist()


def test_several_trees_get_one_root():
    assert tree_costs(["a/b", "c"]).tolist() == [[0, 3], [3, 0]]
    assert tree_costs(["b", "c"], {"b": "a", "c": None}).tolist() == [[0, 3], [3, 0]]


def test_totals_sum_the_distances():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((40, 5)), np.array(["a.b", "a.c", "d"])[random.integers(0, 3, 40)]
    tree = tree_costs(["a.b", "a.c", "d"], separator=".")
    model = PassiveAggressiveClassifier(cost=tree)
    paid = tree[np.unique(y) == y[0], 0].item()  # the first of equal scores is predicted
    for i in range(40):
        if i:
            guess = model.predict(X[i : i + 1])[0]
            paid += tree[model.classes_ == y[i], model.classes_ == guess].item()
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=np.unique(y))
    assert model.totals_.cost == pytest.approx(paid)


@pytest.mark.parametrize(
    ("classes", "parents", "words"),
    [
        (["a", "a"], None, "once"),
        ([1, 2], None, "parents="),
        (["a"], {"a": "b", "b": "a"}, "cycle"),
    ],
)
def test_refusals(classes, parents, words):
    with pytest.raises(ValueError, match=words):
        tree_costs(classes, parents)
