"""[JMLR] sec. 10: instance noise, label noise, and the effect of C, in the plane."""

from collections.abc import Iterator
from functools import partial
from math import inf, nan, pi
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from onmargin import PassiveAggressiveClassifier
from onmargin.lab.experiment import Claim, Experiment, Finding, Settings, Wide, reproduced
from onmargin.lab.pictures import lines
from onmargin.lab.table import Row, Table

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]

BEST = "best fixed"
RULES = {"PA": "hinge", "PA-I": "hinge", "PA-II": "squared_hinge"}
ALIKE, CLEARLY = 0.1, 0.25  # relative differences of errors that count as equal, and as clearly different


def plane(
    random: Generator, n_rounds: int, *, instance_noise: float = 0.0, label_noise: float = 0.0
) -> tuple[Rows, Labels]:
    """Draw y in {-1, 1} and x normal around y (1, 1) with variances 0.2 and 2; add noise to x and flip labels.

    The noise is drawn last, so the same `random` gives the same points for any fraction of flipped labels.
    """
    y = random.choice([-1, 1], n_rounds)
    X = y[:, None] + random.standard_normal((n_rounds, 2)) * np.sqrt([0.2, 2.0])
    X += np.sqrt(instance_noise) * random.standard_normal((n_rounds, 2))
    return X, np.where(random.random(n_rounds) < label_noise, -y, y)


def least_error(X: Rows, y: Labels) -> float:
    """Return the error of the best line through the origin in hindsight, by a sweep over all directions.

    A direction classifies an example correctly if it is within a quarter turn of y x, which is an interval of angles.
    """
    z = y[:, None] * X
    z = z[z.any(axis=1)]
    angle = np.arctan2(z[:, 1], z[:, 0])
    first, last = (angle - pi / 2) % (2 * pi), (angle + pi / 2) % (2 * pi)
    change = np.repeat([1, -1], len(z))
    # At equal angles the interval ends come first: on the boundary a direction is wrong.
    order = np.lexsort((change, np.concatenate([first, last])))
    right = np.count_nonzero(first > last) + np.cumsum(change[order]).max(initial=0)
    return 1 - float(right) / len(y)


def learner(rule: str, C: float) -> PassiveAggressiveClassifier:
    """Return PA, PA-I or PA-II without an intercept."""
    return PassiveAggressiveClassifier(C=inf if rule == "PA" else C, loss=RULES[rule], fit_intercept=False)


def repeat_noise(settings: Settings, random: Generator) -> Iterator[Row]:
    """Run each noise level on the same points."""
    seed = random.integers(2**63)
    for noise in settings["noise"]:
        X, y = plane(np.random.default_rng(seed), settings["rounds"], **{settings["kind"]: noise})
        for rule in RULES:
            totals = learner(rule, settings["C"]).partial_fit(X, y).totals_
            yield {
                "noise": noise,
                "learner": rule,
                "error": totals.mistakes / totals.rounds,
                "loss": totals.loss / totals.rounds,
            }
        yield {"noise": noise, "learner": BEST, "error": least_error(X, y), "loss": nan}


def repeat_aggressiveness(settings: Settings, random: Generator) -> Iterator[Row]:
    """Run each C and fraction of flipped labels on the same points."""
    seed = random.integers(2**63)
    for noise in settings["noise"]:
        X, y = plane(np.random.default_rng(seed), settings["rounds"], label_noise=noise)
        for rule in ("PA-I", "PA-II"):
            for C in settings["C"]:
                totals = learner(rule, C).partial_fit(X, y).totals_
                error, loss = totals.mistakes / totals.rounds, totals.loss / totals.rounds
                yield {"learner": rule, "flipped": noise, "C": C, "error": error, "loss": loss}


def repeat_lengths(settings: Settings, random: Generator) -> Iterator[Row]:
    """Yield the error on one sequence after increasing numbers of rounds."""
    stops = settings["rounds"]
    X, y = plane(random, stops[-1], label_noise=settings["noise"])
    for rule in ("PA-I", "PA-II"):
        for C in settings["C"]:
            model, start = learner(rule, C), 0
            for stop in stops:
                totals = model.partial_fit(X[start:stop], y[start:stop], classes=[-1, 1]).totals_
                yield {"learner": rule, "C": C, "rounds": stop, "error": totals.mistakes / totals.rounds}
                start = stop


def alike_without_noise(table: Table) -> Finding:
    least = min(table["noise"])
    errors = {rule: table.one("error", noise=least, learner=rule) for rule in RULES}
    return reproduced(
        _alike(*errors.values()), f"errors without noise: {_list_numbers(errors)}; alike means within {ALIKE:.0%}"
    )


def worse_under_noise(table: Table) -> Finding:
    most = max(table["noise"])
    errors = {rule: table.one("error", noise=most, learner=rule) for rule in RULES}
    losses = {rule: table.one("loss", noise=most, learner=rule) for rule in RULES}
    others = [errors["PA-I"], errors["PA-II"]]
    holds = (
        errors["PA"] >= (1 + CLEARLY) * max(others)
        and _alike(*others)
        and losses["PA"] > max(losses["PA-I"], losses["PA-II"])
    )
    best = table.one("error", noise=most, learner=BEST)
    return reproduced(
        holds, f"errors at noise {most}: {_list_numbers(errors)}, best fixed {best:.4f}; losses {_list_numbers(losses)}"
    )


def _alike(*errors: float) -> bool:
    return max(errors) <= (1 + ALIKE) * min(errors)


def draw_noise(axis: str, table: Table) -> Any:
    """Plot errors and losses against the error of the best fixed line, as the paper does."""
    best = dict(zip(*(table.where(learner=BEST)[column] for column in ("noise", "error")), strict=True))
    shifted = Table({**row, "best": best[row["noise"]]} for row in table)
    return lines(
        shifted, x="best", measures=("error", "loss"), labels={"best": f"error of the best line, as {axis} grows"}
    )


def small_c_loses(rule: str, table: Table) -> Finding:
    """The loss is above half that of zero weights, 1 per round, and nearly the same for every noise level."""
    least = min(table["C"])
    losses = {noise: table.one("loss", learner=rule, flipped=noise, C=least) for noise in table.distinct("flipped")}
    spread = max(losses.values()) - min(losses.values())
    numbers = ", ".join(f"{loss:.3f} with {noise:.0%} flipped" for noise, loss in losses.items())
    return reproduced(
        min(losses.values()) > 0.5 and spread < 0.1,
        f"losses of {rule} at C = {least:g}: {numbers}; with weights of zero: 1",
    )


def large_c_separates(rule: str, table: Table) -> Finding:
    def spread(C: float) -> float:
        losses = table.where(learner=rule, C=C)["loss"]
        return float(max(losses) - min(losses))

    small, large = spread(min(table["C"])), spread(max(table["C"]))
    numbers = (
        f"losses of {rule} differ by {small:.3f} between the noise levels at the smallest C, {large:.3f} at the largest"
    )
    return reproduced(large > 3 * small, numbers)


def noise_wants_small_c(rule: str, table: Table) -> Finding:
    best = {}
    for noise in table.distinct("flipped"):
        rows = table.where(learner=rule, flipped=noise)
        best[noise] = min(rows, key=lambda row: row["error"])["C"]
    chosen = list(best.values())
    numbers = ", ".join(f"{C:.2g} with {noise:.0%} flipped" for noise, C in best.items())
    return reproduced(chosen == sorted(chosen, reverse=True) and chosen[0] > chosen[-1], f"best C of {rule}: {numbers}")


def slow_but_better(rule: str, table: Table) -> Finding:
    small, large = min(table["C"]), max(table["C"])
    end = max(table["rounds"])
    start = min(rounds for rounds in table["rounds"] if rounds >= end / 100)

    def error(C: float, rounds: int) -> float:
        return float(table.one("error", learner=rule, C=C, rounds=rounds))

    holds = error(small, start) > error(large, start) and error(small, end) < error(large, end)
    return reproduced(
        holds,
        f"{rule}: after {start} rounds error {error(small, start):.4f} with C = {small:g} and "
        f"{error(large, start):.4f} with C = {large:g}; after {end:,} rounds "
        f"{error(small, end):.4f} and {error(large, end):.4f}",
    )


def _list_numbers(numbers: dict[str, float]) -> str:
    return ", ".join(f"{name} {number:.4f}" for name, number in numbers.items())


def _noise(name: str, kind: str, where: str, *, amounts: list[float], axis: str, title: str) -> Experiment:
    return Experiment(
        name=name,
        paper="JMLR",
        section=f"Fig. 3, {where}",
        title=title,
        shows="Plain PA fits every example and so follows the noise; PA-I and PA-II with a small C stay near the best "
        "fixed line.",
        settings={"kind": kind, "noise": amounts, "rounds": 4000, "C": 0.001},
        repeat=repeat_noise,
        keys=("noise", "learner"),
        measures=("error", "loss"),
        figure=partial(draw_noise, axis),
        claims=(
            Claim(
                "JMLR", f"Fig. 3, {where}", "With little noise, PA, PA-I and PA-II perform alike.", alike_without_noise
            ),
            Claim(
                "JMLR",
                f"Fig. 3, {where}",
                "With much noise, PA is clearly worse, and PA-I and PA-II perform alike.",
                worse_under_noise,
            ),
        ),
        wide=Wide(("noise",), "learner", "error"),
    )


INSTANCE_NOISE = _noise(
    "instance-noise",
    "instance_noise",
    "top",
    amounts=[0.0, 0.5, 1.0, 2.0, 4.0, 7.0, 10.0],
    axis="the noise on instances",
    title="Noise on instances",
)
LABEL_NOISE = _noise(
    "label-noise",
    "label_noise",
    "bottom",
    amounts=[0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3],
    axis="the noise on labels",
    title="Noise on labels",
)
AGGRESSIVENESS = Experiment(
    name="aggressiveness",
    paper="JMLR",
    section="Fig. 4",
    title="The effect of C",
    shows="A small C learns too slowly, and a large C learns the noise. The more noise, the smaller the best C.",
    settings={"noise": [0.02, 0.05, 0.1], "rounds": 4000, "C": [10 ** (k / 2) for k in range(-10, 5)]},
    repeat=repeat_aggressiveness,
    keys=("learner", "flipped", "C"),
    measures=("error", "loss"),
    figure=partial(lines, x="C", measures=("error", "loss"), line="flipped", panel="learner", log="x"),
    claims=tuple(
        Claim("JMLR", "Fig. 4", statement.format(rule), partial(judge, rule))
        for rule in ("PA-I", "PA-II")
        for statement, judge in (
            ("With a small C, {} has a high loss at every noise level.", small_c_loses),
            ("With a large C, the loss of {} depends on the noise level.", large_c_separates),
            ("The more noise, the smaller the best C of {}.", noise_wants_small_c),
        )
    ),
    wide=Wide(("learner", "C"), "flipped", "error"),
)
LENGTHS = Experiment(
    name="lengths",
    paper="JMLR",
    section="Fig. 5",
    title="C and the length of the sequence",
    shows="A small C learns slowly and is better in the end.",
    settings={
        "noise": 0.02,
        "C": [0.001, 100.0],
        "rounds": [10, 20, 50, 100, 200, 500, 1000, 2000, 3500, 5000, 7000, 10_000],
    },
    repeat=repeat_lengths,
    keys=("learner", "C", "rounds"),
    measures=("error",),
    figure=partial(lines, x="rounds", measures=("error",), line="C", panel="learner", log="x"),
    claims=tuple(
        Claim(
            "JMLR",
            "Fig. 5",
            f"With a small C, {rule} learns slowly but is better in the end.",
            partial(slow_but_better, rule),
        )
        for rule in ("PA-I", "PA-II")
    ),
    wide=Wide(("learner", "rounds"), "C", "error"),
)
EXPERIMENTS = (INSTANCE_NOISE, LABEL_NOISE, AGGRESSIVENESS, LENGTHS)
