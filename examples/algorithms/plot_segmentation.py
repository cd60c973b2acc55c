r"""
Word boundaries
===============

The task is to segment text without spaces, such as *theclassisdefinedhere*, into words. A segmentation is a structure.
Because the score is a sum over words, dynamic programming over the positions finds the best of exponentially many.

Features have names, and new ones appear all the time: each word, its length, its first letters and its last letters.
Only features that distinguish a right segmentation from a wrong one get a weight. The text is the reference of the
Python language, which ships with Python.
"""

import re
from collections import Counter
from pydoc_data import topics

import matplotlib.pyplot as plt
import numpy as np

from onmargin import StructuredPredictor

LONGEST = 14


def parts(word):
    """Return the features of one word."""
    return ("word", word), ("length", len(word)), ("start", word[:2]), ("end", word[-2:])


class Segmentation:
    """A segmentation: the text x is a string without spaces, and y is the list of its words."""

    def joint_features(self, x, y):
        return Counter(name for word in y for name in parts(word))

    def argmax(self, weights, x):
        best = [(0.0, 0)]  # per position: the best score up to it, and where the last word begins
        for stop in range(1, len(x) + 1):
            starts = range(max(stop - LONGEST, 0), stop)
            best.append(max((best[i][0] + sum(weights[name] for name in parts(x[i:stop])), i) for i in starts))
        words, stop = [], len(x)
        while stop:
            start = best[stop][1]
            words.append(x[start:stop])
            stop = start
        return words[::-1]

    def cost(self, y, z):
        """Return the number of word ends that only one of the two segmentations has."""
        return len(set(np.cumsum([*map(len, y)])) ^ set(np.cumsum([*map(len, z)])))


# %%
# Extract stretches of plain words, in the order of the reference.

text = " ".join(topics.topics.values())
stretches = dict.fromkeys(tuple(s.lower().split()) for s in re.split(r"[^A-Za-z\s]+|\n\s*\n", text))
Y = [list(words) for words in stretches if 6 <= len(words) <= 12 and max(map(len, words)) <= LONGEST][:1000]
X = ["".join(words) for words in Y]
print(f"{len(X)} stretches, {sum(map(len, Y))} words, {len({word for words in Y for word in words})} of them different")

# %%
# Every stretch but the first is segmented, then learned.

model = StructuredPredictor(model=Segmentation()).learn_one(X[0], Y[0])
found = []
for i, (x, y) in enumerate(zip(X[1:], Y[1:], strict=True), start=1):
    guess = model.predict_one(x)
    model.learn_one(x, y)
    found.append(sum((Counter(guess) & Counter(y)).values()) / len(y))
    if i in {1, 10, 100, len(X) - 1}:
        print(f"{i:3} seen, {len(model.coef_):4} weights:  {' '.join(guess)}")
late = np.mean(found[-100:])
print(f"in the last hundred {late:.0%} of the words were found before they were learned")

mean = np.convolve(found, np.full(50, 1 / 50), mode="valid")
fig, ax = plt.subplots(layout="constrained")
ax.plot(np.arange(50, len(found) + 1), mean)
ax.set(xlabel="stretches seen", ylabel="part of the words found, mean of 50", ylim=(0, 1))
plt.show()

# %%
# For unseen words the model has learned which endings mark the end of a word.

ends = Counter({name[1]: weight for name, weight in model.weights_.items() if name[0] == "end"})
print("over:", ", ".join(end for end, _ in ends.most_common(8)))
print("not over:", ", ".join(end for end, _ in ends.most_common()[:-9:-1]))
