"""Cost-sensitive decisions from probabilities, with the option to abstain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onmargin._checks import plain
from onmargin.confidence._wrapper import JudgingWrapper, require

__all__ = ["Decisions", "DecisionsReport"]


@dataclass(frozen=True)
class DecisionsReport:
    """Counts and mean cost of the decisions on a stream.

    Attributes
    ----------
    rounds, abstained, mistakes : int
        Numbers of examples evaluated before they were learned, of those without a decision, and of wrong decisions.
    cost : float
        Mean cost per example, including the cost of abstaining; nan if there were no examples.
    """

    rounds: int
    abstained: int
    mistakes: int
    cost: float


class Decisions(JudgingWrapper):
    """Cost-sensitive decisions: predict the class of least expected cost, or abstain if that costs less.

    With probabilities p, the expected cost of class j is ``sum_i p_i cost[i, j]``. With `abstain`, no class is
    predicted if the least expected cost is greater than `abstain`; without `cost`, if ``1 - max p > abstain``.

    Use it if mistakes have different costs that are known when predicting, or if people take over doubtful cases. The
    costs are as expected only if the probabilities are right; costs that are known in training can also be given to
    ``PassiveAggressiveClassifier``.

    Parameters
    ----------
    model : object
        A classifier with ``learn_one`` and ``predict_proba_one``, or with ``predict_proba`` and (to learn)
        ``partial_fit``.
    cost : array-like of shape (n_classes, n_classes), dict, "absolute", "squared" or None, default=None
        ``cost[i, j]`` is the cost of predicting class j when the true class is i, as for
        ``PassiveAggressiveClassifier``. If None, every mistake costs 1.
    abstain : float or None, default=None
        Cost of abstaining. If None, a class is always predicted.

    Attributes
    ----------
    model : object
        The wrapped model.

    References
    ----------
    .. [1] C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on Information Theory,
           1970.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from onmargin import AROWClassifier
    >>> from onmargin.confidence import Decisions
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> decisions = Decisions(AROWClassifier(), abstain=0.1).partial_fit(X, y)
    >>> decisions.report_.abstained, decisions.report_.mistakes
    (238, 4)
    >>> Decisions(decisions.model, cost=[[0, 10], [1, 0]]).threshold_
    0.909...
    """

    def __init__(
        self, model: Any, *, cost: ArrayLike | Mapping[Any, Any] | str | None = None, abstain: float | None = None
    ) -> None:
        require(model, "predict_proba", "predict_proba_one")
        if abstain is not None and not (isinstance(abstain, int | float) and 0 <= abstain < np.inf):
            raise ValueError(f"abstain must be None or a number of at least 0; got {abstain!r}")
        self.model = model
        self.cost = cost
        self.abstain = abstain
        self._rounds = self._abstained = self._mistakes = 0
        self._total = 0.0

    def _costs(self, classes: list[Any]) -> NDArray[np.float64]:
        if self.cost is None or len(classes) < 2:
            return 1.0 - np.eye(len(classes))
        from onmargin.models.costs import check_cost  # imported here because it needs SciPy

        return np.asarray(check_cost(self.cost, classes), dtype=np.float64)

    def _decide(self, classes: list[Any], shares: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the index of the class of each row, or -1 to abstain."""
        expected = shares @ self._costs(classes)
        best: NDArray[np.intp] = expected.argmin(axis=1)
        if self.abstain is not None:
            best[expected.min(axis=1) > self.abstain] = -1
        return best

    @property
    def threshold_(self) -> float:
        """The probability of the second of two classes from which on that class is predicted."""
        classes = [plain(label) for label in self.model.classes_]
        if len(classes) != 2:
            raise AttributeError(f"threshold_ needs two classes; the model has {len(classes)}")
        (_, alarm), (miss, _) = self._costs(classes)
        return float(alarm / (alarm + miss))

    def _ask_one(self, x: Any) -> tuple[list[Any], NDArray[np.float64]]:
        shares = self.model.predict_proba_one(x)
        return list(shares), np.array([*shares.values()])

    def _ask(self, X: Any) -> list[tuple[list[Any], NDArray[np.float64]]]:
        classes, shares = self._probabilities(X)
        return [(classes, row) for row in shares]

    def _probabilities(self, X: Any) -> tuple[list[Any], NDArray[np.float64]]:
        return [plain(label) for label in self.model.classes_], np.asarray(self.model.predict_proba(X), np.float64)

    def _judge(self, found: tuple[list[Any], NDArray[np.float64]], y: Any) -> None:
        classes, shares = found
        if not classes:
            return
        code = int(self._decide(classes, shares[None])[0])
        self._rounds += 1
        if code < 0:
            self._abstained += 1
            self._total += float(self.abstain or 0)
        elif classes[code] != y:
            self._mistakes += 1
            self._total += float(self._costs(classes)[classes.index(y), code]) if y in classes else 1.0

    def predict_one(self, x: Any) -> Any:
        """Return the decision for a record.

        Parameters
        ----------
        x : object
            The record.

        Returns
        -------
        label : object or None
            The class of least expected cost. None if abstaining costs less, or if nothing was learned yet.
        """
        classes, shares = self._ask_one(x)
        code = int(self._decide(classes, shares[None])[0]) if classes else -1
        return None if code < 0 else classes[code]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the decision for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The classes of least expected cost. With `abstain`, an array of objects, with None where there is no
            decision.
        """
        classes, shares = self._probabilities(X)
        codes = self._decide(classes, shares)
        if self.abstain is None:
            return np.asarray(self.model.classes_)[codes]
        labels = np.empty(len(codes), dtype=object)
        labels[:] = [None if code < 0 else classes[code] for code in codes.tolist()]
        return labels

    @property
    def report_(self) -> DecisionsReport:
        """Counts and mean cost of the decisions so far."""
        mean = self._total / self._rounds if self._rounds else np.nan
        return DecisionsReport(self._rounds, self._abstained, self._mistakes, mean)
