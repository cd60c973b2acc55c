"""A damaged model file gives the saved model or a ModelFileError, and never runs code."""

import errno
import fcntl
import itertools
import json
import os
import pickle
import signal
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save as save_bytes
from safetensors.numpy import save_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onmargin
from onmargin import ModelFileError, PassiveAggressiveClassifier
from tests.examples import examples
from tests.saved import Case, anatomy, phi

model_file = import_module("onmargin.io.model_file")
MODEL = Case("PassiveAggressiveClassifier", {"average": True, "cost": np.ones((3, 3)) - np.eye(3)}).half_way()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.safetensors"
    onmargin.save(MODEL, path)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory):
    """Return the path of the files that hypothesis generates, one after the other."""
    return tmp_path_factory.mktemp("spoilt") / "model.safetensors"


def is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"cannot load a model from '.*model\.safetensors': .") as caught:
        onmargin.load(path)
    return str(caught.value)


def test_every_altered_byte_is_detected(spoilt):
    onmargin.save(onmargin.GradientDescentRegressor().partial_fit([[1.0]], [1.0]), spoilt)
    saved = spoilt.read_bytes()
    for i, byte in enumerate(saved):
        is_refused(spoilt, saved[:i] + bytes([byte ^ 1]) + saved[i + 1 :])


@examples(300)
@given(place=st.floats(0, 1, exclude_max=True), value=st.integers(0, 255))
def test_no_altered_byte_gives_another_model(saved, spoilt, place, value):
    """Only a space that pads the header, which follows its eight bytes of length, may become another kind of space."""
    i = int(place * len(saved))
    content = saved[:i] + bytes([value]) + saved[i + 1 :]
    spoilt.write_bytes(content)
    blanks = (saved[i : i + 1], bytes([value])) in {(b" ", b"\t"), (b" ", b"\n"), (b" ", b"\r")}
    if content == saved or (i >= 8 and blanks):
        assert anatomy(onmargin.load(spoilt)) == anatomy(MODEL)
    else:
        is_refused(spoilt, content)


@examples(100)
@given(st.floats(0, 1, exclude_max=True))
def test_truncated_files_are_refused(saved, spoilt, part):
    is_refused(spoilt, saved[: int(part * len(saved))])


@examples(100)
@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_refused(spoilt, content):
    is_refused(spoilt, content)


def test_trailing_bytes_are_refused(saved, path):
    is_refused(path, saved + b"\0")


def test_files_of_other_kinds_are_refused(path):
    assert "not an onmargin model file" in is_refused(path, b"")
    assert "not an onmargin model file" in is_refused(path, pickle.dumps(MODEL))
    save_file({"weights": np.zeros(3)}, path)
    assert "another safetensors file" in is_refused(path, path.read_bytes())
    save_file({"weights": np.zeros(3)}, path, metadata={"format": "np"})
    assert "another safetensors file" in is_refused(path, path.read_bytes())
    for text in ("", "[]", "3", "{}", '{"schema": 1}', "[" * 5000, '{"schema": null, "sha256": ""}'):
        save_file({"weights": np.zeros(3)}, path, metadata={"onmargin": text})
        assert "damaged" in is_refused(path, path.read_bytes())


def test_missing_files_are_reported(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        onmargin.load(tmp_path / "missing")
    with pytest.raises(ModelFileError, match="it is not a file"):
        onmargin.load(tmp_path)


def forged(path, change):
    """Rewrite a file with another description and a correct checksum."""
    with safe_open(path, framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        document = json.loads(file.metadata()["onmargin"])
    del document["sha256"]
    change(document, arrays)
    document["sha256"] = model_file._digest(document)
    save_file(arrays, path, metadata={"onmargin": model_file._canonical(document)})
    return path.read_bytes()


# The place of the constructor arguments of the learner in the description of a file.
LEARNER = "state", "_model", "part", "arguments", 0, "part"


def set_in(*places):
    *route, last, value = places

    def change(document, arrays):
        for place in route:
            document = document[place]
        document[last] = value

    return change


def without_intercept(document, arrays):
    del arrays["state._model.0.2.intercept"]
    del document["arrays"]["state._model.0.2.intercept"]


FORGERIES = {
    "later schema": (set_in("schema", 2), "schema 2, and onmargin .* reads schemas up to 1: upgrade"),
    "class that is none": (set_in("class", "os"), "'os' is not a public class"),
    "class that is no model": (set_in("class", "save"), "'save' is not a public class"),
    "private class": (set_in("class", "_HOME"), "is not a public class"),
    "parameter that is wrong": (
        set_in("parameters", "C", -1.0),
        "C must be a number greater than 0, or a sequence.*; got -1.0",
    ),
    "parameter that is none": (set_in("parameters", "D", 1.0), "unexpected keyword argument 'D'"),
    "method": (set_in("state", "predict", 1), "predict of PassiveAggressiveClassifier are not learned"),
    "parameter as state": (set_in("state", "C", 1.0), "C of PassiveAggressiveClassifier are not learned"),
    "part that is none": (set_in(*LEARNER, "kind", "Popen"), "Popen"),
    "tag that is none": (set_in("parameters", "cost", {"eval": "1 + 1"}), "eval"),
    "two tags": (set_in("parameters", "cost", {"tuple": [], "float": "inf"}), "too many values"),
    "type that is none": (set_in("parameters", "tol", {"scalar": ["object", 1]}), "a scalar of type 'object'"),
    "items of records": (
        set_in("state", "classes_", {"items": {"dtype": "V8", "shape": [0], "items": []}}),
        "items of type 'V8'",
    ),
    "array that is not there": (set_in("parameters", "cost", {"array": "no"}), "no"),
    "array that is not described": (without_intercept, "intercept"),
    "more features than weights": (
        set_in(*LEARNER, "arguments", 2, "part", "settings", "n_features", 7),
        r"weights must be float64 of shape \(3, 7\); got float64 of shape \(3, 6\)",
    ),
    "more features than memory": (
        set_in(
            "state", "_model", "part", "arguments", 0, "part", "arguments", 2, "part", "settings", "n_features", 2**30
        ),
        "more memory than a model file of its size can need",
    ),
}


@pytest.mark.parametrize(("change", "reason"), FORGERIES.values(), ids=FORGERIES)
def test_inconsistent_descriptions_are_refused(saved, path, change, reason):
    path.write_bytes(saved)
    content = forged(path, change)
    with pytest.raises(ModelFileError, match=reason):
        onmargin.load(path)
    is_refused(path, content)


def test_additional_metadata_is_refused(saved, path):
    path.write_bytes(saved)
    with safe_open(path, framework="numpy") as file:
        arrays, metadata = file.get_tensors(), file.metadata()
    save_file(arrays, path, metadata={**metadata, "more": ""})
    is_refused(path, path.read_bytes())


class Foreign(PassiveAggressiveClassifier):
    pass


@pytest.mark.parametrize(
    "model", [make_pipeline(StandardScaler(), MODEL), Foreign(), StandardScaler(), MODEL._learner, None, "model"]
)
def test_objects_of_other_kinds_cannot_be_saved(model, path):
    with pytest.raises(TypeError, match="save takes an estimator of onmargin; got a"):
        onmargin.save(model, path)
    assert not path.exists()


def test_invalid_parameters_cannot_be_saved(path):
    with pytest.raises(ValueError, match="C must be a number"):
        onmargin.save(PassiveAggressiveClassifier(C=-1), path)
    assert not path.exists()


def test_parameters_that_do_not_fit_the_model_cannot_be_saved(path):
    model = Case("PassiveAggressiveClassifier").half_way().set_params(C=[1.0, 2.0])
    with pytest.raises(ValueError, match="C cannot change after training has started: set it back"):
        onmargin.save(model, path)
    assert not path.exists()


def test_state_that_files_do_not_support_is_refused(path):
    """The id of a trial may be any object."""
    X, y = Case("BlockClassifier").half(0)
    ids = np.empty(len(y), dtype=object)
    ids[:] = [frozenset({1})] * len(y)
    model = onmargin.BlockClassifier().partial_fit(X, y, groups=ids)
    with pytest.raises(TypeError, match=r"state\._last_group is a frozenset, and a model file holds numbers"):
        onmargin.save(model, path)


def test_parameters_that_files_do_not_support_are_refused(path):
    onmargin.save(Case("ClassFeatureClassifier", {"phi": phi}).half_way(), path)
    with pytest.raises(ModelFileError, match=r"this model's phi. Give them again: load\(path, parameters={'phi': ...}"):
        onmargin.load(path)
    with pytest.raises(ModelFileError, match=r"parameters names \['C'\], but the file lacks \['phi'\]"):
        onmargin.load(path, parameters={"phi": phi, "C": 2})
    with pytest.raises(ModelFileError, match="phi must be"):
        onmargin.load(path, parameters={"phi": 3})
    onmargin.save(MODEL, path)
    with pytest.raises(ModelFileError, match="the file lacks nothing"):
        onmargin.load(path, parameters={"C": 2})


def names(path):
    return sorted(os.listdir(path.parent))


class Faults:
    """System calls that fail from a given call on, or once."""

    NAMES = ("open", "chmod", "write", "fsync", "replace", "close", "unlink", "stat")

    def __init__(self, monkeypatch, fails):
        self.calls, self.fails = [], fails
        for name in self.NAMES:
            monkeypatch.setattr(os, name, self.wrap(name, getattr(os, name)))

    def wrap(self, name, function):
        def call(*arguments, **options):
            self.calls.append(name)
            if name == "write":  # by pieces, as a pipe or a full disk may take it
                arguments = arguments[0], arguments[1][:1000]
            if self.fails(len(self.calls) - 1, name):
                if name == "close":
                    function(*arguments)  # the handle is gone, whatever the answer
                raise OSError(errno.EIO, "injected")
            return function(*arguments, **options)

        return call


def test_a_save_whose_calls_fail_leaves_the_old_file_or_the_new_one(saved, path, monkeypatch):
    path.write_bytes(saved)
    other = PassiveAggressiveClassifier().partial_fit(np.eye(50), np.arange(50))
    with monkeypatch.context() as patch:
        calls = Faults(patch, lambda k, name: False).calls
        onmargin.save(other, path)
    new = path.read_bytes()
    assert {"open", "chmod", "write", "fsync", "replace", "close"} <= set(calls)
    assert calls.count("write") > 10
    for k in range(len(calls)):
        path.write_bytes(saved)
        with monkeypatch.context() as patch:
            Faults(patch, lambda now, name, k=k: now == k)
            try:
                onmargin.save(other, path)
                silent = True
            except OSError:
                silent = False
        assert path.read_bytes() == new if silent else path.read_bytes() in (saved, new), calls[k]
        assert [name for name in names(path) if not name.endswith(".tmp")] == [path.name]
    # The next save removes what a failed removal left behind.
    onmargin.save(other, path)
    assert names(path) == [path.name]


def test_files_are_valid_safetensors(path):
    arrays = {
        name: np.arange(6).reshape(shape).astype(name)
        for name, shape in zip(model_file.DTYPES, itertools.cycle([(6,), (2, 3), (1, 6, 1)]), strict=False)
    } | {"none": np.zeros((0, 3)), "one": np.ones(()), "größe": np.ones(1), "columns": np.ones((3, 2)).T}
    text = 'quote " backslash \\ \n tab \t bell \x07 é 日 \x7f'
    ours = b"".join(model_file._pieces(text, arrays))
    contiguous = {name: np.array(array, order="C") for name, array in arrays.items()}
    assert ours == save_bytes(contiguous, metadata={"onmargin": text})


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of Unix")
@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077, 0o002])
def test_a_new_file_has_the_permissions_of_the_umask(path, umask):
    before = os.umask(umask)
    try:
        onmargin.save(MODEL, path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask


@pytest.mark.skipif(os.name != "posix", reason="Windows has no locks of this kind")
def test_only_temporary_files_of_ended_processes_are_removed(path):
    dead = path.with_name(f".{path.name}.{'0' * 16}.tmp")
    others = [path.with_name(f".other.{'0' * 16}.tmp"), path.with_name(f".{path.name}.tmp")]
    for file in (dead, *others):
        file.touch()
    living = path.with_name(f".{path.name}.{'1' * 16}.tmp")
    with living.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        onmargin.save(MODEL, path)
        assert names(path) == sorted(file.name for file in (path, living, *others))
    onmargin.save(MODEL, path)
    assert names(path) == sorted(file.name for file in (path, *others))


@pytest.mark.skipif(os.name != "posix", reason="there are no such files")
def test_only_regular_files_are_replaced(path):
    os.mkfifo(path)
    with pytest.raises(OSError, match="a device, a pipe or a socket"):
        onmargin.save(MODEL, path)
    assert path.is_fifo()
    assert names(path) == [path.name]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no way to kill a process at once")
@pytest.mark.parametrize("moment", ["os.fsync", "os.replace"])
def test_a_save_that_is_killed_leaves_the_old_file(saved, path, moment):
    path.write_bytes(saved)
    code = f"""
import os, signal, onmargin
{moment} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
onmargin.save(onmargin.stream.PassiveAggressiveClassifier(), {str(path)!r})
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert path.read_bytes() == saved
    assert anatomy(onmargin.load(path)) == anatomy(MODEL)
    assert len(names(path)) == 2
    onmargin.save(MODEL, path)
    assert names(path) == [path.name]


def test_unwritable_folders_are_reported(tmp_path):
    with pytest.raises(FileNotFoundError):
        onmargin.save(MODEL, tmp_path / "missing" / "model")
    with pytest.raises(OSError, match="directory"):
        onmargin.save(MODEL, tmp_path)
    assert not any(tmp_path.iterdir())


def test_read_only_folder(tmp_path):
    tmp_path.chmod(0o500)
    if os.access(tmp_path, os.W_OK):
        pytest.skip("this user may write anywhere")
    with pytest.raises(PermissionError):
        onmargin.save(MODEL, tmp_path / "model")


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of Unix")
def test_permissions_and_links_stay(path):
    onmargin.save(MODEL, path)
    path.chmod(0o640)
    link = path.with_name("latest")
    link.symlink_to(path.name)
    onmargin.save(PassiveAggressiveClassifier(), link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert anatomy(onmargin.load(path)) == anatomy(PassiveAggressiveClassifier())
