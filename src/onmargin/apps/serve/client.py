"""A client of the service that needs nothing but Python."""

import json
import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlencode
from uuid import uuid4

from onmargin.apps.serve.connection import Connection


class Client:
    """Learn and predict with a model of a service, `onmargin serve`.

    A request to learn carries a key, and is sent again if the connection breaks or the service is busy: what was
    learned is learned once. A client is used by one thread at a time.

    Use it where many programs share a model. One that has the model to itself is a thousand times as fast with
    ``onmargin.stream``.

    Parameters
    ----------
    url : str, default="http://127.0.0.1:8700"
        Where the service is.
    token : str or None, default=None
        The bearer token, if it asks for one.
    timeout : float, default=30.0
        Seconds to wait for an answer.
    retries : int, default=3
        How often to ask again.

    See Also
    --------
    onmargin.stream.PassiveAggressiveClassifier : The model in this program.

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
        retries: int = 3,
    ) -> None:
        self._connection = Connection(url, token, timeout, retries)

    def close(self) -> None:
        """End the connection."""
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
            Its name: letters, digits, "_", "." and "-".
        task : {"classify", "regress", "rank", "ordinal", "novelty", "tag"} or None, default=None
            What it learns. If None, the task of the learner; without a learner, "classify".
        model : str or None, default=None
            The learner: a name of ``onmargin.stream``, such as "AROWClassifier" or "AutoClassifier", or
            "SequenceTagger". If None, the passive-aggressive learner of the task.
        coverage : float or None, default=None
            How often the sets of labels of a classifier, or the intervals of a regressor, contain the target: see
            `predict_sets`. If None, there are no sets.
        **parameters : object
            Parameters of the learner, such as ``C=0.1``, and of :class:`onmargin.features.RecordFeatures`, such as
            ``n_features=2**18``.

        Returns
        -------
        model : dict
            The model, as `model` gives it.
        """
        if parameters.get("C") == float("inf"):
            parameters["C"] = "inf"
        sent: dict[str, Any] = {"name": name, "task": task, "model": model, "parameters": parameters}
        if coverage is not None:
            sent["coverage"] = coverage
        return self._ask("POST", "/v1/models", sent)

    def models(self) -> list[dict[str, Any]]:
        """All models.

        Returns
        -------
        models : list of dict
            Each as `model` gives it.
        """
        return list(self._ask("GET", "/v1/models")["models"])

    def model(self, name: str) -> dict[str, Any]:
        """A model: parameters, sequence number, classes and totals.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        model : dict
            What is known of it.
        """
        return self._ask("GET", _one(name))

    def delete(self, name: str) -> None:
        """Delete a model with all its examples.

        Parameters
        ----------
        name : str
            Its name.
        """
        self._ask("DELETE", _one(name))

    def learn(self, name: str, x: Any, y: Any = None, weight: float = 1.0) -> Any:
        """Have an example learned.

        Parameters
        ----------
        name : str
            The model.
        x : dict, list, str or vector
            The example, as for the models of ``onmargin.stream``; for "tag" a list of tokens.
        y : str, int, float or list
            Its target.
        weight : float, default=1.0
            Factor on C, at least 0.

        Returns
        -------
        prediction : object
            What the model predicted before it learned; None for the first example.
        """
        return self.learn_many(name, [x], [y], [weight])[0]

    def learn_many(
        self, name: str, X: Iterable[Any], y: Iterable[Any] | None = None, weights: Iterable[float] | None = None
    ) -> list[Any]:
        """Have examples learned in this order, all or none.

        Parameters
        ----------
        name : str
            The model.
        X : iterable
            Examples, as `learn` takes them.
        y : iterable or None, default=None
            Their targets.
        weights : iterable of float or None, default=None
            Their factors on C.

        Returns
        -------
        predictions : list
            What the model predicted of each before it learned it.
        """
        examples = [{"x": _plain(x)} for x in X]
        for field, values in (("y", y), ("weight", weights)):
            if values is not None:
                for example, value in zip(examples, values, strict=True):
                    example[field] = _plain(value)
        answer = self._ask("POST", f"{_one(name)}/learn", {"examples": examples, "key": uuid4().hex})
        return list(answer["predictions"] or [None] * len(examples))

    def predict(self, name: str, x: Any) -> Any:
        """Predict an example.

        Parameters
        ----------
        name : str
            The model.
        x : dict, list, str or vector
            The example.

        Returns
        -------
        prediction : object
            A label, a number, or a list of labels; None: nothing was learned yet.
        """
        return self.predict_many(name, [x])[0]

    def predict_many(self, name: str, X: Iterable[Any]) -> list[Any]:
        """Predict examples.

        Parameters
        ----------
        name : str
            The model.
        X : iterable
            The examples.

        Returns
        -------
        predictions : list
            One for each.
        """
        answer = self._ask("POST", f"{_one(name)}/predict", {"examples": [{"x": _plain(x)} for x in X]})
        return list(answer["predictions"])

    def predict_sets(self, name: str, X: Iterable[Any]) -> list[Any]:
        """Return a set of labels, or an interval, for each example.

        Parameters
        ----------
        name : str
            The model, which was created with a coverage.
        X : iterable
            The examples.

        Returns
        -------
        sets : list
            For a classifier the labels that may be right, the most likely first; for a regressor the two ends of an
            interval, which are None where it has no end. None for each example before anything was learned.
        """
        sent = {"examples": [{"x": _plain(x)} for x in X], "sets": True}
        return list(self._ask("POST", f"{_one(name)}/predict", sent)["sets"])

    def predict_later(self, name: str, X: Iterable[Any]) -> tuple[list[Any], list[str]]:
        """Predict examples whose labels will come later.

        Parameters
        ----------
        name : str
            The model.
        X : iterable
            The examples.

        Returns
        -------
        predictions : list
            One for each.
        ids : list of str
            One for each, under which `label` gives its label.
        """
        sent = {"examples": [{"x": _plain(x)} for x in X], "keep": True}
        answer = self._ask("POST", f"{_one(name)}/predict", sent)
        return list(answer["predictions"]), list(answer["ids"])

    def label(self, name: str, ids: Iterable[str], y: Iterable[Any]) -> list[Any]:
        """Have examples learned whose predictions were kept, in this order, all or none.

        Parameters
        ----------
        name : str
            The model.
        ids : iterable of str
            The ids, as `predict_later` returned them.
        y : iterable
            Their targets.

        Returns
        -------
        predictions : list
            What was predicted then.
        """
        examples = [{"id": one, "y": _plain(value)} for one, value in zip(ids, y, strict=True)]
        answer = self._ask("POST", f"{_one(name)}/learn", {"examples": examples, "key": uuid4().hex})
        return list(answer["predictions"] or [None] * len(examples))

    def explain(self, name: str, x: Any, label: Any = None, top: int = 20) -> dict[str, Any]:
        """Take the score of an example apart.

        Parameters
        ----------
        name : str
            The model.
        x : dict, list, str or vector
            The example.
        label : str or int or None, default=None
            Whose score; None: that of the label predicted.
        top : int, default=20
            How many features, at most.

        Returns
        -------
        explanation : dict
            The prediction, the intercept, and under "parts" what each feature adds.
        """
        sent = {"examples": [{"x": _plain(x)}], "label": _plain(label), "top": top}
        answer = self._ask("POST", f"{_one(name)}/explain", sent)
        return {"seq": answer["seq"], **answer["explanations"][0]}

    def weights(self, name: str, label: Any = None, top: int = 20) -> dict[Any, float]:
        """The heaviest features of a label.

        Parameters
        ----------
        name : str
            The model.
        label : str or int or None, default=None
            The label, where each has weights of its own.
        top : int, default=20
            How many, at most.

        Returns
        -------
        weights : dict
            Weights by feature, the heaviest first.
        """
        query = {"top": top} if label is None else {"top": top, "label": label}
        answer = self._ask("GET", f"{_one(name)}/weights?{urlencode(query)}")
        return {part["feature"]: part["value"] for part in answer["parts"]}

    def certificate(self, name: str) -> dict[str, Any]:
        """What a theorem allows on the examples of a model.

        Parameters
        ----------
        name : str
            The model.

        Returns
        -------
        certificate : dict
            The theorem, what was suffered, the bound and the conditions.
        """
        return self._ask("GET", f"{_one(name)}/certificate")

    def rewind(self, name: str, seq: int | None = None, *, time: datetime | None = None) -> dict[str, Any]:
        """Go back to an earlier state; what was learned after it is forgotten.

        Parameters
        ----------
        name : str
            The model.
        seq : int or None, default=None
            The sequence number of the last example to keep.
        time : datetime or None, default=None
            In the place of `seq`: examples that were learned after this time are forgotten. Without a time zone it is
            local time.

        Returns
        -------
        model : dict
            The model, as `model` gives it.
        """
        sent = {"seq": seq} if time is None else {"seq": seq, "time": time.astimezone().isoformat()}
        return self._ask("POST", f"{_one(name)}/rewind", sent)

    def clone(self, name: str, new: str) -> dict[str, Any]:
        """Copy a model, as it is now, to another name.

        Parameters
        ----------
        name : str
            The model.
        new : str
            The name of the copy.

        Returns
        -------
        model : dict
            The copy, as `model` gives it.
        """
        return self._ask("POST", f"{_one(name)}/clone", {"name": new})

    def rename(self, name: str, new: str) -> dict[str, Any]:
        """Give a model another name.

        Parameters
        ----------
        name : str
            The model.
        new : str
            Its new name.

        Returns
        -------
        model : dict
            The model, as `model` gives it.
        """
        return self._ask("POST", f"{_one(name)}/rename", {"name": new})

    def upload(self, name: str, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Create a model from a model file, as ``onmargin train`` and `download` write it.

        Parameters
        ----------
        name : str
            The name of the new model.
        path : str or path-like
            The file.

        Returns
        -------
        model : dict
            The model, as `model` gives it.
        """
        content = Path(path).read_bytes()
        answer = self._connection.exchange("PUT", f"{_one(name)}/file", content, "application/octet-stream")
        found: dict[str, Any] = json.loads(answer)
        return found

    def download(self, name: str, path: str | os.PathLike[str]) -> int:
        """Write a model to a file, which `onmargin.load` and ``onmargin predict`` read.

        Parameters
        ----------
        name : str
            The model.
        path : str or path-like
            The file; one that is there is replaced.

        Returns
        -------
        seq : int
            The sequence number of the last example that the model in the file has learned.
        """
        headers = self._connection.save(f"{_one(name)}/file", Path(path))
        return int(headers["onmargin-seq"])

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the folder of the service, as it is after the last request, to a tar file.

        Unpacked, it is a folder for ``onmargin serve --data``.

        Parameters
        ----------
        path : str or path-like
            The file; one that is there is replaced.
        """
        self._connection.save("/v1/backup", Path(path))

    def compact(self, name: str) -> dict[str, Any]:
        """Put a snapshot in the place of the examples learned so far.

        Parameters
        ----------
        name : str
            The model.

        Returns
        -------
        model : dict
            The model, as `model` gives it.
        """
        return self._ask("POST", f"{_one(name)}/compact", {})

    def journal(self, name: str) -> Iterator[dict[str, Any]]:
        """The examples that the journal has, in order.

        Parameters
        ----------
        name : str
            The model.

        Yields
        ------
        example : dict
            Its number, when it came, x, y and weight.
        """
        yield from map(json.loads, self._connection.lines(f"{_one(name)}/journal"))

    def health(self) -> dict[str, Any]:
        """Whether the service learns.

        Returns
        -------
        health : dict
            Whether it does, and if not, why.
        """
        return self._ask("GET", "/health")

    def metrics(self) -> str:
        """What the service counts, for Prometheus.

        Returns
        -------
        text : str
            Lines of text.
        """
        return self._connection.exchange("GET", "/metrics", None).decode()

    def _ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        sent = None if body is None else json.dumps(body, allow_nan=False).encode()
        answer = self._connection.exchange(method, path, sent)
        found: dict[str, Any] = json.loads(answer) if answer else {}
        return found


def _one(name: str) -> str:
    return f"/v1/models/{quote(name, safe='')}"


def _plain(value: Any) -> Any:
    """What JSON can hold: arrays and sets as lists."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, set | frozenset | tuple):
        return [_plain(part) for part in value]
    return value
