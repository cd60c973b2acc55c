r"""
A tagger that keeps learning
============================

The task is to restore the capitals and the punctuation of a text without them, such as the output of a speech
recognizer. Every word gets one of six labels: lower case or capitalized, and followed by nothing, a comma or a period.
The labels of neighbors depend on each other, because a capital follows a period; a sequence tagger models this.

The text is the reference of the Python language, which ships with Python. Its topics follow one another, and new words
keep appearing: a tagger that keeps learning stays ahead of one that was trained once.
"""

import re
from pydoc_data import topics

import matplotlib.pyplot as plt
import numpy as np

from onmargin import SequenceTagger
from onmargin.features import WindowFeatures

text = " ".join(topics.topics.values())
paragraphs = [p for p in re.split(r"\n\s*\n", text) if len(p) > 80 and not re.search(r"[=<>{}\[\]]", p)]
sentences = []
for paragraph in paragraphs:
    tokens = re.findall(r"([A-Za-z]+)[^A-Za-z,.]*([,.]?)", paragraph)[:60]
    words = [word.lower() for word, _ in tokens]
    labels = [("Up" if word[0].isupper() else "low") + mark for word, mark in tokens]
    sentences.append((words, labels))
print(len(sentences), "paragraphs,", sum(len(words) for words, _ in sentences), "words")
print(*zip(*(part[:7] for part in sentences[5]), strict=True))

# %%
# The features of a token are the word itself, its neighbors and its ending. ``WindowFeatures`` makes the names of such
# features from templates; new names may appear in any sentence.

features = WindowFeatures(
    ("word", "end"), ("word[0]", "word[-1]", "word[1]", "word[-1]|word[0]", "word[0]|word[1]", "end[0]", "end[1]")
)
stream = [(features([(word, word[-3:]) for word in words]), labels) for words, labels in sentences]

# %%
# Both taggers train on the first 300 paragraphs. After that, one stays unchanged; the other predicts each paragraph and
# then learns it.

frozen = SequenceTagger(separator=None, average=True).partial_fit(*zip(*stream[:300], strict=True))
learning = SequenceTagger(separator=None, average=True).partial_fit(*zip(*stream[:300], strict=True))
right = {"trained once": [], "keeps learning": []}
predicted = []
for tokens, labels in stream[300:]:
    predicted.append(learning.predict_one(tokens))
    right["trained once"].append(np.mean(np.array(frozen.predict_one(tokens)) == labels))
    right["keeps learning"].append(np.mean(np.array(predicted[-1]) == labels))
    learning.learn_one(tokens, labels)
for name, parts in right.items():
    print(f"{name:15} {np.mean(parts):.1%} of the labels right after the first 300 paragraphs")
print(f"{len(frozen.feature_names_):,} features after 300 paragraphs, {len(learning.feature_names_):,} at the end")

# %%
# Plot the mean over the last 150 paragraphs along the stream.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, parts in right.items():
    mean = np.convolve(parts, np.ones(150) / 150, "valid")
    ax.plot(np.arange(450, 450 + len(mean)), 100 * mean, label=name)
ax.set(xlabel="paragraphs", ylabel="labels right, % of the last 150")
ax.legend()
plt.show()

# %%
# The model has learned which labels follow each other, and which words are usually capitalized.

for (first, second), weight in learning.strongest_transitions(top=3).items():
    print(f"{first:5} -> {second:5} {weight:+.2f}")
print(learning.weights("Up", top=5))

# %%
# **Next steps.** :doc:`/tasks/sequences` describes the problem, the bound and the other updates; ``tagging_report``
# counts spans as ``conlleval`` does. ``examples/tag_chunks.py`` and ``examples/tag_words.py`` run on the usual corpora.

restored = [
    word.capitalize() if label.startswith("Up") else word
    for word, label in zip(sentences[-1][0], predicted[-1], strict=True)
]
print(
    " ".join(
        word + label.removeprefix("Up").removeprefix("low") for word, label in zip(restored, predicted[-1], strict=True)
    )
)
