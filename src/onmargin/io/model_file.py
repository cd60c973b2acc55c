"""Model files: safetensors, with everything that is not an array as JSON in the single metadata entry.

The format is described in docs/model_files.rst.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from onmargin._core.restore import MemoryLimit, whole
from onmargin.io._values import DTYPES, Reader, Writer, public_name
from onmargin.models.face import for_prediction

# Incremented when new files would be misread by earlier versions of the library.
SCHEMA = 1
KEY = "onmargin"
# Arrays are ordered by type, larger numbers first, so that each array is aligned.
ORDER = (
    *("uint64", "int64", "float64", "float32", "uint32", "int32"),
    *("float16", "uint16", "int16", "int8", "uint8", "bool"),
)
# The longest header that safetensors reads.
MAX_HEADER = 100_000_000
# While loading, a model takes at most MEMORY_PER_BYTE bytes of memory per byte of its file, plus MORE_MEMORY bytes.
# Columns of weights are padded, and an untrained model is constructed as well.
MEMORY_PER_BYTE, MORE_MEMORY = 100, 1 << 24
# Loading makes up to this many arrays as large as one that is stored by its exceptions: see `Writer.unstored`.
COPIES = 5


class ModelFileError(ValueError):
    """Error for a file that cannot be loaded: damaged, not a model file, or from a later version of the library."""


def save(
    model: Any, path: str | os.PathLike[str], *, notes: Mapping[str, Any] | None = None, predict_only: bool = False
) -> None:
    """Save a model to a file, so that `load` returns a model that continues exactly where this one stopped.

    An existing file is replaced atomically: it always holds the old model or the new one. The same model always gives
    the same bytes.

    Parameters
    ----------
    model : object
        An estimator of onmargin, a model of ``onmargin.stream`` or ``onmargin.river``, or a transformer of
        ``onmargin.features``; fitted or not.
    path : str or path-like
        The file to write; its name usually ends in ".safetensors".
    notes : dict or None, default=None
        JSON-serializable notes to store in the file, such as the origin of the training data; see `load_with_notes`.
    predict_only : bool, default=False
        Whether to leave out what only learning needs, for a smaller file that loads faster. The loaded model predicts
        and explains, and refuses to learn; `model` itself does not change. See the Notes for the tolerance.

    Raises
    ------
    TypeError
        If `model` is not a model, if it has learned something that a file cannot hold, or if the notes are not
        JSON-serializable.
    ValueError
        If the value of a parameter is invalid, or was changed so that the model cannot continue with it; with
        `predict_only`, also if the model has learned nothing.
    OSError
        If the file cannot be written.

    See Also
    --------
    load : Load a saved model.

    Notes
    -----
    A parameter that is a function, or another object that is neither a number, a string, an array nor a part of
    onmargin, is not saved. It must be passed to `load`.

    With `predict_only`, weights are averaged and rounded to single precision, a relative error of at most 6e-8; the
    variances or learning rates of weights are left out. An `AutoClassifier` or `AutoRegressor` keeps the experts that
    together have 0.999 of the votes, and the leader. A tagger drops the names of features whose weights are all zero.
    Predictions of labels can differ only where two scores are that close.

    Examples
    --------
    >>> import numpy as np, onmargin, os, tempfile
    >>> model = onmargin.PassiveAggressiveClassifier().partial_fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "spam.safetensors")
    ...     onmargin.save(model, path)
    ...     again = onmargin.load(path)
    >>> again.predict([[0.9, 0.1]]).item(), again.totals_ == model.totals_
    ('spam', True)
    """
    from onmargin.io._replacing import replace_file  # takes time that loading need not wait for

    replace_file(path, _pieces(*_described(for_prediction(model) if predict_only else model, notes)))


def to_bytes(model: Any, notes: Mapping[str, Any] | None = None) -> bytes:
    """Return the bytes of the file that `save` would write, to send to another process.

    Parameters
    ----------
    model : object
        As for `save`.
    notes : dict or None, default=None
        As for `save`.

    Returns
    -------
    data : bytes
        The file.
    """
    return b"".join(_pieces(*_described(model, notes)))


def write_bytes(data: bytes, path: str | os.PathLike[str]) -> None:
    """Write the result of `to_bytes` to a file, atomically as `save` does.

    Parameters
    ----------
    data : bytes
        The content of the file.
    path : str or path-like
        The file to write.
    """
    from onmargin.io._replacing import replace_file

    replace_file(path, [data])


def from_bytes(data: bytes | memoryview) -> Any:
    """Return the model from the result of `to_bytes`, with the same checks as `load`.

    Parameters
    ----------
    data : bytes or memoryview
        The content of the file.

    Returns
    -------
    model : object
        As from `load`.

    Raises
    ------
    ModelFileError
        As `load` does.
    """
    try:
        return _model(_Tensors(memoryview(data)), len(data), {})[0]
    except Exception as error:  # the data may be arbitrary
        raise ModelFileError(f"cannot load a model from bytes: {error or type(error).__name__}") from error


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file starts like one written by `save`; it may still be damaged.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    answer : bool
        False for files of other programs.
    """
    begin = f'{{"__metadata__":{{"{KEY}":'.encode()
    with open(path, "rb") as file:
        return file.read(8 + len(begin))[8:] == begin


def _described(model: Any, notes: Mapping[str, Any] | None) -> tuple[str, dict[str, NDArray[Any]]]:
    """Return the content of a model file: the description of the model, and its arrays by name."""
    if public_name(type(model)) is None:
        raise TypeError(
            f"save takes an estimator of onmargin; got a {type(model).__name__}. For a pipeline or a search, save the "
            "estimator in it, such as pipeline[-1] or search.best_estimator_."
        )
    writer = Writer()
    document = {"schema": SCHEMA, "version": _version(), **writer.describe(model)}
    if notes is not None:
        document["notes"] = _check_notes(notes)
    # Memory to load it is in proportion to the size of the file: see MEMORY_PER_BYTE.
    missing = (
        COPIES * writer.unstored - MORE_MEMORY - MEMORY_PER_BYTE * sum(array.nbytes for array in writer.arrays.values())
    )
    if missing > 0:
        document["room"] = writer.add(np.zeros(missing // MEMORY_PER_BYTE + 1, np.uint8), "room")
    document["arrays"] = {name: _entry(array) for name, array in writer.arrays.items()}
    text = _canonical(document | {"sha256": _digest(document)})
    if len(text) > MAX_HEADER * 9 // 10:
        raise TypeError(
            f"the labels, names and numbers of this model take {len(text)} bytes as text, more than a header can hold"
        )
    return text, dict(sorted(writer.arrays.items()))


def _pieces(text: str, arrays: Mapping[str, NDArray[Any]]) -> list[Any]:
    """Return the bytes of a safetensors file: the length of the header, the header, and the arrays at its offsets.

    The bytes are the same as the safetensors library would write, arrays of larger numbers first. Unlike the library,
    this does not copy all arrays in memory, and it can write to any file.
    """
    order = [name for _, name in sorted([(ORDER.index(array.dtype.name), name) for name, array in arrays.items()])]
    ends = list(accumulate([arrays[name].nbytes for name in order], initial=0))
    header: dict[str, Any] = {"__metadata__": {KEY: text}}
    for name, at in zip(order, pairwise(ends), strict=True):
        array = arrays[name]
        header[name] = {"dtype": DTYPES[array.dtype.name], "shape": list(array.shape), "data_offsets": list(at)}
    start = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    start += b" " * (-len(start) % 8)
    rest = [np.ascontiguousarray(arrays[name], arrays[name].dtype.newbyteorder("<")) for name in order]
    return [len(start).to_bytes(8, "little") + start, *rest]


class _Tensors:
    """The tensors of a safetensors file in memory, without copies; same interface as `safe_open` for files on disk."""

    def __init__(self, data: memoryview) -> None:
        self._start = 8 + int.from_bytes(data[:8], "little")
        if not 8 < self._start <= min(len(data), 8 + MAX_HEADER):
            raise ValueError("it is not a complete safetensors file: its header is longer than the file")
        self._header = json.loads(bytes(data[8 : self._start]))
        self._metadata = self._header.pop("__metadata__", None)
        self._data = data
        ends = [0, len(data) - self._start]
        for entry in self._header.values():
            ends += entry["data_offsets"]
        # The arrays must be contiguous: each begins where another one ends, up to the end of the file.
        if sorted(ends)[::2] != sorted(ends)[1::2] or any(a > b for a, b in map(_offsets, self._header.values())):
            raise ValueError("it is not a complete safetensors file: its arrays do not fill it without gaps")

    def metadata(self) -> Any:
        return self._metadata

    def keys(self) -> list[str]:
        return list(self._header)

    def get_tensor(self, name: str) -> NDArray[Any]:
        entry = self._header[name]
        dtype = np.dtype(next(ours for ours, theirs in DTYPES.items() if theirs == entry["dtype"]))
        first, last = _offsets(entry)
        part = self._data[self._start + first : self._start + last]
        return np.frombuffer(part, dtype).reshape(entry["shape"])


def _offsets(entry: Mapping[str, Any]) -> tuple[int, int]:
    """Return the start and end offsets of an array."""
    first, last = entry["data_offsets"]
    return whole(first, "data_offsets"), whole(last, "data_offsets")


def load(path: str | os.PathLike[str], *, parameters: Mapping[str, Any] | None = None) -> Any:
    """Load a model that `save` wrote.

    It is safe to load an untrusted file: every significant byte is checked, the parts of the model must be consistent,
    a small file takes little memory, and nothing in the file is executed.

    Parameters
    ----------
    path : str or path-like
        The file.
    parameters : dict or None, default=None
        The parameters that are not in the file, by name: functions and objects of other libraries.

    Returns
    -------
    model : object
        The model. It predicts and continues to learn bit for bit as the saved one would have.

    Raises
    ------
    ModelFileError
        If the file is damaged, is not a model file or was written by a later version of onmargin, or if `parameters`
        are not exactly those missing from the file.
    OSError
        If the file cannot be read.

    See Also
    --------
    save : Save a model to a file.

    Examples
    --------
    A parameter that a file cannot hold, here a function, is passed again:

    >>> import onmargin, os, tempfile
    >>> from onmargin import ClassFeatureClassifier
    >>> def phi(x, label):
    ...     return [value * label for value in x]
    >>> model = ClassFeatureClassifier(phi=phi).partial_fit([[1.0, 2.0], [2.0, 0.5]], [-1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "pairs.safetensors")
    ...     onmargin.save(model, path)
    ...     again = onmargin.load(path, parameters={"phi": phi})
    >>> again.totals_ == model.totals_
    True
    """
    return load_with_notes(path, parameters=parameters)[0]


def load_with_notes(
    path: str | os.PathLike[str], *, parameters: Mapping[str, Any] | None = None
) -> tuple[Any, dict[str, Any]]:
    """Load a model together with its notes.

    Parameters
    ----------
    path : str or path-like
        The file.
    parameters : dict or None, default=None
        As for `load`.

    Returns
    -------
    model : object
        As from `load`.
    notes : dict
        The notes passed to `save`; empty if there are none.

    Raises
    ------
    ModelFileError, OSError
        As `load` does.

    Examples
    --------
    >>> import onmargin, os, tempfile
    >>> from onmargin.io import load_with_notes
    >>> model = onmargin.PassiveAggressiveClassifier().partial_fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "spam.safetensors")
    ...     onmargin.save(model, path, notes={"trained on": "mail of May"})
    ...     model, notes = load_with_notes(path)
    >>> notes
    {'trained on': 'mail of May'}
    """
    path = os.fspath(path)
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise ValueError("it is not a file")
        with safe_open(path, framework="numpy") as file:
            return _model(file, os.path.getsize(path), parameters or {})
    except OSError:
        raise
    except SafetensorError as error:
        raise ModelFileError(
            f"cannot load a model from {path!r}: not an onmargin model file, or its header is damaged"
        ) from error
    except Exception as error:  # the file may hold arbitrary data
        raise ModelFileError(f"cannot load a model from {path!r}: {error or type(error).__name__}") from error


def _model(file: Any, size: int, given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the model and the notes of a file of `size` bytes."""
    document = _read_document(file.metadata())
    arrays = _Arrays(file, document["arrays"])
    with MemoryLimit(MEMORY_PER_BYTE * size + MORE_MEMORY):
        model = Reader(arrays, _check_given(document["parameters"], given)).model(document)
    if "room" in document:
        arrays(document["room"])
    arrays.check_used()
    return model, document.get("notes", {})


@cache  # finding it takes milliseconds
def _version() -> str:
    from importlib.metadata import version

    return version("onmargin")


def _canonical(document: Mapping[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _check_notes(notes: Mapping[str, Any]) -> Any:
    """Return the notes, after checking that they survive a round trip through JSON."""
    try:
        if (read := json.loads(_canonical(notes))) == notes:
            return read
        problem = "they would come back different"
    except (TypeError, ValueError, RecursionError) as error:
        problem = str(error)
    raise TypeError(f"notes must be a dict of strings, finite numbers, lists and dicts; got {notes!r:.80}: {problem}")


def _digest(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(document).encode()).hexdigest()


def _entry(array: NDArray[Any]) -> dict[str, Any]:
    """Return the entry of a contiguous array in the document of the file."""
    digest = hashlib.sha256(array.reshape(-1).view(np.uint8).data).hexdigest()
    return {"dtype": DTYPES[array.dtype.name], "shape": list(array.shape), "sha256": digest}


def _read_document(metadata: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the JSON document of a file, after checking that it is exactly what was written."""
    if not metadata or KEY not in metadata:
        raise ValueError("not an onmargin model file, but another safetensors file")
    document: dict[str, Any] = {}
    with suppress(RecursionError, TypeError, ValueError):
        document |= json.loads(metadata[KEY])
    schema = document.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise ValueError(
            f"it was written by onmargin {document.get('version')} in schema {schema}, and onmargin {_version()} reads "
            f"schemas up to {SCHEMA}: upgrade onmargin"
        )
    # The same number has several JSON spellings; only the canonical one is accepted.
    whole = metadata == {KEY: _canonical(document)}
    if document.pop("sha256", None) != _digest(document) or not whole:
        raise ValueError("its description is damaged: the checksum does not agree")
    return document


class _Arrays:
    """Access to the arrays of a file by name; each can be used once and is checked on access."""

    def __init__(self, file: Any, entries: Mapping[str, Any]) -> None:
        if set(file.keys()) != set(entries):
            raise ValueError("it is damaged: its arrays are not those that it describes")
        self._file = file
        self._left = dict(entries)

    def __call__(self, name: str) -> NDArray[Any]:
        if name not in self._left:
            raise ValueError(f"its array {name!r} is missing or used twice")
        entry = self._left.pop(name)
        values: NDArray[Any] = self._file.get_tensor(name)
        if _entry(values) != entry:
            raise ValueError(f"its array {name!r} is damaged: the checksum does not agree")
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise ValueError(f"its array {name!r} has numbers that are not finite, which no learner makes")
        return values

    def check_used(self) -> None:
        if self._left:
            raise ValueError(f"it has arrays that do not belong to the model: {', '.join(sorted(self._left))}")


def _check_given(described: Mapping[str, Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Check that the parameters passed are exactly those missing from the file."""
    missing = {name for name, content in described.items() if content == {"given": name}}
    if missing - given.keys():
        names = ", ".join(f"{name!r}: ..." for name in sorted(missing))
        raise ValueError(
            f"a file holds no functions or foreign objects, such as this model's {' and '.join(sorted(missing))}. Give "
            f"them again: load(path, parameters={{{names}}})"
        )
    if given.keys() - missing:
        raise ValueError(
            f"parameters names {sorted(given.keys() - missing)}, but the file lacks {sorted(missing) or 'nothing'}. To "
            "change a parameter call set_params on the model."
        )
    return given
