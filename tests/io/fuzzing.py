"""Readers, format detection and bodies of requests under a fuzzer with coverage.

``pip install atheris``, then ``python -m tests.io.fuzzing -max_total_time=600 -timeout=20 CORPUS``. It ends at the
first input that raises anything but the documented errors, or that takes longer than the timeout.
"""

import io
import sys
import tempfile
from contextlib import suppress
from itertools import islice
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["onmargin.io", "onmargin._numbers", "onmargin.apps.serve"]):
    import onmargin.io as files
    from onmargin.apps.serve.gate import _DECODERS

    READERS = [  # each module is imported on first use
        *(files.read_arff, files.read_conll, files.read_conllu, files.read_crfsuite, files.read_csv, files.read_json),
        *(files.read_jsonl, files.read_mbox, files.read_svmlight, files.read_text, files.read_vw),
    ]

BODIES = sorted(_DECODERS, key=lambda kind: kind.__name__)
MOST_RECORDS = 3000
PATH = Path(tempfile.mkdtemp(), "file")


def read(read_file, skips, data):
    """Read records, and continue after those that cannot be read if this `skips` them."""
    reader = read_file(io.BytesIO(data))
    reader.on_error = (lambda _: None) if skips else None
    reader.max_record = 2**20
    with suppress(files.ReadError):
        for _ in islice(reader, MOST_RECORDS):
            pass


def guess(data):
    """Detect the format of a file; a ValueError says that it has none."""
    PATH.write_bytes(data)
    with suppress(ValueError):
        files.guess_format(PATH)


def decode(kind, data):
    """Parse the body of a request."""
    with suppress(ValueError, RecursionError):  # answered with status 400 or 422
        _DECODERS[kind].decode(data)


def try_one(data):
    if len(data) < 2:
        return
    which, how, rest = data[0] % (len(READERS) + 2), data[1], data[2:]
    if which < len(READERS):
        read(READERS[which], how % 2, rest)
    elif which == len(READERS):
        guess(rest)
    else:
        decode(BODIES[how % len(BODIES)], rest)


if __name__ == "__main__":
    atheris.Setup(sys.argv, try_one)
    atheris.Fuzz()
