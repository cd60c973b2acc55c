"""Model files, and models for other libraries."""

from onmargin.io.export import to_sklearn
from onmargin.io.model_file import ModelFileError, load, save

__all__ = ["ModelFileError", "load", "save", "to_sklearn"]
"""Readers that stream files of many formats."""

from onmargin.io._reader import Reader, ReadError, Record, TaggedSequence
from onmargin.io.conll import read_conll, read_conllu
from onmargin.io.crfsuite import read_crfsuite
from onmargin.io.prefetch import prefetch
from onmargin.io.svmlight import Block, read_svmlight

__all__ = [
    "Block",
    "ReadError",
    "Reader",
    "Record",
    "TaggedSequence",
    "prefetch",
    "read_conll",
    "read_conllu",
    "read_crfsuite",
    "read_svmlight",
]
