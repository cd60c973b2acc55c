"""Misclassification costs from a class hierarchy: the number of edges between two classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def tree_costs(
    classes: Iterable[Any], parents: Mapping[Any, Any] | None = None, *, separator: str = "/"
) -> NDArray[np.float64]:
    """Return the number of edges between any two classes in a tree.

    Pass the result as `cost` to a classifier: mistakes within a branch of a hierarchy then cost less than those between
    branches, and ``totals_.cost`` is the sum of the tree distances of the predictions.

    Parameters
    ----------
    classes : iterable of labels
        The labels in the order of the rows and columns; sorted, as in ``classes_`` of a learner.
    parents : dict or None, default=None
        The parent of each node, by name. A node without a parent, or whose parent is None, is at the top. If None,
        labels are paths, such as "news/sport/tennis".
    separator : str, default="/"
        Separator of the parts of a path, such as "." for "comp.sys.mac".

    Returns
    -------
    cost : ndarray of shape (n_classes, n_classes)
        Distances. Several nodes at the top share an unnamed root.

    Notes
    -----
    This is the cost of [JMLR] sec. 8 for hierarchies, after O. Dekel, J. Keshet, Y. Singer, *Large Margin Hierarchical
    Classification*, ICML 2004.

    Examples
    --------
    >>> from onmargin.features import tree_costs
    >>> tree_costs(["news/sport", "news/sport/tennis", "news/politics", "weather"])
    array([[0., 1., 2., 3.],
           [1., 0., 3., 4.],
           [2., 3., 0., 3.],
           [3., 4., 3., 0.]])
    >>> tree_costs(["cat", "dog", "oak"], {"cat": "animal", "dog": "animal", "oak": "set_center"})
    array([[0., 2., 4.],
           [2., 0., 4.],
           [4., 4., 0.]])
    """
    labels = list(classes)
    if len(set(labels)) < len(labels):
        raise ValueError(f"classes must name each label once; got {labels!r:.200}")
    if parents is None:
        strange = [label for label in labels if not isinstance(label, str)]
        if strange or not separator:
            raise ValueError(
                f"classes must be paths with a separator without parents=; got {strange[:1] or separator!r}. Pass "
                "parents={label: parent} for labels that are not paths."
            )
        paths = [tuple(label.split(separator)) for label in labels]
    else:
        paths = [_path(label, parents) for label in labels]
    cost = np.zeros((len(paths), len(paths)))
    for i, one in enumerate(paths):
        for j, other in enumerate(paths[:i]):
            shared = next((k for k, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
            shared = min(len(one), len(other)) if shared is None else shared
            cost[i, j] = cost[j, i] = len(one) + len(other) - 2 * shared
    return cost


def _path(label: Any, parents: Mapping[Any, Any]) -> tuple[Any, ...]:
    """Return the nodes from the top down to a label."""
    path = [label]
    while (parent := parents.get(path[-1])) is not None:
        if parent in path:
            raise ValueError(f"parents must form a tree; got the cycle {[*path[path.index(parent) :], parent]!r:.200}")
        path.append(parent)
    return tuple(reversed(path))
