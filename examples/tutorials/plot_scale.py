r"""
Training on several cores or a Ray cluster
==========================================

If the data do not fit on one machine, split them into shards. Every worker trains on its shards online, the weights are
averaged, and the next epoch starts from the average. The same call runs in one process, on the cores of one machine and
on a Ray cluster, and all of them give the same model, bit for bit.

This page runs in one process and without Ray, which is an extra: ``pip install ".[ray]"`` in a clone.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import dump_svmlight_file, load_digits

from onmargin import AROWClassifier, io, scale

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
X, y = X[order] / 16, y[order]
folder = Path(tempfile.mkdtemp())
for k in range(8):
    dump_svmlight_file(X[k:1500:8], y[k:1500:8], str(folder / f"{k}.svm"), zero_based=False)

# %%
# Shards are files: svmlight here; Parquet, CSV, JSON lines and others work, too. On a cluster, all machines must be
# able to read them under the same names. Only file names are sent to the workers, never the data.

shards = io.shards(f"{folder}/*.svm", n_features=64)
print(shards)

# %%
# Train for six epochs. A checkpoint is written after each epoch; ``resume=True`` continues a run that was killed.

checkpoint = folder / "run.model"
model = scale.fit(AROWClassifier(), shards, workers=1, epochs=6, checkpoint=checkpoint)
print(f"error on the 297 other digits: {1 - model.score(X[1500:], y[1500:]):.1%}")

# %%
# More workers change one argument. A script that starts processes must be importable, so the call is under
# ``if __name__ == "__main__":``, as always with :mod:`multiprocessing`:
#
# .. code-block:: python
#
#    if __name__ == "__main__":
#        # two processes on this machine
#        model = scale.fit(AROWClassifier(), shards, workers=2, epochs=6)
#        # a Ray cluster that is started on this machine, which takes some seconds
#        model = scale.fit(AROWClassifier(), shards, engine="ray", workers=2, epochs=6)
#        # a Ray cluster that is already running
#        model = scale.fit(AROWClassifier(), shards, engine="ray", address="10.0.0.1:6379", epochs=6)
#
# The result depends on the shards, not on the engine or the number of workers. A run can also begin on one and end on
# the other: resume the checkpoint of three epochs for three more, and the weights are the same.

half = folder / "half.model"
scale.fit(AROWClassifier(), shards, workers=1, epochs=3, checkpoint=half)
resumed = scale.fit(AROWClassifier(), shards, workers=1, epochs=6, checkpoint=half, resume=True)
print("the same weights, bit for bit:", np.array_equal(resumed.coef_, model.coef_))

# %%
# Averaging has a price. With more shards, each one learns from fewer examples before the weights are averaged, so a run
# needs more epochs to match a serial run. Compare before you scale.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for n_shards in 1, 4, 16, 64:
    parts = Path(tempfile.mkdtemp())
    for k in range(n_shards):
        dump_svmlight_file(X[k:1500:n_shards], y[k:1500:n_shards], str(parts / f"{k}.svm"), zero_based=False)
    errors, path = [], parts / "run.model"
    for epochs in range(1, 9):
        fitted = scale.fit(
            AROWClassifier(),
            io.shards(f"{parts}/*.svm", n_features=64),
            workers=1,
            epochs=epochs,
            checkpoint=path,
            resume=epochs > 1,
        )
        errors.append(100 * (1 - fitted.score(X[1500:], y[1500:])))
    ax.plot(range(1, 9), errors, "o-", label=f"{n_shards} shards" if n_shards > 1 else "one shard: a serial run")
ax.set(xlabel="epochs", ylabel="error on other digits, %", ylim=(0, None))
ax.legend()
plt.show()

# %%
# **Next steps.** :doc:`/scale` explains what is proved about averaging, what happens when machines fail, and how to
# compare many models at once. From a shell: ``onmargin train --engine ray --workers 8 -o digits.model *.svm``.
