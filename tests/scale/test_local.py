"""The processes of one machine: in order, alive again after a death, and not for ever."""

import pytest

from onmargin import AROWClassifier, io, scale
from onmargin.io.model_file import to_bytes
from onmargin.scale import LocalEngine
from tests.shards import Deadly, add_slowly, die, fail_at_two


@pytest.fixture(scope="module")
def pair():
    engine = LocalEngine(2)
    yield engine
    engine.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_items(workers, pair):
    engine = pair if workers == 2 else LocalEngine(1)
    assert list(engine.map(add_slowly, range(9), 10)) == list(range(10, 19))
    assert list(engine.map(add_slowly, [], 10)) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_call_raises_is_raised_in_its_turn(workers, pair):
    engine = pair if workers == 2 else LocalEngine(1)
    results = engine.map(fail_at_two, range(5), "wrong")
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ValueError, match="wrong 2"):
        next(results)
    assert list(engine.map(fail_at_two, [0, 1], "right")) == [0, 1]


def test_pool_is_built_anew_when_a_worker_dies(tmp_path, pair):
    for k in range(3):
        (tmp_path / f"{k}.svm").write_text(f"1 1:1 2:{k}\n0 2:1\n" * 20)
    shards = io.shards(f"{tmp_path}/*.svm")
    deadly = Deadly(pair, tmp_path)
    model = scale.fit(AROWClassifier(), shards, engine=deadly, epochs=2)
    assert deadly.deaths == len(list(tmp_path.glob("death*"))) == 3
    assert to_bytes(model) == to_bytes(scale.fit(AROWClassifier(), shards, engine=LocalEngine(1), epochs=2))


def test_deaths_without_end_are_an_error(pair):
    with pytest.raises(RuntimeError, match=r"a worker died 3 times in a row.*__main__"):
        list(pair.map(die, [1], None))


def test_workers_must_be_a_number():
    for workers in (0, -1, 1.5, True, "two"):
        with pytest.raises(ValueError, match="workers must be an integer at least 1"):
            LocalEngine(workers)
    assert LocalEngine().workers >= 1
