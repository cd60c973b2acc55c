"""Label probabilities of sequences equal sums over all labelings, enumerated one by one."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import onmargin
from onmargin import SequenceTagger
from onmargin._core.tasks.sequence import marginals


def by_count(emissions, transitions, scale):
    """Return the probability of every labeling, by brute force; transitions are those to each token."""
    tokens, labels = emissions.shape
    paths = list(product(range(labels), repeat=tokens))
    scores = [
        sum(emissions[i, a] for i, a in enumerate(path))
        + sum(transitions[i, path[i - 1], path[i]] for i in range(1, tokens))
        for path in paths
    ]
    weights = np.exp(scale * (np.array(scores) - max(scores)))
    return paths, weights / weights.sum(), np.log(weights.sum()) + scale * max(scores)


@pytest.mark.parametrize("own", [False, True], ids=["shared transitions", "own transitions"])
@pytest.mark.parametrize("scale", [0.3, 1.0, 50.0])
def test_forward_backward(scale, own):
    rng = np.random.default_rng(0)
    ends = np.array([0, 4, 4, 5, 8])
    emissions = rng.standard_normal((8, 3))
    transitions = rng.standard_normal((8, 3, 3) if own else (3, 3))
    shares, totals = marginals(emissions, transitions, ends, scale)
    for k, (start, stop) in enumerate(pairwise(ends)):
        part = slice(start, stop)
        steps = np.broadcast_to(transitions, (8, 3, 3))[part]
        paths, p, total = by_count(emissions[part], steps, scale)
        expected = [[p[[path[i] == a for path in paths]].sum() for a in range(3)] for i in range(stop - start)]
        assert_allclose(shares[part], np.reshape(expected, (-1, 3)), rtol=1e-9, atol=1e-12)
        assert_allclose(totals[k], total, rtol=1e-9, atol=1e-9)


def sentences(n, seed=0):
    """Return sentences whose labels follow from the words, except for some ambiguous words."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words = rng.integers(0, 6, size=rng.integers(1, 7))
        y.append([("A", "B", "C")[w % 3 if w < 5 or rng.random() < 0.6 else 0] for w in words])
        X.append([[f"w{w}"] for w in words])
    return X, y


@pytest.fixture(scope="module")
def tagger():
    return SequenceTagger(random_state=0).partial_fit(*sentences(150))


def test_probabilities_of_labels_and_spans(tagger):
    X, _y = sentences(30, seed=1)
    shares = tagger.predict_marginals(X)
    for tokens, p in zip(X, shares, strict=True):
        assert p.shape == (len(tokens), 3)
        assert_allclose(p.sum(axis=1), 1)
    sentence = max(X, key=len)
    p = tagger.predict_marginals([sentence])[0]
    alone = [None] * len(sentence)
    for i, label in enumerate(tagger.predict_one(sentence)):
        asked = [*alone[:i], label, *alone[i + 1 :]]
        assert tagger.labels_proba_one(sentence, asked) == pytest.approx(p[i, list(tagger.classes_).index(label)])
    assert tagger.labels_proba_one(sentence, alone) == pytest.approx(1)
    every = tagger.decode([sentence], 3 ** len(sentence))[0]
    assert sum(tagger.labels_proba_one(sentence, labels) for _, labels in every) == pytest.approx(1)
    chances = [tagger.labels_proba_one(sentence, labels) for _, labels in every[:5]]
    assert chances == sorted(chances, reverse=True)


def test_temperature_maximizes_the_likelihood_of_new_sequences(tagger, tmp_path):
    X, y = sentences(100, seed=2)

    def log_loss():
        return -np.mean([np.log(tagger.labels_proba_one(x, labels)) for x, labels in zip(X, y, strict=True)])

    before = log_loss()
    tagger.calibrate(X, y)
    best, temperature = log_loss(), tagger.temperature_
    assert best < before
    for factor in (0.9, 1.1):
        tagger.temperature_ = factor * temperature
        assert log_loss() > best
    tagger.temperature_ = temperature
    onmargin.save(tagger, tmp_path / "model")
    loaded = onmargin.load(tmp_path / "model")
    assert_array_equal(loaded.predict_marginals(X[:1])[0], tagger.predict_marginals(X[:1])[0])
    again = SequenceTagger(random_state=0).fit(X, y).calibrate(X, y).fit(X, y)
    assert not hasattr(again, "temperature_")


def test_errors(tagger):
    X, _y = sentences(1)
    with pytest.raises(ValueError, match="labels must be one per token"):
        tagger.labels_proba_one(X[0], ["A"] * 9)
    with pytest.raises(ValueError, match="labels must be known"):
        tagger.labels_proba_one(X[0], ["D"] * len(X[0]))
    with pytest.raises(ValueError, match="has not learned"):
        tagger.calibrate(X, [["D"] * len(X[0])])
