"""Every experiment at a size that takes a second or two, and stand-ins for the data that some of them read."""

import gzip
import json
from functools import cache

import numpy as np
from sklearn.datasets import load_digits

from onmargin import lab
from onmargin.lab.data import USERS

BLOCKS = {"trials": 120, "C": [0.03125, 0.5], "margins": [1.0]}
SETTINGS = {
    "instance-noise": {"rounds": 1000, "noise": [0.0, 10.0]},
    "label-noise": {"rounds": 1000, "noise": [0.0, 0.3]},
    "aggressiveness": {"rounds": 2000, "C": [1e-5, 1e-3, 1e-2, 0.1, 1.0, 100.0]},
    "lengths": {"rounds": [100, 1000, 10_000]},
    "digits-usps": {},
    "digits-mnist": {},
    "block-size": BLOCKS | {"sizes": [1, 5, 10]},
    "block-sparsity": BLOCKS | {"relevant": [50, 150, 250], "sizes": [2, 5]},
    "block-noise": BLOCKS | {"contaminated": [0.0, 0.1, 0.2], "sizes": [2, 5]},
    "mail": {"C": [0.03125, 1.0], "margins": [0.01]},
    "mail-seen": {"C": [0.03125, 1.0], "margins": [0.01]},
    "mail-course": {"C": [0.03125, 1.0]},
    "sparse-targets": {"features": 100, "relevant": [1, 10, 100], "rounds": 500},
    "irrelevant-features": {"features": [8, 16, 32, 64, 128, 256, 512, 1024]},
    "errata": {},
}
REPETITIONS = {"aggressiveness": 4, "lengths": 3, "irrelevant-features": 2}


def write_data(folder):
    """Write small files of the right format: scikit-learn's digits for USPS and MNIST, letters on five topics each."""
    images, labels = load_digits(return_X_y=True)
    (folder / "usps").mkdir(parents=True)
    np.savez(folder / "usps/usps.npz", X_train=images[:300].astype(np.float32) / 16, y_train=labels[:300])
    large = np.pad(np.kron(images[:200].reshape(-1, 8, 8), np.ones((3, 3))), ((0, 0), (2, 2), (2, 2))).astype(np.uint8)
    (folder / "mnist").mkdir()
    for name, header, values in ("images-idx3", 16, large), ("labels-idx1", 8, labels[:200].astype(np.uint8)):
        content = bytes(header) + values.tobytes()
        (folder / f"mnist/train-{name}-ubyte.gz").write_bytes(gzip.compress(content))
    (folder / "enron_foldering").mkdir()
    random = np.random.default_rng(0)
    for user in USERS:
        things = random.choice([f"word{i}" for i in range(200)], (5, 30))
        with gzip.open(folder / f"enron_foldering/{user}.jsonl.gz", "wt") as file:
            for _ in range(40):
                about = int(random.integers(5))
                body = " ".join([*random.choice(things[about], 6), *random.choice(things.ravel(), 6)])
                message = {"from": "a", "to": "b", "cc": None, "subject": "", "body": body, "folder": f"folder {about}"}
                file.write(json.dumps(message) + "\n")
    return folder


@cache
def result(name, data):
    """Return the result of the small experiment."""
    experiment = lab.EXPERIMENTS[name]
    with lab.workers(1) as workers:
        return lab.run(
            experiment,
            workers,
            repetitions=REPETITIONS.get(name, 1),
            data=data if experiment.data else None,
            **SETTINGS[name],
        )
