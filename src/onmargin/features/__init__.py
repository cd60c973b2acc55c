"""Features that a stream makes on the way."""

from onmargin.features.class_terms import ClassTermFeatures

__all__ = ["ClassTermFeatures"]
