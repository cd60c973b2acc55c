r"""
Probabilities, prediction sets and abstention
=============================================

The stream has five classes, and the rule behind the labels changes in the middle. The first figure shows, on the left,
the reliability of the probabilities, evaluated before each example was learned. On the right, it shows the fraction of
the last 500 labels that were in their prediction sets, which stays near the requested 90 %, and the mean size of the
sets, which grows when the stream changes. The second figure shows the effect of abstaining. See
:doc:`../../confidence`.
"""

import matplotlib.pyplot as plt
import numpy as np

from onmargin.confidence import PredictionSets
from onmargin.stream import AROWClassifier

rng = np.random.default_rng(0)
n = 8000
X = rng.standard_normal((n, 10))
before, after = rng.standard_normal((2, 10, 5))
scores = np.where((np.arange(n) < n // 2)[:, None], X @ before, X @ after)
y = (scores + rng.gumbel(size=(n, 5))).argmax(axis=1)

sets = PredictionSets(AROWClassifier(forgetting=0.01), coverage=0.9)
covered, sizes, chances, predicted = [], [], [], []
for x, label in zip(X, y.tolist(), strict=True):
    labels = sets.predict_set_one(x)
    covered.append(label in labels)
    sizes.append(len(labels))
    shares = sets.model.predict_proba_one(x)
    chances.append(max(shares.values(), default=0.0))
    predicted.append(max(shares, key=shares.get, default=None))
    sets.learn_one(x, label)

found, report = sets.model.reliability_, sets.coverage_
print(f"log loss {found.log_loss:.3f}, Brier score {found.brier_score:.3f}, error {found.calibration_error:.3f}")
print(f"covered {report.covered:.3f} of {report.rounds}, which is at most {report.bound:.4f} from {report.asked}")

fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
found.plot(axes[0])
axes[0].set_title("reliability")
last = np.ones(500) / 500
axes[1].plot(np.arange(500, n + 1), np.convolve(covered, last, "valid"), label="covered")
axes[1].axhline(0.9, linestyle=":", color="gray")
axes[1].set(xlabel="rounds", ylabel="of the last 500 rounds", ylim=(0, 1), title="prediction sets")
size = axes[1].twinx()
size.plot(np.arange(500, n + 1), np.convolve(sizes, last, "valid"), color="C1", label="size")
size.set(ylabel="mean size", ylim=(0, 5))
fig.legend(loc="lower right", bbox_to_anchor=(0.92, 0.18))
plt.show()

# %%
# ``Decisions(model, abstain=c)`` abstains if the probability of a mistake is above c. Smaller values of c decide fewer
# examples, and fewer of those decisions are wrong. If the probabilities are calibrated, each decision is wrong with a
# probability of at most c, so the curve of wrong decisions lies below the dotted line.

costs = np.linspace(0.02, 0.8, 40)
wrong = np.array(predicted) != y
doubt = 1 - np.array(chances)
decided = [doubt <= cost for cost in costs]
fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.plot(costs, [one.mean() for one in decided], label="decided")
ax.plot(costs, [wrong[one].mean() if one.any() else 0 for one in decided], label="wrong, of those decided")
ax.plot(costs, costs, ":", color="gray")
ax.set(xlabel="cost of abstaining", ylabel="fraction of the examples", ylim=(0, 1), title="abstaining")
ax.legend()
plt.show()
