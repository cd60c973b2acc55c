r"""
A table stream that drifts, from river
======================================

Loan applications arrive as dicts with columns in different units: salaries, ages, zip codes. In the middle of the
stream the rule behind the labels changes. The stream is river's Agrawal generator, and the learners of
``onmargin.river`` fit into river's pipelines and metrics (``pip install ".[river]"`` in a clone).

This tutorial answers three questions: how good is a learner without any tuning, how fast does it recover from the
change, and how is the change detected?
"""

import matplotlib.pyplot as plt
import numpy as np
from river import linear_model, optim, preprocessing
from river.datasets import synth

from onmargin.evaluate import ChangeAlarm
from onmargin.river import AutoClassifier

N, CHANGE = 6000, 3000
rows = [
    *synth.Agrawal(classification_function=0, seed=1, perturbation=0.05).take(CHANGE),
    *synth.Agrawal(classification_function=6, seed=2, perturbation=0.05).take(N - CHANGE),
]
print(rows[0])

# %%
# The first rule tests whether an age is between two limits, which no linear model can represent. ``AutoClassifier`` has
# nonlinear experts for it, and it needs no scaler, because some of its experts standardize the features themselves. The
# second rule is linear.

models = {
    "river, logistic regression": preprocessing.StandardScaler() | linear_model.LogisticRegression(optim.SGD(0.05)),
    "AutoClassifier": AutoClassifier(),
}
wrong = {name: [] for name in models}
for name, model in models.items():
    for x, y in rows:
        wrong[name].append(model.predict_one(x) != y)
        model.learn_one(x, y)

# %%
# After the change, ``AutoClassifier`` needs a few hundred rows to recover: the nonlinear experts lead by hundreds of
# mistakes, and the others have only the small part of the weights that is divided among all experts (fixed share,
# :doc:`/auto`). A new model has no such past. ``ChangeAlarm`` monitors the mistakes of a model and raises an alarm when
# their rate rises. Here, a new model replaces the old one at that moment.

model, alarm, name = AutoClassifier(), ChangeAlarm(), "AutoClassifier with an alarm"
alarms, wrong[name] = [], []
for i, (x, y) in enumerate(rows):
    mistake = model.predict_one(x) != y
    wrong[name].append(mistake)
    if alarm.update(mistake):
        alarms.append(i)
        print(f"alarm at row {i}: {alarm.mean_:.0%} of the last {alarm.width_} predictions were wrong")
        model = AutoClassifier()
    model.learn_one(x, y)

for name, mistakes in wrong.items():
    before, after = np.mean(mistakes[:CHANGE]), np.mean(mistakes[CHANGE:])
    print(f"{name:28} {before:6.1%} wrong before the change, {after:6.1%} after it")

# %%
# The new model makes fewer mistakes than the old one while it recovers.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
window = np.ones(300) / 300
for name, mistakes in wrong.items():
    ax.plot(np.arange(300, N + 1), 100 * np.convolve(mistakes, window, "valid"), label=name)
for i in alarms:
    ax.axvline(i, color="C2", linestyle="--", linewidth=1)
ax.axvline(CHANGE, color="gray", linestyle=":")
ax.set(xlabel="rows", ylabel="wrong, % of the last 300", title="The rule changes at the dotted line", ylim=(0, None))
ax.legend()
plt.show()

# %%
# Which experts lead now?

results = model.model.experts_
for i in np.argsort(results.lost)[:3]:
    print(f"{results.names[i]:52} {results.per_round[i]:5.1%} wrong, {results.weights[i]:.0%} of the vote")

# %%
# **Next steps.** :doc:`/auto` lists the experts and states the regret bound of their vote. :doc:`/streams` describes
# the other learners for river, and :doc:`/certificates` explains the alarm.
