r"""
A spam filter that learns from corrections
==========================================

A mail filter is never finished: senders change their words, and only the people who read the mail can tell what is
spam. This tutorial builds a filter that learns from each correction, in a few microseconds, and compares it with a
filter that was trained once.

The messages are generated here, so the page needs no download: two kinds of everyday mail, and spam that changes its
subject twice. To use your own data, replace ``mail`` by your own pairs of text and label.
"""

import matplotlib.pyplot as plt
import numpy as np

from onmargin import stream
from onmargin.features import RecordFeatures

rng = np.random.default_rng(0)
WORDS = """\
meeting report lunch project review budget train monday friday draft invoice thanks call team plan notes dinner school \
tickets garden doctor payment order delivery price weekend photos bank card manager contract update question
please your free now today offer send link account new best last time first here
cheap pills pharmacy discount doctor prescription refill order price herbal weight loss natural
crypto wallet bonus invest profit token double bank payment trading coin signal broker
parcel customs delivery fee track courier pending card update address depot package label
"""
EVERYDAY, SHARED, *CAMPAIGNS = (line.split() for line in WORDS.splitlines())


def message(kind: str, campaign: int) -> str:
    """Return a message of words that both kinds of mail use, and one to three words of its own kind."""
    own = CAMPAIGNS[campaign] if kind == "spam" else EVERYDAY
    words = [*rng.choice(own, rng.integers(1, 4)), *rng.choice(SHARED, 5), *rng.choice(EVERYDAY, 4)]
    return " ".join(rng.permutation(words))


mail = []
for i in range(6000):
    kind = "spam" if rng.random() < 0.3 else "ham"
    mail.append((message(kind, campaign=i // 2000), kind))
print(mail[0], mail[-1], sep="\n")

# %%
# The filter takes texts directly, without a vectorizer, a vocabulary or a separate training phase. Words are hashed to
# :math:`2^{18}` weights, so memory stays fixed however many new words appear.


def new_filter() -> stream.AROWClassifier:
    return stream.AROWClassifier(features=RecordFeatures(n_features=2**18, weighting="binary"), forgetting=0.001)


# %%
# Compare three ways to use it. The *frozen* filter learns the first 1000 messages and stops. The *corrected* filter
# also starts with them, and then learns only the messages that it got wrong and a user corrected. The *full* filter
# learns every message.

filters = {"frozen": new_filter(), "corrected": new_filter(), "full": new_filter()}
wrong = {name: [] for name in filters}
for i, (text, label) in enumerate(mail):
    for name, model in filters.items():
        mistake = i > 1 and model.predict_one(text) != label
        wrong[name].append(mistake)
        if i < 1000 or name == "full" or (name == "corrected" and mistake):
            model.learn_one(text, label)

for name, mistakes in wrong.items():
    taught = filters[name].totals_.rounds
    print(f"{name:10} {np.mean(mistakes[1000:]):6.2%} wrong after the first 1000, {taught} messages learned")

# %%
# The frozen filter fails as soon as the second campaign begins. The corrected filter recovers after a few dozen
# corrections, although it gets only a small fraction of the labels.

window = np.ones(200) / 200
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, mistakes in wrong.items():
    ax.plot(np.arange(200, len(mail) + 1), 100 * np.convolve(mistakes, window, "valid"), label=name)
for start in 2000, 4000:
    ax.axvline(start, color="gray", linestyle=":")
ax.set(xlabel="messages", ylabel="wrong, % of the last 200", title="Spam changes its subject at the dotted lines")
ax.legend()
plt.show()

# %%
# Why was a message flagged? If names are kept instead of hashed, the model explains each prediction by its words.

model = stream.AROWClassifier()
for text, label in mail:
    model.learn_one(text, label)
text = "your parcel is pending please pay the customs fee before the meeting"
print(model.predict_one(text), {label: round(p, 3) for label, p in model.predict_proba_one(text).items()})
for word, part in list(model.explain(text, "spam").items())[:5]:
    print(f"{word:10} {part:+.2f}")

# %%
# **Next steps.** :doc:`/streams` describes the accepted kinds of examples. ``onmargin serve`` offers the same learner
# over HTTP, with every correction journaled before it is acknowledged: :doc:`plot_service`.
