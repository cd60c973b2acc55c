r"""
Correct a tagger sentence by sentence
=====================================

A fitted tagger restores the capitals of a text. Now its user also wants to see the keywords of Python, a label that the
tagger does not know: how soon does it follow corrections? The text is the reference of the Python language, which ships
with Python.
"""

import re
from copy import deepcopy
from keyword import kwlist
from pydoc_data import topics

import matplotlib.pyplot as plt
import numpy as np

from onmargin import SequenceTagger
from onmargin.features import WindowFeatures

features = WindowFeatures(("word", "end"), ("word[0]", "word[-1]", "word[1]", "word[-1]|word[0]", "end[0]", "end[1]"))
sentences = []
for paragraph in re.split(r"\n\s*\n", " ".join(topics.topics.values())):
    words = re.findall("[A-Za-z]+", paragraph)[:20]
    if len(words) == 20 and not re.search(r"[=<>{}\[\]]", paragraph):
        tokens = features([(word.lower(), word[-3:].lower()) for word in words])
        capitals = ["Up" if word[0].isupper() else "low" for word in words]
        keywords = ["keyword" if word in kwlist else label for word, label in zip(words, capitals, strict=True)]
        sentences.append((tokens, capitals, keywords))
old, new = sentences[:400], sentences[400:]
fitted = SequenceTagger(separator=None, random_state=0).fit([one[0] for one in old], [one[1] for one in old])
print(len(old), "paragraphs with capitals,", len(new), "with capitals and keywords;", fitted.classes_)

# %%
# ``fit`` makes ten passes and predicts with the average of the weights over all of their rounds, which is the most
# accurate for more of the same. After ``fit``, learning continues from the averaged weights, and a new average begins.
# So one correction counts in full, and not as one of 4,000 rounds. Each of the first paragraphs is presented to a copy
# of the fitted tagger until it is tagged right.

counts = []
for tokens, _, labels in new[:100]:
    tagger, count = deepcopy(fitted), 0
    while tagger.predict_one(tokens) != labels and count < 20:
        tagger.learn_one(tokens, labels)
        count += 1
    counts.append(count)
print(f"{np.mean(np.array(counts) <= 3):.0%} of {len(counts)} paragraphs are right after at most 3 presentations")

# %%
# Now one tagger learns each paragraph once, after predicting it. The new average is over the paragraphs since ``fit``:
# a single correction counts less as they become more, and the tagger as a whole follows its user.

corrected = deepcopy(fitted)
right = {"fitted": [], "corrected": []}
for tokens, _, labels in new:
    for name, tagger in (("fitted", fitted), ("corrected", corrected)):
        right[name].append(np.mean(np.array(tagger.predict_one(tokens)) == labels))
    corrected.learn_one(tokens, labels)
for name, parts in right.items():
    print(f"{name:9}", *(f"{np.mean(parts[k : k + 100]):.1%}" for k in range(0, len(parts) - 99, 100)))

# %%
# Plot the mean over the last 50 paragraphs along the stream.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, parts in right.items():
    mean = np.convolve(parts, np.ones(50) / 50, "valid")
    ax.plot(np.arange(50, 50 + len(mean)), 100 * mean, label=name)
ax.set(xlabel="paragraphs", ylabel="labels right, % of the last 50")
ax.legend()
plt.show()

# %%
# **Next steps.** :doc:`/choosing` describes averaging, :doc:`/tasks/sequences` the tagger. ``onmargin train --from``
# and the service (:doc:`/serve`) continue from averaged weights in the same way.
