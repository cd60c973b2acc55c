"""Self-contained HTML report of all experiments: verdicts of the claims, figures, tables and settings."""

import json
from collections import Counter
from collections.abc import Sequence
from html import escape

from onmargin.lab.experiment import Experiment, Verdict
from onmargin.lab.pictures import inline
from onmargin.lab.runner import Result, sentence
from onmargin.lab.table import Table, text

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --soft: #666; --line: #ddd; --page: #fff;
  --good: #1a7f37; --bad: #c0262d; --note: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e4e4; --soft: #a0a0a0; --line: #3a3a3a; --page: #161616;
  --good: #4ac26b; --bad: #ff7b72; --note: #d8a62c; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1.5rem; }
a { color: inherit; } .soft { color: var(--soft); } svg { width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; } th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; } td.number, th.number { text-align: right; white-space: nowrap; }
.verdict { font-weight: 600; white-space: nowrap; } .reproduced { color: var(--good); }
.not-reproduced { color: var(--bad); } .corrected { color: var(--note); }
pre { font-size: 0.8rem; overflow-x: auto; } summary { cursor: pointer; color: var(--soft); }
"""


def page(results: Sequence[Result], waiting: Sequence[tuple[Experiment, Sequence[str]]] = ()) -> str:
    """Return the report as HTML.

    Parameters
    ----------
    results : sequence of Result
        Results of the experiments that were run.
    waiting : sequence of (Experiment, sequence of str), default=()
        Experiments that were not run, and the files they need.

    Returns
    -------
    html : str
        One self-contained page.
    """
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>The papers, reproduced</title><style>{_STYLE}</style></head><body>",
        "<h1>The papers, reproduced</h1>",
        _counts(results),
        _claims(results),
        *map(_section, results),
        *(_waiting(experiment, files) for experiment, files in waiting),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def claims(results: Sequence[Result]) -> Table:
    """Return all claims with their verdicts and numbers.

    Parameters
    ----------
    results : sequence of Result
        Results of the experiments that were run.

    Returns
    -------
    table : Table
        One row per claim.
    """
    return Table(
        {
            "verdict": str(finding.verdict),
            "source": claim.source,
            "claim": claim.statement,
            "numbers": sentence(finding.numbers),
            "experiment": result.experiment.name,
        }
        for result in results
        for claim, finding in result.findings
    )


def counts(results: Sequence[Result]) -> str:
    """Return the number of claims per verdict, in words.

    Parameters
    ----------
    results : sequence of Result
        Results of the experiments that were run.

    Returns
    -------
    words : str
        One number per verdict.
    """
    found = Counter(finding.verdict for result in results for _, finding in result.findings)
    return ", ".join(f"{found[verdict]} {verdict}" for verdict in Verdict)


def _counts(results: Sequence[Result]) -> str:
    n = sum(len(result.findings) for result in results)
    return f"<p>{n} claims of the papers, each decided by a function of the table below it: {counts(results)}.</p>"


def _badge(verdict: Verdict) -> str:
    return f'<span class="verdict {verdict.replace(" ", "-")}">{verdict}</span>'


def _claims(results: Sequence[Result]) -> str:
    rows = [
        f"<tr><td>{_badge(finding.verdict)}</td><td>{escape(claim.source)}</td>"
        f'<td><a href="#{result.experiment.name}">{escape(claim.statement)}</a></td></tr>'
        for result in results
        for claim, finding in result.findings
    ]
    return f'<div class="wide"><table>{"".join(rows)}</table></div>'


def _section(result: Result) -> str:
    this = result.experiment
    findings = "".join(
        f"<li>{_badge(finding.verdict)} {escape(claim.statement)} "
        f'<span class="soft">{escape(sentence(finding.numbers))} {escape(claim.source)}</span></li>'
        for claim, finding in result.findings
    )
    return "\n".join(
        [
            f'<h2 id="{this.name}">{escape(this.title)}</h2>',
            f"<p>{escape(this.shows)}</p>",
            f'<p class="soft">{escape(this.source)}. <code>onmargin lab {this.name}</code></p>',
            f"<figure>{inline(result.svg, this.name)}</figure>",
            f"<ul>{findings}</ul>",
            f"<p>{escape(result.check)}</p>" if result.check else "",
            f"<details><summary>Table: {escape(this.caption)}</summary>{_table(this.shown(result.table))}</details>",
            f"<details><summary>Settings</summary><pre>{escape(json.dumps(result.settings, indent=1))}</pre></details>",
        ]
    )


def _table(table: Table) -> str:
    def row(cells: Sequence[object], tag: str) -> str:
        return "".join(
            f"<{tag}{'' if isinstance(cell, str) and tag == 'td' else ' class=number'}>{escape(text(cell))}</{tag}>"
            for cell in cells
        )

    body = "".join(f"<tr>{row(list(line.values()), 'td')}</tr>" for line in table)
    return f'<div class="wide"><table><tr>{row(table.columns, "th")}</tr>{body}</table></div>'


def _waiting(experiment: Experiment, files: Sequence[str]) -> str:
    return (
        f'<h2 id="{experiment.name}">{escape(experiment.title)}</h2><p>{escape(experiment.source)}: needs data. '
        f"Looked for: {escape(', '.join(files))}. Say where they are with <code>--data</code>.</p>"
    )
