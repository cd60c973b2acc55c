"""Rows read by name equal those from a dict used as index."""

import copy
import itertools
import pickle
from collections import Counter, UserDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin._core.text.names import Hashed, Names
from onmargin._core.text.reader import Reader

# Few letters make many repetitions; all of Unicode makes strings of every width.
texts = st.text("ab:\\1é", max_size=3) | st.text(max_size=4)
numbers = st.floats(-4, 4) | st.integers(-3, 3) | st.booleans() | st.text("xy", min_size=1, max_size=1)
rows = st.dictionaries(texts, numbers, max_size=6) | st.lists(texts, max_size=6)


def twin(row, index, *, grow):
    """Return the row as {index: value}, by a plain dict."""
    found = Counter()
    for name, value in row.items() if isinstance(row, dict) else ((name, 1) for name in row):
        key, number = (f"{name}={value}", 1.0) if isinstance(value, str) else (name, float(value))
        if number != 0 and grow:
            index.setdefault(key, len(index))
        if number != 0 and key in index:
            found[index[key]] += number
    return dict(sorted(found.items()))


def read(given_rows, names, *, grow=True, dtype=np.float64, separator=None):
    reader = Reader(names, grow=grow, dtype=dtype, separator=separator)
    for row in given_rows:
        reader.read(row)
    values, indices, ends = reader.arrays()
    assert values.dtype == dtype
    return [dict(zip(indices[a:b].tolist(), values[a:b].tolist(), strict=True)) for a, b in itertools.pairwise(ends)]


@given(st.lists(rows, max_size=8), st.lists(rows, max_size=8))
def test_rows_are_those_of_a_dict(learned, asked):
    names, index = Names(), {}
    assert read(learned, names) == [twin(row, index, grow=True) for row in learned]
    assert names.names == list(index)
    assert read(asked, names, grow=False) == [twin(row, index, grow=False) for row in asked]
    assert names.names == list(index)
    assert all(names.get(name) == place for name, place in index.items())


def test_indices_are_sorted_and_repeated_names_are_summed():
    names = Names(["a", "b", "c"])
    assert read([["c", "a", "c", "b"]], names) == [{0: 1.0, 1: 1.0, 2: 2.0}]
    long = [f"n{i}" for i in reversed(range(200))]
    reader = Reader(Names(sorted(long)), grow=False, dtype=np.float32)
    reader.read(long)
    assert reader.arrays()[1].tolist() == list(range(200))


def test_thousands_of_names_keep_their_indices():
    names = Names()
    words = [f"word{i % 7000}" for i in range(20000)]
    assert read([words[:7000]], names)[0].keys() == set(range(7000))
    assert [names.get(word) for word in words] == [i % 7000 for i in range(20000)]
    assert names.get("word7000") == -1
    for duplicate in (copy.deepcopy(names), pickle.loads(pickle.dumps(names))):
        assert duplicate.names == names.names
        assert duplicate.get("word6999") == 6999


def test_names_can_be_forgotten():
    names = Names(["a", "b", "c"])
    names.forget(1)
    assert names.names == ["a"]
    assert [names.get(name) for name in "abc"] == [0, -1, -1]
    assert read([["c", "b"]], names) == [{1: 1.0, 2: 1.0}]
    names.forget(5)
    assert len(names) == 3


def test_names_must_differ():
    with pytest.raises(ValueError, match="names must be unique"):
        Names(["a", "b", "a"])


@pytest.mark.parametrize(
    ("name", "feature", "value"),
    [
        ("length:3", "length", 3.0),
        ("a:b:-1.5e0", "a:b", -1.5),
        ("time=10\\:30", "time=10:30", 1.0),
        ("t=10\\:30:2", "t=10:30", 2.0),
        ("word=:", "word=:", 1.0),
        ("w:inf", "w:inf", 1.0),
        ("w:1x", "w:1x", 1.0),
        (":3", ":3", 1.0),
    ],
)
def test_a_name_may_include_its_value(name, feature, value):
    names = Names()
    assert read([[name]], names, separator=":") == [{0: value}]
    assert names.names == [feature]
    names = Names()
    assert read([[name]], names) == [{0: 1.0}]
    assert names.names == [name]


def test_mappings_other_than_dicts():
    assert read([UserDict(a=2)], Names()) == [{0: 2.0}]


@pytest.mark.parametrize(
    "value", [3, -7, 2**53 + 1, -(2**63), 2**63, 2**100 + 1, True, np.int64(5), np.True_, np.int8(3)]
)
def test_values_of_every_type_count_as_their_float(value):
    assert read([{"a": value}], Names()) == [{0: float(value)}]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("word", "expected a dict of features or a list of their names, got 'word'; pass a word as .'word'."),
        (b"word", "expected a dict"),
        (3, "expected a dict"),
        (None, "expected a dict"),
        ([3], "names of features must be strings, got 3"),
        ([None], "names of features must be strings"),
        ({3: 1.0}, "names of features must be strings, got 3"),
        ({"a": object}, "value of feature 'a' must be a number or a string, got <class 'object'>"),
        ({"a": [1]}, "value of feature 'a' must be a number"),
        ({"a": float("-inf")}, "value of feature 'a' must be a finite number, got -inf"),
        ({"a": float("inf")}, "value of feature 'a' must be a finite number"),
        ({"a": 10**400}, "value of feature 'a' must be a number"),
    ],
)
def test_values_that_are_not_rows_are_refused(row, message, dtype):
    reader = Reader(Names(), grow=True, dtype=dtype)
    with pytest.raises((TypeError, ValueError), match=message):
        reader.read(row)


def test_values_too_large_for_the_weights_are_refused():
    with pytest.raises(ValueError, match="finite"):
        Reader(Names(), grow=True, dtype=np.float32).read({"a": 1e39})


def pairs_by_highest_bit():
    """Return blocks of 16 bytes whose two words cancel each other's difference in a multiplicative hash."""
    first = bytes(16)
    second = bytearray(16)
    second[7] = second[15] = 0x80
    second[11] = 0x80
    return first, bytes(second)


def pairs_by_complement():
    """Return blocks of 16 bytes whose words are complements of each other: equal products modulo 2^64 - 1."""
    return b"onmarginfeatures", bytes(0xFF - c for c in b"onmarginfeatures")


def pairs_by_order():
    """Return blocks of 16 bytes with their words exchanged."""
    return b"onmarginfeatures", b"featuresonmargin"


@pytest.mark.parametrize("pairs", [pairs_by_highest_bit, pairs_by_complement, pairs_by_order])
@pytest.mark.parametrize("before", [0, 256], ids=["short", "long"])
def test_names_made_of_colliding_pairs_are_found_as_fast_as_others(pairs, before):
    # 2^12 names from 12 pairs, which share one slot if the pairs collide whatever the secrets are.
    made = [bytes(before) + b"".join(blocks) for blocks in itertools.product(pairs(), repeat=12)]
    n_probes = Names([name.decode("latin-1") for name in made]).probes()
    # Linear probing in a table at most half full takes 1.5 slots per name on average.
    assert n_probes < 2 * len(made)


def test_the_indices_of_hashed_names_never_change():
    # Model files of hashed features depend on them.
    names = ["", "a", "word", "eight888", "nine bytes", "sixteen bytes...", "Wörter", "日本語", "x" * 1000]
    assert [Hashed(18).get(name) for name in names] == [0, 150569, 6130, 219447, 165558, 189997, 2801, 178492, 162597]


@given(
    st.lists(
        st.one_of(
            st.lists(st.sampled_from("abcdef"), max_size=5),
            st.lists(st.sampled_from("abcdef"), max_size=5).map(tuple),
            st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0.0, 1.0, 2.5]), max_size=4),
            st.lists(st.sampled_from([np.str_("a"), "b"]), max_size=3),
        ),
        max_size=12,
    ),
    st.booleans(),
    st.sampled_from([1, 60]),
)
def test_examples_read_together_are_those_read_one_by_one(examples, grow, repeats):
    one_by_one, together = (Reader(Names(["d", "a"]), grow=grow, dtype=np.float64) for _ in range(2))
    for x in examples * repeats:
        one_by_one.read(x)
    together.read_all(iter(examples * repeats))
    assert len(together) == len(one_by_one) == len(examples * repeats)
    assert together.names.names == one_by_one.names.names
    for array, expected in zip(together.arrays(), one_by_one.arrays(), strict=True):
        np.testing.assert_array_equal(array, expected)


def test_an_example_that_cannot_be_read_leaves_those_before_it():
    reader = Reader(Names(), grow=True, dtype=np.float64)
    with pytest.raises(TypeError, match="must be strings"):
        reader.read_all([["a", "b"], ["c"], ["d", 3], ["e"]])
    assert len(reader) == 2
    reader.read_all([["b"]])
    np.testing.assert_array_equal(reader.arrays()[2], [0, 2, 3, 4])
