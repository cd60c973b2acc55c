r"""
AutoClassifier against tuned peers
==================================

How much does tuning buy? Each peer below is run with a whole grid of settings, and only its best setting *in
hindsight*, with knowledge of all labels, is reported. ``AutoClassifier()`` runs once, with its defaults. All of them
see the same rows in the same order and predict each row before they learn it.

The peers are river's (``pip install ".[river]"`` in a clone), with and without a ``StandardScaler``. The datasets
ship with scikit-learn and river. ``benchmarks/quality/measure.py`` makes this comparison on many more tables, with
larger grids and more libraries.
"""

import matplotlib.pyplot as plt
import numpy as np
from river import linear_model, optim, preprocessing, stream
from river.datasets import Bananas, Phishing
from sklearn.datasets import load_breast_cancer

from onmargin.river import AutoClassifier

cancer = [(x, bool(y)) for x, y in stream.iter_sklearn_dataset(load_breast_cancer(), shuffle=True, seed=0)]
data = {"breast cancer": cancer, "Phishing": list(Phishing()), "Bananas": list(Bananas().take(2000))}

# %%
# Compute the progressive error: each row is predicted, then learned.


def progressive_error(model, rows):
    mistakes = 0
    for x, y in rows:
        mistakes += model.predict_one(x) != y
        model.learn_one(x, y)
    return mistakes / len(rows)


# %%
# The grids have six learning rates and four values of C.

rates, aggressiveness = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0), (0.001, 0.01, 0.1, 1.0)
grids = {
    "logistic regression": [lambda rate=rate: linear_model.LogisticRegression(optim.SGD(rate)) for rate in rates],
    "passive-aggressive": [lambda C=C: linear_model.PAClassifier(C=C) for C in aggressiveness],
}
errors = {"AutoClassifier(), untuned": [progressive_error(AutoClassifier(), rows) for rows in data.values()]}
for name, grid in grids.items():
    errors[f"{name}, tuned"] = [min(progressive_error(make(), rows) for make in grid) for rows in data.values()]
    errors[f"{name}, scaled, tuned"] = [
        min(progressive_error(preprocessing.StandardScaler() | make(), rows) for make in grid) for rows in data.values()
    ]
for name, values in errors.items():
    print(f"{name:35}", {title: f"{error:.1%}" for title, error in zip(data, values, strict=True)})

# %%
# On raw rows, the peers fail with every setting if columns have different units. With a scaler and the best setting in
# hindsight, they come close on the first two datasets. No linear model can learn the third; some experts of
# ``AutoClassifier`` are nonlinear.

fig, ax = plt.subplots(figsize=(9, 4), layout="constrained")
for i, (name, values) in enumerate(errors.items()):
    ax.bar(np.arange(len(data)) + (i - 2) * 0.16, 100 * np.array(values), 0.16, label=name)
ax.set_xticks(np.arange(len(data)), list(data))
ax.set(ylabel="progressive error, %")
ax.legend()
plt.show()

# %%
# **Next steps.** :doc:`/auto` explains the experts, the vote and its regret bound. There are streams on which a tuned
# peer is better: ``benchmarks/quality/README.md`` has the whole table.
