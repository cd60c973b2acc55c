"""Wrappers around models of any library: learn_one for records, partial_fit for matrices."""

from copy import copy
from inspect import signature
from typing import Any, Self

import numpy as np

from onmargin._checks import plain
from onmargin.confidence.tracking import QuantileTracker
from onmargin.models.face import for_prediction

# Rows that `partial_fit` evaluates before it learns them.
GROUP = 32


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


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _part(rows: Any, part: slice) -> Any:
    """Return some rows of a matrix, frame or list."""
    return getattr(rows, "iloc", rows)[part]


class Wrapper:
    """Base class of wrappers around a model; `onmargin.save` and `onmargin.load` include the model.

    A model of another library is not saved: pass it with ``load(path, parameters={"model": model})``.
    """

    model: Any

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items() if name != "model")
        return f"{type(self).__name__}({self.model!r}, {given})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, the model included.

        Parameters
        ----------
        deep : bool, default=True
            Not used, present for consistency with scikit-learn.

        Returns
        -------
        parameters : dict
            The parameters of the constructor.
        """
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def _for_prediction(self) -> Self:
        """Return a copy around a model that predicts only."""
        other = copy(self)
        other.model = for_prediction(self.model)
        return other

    def _check_parameters(self) -> None:
        type(self)(**self.get_params())

    def _check_learned(self) -> None:
        """Raise a ValueError if the state from a file cannot be the result of learning."""
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
        """Return a new threshold tracker, for wrappers that have thresholds."""
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
            The model's prediction, a label or a number.
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
            The model's predictions, labels or numbers.
        """
        return self.model.predict(X)


class JudgingWrapper(Wrapper):
    """Base class of wrappers that evaluate the model's output for each example before the model learns it."""

    def _target(self, y: Any) -> Any:
        """Return a target in the form that `_judge` accepts."""
        return plain(y)

    def _targets(self, y: Any) -> list[Any]:
        """Return the targets of rows in the form that `_judge` accepts."""
        return [self._target(one) for one in np.asarray(y)]

    def _ask_one(self, x: Any) -> Any:
        """Return the model's output for a record, for `_judge`."""
        raise NotImplementedError

    def _ask(self, X: Any) -> list[Any]:
        """Return the model's output for each row, for `_judge`."""
        raise NotImplementedError

    def _judge(self, found: Any, y: Any) -> None:
        """Count an example, and update the thresholds."""
        raise NotImplementedError

    def observe_one(self, x: Any, y: Any) -> Self:
        """Evaluate the prediction for a record without learning it.

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
        """Evaluate the prediction for a record, then update the model with it.

        Parameters
        ----------
        x : object
            The record, in a form that the model accepts.
        y : object
            Its target.
        **options : dict
            Passed to ``learn_one`` of the model, such as ``weight``.

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
        """Evaluate the predictions for rows without learning them.

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

    def fit(self, X: Any, y: Any, **options: Any) -> Self:
        """Start again with an unfitted copy of the model, then evaluate and learn rows in one pass.

        The result is that of `partial_fit` with a new object and all classes of y; everything learned before is
        discarded. To keep a model that is already fitted, call `observe` with other rows instead.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their targets.
        **options : dict
            Passed to ``partial_fit`` of the model, such as ``sample_weight``.

        Returns
        -------
        self : object
            This object; `model` is the copy, and the model that was passed to the constructor is unchanged.
        """
        from sklearn.base import clone  # here, because streams of records should not load it

        self._check_learns_rows()
        new = type(self)(**self.get_params() | {"model": clone(self.model)})
        # A label ranker and models of several outputs learn from sets of labels or from a matrix.
        one_label = np.ndim(y) == 1 and not hasattr(self.model, "rank")
        if one_label and "classes" in signature(new.model.partial_fit).parameters:
            options = {"classes": np.unique(y), **options}
        vars(self).update(vars(new.partial_fit(X, y, **options)))
        return self

    def _check_learns_rows(self) -> None:
        """Raise a TypeError if the model cannot learn rows of a matrix."""
        if hasattr(self.model, "partial_fit"):
            return
        remedy = (
            "call learn_one(x, y) for each record"
            if takes_records(self.model)
            else "fit it first, and call observe(X, y) with other rows"
        )
        raise TypeError(f"{type(self.model).__name__} has no partial_fit: {remedy}")

    def partial_fit(self, X: Any, y: Any, **options: Any) -> Self:
        """Evaluate the predictions for rows and update the model with them, 32 rows at a time.

        Predictions come from the model before it learns any of these 32 rows. The first 32 rows of a new model are not
        evaluated. If a row raises an error, the groups of rows before it have been learned.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their targets.
        **options : dict
            Passed to ``partial_fit`` of the model, such as ``classes`` or ``sample_weight``.

        Returns
        -------
        self : object
            This object, updated.
        """
        self._check_learns_rows()
        weight = options.get("sample_weight")
        for start in range(0, _length(X), GROUP):
            group = slice(start, start + GROUP)
            if weight is not None:
                options["sample_weight"] = _part(weight, group)
            self._learn_group(_part(X, group), _part(y, group), options)
        return self

    def _learn_group(self, X: Any, y: Any, options: dict[str, Any]) -> None:
        found = self._ask(X) if is_fitted(self.model) else None
        self.model.partial_fit(X, y, **options)
        if found is not None:
            for one, target in zip(found, self._targets(y), strict=True):
                self._judge(one, target)
