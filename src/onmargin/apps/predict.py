"""Predictions for the examples of files, as text or as JSON lines."""

import json
import sys

from onmargin.apps.chunks import CHUNK
from onmargin.apps.failure import Failure
from onmargin.apps.loaded import examples, load_learner


def predict(model: str, files: tuple[str, ...], format: str | None, *, as_json: bool) -> None:
    """Print them. Examples that come through a pipe are answered one by one."""
    learner, settings = load_learner(model)
    live = "-" in files
    for path, first, chunk in examples(files, settings, format, size=1 if live else CHUNK, labels=False):
        try:
            predicted = learner.predict(chunk)
            scores = learner.scores(chunk) if as_json else []
        except (TypeError, ValueError) as error:
            raise Failure(f"{path}, after record {first - 1}: {error}") from error
        if as_json:
            rows = [
                {"prediction": label} | ({} if score is None else {"scores": score})
                for label, score in zip(predicted, scores, strict=True)
            ]
            lines = [json.dumps(row, allow_nan=False) for row in rows]
        else:
            lines = [line(label) for label in predicted]
        sys.stdout.write("".join(f"{text}\n" for text in lines))
        if live:
            sys.stdout.flush()


def line(prediction: object) -> str:
    """A prediction as a line; a set of labels has commas, and a sequence is a line a token and a blank one."""
    if isinstance(prediction, tuple):
        return ",".join(map(str, prediction))
    if isinstance(prediction, list):
        return "".join(f"{label}\n" for label in prediction)
    return repr(prediction) if isinstance(prediction, float) else str(prediction)
