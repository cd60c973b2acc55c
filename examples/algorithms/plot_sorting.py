r"""
Putting a list in order
=======================

Lists of ten patients are to be put in order, those first whose diabetes will progress most. Scores of single patients
:math:`w \cdot x_i` are enough to sort, but what is right or wrong is the order: its cost is the part of the pairs that
stand the wrong way round. The features of an order are the mean of :math:`x_i - x_j` over all pairs with i before j,
so its score is highest when the list is sorted by :math:`w \cdot x_i`.

A regression learns the numbers themselves, and then sorts by them. It needs the numbers: here orders alone teach as
much.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from onmargin import PassiveAggressiveRegressor, StructuredPredictor


class Order:
    """Patients are rows of x, and y lists the numbers of the rows, first to last."""

    def joint_features(self, x, y):
        ahead = len(y) - 1 - 2 * np.arange(len(y))  # how many stand behind, less how many stand before
        return ahead @ x[y] / (len(y) * (len(y) - 1) / 2)

    def argmax(self, weights, x):
        return np.argsort(-(x @ weights), kind="stable")

    def cost(self, y, z):
        place = np.argsort(z)[y]  # where the order z has the patients, taken in the order y
        return np.triu(place[:, None] > place).sum() / (len(y) * (len(y) - 1) / 2)


# %%
# Two thousand lists drawn from three hundred patients, and five hundred from the others to test.

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
# Orders of noisy numbers are noisy, and the last few lists pull the weights here and there. Their mean stays calm.

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
