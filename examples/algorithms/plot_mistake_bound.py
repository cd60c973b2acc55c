r"""
Mistakes under their bound
==========================

On any stream, PA-I makes no more mistakes than its bound allows, and the bound depends only on how well some fixed
competitor would have done. Here the competitor is the best one in hindsight, which ``certify`` finds: a support vector
machine trained on all of the data. The bound holds after every round, with the competitor's loss on the rounds so far.

The dual value is a lower bound that the learner computes during the run: no fixed weights have an objective below it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import normalize, scale

from onmargin import PassiveAggressiveClassifier
from onmargin.theory import certify

X, y = load_breast_cancer(return_X_y=True)
X, C = normalize(scale(X)), 0.3

# %%
# Run the learner round by round.

model = PassiveAggressiveClassifier(C=C)
mistakes, duals = [], []
for i in range(len(y)):
    totals = model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1]).totals_
    mistakes.append(totals.mistakes)
    duals.append(totals.dual_value)

# %%
# Compute the bound of the theorem, and the competitor's objective.

certificate = certify(model, X, y)
best = certificate.best
print(f"{certificate.suffered:.0f} mistakes, {certificate.bound:.0f} allowed by {certificate.theorem}")

fig, (top, bottom) = plt.subplots(2, sharex=True, figsize=(6.4, 6.4), layout="constrained")
top.plot(certificate.along(), label="allowed by the bound")
top.plot(mistakes, label="made")
top.set(ylabel="mistakes", title="Breast cancer data, PA-I, C = 0.3")
top.legend()
bottom.plot(best.size + C * best.losses.cumsum(), label=r"$\frac{1}{2}\|u\|^2 + C\sum\ell^*$ of the competitor")
bottom.plot(duals, label="dual value of the learner")
bottom.set(xlabel="rounds")
bottom.legend()
plt.show()
