"""Sources cite papers that the bibliography holds, and stay short enough to read."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in {".py", ".pyx", ".pxd", ".h"})
LONGEST = {".py": 400, ".pyx": 300}  # lines

PAPERS = {
    "NIPS",
    "JMLR",
    "SLIDES",
    "SIMPROJ",
    "PD",
    "AROW",
    "SCW",
    "NHERD",
    "ADAGRAD",
    "NAG",
    "IPM",
    "ADAHEDGE",
    "ADWIN",
}
# A tag is a word of capitals in brackets that does not index anything: "[JMLR] eq. 14", not "list[T]" or "x[I]".
TAG = re.compile(r"(?<![\w)\]])\[([A-Z]{2,})\]")


def in_repository(path):
    return str(path.relative_to(ROOT))


def test_bibliography_holds_the_papers():
    keys = re.findall(r"^@\w+\{([^,\s]+),", (ROOT / "docs/references.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(keys) >= PAPERS


@pytest.mark.parametrize("path", SOURCES, ids=in_repository)
def test_tags_are_known_papers(path):
    assert set(TAG.findall(path.read_text(encoding="utf-8"))) <= PAPERS


@pytest.mark.parametrize("path", [path for path in SOURCES if path.suffix in LONGEST], ids=in_repository)
def test_module_is_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST[path.suffix]
