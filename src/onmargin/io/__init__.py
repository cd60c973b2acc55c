"""Readers that stream files of many formats, model files, and models for other libraries."""

from onmargin.io._reader import Reader, ReadError, Record, TaggedSequence
from onmargin.io.arrow import read_arrow
from onmargin.io.conll import read_conll, read_conllu
from onmargin.io.crfsuite import read_crfsuite
from onmargin.io.csv_table import read_csv
from onmargin.io.documents import read_folder, read_mbox
from onmargin.io.export import to_sklearn
from onmargin.io.jsonl import read_jsonl
from onmargin.io.model_file import ModelFileError, load, save
from onmargin.io.prefetch import prefetch
from onmargin.io.svmlight import Block, read_svmlight
from onmargin.io.vowpal_wabbit import read_vw

__all__ = [
    "Block",
    "ModelFileError",
    "ReadError",
    "Reader",
    "Record",
    "TaggedSequence",
    "load",
    "prefetch",
    "read_arrow",
    "read_conll",
    "read_conllu",
    "read_crfsuite",
    "read_csv",
    "read_folder",
    "read_jsonl",
    "read_mbox",
    "read_svmlight",
    "read_vw",
    "save",
    "to_sklearn",
]
