"""Learning examples in blocks equals learning them one by one, bit for bit."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from onmargin import stream
from onmargin._core.text.words import Text
from onmargin.features import RecordFeatures
from tests.reading import made
from tests.stream.cases import state

MODELS = {
    "classes": (stream.PassiveAggressiveClassifier, lambda rng, n: rng.choice(["a", "b", "c", "d"], n)),
    "numbers for classes": (
        lambda: stream.PassiveAggressiveClassifier(average=True, features=RecordFeatures(dtype="float32")),
        lambda rng, n: rng.integers(3, size=n),
    ),
    "two classes": (
        lambda: stream.PassiveAggressiveClassifier(loss="squared_hinge"),
        lambda rng, n: rng.integers(2, size=n),
    ),
    "numbers": (stream.PassiveAggressiveRegressor, lambda rng, n: rng.normal(size=n)),
    "ranks": (lambda: stream.OrdinalRegressor(ranks=[0, 1, 2]), lambda rng, n: rng.integers(3, size=n)),
    "sets": (
        stream.LabelRanker,
        lambda rng, n: [set(np.flatnonzero(rng.random(3) < 0.5).tolist()) for _ in range(n)],
    ),
    "none": (lambda: stream.PassiveAggressiveUniclass(epsilon=0.5), lambda rng, n: [None] * n),
}


def rows(rng, n, n_features):
    return sparse.random(n, n_features, density=0.4, format="csr", rng=rng)


@pytest.mark.parametrize("kind", MODELS)
@given(seed=st.integers(0, 10**6), weighted=st.booleans(), is_sparse=st.booleans())
def test_blocks_are_rows_one_by_one(kind, seed, weighted, is_sparse):
    make, targets = MODELS[kind]
    rng = np.random.default_rng(seed)
    X, y = rows(rng, 12, 5), targets(rng, 12)
    X = X if is_sparse else X.toarray()
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], 12).tolist() if weighted else None
    block, single = make(), make()
    block.learn_many(X[:7], y[:7], None if weights is None else weights[:7])
    block.learn_many(X[7:], y[7:], None if weights is None else weights[7:])
    for i in range(12):
        single.learn_one(X[i : i + 1], y[i], 1.0 if weights is None else weights[i])
    assert block.totals_ == single.totals_
    assert block.predict_many(X) == single.predict_many(X)
    if hasattr(block, "_learner") and kind != "none":
        np.testing.assert_array_equal(block._learner.geometry.mean()[0], single._learner.geometry.mean()[0])


@pytest.mark.parametrize("kind", MODELS)
def test_sparse_rows_may_become_wider(kind):
    make, targets = MODELS[kind]
    rng = np.random.default_rng(0)
    X, y = rows(rng, 20, 8).tolil(), targets(rng, 20)
    X[:10, 5:] = 0
    X = X.tocsr()
    grown, whole = make(), make()
    grown.learn_many(X[:10, :5], y[:10]).learn_many(X[10:], y[10:]).learn_many(X[:3, :5], y[:3])
    whole.learn_many(X, y).learn_many(X[:3], y[:3])
    assert grown.n_features_ == 8
    assert grown.totals_ == whole.totals_
    label = {"classes": y[0], "numbers for classes": 0, "sets": 0}.get(kind)
    assert grown.weights(label) == whole.weights(label)


def test_a_refused_row_keeps_earlier_ones():
    X = sparse.csr_matrix(np.eye(4))
    model = stream.PassiveAggressiveClassifier()
    with pytest.raises(TypeError, match="example 2: a label must be"):
        model.learn_many(X, ["a", "b", 1.5, "a"])
    assert model.totals_.rounds == 2
    regressor = stream.PassiveAggressiveRegressor(features=RecordFeatures(dtype="float32"))
    with pytest.raises(ValueError, match="example 1: y must fit"):
        regressor.learn_many(X, [1.0, 1e300, 1.0, 1.0])
    assert regressor.totals_.rounds == 1
    with pytest.raises(ValueError, match="example 3: weight must be at least 0"):
        regressor.learn_many(X, [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, -1.0])
    assert regressor.totals_.rounds == 4
    with pytest.raises(ValueError, match="example 0: x must have 4 features"):
        stream.PassiveAggressiveRegressor().learn_many(np.eye(4), np.ones(4)).learn_many(np.eye(3), np.ones(3))


BAD = {"weight": ("fig tree", "a", -1.0), "label": ("fig tree", 1.5, 1.0), "example": ({"fig": np.inf}, "a", 1.0)}
EXAMPLES = st.one_of(
    st.text(alphabet="abAB1_ ä", max_size=90),
    st.dictionaries(st.sampled_from("abc"), st.floats(-2, 2)),
    st.lists(st.sampled_from(["fig", "date"])),
)


@pytest.mark.parametrize("parameters", [{}, {"n_features": 16}, {"idf": True, "n_features": 16}])
@given(
    good=st.lists(st.tuples(EXAMPLES, st.sampled_from("abc"), st.sampled_from([0.0, 1.0, 2.0]))),
    bad=st.sampled_from(sorted(BAD)),
    after=st.booleans(),
)
def test_lists_are_examples_one_by_one(parameters, good, bad, after):
    """Examples before a refused one are learned, and the refused one changes nothing."""
    examples = [*good, BAD[bad], *(good if after else [])]
    block, single = (made(stream.PassiveAggressiveClassifier, **parameters) for _ in range(2))
    with pytest.raises((TypeError, ValueError), match=f"example {len(good)}: "):
        block.learn_many(*map(list, zip(*examples, strict=True)))
    for x, y, weight in good:
        single.learn_one(x, y, weight)
    assert state(block) == state(single)


@given(
    words=st.lists(st.text(alphabet="abcXYZ019_", min_size=1, max_size=70), max_size=40), gap=st.text(" .-", min_size=1)
)
def test_words_of_ascii_are_words_of_any_text(words, gap):
    """Word boundaries found for eight characters at once equal those found one at a time."""
    text = gap.join(words)
    long_enough = [word.lower() for word in words if len(word) > 1]
    assert Text().words(text) == long_enough
    assert Text().words(f"{text}{gap}é") == long_enough
    assert Text(longest=2).words(text) == long_enough


@given(st.text(alphabet="abXY09_ .,!?'\n\t\x00\x1c\x7f~é😀\u0627\u0300\u00a0", max_size=200), st.booleans())
def test_symbols_are_words(text, joined):
    """Symbols, emoji and single letters, which tell apart tweets and chats, were dropped."""
    split = Text(symbols=True, longest=1 + joined)
    blank = str.maketrans(dict.fromkeys("\x00\x1c\x7f", " "))
    expected = re.findall(r"\w+|[^\w\s]", text.lower().translate(blank))
    assert split.words(text) == expected
    assert split.words(f"{text} é") == [*expected, "é"]


def test_texts_of_very_many_words():
    weights = (
        stream.PassiveAggressiveRegressor(features=RecordFeatures(normalize=False, weighting="tf"))
        .learn_one("fig date fig " * 30_000, 1.0)
        .weights()
    )
    assert weights["fig"] == 2 * weights["date"] > 0
