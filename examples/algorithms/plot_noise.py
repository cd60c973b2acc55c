r"""
Noise and the choice of C
=========================

The synthetic data of :cite:p:`JMLR`: :math:`y` is -1 or +1, :math:`x` is normal around :math:`y\,(1, 1)` with variances
0.2 and 2, and a fraction of the labels is flipped. A wrong label moves the weights in the wrong direction, as far as C
allows. So the noisier the labels, the smaller the best C. Plain PA is the right end of the curves. The dotted lines
show the best fixed classifier in hindsight. ``onmargin lab aggressiveness`` repeats the experiment many times
(:doc:`../../papers`).
"""

import matplotlib.pyplot as plt
import numpy as np

from onmargin import PassiveAggressiveClassifier
from onmargin.lab.jmlr import least_error, plane

fig, axes = plt.subplots(1, 2, sharey=True, figsize=(9, 4), layout="constrained")
aggressiveness = np.logspace(-5, 2, 15)
for noise, color in (0.0, "C0"), (0.1, "C1"), (0.2, "C2"):
    X, y = plane(np.random.default_rng(0), 4000, label_noise=noise)
    best = least_error(X, y)
    for ax, name, loss in (axes[0], "PA-I", "hinge"), (axes[1], "PA-II", "squared_hinge"):
        errors = []
        for C in aggressiveness:
            model = PassiveAggressiveClassifier(C=C, loss=loss, fit_intercept=False)
            errors.append(model.partial_fit(X, y).totals_.mistakes / len(y))
        ax.semilogx(aggressiveness, errors, color=color, label=f"{noise:.0%} of labels flipped")
        ax.axhline(best, color=color, linestyle=":")
        ax.set(xlabel="C", title=name)
        print(f"{noise:4.0%} {name:5}  best C {aggressiveness[np.argmin(errors)]:<5.1g}", end="  ")
        print(f"error {min(errors):.1%}, with C = 100 {errors[-1]:.1%}, in hindsight {best:.1%}")
axes[0].set_ylabel("error while learning")
axes[1].legend()
plt.show()
