"""Stream learners made from parameters that include those of RecordFeatures."""

from inspect import signature

from onmargin.features import RecordFeatures

READING = tuple(signature(RecordFeatures).parameters)


def made(kind, **parameters):
    """Return a learner from its own parameters and those of `RecordFeatures`."""
    reading = {name: parameters.pop(name) for name in READING if name in parameters}
    return kind(**parameters, **({"features": RecordFeatures(**reading)} if reading else {}))
