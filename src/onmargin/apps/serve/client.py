"""HTTP client for the service, with no dependencies."""

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from math import isnan
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlencode
from uuid import uuid4

from onmargin._frames import column_names, is_frame, list_names, records_of, targets_of
from onmargin._warnings import warn_caller
from onmargin.apps.serve.connection import Connection


class Client:
    """HTTP client for the models of a service started with `onmargin serve`.

    A request to learn has a key and is sent again if the connection breaks or the service is busy; the service learns
    its examples only once. A client must be used by one thread at a time.

    Use it when many programs share a model. If only one program uses the model, ``onmargin.stream`` is a thousand times
    as fast.

    Parameters
    ----------
    url : str, default="http://127.0.0.1:8700"
        Address of the service.
    token : str or None, default=None
        The bearer token, if the service requires one.
    timeout : float, default=30.0
        Seconds to wait for an answer.
    retries : int, default=7
        Number of times to retry a request. The wait doubles from 0.1 s up to 5 s, so that the default bridges a
        restart of the service of about ten seconds.

    See Also
    --------
    onmargin.stream.PassiveAggressiveClassifier : A model in the same program.

    Examples
    --------
    >>> client = onmargin.Client("http://127.0.0.1:8700")  # doctest: +SKIP
    >>> client.create("spam", n_features=2**18)  # doctest: +SKIP
    >>> client.learn("spam", "cheap pills now", "spam")  # doctest: +SKIP
    >>> client.predict("spam", "cheap watches")  # doctest: +SKIP
    'spam'
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8700",
        *,
        token: str | None = None,
        timeout: float = 30.0,
        retries: int = 7,
    ) -> None:
        self._connection = Connection(url, token, timeout, retries)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def create(
        self,
        name: str,
        task: str | None = None,
        *,
        model: str | None = None,
        coverage: float | None = None,
        **parameters: Any,
    ) -> dict[str, Any]:
        """Create a model.

        Parameters
        ----------
        name : str
            Name of the model: letters, digits, "_", "." and "-".
        task : {"classify", "regress", "rank", "ordinal", "novelty", "tag"} or None, default=None
            The task. If None, the task of the learner, or "classify" if no learner is given.
        model : str or None, default=None
            The learner: a name in ``onmargin.stream``, such as "AROWClassifier" or "AutoClassifier", or
            "SequenceTagger". If None, the default learner of the command line for the task and parameters.
        coverage : float or None, default=None
            Fraction of the examples whose target is in the prediction set of a classifier, or in the prediction
            interval of a regressor; see `predict_sets`. If None, there are no sets or intervals.
        **parameters : object
            Parameters of the learner, such as ``C=0.1``, and of :class:`onmargin.features.RecordFeatures`, such as
            ``n_features=2**18``.

        Returns
        -------
        model : dict
            The description of the model, as returned by `model`.
        """
        if parameters.get("C") == float("inf"):
            parameters["C"] = "inf"
        sent: dict[str, Any] = {"name": name, "task": task, "model": model, "parameters": parameters}
        if coverage is not None:
            sent["coverage"] = coverage
        return self._ask("POST", "/v1/models", sent)

    def models(self) -> list[dict[str, Any]]:
        """Return all models.

        Returns
        -------
        models : list of dict
            The description of each model, as returned by `model`.
        """
        return list(self._ask("GET", "/v1/models")["models"])

    def model(self, name: str) -> dict[str, Any]:
        """Return the parameters, sequence number, classes and totals of a model.

        Parameters
        ----------
        name : str
            The model.

        Returns
        -------
        model : dict
            The description of the model.
        """
        return self._ask("GET", _one(name))

    def delete(self, name: str) -> None:
        """Delete a model and all its examples.

        Parameters
        ----------
        name : str
            The model.
        """
        self._ask("DELETE", _one(name))

    def learn(self, name: str, x: Any, y: Any = None, weight: float = 1.0, *, key: str | None = None) -> Any:
        """Update a model with an example.

        Parameters
        ----------
        name : str
            The model.
        x : dict, list, str or vector
            The example, as for the models of ``onmargin.stream``. For "tag", a list of tokens; words are tokens of a
            model that reads one column.
        y : str, int, float or list
            Its target.
        weight : float, default=1.0
            Weight of the example, which multiplies C; at least 0.
        key : str or None, default=None
            Idempotency key: a call that is repeated with the same key is learned once, also after a restart; a key of
            other examples is refused. If None, each call has a key of its own.

        Returns
        -------
        prediction : object
            The prediction before the update; None for the first example.
        """
        return self._learn(name, _examples([x], y=[y], weight=[weight]), key)[0]

    def learn_many(
        self,
        name: str,
        X: Iterable[Any],
        y: Iterable[Any] | None = None,
        weights: Iterable[float] | None = None,
        *,
        key: str | None = None,
    ) -> list[Any]:
        """Update a model with examples in this order; either all or none of them are learned.

        Parameters
        ----------
        name : str
            The model.
        X : iterable
            Examples, as for `learn`: a list, or a data frame or Arrow table.
        y : iterable or None, default=None
            Their targets.
        weights : iterable of float or None, default=None
            Their weights. If None, all weights are 1.
        key : str or None, default=None
            Idempotency key: a call that is repeated with the same key is learned once, also after a restart; a key of
            other examples is refused. If None, each call has a key of its own.

        Returns
        -------
        predictions : list
            The prediction for each example before it was learned.
        """
        return self._learn(name, _examples(X, y=y, weight=weights), key)

    def _learn(self, name: str, examples: list[dict[str, Any]], key: str | None) -> list[Any]:
        answer = self._ask("POST", f"{_one(name)}/learn", {"examples": examples, "key": key or uuid4().hex})
        for words in answer.get("warnings", ()):
            warnings.warn(f"model {name!r}: {words}", UserWarning, stacklevel=3)
        return list(answer["predictions"] or [None] * len(examples))

    def predict(self, name: str, x: Any) -> Any:
        """Return the prediction for an example.

        Parameters
        ----------
        name : str
            The model.
        x : dict, list, str or vector
            The example.

        Returns
        -------
        prediction : object
            A label, a number, or a list of labels. None if nothing was learned yet.
        """
        return self.predict_many(name, [x])[0]

    def predict_many(self, name: str, X: Iterable[Any]) -> list[Any]:
        """Return the predictions for examples.

        Parameters
        ----------
        name : str
            The model.
        X : iterable
            The examples: a list, or a data frame or Arrow table whose rows are the examples. A frame without columns
            that the model has learned causes a warning.

        Returns
        -------
        predictions : list
            One prediction per example.
        """
        return list(self._predict(name, X)["predictions"])

    def _predict(self, name: str, X: Any, **asked: bool) -> dict[str, Any]:
        """Return the answer to a request to predict; warn if a data frame lacks columns of the model."""
        columns = {"columns": column_names(X)} if is_frame(X) else {}
        answer = self._ask("POST", f"{_one(name)}/predict", {"examples": _examples(X), **columns, **asked})
        if lacking := answer.get("lacking"):
            warn_caller(
                f"X has no columns {list_names(lacking)}, which model {name!r} has learned from: was a column renamed?",
                UserWarning,
            )
        return answer

    def predict_sets(self, name: str, X: Iterable[Any]) -> list[Any]:
        """Return the prediction set or prediction interval of each example.

        Parameters
        ----------
        name : str
            The model, which must have been created with `coverage`.
        X : iterable
            The examples.

        Returns
        -------
        sets : list
            For a classifier, the labels in each set, the most likely first. For a regressor, the two ends of each
            interval, where None is an infinite end. If nothing was learned yet, None for each example.
        """
        return list(self._predict(name, X, sets=True)["sets"])

    def predict_later(self, name: str, X: Iterable[Any]) -> tuple[list[Any], list[str]]:
        """Return predictions for examples whose labels will arrive later.

        Parameters
        ----------
        name : str
            The model.
        X : iterable
            The examples: a list, or a data frame or Arrow table whose rows are the examples.

        Returns
        -------
        predictions : list
            One prediction per example.
        ids : list of str
            One id per example, to pass to `label` with its label.
        """
        answer = self._predict(name, X, keep=True)
        return list(answer["predictions"]), list(answer["ids"])

    def label(self, name: str, ids: Iterable[str], y: Iterable[Any], *, key: str | None = None) -> list[Any]:
        """Learn the labels of examples passed to `predict_later`, in this order; either all or none are learned.

        Parameters
        ----------
        name : str
            The model.
        ids : iterable of str
            The ids that `predict_later` returned.
        y : iterable
            Their targets.
        key : str or None, default=None
            Idempotency key: a call that is repeated with the same key is learned once, also after a restart; a key of
            other examples is refused. If None, each call has a key of its own.

        Returns
        -------
        predictions : list
            The earlier predictions.
        """
        examples = [{"id": one, "y": _plain(value)} for one, value in zip(ids, y, strict=True)]
        return self._learn(name, examples, key)

    def explain(self, name: str, x: Any, label: Any = None, top: int = 20) -> dict[str, Any]:
        """Return the contribution of each feature to the score of an example.

        Parameters
        ----------
        name : str
            The model.
        x : dict, list, str or vector
            The example.
        label : str or int or None, default=None
            The label whose score to explain. If None, the predicted label.
        top : int, default=20
            Maximum number of features.

        Returns
        -------
        explanation : dict
            The prediction, the intercept, and under "parts" the contribution of each feature.
        """
        sent = {"examples": _examples([x]), "label": _plain(label), "top": top}
        answer = self._ask("POST", f"{_one(name)}/explain", sent)
        return {"seq": answer["seq"], **answer["explanations"][0]}

    def weights(self, name: str, label: Any = None, top: int = 20) -> dict[Any, float]:
        """Return the features of a label with the largest weights.

        Parameters
        ----------
        name : str
            The model.
        label : str or int or None, default=None
            The label, if each label has its own weights.
        top : int, default=20
            Maximum number of features.

        Returns
        -------
        weights : dict
            Weights by feature, the largest first.
        """
        query = {"top": top} if label is None else {"top": top, "label": label}
        answer = self._ask("GET", f"{_one(name)}/weights?{urlencode(query)}")
        return {part["feature"]: part["value"] for part in answer["parts"]}

    def certificate(self, name: str) -> dict[str, Any]:
        """Return a certificate: the bound of a theorem on the examples of a model.

        Parameters
        ----------
        name : str
            The model.

        Returns
        -------
        certificate : dict
            The theorem, the observed losses or mistakes, the bound and the conditions.
        """
        return self._ask("GET", f"{_one(name)}/certificate")

    def rewind(self, name: str, seq: int | None = None, *, time: datetime | None = None) -> dict[str, Any]:
        """Return a model to an earlier state; later examples are removed.

        Parameters
        ----------
        name : str
            The model.
        seq : int or None, default=None
            The sequence number of the last example to keep.
        time : datetime or None, default=None
            Instead of `seq`: examples learned after this time are removed. A time without a time zone is local time.

        Returns
        -------
        model : dict
            The description of the model, as returned by `model`.
        """
        sent = {"seq": seq} if time is None else {"seq": seq, "time": time.astimezone().isoformat()}
        return self._ask("POST", f"{_one(name)}/rewind", sent)

    def clone(self, name: str, new: str) -> dict[str, Any]:
        """Copy the current state of a model to a new name.

        Parameters
        ----------
        name : str
            The model.
        new : str
            The name of the copy.

        Returns
        -------
        model : dict
            The description of the copy, as returned by `model`.
        """
        return self._ask("POST", f"{_one(name)}/clone", {"name": new})

    def rename(self, name: str, new: str, *, replace: bool = False) -> dict[str, Any]:
        """Rename a model.

        Parameters
        ----------
        name : str
            The model.
        new : str
            Its new name.
        replace : bool, default=False
            If True, a model that has the new name is deleted in the same step: no request finds neither of them.

        Returns
        -------
        model : dict
            The description of the model, as returned by `model`.
        """
        return self._ask("POST", f"{_one(name)}/rename", {"name": new, "replace": replace})

    def upload(self, name: str, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Create a model from a model file written by ``onmargin train`` or `download`.

        Parameters
        ----------
        name : str
            The name of the new model.
        path : str or path-like
            The file.

        Returns
        -------
        model : dict
            The description of the model, as returned by `model`.
        """
        content = Path(path).read_bytes()
        answer = self._connection.exchange("PUT", f"{_one(name)}/file", content, "application/octet-stream")
        found: dict[str, Any] = json.loads(answer)
        return found

    def download(self, name: str, path: str | os.PathLike[str]) -> int:
        """Save a model to a file for `onmargin.load` and ``onmargin predict``.

        Parameters
        ----------
        name : str
            The model.
        path : str or path-like
            The file; an existing file is replaced.

        Returns
        -------
        seq : int
            The sequence number of the last example that the model in the file has learned.
        """
        headers = self._connection.save(f"{_one(name)}/file", Path(path))
        return int(headers["onmargin-seq"])

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Save a copy of the service's data folder, as it is after the last request, to a tar file.

        The unpacked folder can be used with ``onmargin serve --data``.

        Parameters
        ----------
        path : str or path-like
            The file; an existing file is replaced.
        """
        self._connection.save("/v1/backup", Path(path))

    def compact(self, name: str) -> dict[str, Any]:
        """Replace the examples learned so far with a snapshot.

        Parameters
        ----------
        name : str
            The model.

        Returns
        -------
        model : dict
            The description of the model, as returned by `model`.
        """
        return self._ask("POST", f"{_one(name)}/compact", {})

    def journal(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the examples in the journal, in order.

        Parameters
        ----------
        name : str
            The model.

        Yields
        ------
        example : dict
            The number, time, x, y and weight of the example.
        """
        yield from map(json.loads, self._connection.lines(f"{_one(name)}/journal"))

    def health(self) -> dict[str, Any]:
        """Return whether the service can learn.

        Returns
        -------
        health : dict
            The state of the service, with the reason if it cannot learn.
        """
        return self._ask("GET", "/health")

    def metrics(self) -> str:
        """Return the metrics of the service in Prometheus format.

        Returns
        -------
        text : str
            The metrics, as lines of text.
        """
        return self._connection.exchange("GET", "/metrics", None).decode()

    def _ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        sent = None if body is None else json.dumps(body, allow_nan=False, default=_number).encode()
        answer = self._connection.exchange(method, path, sent)
        found: dict[str, Any] = json.loads(answer) if answer else {}
        return found


def _one(name: str) -> str:
    return f"/v1/models/{quote(name, safe='')}"


def _examples(X: Any, **others: Iterable[Any] | None) -> list[dict[str, Any]]:
    """Return examples for JSON, with others of their fields, such as `y`.

    Those of a data frame or an Arrow table are its rows, by column name.
    """
    if isinstance(X, str | bytes | Mapping):
        raise TypeError(f"X must be a list of examples; got {X!r:.100}. Pass [x], or call the method for one example")
    if is_frame(X):
        X = records_of(X)
    examples = [{"x": _example(x)} for x in X]
    for field, values in others.items():
        if values is not None:
            given = list(targets_of(values, field))
            if len(given) != len(examples):
                raise ValueError(f"X and {field} must have the same length; got {len(examples)} and {len(given)}")
            for example, value in zip(examples, given, strict=True):
                example[field] = _plain(value)
    return examples


def _example(x: Any) -> Any:
    """Return one example for JSON; that of a row of a data frame is a dict."""
    if is_frame(x):
        raise TypeError("x must be one example; got a data frame. Call the method for several, such as predict_many")
    return _plain(x.to_dict() if hasattr(x, "to_dict") else x)


def _number(value: Any) -> float:
    """Return another kind of number, such as a Decimal, as the models of ``onmargin.stream`` read it."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"values must be numbers, strings or None; got {value!r:.100}") from None


def _plain(value: Any) -> Any:
    """Convert a value for JSON; arrays and sets become lists, and NaN in a dict, which is a missing value, null.

    A duration becomes its seconds, and a date or time null, as the models of ``onmargin.stream`` read them.
    """
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, date | time):
        warn_caller(
            f"dates and times, such as {value!r}, are left out: pass numbers made of them, such as the hour, the day "
            "of the week or the days since a date",
            UserWarning,
        )
        return None
    if isinstance(value, dict):
        plain = {name: _plain(part) for name, part in value.items()}
        return {name: None if isinstance(part, float) and isnan(part) else part for name, part in plain.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, set | frozenset | tuple):
        return [_plain(part) for part in value]
    return value
