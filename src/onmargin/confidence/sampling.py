"""Selective sampling: query a label with a probability that decreases with the margin ([SELECTIVE])."""

from typing import Any, Self

import numpy as np

from onmargin.confidence._wrapper import Wrapper

__all__ = ["SelectiveSampler"]


class SelectiveSampler(Wrapper):
    r"""Selective sampling (active learning): decide which labels to query when labels are expensive.

    The label of an example is queried with probability

    .. math:: \frac{b}{b + |m| / d},

    where m is the margin, the difference of the two highest scores, and d the root mean square of the margins so far.
    Uncertain examples are queried often, others rarely.

    Use it if labels cost more than predictions. Do not use the probabilities or the totals of its model as estimates
    for the whole stream: the queried examples are the hard ones.

    Parameters
    ----------
    model : object
        A classifier of records with ``learn_one`` and ``scores_one``, of ``onmargin.stream``.
    b : float, default=0.3
        Controls how many labels are queried; must be greater than 0. Larger values query more labels; with inf all
        labels are queried.
    random_state : int, default=0
        Seed of the random draws.

    Attributes
    ----------
    model : object
        The wrapped model.
    seen, asked : int
        Number of examples passed to `query_one`, and number of those whose label was queried.
    expected : float
        The expected number of queries: the sum of the query probabilities.

    Notes
    -----
    Dividing the margin by d is a deviation from the paper, where b is in units of the scores.

    References
    ----------
    .. [1] N. Cesa-Bianchi, C. Gentile and L. Zaniboni, "Worst-case analysis of selective sampling for linear
       classification", Journal of Machine Learning Research 7, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from onmargin.confidence import SelectiveSampler
    >>> from onmargin.stream import AROWClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> sampler = SelectiveSampler(AROWClassifier())
    >>> mistakes = 0
    >>> for x, label in zip(X, y.tolist()):
    ...     mistakes += sampler.predict_one(x) != label
    ...     if sampler.query_one(x):
    ...         sampler = sampler.learn_one(x, label)
    >>> sampler.asked, mistakes  # all 569 labels: 29 mistakes
    (190, 26)
    """

    def __init__(self, model: Any, *, b: float = 0.3, random_state: int = 0) -> None:
        if not (hasattr(model, "scores_one") and hasattr(model, "learn_one")):
            raise TypeError(f"model must have scores_one and learn_one; {type(model).__name__} does not")
        if isinstance(b, bool) or not isinstance(b, int | float) or not b > 0:
            raise ValueError(f"b must be a number greater than 0; got {b!r}")
        self.model = model
        self.b = b
        self.seen = self.asked = 0
        self.expected = 0.0
        self._squares = 0.0
        self.random_state = random_state
        self._random = np.random.RandomState(random_state)

    def probability_one(self, x: Any) -> float:
        """Return the probability of querying the label of an example.

        Parameters
        ----------
        x : object
            The example.

        Returns
        -------
        probability : float
            The probability. It is 1 until the model has seen two labels.
        """
        return self._probability(self._margin(x))

    def _margin(self, x: Any) -> float | None:
        scores = sorted(self.model.scores_one(x).values())
        return scores[-1] - scores[-2] if len(scores) > 1 else None

    def _probability(self, margin: float | None) -> float:
        if margin is None or self._squares == 0 or self.b == np.inf:
            return 1.0
        return float(self.b / (self.b + margin / np.sqrt(self._squares)))

    def query_one(self, x: Any) -> bool:
        """Return whether to query the label of an example.

        Parameters
        ----------
        x : object
            The example.

        Returns
        -------
        ask : bool
            Whether to query the label. If True, pass the label to `learn_one`.
        """
        margin = self._margin(x)
        probability = self._probability(margin)
        self.seen += 1
        if margin is not None:
            self._squares += (margin**2 - self._squares) / self.seen
        self.expected += probability
        ask = bool(self._random.random_sample() < probability)
        self.asked += ask
        return ask

    def learn_one(self, x: Any, y: Any) -> Self:
        """Update the model with an example whose label was queried.

        Parameters
        ----------
        x : object
            The example.
        y : object
            Its label.

        Returns
        -------
        self : object
            The sampler, with the updated model.
        """
        self.model.learn_one(x, y)
        return self
