"""Pipelines that learn online: transformers before an estimator, with partial_fit and learn_one."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline as BatchPipeline
from sklearn.utils import get_tags

__all__ = ["Pipeline", "make_pipeline"]


class Pipeline(BatchPipeline):  # type: ignore[misc]
    """Pipeline of scikit-learn that learns online, with `partial_fit`, `learn_one` and `predict_one`.

    Each transformer must have `partial_fit`, or no state, such as ``HashingVectorizer`` and ``Normalizer``, or be
    frozen. It is updated with the rows before it transforms them, and the last step learns the result.

    Use it to scale, hash or select features of a stream with scikit-learn's transformers. The learners of
    ``onmargin.stream`` need none for dicts and texts, and :class:`onmargin.features.Scaled` scales each row by the rows
    before it, however the stream is cut.

    Parameters
    ----------
    steps : list of tuple
        Names and objects, as in scikit-learn. The last one is an estimator with `partial_fit`.
    transform_input, memory, verbose : object
        As in scikit-learn; they concern `fit`.

    See Also
    --------
    make_pipeline : The same with names made from the types.

    Notes
    -----
    Transformers depend on how the stream is cut: the rows of one call are all scaled alike. ``onmargin.save`` takes the
    last step, ``pipeline[-1]``; pickle stores the whole pipeline.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import HashingVectorizer
    >>> from onmargin import PassiveAggressiveClassifier
    >>> from onmargin.pipeline import make_pipeline
    >>> model = make_pipeline(HashingVectorizer(), PassiveAggressiveClassifier())
    >>> model = model.partial_fit(["cheap pills", "lunch at noon", "cheap watches"], ["spam", "ham", "spam"])
    >>> model.learn_one("lunch on Monday", "ham").predict_one("cheap lunch pills")
    'spam'
    """

    def partial_fit(self, X: Any, y: Any = None, **options: Any) -> Self:
        """Update the transformers and the last step with further examples, in order.

        Parameters
        ----------
        X : array-like, sparse matrix or list
            Examples, as for the first step.
        y : array-like, default=None
            Their targets.
        **options : dict
            Arguments of the `partial_fit` of the last step, such as `sample_weight` or `classes`.

        Returns
        -------
        self : object
            The pipeline. If a step raises an error, nothing changes.
        """
        *transformers, (name, last) = self._used_steps()
        if not hasattr(last, "partial_fit"):
            raise TypeError(f"the last step, {name!r}, must have partial_fit; got {type(last).__name__}")
        for name, step in transformers:
            _check_transformer(name, step)
        before = [(step, deepcopy(vars(step))) for _, step in transformers if hasattr(step, "partial_fit")]
        try:
            for _, step in transformers:
                if hasattr(step, "partial_fit"):
                    step.partial_fit(X)
                X = step.transform(X)
            last.partial_fit(X, y, **options)
        except BaseException:
            for step, state in before:
                vars(step).clear()
                vars(step).update(state)
            raise
        return self

    def learn_one(self, x: Any, y: Any = None, weight: float = 1.0) -> Self:
        """Learn one example; the same as calling `partial_fit` with it.

        Parameters
        ----------
        x : array-like of shape (n_features,), sparse row, or another example for the first step
            The example.
        y : object, default=None
            Its target.
        weight : float, default=1.0
            Weight of the example, passed on as `sample_weight` unless it is 1.

        Returns
        -------
        self : object
            The pipeline.
        """
        weighted = {} if weight == 1 else {"sample_weight": [weight]}
        return self.partial_fit(_batch(x), None if y is None else [y], **weighted)

    def predict_one(self, x: Any) -> Any:
        """Predict one example.

        Parameters
        ----------
        x : array-like of shape (n_features,), sparse row, or another example for the first step
            The example.

        Returns
        -------
        prediction : object
            A label or a number.
        """
        return self.predict(_batch(x))[0].item()

    def _used_steps(self) -> list[tuple[str, Any]]:
        return [(name, step) for name, step in self.steps if step is not None and step != "passthrough"]


def make_pipeline(*steps: BaseEstimator) -> Pipeline:
    """Return a pipeline whose steps are named by their types.

    Parameters
    ----------
    *steps : estimator
        The transformers, and the estimator after them.

    Returns
    -------
    pipeline : Pipeline
        The pipeline.
    """
    from sklearn.pipeline import make_pipeline as named

    return Pipeline(named(*steps).steps)


def _check_transformer(name: str, step: Any) -> None:
    """Refuse a transformer that would have to be fitted to all data before."""
    if hasattr(step, "partial_fit") or isinstance(step, FrozenEstimator) or not get_tags(step).requires_fit:
        return
    raise TypeError(
        f"step {name!r}, a {type(step).__name__}, cannot learn online: it has a state and no partial_fit. Take one "
        "that has it, such as StandardScaler or IncrementalPCA, or fit the step to a sample and pass "
        "FrozenEstimator(step)"
    )


def _batch(x: Any) -> Any:
    """Return one example as a batch; a row of a matrix or of a data frame already is one."""
    if hasattr(x, "shape"):
        return x if len(x.shape) == 2 else np.reshape(x, (1, -1))
    return [x]
