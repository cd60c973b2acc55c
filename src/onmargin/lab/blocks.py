"""[SIMPROJ] Figures 7 to 9, synthetic blocks: block size, number of relevant features, and label noise."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from onmargin import BlockClassifier
from onmargin.lab.experiment import Claim, Experiment, Finding, Settings, Wide, reproduced
from onmargin.lab.pictures import lines
from onmargin.lab.table import Row, Table, correlation

ADDITIVE = {
    "MaxPA.A": "max",
    "SimPerc.A": "simperc",
    "ConProj.A": "conproj",
    "SimProj.A": "simproj",
    "SimOpt.A": "simopt",
}
MULTIPLICATIVE = {"MaxPA.M": "max", "SimPerc.M": "simperc", "ConProj.M": "conproj", "SimProj.M": "simproj"}

_PIECE = 8192  # rows drawn at a time


class Blocks(NamedTuple):
    """Rows, their labels and trials, and the margin of the target on all rows."""

    X: NDArray[np.float32]
    y: NDArray[np.float64]
    groups: NDArray[np.int64]
    margin: float


def blocks(
    random: Generator,
    n_trials: int,
    size: int,
    *,
    n_features: int = 500,
    n_relevant: int = 50,
    contaminated: float = 0.0,
    zeros: float = 0.5,
) -> Blocks:
    """Draw rows of -1, 0 and 1, labeled by a target on the simplex, without the three quarters of smallest margin.

    In a fraction `contaminated` of the blocks, each label is flipped with probability 0.4. An entry is 0 with
    probability `zeros`, a decimal fraction of at most two digits; the paper does not print it.
    """
    share = (1 - Fraction(str(zeros))) / 2  # the probability of 1, and of -1
    ones, levels = share.as_integer_ratio()
    entries = np.repeat(np.array([-1, 0, 1], np.float32), [ones, levels - 2 * ones, ones])
    target = np.zeros(n_features, np.float32)
    target[:n_relevant] = random.random(n_relevant)
    target /= target.sum()
    n, margin, found = n_trials * size, 0.0, 0
    rows, scores = [], []
    while found < n:
        drawn = entries[random.integers(levels, size=(_PIECE, n_features), dtype=np.uint8)]
        score = drawn @ target
        margin = margin or float(np.quantile(np.abs(score), 0.75))
        clear = np.abs(score) >= margin
        rows.append(drawn[clear])
        scores.append(score[clear])
        found += len(rows[-1])
    y = np.sign(np.concatenate(scores)[:n]).astype(np.float64)
    groups = np.repeat(np.arange(n_trials), size)
    wrong = (random.random(n_trials) < contaminated)[groups] & (random.random(n) < 0.4)
    return Blocks(np.concatenate(rows)[:n], np.where(wrong, -y, y), groups, margin)


def learn_all(trials: Blocks, settings: Settings) -> Iterator[Row]:
    """Yield the imperfect trials of every learner, for every C and, on the simplex, for fractions of the margin."""
    X, y, groups, margin = trials
    for name, update in ADDITIVE.items():
        # Predictions of SimPerc do not depend on C.
        for C in [1.0] if update == "simperc" else settings["C"]:
            model = BlockClassifier(update=update, C=C).partial_fit(X, y, groups, classes=[-1, 1])
            yield {"learner": name, "C": C, "margin": 1.0, "imperfect": model.totals_.mistakes}
    wide = X.astype(np.float64)
    for name, update in MULTIPLICATIVE.items():
        # On the simplex, they do not depend on the margin.
        for C, part in product(settings["C"], [1.0] if update == "simperc" else settings["margins"]):
            model = BlockClassifier(update=update, C=C, geometry="entropic", margin=part * margin)
            totals = model.partial_fit(wide, y, groups, classes=[-1, 1]).totals_
            yield {"learner": name, "C": C, "margin": part, "imperfect": totals.mistakes}


def repeat(settings: Settings, random: Generator) -> Iterator[Row]:
    """Run all block sizes, numbers of relevant features and fractions of contaminated blocks, with the same target."""
    seed = random.integers(2**63)
    for size, relevant, noise in product(settings["sizes"], settings["relevant"], settings["contaminated"]):
        trials = blocks(
            np.random.default_rng(seed),
            settings["trials"],
            size,
            n_relevant=relevant,
            contaminated=noise,
            zeros=settings["zeros"],
        )
        for row in learn_all(trials, settings):
            yield {"size": size, "relevant": relevant, "contaminated": noise, **row}


def curve(table: Table, learner: str, along: str, **where: object) -> dict[float, float]:
    """Return the imperfect trials by the value of the column `along`."""
    rows = table.where(learner=learner, **where)
    return dict(zip(rows[along], rows["imperfect"], strict=True))


def tell(name: str, values: dict[float, float]) -> str:
    """Describe the values of a curve in words."""
    return f"{name} {' '.join(f'{value:.0f}' for value in values.values())}"


def with_size(learners: list[str], worse: bool, table: Table) -> Finding:
    """Every learner gets worse (or better) from the smallest to the largest blocks, almost monotonically."""
    curves = {name: curve(table, name, "size") for name in learners}
    sizes = " ".join(map(str, table.distinct("size")))
    holds = all(
        _monotone(list(values.values()) if worse else list(values.values())[::-1]) for values in curves.values()
    )
    return reproduced(holds, f"imperfect trials in blocks of {sizes}: {'; '.join(tell(*c) for c in curves.items())}")


def _monotone(values: list[float]) -> bool:
    """Return whether values increase, except for decreases of at most a twentieth."""
    return values[-1] > 1.05 * values[0] and all(b >= 0.95 * a for a, b in pairwise(values))


def insensitive(table: Table) -> Finding:
    """No additive learner of the figure changes by more than a fifth from end to end."""
    changes = {}
    for size, name in product(table.distinct("size"), [name for name in ADDITIVE if name != "MaxPA.A"]):
        values = list(curve(table, name, "relevant", size=size).values())
        changes[f"{name} in blocks of {size}"] = values[-1] / values[0] - 1
    numbers = ", ".join(f"{name} {change:+.0%}" for name, change in changes.items())
    return reproduced(
        max(map(abs, changes.values())) <= 0.2, f"from {_ends(table, 'relevant')} relevant features: {numbers}"
    )


def worse_then_better(table: Table) -> Finding:
    """On the simplex, the number of imperfect trials peaks between the fewest and the most relevant features."""
    curves = {
        f"{name} in blocks of {size}": curve(table, name, "relevant", size=size)
        for size, name in product(table.distinct("size"), MULTIPLICATIVE)
    }
    holds = all(min(c) < max(c, key=lambda relevant: c[relevant]) < max(c) for c in curves.values())
    listed = " ".join(map(str, table.distinct("relevant")))
    return reproduced(holds, f"imperfect trials with {listed} relevant: {'; '.join(tell(*c) for c in curves.items())}")


def linear_in_noise(table: Table) -> Finding:
    """A straight line explains 95 % of the growth of SimProj.A and SimProj.M."""
    numbers, holds = [], True
    for size, name in product(table.distinct("size"), ("SimProj.A", "SimProj.M")):
        values = curve(table, name, "contaminated", size=size)
        fit = correlation(list(values), list(values.values())) ** 2
        holds &= fit > 0.95 and values[max(values)] > values[min(values)]
        numbers.append(f"{tell(name, values)} (r² {fit:.2f}) in blocks of {size}")
    return reproduced(bool(holds), "; ".join(numbers))


def increments_grow(table: Table) -> Finding:
    """Each increase of the noise adds more imperfect trials of MaxPA.A than the one before, for every block size."""
    numbers, holds = [], True
    for size in table.distinct("size"):
        values = curve(table, "MaxPA.A", "contaminated", size=size)
        steps = [after - before for before, after in pairwise(values.values())]
        holds &= all(later > sooner for sooner, later in pairwise(steps))
        added = " ".join(f"{step:.0f}" for step in steps)
        numbers.append(f"{tell('MaxPA.A', values)} in blocks of {size}: steps of {added}")
    return reproduced(holds, "; ".join(numbers))


def beats_max(table: Table) -> Finding:
    """Compare SimProj with MaxPA of the same geometry, for every block size above 1; at size 1 they are the same."""
    numbers, holds = [], True
    for kind in "AM":
        even, largest = (curve(table, f"{name}.{kind}", "size") for name in ("SimProj", "MaxPA"))
        holds &= all(even[size] < largest[size] for size in even if size > 1)
        numbers.append(f"{tell(f'SimProj.{kind}', even)}, {tell(f'MaxPA.{kind}', largest)}")
    return reproduced(holds, f"in blocks of {' '.join(map(str, table.distinct('size')))}: {'; '.join(numbers)}")


def beats_max_in_large_blocks(table: Table) -> Finding:
    """Compare the worst of all variants with the better of MaxPA.A and MaxPA.M, for every noise level."""
    large = {"size": max(table["size"])}
    curves = {name: curve(table, name, "contaminated", **large) for name in (*ADDITIVE, *MULTIPLICATIVE)}
    largest, variants = (
        [values for name, values in curves.items() if name.startswith("MaxPA") == is_max] for is_max in (True, False)
    )
    holds = all(max(c[noise] for c in variants) < min(c[noise] for c in largest) for noise in largest[0])
    return reproduced(holds, f"in blocks of {large['size']}: {'; '.join(tell(*c) for c in curves.items())}")


def max_much_worse(table: Table) -> Finding:
    """MaxPA.A has at least 1.5 times the imperfect trials of any other learner, in every column of the figure."""
    numbers, holds = [], True
    for size in table.distinct("size"):
        curves = {name: curve(table, name, "relevant", size=size) for name in (*ADDITIVE, *MULTIPLICATIVE)}
        largest = curves.pop("MaxPA.A")
        worst = {relevant: max(c[relevant] for c in curves.values()) for relevant in largest}
        holds &= all(largest[relevant] >= 1.5 * worst[relevant] for relevant in largest)
        numbers.append(f"{tell('MaxPA.A', largest)}, {tell('the worst other', worst)} in blocks of {size}")
    listed = " ".join(map(str, table.distinct("relevant")))
    return reproduced(holds, f"imperfect trials with {listed} relevant: {'; '.join(numbers)}")


def best_in_small_blocks(table: Table) -> Finding:
    """Compare learners in blocks of 5, for every fraction of contaminated blocks."""
    small = table.where(size=min(table["size"]))
    winners = {
        noise: min(small.where(contaminated=noise), key=lambda row: row["imperfect"])["learner"]
        for noise in small.distinct("contaminated")
    }
    numbers = ", ".join(f"{name} with {noise:.0%} contaminated" for noise, name in winners.items())
    return reproduced(set(winners.values()) == {"SimProj.M"}, f"best in blocks of {min(table['size'])}: {numbers}")


def simopt_worse(table: Table) -> Finding:
    """Compare sums over all noise levels above 0, for each block size."""
    pairs, holds = [], True
    for size in table.distinct("size"):
        optimal, even = (curve(table, name, "contaminated", size=size) for name in ("SimOpt.A", "SimProj.A"))
        noisy = [noise for noise in even if noise > 0]
        holds &= sum(optimal[noise] for noise in noisy) > sum(even[noise] for noise in noisy)
        pairs.append(f"{tell('SimOpt.A', optimal)}, {tell('SimProj.A', even)} in blocks of {size}")
    return reproduced(holds, "; ".join(pairs))


def _ends(table: Table, column: str) -> str:
    return f"{min(table[column])} to {max(table[column])}"


_COMMON = {"trials": 1000, "margins": [0.5, 1.0, 2.0], "relevant": [50], "contaminated": [0.0], "zeros": 0.5}
_GRID = [2.0**k for k in range(-5, 4)]


def _experiment(
    name: str,
    figure: int,
    along: str,
    *,
    title: str,
    shows: str,
    claims: dict[str, Callable[[Table], Finding]],
    **settings: object,
) -> Experiment:
    panel = None if along == "size" else "size"
    return Experiment(
        name=name,
        paper="SIMPROJ",
        section=f"Fig. {figure}",
        title=title,
        shows=shows,
        settings={**_COMMON, "C": _GRID, **settings},
        repeat=repeat,
        keys=("size", "relevant", "contaminated", "learner", "C", "margin"),
        measures=("imperfect",),
        best=("C", "margin"),
        figure=partial(
            lines,
            x=along,
            measures=("imperfect",),
            panel=panel,
            labels={
                "size": "blocks of",
                "imperfect": "imperfect trials",
                "relevant": "features that matter",
                "contaminated": "fraction of blocks contaminated",
            },
        ),
        claims=tuple(Claim("SIMPROJ", f"Fig. {figure}", statement, judge) for statement, judge in claims.items()),
        wide=Wide(("size",) if along == "size" else ("size", along), "learner", "imperfect"),
        repetitions=10,
        split={"size": "sizes"}.get(along, along),
    )


SIZE = _experiment(
    "block-size",
    7,
    "size",
    title="The size of blocks",
    shows="Learners that use all instances of a block learn more from larger blocks; those that use the worst instance "
    "only make more mistakes.",
    claims={
        "MaxPA.A does worse with larger blocks.": partial(with_size, ["MaxPA.A"], True),
        "SimProj.A and SimOpt.A do better with larger blocks.": partial(with_size, ["SimProj.A", "SimOpt.A"], False),
        "All multiplicative learners do worse with larger blocks.": partial(with_size, list(MULTIPLICATIVE), True),
        "SimProj always does better than MaxPA.": beats_max,
    },
    sizes=[1, 5, 10, 20],
)
SPARSITY = _experiment(
    "block-sparsity",
    8,
    "relevant",
    title="How many features matter",
    shows="Multiplicative learners gain where few of the 500 features matter; additive ones are not affected.",
    claims={
        "Additive learners are insensitive to the number of features that matter.": insensitive,
        "Multiplicative learners do worse up to about 30 % of features that matter, then better.": worse_then_better,
        "MaxPA.A does much worse than any other learner.": max_much_worse,
    },
    sizes=[5, 20],
    relevant=[50, 100, 150, 200, 250],
)
NOISE = _experiment(
    "block-noise",
    9,
    "contaminated",
    title="Contaminated blocks",
    shows="Two fifths of the labels are flipped in a fraction of the blocks.",
    claims={
        "Mistakes of SimProj grow linearly with the noise.": linear_in_noise,
        "Mistakes of MaxPA.A grow super-linearly with the noise.": increments_grow,
        "In blocks of 20 every simultaneous projections variant does better than any MaxPA.": beats_max_in_large_blocks,
        "SimProj.M is the best in blocks of 5.": best_in_small_blocks,
        "SimOpt does worse than SimProj under noise.": simopt_worse,
    },
    sizes=[5, 20],
    contaminated=[0.0, 0.05, 0.1, 0.15, 0.2],
    C=[2.0**k for k in range(-9, 4)],
)
EXPERIMENTS = (SIZE, SPARSITY, NOISE)
