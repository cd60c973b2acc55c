"""Streaming readers for many file formats, model files, and export to other libraries."""

from typing import TYPE_CHECKING

from onmargin._lazy import lazy_names

if TYPE_CHECKING:
    from onmargin.io._prefetch import prefetch
    from onmargin.io._reader import Reader, ReadError, Record, TaggedSequence
    from onmargin.io.arff import read_arff
    from onmargin.io.arrow import read_arrow
    from onmargin.io.conll import read_conll, read_conllu
    from onmargin.io.crfsuite import read_crfsuite
    from onmargin.io.csv_table import read_csv
    from onmargin.io.documents import read_folder, read_mbox, read_text
    from onmargin.io.export import to_onnx, to_sklearn
    from onmargin.io.formats import guess_format
    from onmargin.io.jsonl import read_json, read_jsonl
    from onmargin.io.model_file import ModelFileError, load, load_with_notes, save
    from onmargin.io.sharding import Batch, Shard, Shards, shards
    from onmargin.io.svmlight import Block, read_svmlight
    from onmargin.io.vowpal_wabbit import read_vw

# Imported on first use, as in `onmargin`, so that reading one format does not import the others.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Batch": "onmargin.io.sharding",
        "Block": "onmargin.io.svmlight",
        "ModelFileError": "onmargin.io.model_file",
        "ReadError": "onmargin.io._reader",
        "Reader": "onmargin.io._reader",
        "Record": "onmargin.io._reader",
        "Shard": "onmargin.io.sharding",
        "Shards": "onmargin.io.sharding",
        "TaggedSequence": "onmargin.io._reader",
        "guess_format": "onmargin.io.formats",
        "load": "onmargin.io.model_file",
        "load_with_notes": "onmargin.io.model_file",
        "prefetch": "onmargin.io._prefetch",
        "read_arff": "onmargin.io.arff",
        "read_arrow": "onmargin.io.arrow",
        "read_conll": "onmargin.io.conll",
        "read_conllu": "onmargin.io.conll",
        "read_crfsuite": "onmargin.io.crfsuite",
        "read_csv": "onmargin.io.csv_table",
        "read_folder": "onmargin.io.documents",
        "read_json": "onmargin.io.jsonl",
        "read_jsonl": "onmargin.io.jsonl",
        "read_mbox": "onmargin.io.documents",
        "read_svmlight": "onmargin.io.svmlight",
        "read_text": "onmargin.io.documents",
        "read_vw": "onmargin.io.vowpal_wabbit",
        "save": "onmargin.io.model_file",
        "to_onnx": "onmargin.io.export",
        "shards": "onmargin.io.sharding",
        "to_sklearn": "onmargin.io.export",
    },
)

__all__ = [
    "Batch",
    "Block",
    "ModelFileError",
    "ReadError",
    "Reader",
    "Record",
    "Shard",
    "Shards",
    "TaggedSequence",
    "guess_format",
    "load",
    "load_with_notes",
    "prefetch",
    "read_arff",
    "read_arrow",
    "read_conll",
    "read_conllu",
    "read_crfsuite",
    "read_csv",
    "read_folder",
    "read_json",
    "read_jsonl",
    "read_mbox",
    "read_svmlight",
    "read_text",
    "read_vw",
    "save",
    "shards",
    "to_onnx",
    "to_sklearn",
]
