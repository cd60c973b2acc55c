"""SequenceTagger: labels that are met one by one."""

import copy
from itertools import pairwise

import numpy as np
import pytest

import onmargin
from onmargin import SequenceTagger

OPTIONS = [{}, {"average": True}, {"C": [0.1, 1.0]}, {"update": "max_loss", "cost": "squared_hamming"}]


def corpus(n_labels):
    """Return sequences, each with one new label, in random order."""
    rng = np.random.default_rng(0)
    labels = [f"L{k:03}" for k in rng.permutation(n_labels)]
    y = [[*rng.choice(labels[max(0, k - 9) : k + 1], 4).tolist(), labels[k]] for k in range(n_labels)]
    return [[[f"w={label}", f"z={rng.integers(40)}"] for label in row] for row in y], y


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_weights_are_copied_a_few_times_for_many_labels(options):
    X, y = corpus(200)
    tagger, tables = SequenceTagger(**options), []
    for sequence, labels in zip(X, y, strict=True):
        tagger.learn_one(sequence, labels)
        tables.append(tagger._learner.geometry.leaves()[0].weights)
    copies = sum(not np.shares_memory(a, b) for a, b in pairwise(tables))
    assert copies <= 22  # 200 < 1.5^14 labels and 240 < 2^8 features
    assert len(tagger.classes_) == 200


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_labels_added_one_by_one_equal_one_call(options, tmp_path):
    X, y = corpus(30)
    alone, together = SequenceTagger(**options), SequenceTagger(**options).partial_fit(X, y)
    for sequence, labels in zip(X, y, strict=True):
        alone.learn_one(sequence, labels)
    assert alone._learner.geometry.leaves()[0].order is not None
    onmargin.save(alone, tmp_path / "model")
    taggers = [alone, copy.deepcopy(alone), onmargin.load(tmp_path / "model")]
    for _ in range(2):
        for tagger in taggers:
            for name in ("classes_", "coef_", "intercept_", "transitions_"):
                np.testing.assert_array_equal(getattr(tagger, name), getattr(together, name))
            assert tagger.predict(X) == together.predict(X)
        for tagger in (*taggers, together):
            tagger.partial_fit(X, y)


def test_a_refused_label_leaves_no_weights():
    X, y = corpus(12)
    tagger, twin = SequenceTagger(), SequenceTagger()
    for sequence, labels in zip(X, y, strict=True):
        with pytest.raises(ValueError, match="tokens and"):
            tagger.learn_one(sequence, [*labels, "another"])
        tagger.learn_one(sequence, labels)
        twin.learn_one(sequence, labels)
    np.testing.assert_array_equal(tagger.coef_, twin.coef_)


@pytest.mark.parametrize("options", [{}, {"C": [0.1, 1.0]}, {"update": "max_loss"}], ids=str)
def test_signals_are_checked_more_often_with_more_labels(options, monkeypatch):
    """The search for the best labels takes time that grows with the square of their number."""
    checks = []
    for n_labels in (20, 200):
        rng = np.random.default_rng(0)
        y = rng.integers(n_labels, size=(60, 20))
        tagger = SequenceTagger(**options).partial_fit([[["a"]]], [[0]], classes=np.arange(n_labels))
        rows = tagger.read([[["a"] for _ in row] for row in y])
        checks.append(len(tagger._learner.stretches(rows.rows, 0, 10**6, rows.ends)))
    assert checks[1] > 40 * checks[0]
