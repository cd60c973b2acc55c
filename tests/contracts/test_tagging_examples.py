"""The tagging examples run on files in the format of their corpora."""

from pathlib import Path
from runpy import run_path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
CHUNKS = """\
He PRP B-NP
sees VBZ B-VP
the DT B-NP
dog NN I-NP

Dogs NNS B-NP
bark VBP B-VP
"""
WORDS = """\
He\tPRON\tPRP
sees\tVERB\tVBZ
3.14\tNUM\tCD

Dogs\tNOUN\tNNS
bark\tVERB\tVBP
"""


@pytest.mark.parametrize(("script", "corpus"), [("tag_chunks.py", CHUNKS), ("tag_words.py", WORDS)])
def test_it_learns_its_corpus(script, corpus, tmp_path, capsys):
    path = tmp_path / "corpus.txt"
    path.write_text(corpus * 3, encoding="utf-8")
    run_path(str(EXAMPLES / script))["main"](str(path), str(path))
    last = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("pass 10"))
    assert "100.00" in last


def test_words_of_a_treebank(tmp_path):
    fields = [["1", "Rome", "Rome", "PROPN", *"______"], ["2", "3.14", "3.14", "NUM", *"______"]]
    path = tmp_path / "corpus.conllu"
    path.write_text("\n".join(map("\t".join, fields)) + "\n\n", encoding="utf-8")
    X, y = run_path(str(EXAMPLES / "tag_words.py"))["load"](str(path))
    assert y == [["PROPN", "NUM"]]
    assert {"w[0]=Rome", "shape[0]=Xx", "s4[0]=rome", "shape[1]=d.d"} <= set(X[0][0])
