"""One record, however strange, neither stops a reader that skips errors nor takes more than linear work."""

import ast
import io
from importlib import import_module
from pathlib import Path

import pytest

import onmargin.io
from onmargin._numbers import number_form
from onmargin.io import read_arff, read_json, read_jsonl, read_mbox
from onmargin.io._reader import line_reader
from onmargin.io._source import RecordError
from onmargin.io.documents import _Stripper
from tests.backtracking import is_linear

MAIL = "From a\nContent-Type: {}\n\n{}\n\n"


def nested_parts(depth):
    heads = "".join(f'--b{k}\nContent-Type: multipart/mixed; boundary="b{k + 1}"\n\n' for k in range(depth))
    return MAIL.format('multipart/mixed; boundary="b0"', heads)


@pytest.mark.parametrize(
    ("read", "bad", "good"),
    [
        (read_mbox, MAIL.format("text/html", "<![ x"), MAIL.format("text/plain", "hello")),
        (read_mbox, nested_parts(3000), MAIL.format("text/plain", "hello")),
        (read_jsonl, '{"x": {"a": 1}, "y": ' + "[" * 900 + "]" * 900 + "}\n", '{"x": {"a": 1}, "y": "p"}\n'),
        (
            lambda source: read_arff(io.StringIO("@attribute a numeric\n@attribute b {p}\n@data\n" + source.read())),
            "{" + "9" * 5000 + " 1}\n",
            "1,p\n",
        ),
    ],
    ids=["html", "parts", "nested", "index"],
)
def test_a_record_that_cannot_be_parsed_is_skipped(read, bad, good):
    reader = read(io.StringIO(good + bad + good))
    skipped = []
    reader.on_error = skipped.append
    assert (len(list(reader)), len(skipped)) == (2, 1)


@pytest.mark.parametrize("text", ["", "a,b\n", "@relation r\n@attribute a numeric\n", "@attribute\n@data\n1\n"])
def test_a_header_that_cannot_be_read_ends_the_file(text):
    """With `on_error`, the reader looked for the header again and again after the end of the file."""
    reader = read_arff(io.StringIO(text))
    skipped = []
    reader.on_error = skipped.append
    with pytest.raises(onmargin.io.ReadError) as caught:
        list(reader)
    assert (caught.value.skippable, skipped) == (False, [])


def test_a_problem_that_consumes_nothing_ends_the_loop():
    def parse(lines, at):
        yield from lines
        raise RecordError("the file has no end")

    reader = line_reader(io.StringIO("a\nb\n"), parse)
    skipped = []
    reader.on_error = skipped.append
    with pytest.raises(onmargin.io.ReadError, match="no end"):
        list(reader)
    assert len(skipped) == 1


def test_tags_that_do_not_end_take_linear_work(monkeypatch):
    scanned = []
    plain = _Stripper.parse_starttag
    monkeypatch.setattr(
        _Stripper, "parse_starttag", lambda self, i: scanned.append(len(self.rawdata) - i) or plain(self, i)
    )
    works = []
    for n in (4000, 16000):
        scanned.clear()
        _Stripper("<a b='" * n)
        works.append(sum(scanned))
    assert works[1] < 6 * works[0]


def test_a_long_item_of_an_array_is_parsed_a_few_times(monkeypatch):
    from onmargin.io import jsonl

    parsed = []

    class Decoder(jsonl.json.JSONDecoder):
        def raw_decode(self, s, idx=0):
            parsed.append(len(s))
            return super().raw_decode(s, idx)

    monkeypatch.setattr(jsonl.json, "JSONDecoder", Decoder)
    text = '[{"text": "' + "a " * 2_000_000 + '"}]'
    assert len(list(read_json(io.StringIO(text)))) == 1
    assert sum(parsed) < 4 * len(text)


# Calls whose pattern is only known at run time, with patterns that they may get.
NUMBERS = [number_form(*marks) for marks in ((".", None), (".", ","), (",", "."), (",", " "), (",", None))]
AT_RUN_TIME = {
    "pattern": [],  # of `Head.mostly`, whose calls are found themselves
    "number_form(decimal, thousands)": NUMBERS,
    "number_form(*marks)": NUMBERS,
    "number_form(dialect.decimal, dialect.thousands)": NUMBERS,
}
SEARCHES = {"search", "sub", "subn", "split", "findall", "finditer"}
OWN_TEXT = {"lab", "models"}  # packages whose patterns read docstrings and figures


def patterns():
    """Return the regular expressions that see text of users, and whether they are searched for."""
    package = Path(onmargin.__file__).parent
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package.parent).with_suffix("")
        code = path.read_text("utf-8")
        if place.parts[1] in OWN_TEXT or ("re." not in code and "mostly(" not in code):
            continue
        calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
        used = {ast.unparse(one.func) for one in calls}
        for call in calls:
            owner, _, method = ast.unparse(call.func).rpartition(".")
            if (owner != "re" or method == "escape") and method != "mostly":
                continue
            given = ast.unparse(call.args[0])
            module = vars(import_module(".".join(place.parts)))
            for one in AT_RUN_TIME[given] if given in AT_RUN_TIME else [eval(given, module)]:
                names = {name for name, value in module.items() if getattr(value, "pattern", None) == one}
                searched = {method, *(name for one in names for name in SEARCHES if f"{one}.{name}" in used)} & SEARCHES
                yield pytest.param(one, bool(searched), id=f"{'.'.join(place.parts[1:])}:{call.lineno}-{one!r:.40}")


@pytest.mark.parametrize(("pattern", "searched"), list(patterns()))
def test_patterns_take_linear_time(pattern, searched):
    assert is_linear(pattern, searched=searched)


@pytest.mark.parametrize("pattern", [r"(a+)+b", r"(aa|a)*", r"a*a*", r"\d*\.?\d*", r".*a.*b", r"\d*\d++x", r"(?>a)*a*"])
def test_patterns_that_match_in_many_ways_are_found(pattern):
    assert not is_linear(pattern)


@pytest.mark.parametrize("pattern", [r"a*b*", r"(?:a|b)+c", r"(?>a+)a*", r"(?:(?>a+)b)+", r"(\d+|\d{1,3}(\.\d{3})+)?,"])
def test_patterns_that_match_in_one_way_are_linear(pattern):
    assert is_linear(pattern)


def test_a_search_begins_anywhere():
    assert is_linear(r"\s+$")
    assert not is_linear(r"\s+$", searched=True)
