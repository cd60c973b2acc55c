"""A loaded model continues as if it had never stopped, and files of earlier versions are readable."""

import base64
import json
import os
from importlib.metadata import version

import pytest

import onmargin
from tests.stream.cases import CASES, MODELS, learned, state
from tests.stream.write_golden import CASES as GOLDEN_CASES
from tests.stream.write_golden import GOLDEN, answers

FILES = sorted(GOLDEN.glob("*/*.json"))


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    return tmp_path / "model.safetensors"


def returned(model, path):
    onmargin.save(model, path)
    return onmargin.load(path)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_learning_continues(case, path):
    model = case.half_way()
    before = state(model)
    twin = returned(model, path)
    assert type(twin) is type(model)
    assert state(model) == state(twin) == before
    learned(twin, *case.half(1))
    assert state(twin) == state(learned(case.half_way(), *case.half(1)))
    X, _ = case.data()
    assert answers(twin, X) == answers(learned(model, *case.half(1)), X)


@pytest.mark.parametrize("name", MODELS)
def test_unlearned(name, path):
    model = GOLDEN_CASES[name].model()
    assert state(returned(model, path)) == state(model)


@pytest.mark.parametrize("name", MODELS)
def test_same_model_same_bytes(name, path):
    onmargin.save(GOLDEN_CASES[name].half_way(), path)
    once = path.read_bytes()
    onmargin.save(onmargin.load(path), path)
    assert path.read_bytes() == once


def test_equal_names_of_two_interfaces_are_distinguished(path):
    """Both have a LabelRanker."""
    assert type(returned(onmargin.LabelRanker(), path)) is onmargin.LabelRanker
    assert type(returned(MODELS["LabelRanker"](), path)) is MODELS["LabelRanker"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_golden_file_is_read(file, path):
    golden, case = json.loads(file.read_text(encoding="utf-8")), GOLDEN_CASES[file.stem]
    path.write_bytes(base64.b64decode("".join(golden["file"])))
    model = onmargin.load(path)
    found = answers(model, case.half(1)[0])
    # The sums of another machine may be rounded otherwise.
    for score, expected in zip(found, golden["answers"], strict=True):
        assert score == pytest.approx(expected, rel=1e-6, abs=1e-6)
    learned(model, *case.half(1))


def test_there_is_a_golden_file_for_every_model():
    assert {file.stem for file in FILES if file.parent.name == version("onmargin")} == set(MODELS)
