"""Fixture that writes small stand-ins for the data once."""

import pytest

from tests.lab.small import write_data


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("lab") / "data")
