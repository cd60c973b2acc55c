r"""
Reading a certificate
=====================

How good is a run of online learning, and could anybody have done better? ``certify`` compares a run with the best
fixed predictor in hindsight: it names the theorem that covers the learner, checks that its conditions were met, and
computes how many mistakes the theorem allowed. This tutorial reads such a certificate line by line.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import normalize, scale

from onmargin import PassiveAggressiveClassifier
from onmargin.theory import certify

X, y = load_breast_cancer(return_X_y=True)
X = normalize(scale(X))
model = PassiveAggressiveClassifier(C=0.3).partial_fit(X, y, classes=[0, 1])
certificate = certify(model, X, y)
print(certificate)

# %%
# **What was counted.** The first number is the number of mistakes in one pass, with each example predicted before it
# was learned. It is within the bound of the theorem, so the certificate holds.

print(f"{certificate.suffered:.0f} {certificate.counted}, {certificate.bound:.0f} allowed by {certificate.theorem}")
print("holds:", certificate.holds)

# %%
# **Conditions.** ``certify`` replays the stream with a copy of the model. If totals were altered, C was changed
# afterwards, or examples were left out, a condition fails and nothing is certified.

for condition in certificate.conditions:
    print(condition)
print(certify(PassiveAggressiveClassifier(C=0.3).partial_fit(X[1:], y[1:]), X, y).conditions[0])

# %%
# **The competitor.** The bound depends on a fixed predictor u. By default that is the best one in hindsight, a support
# vector machine trained on the whole stream to a proven accuracy. Any other weights also give a bound; the worse the
# weights, the larger the bound.

best = certificate.best
print(f"best in hindsight: |u|^2 = {2 * best.size:.1f}, loss {best.loss:.1f}, proven to {best.gap:.1%} of the optimum")
for name, u in {"zero weights": np.zeros(30), "mean difference": X[y == 1].mean(0) - X[y == 0].mean(0)}.items():
    print(f"compared with {name}: {certify(model, X, y, competitor=u).bound:.0f} mistakes allowed")

# %%
# **The floor.** The dual value of the run gives a lower bound on the loss of any fixed predictor, without storing data.

print(f"no weights of norm 3 had a loss below {certificate.floor(3.0):.1f} on this stream")

# %%
# **Along the stream.** The bound holds after every round, not only at the end.

learner = PassiveAggressiveClassifier(C=0.3)
mistakes = [learner.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1]).totals_.mistakes for i in range(len(y))]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(certificate.along(), label="allowed by the theorem")
ax.plot(mistakes, label="made")
ax.fill_between(np.arange(len(y)), mistakes, certificate.along(), alpha=0.1)
ax.set(xlabel="rounds", ylabel="mistakes", title=f"Breast cancer data, PA-I, C = 0.3: {certificate.theorem}")
ax.legend()
plt.show()

# %%
# **Limits.** A certificate is about one run on one stream, not about future examples. For those, look at the
# progressive error (:doc:`/certificates`). Learners without a theorem, such as ``update="simproj"``, raise
# :class:`onmargin.theory.NoTheorem`.
