"""Models of any library behind one interface: records by learn_one, matrices by partial_fit."""

from inspect import signature
from typing import Any, Self

import numpy as np

from onmargin._checks import plain
from onmargin.confidence.tracking import QuantileTracker


def takes_records(model: Any) -> bool:
    """Return whether a model learns one record at a time; raise a TypeError if it is not a model."""
    if hasattr(model, "learn_one"):
        return True
    if hasattr(model, "predict"):
        return False
    raise TypeError(f"model must have learn_one, or predict and partial_fit; got {type(model).__name__}")


def require(model: Any, matrix: str, record: str) -> None:
    """Raise a TypeError if a model lacks a method; which one depends on whether it takes matrices or records."""
    name = record if takes_records(model) else matrix
    if not hasattr(model, name):
        raise TypeError(f"model must have {name}; {type(model).__name__} does not")


def is_fitted(model: Any) -> bool:
    """Return whether a model of matrices has been fitted."""
    if hasattr(model, "__sklearn_is_fitted__"):
        return bool(model.__sklearn_is_fitted__())
    return any(name.endswith("_") and not name.startswith("__") for name in vars(model))


class Wrapper:
    """A model with something around it; `onmargin.save` and `onmargin.load` keep both.

    A model of another library is not saved: ``load(path, parameters={"model": model})`` takes it again.
    """

    model: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, the model included.

        Parameters
        ----------
        deep : bool, default=True
            Not used, present for consistency with scikit-learn.

        Returns
        -------
        parameters : dict
            What this was made with.
        """
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def _check_parameters(self) -> None:
        type(self)(**self.get_params())

    def _check_learned(self) -> None:
        """Raise a ValueError if the state that a file has is not one that learning can lead to."""
        state, blank = vars(self), vars(type(self)(**self.get_params()))
        if state.keys() != blank.keys():
            raise ValueError(f"the state must have {', '.join(sorted(blank))}; got {', '.join(sorted(state))}")
        for name in blank.keys() - self.get_params().keys():
            value, like = state[name], blank[name]
            if type(value) is not type(like) or (isinstance(value, int | float) and not 0 <= value < np.inf):
                raise ValueError(f"{name} must be like {like!r}; got {value!r:.80}")
        trackers, blank_trackers = state.get("_trackers", {}), blank.get("_trackers", {})
        if blank_trackers and trackers.keys() != blank_trackers.keys():
            raise ValueError(f"the thresholds must be {sorted(blank_trackers)}; got {sorted(trackers)}")
        for one in trackers.values():
            if not (isinstance(one, QuantileTracker) and one.is_like(self._tracker())):
                raise ValueError("the thresholds do not have the coverage and the rate that the parameters say")

    def _tracker(self) -> QuantileTracker:
        """Return a threshold that has seen nothing, if there are thresholds."""
        raise NotImplementedError

    def predict_one(self, x: Any) -> Any:
        """Return the prediction of the model for a record.

        Parameters
        ----------
        x : object
            The record.

        Returns
        -------
        prediction : object
            A label or a number, as the model gives it.
        """
        return self.model.predict_one(x)

    def predict(self, X: Any) -> Any:
        """Return the predictions of the model for rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        predictions : ndarray of shape (n_samples,)
            Labels or numbers, as the model gives them.
        """
        return self.model.predict(X)


class JudgingWrapper(Wrapper):
    """A wrapper that judges what the model says of an example before the model learns the example."""

    def _target(self, y: Any) -> Any:
        """Return a target as `_judge` takes it."""
        return plain(y)

    def _targets(self, y: Any) -> list[Any]:
        """Return the targets of rows as `_judge` takes them."""
        return [self._target(one) for one in np.asarray(y)]

    def _ask_one(self, x: Any) -> Any:
        """Return what the model says of a record, for `_judge`."""
        raise NotImplementedError

    def _ask(self, X: Any) -> list[Any]:
        """Return what the model says of each row, for `_judge`."""
        raise NotImplementedError

    def _judge(self, found: Any, y: Any) -> None:
        """Count an example, and move thresholds."""
        raise NotImplementedError

    def observe_one(self, x: Any, y: Any) -> Self:
        """Judge the prediction for a record, without learning it.

        Parameters
        ----------
        x : object
            A record that the model has not learned.
        y : object
            Its target.

        Returns
        -------
        self : object
            This object, updated; the model is unchanged.
        """
        target = self._target(y)
        self._judge(self._ask_one(x), target)
        return self

    def learn_one(self, x: Any, y: Any, **options: Any) -> Self:
        """Judge the prediction for a record, then have the model learn it.

        Parameters
        ----------
        x : object
            The record, as the model takes it.
        y : object
            Its target.
        **options : dict
            Passed on to ``learn_one`` of the model, such as ``weight``.

        Returns
        -------
        self : object
            This object, updated.
        """
        target, found = self._target(y), self._ask_one(x)
        self.model.learn_one(x, y, **options)
        self._judge(found, target)
        return self

    def observe(self, X: Any, y: Any) -> Self:
        """Judge the predictions for rows, without learning them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows that the model has not learned.
        y : array-like of shape (n_samples,)
            Their targets.

        Returns
        -------
        self : object
            This object, updated; the model is unchanged.
        """
        targets = self._targets(y)
        for found, target in zip(self._ask(X), targets, strict=True):
            self._judge(found, target)
        return self

    def partial_fit(self, X: Any, y: Any, **options: Any) -> Self:
        """Judge the predictions for rows, then have the model learn the rows.

        All rows of a call are judged by the model as it was before the call. Those of the first call of a new model
        are not judged.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their targets.
        **options : dict
            Passed on to ``partial_fit`` of the model, such as ``classes`` or ``sample_weight``.

        Returns
        -------
        self : object
            This object, updated.
        """
        if not hasattr(self.model, "partial_fit"):
            raise TypeError(
                f"{type(self.model).__name__} has no partial_fit: fit it first, and call observe(X, y) with other rows"
            )
        found = self._ask(X) if is_fitted(self.model) else None
        self.model.partial_fit(X, y, **options)
        if found is not None:
            for one, target in zip(found, self._targets(y), strict=True):
                self._judge(one, target)
        return self
