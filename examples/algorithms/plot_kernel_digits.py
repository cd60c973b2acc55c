"""
Digits with a polynomial kernel
===============================

This example makes one pass over handwritten digits with a polynomial kernel of degree 5, as in the multiclass
experiment of :cite:p:`JMLR`. It plots the cumulative mistakes of passive-aggressive learning, of the uniform multiclass
Perceptron and of MIRA. The plot uses scikit-learn's bundled digits. If the environment variable ``ONMARGIN_DATA`` names
a folder that contains ``usps/usps.npz`` and MNIST's files in ``mnist``, it uses those instead.
``onmargin lab digits-usps --data FOLDER`` repeats the experiment over shuffles (:doc:`../../papers`).
"""

import os
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from onmargin import PassiveAggressiveClassifier
from onmargin.lab.data import mnist, standardize, usps

# %%
# Load the data, shifted and scaled to mean 0 and average squared norm 1, each data set with the constant of its kernel.

folder = os.environ.get("ONMARGIN_DATA")
if folder is None:
    X, y = load_digits(return_X_y=True)
    data = {"digits": (standardize(X), y, 1.0)}
else:
    data = {"USPS": (*usps(Path(folder)), 1.0), "MNIST": (*mnist(Path(folder)), 0.5)}

# %%
# Each learner makes one pass, and the mistakes so far are recorded a hundred times. PA-I has C = 100; beta = 0.01 of
# MIRA corresponds to the same C. MIRA updates all rivals of the true class that violate the margin, PA only the best
# one.

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
