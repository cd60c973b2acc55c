"""Real streams, read in place from a folder of data sets.

Text is a binary bag of lower-cased words, hashed to 2^20 features, in rows of norm 1; headers of messages are dropped.
w8a is shuffled once, the others keep their order.
"""

import gzip
import json
import lzma
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import HashingVectorizer

Stream = tuple[np.ndarray | csr_matrix, np.ndarray]
Texts = tuple[list[str], np.ndarray]


def words(texts: list[str]) -> csr_matrix:
    hasher = HashingVectorizer(
        n_features=2**20, binary=True, norm="l2", alternate_sign=False, token_pattern=r"(?u)\b\w+\b", dtype=np.float64
    )
    return hasher.transform(texts)


def sms_texts(folder: Path) -> Texts:
    lines = (folder / "sms_spam/sms.tsv").read_text(encoding="utf-8").rstrip("\n").split("\n")
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    return list(texts), np.array(labels)


def a9a(folder: Path) -> Stream:
    return load_svmlight_file(str(folder / "libsvm/a9a"))


def w8a(folder: Path) -> Stream:
    X, y = load_svmlight_file(str(folder / "libsvm/w8a"))
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def elec(folder: Path) -> Stream:
    table = np.loadtxt(folder / "streams/elec.csv", delimiter=",", skiprows=1)
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(int)


def reuters_texts(folder: Path) -> Texts:
    """Return stories with exactly one of the ten most frequent topics."""
    with gzip.open(folder / "reuters21578/reuters21578.jsonl.gz", "rt", encoding="utf-8") as file:
        stories = [json.loads(line) for line in file]
    frequent = Counter(topic for story in stories for topic in story["topics"]).most_common(10)
    topics = {topic for topic, _ in frequent}
    picked = [(story, topics & set(story["topics"])) for story in stories]
    kept = [(story, found.pop()) for story, found in picked if len(found) == 1]
    texts = [f"{story['title'] or ''} {story['body'] or ''}" for story, _ in kept]
    return texts, np.array([topic for _, topic in kept])


def newsgroups_texts(folder: Path) -> Texts:
    with lzma.open(folder / "20newsgroups/20news_19997.jsonl.xz", "rt", encoding="utf-8") as file:
        messages = [json.loads(line) for line in file]
    texts = [message["text"].partition("\n\n")[2] for message in messages]
    return texts, np.array([message["group"] for message in messages])


TEXTS: dict[str, Callable[[Path], Texts]] = {"sms": sms_texts, "reuters": reuters_texts, "20news": newsgroups_texts}


def of_words(name: str, folder: Path) -> Stream:
    texts, labels = TEXTS[name](folder)
    return words(texts), labels


def mail(user: str, folder: Path) -> Stream:
    """Return the messages of one user by date; the class is the folder of each message."""
    with gzip.open(folder / f"enron_foldering/{user}.jsonl.gz", "rt", encoding="utf-8") as file:
        messages = [json.loads(line) for line in file]
    parts = ("from", "to", "cc", "subject", "body")
    texts = [" ".join(message[part] or "" for part in parts) for message in messages]
    return words(texts), np.array([message["folder"] for message in messages])


def mnist(folder: Path) -> Stream:
    with gzip.open(folder / "mnist/train-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(folder / "mnist/train-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    return pixels / np.float64(255), labels.astype(int)


STREAMS: dict[str, Callable[[Path], Stream]] = {
    "sms": partial(of_words, "sms"),
    "a9a": a9a,
    "w8a": w8a,
    "elec": elec,
    "reuters": partial(of_words, "reuters"),
    "20news": partial(of_words, "20news"),
    "mnist": mnist,
}
# Streams that were not used to choose the experts of AutoClassifier.
HELD_OUT: dict[str, Callable[[Path], Stream]] = {
    f"mail of {user}": partial(mail, user) for user in ("farmer-d", "kaminski-v", "kitchen-l", "lokay-m", "williams-w3")
}
