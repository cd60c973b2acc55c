"""A small artificial language to tag, and the state of a tagger."""

import numpy as np

LABELS = ["DET", "NOUN", "VERB"]
LEXICON = {"DET": ["the", "a", "no"], "NOUN": ["dog", "cat", "fish", "house"], "VERB": ["sees", "eats", "likes"]}
PATTERNS = ["DET NOUN VERB", "DET NOUN VERB DET NOUN", "NOUN VERB NOUN", "NOUN VERB"]


def corpus(n=60, seed=0):
    """Return sentences with their labels, made from a few patterns."""
    random = np.random.default_rng(seed)
    y = [PATTERNS[k].split() for k in random.integers(len(PATTERNS), size=n)]
    words = [[str(random.choice(LEXICON[label])) for label in row] for row in y]
    return [[tokens_of(row, i) for i in range(len(row))] for row in words], y


def tokens_of(words, i):
    return [f"w={words[i]}", f"end={words[i][-1]}", f"before={words[i - 1] if i else ''}"]


def state(model):
    edges = (model.transition_coef_.tolist(), model.transition_feature_names_) if model.transition_features else ()
    return (
        *edges,
        model.classes_.tolist(),
        model.coef_.tolist(),
        model.intercept_.tolist(),
        model.transitions_.tolist(),
        model.totals_,
        model.feature_names_,
    )
