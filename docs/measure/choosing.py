"""The tables of docs/choosing.rst. All are means over twenty shuffles of one pass over the data."""

from math import inf

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import normalize, scale
from sklearn.svm import LinearSVC

from onmargin import PassiveAggressiveClassifier

LEARNERS = {
    "PA": {"C": inf},
    "PA-I, C = 1": {},
    "PA-I, C = 0.01": {"C": 0.01},
    "PA-II, C = 0.01": {"C": 0.01, "loss": "squared_hinge"},
    "PA-I, C = 1, averaged": {"average": True},
    "PA-I, C = 0.01, averaged": {"C": 0.01, "average": True},
    "PA-I, C = 1, ovr": {"strategy": "ovr"},
    "PA-I, C = 0.01, ovr": {"C": 0.01, "strategy": "ovr"},
}


def streams(X, y, noise, times=20):
    """Shuffles of the data, split, with a part of the labels to learn from replaced by random ones."""
    for seed in range(times):
        random = np.random.default_rng(seed)
        order = random.permutation(len(y))
        cut = len(y) * 2 // 3
        learn, test = order[:cut], order[cut:]
        labels = np.where(random.random(cut) < noise, random.choice(np.unique(y), cut), y[learn])
        yield X[learn], labels, X[test], y[test]


def progressive(X, y, times=20, **parameters):
    """% of mistakes while learning all of the data."""
    errors = []
    for seed in range(times):
        order = np.random.default_rng(seed).permutation(len(y))
        totals = PassiveAggressiveClassifier(**parameters).partial_fit(X[order], y[order], classes=np.unique(y)).totals_
        errors.append(100 * totals.mistakes / totals.rounds)
    return f"{np.mean(errors):.1f}"


def online(parameters, X, y, X_test, y_test):
    model = PassiveAggressiveClassifier(**parameters).partial_fit(X, y)
    return 100 * model.totals_.mistakes / model.totals_.rounds, 100 * (1 - model.score(X_test, y_test))


def many_passes(X, y, X_test, y_test):
    """`fit` instead of `partial_fit`."""
    model = PassiveAggressiveClassifier(C=0.01, average=True, random_state=0).fit(X, y)
    return 100 * (1 - model.score(X_test, y_test))


def batch(X, y, X_test, y_test):
    """A support vector machine on all of the learning part, its C chosen there by cross-validation."""
    machine = LinearSVC(loss="hinge", max_iter=50_000, random_state=0)
    model = GridSearchCV(machine, {"C": [0.001, 0.01, 0.1, 1.0]}).fit(X, y)
    return 100 * (1 - model.score(X_test, y_test))


def print_learners(data):
    """Learn two thirds; return the progressive mistakes and the errors on the other third, in %."""
    for noise in (0.0, 0.2):
        for name, (X, y) in data.items():
            print(f"\n{name}, noise {noise}")
            splits = list(streams(X, y, noise))
            for learner, parameters in LEARNERS.items():
                while_learning, after = np.mean([online(parameters, *split) for split in splits], axis=0)
                print(f"{learner:26} {while_learning:5.1f} / {after:4.1f}")
            for learner, error in {"PA-I, C = 0.01, averaged, fit": many_passes, "LinearSVC": batch}.items():
                print(f"{learner:26}         {np.mean([error(*split) for split in splits]):4.1f}")


if __name__ == "__main__":
    digits, cancer = load_digits(return_X_y=True), load_breast_cancer(return_X_y=True)
    data = {"digits": (digits[0] / 16, digits[1]), "cancer": (scale(cancer[0]), cancer[1])}
    print_learners(data)
    for name, load in {"breast cancer": load_breast_cancer, "wine": load_wine}.items():
        X, y = load(return_X_y=True)
        print(f"\n{name}: unscaled {progressive(X, y)}, standardized {progressive(scale(X), y)}")
    X, y = digits[0], digits[1]
    for name, rows in {"in [0, 1]": X / 16, "of norm 1": normalize(X)}.items():
        print(f"\ndigits {name}: no intercept {progressive(rows, y, fit_intercept=False)}")
        for value in ("auto", 0.1, 0.3, 1.0, 3.0, 10.0):
            print(f"    intercept coordinate {value}: {progressive(rows, y, intercept_scaling=value)}")
