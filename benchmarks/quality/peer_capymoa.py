"""CapyMOA's learners of curved boundaries, in its own evaluation loop, which runs in Java.

Forests have 30 trees, not 100: on satimage (3,000 rows) 100 trees take 3 to 6 times as long for the same error.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from peer import Best
from workloads import Workload

TREES = 30


def peer(make: Callable[[Any], Any]) -> Callable[[Sequence[Workload]], Best | None]:
    def errors(works: Sequence[Workload]) -> Best | None:
        return Best("", float(np.mean([_error(make, work) for work in works])))

    return errors


def _error(make: Callable[[Any], Any], work: Workload) -> float:
    from capymoa.evaluation import prequential_evaluation  # starts a Java machine
    from capymoa.stream import NumpyStream

    numbers = work.classes is None
    stream = NumpyStream(work.X, work.y, target_type="numeric" if numbers else "categorical")
    found = prequential_evaluation(stream, make(stream.get_schema()), window_size=len(work.y)).cumulative
    return float(found.mae() if numbers else 100 - found.accuracy())


def classifier(name: str, **options: Any) -> Callable[[Sequence[Workload]], Best | None]:
    def make(schema: Any) -> Any:
        import capymoa.classifier

        return getattr(capymoa.classifier, name)(schema, **options)

    return peer(make)


def regressor(name: str, **options: Any) -> Callable[[Sequence[Workload]], Best | None]:
    def make(schema: Any) -> Any:
        import capymoa.regressor

        return getattr(capymoa.regressor, name)(schema, **options)

    return peer(make)


CAPYMOA_CLASSIFIERS = {
    "CapyMOA ARF": classifier("AdaptiveRandomForestClassifier", ensemble_size=TREES),
    "CapyMOA SRP": classifier("StreamingRandomPatches", ensemble_size=TREES),
    "CapyMOA kNN": classifier("KNN"),
}
CAPYMOA_REGRESSORS = {
    "CapyMOA ARF": regressor("AdaptiveRandomForestRegressor", ensemble_size=TREES),
    "CapyMOA kNN": regressor("KNNRegressor"),
}
