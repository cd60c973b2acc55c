"""Demonstration: a real stream, its progressive error, and the mistake bound."""

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.syntax import Syntax
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import normalize, scale

from onmargin import PassiveAggressiveClassifier
from onmargin.learner import Totals
from onmargin.theory import certify

NEXT = """\
from onmargin import PassiveAggressiveClassifier

# Cautious steps and averaged weights, for noisy labels.
model = PassiveAggressiveClassifier(C=0.1, average=True)
# One round per example; new classes may appear at any time.
model.partial_fit(X, y)
# Mistakes, loss and dual value so far.
model.totals_
"""


def run() -> None:
    """Learn scikit-learn's breast cancer data, one biopsy at a time."""
    console = Console(highlight=False)
    data = load_breast_cancer()
    X, y = normalize(scale(data.data)), data.target_names[data.target]
    console.print(
        f"[bold]{len(y)} biopsies, {X.shape[1]} measurements each: {' or '.join(data.target_names)}?[/]\n"
        "Each is predicted first and learned afterwards, by PA-I with its default C = 1.\n"
    )
    C = 1.0
    model = PassiveAggressiveClassifier(C=C)
    learn(model, X, y, console)
    totals, certificate = model.totals_, certify(model, X, y, classes=np.unique(y))
    primal = certificate.best.size + C * certificate.best.loss
    console.print(summary(totals))
    console.print(
        f"PA-I made [bold]{totals.mistakes}[/] mistakes; its bound allowed [bold]{certificate.bound:.0f}[/]. The bound "
        f"rests on the best fixed classifier in hindsight, whose objective is {primal:.1f}; the dual value proves that "
        f"none is below {totals.dual_value:.1f}.\n"
    )
    console.print("[bold]Try next[/]")
    console.print(Syntax(NEXT, "python", background_color="default"))


def learn(model: PassiveAggressiveClassifier, X: NDArray[np.float64], y: NDArray[np.str_], console: Console) -> None:
    """Call `partial_fit` once per example, and show the running error next to the progress bar."""
    columns = BarColumn(), MofNCompleteColumn(), TextColumn("error so far {task.fields[error]:.1%}")
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("learning", total=len(y), error=0.0)
        for i in range(len(y)):
            model.partial_fit(X[i : i + 1], y[i : i + 1], classes=np.unique(y))
            progress.update(bar, advance=1, error=model.totals_.mistakes / model.totals_.rounds)


def summary(totals: Totals) -> Table:
    """Return the totals as a table."""
    table = Table("total", "value", title="Totals", title_justify="left")
    for name, value in dict(totals).items():
        table.add_row(name.replace("_", " "), f"{value:.6g}")
    return table
