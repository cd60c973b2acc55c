"""Every paper cited in the source is in the bibliography."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in {".py", ".pyx", ".pxd", ".h"})

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
    "FERNS",
    "KNN",
    "SAMKNN",
    "FOREST",
    "EXTRA",
    "BOOSTING",
    "MARKOV",
    "SKETCH",
    "SLEEPING",
    "FIXED-SHARE",
    "ADWIN",
    "RFF",
    "AW",
    "PLG",
    "FS",
    "CCG",
    "BM",
    "ACI",
    "QT",
    "SELECTIVE",
}
# A tag is a word of capitals in brackets that does not index anything: "[JMLR] eq. 14", not "list[T]" or "x[I]".
TAG = re.compile(r"(?<![\w)\]])\[([A-Z]{2,}(?:-[A-Z]+)?)\]")


def tags():
    """Return the paths that cite each tag."""
    citing = {}
    for path in SOURCES:
        for tag in set(TAG.findall(path.read_text(encoding="utf-8"))):
            citing.setdefault(tag, []).append(str(path.relative_to(ROOT)))
    return citing


def test_bibliography_holds_the_papers():
    keys = re.findall(r"^@\w+\{([^,\s]+),", (ROOT / "docs/references.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(keys) >= PAPERS


def test_tags_are_known_papers():
    citing = tags()
    assert "JMLR" in citing, "no tag was found: the sources are not where this test looks"
    unknown = [f"[{tag}] in {', '.join(citing[tag])}" for tag in sorted(citing.keys() - PAPERS)]
    assert not unknown, "tags that are not in docs/references.bib:\n" + "\n".join(unknown)
