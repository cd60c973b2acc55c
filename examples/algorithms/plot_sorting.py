r"""
Learning to rank a list
=======================

The task is to rank lists of ten patients, those first whose diabetes will progress most. A score per patient,
:math:`w \cdot x_i`, is enough to sort, but the cost is that of the order: the fraction of pairs in the wrong order. The
features of an order are the mean of :math:`x_i - x_j` over all pairs with i before j, so its score is highest when the
list is sorted by :math:`w \cdot x_i`.

Alternatively, a regression learns the target values and sorts by its predictions. It needs these values; here, learning
from the orders alone works as well.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from onmargin import PassiveAggressiveRegressor, StructuredPredictor


class Order:
    """An order: patients are the rows of x, and y lists the row numbers from first to last."""

    def joint_features(self, x, y):
        ahead = len(y) - 1 - 2 * np.arange(len(y))  # how many come after, minus how many come before
        return ahead @ x[y] / (len(y) * (len(y) - 1) / 2)

    def argmax(self, weights, x):
        return np.argsort(-(x @ weights), kind="stable")

    def cost(self, y, z):
        place = np.argsort(z)[y]  # positions in z of the patients, in the order y
        return np.triu(place[:, None] > place).sum() / (len(y) * (len(y) - 1) / 2)


# %%
# Draw two thousand training lists from three hundred patients, and five hundred test lists from the others.

patients, progression = load_diabetes(return_X_y=True)
patients = patients / patients.std(axis=0)
random = np.random.default_rng(0)
shuffled = random.permutation(len(patients))


def lists(of, n_lists):
    rows = [random.choice(of, 10, replace=False) for _ in range(n_lists)]
    return [patients[ten] for ten in rows], [np.argsort(-progression[ten]) for ten in rows]


X, Y = lists(shuffled[:300], 2000)
X_test, Y_test = lists(shuffled[300:], 500)

# %%
# Orders of noisy values are noisy, and the last few lists make the weights fluctuate. The averaged weights are more
# stable.

fig, ax = plt.subplots(layout="constrained")
for average, name in (False, "the last weights"), (True, "their mean"):
    model = StructuredPredictor(model=Order(), C=0.01, average=average)
    wrong = []
    for start in range(0, 2000, 50):
        model.partial_fit(X[start : start + 50], Y[start : start + 50])
        wrong.append(1 - model.score(X_test, Y_test))
    print(f"{name:16}  {np.mean(wrong[20:]):.1%} of the pairs wrong in lists of other patients")
    ax.plot(np.arange(50, 2001, 50), wrong, label=name)

regressor = PassiveAggressiveRegressor(C=0.1, average=True, random_state=0)
regressor.fit(patients[shuffled[:300]], progression[shuffled[:300]])
costs = [Order().cost(y, np.argsort(-regressor.predict(x))) for x, y in zip(X_test, Y_test, strict=True)]
print(f"regression        {np.mean(costs):.1%}")
ax.axhline(np.mean(costs), color="C2", linestyle=":", label="regression, many passes")
ax.set(xlabel="lists learned", ylabel="part of the pairs wrong")
ax.legend()
plt.show()
