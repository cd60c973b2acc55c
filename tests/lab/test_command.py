"""onmargin lab, as a user would call it."""

import csv
import os
import signal
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool

import pytest

from onmargin import lab
from tests.apps.program import onmargin, start
from tests.waiting import LIMIT, wait_until


def test_list_names_them_all():
    printed = onmargin("lab", "list")
    assert [line.split()[0] for line in printed.splitlines()] == list(lab.EXPERIMENTS)
    assert "needs usps/usps.npz in --data" in printed


def test_one_experiment_writes_its_files_and_prints_its_verdicts(tmp_path):
    printed = onmargin("lab", "errata", "--out", tmp_path, "--jobs", 1, "--quiet")
    assert printed.count("**corrected**") == len(lab.EXPERIMENTS["errata"].claims)
    assert (tmp_path / "errata/table.csv").exists()


def test_experiments_read_their_data(tmp_path, data):
    printed = onmargin("lab", "digits-usps", "--out", tmp_path, "--data", data, "--repetitions", 1, "--jobs", 1, "-q")
    assert "PA-II are indistinguishable" in printed


def test_all_that_can_be_run_is_reported(tmp_path, monkeypatch):
    few = {name: lab.EXPERIMENTS[name] for name in ("errata", "mail", "digits-usps")}
    monkeypatch.setattr(lab, "EXPERIMENTS", few)
    printed = onmargin("lab", "all", "--out", tmp_path, "--jobs", 1, "-q")
    assert "0 reproduced, 0 not reproduced, 15 corrected" in printed
    assert "needs data: usps/usps.npz in --data" in printed
    rows = csv.DictReader((tmp_path / "claims.csv").read_text(encoding="utf-8").splitlines())
    assert {row["verdict"] for row in rows} == {"corrected"}
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "needs data" in report
    assert "Statements that fail as printed" in report


def test_all_runs_what_the_folder_has(tmp_path, monkeypatch):
    few = {name: lab.EXPERIMENTS[name] for name in ("mail", "digits-usps")}
    monkeypatch.setattr(lab, "EXPERIMENTS", few)
    from tests.lab.small import write_data

    folder = write_data(tmp_path / "data")
    (folder / "enron_foldering/lokay-m.jsonl.gz").unlink()
    options = "--out", tmp_path, "--data", folder, "--repetitions", 1, "--jobs", 1, "-q"
    printed = onmargin("lab", "all", *options)
    assert "needs data: enron_foldering/lokay-m.jsonl.gz in --data" in printed
    assert (tmp_path / "digits-usps/figure.png").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nothing"], 2, "there is no experiment 'nothing'. There are: instance-noise, label-noise"),
        (["mail"], 1, "mail needs data: set --data to the folder that contains enron_foldering/farmer-d.jsonl.gz"),
        (
            ["digits-usps", "--data", "nowhere"],
            1,
            "--data nowhere is not a folder: for digits-usps it should have usps/usps",
        ),
        (["digits-usps", "--data", "."], 1, "--data . lacks files: for digits-usps it should have usps/usps.npz"),
        (
            ["all", "--data", "."],
            1,
            "for digits-usps, digits-mnist, mail, mail-seen, mail-course it should have usps/usps.npz",
        ),
        (["errata", "--repetitions", "0"], 2, "--repetitions"),
        (["errata", "--jobs", "0"], 2, "--jobs"),
        (["errata", "--seed", "-1"], 2, "--seed"),
    ],
)
def test_usage_errors_are_named(arguments, code, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words in " ".join(onmargin("lab", *arguments, code=code).split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "file", "words"),
    [
        ("digits-usps", "usps/usps.npz", "the arrays X_train and y_train"),
        ("digits-mnist", "mnist/train-images-idx3-ubyte.gz", "images and labels in the IDX format"),
        ("mail", "enron_foldering/farmer-d.jsonl.gz", "a message a line in JSON"),
    ],
)
def test_damaged_files_are_named(name, file, words, tmp_path):
    from tests.lab.small import write_data

    folder = write_data(tmp_path / "data")
    (folder / file).write_bytes(b"neither this nor that")
    printed = onmargin("lab", name, "--out", tmp_path, "--data", folder, "--jobs", 1, "-q", code=1)
    assert f"looked for {words}" in printed
    assert file.split("/")[0] in printed


def test_a_process_that_dies_is_noticed(tmp_path, monkeypatch):
    def die(*_, **__):
        raise BrokenProcessPool("gone")

    monkeypatch.setattr(lab, "run", die)
    assert "try --jobs 1" in onmargin("lab", "errata", "--out", tmp_path, "--jobs", 1, "-q", code=1)


def test_figures_need_matplotlib_before_anything_is_run(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert 'pip install ".[lab]"' in onmargin("lab", "errata", "--out", tmp_path, "--jobs", 1, "-q", code=1)


def alive(group):
    """Return the running processes of a group."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.split()[0] == str(group) and line.split()[1][0] != "Z"]


@pytest.mark.full
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_finished_experiments_survive_a_stop(tmp_path):
    program = start("lab", "all", "--out", tmp_path, "--jobs", 2, "-q", start_new_session=True)
    wait_until((tmp_path / "instance-noise/settings.json").exists)
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=LIMIT)
    assert program.returncode == 128 + signal.SIGINT, errors
    assert b"stopped; finished and in" in errors
    assert b"Traceback" not in errors
    assert len(list((tmp_path / "instance-noise").iterdir())) == 5
    assert not (tmp_path / "report.html").exists()
    wait_until(lambda: not alive(program.pid))
