"""Printed and notebook representations of `experts_`, `grid_` and progressive curves."""

from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from onmargin import AutoClassifier, AutoRegressor, PassiveAggressiveClassifier, Perceptron, SequenceTagger, stream
from onmargin._tables import number, svg_curve, text_table
from onmargin.evaluate import progressive

random = np.random.default_rng(0)
X = random.standard_normal((60, 4))
CODES = (X[:, 0] + 0.3 * random.standard_normal(60) > 0).astype(int)
CURVED = ("curved", "ferns", "forest", "boosted", "neighbors")


def test_table_of_a_sweep():
    model = PassiveAggressiveClassifier(C=[0.01, 100.0]).partial_fit(X, CODES)
    sweep = model.grid_
    first, second = sweep.mistakes.astype(int)
    lines = str(sweep).splitlines()
    assert lines[0] == "model   mistakes  weight"
    marks = ["  leads" if m == sweep.leader else "" for m in range(2)]
    assert lines[1] == f"C=0.01  {first:>8}  {sweep.weights[0]:6.3f}{marks[0]}"
    assert lines[2] == f"C=100   {second:>8}  {sweep.weights[1]:6.3f}{marks[1]}"
    assert len(lines) == 3
    auto = str(PassiveAggressiveClassifier(C="auto", combine="hedge").partial_fit(X, CODES).grid_)
    assert "C is in units of 0." in auto
    assert "at most" in auto


def html(shown):
    return ElementTree.fromstring(f"<div>{shown._repr_html_()}</div>")


@pytest.mark.parametrize(
    "model",
    [
        AutoClassifier(experts="linear").partial_fit(X, CODES),
        AutoRegressor(experts="linear").partial_fit(X, X[:, 1]),
        stream.AutoRegressor(experts="linear").learn_many(X, X[:, 1]),
    ],
    ids=["classes", "numbers", "stream"],
)
def test_table_of_experts(model):
    experts = model.experts_
    judged = "mistakes" if isinstance(model, AutoClassifier) else "loss"
    lines = repr(experts).splitlines()
    assert lines[0].split() == ["model", judged, "weight"]
    assert len(lines) == 2 + len(experts.names)
    order = sorted(range(len(experts.names)), key=lambda m: experts.lost[m])
    for line, m in zip(lines[1:], order, strict=False):
        name, forgets = experts.names[m], experts.forgets[m]
        assert line.startswith(name)
        tracks = any(word in name for word in ("forgets", "last ", "PA-II, C=0.5", "chain", "autoreg", "of changes"))
        assert line.endswith("forgets") == forgets == tracks
    assert order[0] == experts.leader
    assert lines[1].split("  ")[-1].startswith("leads")
    rows = html(experts).findall(".//tbody/tr")
    assert [row[0].text for row in rows] == [experts.names[m] for m in order]
    assert [bool(row.get("style")) for row in rows] == [True] + [False] * (len(rows) - 1)
    assert len(html(experts).findall(".//rect")) == len(experts.names)


def test_table_of_experts_that_slept_compares_what_is_comparable():
    """A linear expert that slept made fewer mistakes than the curved leader, in far fewer rounds."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(2600, 2))
    labels = (rows[:, 0] * rows[:, 1] > 0) ^ (random.random(2600) < 0.2)
    experts = AutoClassifier().partial_fit(rows, labels).experts_
    awake = AutoClassifier(sleeping=False).partial_fit(rows, labels).experts_
    assert experts.slept.max() > 300
    assert_array_equal(experts.rounds + experts.slept, 2600)
    assert_array_equal(awake.rounds, 2600)
    assert experts.mistakes.argmin() != experts.leader
    assert experts.per_round[experts.leader] == pytest.approx(awake.per_round[experts.leader], abs=0.01)
    linear = [m for m, name in enumerate(experts.names) if not any(word in name for word in CURVED)]
    assert min(*experts.per_round[linear], *awake.per_round[linear]) > 0.4  # no linear model can learn it
    lines = repr(experts).splitlines()
    assert lines[0].split() == ["model", "mistakes", "rounds", "per", "round", "with", "charges", "weight"]
    assert "curved" in lines[1]
    assert "leads" in lines[1]
    charged = [
        float(line.removeprefix(name).split()[3])
        for line, name in zip(
            lines[1:-1], [experts.names[m] for m in np.argsort(experts.lost, kind="stable")], strict=True
        )
    ]
    assert charged == sorted(charged)


def test_table_of_chains():
    tagger = SequenceTagger(C=[0.01, 1.0], max_iter=2, tol=None).fit([[{"a": 1}, {"b": 1}]] * 5, [["x", "y"]] * 5)
    assert str(tagger.grid_).splitlines()[0] == "model   cost  weight"


def test_curves():
    curve = progressive(PassiveAggressiveClassifier(), X, CODES, every=4)
    lines = str(curve).splitlines()
    assert lines[0].split()[:4] == ["rounds", "error", "last", "rounds"]
    assert lines[0].endswith("seconds")
    assert len(lines) == 11
    assert lines[-1].split()[:2] == ["60", number(curve.error[-1])]
    assert len({len(line) for line in lines}) == 1
    assert len(html(curve).findall(".//polyline")) == 1
    both = progressive({"PA": PassiveAggressiveClassifier(), "<P>": Perceptron()}, X, CODES, bound=True)
    assert [line.split()[0] for line in str(both).splitlines()] == ["model", "PA", "<P>"]
    assert "allowed" in str(both)
    assert [row[0].text for row in html(both).findall(".//tbody/tr")] == ["PA", "<P>"]
    assert len(html(both).findall(".//polyline")) == 2


def test_missing_values_are_left_out():
    assert text_table({"model": [], "error": []}) == "model  error"
    assert svg_curve([1], [0.5], "error") == ""
    assert svg_curve([1, 2, 3], [np.nan, 0.0, 0.0], "a < b").count(",") == 2
