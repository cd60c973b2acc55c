"""[SLIDES]: additive and multiplicative learners, for targets with few and with many relevant features."""

from collections.abc import Callable, Iterator
from functools import partial
from math import log
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from onmargin import ExponentiatedGradientRegressor, GradientDescentRegressor, Perceptron, PNormPerceptron, Winnow
from onmargin.lab.experiment import Claim, Experiment, Finding, Settings, Wide, reproduced
from onmargin.lab.pictures import lines
from onmargin.lab.table import Row, Table, correlation

Matrix = NDArray[np.float64]

ALLOWED = "allowed: {}"
REGRESSORS: dict[str, Callable[[], Any]] = {
    "GD": GradientDescentRegressor,
    "EG": partial(ExponentiatedGradientRegressor, balanced=True),
}
SHARE = 1 / 3  # margin of the majority of three, with weights of sum 1


def targets(
    random: Generator, n_rounds: int, n_features: int, n_relevant: int, noise: float
) -> tuple[Matrix, Matrix, Matrix]:
    """Return rows of -1 and 1, noisy targets, and the true weights, of equal size, either sign and absolute sum 1."""
    X = random.choice([-1.0, 1.0], (n_rounds, n_features))
    u = np.zeros(n_features)
    u[:n_relevant] = random.choice([-1.0, 1.0], n_relevant) / n_relevant
    return X, X @ u + noise * random.standard_normal(n_rounds), u


def majority(random: Generator, n_rounds: int, n_features: int) -> tuple[Matrix, Matrix]:
    """Return rows of -1 and 1, and labels by the majority of three features, the third one negated."""
    X = random.choice([-1.0, 1.0], (n_rounds, n_features))
    return X, np.sign(X[:, 0] + X[:, 1] - X[:, 2])


def majority_bounds(n_features: int) -> dict[str, float]:
    """Return the mistake bounds for the majority of three, which has no loss: [PD] Thm. 2, and its balanced Winnow.

    The weights of the majority are 1, 1 and -1 with a margin of 1, or a third of that with a margin of 1/3.
    """
    p = max(2.0, 2 * log(n_features))
    return {
        "Perceptron": 3.0 * n_features,
        "p-norm Perceptron": (p - 1) * n_features ** (2 / p) * 3 ** (2 - 2 / p),
        "Winnow": 2 * log(2 * n_features) / SHARE**2,
    }


CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "Perceptron": partial(Perceptron, fit_intercept=False),
    "p-norm Perceptron": PNormPerceptron,
    "Winnow": partial(Winnow, balanced=True, margin=SHARE),
}


def repeat_regression(settings: Settings, random: Generator) -> Iterator[Row]:
    """Yield losses and the bounds B14 and B15: 2 L(u) + 2 X^2 |u|^2, and 2 L(u) + R^2 KL(u || w_1), (x, -x), R = 2."""
    n = settings["features"]
    for relevant in settings["relevant"]:
        X, y, u = targets(random, settings["rounds"], n, relevant, settings["noise"])
        loss = float(((y - X @ u) ** 2).sum())
        allowed = {"GD": 2 * loss + 2 * n / relevant, "EG": 2 * loss + 4 * log(2 * n / relevant)}
        for name, regressor in REGRESSORS.items():
            suffered = regressor().partial_fit(X, y).totals_.squared_loss
            yield {"relevant": relevant, "learner": name, "loss": suffered}
        for name, bound in allowed.items():
            yield {"relevant": relevant, "learner": ALLOWED.format(name), "loss": bound}


def repeat_irrelevant(settings: Settings, random: Generator) -> Iterator[Row]:
    """Yield mistakes with a growing number of features, which are the first columns of the same rows."""
    X, y = majority(random, settings["rounds"], max(settings["features"]))
    for n in settings["features"]:
        for name, classifier in CLASSIFIERS.items():
            totals = classifier().partial_fit(X[:, :n].copy(), y).totals_
            yield {"features": n, "learner": name, "mistakes": totals.mistakes}
        for name, bound in majority_bounds(n).items():
            yield {"features": n, "learner": ALLOWED.format(name), "mistakes": bound}


def wins(winner: str, loser: str, end: str, table: Table) -> Finding:
    relevant = (min if end == "sparse" else max)(table["relevant"])
    losses = {name: table.one("loss", relevant=relevant, learner=name) for name in (winner, loser)}
    numbers = ", ".join(f"{name} {loss:.1f}" for name, loss in losses.items())
    return reproduced(losses[winner] < losses[loser], f"losses with {relevant} relevant features: {numbers}")


def within(measure: str, along: str, table: Table) -> Finding:
    """Return whether all totals are within their bounds, and the fractions."""
    parts: dict[str, list[float]] = {}
    for row in table:
        if not row["learner"].startswith("allowed"):
            bound = table.one(measure, learner=ALLOWED.format(row["learner"]), **{along: row[along]})
            parts.setdefault(row["learner"], []).append(row[measure] / bound)
    numbers = ", ".join(f"{name} {max(part):.2f}" for name, part in parts.items())
    return reproduced(
        max(max(part) for part in parts.values()) <= 1, f"largest fraction of a bound that was reached: {numbers}"
    )


def growth(table: Table) -> Finding:
    """Winnow grows linearly in ln n; the Perceptron as a power of n near 1, up to a quarter of its maximum."""

    def curve(name: str) -> tuple[Matrix, Matrix]:
        rows = table.where(learner=name)
        return np.log(rows["features"]), np.maximum(rows["mistakes"], 1.0)

    x, mistakes = curve("Winnow")
    straight = correlation(x.tolist(), mistakes.tolist()) ** 2
    x, perceptron = curve("Perceptron")
    early = perceptron <= max(perceptron) / 4
    power = float(np.polyfit(x[early], np.log(perceptron[early]), 1)[0]) if early.sum() > 1 else 0.0
    holds = straight > 0.95 and mistakes[-1] > mistakes[0] and power > 0.8 and perceptron[-1] > 5 * mistakes[-1]
    return reproduced(
        bool(holds),
        f"with {max(table['features'])} features the Perceptron makes {perceptron[-1]:.0f} mistakes and Winnow "
        f"{mistakes[-1]:.0f}; Winnow against ln n: r² {straight:.2f}; the Perceptron, up to a "
        f"quarter of its most mistakes: n to the power {power:.2f}",
    )


REGRESSION = Experiment(
    name="sparse-targets",
    paper="SLIDES",
    section="regression",
    title="Gradient descent and exponentiated gradient",
    shows="Multiplicative updates learn faster where few features matter, additive ones where all of them do. Dotted: "
    "the bounds.",
    settings={"features": 500, "relevant": [1, 2, 5, 10, 20, 50, 100, 200, 500], "rounds": 2000, "noise": 0.01},
    repeat=repeat_regression,
    keys=("relevant", "learner"),
    measures=("loss",),
    figure=partial(
        lines,
        x="relevant",
        measures=("loss",),
        log="xy",
        labels={"relevant": "features that matter", "loss": "sum of squared losses"},
    ),
    claims=(
        Claim(
            "SLIDES",
            "EG",
            "Exponentiated gradient is better for sparse targets.",
            partial(wins, "EG", "GD", "sparse"),
        ),
        Claim("SLIDES", "GD", "Gradient descent is better for dense targets.", partial(wins, "GD", "EG", "dense")),
        Claim(
            "SLIDES",
            "GD and EG",
            "Losses stay within the bounds (as corrected: E1, E2).",
            partial(within, "loss", "relevant"),
        ),
    ),
    wide=Wide(("relevant",), "learner", "loss"),
)
IRRELEVANT = Experiment(
    name="irrelevant-features",
    paper="SLIDES",
    section="classification",
    title="The majority of three features",
    shows="All other features are noise. The mistakes of the Perceptron grow with their number, those of Winnow with "
    "its logarithm. Dotted: the bounds.",
    settings={"features": [2**k for k in range(3, 14)], "rounds": 2000},
    repeat=repeat_irrelevant,
    keys=("features", "learner"),
    measures=("mistakes",),
    figure=partial(lines, x="features", measures=("mistakes",), log="xy"),
    claims=(
        Claim(
            "SLIDES",
            "Winnow",
            "Mistakes of Winnow grow with the logarithm of the number of features, those of the Perceptron linearly.",
            growth,
        ),
        Claim("PD", "Thm. 2", "Mistakes stay within the bounds.", partial(within, "mistakes", "features")),
    ),
    wide=Wide(("features",), "learner", "mistakes"),
    repetitions=5,
)
EXPERIMENTS = (REGRESSION, IRRELEVANT)
