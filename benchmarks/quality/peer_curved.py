"""river's learners of curved boundaries, one example at a time, as they come: there is little to tune online."""

from collections.abc import Callable, Sequence

from peer import Best
from peer_river import error_of, examples_of
from river import base, forest, neighbors, preprocessing, tree
from scipy.sparse import issparse
from workloads import Workload

MOST_ROWS = 25_000  # a forest takes a millisecond a row


def peer(make: Callable[[], base.Classifier]) -> Callable[[Sequence[Workload]], Best | None]:
    """A learner that has one setting."""

    def errors(works: Sequence[Workload]) -> Best | None:
        if issparse(works[0].X) or len(works[0].y) > MOST_ROWS:
            return None
        return Best("", sum(error_of(make(), examples_of(work)) for work in works) / len(works))

    return errors


CURVED = {
    "forest": peer(lambda: forest.ARFClassifier(seed=0)),
    "tree": peer(lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0)),
    "neighbours": peer(lambda: preprocessing.StandardScaler() | neighbors.KNNClassifier()),
}
