"""The errors on the page "Moving from scikit-learn": % of mistakes in one pass, each example predicted, then learned.

python docs/measure/moving.py         data that come with scikit-learn, ten shuffles each
python docs/measure/moving.py DATA    also streams of text in their order, as benchmarks/quality/streams.py reads them
"""

import sys
from pathlib import Path
from time import process_time

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import normalize, scale

from onmargin import PassiveAggressiveClassifier

sys.path.append(str(Path(__file__).parents[2] / "benchmarks/quality"))
from streams import TEXTS


def scikit_learn(X, y):
    """What scikit-learn's loop does, in NumPy, to watch every round; its weights are compared in the end."""
    classes, codes = np.unique(y, return_inverse=True)
    columns = 1 if len(classes) == 2 else len(classes)
    signs = 2.0 * codes[:, None] - 1 if columns == 1 else np.where(codes[:, None] == np.arange(columns), 1.0, -1.0)
    W, b, mistakes = np.zeros((X.shape[1], columns)), np.zeros(columns), 0
    decay = 0.01 if sparse.issparse(X) else 1.0  # of the intercept's steps
    for i in range(len(y)):
        if sparse.issparse(X):
            span = slice(X.indptr[i], X.indptr[i + 1])
            j, x = X.indices[span], X.data[span]
        else:
            j, x = slice(None), X[i]
        scores = x @ W[j] + b
        predicted = int(scores[0] > 0) if columns == 1 else scores.argmax()
        mistakes += predicted != codes[i]
        if x @ x > 0:
            tau = signs[i] * np.minimum(1.0, np.maximum(1 - signs[i] * scores, 0) / (x @ x))
            W[j] += np.outer(x, tau)
            b += decay * tau
    model = SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, shuffle=False)
    model.partial_fit(X, y, classes=classes)
    np.testing.assert_allclose(model.coef_, W.T, atol=1e-9)
    return 100 * mistakes / len(y)


def onmargin(X, y, **parameters):
    totals = PassiveAggressiveClassifier(**parameters).partial_fit(X, y, classes=np.unique(y)).totals_
    return 100 * totals.mistakes / totals.rounds


LEARNERS = {
    "scikit-learn": scikit_learn,
    "joint": onmargin,
    "ovr": lambda X, y: onmargin(X, y, strategy="ovr"),
    "ovr, intercept 1": lambda X, y: onmargin(X, y, strategy="ovr", intercept_scaling=1.0),
    "ovr, no intercept": lambda X, y: onmargin(X, y, strategy="ovr", fit_intercept=False),
}


def report(name, streams):
    errors = {learner: np.mean([error(X, y) for X, y in streams]) for learner, error in LEARNERS.items()}
    print(f"{name:40}", *(f"{learner} {error:.1f}" for learner, error in errors.items()), sep="  ")


# What to try first on text: the error on the last fifth of a stream, % of its examples.
FITTED = {
    "joint": {},
    "ovr": {"strategy": "ovr"},
    "averaged": {"average": True},
    "ovr, averaged": {"strategy": "ovr", "average": True},
    "ovr, averaged, C=0.1": {"strategy": "ovr", "average": True, "C": 0.1},
}


def report_fitted(name, X, y):
    n = 4 * len(y) // 5
    for method in "fit", "partial_fit":
        models = {how: PassiveAggressiveClassifier(**options, random_state=0) for how, options in FITTED.items()}
        for model in models.values():
            getattr(model, method)(X[:n], y[:n])
        errors = {how: 100 * (1 - model.score(X[n:], y[n:])) for how, model in models.items()}
        title = f"{name}, {method}, last fifth"
        print(f"{title:40}", *(f"{how} {error:.1f}" for how, error in errors.items()), sep="  ")


# What to compare the time of one `partial_fit` of.
TIMED = {
    "scikit-learn": {"loss": "hinge", "penalty": None, "learning_rate": "pa1", "eta0": 1.0},
    "joint": {},
    "ovr": {"strategy": "ovr"},
}


def report_time(name, X, y, repeats=5):
    """Print the least CPU time of one `partial_fit` over several runs."""
    times = {}
    for how in list(TIMED) * repeats:
        model = (SGDClassifier if how == "scikit-learn" else PassiveAggressiveClassifier)(**TIMED[how])
        start = process_time()
        model.partial_fit(X, y, classes=np.unique(y))
        times[how] = min(times.get(how, np.inf), process_time() - start)
    print(f"{name + ', one pass, s':40}", *(f"{how} {time:.3f}" for how, time in times.items()), sep="  ")


def shuffled(X, y, times=10):
    orders = [np.random.default_rng(seed).permutation(len(y)) for seed in range(times)]
    return [(X[order], y[order]) for order in orders]


if __name__ == "__main__":
    X, y = load_digits(return_X_y=True)
    report("digits, in [0, 1]", shuffled(X / 16, y))
    report("digits, rows of norm 1", shuffled(normalize(X), y))
    X, y = load_breast_cancer(return_X_y=True)
    report("breast cancer, standardized", shuffled(scale(X), y))
    X, y = load_wine(return_X_y=True)
    report("wine, standardized", shuffled(scale(X), y))
    for folder in sys.argv[1:]:
        for name, read in TEXTS.items():
            texts, y = read(Path(folder))
            X = HashingVectorizer(n_features=2**18, alternate_sign=False, binary=True).transform(texts)
            report(f"{name}, {len(y)} texts, {len(np.unique(y))} classes", [(X, y)])
            report_fitted(name, X, y)
            report_time(name, X, y)
