"""One record, however strange, neither stops a reader that skips errors nor takes more than linear work."""

import io
import re
from importlib import import_module
from pathlib import Path

import pytest

import onmargin.io
from onmargin.io import read_arff, read_json, read_jsonl, read_mbox
from onmargin.io._reader import line_reader
from onmargin.io._source import RecordError
from onmargin.io.documents import _Stripper

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


def patterns():
    """Return the regular expressions that see text of users, by module and name."""
    folder = Path(onmargin.io.__file__).parent
    modules = [import_module(f"onmargin.io.{path.stem}") for path in sorted(folder.glob("*.py"))]
    for module in [*modules, import_module("onmargin._numbers")]:
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                yield pytest.param(value.pattern, id=f"{module.__name__}.{name}")
            elif isinstance(value, str) and name.lstrip("_").isupper() and re.search(r"[*+?]", value):
                yield pytest.param(value, id=f"{module.__name__}.{name}")


def repeats(tokens, inside=False):
    """Yield each unbounded repetition that can give back what it has matched, and whether it is in another one."""
    parser = re._parser
    for kind, argument in tokens:
        if kind in (parser.MAX_REPEAT, parser.MIN_REPEAT):
            _, most, body = argument
            unbounded = most == parser.MAXREPEAT
            if unbounded:
                yield inside, body
            yield from repeats(body, inside or unbounded)
        elif kind is parser.SUBPATTERN:
            yield from repeats(argument[-1], inside)
        elif kind is parser.BRANCH:
            for branch in argument[1]:
                yield from repeats(branch, inside)


@pytest.mark.parametrize("pattern", list(patterns()))
def test_repetitions_are_not_nested(pattern):
    try:
        tokens = re._parser.parse(pattern)
    except re.error:
        pytest.skip("not a pattern")
    assert not any(inside for inside, body in repeats(tokens) if len(body) > 0), pattern
