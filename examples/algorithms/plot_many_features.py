r"""
Many irrelevant features: Winnow
================================

The features of a row are -1 or 1, and the label is the majority of three of them. All other features are noise, and
their number grows. The Perceptron adds the whole row at every mistake, so its mistakes grow with the number of features
until it makes nearly as many as random guessing. The mistakes of the p-norm Perceptron and of Winnow grow with the
logarithm of that number (:doc:`../../geometries`).

The dotted lines are the bounds: :math:`R^2 \|u\|_q^2`, with :math:`R^2` the curvature of the rows, for the Perceptron
(:math:`p = q = 2`) and the p-norm Perceptron, and :math:`2 \ln(2n) / \gamma^2` for Winnow, with :math:`\gamma = 1/3`
the margin of the majority. ``onmargin lab irrelevant-features`` repeats the experiment (:doc:`../../papers`).
"""

import matplotlib.pyplot as plt
import numpy as np

from onmargin import Perceptron, PNormPerceptron, Winnow
from onmargin.lab.classics import majority, majority_bounds

sizes = [2**k for k in range(3, 14)]
rows, y = majority(np.random.default_rng(0), 2000, sizes[-1])

# %%
# The weights of the majority are 1, 1 and -1 with a margin of 1, or a third of that with a margin of 1/3. They have no
# loss on any example, so the bounds are those for data without noise.

learners = {
    "Perceptron": lambda: Perceptron(fit_intercept=False),
    "p-norm Perceptron": PNormPerceptron,
    "Winnow": lambda: Winnow(balanced=True, margin=1 / 3),
}
fig, ax = plt.subplots(layout="constrained")
for color, (name, learner) in enumerate(learners.items()):
    mistakes = [learner().partial_fit(rows[:, :n].copy(), y).totals_.mistakes for n in sizes]
    irrelevant = [n - 3 for n in sizes]
    ax.semilogx(irrelevant, mistakes, "o-", color=f"C{color}", label=name)
    ax.semilogx(irrelevant, [majority_bounds(n)[name] for n in sizes], ":", color=f"C{color}")
    print(f"{name:17}  {mistakes[0]:3} mistakes with {sizes[0]} features, {mistakes[-1]:3} with {sizes[-1]:,}")

ax.set(xlabel="features that do not matter", ylabel=f"mistakes in {len(y):,} rounds", ylim=(0, 1000))
ax.set_title("The majority of three features")
ax.legend()
plt.show()
