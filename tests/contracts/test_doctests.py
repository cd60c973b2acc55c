"""Every example in a docstring of the installed package prints what it says."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import onmargin

MODULES = ["onmargin", *(module.name for module in pkgutil.walk_packages(onmargin.__path__, "onmargin."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_module(name):
    if name == "onmargin.river":
        pytest.importorskip("river", reason="river is an extra")
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, _ = doctest.testmod(import_module(name), optionflags=flags)
    assert not failed
