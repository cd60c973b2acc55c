"""The service under load: throughput of one core with 64 clients, latency, and memory.

    python benchmarks/serve.py                    learn and predict, one example per request and many
    python benchmarks/serve.py --memory 3600000   memory over one hour of examples at 1,000 per second
    python benchmarks/serve.py --readers 2        predictions by one or more readers, each on its own core
    python -m tests.apps.crashes 100              kill it a hundred times

The service has one core, and the clients have another. Clients use HTTP over persistent connections, send the next
request when the last one is answered, and check only its status. Next to the rate, the table gives the CPU time of the
service per example, which determines the rate on an idle machine, and the CPU time of the clients. If the latter is
smaller and the clients' core is not saturated, the service is the bottleneck.
"""

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from itertools import cycle

import uvloop

N_CLIENTS = 64
CORES = sorted(os.sched_getaffinity(0))  # read before this process leaves the first core to the service
CODE = "from onmargin.apps.cli import main; main()"
HEAD = (
    "POST /v1/models/{}/{} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
)


@contextmanager
def service(folder, *options):
    """Start the program as a user does, on the first core; yield its port, its process id and its output."""
    command = [sys.executable, "-c", CODE, "serve", "--data", folder, "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    os.sched_setaffinity(process.pid, CORES[:1])
    os.sched_setaffinity(0, CORES[1:] or CORES)
    try:
        yield int(re.search(r":(\d+)/", process.stderr.readline())[1]), process.pid, process.stderr
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def used(pid):
    """Return the CPU seconds and the memory in MB of a process."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        pages = int(file.read().split()[1])
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class Client(asyncio.Protocol):
    """A client that sends a request when the last one is answered, until `stop`; `times` holds their durations."""

    def __init__(self, requests, times, statuses):
        self.requests, self.times, self.statuses = requests, times, statuses
        self.buffer, self.stop = b"", False

    def connection_made(self, transport):
        self.transport = transport
        self.send()

    def send(self):
        self.started = time.perf_counter()
        self.transport.write(next(self.requests))

    def data_received(self, data):
        if self.buffer:
            data = self.buffer + data
        end = data.find(b"\r\n\r\n")
        length = data.find(b"content-length: ", 0, end) + 16
        if end < 0 or len(data) < end + 4 + int(data[length : data.index(b"\r", length)]):
            self.buffer = data
            return
        self.buffer = b""
        self.statuses.add(data[9:12])
        self.times.append(time.perf_counter() - self.started)
        if self.stop:
            self.transport.close()
        else:
            self.send()


def requests(name, kind, size):
    """Return requests of short records, a few thousand that are repeated."""
    random_ = random.Random(0)
    made = []
    for _ in range(max(1, 2000 // size)):
        xs = [
            {f"f{random_.randrange(500)}": round(random_.gauss(0, 1), 3) for _ in range(8)} | {"colour": "red"}
            for _ in range(size)
        ]
        examples = (
            [{"x": x, "y": "yes" if sum(map(hash, x)) % 3 else "no"} for x in xs]
            if kind == "learn"
            else [{"x": x} for x in xs]
        )
        body = json.dumps({"examples": examples}).encode()
        made.append(HEAD.format(name, kind, len(body)).encode() + body)
    return cycle(made)


async def load(port, pid, kind, size, seconds):
    """How long requests took, sorted; the seconds that all took, those of the service's core, and of the clients'."""
    times, statuses = [], set()
    sent = requests("m", kind, size)
    loop = asyncio.get_running_loop()
    clients = []
    for _ in range(N_CLIENTS):
        _, client = await loop.create_connection(lambda: Client(sent, times, statuses), "127.0.0.1", port)
        clients.append(client)
    await asyncio.sleep(1.0)  # to warm up
    times.clear()
    started = [time.perf_counter(), used(pid)[0], time.process_time()]
    await asyncio.sleep(seconds)
    ended = [time.perf_counter(), used(pid)[0], time.process_time()]
    waits = sorted(times)
    for client in clients:
        client.stop = True
    await asyncio.sleep(1.0)
    assert statuses == {b"200"}, statuses
    return waits, *(end - start for start, end in zip(started, ended, strict=True))


def create(port, name):
    """Create a model with hashed names, whose memory is fixed."""
    from onmargin import Client as Asking

    with Asking(f"http://127.0.0.1:{port}") as client:
        client.create(name, model="PassiveAggressiveClassifier", n_features=2**16)
        client.learn_many(name, [{"a": 1.0}, {"b": 1.0}], ["yes", "no"])


def measure(seconds):
    print(f"{N_CLIENTS} clients, the service on one core, load of the machine {os.getloadavg()[0]:.1f}\n")
    print("| request | examples/s | p50 ms | p99 ms | core µs an example | core used | clients' µs | their core used |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind, size in (("learn", 1), ("learn", 32), ("predict", 1), ("predict", 32)):
        with tempfile.TemporaryDirectory() as folder, service(folder) as (port, pid, _):
            create(port, "m")
            waits, elapsed, *cores = uvloop.run(load(port, pid, kind, size, seconds))
        n = size * len(waits)
        p50, p99 = (1000 * waits[int(q * (len(waits) - 1))] for q in (0.5, 0.99))
        shares = " | ".join(f"{1e6 * core / n:.1f} | {core / elapsed:.0%}" for core in cores)
        print(f"| {kind} {size} | {n / elapsed:,.0f} | {p50:.1f} | {p99:.1f} | {shares} |", flush=True)


async def remember(port, pid, n):
    """Memory while examples come, many a request."""
    times, statuses = [], set()
    sent = requests("m", "learn", 200)
    loop = asyncio.get_running_loop()
    for _ in range(8):
        await loop.create_connection(lambda: Client(sent, times, statuses), "127.0.0.1", port)
    shown = 0
    while 200 * len(times) < n:
        await asyncio.sleep(0.5)
        done = 200 * len(times)
        if done >= shown:
            print(f"| {done:,} | {used(pid)[1]:.0f} |", flush=True)
            shown += n // 10


def readers_of(pid):
    """Return the processes that a service has started."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def measure_readers(most, seconds):
    """Measure single predictions with an increasing number of readers; the clients share the cores."""
    print(f"{N_CLIENTS} clients, load of the machine {os.getloadavg()[0]:.1f} on {len(CORES)} cores\n")
    print("| readers | predictions/s | p50 ms | p99 ms | core µs per prediction | predictions per second of one core |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for n in range(1, most + 1):
        with tempfile.TemporaryDirectory() as folder, service(folder, "--readers", str(n)) as (port, pid, errors):
            place = int(re.search(r":(\d+)/", errors.readline())[1])
            create(port, "m")
            time.sleep(5)  # readers start and load the model
            os.sched_setaffinity(0, CORES)
            children = readers_of(pid)
            for k, child in enumerate(children):
                os.sched_setaffinity(child, {CORES[k % len(CORES)]})
            before = [used(child)[0] for child in children]
            waits, elapsed, *_ = uvloop.run(load(place, pid, "predict", 1, seconds))
            spent = sum(used(child)[0] - then for child, then in zip(children, before, strict=True))
        p50, p99 = (1000 * waits[int(q * (len(waits) - 1))] for q in (0.5, 0.99))
        per = spent / len(waits) * elapsed / (elapsed + 2)  # the warm-up and the end are not in `waits`
        print(
            f"| {n} | {len(waits) / elapsed:,.0f} | {p50:.1f} | {p99:.1f} | {1e6 * per:.1f} | {1 / per:,.0f} |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--memory", type=int, metavar="EXAMPLES")
    parser.add_argument("--readers", type=int, metavar="N")
    arguments = parser.parse_args()
    if arguments.readers is not None:
        measure_readers(arguments.readers, arguments.seconds)
        return
    if arguments.memory is None:
        measure(arguments.seconds)
        return
    print("| examples | MB |\n| ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder, service(folder, "--compact") as (port, pid, _):
        create(port, "m")
        uvloop.run(remember(port, pid, arguments.memory))


if __name__ == "__main__":
    main()
