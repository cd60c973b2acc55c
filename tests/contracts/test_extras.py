"""The extra `all` installs everything that the package can use at run time."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

EXTRAS = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]
FOR_DEVELOPERS = {"test", "lint", "docs", "bench"}


def test_all_has_every_extra_that_is_not_for_developers():
    named = set().union(*(Requirement(need).extras for need in EXTRAS["all"]))
    assert named == EXTRAS.keys() - FOR_DEVELOPERS - {"all"}
