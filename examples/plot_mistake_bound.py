r"""
Mistakes under their bound
==========================

Whatever the stream, PA-I makes no more mistakes than its bound allows, and the bound depends only on how well some
fixed competitor would have done. Here the competitor is chosen in hindsight: a support vector machine trained on all of
the data. The bound then holds after every round, with the competitor's loss on the rounds so far.

The dual value is what the learner itself can prove on its way: no fixed weights have an objective below it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import normalize, scale
from sklearn.svm import LinearSVC

from onmargin import PassiveAggressiveClassifier
from onmargin.theory import pa1_mistakes

X, y = load_breast_cancer(return_X_y=True)
X, C, bias = normalize(scale(X)), 0.3, 0.3

# %%
# The competitor, with a column for the intercept coordinate, and its losses.

rows = np.column_stack([X, np.full(len(X), bias)])
machine = LinearSVC(loss="hinge", C=C, fit_intercept=False, max_iter=100_000, random_state=0)
u = machine.fit(rows, y).coef_[0]
losses = np.maximum(0, 1 - (2 * y - 1) * (rows @ u)).cumsum()

# %%
# The learner, round by round.

model = PassiveAggressiveClassifier(C=C, intercept_scaling=bias)
mistakes, bounds, duals = [], [], []
for i in range(len(y)):
    totals = model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1]).totals_
    mistakes.append(totals.mistakes)
    bounds.append(pa1_mistakes(C, totals.max_squared_norm, u @ u, losses[i]))
    duals.append(totals.dual_value)
print(f"{mistakes[-1]} mistakes, {bounds[-1]:.0f} allowed")

fig, (top, bottom) = plt.subplots(2, sharex=True, figsize=(6.4, 6.4), layout="constrained")
top.plot(bounds, label="allowed by the bound")
top.plot(mistakes, label="made")
top.set(ylabel="mistakes", title="Breast cancer data, PA-I, C = 0.3")
top.legend()
bottom.plot(u @ u / 2 + C * losses, label=r"$\frac{1}{2}\|u\|^2 + C\sum\ell^*$ of the competitor")
bottom.plot(duals, label="dual value of the learner")
bottom.set(xlabel="rounds")
bottom.legend()
plt.show()
