"""Learners by name, and their construction from parameters."""

from collections.abc import Mapping
from functools import cache
from inspect import signature
from typing import Any

from onmargin import stream
from onmargin.errors import ParameterError
from onmargin.features.records import RecordFeatures
from onmargin.models.options import check_options

# The plain learner of each task: one of `onmargin.stream`, or the tagger.
LEARNERS = {
    "classify": "PassiveAggressiveClassifier",
    "regress": "PassiveAggressiveRegressor",
    "rank": "LabelRanker",
    "ordinal": "OrdinalRegressor",
    "novelty": "PassiveAggressiveUniclass",
    "tag": "SequenceTagger",
}


# Learners that the command line and the service offer: all whose examples are one row each.
OFFERED = [name for name in (*stream.__all__, LEARNERS["tag"]) if name != "ClassFeatureClassifier"]
# The automatic learner of each task.
AUTOMATIC = {"classify": "AutoClassifier", "regress": "AutoRegressor"}


def usual_learner(task: str, parameters: Mapping[str, Any]) -> str:
    """Return the name of the default learner of a task.

    It is the automatic learner, unless a parameter is given that only the plain learner has, such as C.
    """
    name = AUTOMATIC.get(task, LEARNERS[task])
    own, reading = _accepted(learner_class(name, None))
    plain, _ = _accepted(learner_class(LEARNERS[task], None))
    given = parameters.keys() - {*own, *reading, "hash"}
    return LEARNERS[task] if given & set(plain) else name


def learner_class(name: str | None, task: str | None) -> Any:
    """Return the learner class by name or by task; if both are given, the learner must be for the task."""
    if name is None:
        name = LEARNERS[task or "classify"]
    if name == LEARNERS["tag"]:
        from onmargin import SequenceTagger  # imported here because it needs scikit-learn

        found: Any = SequenceTagger
    elif name in OFFERED:
        found = getattr(stream, name)
    else:
        raise ParameterError(f"model must be one of {', '.join(OFFERED)}; got {name!r:.80}", ["model"])
    if task not in {None, found.task}:
        raise ParameterError(f"{name} is for the task {found.task!r}, not {task!r}: leave one out", ["model", "task"])
    return found


def make_learner(kind: Any, parameters: Mapping[str, Any]) -> Any:
    """Create a learner from its parameters, which may include those of `RecordFeatures`."""
    own, reading = _accepted(kind)
    unknown = sorted(parameters.keys() - {*own, *reading})
    if unknown:
        accepted = ", ".join([*own, *reading])
        raise ParameterError(f"{kind.__name__} has no parameter {' or '.join(unknown)}; it has {accepted}", unknown)
    given = {name: parameters[name] for name in own if name in parameters}
    if reading:
        given["features"] = RecordFeatures(**{name: parameters[name] for name in reading if name in parameters})
    model = kind(**given)
    check_options(model)  # taggers, like scikit-learn estimators, check parameters only when they learn
    return model


@cache
def _accepted(kind: Any) -> tuple[list[str], list[str]]:
    """Return the names of the parameters of a learner, and of its `RecordFeatures`."""
    own = list(signature(kind).parameters)
    if "features" not in own:
        return own, []
    return [name for name in own if name != "features"], list(signature(RecordFeatures).parameters)


def model_in(saved: Any) -> Any:
    """Return the model in a model file, which may have prediction sets or intervals around it."""
    return saved.model if hasattr(saved, "coverage") else saved


def is_fitted(model: Any) -> bool:
    """Return whether anything was learned."""
    return bool(model.__sklearn_is_fitted__())


def n_features(model: Any) -> int:
    """Return the number of features of a model."""
    found = getattr(model, "n_features_", None)
    return int(getattr(model, "n_features_in_", 0) if found is None else found)


def leading(model: Any) -> str | None:
    """Return the name of the model with the least loss so far, if several are trained side by side."""
    outcomes = getattr(model, "model_outcomes_", ())
    return next((one.name for one in outcomes if one.leads), None)
