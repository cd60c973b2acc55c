r"""
Probabilities and prediction sets
=================================

A stream of five classes whose meaning changes in the middle. On the left how often each probability came true, judged
before each example was learned. On the right the part of the last 500 labels that were in their prediction sets, which
stays near the 90 % asked for, and the mean size of the sets, which grows when the stream changes. See
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
covered, sizes = [], []
for x, label in zip(X, y.tolist(), strict=True):
    labels = sets.predict_set_one(x)
    covered.append(label in labels)
    sizes.append(len(labels))
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
