"""Stream learners made from parameters that include those of RecordFeatures."""

from inspect import signature

from onmargin.features import RecordFeatures

READING = tuple(signature(RecordFeatures).parameters)


def made(kind, **parameters):
    """A learner; parameters of `RecordFeatures` stand beside its own."""
    reading = {name: parameters.pop(name) for name in READING if name in parameters}
    return kind(**parameters, **({"features": RecordFeatures(**reading)} if reading else {}))
