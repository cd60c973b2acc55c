"""Written results: tables, figures and one page, the same for any number of processes."""

import csv
import io
import json
import re
from html.parser import HTMLParser
from math import nan
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from onmargin import lab
from onmargin.lab.pictures import inline
from onmargin.lab.table import Table, summary
from tests.lab.small import SETTINGS, result

EMPTY = {"meta", "img", "br", "link"}


def test_every_experiment_is_tried_small():
    assert SETTINGS.keys() == lab.EXPERIMENTS.keys()


@pytest.mark.full
def test_two_processes_give_the_same_result_as_one(data):
    """One experiment splits its repetitions, the other reads data."""
    with lab.workers(2) as workers:
        for name in ("block-size", "digits-usps"):
            alone, experiment = result(name, data), lab.EXPERIMENTS[name]
            folder = data if experiment.data else None
            shared = lab.run(experiment, workers, repetitions=1, data=folder, **SETTINGS[name])
            assert shared.table == alone.table
            assert shared.svg == alone.svg
            assert shared.settings == alone.settings


@pytest.mark.full
def test_another_seed_is_another_result(data):
    with lab.workers(1) as workers:
        other = lab.run(lab.EXPERIMENTS["label-noise"], workers, repetitions=1, seed=1, **SETTINGS["label-noise"])
    assert other.table != result("label-noise", data).table


def test_repetitions_differ():
    with lab.workers(1) as workers:
        units = lab.units(lab.EXPERIMENTS["label-noise"], lab.EXPERIMENTS["label-noise"].settings, 0, 2)
        first, second = workers(units)
    assert first != second


@pytest.mark.parametrize("name", lab.EXPERIMENTS)
def test_files_hold_the_result(name, data, tmp_path):
    this = result(name, data)
    this.write(tmp_path)
    folder = tmp_path / name
    assert {path.name for path in folder.iterdir()} == {
        "figure.png",
        "figure.svg",
        "table.csv",
        "table.md",
        "settings.json",
    }
    rows = list(csv.DictReader(io.StringIO((folder / "table.csv").read_text(encoding="utf-8"))))
    assert len(rows) == len(this.table)
    measure = this.experiment.measures[0]
    assert [float(row[measure]) for row in rows] == this.table[measure]
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    assert settings["seed"] == 0
    assert {"onmargin", "numpy", "python"} <= settings["versions"].keys()
    words = (folder / "table.md").read_text(encoding="utf-8")
    assert all(f"**{finding.verdict}**" in words and finding.numbers[1:] in words for _, finding in this.findings)


@pytest.mark.parametrize("name", lab.EXPERIMENTS)
def test_figures_show_something(name, data, tmp_path):
    from matplotlib.image import imread

    this = result(name, data)
    this.write(tmp_path)
    pixels = imread(tmp_path / name / "figure.png")[:, :, :3]
    inked = (pixels < 0.99).any(axis=2)
    assert inked.mean() > 0.01
    assert len(np.unique(pixels[inked].round(1), axis=0)) > 3
    root = ElementTree.fromstring(this.svg)
    drawn = [element for element in root.iter() if element.tag.endswith("}path")]
    words = " ".join(element.text or "" for element in root.iter() if element.tag.endswith("}text"))
    assert len(drawn) >= 10
    assert any(str(value) in words for value in this.table[this.table.columns[0]] + this.table[this.table.columns[1]])


class Page(HTMLParser):
    """A parser that collects open tags, ids and references."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.words = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[name] for name in ("href", "src") if name in given]
        self.links += re.findall(r"url\(([^)]*)\)", " ".join(value or "" for value in given.values()))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize(
    "names",
    [["errata", "lengths"], pytest.param(list(lab.EXPERIMENTS), marks=pytest.mark.full)],
    ids=["two experiments", "all"],
)
def test_the_report_is_one_page_that_needs_nothing_else(names, data):
    results = [result(name, data) for name in names]
    text = lab.page(results)
    page = Page(text)
    assert text.startswith("<!DOCTYPE html>")
    assert not page.open
    assert len(page.ids) == len(set(page.ids))
    assert {link for link in page.links if not link.startswith("#")} == set()
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert not re.search(r"https?:|//|@import|<script", text)
    assert "prefers-color-scheme: dark" in text
    words = " ".join(page.words)
    for this in results:
        for claim, finding in this.findings:
            assert claim.statement in words
            assert finding.numbers[1:] in words
    assert lab.counts(results) in words


def test_the_report_names_missing_experiments(data):
    experiment = lab.EXPERIMENTS["mail"]
    text = lab.page([result("errata", data)], [(experiment, lab.missing(experiment, None))])
    assert "needs data" in text
    assert all(name in text for name in experiment.data)


def test_text_of_tables_is_escaped(data):
    from dataclasses import replace

    this = result("errata", data)
    evil = Table({**row, "erratum": f"<script>{row['erratum']}"} for row in this.table)
    claims = tuple(
        replace(claim, statement="<b>", judge=lambda _: lab.Finding(lab.Verdict.CORRECTED, "<i>"))
        for claim in this.experiment.claims
    )
    text = lab.page([replace(this, table=evil, experiment=replace(this.experiment, claims=claims))])
    assert not re.search("<script|<b>|<i>", text)


def test_ids_of_figures_are_distinct(data):
    svg = result("errata", data).svg
    assert 'id="one-' in inline(svg, "one")
    assert not set(re.findall(r'id="([^"]*)"', inline(svg, "one"))) & set(
        re.findall(r'id="([^"]*)"', inline(svg, "two"))
    )


def test_the_documentation_has_the_current_claims():
    text = (Path(__file__).parents[2] / "docs/papers/claims.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["verdict"] for row in rows} <= set(map(str, lab.Verdict))
    assert all(row["numbers"] for row in rows)
    assert [(row["experiment"], row["source"], row["claim"]) for row in rows] == [
        (name, claim.source, claim.statement)
        for name, experiment in lab.EXPERIMENTS.items()
        for claim in experiment.claims
    ]


def test_the_documentation_counts_its_claims():
    docs = Path(__file__).parents[2] / "docs"
    with (docs / "papers/claims.csv").open(encoding="utf-8", newline="") as file:
        verdicts = [row["verdict"] for row in csv.DictReader(file)]
    text = " ".join((docs / "papers.rst").read_text(encoding="utf-8").split())
    n, *counts = map(int, re.search(r"(\d+) claims: (\d+) are \D*, (\d+) are \D*, and (\d+) are", text).groups())
    assert n == len(verdicts)
    assert counts == [verdicts.count(verdict) for verdict in ("reproduced", "corrected", "not reproduced")]


def test_summary_takes_means_and_the_best_setting():
    rows = [{"learner": "a", "C": C, "mistakes": m} for C, m in ((1, 4.0), (2, 1.0), (2, 3.0), (1, 6.0))]
    (row,) = summary(rows, ("learner", "C"), ("mistakes",), ("C",))
    assert row == {"learner": "a", "C": 2, "mistakes": 2.0, "mistakes ±": 1.0}
    (one,) = summary(rows[:1], ("learner",), ("mistakes",))
    assert np.isnan(one["mistakes ±"])


def test_tables_in_text():
    table = Table([{"a": "x", "b": 1.23456, "c": nan}, {"a": "y", "b": 12345.67, "c": 2}])
    assert table.csv() == "a,b,c\nx,1.23456,\ny,12345.67,2\n"
    assert table.markdown().splitlines() == [
        "| a   |     b |   c |",
        "| --- | ----: | --: |",
        "| x   | 1.235 |     |",
        "| y   | 12346 |   2 |",
    ]
    wide = Table([{"n": 2, "who": "p", "m": 1}, {"n": 1, "who": "q", "m": 2}]).wide(("n",), "who", "m")
    assert wide.rows == [{"n": 1, "p": None, "q": 2}, {"n": 2, "p": 1, "q": None}]
