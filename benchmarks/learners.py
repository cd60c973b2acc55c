"""onmargin and scikit-learn on a workload: the time of one `partial_fit`, and the progressive error."""

from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import SGDClassifier, SGDRegressor
from workloads import Workload

from onmargin import PassiveAggressiveClassifier, PassiveAggressiveRegressor


def onmargin_model(work: Workload) -> BaseEstimator:
    """Return what a user of scikit-learn's passive-aggressive classes gets by changing the import line."""
    return PassiveAggressiveRegressor() if work.classes is None else PassiveAggressiveClassifier()


def sklearn_model(work: Workload) -> BaseEstimator:
    """Return scikit-learn's replacement for those classes; its `partial_fit` shuffles."""
    if work.classes is None:
        return SGDRegressor(loss="epsilon_insensitive", penalty=None, learning_rate="pa1", eta0=1.0)
    return SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0)


def sklearn_model_in_order(work: Workload) -> BaseEstimator:
    """Return the same without shuffling: the same rounds as onmargin, with memory read in order."""
    return sklearn_model(work).set_params(shuffle=False)


class Estimator:
    """A learner with `partial_fit`; every pass starts from a new model."""

    def __init__(self, make: Callable[[Workload], BaseEstimator], work: Workload) -> None:
        self.make = make
        self.work = work
        self.known = {} if work.classes is None else {"classes": work.classes}

    def learn(self) -> BaseEstimator:
        """Make one pass, end to end, including validation and the allocation of weights."""
        return self.make(self.work).partial_fit(self.work.X, self.work.y, **self.known)

    def progressive_error(self, n_blocks: int = 200) -> float:
        """Return the error rate, or mean absolute error, of blocks before they are learned, without the first block."""
        model, X, y = self.make(self.work), self.work.X, self.work.y
        size = len(y) // n_blocks
        model.partial_fit(X[:size], y[:size], **self.known)
        errors = []
        for start in range(size, len(y), size):
            block = slice(start, start + size)
            predicted = model.predict(X[block])
            errors.append(np.abs(predicted - y[block]) if self.work.classes is None else predicted != y[block])
            model.partial_fit(X[block], y[block])
        return float(np.concatenate(errors).mean())
