"""Predictions for the examples of files, as text, as a table or as JSON lines."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import IO, Any, NamedTuple

from onmargin.apps.chunk_learner import ChunkLearner
from onmargin.apps.chunks import CHUNK, Chunk
from onmargin.apps.failure import Failure
from onmargin.apps.loaded import examples, load_learner, read_recipes, warn
from onmargin.apps.outputs import output_format
from onmargin.apps.report import printable
from onmargin.io.format import Recipe, as_integer, is_pipe, list_names
from onmargin.io.formats import FORMATS

_TABLES = {"csv": ",", "tsv": "\t"}  # the delimiters of output formats that are tables
_CONLL = "conll"  # the output format with the columns of each token before its label

# Names of prediction sets and intervals in the output, and all names that the output adds to the copied columns.
_SET, _ENDS = "prediction_set", ("prediction_low", "prediction_high")
_OWN = ("prediction", "probability", _SET, *_ENDS)

Prediction = dict[str, Any]


class Order(NamedTuple):
    """Files to predict and output options; `keep` are the columns to copy to the output, all of them if empty."""

    model: str
    files: tuple[str, ...]
    format: str | None = None
    given: Mapping[str, Any] = {}
    as_json: bool = False
    proba: bool = False
    abstain: float | None = None
    strict: bool = False
    keep: tuple[str, ...] = ()


def predict(order: Order, name: str, out: IO[str]) -> None:
    """Write predictions to a file. Examples from a pipe are predicted one by one."""
    learner, recipe, _ = load_learner(order.model)
    live = any(map(is_pipe, order.files))
    target = output_format(name)
    if target == _CONLL and learner.task != "tag":
        raise Failure(f"{name} would have tokens, and the task is {learner.task}: give a .csv, .tsv or .jsonl file")
    recipes = read_recipes(order.files, recipe, order.format, order.given)
    passed = _Passed(recipes, order.keep) if target else None
    if passed is not None:
        for path in filter(is_pipe, order.files):
            recipes[path] = FORMATS[recipes[path].format].verbatim(path, recipes[path])
    write = _writer(out, name, target, as_json=order.as_json)
    size = 1 if live else CHUNK
    for path, first, chunk in examples(recipes, learner, recipe, size=size, labels=False, strict=order.strict):
        try:
            rows: list[Prediction] = [{"prediction": label} for label in learner.predict(chunk)]
            if order.as_json or target == "jsonl":
                for row, scores in zip(rows, learner.scores(chunk), strict=True):
                    row.update({} if scores is None else {"scores": scores})
            if learner.task == "tag" and order.abstain is None:
                rows = _tagged(rows, learner, chunk, recipes[path], proba=order.proba, tokens=target is not None)
            elif order.proba or order.abstain is not None:
                for row, chances in zip(rows, learner.probabilities(chunk), strict=True):
                    if order.abstain is not None:
                        row["prediction"] = decided(chances, order.abstain)
                    if order.proba:
                        likely = max(chances.values()) if row["prediction"] is None else chances[row["prediction"]]
                        row.update(probability=likely, probabilities=chances)
            if learner.wrapper is not None:
                for row, found in zip(rows, learner.covers(chunk), strict=True):
                    row.update(zip(_ENDS, found, strict=True) if learner.task == "regress" else {_SET: found})
        except (TypeError, ValueError) as error:
            raise Failure(f"{path}, after record {first - 1}: {error}") from error
        if passed is not None and learner.task != "tag":
            rows = [a | b for a, b in zip(passed.rows(path, chunk), rows, strict=True)]
        write(rows if target not in _TABLES or learner.task != "tag" else list(_token_rows(rows, first)))
        if live:
            out.flush()


def _tagged(
    rows: list[Prediction], learner: ChunkLearner, chunk: Chunk, recipe: Recipe, *, proba: bool, tokens: bool
) -> list[Prediction]:
    """Add the columns of the tokens to the predictions for sequences, and the probability of each label."""
    names = recipe.features.get("columns", ())
    for row, sequence in zip(rows, chunk.X, strict=True):
        if tokens and names:
            cells = [token.values() if isinstance(token, dict) else token for token in sequence]
            row["tokens"] = [dict(zip(names, values, strict=False)) for values in cells]
    if proba:
        for row, chances in zip(rows, learner.label_probabilities(chunk), strict=True):
            row["probability"] = [one[label] for one, label in zip(chances, row["prediction"], strict=True)]
    return rows


def _token_rows(rows: Sequence[Prediction], first: int) -> Iterator[Prediction]:
    """Yield one row per token, with the number of its sequence."""
    for number, row in enumerate(rows, first):
        labels = row["prediction"]
        tokens, chances = row.get("tokens", [{}] * len(labels)), row.get("probability")
        for k, (token, label) in enumerate(zip(tokens, labels, strict=True)):
            yield {"sequence": number, **token, "prediction": label} | (
                {} if chances is None else {"probability": chances[k]}
            )


def decided(chances: Mapping[Any, float], cost: float) -> Any:
    """Return the most likely class; None if a mistake is more likely than abstaining costs."""
    best = max(chances, key=lambda label: chances[label])
    return None if 1 - chances[best] > cost else best


class _Passed:
    """The columns of the input files to copy to the output, with their original text."""

    def __init__(self, recipes: Mapping[str, Recipe], keep: Sequence[str]) -> None:
        self._path = ""
        self._rows: Iterator[Any] | None = None
        self._names: Sequence[str] = ()
        # The columns must be looked up before any file is read, since the standard input can be read once.
        self._recipes = recipes
        self._columns = {path: _columns(path, own, keep) for path, own in recipes.items()}

    def rows(self, path: str, chunk: Chunk) -> list[Prediction]:
        """Return the copied columns of the examples of a chunk."""
        if path != self._path:
            self._path, self._own, self._names = path, self._recipes[path], self._columns[path]
            self._rows = None if is_pipe(path) else FORMATS[self._own.format].raw_rows(path, self._own)
        if self._rows is not None:
            found: list[Any] = [next(self._rows) for _ in range(len(chunk))]
        elif chunk.rows is not None:
            found = [self._with_label(chunk, k) for k in range(len(chunk))]
        else:
            found = [{} for _ in range(len(chunk))]
        return [{name: row.get(name, "") for name in self._names} for row in found] if self._names else found

    def _with_label(self, chunk: Chunk, k: int) -> Prediction:
        row = chunk.rows[k] if chunk.rows is not None else {}
        row = {name: as_integer(value) for name, value in row.items()} if isinstance(row, dict) else {"text": row}
        if self._own.weight is not None and chunk.weights is not None:
            row[self._own.weight] = chunk.weights[k]
        label = None if chunk.y is None else chunk.y[k]
        return row if label is None else row | {self._own.label or "label": as_integer(label)}


def _columns(path: str, recipe: Recipe, keep: Sequence[str]) -> Sequence[str]:
    """Return the columns of a file to copy; none if only the rows tell them."""
    format = FORMATS[recipe.format]
    names = format.columns(path, recipe) if format.is_table(recipe) else ()
    for name in keep:
        if name not in names:
            raise Failure(f"{path} has no column {name!r} for --keep; it has {list_names(names) or 'no columns'}")
    return keep or format.passes_columns(path, recipe)


def _writer(out: IO[str], name: str, target: str | None, *, as_json: bool) -> Callable[[Sequence[Prediction]], None]:
    """Return a function that writes predictions."""
    if target in _TABLES:
        return _table(out, name, _TABLES[target])

    def write(rows: Sequence[Prediction]) -> None:
        if as_json or target == "jsonl":
            lines = [json.dumps(_finite(row), allow_nan=False) for row in rows]
        else:
            lines = [_line(row, columns=target == _CONLL) for row in rows]
        out.write("".join(f"{text}\n" for text in lines))

    return write


def _table(out: IO[str], path: str, delimiter: str) -> Callable[[Sequence[Prediction]], None]:
    table = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    columns: list[str] = []
    known = {"scores", "probabilities", *_OWN}

    def write(rows: Sequence[Prediction]) -> None:
        names = dict.fromkeys(name for row in rows for name in row if name not in known)
        if columns and names:  # the header is written
            warn(f"{path} has no column for {list_names(list(names), 3)}: write a .jsonl file", strict=False)
        if not columns:
            columns.extend([*names, *(name for name in _OWN if name in rows[0])])
            table.writerow(columns)
        known.update(names)
        for row in rows:
            table.writerow([_cell(row.get(name, "")) for name in columns])

    return write


def _finite(row: Prediction) -> Prediction:
    """Return a row for JSON, with null for the infinite end of an interval."""
    return row | {name: None for name in _ENDS if name in row and not isfinite(row[name])}


def _cell(value: Any) -> Any:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _line(row: Prediction, *, columns: bool) -> str:
    if isinstance(row["prediction"], list):
        nothing: list[Any] = [()] * len(row["prediction"])
        cells = [token.values() for token in row["tokens"]] if columns and "tokens" in row else nothing
        chances = [(f"{chance:.6g}",) for chance in row.get("probability", ())] or nothing
        tokens = zip(cells, row["prediction"], chances, strict=True)
        return "".join("\t".join((*before, line(label), *chance)) + "\n" for before, label, chance in tokens)
    fields = [line(row["prediction"]), *(f"{row[name]:.6g}" for name in ("probability", *_ENDS) if name in row)]
    return "\t".join([*fields, *([",".join(map(line, row[_SET]))] if _SET in row else [])])


def line(prediction: object) -> str:
    """Format a prediction: a set of labels with commas, and a sequence as one line per token and a blank line.

    If there is no decision, the line is empty.
    """
    if prediction is None:
        return ""
    if isinstance(prediction, tuple):
        return ",".join(map(line, prediction))
    if isinstance(prediction, list):
        return "".join(f"{line(label)}\n" for label in prediction)
    return repr(prediction) if isinstance(prediction, float) else printable(str(prediction))
