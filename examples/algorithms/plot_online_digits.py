r"""
Learning digits online
======================

Each handwritten digit is predicted first and learned afterwards. The curves show the error so far for several values of
the aggressiveness C. Rows have norm 1, so an uncapped step is the loss divided by about 2.

A small C starts slowly, because each mistake changes the weights little. These labels are clean, and the largest C is
best throughout.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from onmargin import PassiveAggressiveClassifier

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
X, y = normalize(X)[order], y[order]

# %%
# Call ``partial_fit`` once per digit, to read the totals after each one. One call with all digits would learn the same
# weights.

fig, ax = plt.subplots(layout="constrained")
rounds = np.arange(1, len(y) + 1)
for C in 0.01, 0.1, 1.0:
    model = PassiveAggressiveClassifier(C=C)
    mistakes = []
    for i in range(len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=range(10))
        mistakes.append(model.totals_.mistakes)
    ax.plot(rounds, np.array(mistakes) / rounds, label=f"C = {C:g}")
    print(f"C = {C:<4g}  {mistakes[-1]} mistakes in {len(y)} rounds, {model.totals_.updates} updates")

ax.set(xlabel="digits seen", ylabel="error so far", ylim=(0, 0.6), title="Joint PA-I on ten digits")
ax.legend()
plt.show()
