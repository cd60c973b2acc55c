"""Pages, messages, docstrings and comments are in plain American technical English: old phrases do not come back."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Each phrase with the words to write instead.
PHRASES = {
    r"\banew\b": "again, from scratch, a new ...",
    r"\blest\b": "so that ... not",
    r"\bcomes? again\b": "try again later",
    r"what (has )?c[ao]me of\b|\bc[ao]mes? of it\b": "the result",
    r"\bthe rounds came to\b|\bpasses came to\b": "totals, results",
    r"\b(?<!there )(is|are) no (JSON|numbers?|vector|whole|labels?|class|classes|matrix|dict|folder)\b": "is not",
    r"\bteach(es)? and asks?\b": "learn and predict",
    r"\bbeside each other\b": "in parallel, side by side",
    r"\bbeside (it|them|the|those|its|what|these|their|this|that|one)\b": "next to, besides, in addition to",
    r"\bof several the\b": "the first of several ...",
    r"\bslip of the pen\b": "typo",
    r"\b(its|their|and) kin\b": "family, related",
    r"\bfor ever\b": "forever",
    r"\bturn(s|ed)? up\b": "appear, occur",
    r"\bturned round\b": "flipped",
    r"\bworth while\b": "worthwhile, helps",
    r"\bnone such\b": "no such",
    r"\bwhatsoever\b": "any",
    r"\bsome (\d+|twenty|forty) (times|microseconds|nanoseconds|minutes)\b": "about ...",
    r"\bby inches\b": "gradually",
    r"\bto no effect\b": "without effect",
    r"\bno wish to\b": "if you do not want to",
    r"\bis deaf\b": "does not detect",
    r"\bthe very (numbers|mistakes)\b": "the same ...",
    r"\b[Oo]ne (prototype|number|row|file|page|line|round|column|vector|trial|model|function|estimator)s? an? "
    r"(class|round|label|row|pass|task|feature|paper|family|token|sequence|operation|source)\b": "one ... per ...",
    r"\ba (line|class|row|pass|round|column) a (line|class|row|pass|round|label|column)\b": "one ... per ...",
    r"\b([Oo]nce|[Oo]ne|two numbers|weight|flag|factor|score|coefficient|label) an? (class|column|row|round|label|slot"
    r"|feature|example|message|core|threshold|trial|token)\b": "one ... per ...",
    r"^\s*(#|r?\"\"\"|/\*) ?(Those|That of|Of (the|a|an|each)|Who)\b": "a sentence with a subject and a verb",
    r"\b[Aa]nswers? (how|whether|what is|where|which)\b": "returns",
    r"\b(is|are) no (support|digit|pair|checkpoint|journal|public)\b": "is not a",
    r"\bas good as (zero|not|never)\b": "like zero, rarely",
    r"\blikeliest\b": "most probable",
    r"\bof equal (ones|losses) the first\b": "the first of equal ones",
    r"\b(has|have|had) no number\b|\bleft (its|the|their) range\b": "is not finite, overflows",
    r"\blet it learn on\b|\bto go on with\b|\bgo on with --": "continue",
    r"\bbut for (the|a|an|what|those|these|its)\b": "except for",
    r"\bc[ao]mes? true\b": "was right",
    r"\bcomes? to the same\b|\bcame to the same\b": "is equal",
    r"\bmade up for\b": "is zero",
    r"\bsay (--|its --|engine=|comment=|encoding=)": "set, use",
    r"\bso many (features|names|classes|rows|labels|supports|places|bytes|buckets|columns|scores|weights|entries)\b": (
        "this many, a number of"
    ),
    r"\bas (they|it) comes?\b": "unchanged, with default parameters",
    r"\b(goes|go|going) on (alike|alone|as|exactly|where|with)\b": "continue",
    r"\blearns? on (and|as|from)\b": "continue learning",
    r"\bon the way\b": "during the stream, progressive",
    r"\bwarned of\b": "warns about",
    r"\bmakes? up for\b": "compensate, leave no loss",
    r"\bleaves? (no trace|nothing behind)\b": "changes nothing, has no effect",
    r"\basks? for nothing\b": "has no loss",
    r"\bsome (few|hundred|thousand)\b": "a few, hundreds of",
    r"\bno theorem speaks\b|\bcertify speaks\b": "covers",
}
# In pages, where nothing is an identifier.
BRITISH = (
    r"\b(\w*(standardis|normalis|maximis|minimis|optimis|regularis|generalis|recognis)\w*"
    r"|colour\w*|centre[ds]?|neighbour\w*|labell(ed|ing)\w*|behaviour\w*|programme|judgement)\b"
)
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(ROOT / "docs").rglob("*.rst"),
    *(ROOT / "examples").rglob("*.py"),
]
SUFFIXES = {".py", ".pyx", ".pxd", ".h", ".c", ".html", ".js"}
SOURCES = [
    path for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES
]
MADE = {"generated", "gallery", "_build"}


def found(pattern, paths):
    lines = []
    for path in paths:
        if MADE.isdisjoint(path.parts) and path != Path(__file__):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if re.search(pattern, line):
                    lines.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    return lines


@pytest.mark.parametrize("phrase", PHRASES, ids=range(len(PHRASES)))
def test_phrases_are_gone(phrase):
    assert not (lines := found(phrase, PAGES + SOURCES)), f"write instead: {PHRASES[phrase]}\n" + "\n".join(lines)


def test_pages_have_american_spelling():
    assert not (lines := found(BRITISH, PAGES)), "\n".join(lines)
