"""Import of model files from `onmargin train` or other services, and export of models to files."""

from math import isinf
from pathlib import Path
from typing import Any

import msgspec

from onmargin.apps.learners import learner_class, model_in
from onmargin.apps.serve.journal import ModelRow
from onmargin.apps.serve.json_learner import JsonLearner, Room
from onmargin.apps.serve.problems import ProblemError
from onmargin.apps.serve.restoring import COVERAGE
from onmargin.apps.serve.service import check_ngrams
from onmargin.apps.serve.state import FOREIGN, Covering, Snapshot, State
from onmargin.io import ModelFileError, load_with_notes

MOST_LEARNED = 2**53  # examples of an uploaded model: its counters never reach the limits of a snapshot


def read_model(path: Path, name: str, room: Room) -> tuple[ModelRow, State]:
    """Return the journal entry and the state of an uploaded model file."""
    try:
        saved, notes = load_with_notes(path)
    except ModelFileError as error:
        words = str(error).replace(repr(str(path)), "the file")
        raise ProblemError(f"the body is not a model file that can be served: {words}", 422) from error
    model = model_in(saved)
    kind = type(model).__name__
    try:
        known = learner_class(kind, None) is type(model)
    except ValueError:
        known = False
    if not known:
        raise ProblemError(
            f"the file has {type(model).__module__}.{kind}; learners of rows of onmargin.stream and SequenceTagger can "
            "be served, as `onmargin train` writes them",
            422,
        )
    learner = JsonLearner(model.task, model, room)
    if not learner.begun:
        raise ProblemError("the model of the file has learned nothing: create one with POST /v1/models", 422)
    check_ngrams(learner)
    learner.check_size()
    if "chain" in notes:  # the file was written by a service
        try:
            state = Snapshot.read(model, notes, room).state
        except (KeyError, TypeError, ValueError) as error:
            raise ProblemError(f"the notes of the file are not those of a service: {error}", 422) from error
    else:
        state = State(learner, max(1, model.totals_.rounds))
        if model is not saved:
            try:
                state.covering = Covering.from_saved(model.task, saved)
            except ValueError as error:
                raise ProblemError(str(error), 422) from error
        state.notes = {key: notes[key] for key in FOREIGN if key in notes}
    totals = state.totals
    if max(state.seq, totals.rounds, totals.mistakes, totals.updates) > MOST_LEARNED:
        raise ProblemError(f"the model of the file counts more than {MOST_LEARNED} examples, mistakes or updates", 422)
    parameters = {"model": kind} | _parameters(model)
    if state.covering is not None:
        parameters[COVERAGE] = state.covering.tracker.coverage
    return ModelRow(0, name, model.task, msgspec.json.encode(parameters)), state


def _parameters(model: Any) -> dict[str, Any]:
    """Return the JSON-serializable parameters of a model, including those of its `RecordFeatures`."""
    given = dict(model.get_params(deep=False))
    reading = given.pop("features", None)
    if hasattr(reading, "get_params"):
        given |= reading.get_params(deep=False)
    found = {name: "inf" if isinstance(value, float) and isinf(value) else value for name, value in given.items()}
    return {name: value for name, value in found.items() if value is not None and _is_plain(value)}


def _is_plain(value: Any) -> bool:
    try:
        msgspec.json.encode(value)
    except (TypeError, ValueError, msgspec.MsgspecError):
        return False
    return True
