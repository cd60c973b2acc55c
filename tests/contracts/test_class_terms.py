"""Class-term features equal a plain loop over the messages, for any split of the stream and any container of X."""

from collections import Counter
from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from onmargin.features import ClassTermFeatures, class_terms

VALUES = {"additive": (2.0, -1.0), "multiplicative": (1.0, 0.0)}
every_kind = pytest.mark.parametrize("kind", VALUES)


class Loop:
    """The same features, computed word by word."""

    def __init__(self, kind, classes=()):
        self.frequent, self.rare = VALUES[kind]
        self.messages = Counter()
        self.documents = Counter()
        self.classes = set(classes)

    def feature(self, word, label):
        if not self.messages[label]:
            return 0.0
        share = Fraction(self.documents[label, word], self.messages[label])
        return self.frequent if share >= Fraction(1, 5) else self.rare if share < Fraction(2, 100) else 0.0

    def rows(self, x):
        return [
            [self.feature(word, label) if value != 0 else 0.0 for word, value in enumerate(x)]
            for label in sorted(self.classes)
        ]

    def learn(self, x, label):
        self.classes.add(label)
        self.messages[label] += 1
        self.documents.update((label, word) for word, value in enumerate(x) if value != 0)

    def play(self, X, y, live):
        """Return the rows of each message, and the index of its own class."""
        for x, label, alive in zip(X, y.tolist(), live, strict=True):
            if alive:
                self.classes.add(label)
            yield self.rows(x), sorted(self.classes).index(label) if alive else 0
            if alive:
                self.learn(x, label)


def blocks(Phi, ends):
    return [Phi[start:stop].toarray().tolist() for start, stop in pairwise(ends)]


def public_state(model):
    names = ["classes_", "class_counts_", "document_counts_", "n_features_in_"]
    return [np.asarray(getattr(model, name)).tolist() for name in names]


def assert_canonical(Phi):
    assert Phi.format == "csr"
    assert Phi.dtype == np.float64
    assert Phi.data.all()
    fresh = sparse.csr_matrix(
        (Phi.data, Phi.indices, Phi.indptr), shape=Phi.shape
    )  # does not trust the flags of the matrix
    assert fresh.has_canonical_format


def numbers(n, below):
    return st.binary(min_size=n, max_size=n).map(lambda data: np.frombuffer(data, np.uint8).astype(np.int64) % below)


@st.composite
def streams(draw):
    """Draw messages of a few words, labels as numbers or strings of uneven length, and which messages are live."""
    n, width, k = draw(st.integers(1, 14)), draw(st.integers(1, 6)), draw(st.integers(1, 5))
    X = draw(numbers(n * width, 3)).reshape(n, width).astype(np.float64)
    labels = draw(st.sampled_from([np.array([3, -1, 0, 9, 5]), np.array(["b", "aaa", "c", "a", "dd"])]))
    return X, labels[draw(numbers(n, k))], draw(numbers(n, 3)) > 0


kinds = st.sampled_from(sorted(VALUES))
containers = st.sampled_from([np.asarray, sparse.csr_matrix, sparse.csr_array])


# The features.


def tfidf(X, topics, i, label):
    """[JMLR] sec. 7: counts times ln m / df, from the messages before the i-th."""
    elsewhere = sum((X[k] != 0) for k in range(i) if label not in topics[k]) if i else 0
    return X[i] * np.log(max(i, 1) / np.maximum(elsewhere, 1)) if i else 0 * X[i]


@given(streams(), containers, st.integers(1, 2))
def test_term_and_document_frequencies(stream, container, cut):
    """Messages have any number of labels; df counts each message once."""
    X, y, live = stream
    topics = [{label} | ({y[0].item()} if several else set()) for label, several in zip(y.tolist(), live, strict=True)]
    topics[0] = topics[0] if len(y) < 3 else set()
    model = ClassTermFeatures(kind="tfidf")
    pieces, codes, start = [], [], 0
    for stop in sorted({0, min(cut, len(y)), len(y)})[1:]:
        Phi, ends, own = model.learn_transform(container(X[start:stop]), topics[start:stop], classes=np.unique(y))
        assert_canonical(Phi)
        pieces += blocks(Phi, ends)
        codes += own.tolist()
        start = stop
    classes = np.unique(y).tolist()
    for i, piece in enumerate(pieces):
        np.testing.assert_allclose(piece, [tfidf(X, topics, i, label) for label in classes], atol=1e-12)
    assert codes == [classes.index(label) for labels in topics for label in sorted(labels)]
    counted = ClassTermFeatures(kind="tfidf").partial_fit(container(X), topics, classes=np.unique(y))
    assert public_state(counted) == public_state(model)
    assert (counted.transform(X) != model.transform(X)).nnz == 0


@given(streams(), kinds, containers, st.booleans(), st.booleans())
def test_equals_plain_loop(stream, kind, container, masked, ahead):
    X, y, live = stream
    given_classes = y[: len(y) // 2 + 1] if ahead else None
    loop = Loop(kind, () if given_classes is None else given_classes.tolist())
    mask = live if masked else np.ones(len(y), bool)
    expected = list(loop.play(X, y, mask))

    model = ClassTermFeatures(kind=kind)
    Phi, ends, codes = model.learn_transform(container(X), y, classes=given_classes, live=live if masked else None)
    assert_canonical(Phi)
    assert Phi.shape == (ends[-1], X.shape[1])
    assert ends.dtype == codes.dtype == np.intp
    assert ends[0] == 0
    assert ends.shape == (len(y) + 1,)
    assert blocks(Phi, ends) == [rows for rows, _ in expected]
    assert codes.tolist() == [code for _, code in expected]

    assert model.classes_.tolist() == sorted(loop.classes)
    assert model.class_counts_.tolist() == [loop.messages[label] for label in model.classes_.tolist()]
    after = model.transform(container(X))
    assert_canonical(after)
    assert after.toarray().tolist() == [row for x in X for row in loop.rows(x)]


@given(streams(), kinds, st.lists(st.integers(0, 14)))
def test_cut_makes_no_difference(stream, kind, cuts):
    X, y, live = stream
    whole, parts = ClassTermFeatures(kind=kind), ClassTermFeatures(kind=kind)
    Phi, ends, codes = whole.learn_transform(X, y, live=live)
    blocks_of_parts, codes_of_parts = [], []
    for start, stop in pairwise(sorted({0, len(y), *(cut for cut in cuts if cut < len(y))})):
        part = parts.learn_transform(X[start:stop], y[start:stop], live=live[start:stop])
        blocks_of_parts += blocks(*part[:2])
        codes_of_parts += part[2].tolist()
    assert blocks_of_parts == blocks(Phi, ends)
    assert codes_of_parts == codes.tolist()
    assert public_state(parts) == public_state(whole)


@given(streams(), st.integers(0, 14))
def test_partial_fit_counts_like_learn_transform(stream, cut):
    X, y, _ = stream
    cut %= len(y)
    learned, counted = ClassTermFeatures(), ClassTermFeatures()
    learned.learn_transform(X, y)
    for start, stop in pairwise(sorted({0, cut, len(y)})):
        assert counted.partial_fit(X[start:stop], y[start:stop]) is counted
    assert public_state(counted) == public_state(learned)


@every_kind
@pytest.mark.parametrize("n", [1, 4, 5, 6, 9, 10, 11, 49, 50, 51, 99, 100, 101, 149, 150, 151])
def test_thresholds_are_exact(kind, n):
    # Word j is in j of the n messages of the class.
    X = np.array([[i < count for count in range(n + 1)] for i in range(n)])
    model = ClassTermFeatures(kind=kind).partial_fit(X, ["class"] * n)
    frequent, rare = VALUES[kind]
    share = [Fraction(count, n) for count in range(n + 1)]
    expected = [frequent if s >= Fraction(1, 5) else rare if s < Fraction(1, 50) else 0.0 for s in share]
    assert model.transform(np.ones((1, n + 1))).toarray().tolist() == [expected]


def test_one_message_in_fifty_is_not_rare_and_one_in_five_is_frequent():
    X = np.zeros((51, 2))
    X[0, 0] = 1
    X[:10, 1] = 1
    message = np.ones((1, 2))
    model = ClassTermFeatures().partial_fit(X[:50], np.zeros(50, int))
    assert model.transform(message).toarray().tolist() == [[0.0, 2.0]]
    model.partial_fit(X[50:], [0])  # 1 of 51 and 10 of 51
    assert model.transform(message).toarray().tolist() == [[-1.0, 0.0]]


@every_kind
def test_class_without_messages_gives_zeros(kind):
    model = ClassTermFeatures(kind=kind).partial_fit([[1, 0]], ["b"], classes=["c", "a"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.class_counts_.tolist() == [0, 1, 0]
    frequent, rare = VALUES[kind]
    assert model.transform([[1, 1]]).toarray().tolist() == [[0, 0], [frequent, rare], [0, 0]]


def test_classes_given_ahead_have_rows_from_the_first_message():
    X, y = np.eye(3), ["b", "a", "b"]
    _, ends, codes = ClassTermFeatures().learn_transform(X, y, classes=["c", "b"])
    assert ends.tolist() == [0, 2, 5, 8]
    assert codes.tolist() == [0, 0, 1]


def test_class_in_the_middle_of_a_stream_has_rows_from_its_first_message():
    X, y = np.ones((4, 1)), ["m", "z", "a", "m"]
    Phi, ends, codes = ClassTermFeatures().learn_transform(X, y)
    assert ends.tolist() == [0, 1, 3, 6, 9]
    assert codes.tolist() == [0, 1, 0, 1]
    assert blocks(Phi, ends) == [[[0]], [[2], [0]], [[0], [2], [2]], [[2], [2], [2]]]


def test_message_that_is_not_live_makes_no_class_and_is_not_counted():
    X, y = np.ones((4, 1)), ["a", "b", "c", "b"]
    model = ClassTermFeatures()
    Phi, ends, codes = model.learn_transform(X, y, live=[False, True, False, False])
    assert blocks(Phi, ends) == [[], [[0]], [[2]], [[2]]]
    assert codes.tolist() == [0, 0, 0, 0]
    assert model.classes_.tolist() == ["b"]
    assert model.class_counts_.tolist() == [1]


def test_stream_may_begin_with_nothing_live():
    for ignored, label in (([7, 8], "a"), (["a", "b"], 7)):  # no label is known yet
        model = ClassTermFeatures()
        Phi, ends, codes = model.learn_transform(np.ones((2, 3)), ignored, live=[False, False])
        assert (Phi.shape, ends.tolist(), codes.tolist()) == ((0, 3), [0, 0, 0], [0, 0])
        assert model.transform(np.ones((2, 3))).shape == (0, 3)
        assert model.partial_fit(np.ones((1, 3)), [label]).classes_.tolist() == [label]


def test_transform_learns_nothing():
    model = ClassTermFeatures().partial_fit(np.eye(3), [0, 1, 0])
    before = joblib.hash(model)
    model._table.setflags(write=False)
    model.transform(np.ones((2, 3)))
    assert joblib.hash(model) == before


# Containers of X.


def messy(X):
    """Return CSR with reversed columns, every value stored as two halves, and a stored zero in every row."""
    rows = [[(j, v / 2) for j, v in enumerate(x) for _ in range(2 if v else 1)][::-1] for x in X]
    indptr = np.cumsum([0, *map(len, rows)])
    indices, data = zip(*(pair for row in rows for pair in row), strict=True)
    return sparse.csr_matrix((data, indices, indptr), shape=X.shape)


CONTAINERS = {
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "messy": messy,
    "integers": lambda X: X.astype(int),
    "flags": lambda X: X > 0,
    "sparse flags": lambda X: sparse.csr_matrix(X > 0),
    "float32, columns first": lambda X: np.asfortranarray(X, dtype=np.float32),
    "lists": lambda X: X.tolist(),
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_containers_agree(container):
    random = np.random.default_rng(0)
    X, y = random.integers(0, 3, (40, 12)).astype(float), random.integers(0, 4, 40)
    rows = container(X)
    before = joblib.hash(rows)
    plain, other = ClassTermFeatures(), ClassTermFeatures()
    for expected, got in zip(plain.learn_transform(X, y), other.learn_transform(rows, y), strict=True):
        if sparse.issparse(expected):
            assert_canonical(got)
            assert got.toarray().tolist() == expected.toarray().tolist()
        else:
            assert got.tolist() == expected.tolist()
    assert public_state(other.partial_fit(rows, y)) == public_state(plain.partial_fit(X, y))
    assert other.transform(rows).toarray().tolist() == plain.transform(X).toarray().tolist()
    assert joblib.hash(rows) == before


def test_only_presence_counts():
    X, y = np.random.default_rng(1).integers(0, 2, (20, 5)), np.arange(20) % 3
    scale = np.random.default_rng(2).uniform(0.1, 9, X.shape)
    results = [ClassTermFeatures().learn_transform(rows, y)[0].toarray().tolist() for rows in (X, X * scale, -X)]
    assert results[0] == results[1] == results[2]


def test_room_for_classes_grows_by_doubling():
    model = ClassTermFeatures()
    room = set()
    for label in range(64):
        model.partial_fit([[1, 0]], [-label])
        assert model._table.dtype == np.int32
        room.add(model._table.shape)
    assert room == {(2, 2**p) for p in range(7)}


@pytest.mark.parametrize("kind", [*VALUES, "tfidf"])
def test_widened_counts_are_those_of_wide_messages(kind):
    X = np.random.default_rng(0).integers(0, 3, (20, 6))
    X[:8, 3:] = 0
    y = np.arange(20) % 3
    narrow, wide = ClassTermFeatures(kind=kind), ClassTermFeatures(kind=kind)
    first = narrow.learn_transform(X[:8, :3], y[:8])[0]
    narrow.widen(6)
    rest = narrow.learn_transform(X[8:], y[8:])[0]
    expected = wide.learn_transform(X, y)[0].toarray()
    np.testing.assert_array_equal(first.toarray(), expected[: first.shape[0], :3])
    np.testing.assert_array_equal(rest.toarray(), expected[first.shape[0] :])
    np.testing.assert_array_equal(narrow.document_counts_, wide.document_counts_)
    with pytest.raises(ValueError, match="at least 6; got 5"):
        narrow.widen(5)
    with pytest.raises(NotFittedError):
        ClassTermFeatures().widen(5)


def test_clone_has_seen_nothing():
    model = clone(ClassTermFeatures(kind="multiplicative").partial_fit([[1]], [0]))
    assert model.get_params() == {"kind": "multiplicative"}
    assert not hasattr(model, "classes_")


# Errors change nothing.

X = np.eye(4)[[0, 1, 2, 3, 0, 1]]
Y = np.array([0, 1, 2, 0, 1, 2])
STAGES = {
    "new": ClassTermFeatures,
    "learned": lambda: ClassTermFeatures().partial_fit(X, Y),
}
METHODS = ["partial_fit", "learn_transform"]


@contextmanager
def refused(model, error, *words):
    before = joblib.hash(model)
    with pytest.raises(error) as caught:
        yield
    for word in words:
        assert word in str(caught.value)
    assert joblib.hash(model) == before


def with_one(value):
    bad = X.copy()
    bad[2, 1] = value
    return bad


def with_index(index):
    bad = sparse.csr_matrix(X)
    bad.indices[1] = index
    return bad


BAD = {
    "NaN": ({"X": with_one(np.nan)}, ValueError, "X contains NaN"),
    "infinity": ({"X": with_one(np.inf)}, ValueError, "X contains infinity"),
    "sparse NaN": ({"X": sparse.csr_matrix(with_one(np.nan))}, ValueError, "X contains NaN"),
    "words": ({"X": [["a"] * 4] * 6}, ValueError, "numeric"),
    "flat": ({"X": X[0]}, ValueError, "2D array"),
    "no rows": ({"X": X[:0], "y": Y[:0]}, ValueError, "0 sample(s)"),
    "index beyond the columns": ({"X": with_index(9)}, ValueError, "X is not a valid CSR matrix"),
    "negative index": ({"X": with_index(-1)}, ValueError, "X is not a valid CSR matrix"),
    "y too short": ({"y": Y[1:]}, ValueError, "[6, 5]"),
    "y missing": ({"y": None}, ValueError, "requires y"),
    "y of two columns": ({"y": np.column_stack([Y, Y])}, ValueError, "0 and 1 only"),
    "real numbers": ({"y": Y + 0.5}, ValueError, "continuous"),
    "classes of two dimensions": ({"classes": [[0, 1]]}, ValueError, "classes must be"),
    "no classes": ({"classes": []}, ValueError, "classes must be"),
    "classes of another type": ({"classes": ["a", "b"]}, ValueError, "all strings or all numbers"),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES.keys())
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_bad_input_is_refused(bad, stage, method):
    arguments, error, *words = bad
    model = stage()
    with refused(model, error, *words):
        getattr(model, method)(**{"X": X, "y": Y} | arguments)


@pytest.mark.parametrize("live", [np.ones(5, bool), np.ones((6, 1), bool), np.ones(6), [0, 1, 2, 3, 4, 5], True, "all"])
@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES.keys())
def test_live_must_be_a_mask(stage, live):
    model = stage()
    with refused(model, ValueError, "live must be", "(6,)"):
        model.learn_transform(X, Y, live=live)


@pytest.mark.parametrize("width", [3, 5])
def test_number_of_features_must_not_change(width):
    model = STAGES["learned"]()
    rows = np.ones((6, width))
    for call in (model.partial_fit, model.learn_transform, lambda rows, _: model.transform(rows)):
        with refused(model, ValueError, f"X has {width} features", "expecting 4 features"):
            call(rows, Y)


def test_strings_must_not_follow_numbers():
    model = STAGES["learned"]()
    for method in METHODS:
        with refused(model, ValueError, "all strings or all numbers", "'a'"):
            getattr(model, method)(X, ["a"] * 6)


def test_labels_must_not_become_equal():
    model = ClassTermFeatures().partial_fit(X, 2**60 + Y)
    with refused(model, ValueError, "not exact as floats"):
        model.partial_fit(X, Y.astype(float))


@pytest.mark.parametrize("kind", ["Additive", "", None, 1, ["additive"]])
def test_kind_is_checked_when_used(kind):
    for stage in STAGES.values():
        model = stage().set_params(kind=kind)
        for call in (model.partial_fit, model.learn_transform, lambda rows, _, model=model: model.transform(rows)):
            with refused(
                model, ValueError, "kind must be 'additive' or 'multiplicative' or 'tfidf'", "set_params(kind=...)"
            ):
                call(X, Y)


def test_transform_needs_messages():
    model = ClassTermFeatures()
    with refused(model, NotFittedError, "partial_fit"):
        model.transform(X)
    with pytest.raises(AttributeError, match="partial_fit"):
        _ = model.document_counts_


@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES.keys())
@pytest.mark.parametrize("part", ["_pack_blocks", "_thresholds"])
def test_failure_during_a_call_changes_nothing(monkeypatch, stage, part):
    work, calls = getattr(class_terms, part), []

    def interrupted(*arguments):
        calls.append(arguments)
        if part == "_pack_blocks" or len(calls) > 3:
            raise KeyboardInterrupt
        return work(*arguments)

    monkeypatch.setattr(class_terms, part, interrupted)
    for labels in (Y, Y + 1):  # without and with a class that is new
        model = stage()
        calls.clear()
        with refused(model, KeyboardInterrupt):
            model.learn_transform(X, labels)
