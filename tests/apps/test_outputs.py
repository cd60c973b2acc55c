"""No command overwrites its input files, or files made by others."""

import os
import subprocess
import sys

import pytest

from tests.apps.program import CODE, onmargin, svmlight

COMMANDS = {"train": ["train"], "convert": ["convert", "--to", "jsonl"]}
every_command = pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)


@pytest.fixture
def data(tmp_path):
    return svmlight(tmp_path / "data.svm", 50)


def links(path):
    """Return links to a file."""
    symbolic, hard = path.with_name("symbolic"), path.with_name("hard")
    symbolic.symlink_to(path.name)
    os.link(path, hard)
    return [path, path.parent / "." / path.name, symbolic, hard]


@every_command
@pytest.mark.parametrize("force", [[], ["--force"]], ids=["plain", "force"])
def test_an_output_is_not_an_input(data, command, force):
    before, inode = data.read_bytes(), data.stat().st_ino
    for out in links(data):
        for given in (data, out):
            assert "is an input" in onmargin(*command, given, "-o", out, *force, code=1)
    assert data.read_bytes() == before
    assert data.stat().st_ino == inode


@every_command
def test_an_output_is_not_the_standard_input(data, command):
    before = data.read_bytes()
    with data.open("rb") as stdin:
        done = subprocess.run(
            [sys.executable, "-c", CODE, *command, "-", "-o", str(data), "--force"],
            stdin=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "is an input, -" in done.stderr
    assert data.read_bytes() == before


@every_command
def test_other_files_are_replaced_only_with_force(data, command):
    out = data.with_name("precious")
    out.write_text("precious")
    assert "--force" in onmargin(*command, data, "-o", out, code=1)
    assert out.read_text() == "precious"
    onmargin(*command, data, "-o", out, "--force")
    assert out.read_bytes() != b"precious"
    out.write_bytes(b"")
    onmargin(*command, data, "-o", out)  # the file is unchanged


def test_models_are_replaced(data):
    out = data.with_name("model")
    onmargin("train", data, "-o", out)
    first = out.read_bytes()
    onmargin("train", data, "-o", out, "--passes", 2)
    assert out.read_bytes() != first


@every_command
def test_a_device_is_never_replaced(data, command):
    pipe = data.with_name("pipe")
    os.mkfifo(pipe)
    assert "not a regular file" in onmargin(*command, data, "-o", pipe, "--force", code=1)
    assert pipe.is_fifo()


def test_names_are_an_output_too(data, tmp_path):
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"x": {"a": 1}, "y": 1}\n')
    assert "is an input" in onmargin("convert", lines, "--to", "svmlight", "--names", lines, code=1)
    out = tmp_path / "out"
    assert "two files" in onmargin("convert", lines, "--to", "svmlight", "-o", out, "--names", out, code=2)
    assert not out.exists()
