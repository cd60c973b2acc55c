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


def test_demo_shows_the_progressive_errors(demo):
    auto, plain = map(float, re.search(r"1797 examples ([\d.]+)% ([\d.]+)%", demo).groups())
    mistakes = [int(found) for found in re.findall(r": (\d+) mistakes", demo)]
    assert [auto, plain] == pytest.approx([100 * n / 1797 for n in mistakes], abs=0.06)
    assert auto < plain < 20


def test_demo_stays_below_its_bound(demo):
    made, allowed = map(int, re.search(r"(\d+) mistakes; .* allows (\d+) on this stream", demo).groups())
    assert made <= allowed < 1797


def test_demo_writes_a_page_with_the_curves(tmp_path):
    page = tmp_path / "demo.html"
    assert CliRunner().invoke(main, ["demo", "--html", page]).exit_code == 0
    found = page.read_text()
    assert found.count("<polyline") == 2
    assert re.findall("<h2>(.*?)</h2>", found) == ["The experts of AutoClassifier", "The certificate of PA-I"]


def test_commands_proposed_by_the_demo_exist():
    from onmargin.apps.demo import NEXT

    for line in NEXT.splitlines():
        assert line.split()[0] == "onmargin"
        assert line.split()[1] in main.list_commands(None)


def test_the_package_is_a_program():
    command = [sys.executable, "-m", "onmargin", "--version"]
    assert "onmargin" in subprocess.run(command, check=True, capture_output=True, text=True).stdout


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
