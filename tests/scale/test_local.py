"""The local engine: results in order, and workers restarted after a crash, but not without limit."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import forkserver
from operator import add
from pathlib import Path

import pytest

from onmargin import AROWClassifier, io, scale
from onmargin.io.model_file import to_bytes
from onmargin.scale import LocalEngine
from onmargin.scale.engine import _call, _Pool
from tests.shards import Deadly, add_slowly, die, fail_at_two, note_worker
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def pair():
    engine = LocalEngine(2)
    yield engine
    engine.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_results_are_in_the_order_of_the_items(workers, pair):
    engine = pair if workers == 2 else LocalEngine(1)
    assert list(engine.map(add_slowly, range(9), 10)) == list(range(10, 19))
    assert list(engine.map(add_slowly, [], 10)) == []


def test_maps_may_alternate(pair):
    first, second = pair.map(add_slowly, range(9), 10), pair.map(add_slowly, range(9), 20)
    assert list(zip(first, second, strict=True)) == [(10 + k, 20 + k) for k in range(9)]


@pytest.mark.parametrize("workers", [1, 2])
def test_exceptions_are_raised_in_the_order_of_the_items(workers, pair):
    engine = pair if workers == 2 else LocalEngine(1)
    results = engine.map(fail_at_two, range(5), "wrong")
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ValueError, match="wrong 2"):
        next(results)
    assert list(engine.map(fail_at_two, [0, 1], "right")) == [0, 1]


def test_pool_is_rebuilt_when_a_worker_dies(tmp_path, pair):
    for k in range(3):
        (tmp_path / f"{k}.svm").write_text(f"1 1:1 2:{k}\n0 2:1\n" * 20)
    shards = io.shards(f"{tmp_path}/*.svm")
    deadly = Deadly(pair, tmp_path)
    model = scale.fit(AROWClassifier(), shards, engine=deadly, epochs=2)
    assert deadly.deaths == len(list(tmp_path.glob("death*"))) == 3
    assert to_bytes(model) == to_bytes(scale.fit(AROWClassifier(), shards, engine=LocalEngine(1), epochs=2))


def test_workers_of_a_broken_pool_end_before_they_are_waited_for(monkeypatch):
    """The executor would wait forever for a worker that it started after it terminated the others."""
    engine, shut_down, ended = LocalEngine(2), ProcessPoolExecutor.shutdown, []

    def shutdown(executor, **options):
        ended.append(engine._pool._ends[1].closed)
        shut_down(executor, **options)

    monkeypatch.setattr(ProcessPoolExecutor, "shutdown", shutdown)
    with pytest.raises(RuntimeError, match="a worker died 3 times"):
        list(engine.map(die, [1], None))
    assert ended == [True] * 3


def test_repeated_crashes_are_an_error(pair):
    with pytest.raises(RuntimeError, match=r"a worker died 3 times in a row.*__main__"):
        list(pair.map(die, [1], None))


def test_workers_must_be_a_number():
    for workers in (0, -1, 1.5, True, "two"):
        with pytest.raises(ValueError, match="workers must be an integer at least 1"):
            LocalEngine(workers)
    assert LocalEngine().workers >= 1


def ended(pid):
    """Return whether a process has ended; without an init process, it may remain as a zombie."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are looked up in /proc")
@pytest.mark.parametrize("moment", ["while they work", "while they wait"])
def test_a_killed_driver_leaves_no_workers_and_files(tmp_path, moment):
    temporary = Path(tempfile.mkdtemp())  # a short name, as sockets need
    script = tmp_path / "driver.py"
    script.write_text(f"""
import threading
from pathlib import Path
from onmargin.scale import LocalEngine
from tests.shards import note_worker
if __name__ == "__main__":
    engine = LocalEngine(2)
    list(engine.map(note_worker, [{str(tmp_path)!r}] * 4, {moment == "while they work"}))
    Path({str(tmp_path)!r}, "waiting").touch()
    threading.Event().wait()
""")
    driver = subprocess.Popen(
        [sys.executable, script],
        cwd=os.getcwd(),
        env=os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": os.getcwd()},
    )
    try:
        wait_until(lambda: len(list(tmp_path.glob("worker*"))) == 2)
        if moment == "while they wait":
            wait_until((tmp_path / "waiting").exists)
        workers = [int(path.name.removeprefix("worker")) for path in tmp_path.glob("worker*")]
        assert not any(map(ended, workers))
    finally:
        driver.kill()
        driver.wait()
    wait_until(lambda: all(map(ended, workers)))
    wait_until(lambda: not list(temporary.glob("onmargin-*")))
    shutil.rmtree(temporary)


@pytest.mark.full
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are looked up in /proc")
def test_a_fork_server_that_is_killed_is_replaced(tmp_path):
    engine = LocalEngine(2)
    try:
        results = engine.map(add_slowly, range(30), 10)
        assert next(results) == 10
        os.kill(forkserver._forkserver._forkserver_pid, signal.SIGKILL)
        assert list(results) == list(range(11, 40))
        list(engine.map(note_worker, [str(tmp_path)] * 4, False))
        workers = [int(path.name.removeprefix("worker")) for path in tmp_path.glob("worker*")]
        os.kill(forkserver._forkserver._forkserver_pid, signal.SIGKILL)
        assert list(engine.map(add_slowly, range(9), 10)) == list(range(10, 19))
        wait_until(lambda: all(map(ended, workers)))  # from the previous pool
    finally:
        engine.close()


@pytest.mark.parametrize("dies", ["at once", "later"])
def test_a_call_that_a_breaking_pool_has_lost_is_repeated(monkeypatch, dies):
    """An executor may take a call while it breaks, and never complete it."""
    submit, lost = _Pool.submit, []

    def lose(self, fn, item, shared):
        if item == 1 and not lost:
            lost.append(item)
            if dies == "at once":
                for process in list(self._executor._processes.values()):
                    process.kill()
            return Future()
        if item == 3 and len(lost) == 1 and dies == "later":
            lost.append(item)
            raise BrokenProcessPool("a worker died")
        return submit(self, fn, item, shared)

    monkeypatch.setattr(_Pool, "submit", lose)
    engine = LocalEngine(2)
    try:
        assert list(engine.map(add, range(6), 10)) == list(range(10, 16))
    finally:
        engine.close()


def test_a_call_whose_pool_ended_while_it_began_is_repeated(monkeypatch):
    """A worker that ends deletes the files of the pool, while another begins a call."""
    submit, lost = _Pool.submit, []

    def begin_late(self, fn, item, shared):
        if item == 1 and not lost:
            lost.append(item)
            return self._executor.submit(_call, fn, item, str(self._path(shared)) + "deleted")
        return submit(self, fn, item, shared)

    monkeypatch.setattr(_Pool, "submit", begin_late)
    engine = LocalEngine(2)
    try:
        assert list(engine.map(add, range(6), 10)) == list(range(10, 16))
    finally:
        engine.close()


def test_a_script_without_main_is_told_once(tmp_path):
    """Workers import the script; they used to print a traceback each, around the line that matters."""
    script = tmp_path / "driver.py"
    script.write_text("from operator import add\nfrom onmargin.scale import LocalEngine\n")
    script.write_text(script.read_text() + "print(list(LocalEngine(2).map(add, [1, 2], 10)))\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith('keep what a script does under if __name__ == "__main__":')
    assert "freeze_support" not in done.stderr
    assert done.stderr.count("Traceback") == 1
