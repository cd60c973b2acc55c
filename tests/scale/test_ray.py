"""A real cluster of several nodes on this machine: failures make no difference to the result."""

import subprocess
import sys

import numpy as np
import pytest

from onmargin import AROWClassifier, PassiveAggressiveClassifier, io, load, scale
from onmargin.io import ReadError
from onmargin.io.model_file import to_bytes
from onmargin.scale import LocalEngine, RayEngine
from tests.apps.program import onmargin, start
from tests.saved import same_bytes
from tests.shards import Deadly, add_slowly, cut, die_at_one, fail_at_two
from tests.waiting import LIMIT, wait_until

ray = pytest.importorskip("ray", reason="Ray is an extra")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray warns about its own files and sockets

MEMORY = 80 * 2**20  # of the object store; Ray needs at least 75 MB


@pytest.fixture(scope="module")
def cluster():
    """Start a head without cores for tasks, and nodes that can be killed."""
    from ray.cluster_utils import Cluster

    health = {"health_check_initial_delay_ms": 500, "health_check_period_ms": 500, "health_check_failure_threshold": 2}
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 0,
            "object_store_memory": MEMORY,
            "_system_config": health,
            "include_dashboard": False,
        },
    )
    cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
    yield cluster
    cluster.shutdown()


@pytest.fixture(scope="module")
def engine(cluster):
    engine = RayEngine(cluster.address)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    rng = np.random.default_rng(0)
    for k in range(4):
        lines = []
        for _ in range(300):
            x = np.flatnonzero(rng.random(20) < 0.3) + 1
            lines.append(f"{int(x.sum()) % 3} " + " ".join(f"{j}:{rng.normal():.3f}" for j in x))
        (folder / f"{k}.svm").write_text("\n".join(lines) + "\n")
    return io.shards(f"{folder}/*.svm")


def expected(shards, epochs, **options):
    return to_bytes(scale.fit(AROWClassifier(average=True), shards, engine=LocalEngine(1), epochs=epochs, **options))


@pytest.mark.parametrize("mixing", ["updates", pytest.param("uniform", marks=pytest.mark.full)])
def test_ray_gives_the_result_of_one_process(engine, shards, mixing):
    model = scale.fit(AROWClassifier(average=True), shards, engine=engine, epochs=3, mixing=mixing)
    assert to_bytes(model) == expected(shards, 3, mixing=mixing)


def test_order_and_errors(engine):
    assert list(engine.map(add_slowly, range(5), 10)) == list(range(10, 15))
    results = engine.map(fail_at_two, range(5), "wrong")
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ValueError, match="wrong 2"):
        next(results)


@pytest.mark.full
def test_worker_killed_in_each_epoch(engine, shards, tmp_path):
    deadly = Deadly(engine, tmp_path)
    model = scale.fit(AROWClassifier(average=True), shards, engine=deadly, epochs=2)
    assert deadly.deaths == len(list(tmp_path.glob("death*"))) == 3  # once while the shards are first read
    assert to_bytes(model) == expected(shards, 2)


@pytest.mark.full
def test_repeated_crashes_are_an_error(engine):
    """Ray would start the task again without end."""
    with pytest.raises(RuntimeError, match="a worker died 3 times with 'part 1'"):
        list(engine.map(die_at_one, cut(np.eye(4), np.arange(4), 2), None))


@pytest.mark.full
def test_node_killed_in_the_middle(cluster, engine, shards):
    node = cluster.add_node(num_cpus=1, object_store_memory=MEMORY)

    def kill(report):
        if report.epoch == 2 and report.place == 0:
            cluster.remove_node(node, allow_graceful=False)

    model = scale.fit(AROWClassifier(average=True), shards, engine=engine, epochs=3, progress=kill)
    assert to_bytes(model) == expected(shards, 3)


@pytest.mark.full
def test_driver_killed_and_resumed(cluster, engine, shards, tmp_path):
    """The driver is another process, which is killed when two epochs are saved."""
    path = tmp_path / "run.model"
    code = (
        "import sys, threading\n"
        "from onmargin import AROWClassifier, io\n"
        "def wait(report):\n"
        "    if report.epoch == 3:\n"
        "        threading.Event().wait()\n"
        "shards = io.shards(sys.argv[3:])\n"
        "model = AROWClassifier(average=True)\n"
        "model.fit(shards, engine='ray', address=sys.argv[1], epochs=4, checkpoint=sys.argv[2], progress=wait)\n"
    )
    files = [shard.paths[0] for shard in shards]
    driver = subprocess.Popen([sys.executable, "-c", code, cluster.address, str(path), *files])
    try:
        wait_until(lambda: driver.poll() is not None or (path.exists() and load(path).n_iter_ == 2))
        assert driver.poll() is None
    finally:
        driver.kill()
        driver.wait()
    model = scale.fit(AROWClassifier(average=True), shards, engine=engine, epochs=4, checkpoint=path, resume=True)
    assert to_bytes(model) == to_bytes(load(path)) == expected(shards, 4)


def test_corrupt_file_is_named(engine, shards, tmp_path):
    (tmp_path / "bad.svm").write_text("1 1:0.5\n1 1:oops\n")
    both = io.shards([shards[0].paths[0], tmp_path / "bad.svm"])
    with pytest.raises(ReadError, match=r"bad\.svm, line 2, record 2"):
        scale.fit(PassiveAggressiveClassifier(), both, engine=engine, epochs=1)


def test_models_are_compared(engine, shards):
    models = [PassiveAggressiveClassifier(C=C) for C in (0.01, 1.0)]
    here, there = (scale.compare(models, shards, engine=one) for one in (LocalEngine(1), engine))
    assert [to_bytes(outcome.model) for outcome in here] == [to_bytes(outcome.model) for outcome in there]


@pytest.mark.full
def test_no_cluster_at_the_address():
    """The process is not connected to any cluster."""
    code = "import sys; from onmargin.scale import RayEngine; RayEngine(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, "127.0.0.1:1"], capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert "ConnectionError: there is no Ray cluster at '127.0.0.1:1'" in done.stderr
    assert "ray start --head" in done.stderr


@pytest.mark.full
def test_cluster_on_this_machine(shards, tmp_path):
    """The command line starts it in its own process."""
    files = [shard.paths[0] for shard in shards[:2]]
    arguments = ["train", *files, "--workers", "1", "--quiet"]
    there = start(*arguments, "--engine", "ray", "-o", tmp_path / "ray")
    onmargin(*arguments, "--engine", "local", "-o", tmp_path / "local")
    errors = there.communicate(timeout=LIMIT)[1]
    assert there.returncode == 0, errors
    assert same_bytes(tmp_path / "ray", tmp_path / "local")


def test_arguments(cluster, engine):
    with pytest.raises(ValueError, match=r"is connected to the Ray cluster at .* already"):
        RayEngine("127.0.0.1:1")
    assert list(RayEngine(cluster.address, workers=1).map(add_slowly, range(3), 1)) == [1, 2, 3]
    with pytest.raises(ValueError, match="workers must be an integer at least 1"):
        RayEngine(workers=0)
