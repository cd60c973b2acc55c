"""A service with snapshots and an empty journal started as if nothing had ever been learned."""

import pytest

from onmargin.apps.serve.journal import JournalError
from onmargin.apps.serve.service import Service, Settings
from tests.apps.serving import create, learn, learned, records, served


def snapshots(folder):
    return sorted(int(path.name.split("-")[1]) for path in (folder / "snapshots").iterdir())


@pytest.mark.parametrize("empty", [True, False])
def test_a_journal_that_is_missing_is_an_error(tmp_path, empty):
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *records(100))
        client.post("/v1/models/m/compact", json={})
        before = learned(client.service)
    path = tmp_path / "journal.sqlite"
    whole = path.read_bytes()
    path.unlink()
    if empty:
        path.touch()
    with pytest.raises(JournalError, match="missing"):
        Service.open(tmp_path, Settings())
    assert snapshots(tmp_path) == [100]
    path.write_bytes(whole)
    with served(tmp_path) as client:
        assert learned(client.service) == before
