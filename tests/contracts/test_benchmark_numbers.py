"""The numbers of README.md, and its picture, are those of benchmarks/results.json."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CITED = (
    "takes {scikit-learn shuffled} times as long in one pass ({scikit-learn in order} times with its shuffling",
    "`PAClassifier` takes {river dicts} times as long",
    "{Vowpal Wabbit numbers} times as long on files of numbers ({Vowpal Wabbit texts} times on files of texts)",
    "passive-aggressive trainer takes {CRFsuite} times as long",
    "On {classes near} of {classes tables} held-out tables",
    "that of `AutoRegressor()` on all {numbers tables}.",
    "on {tables lost to trees} of {tables of trees} tables with nonlinear boundaries, where",
    "CapyMOA's forest takes {forest times} times as long",
)


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


results = load(ROOT / "benchmarks/results.py")


@pytest.mark.parametrize("sentence", CITED)
def test_readme_cites_the_results(sentence):
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert re.sub(r"\{([^}]+)\}", lambda name: results.facts()[name[1]], sentence) in readme


def test_all_regressors_are_near():
    facts = results.facts()
    assert facts["numbers near"] == facts["numbers tables"]  # as README.md says: "on all"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_of_the_readme_is_of_these_results(theme):
    """`python docs/pictures.py docs/_static accuracy` draws it."""
    assert results.fingerprint() in (ROOT / f"docs/_static/accuracy-{theme}.svg").read_text()
