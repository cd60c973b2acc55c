"""Features that a stream makes on the way."""

from onmargin.features.class_terms import ClassTermFeatures
from onmargin.features.window import CHUNKING, WindowFeatures

__all__ = ["CHUNKING", "ClassTermFeatures", "WindowFeatures"]
