"""The options of passes over the data, which are of `fit` alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from onmargin.estimators._online import OnlineLearner, learner_of_model
from onmargin.models.options import option
from onmargin.models.rules import FLAG, NOTHING, Instance, Number


def max_iter(default: int = 1000) -> Any:
    return option(default, Number(1, whole=True))


def tol(default: float | None = 1e-3) -> Any:
    return option(default, Number(0), NOTHING)


def n_iter_no_change() -> Any:
    return option(5, Number(1, whole=True))


def shuffle() -> Any:
    return option(True, FLAG)


def verbose() -> Any:
    return option(0, FLAG, Number(0, whole=True))


def random_state() -> Any:
    seed = Number(0, 2**32 - 1, whole=True)
    return option(None, NOTHING, seed, Instance(np.random.RandomState, "a RandomState"))


def warm_start() -> Any:
    return option(False, FLAG)


def early_stopping() -> Any:
    return option(False, FLAG)


def validation_fraction() -> Any:
    return option(0.1, Number(0, 1, above=True, below=True))


@dataclass(kw_only=True, eq=False, repr=False)
class PassLearner(OnlineLearner):
    """A scikit-learn estimator that makes passes over the data.

    Parameters
    ----------
    max_iter : int, default=1000
        Most passes that `fit` makes. `partial_fit` makes one.
    tol : float or None, default=1e-3
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss was not better by `tol` than the best
        before. If None, all `max_iter` passes are made.
    n_iter_no_change : int, default=5
        Passes without improvement that end `fit`.
    shuffle : bool, default=True
        Whether `fit` shuffles before each pass. `partial_fit` never does.
    verbose : int, default=0
        If above 0, `fit` prints one line per pass.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights it finds.
    """

    max_iter: int = max_iter()
    tol: float | None = tol()
    n_iter_no_change: int = n_iter_no_change()
    shuffle: bool = shuffle()
    verbose: int = verbose()
    random_state: int | np.random.RandomState | None = random_state()
    warm_start: bool = warm_start()

    _learner = learner_of_model
