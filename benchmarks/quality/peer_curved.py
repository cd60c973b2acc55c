"""River's learners of curved boundaries with default parameters, one example at a time."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from peer import Best
from peer_river import error_of, examples_of
from river import base, forest, tree
from workloads import Workload


def classifier(make: Callable[[], base.Classifier]) -> Callable[[Sequence[Workload]], Best | None]:
    def errors(works: Sequence[Workload]) -> Best | None:
        return Best("", float(np.mean([error_of(make(), examples_of(work)) for work in works])))

    return errors


def regressor(make: Callable[[], base.Regressor]) -> Callable[[Sequence[Workload]], Best | None]:
    def errors(works: Sequence[Workload]) -> Best | None:
        return Best("", float(np.mean([absolute_error(make(), work) for work in works])))

    return errors


def absolute_error(model: base.Regressor, work: Workload) -> float:
    def predictions() -> Iterable[float]:
        for row, target in zip(work.X.tolist(), work.y.tolist(), strict=True):
            x = dict(enumerate(row))
            yield model.predict_one(x) or 0.0
            model.learn_one(x, target)

    found = np.fromiter(predictions(), float)
    return float(np.abs(work.y - np.nan_to_num(found, nan=1e9, posinf=1e9, neginf=-1e9)).mean())


RIVER_CLASSIFIERS = {
    "river ARF": classifier(lambda: forest.ARFClassifier(seed=0)),
    "river HAT": classifier(lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0)),
}
RIVER_REGRESSORS = {
    "river ARF": regressor(lambda: forest.ARFRegressor(seed=0)),
    "river HAT": regressor(lambda: tree.HoeffdingAdaptiveTreeRegressor(seed=0)),
}
