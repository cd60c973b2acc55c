"""Readers for the real data sets of the papers."""

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

USPS = ("usps/usps.npz",)
MNIST = ("mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz")
USERS = ("farmer-d", "kaminski-v", "kitchen-l", "lokay-m", "williams-w3")
MAIL = tuple(f"enron_foldering/{user}.jsonl.gz" for user in USERS)

Digits = tuple[NDArray[np.float32], NDArray[np.intp]]


class DataError(ValueError):
    """Raised for a data file with unexpected content."""


@contextmanager
def _expect(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, ValueError, KeyError, BadZipFile, zlib.error) as error:
        raise DataError(f"{path}: looked for {what}, and found something else ({error})") from error


def usps(folder: Path) -> Digits:
    """Read USPS: 7,291 digits of 16 x 16 pixels, from the arrays X_train and y_train."""
    path = folder / USPS[0]
    with _expect(path, "the arrays X_train and y_train"), np.load(path) as arrays:
        return standardize(arrays["X_train"]), arrays["y_train"].astype(np.intp)


def mnist(folder: Path) -> Digits:
    """Read MNIST: 60,000 digits of 28 x 28 pixels, in the IDX format."""
    with _expect(folder / "mnist", "images and labels in the IDX format, compressed"):
        images, labels = (np.frombuffer(gzip.decompress((folder / name).read_bytes()), np.uint8) for name in MNIST)
        X, y = images[16:].reshape(-1, 784), labels[8:].astype(np.intp)
        if len(X) != len(y):
            raise ValueError(f"{len(X)} images and {len(y)} labels")
    return standardize(X), y


def standardize(X: NDArray[Any]) -> NDArray[np.float32]:
    """Shift and scale rows to mean 0 and average squared norm 1, as in the experiment of [JMLR]."""
    rows = X.astype(np.float32)
    rows -= rows.mean(axis=0, dtype=np.float64).astype(np.float32)
    rows /= np.sqrt(np.einsum("ij,ij->", rows, rows, dtype=np.float64) / len(rows))
    return rows


def messages(folder: Path, user: str) -> tuple[list[str], NDArray[np.str_]]:
    """Return the words of a user's messages in order of arrival, with addresses and subject, and their folders."""
    texts, folders = [], []
    path = folder / f"enron_foldering/{user}.jsonl.gz"
    fields = "from", "to", "cc", "subject", "body"
    what = f"a message a line in JSON, with {', '.join(fields)} and folder"
    with _expect(path, what), gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            message = json.loads(line)
            texts.append(" ".join(str(message[field] or "") for field in fields))
            folders.append(message["folder"])
    return texts, np.array(folders)
