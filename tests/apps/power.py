"""Simulate power cuts and I/O errors at every system call of a service that changes a file.

The scenario covers everything that a service writes: models are created, trained in groups with keys, snapshots taken,
and models are compacted, rewound and deleted. It runs with the library of `faults.c` preloaded:

    LD_PRELOAD=faults.so python -m tests.apps.power cuts 1
    LD_PRELOAD=faults.so python -m tests.apps.power errors 1

With `cuts`, the trace of one run records all writes and flushes. After each call a disk is built from it
that has all that was flushed, and of the rest nothing, everything, or some of it in any order, cut off within a sector;
files that were created, renamed or removed are so only if their folder was flushed. With `errors`, each call in turn
fails with EIO or ENOSPC, once or from then on, and the process dies at the first operation that is refused. What is
then on the disk is opened: it must be the state after all acknowledged operations, and possibly the next one,
bit for bit. The number is a stride: 1 for every call. With `full`, the disk has been full since before the start.
"""

import asyncio
import errno
import os
import random
import shutil
import sys
import tempfile
import traceback
from itertools import count
from pathlib import Path

from onmargin.apps.serve import schema
from onmargin.apps.serve.problems import ProblemError
from onmargin.apps.serve.service import Service, Settings
from tests.apps.serving import learned, records
from tests.faults import Disk, preloaded, read_trace

PAIRS = list(records(300, seed=3))
SETTINGS = Settings(snapshot_every=25)


def state(service):
    return {
        name: repr((learned(service, name), sorted(model.keys), model.n_held)) for name, model in service.models.items()
    }


def operations():
    """Return all actions of the scenario, in order; each is done when it is acknowledged."""
    numbers, keys = iter(range(len(PAIRS))), count()

    def learn(name, n):
        examples = [schema.Example(*PAIRS[next(numbers)]) for _ in range(n)]
        request = schema.Learn(examples, key=f"k{next(keys)}")
        return lambda service: service.learn(name, request)

    yield lambda service: service.create(schema.Create("m"))
    for _ in range(6):
        yield learn("m", 5)
    yield lambda service: service.create(schema.Create("n"))
    yield learn("n", 10)
    yield lambda service: service.compact("m")
    yield learn("m", 30)
    yield lambda service: service.rewind("m", schema.Rewind(45))
    yield learn("m", 3)
    yield lambda service: service.keep(service.get("m"), [PAIRS[0][0], PAIRS[1][0]], ["yes", "no"])
    yield lambda service: service.clone("m", "c")
    yield lambda service: service.rename("c", schema.Rename(name="d"))
    yield learn("d", 3)
    yield lambda service: service.delete("n")
    yield learn("m", 3)


async def run(folder, acknowledge, end=lambda: None):
    """Go through the scenario; the states after each operation. It ends at the first that is refused."""
    service = Service.open(folder, SETTINGS)
    service.start()
    states = [state(service)]
    for operation in operations():
        try:
            await operation(service)
        except ProblemError as problem:
            if problem.status != 507:
                os._exit(1)
            try:
                await operation(service)  # the disk has space again
            except ProblemError:
                os._exit(1)
        await asyncio.gather(*service._tasks)
        acknowledge()
        states.append(state(service))
    end()
    await service.close()
    return states


def check(folder, n_acknowledged, states):
    """Open the disk and check that it has everything acknowledged, and nothing that was not requested."""
    service = Service.open(folder, SETTINGS)
    try:
        found = state(service)
        if service.damaged or service.problem:
            raise AssertionError(f"{service.damaged} {service.problem}")
        if found not in states[n_acknowledged : n_acknowledged + 2]:
            raise AssertionError(f"after {n_acknowledged} operations: {[s == found for s in states].index(True)}")
    finally:
        service.journal.close()


# Power cuts


def cuts(faults, work, stride):
    """Cut the power after every call, and return the number of cuts."""
    trace, data, acks = work / "trace", work / "watched" / "data", work / "watched" / "acks"
    data.parent.mkdir()
    with open(trace, "wb") as to, open(acks, "wb", buffering=0) as told:
        faults.faults_watch(os.fsencode(data.parent), to.fileno(), -1, 0, 0)
        states = asyncio.run(run(data, lambda: told.write(b".")))
        faults.faults_watch(b"", -1, -1, 0, 0)
    disk, n_acknowledged, n = Disk(), 0, 0
    for k, record in enumerate(read_trace(trace)):
        if record[1] == str(acks):
            n_acknowledged += record[0] == "W"
            continue
        disk.do(*record)
        if k % stride:
            continue
        for keep in (0, 1, 0.5, 0.9):
            target = work / "disk"
            for name in ("snapshots", "witness"):
                (target / name).mkdir(parents=True)
            disk.write(str(data), target, keep, random.Random(k))
            try:
                check(target, n_acknowledged, states)
            except Exception as error:
                raise AssertionError(f"cut after call {k}, {record[:3]}, keep {keep}: {error}") from error
            shutil.rmtree(target)
            n += 1
    return n


# Errors


def errors(faults, work, stride):
    """Make every call fail in turn, and return the number of failures."""
    acks = work / "acks"

    def attempt(folder, at, code, sticky):
        """Run the scenario in a new process; return whether the call was reached, and how much was acknowledged."""
        acks.write_bytes(b"")
        child = os.fork()
        if not child:
            with open(acks, "ab", buffering=0) as told:
                faults.faults_watch(os.fsencode(folder), -1, at, code, sticky)
                try:
                    asyncio.run(run(folder, lambda: told.write(b".")))
                    faults_left = at < 0 or faults.faults_calls() > at
                except BaseException:
                    os._exit(1)
                os._exit(0 if faults_left else 2)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return status != 2, len(acks.read_bytes())

    folder = work / "reference"
    states = asyncio.run(run(folder, lambda: None))
    n = 0
    for at in range(0, 10_000, stride):
        reached = False
        for code, sticky in ((errno.EIO, 0), (errno.ENOSPC, 0), (errno.ENOSPC, 1)):
            folder = work / "data"
            found, n_acknowledged = attempt(folder, at, code, sticky)
            reached = reached or found
            try:
                check(folder, n_acknowledged, states)
            except Exception as error:
                raise AssertionError(f"call {at} fails with {errno.errorcode[code]}: {error}") from error
            shutil.rmtree(folder)
            n += found
        if not reached:
            return n
    return n


# A full disk


async def predict_and_learn(folder):
    """Start where nothing can be written: predictions are made, and what is to be learned is refused."""
    service = Service.open(folder, SETTINGS)
    if service.models["m"].state.learner.predict(PAIRS[0][0]) not in {"yes", "no"}:
        os._exit(1)
    service.start()
    for operation in (
        lambda: service.learn("m", schema.Learn([schema.Example(*PAIRS[0])])),
        lambda: service.compact("m"),
    ):
        try:
            await operation()
        except ProblemError as problem:
            if problem.status != 507:  # there was space for the examples, but not to flush them
                os._exit(3)
        else:
            os._exit(3)
    os._exit(0)


def full(faults, work, stride):
    """Start on a full disk after a crash, check the state when it has room again, and return the number of runs."""
    folder, states = work / "data", asyncio.run(run(work / "reference", lambda: None))

    def in_child(work_):
        child = os.fork()
        if not child:
            try:
                asyncio.run(work_)
            except BaseException:
                traceback.print_exc()
                os._exit(4)
        work_.close()
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    in_child(run(folder, lambda: None, end=lambda: os._exit(0)))
    for at in range(0, 20, stride):
        faults.faults_watch(os.fsencode(folder), -1, at, errno.ENOSPC, 1)
        status = in_child(predict_and_learn(folder))
        faults.faults_watch(b"", -1, -1, 0, 0)
        if status == 3:  # there was space to write
            return at
        if status:
            raise AssertionError(f"a start with room for {at} calls ends with {status}")
        check(folder, len(states) - 1, states)
    return 20


if __name__ == "__main__":
    faults = preloaded()
    with tempfile.TemporaryDirectory() as name:
        n = {"cuts": cuts, "errors": errors, "full": full}[sys.argv[1]](faults, Path(name), int(sys.argv[2]))
    sys.stdout.write(f"{n} {sys.argv[1]}, nothing lost\n")
