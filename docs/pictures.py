"""Draw the pictures of the documentation, in a light and a dark version each.

python docs/pictures.py FOLDER            all pictures; Sphinx draws them at the start of every build
python docs/pictures.py FOLDER accuracy   some of them
"""

import io
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from results import fingerprint, speeds, tables_of

BLUE, ORANGE, GREEN, RED = "#3b82c4", "#e08214", "#2a9d6f", "#d1495b"


TREES = ("CapyMOA ARF", "CapyMOA SRP", "river ARF", "river HAT")


class Theme(NamedTuple):
    """Colors that go with the background of a page."""

    name: str
    ink: str
    faint: str


THEMES = (Theme("light", "#24292f", "#8c959f"), Theme("dark", "#e6edf3", "#7d8590"))


def style(theme: Theme) -> dict[str, object]:
    """Return the settings of matplotlib for a theme; the same picture has the same bytes in every build."""
    inks = ["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color", "axes.titlecolor"]
    return dict.fromkeys(inks, theme.ink) | {
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "figure.constrained_layout.use": True,
        "legend.frameon": False,
        "savefig.transparent": True,
        "savefig.dpi": 150,
        "svg.fonttype": "path",
        "svg.hashsalt": "onmargin",
    }


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str, **more: object) -> None:
    axes.add_patch(FancyArrowPatch(start, end, color=color, arrowstyle="-|>", mutation_scale=14, lw=2, **more))


def box(axes: Axes, x: float, width: float, text: str, colors: tuple[str, str]) -> None:
    """Draw a rounded box with its center at x, in a color, and a text in another."""
    edge, ink = colors
    place, size = (x - width / 2, 0.9), (width, 0.6)
    axes.add_patch(FancyBboxPatch(place, *size, boxstyle="round,pad=0.06", fc="none", ec=edge, lw=1.6))
    axes.text(x, 1.2, text, ha="center", va="center", fontsize=9.5, color=ink)


def update(theme: Theme) -> Figure:
    """One round in the plane of the weights: no loss, the full step, and a step that C limits."""
    figure, frames = plt.subplots(1, 3, figsize=(9, 3.1))
    normal = np.array([np.cos(0.5), np.sin(0.5)])
    along = np.array([-normal[1], normal[0]])
    titles = ("No loss: stay (passive)", "Loss: move to the margin (PA)", "Noisy label? At most C (PA-I)")
    for axes, title, distance, cap in zip(frames, titles, (-0.55, 1.15, 1.15), (0.0, 9.0, 0.55), strict=True):
        corner = 0.2 * normal
        line = corner + np.outer([-2, 2], along)
        far = line + 4 * normal
        axes.fill(*np.concatenate([line, far[::-1]]).T, color=GREEN, alpha=0.16, lw=0)
        axes.plot(*line.T, color=GREEN, lw=1.6)
        start = corner - distance * normal - 0.15 * along
        step = min(max(distance, 0), cap)
        if step:
            arrow(axes, tuple(start), tuple(start + step * normal), BLUE, shrinkA=3, shrinkB=0)
        axes.plot(*start, "o", color=theme.ink, ms=7)
        axes.annotate("$w_t$", start, (-6, -14), textcoords="offset points", ha="right")
        if step:
            axes.annotate("$w_{t+1}$", start + step * normal, (7, -11), textcoords="offset points", color=BLUE)
        axes.text(
            1.42, 1.28, "no loss here:\n$y_t\\, w \\cdot x_t \\geq 1$", color=GREEN, ha="right", va="top", fontsize=9
        )
        axes.set(xlim=(-1.5, 1.5), ylim=(-1.35, 1.35), xticks=[], yticks=[], aspect="equal")
        axes.set_title(title, fontsize=10.5)
        axes.spines[:].set_visible(True)
        axes.spines[:].set_color(theme.faint)
    return figure


def steps(theme: Theme) -> Figure:
    """The length of the step as a function of the loss."""
    figure, axes = plt.subplots(figsize=(5.2, 3.1))
    loss = np.linspace(0, 3, 200)
    axes.plot(loss, loss, color=RED, lw=2, label=r"PA:  $\ell\,/\,\|x\|^2$")
    axes.plot(loss, np.minimum(1, loss), color=BLUE, lw=2, label=r"PA-I:  $\min(C,\ \ell\,/\,\|x\|^2)$")
    axes.plot(loss, loss / 1.5, color=ORANGE, lw=2, label=r"PA-II:  $\ell\,/\,(\|x\|^2 + 1/2C)$")
    axes.set(xlabel=r"loss $\ell$", ylabel=r"step $\tau$", xlim=(0, 3), ylim=(0, 3))
    axes.legend(title=r"$C = 1$, $\|x\| = 1$")
    return figure


def parts(theme: Theme) -> Figure:
    """What the three parts of a model do in a round."""
    figure, axes = plt.subplots(figsize=(9, 2.6))
    for x, text, color in (
        (0.9, "row $x$", theme.faint),
        (3.0, "geometry\nscores $= w \\cdot x$", BLUE),
        (5.6, "task\nprediction; half-spaces", ORANGE),
        (8.3, "step\nhow far: $\\tau$", RED),
    ):
        box(axes, x, 1.9 if x > 1 else 0.9, text, (color, theme.ink))
    for start, end in ((1.45, 1.95), (4.05, 4.55), (6.65, 7.25)):
        arrow(axes, (start, 1.2), (end, 1.2), theme.faint)
    axes.text(5.6, 2.25, "target $y$", ha="center", color=theme.ink)
    arrow(axes, (5.6, 2.15), (5.6, 1.62), theme.faint)
    arrow(axes, (8.3, 0.82), (3.0, 0.82), theme.faint, connectionstyle="arc3,rad=-0.16")
    axes.text(5.6, 0.0, "the geometry moves the weights by $\\tau$ along each half-space", ha="center", color=theme.ink)
    axes.set(xlim=(0.2, 9.5), ylim=(-0.25, 2.5), aspect="equal")
    axes.axis("off")
    return figure


def service(theme: Theme) -> Figure:
    """What happens between a request to learn and its acknowledgment."""
    figure, axes = plt.subplots(figsize=(9, 3.3))
    actors = (("client", 0.6), ("gate", 2.5), ("queue", 4.3), ("journal", 6.1), ("witness", 7.9), ("model", 9.6))
    for name, x in actors:
        axes.plot([x, x], [0.1, 3.6], color=theme.faint, lw=1, ls=":")
        axes.text(x, 3.78, name, ha="center", weight="bold")
    messages = (
        (0.6, 2.5, 3.3, "POST /learn", BLUE),
        (2.5, 4.3, 2.8, "token, limits,\nexamples valid", BLUE),
        (4.3, 6.1, 2.3, "one transaction\nper group, fsync", ORANGE),
        (6.1, 7.9, 1.8, "number and\nchecksum", ORANGE),
        (7.9, 9.6, 1.3, "learned", GREEN),
        (9.6, 0.6, 0.5, "acknowledged: on the disk before it is learned, learned before it is answered", GREEN),
    )
    for start, end, y, text, color in messages:
        arrow(axes, (start, y), (end, y), color, shrinkA=0, shrinkB=0)
        axes.text((start + end) / 2, y + 0.08, text, ha="center", va="bottom", fontsize=8.5)
    axes.set(xlim=(0, 10.2), ylim=(0, 4))
    axes.axis("off")
    return figure


def boundaries(theme: Theme) -> Figure:
    """What several learners predict on three toy sets, after one pass."""
    from sklearn.datasets import make_circles, make_classification, make_moons
    from sklearn.preprocessing import scale

    from onmargin import AutoClassifier, PassiveAggressiveClassifier
    from onmargin.learner import as_rows

    one_cluster = {"n_informative": 2, "n_redundant": 0, "n_clusters_per_class": 1, "class_sep": 0.9}
    sets = (
        make_classification(800, 2, **one_cluster, random_state=1),
        make_moons(800, noise=0.22, random_state=0),
        make_circles(800, noise=0.16, factor=0.45, random_state=0),
    )
    names = ("PA-I", "PA-I, Gaussian kernel", "an expert on ferns", "the forest expert", "AutoClassifier")
    figure, grid = plt.subplots(3, len(names), figsize=(9.6, 5.9), sharex="row", sharey="row")
    for axes, name in zip(grid[0], names, strict=True):
        axes.set_title(name, fontsize=9.5)
    for axes_of_set, (rows, y) in zip(grid, sets, strict=True):
        X = scale(rows)
        low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
        across, up = np.meshgrid(np.linspace(low[0], high[0], 120), np.linspace(low[1], high[1], 120))
        points = np.column_stack([across.ravel(), up.ravel()])
        auto = AutoClassifier(sleeping=False).partial_fit(X, y)
        each = auto._learner.scores(as_rows(points))[:, auto._learner.task.places]
        column = {name: each[:, k] for k, name in reversed(list(enumerate(auto.experts_.names)))}
        ferns = next(name for name in column if "ferns" in name)
        shown = (
            PassiveAggressiveClassifier(C=0.1, average=True).partial_fit(X, y).decision_function(points),
            PassiveAggressiveClassifier(C=0.1, kernel="rbf", gamma=1.0).partial_fit(X, y).decision_function(points),
            column[ferns],
            column["forest"],
            auto.decision_function(points),
        )
        for axes, scores in zip(axes_of_set, shown, strict=True):
            above = (scores > 0).reshape(across.shape)
            axes.contourf(across, up, above, levels=[-0.5, 0.5, 1.5], colors=[ORANGE, BLUE], alpha=0.3, rasterized=True)
            axes.scatter(*X[::2].T, c=np.where(y[::2] == 1, BLUE, ORANGE), s=4, lw=0, rasterized=True)
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set_visible(False)
    return figure


def drift(theme: Theme) -> Figure:
    """The error and the votes of the experts while the rule behind the labels changes."""
    from onmargin import AutoClassifier, PassiveAggressiveClassifier

    rng = np.random.default_rng(0)
    n, change, block = 6000, 3000, 50
    X = rng.normal(size=(n, 12))
    rules = rng.normal(size=(2, 12))
    y = (np.where(np.arange(n)[:, None] < change, X @ rules.T[:, :1], X @ rules.T[:, 1:]).ravel() > 0).astype(int)
    auto, plain = AutoClassifier(), PassiveAggressiveClassifier(C=0.01, average=True)
    errors, votes = np.zeros((2, n // block)), []
    for k, start in enumerate(range(0, n, block)):
        some = slice(start, start + block)
        for row, model in enumerate((auto, plain)):
            before = model.totals_.mistakes if start else 0
            model.partial_fit(X[some], y[some], classes=[0, 1])
            errors[row, k] = (model.totals_.mistakes - before) / block
        results = auto.experts_
        votes.append(dict(zip(results.names, results.weights, strict=True)))
    total = {name: sum(vote.get(name, 0) for vote in votes) for name in votes[-1]}
    names = sorted(total, key=total.__getitem__, reverse=True)[:4]
    figure, (top, below) = plt.subplots(2, 1, figsize=(8, 4.6), sharex=True)
    at = np.arange(n // block) * block + block
    smooth = np.stack([np.convolve(row, np.ones(6) / 6, mode="same") for row in errors])
    top.plot(at[:-3], 100 * smooth[1, :-3], color=theme.faint, lw=1.6, label="averaged PA-I")
    top.plot(at[:-3], 100 * smooth[0, :-3], color=BLUE, lw=1.8, label="AutoClassifier")
    top.axvline(change, color=theme.faint, ls=":")
    top.set(ylabel="error, %", ylim=(0, 60))
    top.legend(loc="upper left")
    shares = np.array([[vote.get(name, 0) for vote in votes] for name in names])
    rest = 1 - shares.sum(axis=0)
    colors = [BLUE, ORANGE, GREEN, RED, theme.faint]
    below.stackplot(at, *shares, rest, labels=[*names, "the others"], colors=colors, alpha=0.75, lw=0)
    below.axvline(change, color=theme.ink, ls=":")
    below.set(ylabel="share of the vote", xlabel="examples", ylim=(0, 1), xlim=(block, n))
    below.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    return figure


def accuracy(theme: Theme) -> Figure:
    """The error of Auto as a multiple of that of the best tuned linear model, one dot per held-out table."""
    figure, axes = plt.subplots(figsize=(9, 3.4))
    for height, (kind, learner) in enumerate((("Numbers", "AutoRegressor"), ("Classes", "AutoClassifier"))):
        against_linear, against_trees, *_ = tables_of(f"{kind}, held out")
        ratios = {str(row["table"]): float(row["Auto / best peer"]) for row in against_linear}
        names = sorted(ratios, key=ratios.__getitem__)
        ratio = np.array([ratios[name] for name in names])
        spread = height + 0.26 * np.linspace(-1, 1, 7)[np.arange(len(ratio)) * 3 % 7]
        axes.scatter(ratio, spread, color=np.where(ratio <= 1, BLUE, ORANGE), s=34, lw=0, alpha=0.85)
        mean = float(np.exp(np.log(ratio).mean()))
        axes.plot([mean] * 2, [height - 0.34, height + 0.34], color=theme.ink, lw=1.4)
        axes.text(mean, height + 0.36, f"geometric mean {mean:.2f}", ha="center", va="bottom", fontsize=8.5)
        axes.text(0.098, height, f"{learner}\n{len(names)} held-out tables", va="center", fontsize=9.5)
        better = [
            str(row["table"]).removesuffix(" (curved)")
            for row in against_trees
            if min(float(row[peer]) for peer in TREES if row.get(peer, "") != "") < float(row["Auto"])
        ]
        for name in better:
            at = names.index(name)
            axes.scatter(ratio[at], spread[at], facecolor="none", edgecolor=RED, s=90, lw=1.4)
            axes.annotate(
                f"{name}: a forest is better",
                (ratio[at], spread[at]),
                (-9, -3),
                textcoords="offset points",
                fontsize=8,
                ha="right",
            )
    axes.axvline(1, color=theme.faint, lw=1)
    axes.text(1.015, -0.55, "best tuned\nlinear model", fontsize=8.5, color=theme.faint, va="bottom")
    axes.set_xscale("log")
    axes.set(xlim=(0.095, 1.45), ylim=(-0.6, 1.65), yticks=[])
    axes.set_xlabel("error of Auto, untuned / error of the best linear model of three libraries, tuned in hindsight")
    axes.set_xticks([0.2, 0.3, 0.5, 0.7, 1.0], ["0.2", "0.3", "0.5", "0.7", "1"])
    axes.minorticks_off()
    axes.spines.left.set_visible(False)
    return figure


def speed(theme: Theme) -> Figure:
    """How many times as long other libraries take for the same work."""
    rows = speeds()[::-1]
    figure, axes = plt.subplots(figsize=(9, 0.32 * len(rows) + 0.8))
    for y, (_, _, ratio) in enumerate(rows):
        axes.barh(y, ratio - 1, left=1, color=BLUE if ratio >= 1 else ORANGE, alpha=0.85, height=0.62)
        axes.text(max(ratio, 1) * 1.06, y, f"{ratio:.3g}", va="center", fontsize=8.5)
    axes.set_yticks(range(len(rows)), [f"{what}: {peer}" for what, peer, _ in rows], fontsize=8.5)
    axes.axvline(1, color=theme.ink, lw=1)
    axes.set_xscale("log")
    axes.set(xlim=(0.5, 900), xlabel="CPU time of the other library / CPU time of onmargin")
    axes.set_xticks([1, 3, 10, 30, 100, 300], ["1", "3", "10", "30", "100", "300"])
    axes.minorticks_off()
    axes.tick_params(axis="y", length=0)
    return figure


def tradeoff(theme: Theme) -> Figure:
    """Error and time of Auto and of a forest, on the first 2,000 rows of tables with nonlinear boundaries."""
    figure, axes = plt.subplots(figsize=(7, 3.6))
    for row in tables_of("Classes, held out")[1]:
        times = float(row["Auto, us"]), float(row["CapyMOA ARF, us"])
        errors = float(row["Auto"]), float(row["CapyMOA ARF"])
        axes.plot(times, errors, color=theme.faint, lw=0.8, zorder=1)
        axes.scatter(times, errors, color=[BLUE, ORANGE], s=36, lw=0, zorder=2)
        name = str(row["table"]).removesuffix(" (curved)")
        axes.annotate(name, (times[1], errors[1]), (6, -3), textcoords="offset points", fontsize=7.5)
    axes.scatter([], [], color=BLUE, label="AutoClassifier")
    axes.scatter([], [], color=ORANGE, label="adaptive random forest (CapyMOA)")
    axes.legend(loc="upper center", fontsize=8.5)
    axes.set_xscale("log")
    axes.set(xlabel="CPU time per row, microseconds", ylabel="error, %", xlim=(10, 6000))
    return figure


def terminal(theme: Theme) -> str:
    """A session of the command line, as it happened."""
    from rich.console import Console
    from rich.terminal_theme import DIMMED_MONOKAI, TerminalTheme
    from rich.text import Text
    from sklearn.datasets import load_breast_cancer

    light = TerminalTheme((246, 248, 250), (36, 41, 47), [(0, 0, 0)] * 8)
    console = Console(record=True, width=96, file=io.StringIO())
    with tempfile.TemporaryDirectory() as folder:
        found = load_breast_cancer()
        header = ",".join([*found.feature_names, "diagnosis"])
        rows = [",".join([*map(str, x), found.target_names[y]]) for x, y in zip(found.data, found.target, strict=True)]
        for name, some in ("tumors", rows[:400]), ("new", rows[400:]):
            (Path(folder) / f"{name}.csv").write_text("\n".join([header, *some, ""]))
        for command in ("train tumors.csv -o tumors.model", "evaluate tumors.model new.csv"):
            console.print(Text(f"$ onmargin {command}", style="bold"))
            words = [sys.executable, "-m", "onmargin", *command.split()]
            ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
            console.print(Text(ran.stderr + ran.stdout))
    svg = console.export_svg(title="", theme=light if theme.name == "light" else DIMMED_MONOKAI, unique_id="onmargin")
    return re.sub(r"@font-face \{.*?\}\n", "", svg, flags=re.DOTALL)  # fonts would come from the network


PICTURES: dict[str, Callable[[Theme], Figure | str]] = {
    draw.__name__: draw
    for draw in (update, steps, parts, service, boundaries, drift, accuracy, speed, tradeoff, terminal)
}


def draw_all(folder: Path, names: list[str] | None = None) -> None:
    """Write each picture as NAME-light.svg and NAME-dark.svg."""
    mpl.use("svg")
    folder.mkdir(parents=True, exist_ok=True)
    for theme in THEMES:
        with mpl.rc_context(style(theme)):
            for name in names or PICTURES:
                drawn, path = PICTURES[name](theme), folder / f"{name}-{theme.name}.svg"
                if isinstance(drawn, str):
                    path.write_text(drawn)
                else:
                    drawn.savefig(path, metadata={"Date": None, "Creator": None, "Identifier": fingerprint()})
                    plt.close(drawn)


if __name__ == "__main__":
    draw_all(Path(sys.argv[1]), sys.argv[2:])
