"""The command line, as a user would call it."""

import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from onmargin.apps.cli import main
from tests.apps.program import jsonl, svmlight


@pytest.fixture(scope="module")
def demo():
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_demo_learns_every_example_and_shows_the_progressive_error(demo):
    assert "569/569" in demo
    error = float(re.search(r"error so far ([\d.]+)%", demo).group(1))
    mistakes = int(re.search(r"mistakes │ (\d+)", demo).group(1))
    assert error == pytest.approx(100 * mistakes / 569, abs=0.06)
    assert error < 10


def test_demo_stays_below_its_bound(demo):
    made, allowed = map(int, re.search(r"made (\d+) mistakes; its bound allowed (\d+)", demo).groups())
    assert made <= allowed < 569
    primal, dual = map(float, re.search(r"objective is ([\d.]+); .* none is below ([\d.]+)\.", demo).groups())
    assert dual <= primal


def test_commands_proposed_by_the_demo_run(demo):
    from sklearn.datasets import load_iris

    from onmargin.apps.demo import NEXT

    X, y = load_iris(return_X_y=True)
    names = {"X": X, "y": y}
    exec(compile(NEXT, "demo", "exec"), names)
    assert names["model"].totals_.rounds == len(y)


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], ["-h"], ["demo", "--help"], ["train", "--help"], ["lab", "-h"]]
)
def test_information_is_printed_without_loading_the_libraries(arguments):
    code = (
        "import sys; from onmargin.apps.cli import main; main(sys.argv[1:], 'onmargin', standalone_mode=False); "
        "sys.exit(str(sorted({'numpy', 'sklearn', 'scipy', 'rich'} & set(sys.modules)) or ''))"
    )
    result = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert result.stderr.strip() == ""
    assert "onmargin" in result.stdout


@pytest.mark.parametrize("format", ["svmlight", "jsonl"])
def test_models_of_streams_need_neither_scikit_learn_nor_scipy(tmp_path, format):
    data = (svmlight if format == "svmlight" else jsonl)(tmp_path / f"a.{format}")
    code = (
        "import sys; from onmargin.apps.cli import main; main(sys.argv[1:], 'onmargin', standalone_mode=False); "
        "slow = {'sklearn', 'scipy', 'rich', 'pandas', 'pyarrow', 'html', 'statistics'}; "
        "sys.exit(str(sorted(slow & set(sys.modules)) or ''))"
    )
    for arguments in (["train", data, "-o", tmp_path / "model", "-q"], ["predict", tmp_path / "model", data]):
        command = [sys.executable, "-c", code, *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.stderr.strip() == ""
        assert result.stdout


def test_unknown_command_is_refused():
    result = CliRunner().invoke(main, ["dance"])
    assert result.exit_code == 2
    assert "No such command 'dance'" in result.output
