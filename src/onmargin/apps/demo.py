"""Demonstration: AutoClassifier beside PA-I on a real stream, and the mistake bound of the latter."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from onmargin import AutoClassifier, PassiveAggressiveClassifier
from onmargin.evaluate import progressive
from onmargin.theory import certify

# Numbers of examples after which the errors so far are printed.
STOPS = (50, 100, 200, 400, 800)
WIDTH = 50  # of the bar of an error of 100 %

NEXT = """\
onmargin train people.csv -o people.model    # any table; format, label and task are detected
onmargin predict people.model new.csv
onmargin serve --data models                 # needs: pip install ".[serve]"
"""


def run(html: str | None = None) -> None:
    """Learn scikit-learn's images of handwritten digits, one at a time; write a page with the curves, if asked to."""
    console = Console(highlight=False, soft_wrap=True)
    X, y = load_digits(return_X_y=True)
    rows = normalize(X)
    console.print(
        f"[bold]{len(y)} images of handwritten digits, {X.shape[1]} pixels each.[/]\n"
        "Each image is predicted first and learned afterwards, in one pass.\n"
    )
    auto, plain = AutoClassifier(), PassiveAggressiveClassifier(C=0.3)
    console.print("[bold]error so far    AutoClassifier   PA-I[/]")
    for start, stop in zip((0, *STOPS), (*STOPS, len(y)), strict=True):
        auto.partial_fit(X[start:stop], y[start:stop])
        plain.partial_fit(rows[start:stop], y[start:stop], classes=np.unique(y))
        console.print(error_line(stop, auto.totals_.mistakes / stop, plain.totals_.mistakes / stop))
    console.print(f"\n{summary(auto, plain, rows, y)}\n\n[bold]Try next[/]")
    console.print(NEXT, markup=False, end="")
    if html is not None:
        Path(html).write_text(page(auto, plain, rows, y), encoding="utf-8")
        console.print(f"\nThe curves are in {html}.", markup=False)


def error_line(n: int, auto: float, plain: float) -> str:
    """Return the errors after n examples, with a bar for each."""
    bars = f"[green]{'█' * round(WIDTH * auto)}[/][dim]{'░' * round(WIDTH * (plain - auto))}[/]"
    return f"{n:4} examples  {auto:14.1%}  {plain:5.1%}   {bars}"


def summary(
    auto: AutoClassifier, plain: PassiveAggressiveClassifier, rows: NDArray[np.float64], y: NDArray[np.intp]
) -> str:
    """Return who leads, and what the theory allowed."""
    experts, certificate = auto.experts_, certify(plain, rows, y, classes=plain.classes_)
    return (
        f"AutoClassifier, untuned: [bold]{auto.totals_.mistakes}[/] mistakes. {len(experts.names)} experts vote; "
        f"the leader is '{experts.names[experts.leader]}'.\n"
        f"PA-I on rows of norm 1, C = 0.3: [bold]{plain.totals_.mistakes}[/] mistakes; {certificate.theorem} allows "
        f"[bold]{certificate.bound:.0f}[/] on this stream."
    )


def page(
    auto: AutoClassifier, plain: PassiveAggressiveClassifier, rows: NDArray[np.float64], y: NDArray[np.intp]
) -> str:
    """Return a page with the curves of both models, the experts and the certificate, as notebooks show them."""
    models = {"AutoClassifier": AutoClassifier(), "PA-I, rows of norm 1": PassiveAggressiveClassifier(C=0.3)}
    curves = progressive(models, rows, y, classes=plain.classes_, every=50)
    certificate = certify(plain, rows, y, classes=plain.classes_)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>onmargin demo</title>'
        "<style>body { font-family: sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }"
        "table { border-collapse: collapse; } td, th { padding: .2em .6em; text-align: right; }</style>"
        f"<h1>{len(y)} handwritten digits, one at a time</h1>"
        "<p>Each digit is predicted first and learned afterwards. The curves show the error so far.</p>"
        f"{curves._repr_html_()}<h2>The experts of AutoClassifier</h2>{auto.experts_._repr_html_()}"
        f"<h2>The certificate of PA-I</h2>{certificate._repr_html_()}</html>\n"
    )
