"""Model files, and models for other libraries."""

from onmargin.io.export import to_sklearn
from onmargin.io.model_file import ModelFileError, load, save

__all__ = ["ModelFileError", "load", "save", "to_sklearn"]
