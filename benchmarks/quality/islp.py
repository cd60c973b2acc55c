"""Write tables of numbers to predict as .npz files for numbers.py: of the package ISLP, and of a folder of CSV files.

Usage: python benchmarks/quality/islp.py FOLDER [DATA/uci_csv], in an environment of its own, since ISLP needs an old
NumPy. Rows with a gap are left out, and so are columns of text that have more than 60 values.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

MANY = 60  # values of a category

# The target of each table, and columns that are made of it.
TARGETS = {
    "Auto": ("mpg", []),
    "Bikeshare": ("bikers", ["casual", "registered"]),
    "Boston": ("medv", []),
    "Carseats": ("Sales", []),
    "College": ("Apps", []),
    "Credit": ("Balance", []),
    "Hitters": ("Salary", []),
    "Wage": ("wage", ["logwage"]),
}


def write(folder: Path, name: str, frame: pd.DataFrame, target: object) -> None:
    frame = frame.dropna()
    texts = [column for column in frame if frame[column].dtype == object and frame[column].nunique() > MANY]
    X = pd.get_dummies(frame.drop(columns=[target, *texts]), dtype=float)
    np.savez(folder / f"{name}.npz", X=X.to_numpy(float), y=frame[target].to_numpy(float))


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    (package,) = find_spec("ISLP").submodule_search_locations  # to import it would take more packages
    for name, (target, made_of_it) in TARGETS.items():
        path = Path(package) / "data" / f"{name}.csv"
        frame = pd.read_csv(path, na_values="?").drop(columns=made_of_it)
        write(folder, name, frame.loc[:, ~frame.columns.str.startswith("Unnamed")], target)
    for path in sorted(Path(sys.argv[2]).glob("*.csv")) if len(sys.argv) > 2 else ():
        frame = pd.read_csv(path, sep=None, engine="python")
        if any(str(column).replace(".", "").isdigit() for column in frame.columns):  # a row, and no header
            frame = pd.read_csv(path, sep=None, engine="python", header=None)
        write(folder, path.stem, frame, frame.columns[-1])


if __name__ == "__main__":
    main()
