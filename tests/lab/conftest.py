"""Stand-ins for the data, written once."""

import pytest

from tests.lab.small import write_data


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("lab") / "data")
