"""The check of the built documentation finds broken links."""

import runpy
from pathlib import Path

problems = runpy.run_path(str(Path(__file__).parents[2] / "docs/check_links.py"))["problems"]

PAGE = '<h1 id="here">A</h1><a href="{}">link</a><script src="{}"></script>'


def site(tmp_path, link="b.html#there", script="_static/a.js"):
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static/a.js").write_text("")
    (tmp_path / "index.html").write_text(PAGE.format(link, script))
    (tmp_path / "b.html").write_text('<p id="there"><a href="https://example.org">elsewhere</a><a href="#there">.</a>')
    return tmp_path


def test_a_whole_site_passes(tmp_path):
    assert problems(site(tmp_path)) == []


def test_a_missing_page(tmp_path):
    assert problems(site(tmp_path, link="c.html")) == ["index.html: c.html does not exist"]


def test_a_missing_anchor(tmp_path):
    assert problems(site(tmp_path, link="b.html#here")) == ["index.html: b.html#here has no such anchor"]


def test_a_script_from_elsewhere(tmp_path):
    [problem] = problems(site(tmp_path, script="https://cdn.example.org/a.js"))
    assert "from another machine" in problem


def test_an_empty_folder(tmp_path):
    assert "no pages" in problems(tmp_path)[0]
