"""
Digits with a polynomial kernel
===============================

One pass over handwritten digits in the feature space of a polynomial kernel of degree 5, as in the multiclass
experiment of :cite:p:`JMLR`: the mistakes so far of passive-aggressive learning, of the uniform multiclass Perceptron
and of MIRA. The plot here is of scikit-learn's bundled digits. With the environment variable ``ONMARGIN_DATA`` naming a
folder that holds ``usps/usps.npz`` and MNIST's files in ``mnist``, it is of those instead.
``onmargin lab digits-usps --data FOLDER`` repeats it over shuffles (:doc:`../../papers`).
"""

import os
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from onmargin import PassiveAggressiveClassifier
from onmargin.lab.data import mnist, standardized, usps

# %%
# The data, shifted and scaled so that their mean is 0 and their average squared norm is 1, each with the constant of
# its kernel.

folder = os.environ.get("ONMARGIN_DATA")
if folder is None:
    X, y = load_digits(return_X_y=True)
    data = {"digits": (standardized(X), y, 1.0)}
else:
    data = {"USPS": (*usps(Path(folder)), 1.0), "MNIST": (*mnist(Path(folder)), 0.5)}

# %%
# One pass of each learner, with a look at the mistakes so far a hundred times on the way. PA-I has C = 100, and MIRA
# with beta = 0.01 is the same C: it moves all rivals of the right class that come too near, PA the best of them alone.

learners = {"Perceptron": {"update": "perceptron"}, "MIRA": {"update": "mira", "C": 100.0}, "PA-I": {"C": 100.0}}
figure, panels = plt.subplots(1, len(data), figsize=(6 * len(data), 4), squeeze=False, layout="constrained")
for panel, (title, (X, y, coef0)) in zip(panels[0], data.items(), strict=True):
    ends = np.linspace(0, len(X), 101).astype(int)
    for name, options in learners.items():
        model = PassiveAggressiveClassifier(
            kernel="poly", degree=5, gamma=1.0, coef0=coef0, fit_intercept=False, **options
        )
        mistakes = []
        for start, stop in pairwise(ends):
            model.partial_fit(X[start:stop], y[start:stop], classes=np.arange(10))
            mistakes.append(model.totals_.mistakes)
        print(f"{title}: {name} made {mistakes[-1]} mistakes and has {model.n_support_} supports")
        panel.plot(ends[1:], mistakes, label=name)
    panel.set(title=title, xlabel="round", ylabel="mistakes so far")
    panel.legend()
plt.show()
