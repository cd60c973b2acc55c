"""Kill a service under load repeatedly, and check that everything it acknowledged is still there.

Several clients post examples, each with a key. After a random number of examples the service is killed by SIGKILL,
which it cannot catch. Then the files on disk are opened: every acknowledged example must be there under its number,
none may be there twice, and the weights and totals, from the last snapshot and the tail of the journal, must be those
of all examples learned in order by a model of its own, bit for bit. Then the service starts again on the same folder,
and the clients resend unanswered requests with the same keys.

    python -m tests.apps.crashes 100
"""

import json
import random
import sys
import tempfile
import threading
from pathlib import Path

from onmargin.apps.serve.connection import Connection
from onmargin.apps.serve.json_learner import JsonLearner, Room
from onmargin.apps.serve.service import Service, Settings
from onmargin.apps.serve.state import State, decode
from tests.apps.serving import learned, process, records
from tests.waiting import LIMIT, wait_until

N_CLIENTS = 8
POOL = list(records(2000, seed=7))


class Poster(threading.Thread):
    """A client that posts examples one by one until its service is killed."""

    def __init__(self, address, name, numbers, acknowledged, left):
        super().__init__()
        self.connection = Connection(address, None, LIMIT, 0)
        self.name, self.numbers, self.acknowledged = name, numbers, acknowledged
        self.left = left  # sent and not answered

    def run(self):
        try:
            self.post()
        finally:
            self.connection.close()

    def post(self):
        while True:
            number = self.left if self.left is not None else next(self.numbers)
            self.left = number
            x, y = POOL[number % len(POOL)]
            body = {"examples": [{"x": x | {"id": number / 1e9}, "y": y}], "key": f"{self.name}-{number}"}
            try:
                answer = self.connection.exchange("POST", "/v1/models/m/learn", json.dumps(body).encode())
            except Exception:
                return
            self.acknowledged[number] = json.loads(answer)["first"]
            self.left = None


def check(folder, acknowledged):
    """Check all acknowledged examples, replay the journal, and return its number of examples."""
    service = Service.open(folder, Settings())
    try:
        state = service.models["m"].state
        again = State(JsonLearner.begin(None, "classify", {"C": 0.3, "average": True}, Room()))
        found = {}
        for row in service.journal.all_rows(service.models["m"].id, 0, 0):
            example = decode(row.body)
            number = round(example.x["id"] * 1e9)
            assert number not in found, f"example {number} was learned twice"
            found[number] = row.seq
            again.learn(example)
        again.chain = state.chain
        lost = {number: seq for number, seq in acknowledged.items() if found.get(number) != seq}
        assert not lost, f"acknowledged and lost, or moved: {lost}"
        own = learned(service)
        service.models["m"].state = again
        assert learned(service) == own, "the weights are not those of the journal"
        return len(found)
    finally:
        service.journal.close()


def crash(folder, kills, seed=0, most=1000):
    """Kill a service several times, each time after up to `most` more examples; yield the numbers of examples."""
    random_ = random.Random(seed)
    acknowledged = {}
    numbers = iter(range(10**9))
    left = [None] * N_CLIENTS
    n_found = 0
    for kill in range(kills):
        with process(folder, "--snapshot-every", 300) as (address, running):
            if kill == 0:
                made = {"name": "m", "parameters": {"C": 0.3, "average": True}}
                connection = Connection(address, None, LIMIT, 0)
                connection.exchange("POST", "/v1/models", json.dumps(made).encode())
                connection.close()
            clients = [Poster(address, f"c{k}", numbers, acknowledged, left[k]) for k in range(N_CLIENTS)]
            for client in clients:
                client.start()
            n = len(acknowledged) + random_.randint(1, most)
            wait_until(lambda n=n: len(acknowledged) >= n)
            running.kill()
            for client in clients:
                client.join()
            left = [client.left for client in clients]
        n_found = check(folder, acknowledged)
        yield kill + 1, len(acknowledged), n_found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        for kills, n_acknowledged, n_found in crash(Path(name), int(sys.argv[1])):
            sys.stdout.write(f"kill {kills}: {n_acknowledged} acknowledged, {n_found} learned, none lost\n")
            sys.stdout.flush()
