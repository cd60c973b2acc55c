"""SequenceTagger: every kind of input, and errors."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from onmargin import SequenceTagger
from tests.sentences import corpus, state

GOOD = [[["a"], ["b"]]], [["X", "Y"]]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[["a"]], [["a"], ["b"]]], [["X"], ["X"]], "sequence 1 has 2 tokens and 1 labels"),
        ([[["a"]]], [["X"], ["Y"]], "X has 1 sequences, and y has labels for 2"),
        ([["word", "other"]], [["X", "Y"]], "sequence 0 of X, token 0: expected a dict .* got 'word'"),
        ([[["a"]], [["a"], [3]]], [["X"], ["X", "Y"]], "sequence 1 of X, token 1: names of features must be strings"),
        ([[{"a": float("inf")}]], [["X"]], "sequence 0 of X, token 0: .* finite"),
        ([[["a"]]], ["X"], "sequence 0 of y must be a list of labels, got 'X'"),
        ([[["a"]]], "X", "y must be a list of label lists"),
        ("text", [["X"]], "X must be a list of sequences, got 'text'"),
        (["text"], [["X"]], "sequence 0 of X must be a list of tokens, got 'text'"),
        ([[["a"], ["b"]]], [["X", 3]], "labels must be all strings or all integers.* got 3"),
        ([[["a"]]], [[None]], "labels must be all strings or all integers.* got None"),
        ([[["a"]]], [[2.5]], "labels must be all strings or all integers.* got 2.5"),
        ([[["a"]]], [[["X"]]], r"labels must be all strings or all integers.* got \['X'\]"),
        ([np.eye(2)], [["X", "Y"]], "sequence 0 of X is a matrix: stack them with numpy.vstack"),
        ([[["a"]]], [[3]], "labels must be all strings or all integers.* got 3"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_lost(X, y, message):
    tagger = SequenceTagger().partial_fit(*GOOD)
    before = state(tagger)
    for call in (tagger.partial_fit, tagger.set_params(warm_start=True).fit):
        with pytest.raises((TypeError, ValueError), match=message):
            call(X, y)
        assert state(tagger) == before
    assert state(tagger.partial_fit(*GOOD)) == state(SequenceTagger().partial_fit(*GOOD).partial_fit(*GOOD))


@pytest.mark.parametrize(
    ("sequence", "labels", "message"),
    [
        ([["a"], ["b"]], ["X"], "sequence 0 has 2 tokens and 1 labels"),
        ([{"a": float("inf")}], ["X"], "sequence 0 of X, token 0: .* finite"),
        ("text", ["X"], "sequence 0 of X must be a list of tokens"),
        ([["a"]], [3], "labels must be all strings or all integers"),
        ([["a"]], "X", "sequence 0 of y must be a list of labels"),
    ],
)
def test_sequences_are_checked_without_learning_them(sequence, labels, message):
    tagger = SequenceTagger().partial_fit(*GOOD)
    before = state(tagger)
    errors = []
    for call in (tagger.check_one, tagger.learn_one):
        with pytest.raises((TypeError, ValueError), match=message) as caught:
            call(sequence, labels)
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]
    assert tagger.check_one([["new", "a"]], ["Z"]) is tagger
    assert state(tagger) == before


def test_sequences_are_checked_before_anything_was_learned():
    tagger = SequenceTagger()
    assert vars(tagger.check_one([["a"]], ["X"])) == vars(SequenceTagger())
    with pytest.raises(ValueError, match="2 tokens and 1 labels"):
        tagger.check_one([["a"], ["b"]], ["X"])
    with pytest.raises(ValueError, match="C must be"):
        SequenceTagger(C=0).check_one([["a"]], ["X"])
    matrix = SequenceTagger().partial_fit(np.eye(2), ["X", "Y"], lengths=[2])
    with pytest.raises(TypeError, match="a matrix of tokens"):
        matrix.check_one([["a"]], ["X"])


def test_iterables_of_every_kind():
    X, y = corpus(20)
    plain = SequenceTagger().partial_fit(X, y)
    objects, labels = np.empty(20, dtype=object), np.empty(20, dtype=object)
    objects[:], labels[:] = X, y
    for given, named in (
        (objects, labels),
        (pd.Series(X, index=range(5, 25)), pd.Series(y)),
        ((iter(row) for row in X), (iter(row) for row in y)),
        ([[np.array(token) for token in row] for row in X], [np.array(row) for row in y]),
        ([tuple(map(tuple, row)) for row in X], [pd.Series(row) for row in y]),
    ):
        assert state(SequenceTagger().partial_fit(given, named)) == state(plain)
    tagger = SequenceTagger(random_state=0)
    assert state(tagger.fit(iter(X), iter(y))) == state(clone(tagger).fit(X, y))
    assert plain.predict(objects) == plain.predict(iter(X)) == plain.predict(X)


def test_sequences_of_one_length_as_one_array():
    X = np.array([[{"a": 1}, {"b": 2}], [{"c": 1}, {"a": 3}]], dtype=object)
    y = np.array([["X", "Y"], ["Y", "X"]])
    lists = SequenceTagger().partial_fit(X.tolist(), y.tolist())
    assert state(SequenceTagger().partial_fit(X, y)) == state(lists)
    names = np.array([[["a"], ["b"]], [["c"], ["d"]]])
    assert state(SequenceTagger().partial_fit(names, y)) == state(SequenceTagger().partial_fit(names.tolist(), y))


def test_labels_of_a_matrix_are_given_by_sequence_or_by_token():
    X, y, lengths = np.eye(4), ["X", "Y", "X", "Y"], [3, 0, 1]
    plain = SequenceTagger().partial_fit(X, y, lengths=lengths)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for rows, labels in (
        (frame, pd.Series(y)),
        (X, np.array(y)),
        (X, [y[:3], [], y[3:]]),
        (X, [pd.Series(y[:3]), (), iter(y[3:])]),
    ):
        tagger = SequenceTagger().partial_fit(rows, labels, lengths=pd.Series(lengths))
        assert tagger.totals_ == plain.totals_
        assert tagger.predict(rows, lengths=lengths) == plain.predict(X, lengths=lengths)


def test_long_sequences_are_refused_where_they_would_fill_the_memory():
    X, y = [[["a"]], [["a"]] * 40_000], [["X"], ["Y"] * 40_000]
    tagger = SequenceTagger(update="max_loss")
    for call in (tagger.fit, tagger.partial_fit):
        with pytest.raises(ValueError, match=r"sequence 1 has 40000 tokens: .* 24 GB .* cost='squared_hamming'"):
            call(X, y)
    assert not hasattr(tagger, "classes_")


def test_input_of_another_kind_is_refused():
    tagger = SequenceTagger().partial_fit(*GOOD)
    with pytest.raises(TypeError, match="has learned from features by name"):
        tagger.predict(np.eye(2), lengths=[2])
    with pytest.raises(ValueError, match="lengths= belongs to a matrix"):
        tagger.predict(GOOD[0], lengths=[2])
    with pytest.raises(ValueError, match="transition_features must be 'all' or None for a matrix"):
        SequenceTagger(transition_features=("a",)).partial_fit(np.eye(2), [["X", "Y"]], lengths=[2])
    matrix = SequenceTagger().partial_fit(np.eye(2), [["X", "Y"]], lengths=[2])
    assert not hasattr(matrix, "transition_coef_")
    with pytest.raises(TypeError, match="has learned from a matrix of tokens"):
        matrix.predict(GOOD[0])
    with pytest.raises(ValueError, match="X has 3 features, and this tagger has 2"):
        matrix.predict(np.eye(3), lengths=[3])
    assert matrix.partial_fit(np.eye(3), [["X", "Y", "Y"]], lengths=[3]).coef_.shape == (2, 3)
    with pytest.raises(ValueError, match="X has 2 features, and this tagger has 3"):
        matrix.partial_fit(np.eye(2), [["X", "Y"]], lengths=[2])


@pytest.mark.parametrize("lengths", [None, [1], [3], [-1, 3], [1.0, 1.0], [[2]]])
def test_lengths_must_fit_the_matrix(lengths):
    with pytest.raises(ValueError, match="lengths"):
        SequenceTagger().fit(np.eye(2), [["X", "Y"]], lengths=lengths)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"update": "best"},
            "update must be 'prediction' or 'max_loss' or 'conproj' or 'simproj' or 'simopt' or 'exact' or",
        ),
        ({"n_rivals": 0}, "n_rivals must be"),
        ({"n_rivals": 3}, "n_rivals other than 5 needs update="),
        ({"update": "exact", "C": np.inf}, "update='exact' needs a finite C"),
        ({"update": "simproj", "C": [1, 2]}, "update='simproj' needs one value of C"),
        ({"cost": "edit"}, "cost must be"),
        ({"C": 0}, "C must be"),
        ({"separator": "::"}, "separator must be"),
        ({"transition_features": "w="}, "transition_features must be 'all', or a tuple of strings, or None"),
        ({"transition_features": (3,)}, "transition_features must be"),
        ({"label_cost": {"X": 0}}, "label_cost must be"),
        ({"label_cost": [[0, 1]]}, "label_cost must be"),
        ({"label_cost": [[0, -1], [1, 0]]}, "label_cost must be"),
        ({"update": "max_loss", "label_cost": {"X": 2}}, "needs cost='squared_hamming'"),
        ({"update": "perceptron", "loss": "squared_hinge"}, "needs loss='hinge'"),
    ],
)
def test_bad_parameters_are_refused(options, message):
    for call in ("fit", "partial_fit"):
        tagger = SequenceTagger(**options)
        with pytest.raises(ValueError, match=message):
            getattr(tagger, call)(*GOOD)
        assert not hasattr(tagger, "classes_")


def test_other_refusals():
    tagger = SequenceTagger().partial_fit(*GOOD)
    with pytest.raises(ValueError, match="n_best must be"):
        tagger.decode(GOOD[0], n_best=0)
    with pytest.raises(ValueError, match="label must be one of"):
        tagger.weights("Z")
    with pytest.raises(ValueError, match="top must be"):
        tagger.weights("X", top=-1)
    with pytest.raises(ValueError, match="sample_weight"):
        tagger.partial_fit(*GOOD, sample_weight=[-1])
    with pytest.raises(ValueError, match="X has no tokens"):
        tagger.score([[]], [[]])
    with pytest.raises(ValueError, match="got no labels"):
        SequenceTagger().fit([[]], [[]])


def test_a_colon_is_part_of_a_name():
    """A time of day used to become the feature "w=12" of value 30."""
    tagger = SequenceTagger().partial_fit([[["w=12:30"], ["w=noon"]]], [["TIME", "O"]])
    assert tagger.feature_names_ == ["w=12:30", "w=noon"]
    parted = SequenceTagger(separator=":").partial_fit([[["length:3"]]], [["O"]])
    assert parted.feature_names_ == ["length"]


def test_values_may_be_lists_sets_and_dicts():
    """The formats are those of python-crfsuite."""
    token = {"w": "the", "prefix": ["t", "th"], "in": {"list"}, "shape": {"length": 3, "kind": "lower", "has": ("x",)}}
    names = ["w=the", "prefix:t", "prefix:th", "in:list", "shape:length", "shape:kind=lower", "shape:has:x"]
    tagger = SequenceTagger().partial_fit([[token, {"w": "dog"}]], [["DET", "NOUN"]])
    assert tagger.feature_names_ == [*names, "w=dog"]
    flat = {"w": "the", "prefix:t": 1, "prefix:th": 1, "in:list": 1, "shape:length": 3, "shape:kind": "lower"}
    same = SequenceTagger().partial_fit([[flat | {"shape:has:x": 1}, {"w": "dog"}]], [["DET", "NOUN"]])
    np.testing.assert_array_equal(tagger.coef_, same.coef_)
    with pytest.raises(
        TypeError, match="the value of feature 'a' must be a number or a string, or a dict, list or set"
    ):
        tagger.predict([[{"a": [1]}]])


def test_a_label_is_explained():
    sentences = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=a"], ["w=cat"], ["w=sleeps"]]] * 5
    tagger = SequenceTagger(random_state=0).fit(sentences, [["DET", "NOUN", "VERB"]] * 10)
    sentence = sentences[0]
    for label in (None, "VERB"):
        found = tagger.explain(sentence, 1, label)
        code = tagger.classes_.tolist().index(label or "NOUN")
        j = tagger.feature_names_.index("w=dog")
        assert found.get("w=dog", 0.0) == tagger.coef_[code, j]
        assert found.get("(from DET)", 0.0) == tagger.transitions_[0, code]
        assert found.get("(to VERB)", 0.0) == tagger.transitions_[code, 2]
        sizes = [abs(value) for value in found.values()]
        assert sizes == sorted(sizes, reverse=True)
    assert tagger.explain(sentence, -1).keys() == tagger.explain(sentence, 2).keys()
    assert len(tagger.explain(sentence, 0, top=1)) == 1
    (step, weight), *_ = tagger.strongest_transitions().items()
    assert weight == max(tagger.transitions_.ravel(), key=abs)
    assert step in {(a, b) for a in ("DET", "NOUN", "VERB") for b in ("DET", "NOUN", "VERB")}
    with pytest.raises(ValueError, match="token must be a place in a sequence of 3 tokens; got 3"):
        tagger.explain(sentence, 3)
    with pytest.raises(ValueError, match="label must be one of"):
        tagger.explain(sentence, 0, "ADJ")


def test_sequences_are_looked_up_once():
    X, y = corpus(3)
    tagger, same = SequenceTagger(average=True).partial_fit(X, y), SequenceTagger(average=True).partial_fit(X, y)
    tokens = tagger.read(X)
    assert len(tokens) == len(X)
    for _ in range(2):
        tagger.partial_fit(tokens, y)
        same.partial_fit(X, y)
    tagger.partial_fit([[["new"]]], [[y[0][0]]])
    same.partial_fit([[["new"]]], [[y[0][0]]])
    assert state(tagger.partial_fit(tokens, y)) == state(same.partial_fit(X, y))
    assert tagger.predict(tokens) == same.predict(X)
    with pytest.raises(ValueError, match="read by another tagger"):
        same.predict(tokens)
