"""Sphinx configuration of the documentation."""

import ast
import csv
import doctest
import inspect
import re
import sys
from importlib import import_module
from importlib.metadata import version as version_of
from pathlib import Path

from numpydoc.docscrape_sphinx import SphinxDocString
from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style
from pybtex.style.labels import BaseLabelStyle
from sphinx.ext.autosummary import generate

import onmargin
from onmargin.theory._table import is_listed, plan_parts

sys.path.append(str(Path(__file__).parent))
from directives import results

project = "onmargin"
author = "The onmargin developers"
project_copyright = author
version = release = version_of("onmargin")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx-mathjax-offline",  # copies MathJax into the site: formulas need no network
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
    "sphinx_copybutton",
    "directives",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "py:obj"

autosummary_generate = True
suppress_warnings = ["config.cache"]  # functions in the configuration are not cached
smartquotes = False  # "auto" is a value to be typed
autodoc_typehints = "none"  # docstrings have the types
toc_object_entries_show_parents = "hide"
maximum_signature_line_length = 80  # longer signatures have one parameter per line
numpydoc_show_class_members = False  # the template of a class has them

doctest_default_flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE  # as for pytest

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "subsection_order": ["../examples/tutorials", "../examples/algorithms"],
    "within_subsection_order": "FileNameSortKey",
    "ignore_pattern": r"tag_\w+\.py",  # scripts for corpora that cannot be shipped
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"onmargin {version.partition('.dev')[0]}"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["onmargin.css"]
html_show_sourcelink = False
html_sidebars = {"index": [], "benchmarks": []}
html_theme_options = {
    "navbar_align": "left",
    "logo": {"image_light": "_static/favicon.svg", "image_dark": "_static/favicon.svg", "text": html_title},
    "header_links_before_dropdown": 7,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}

html_context = {"default_mode": "auto"}


def learners_without_a_theorem():
    """Return the names of the estimators that `certify` refuses whatever their options are."""
    learners = {name: getattr(onmargin, name) for name in onmargin.__all__ if hasattr(getattr(onmargin, name), "fit")}
    plans = {name: kind().plan() for name, kind in learners.items() if name != "StructuredPredictor"}
    return [name for name, plan in plans.items() if plan.ensemble is None and not is_listed(plan_parts(plan))]


substitutions = {"learners without a theorem": f"``{'``, ``'.join(learners_without_a_theorem())}``", **results.facts()}
rst_epilog = "\n".join(f".. |{name}| replace:: {text}" for name, text in substitutions.items())

# Prompts and outputs are not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "tags"


class Tags(BaseLabelStyle):
    """A source is cited by its key, here as in the code: [JMLR]."""

    def format_labels(self, sorted_entries):
        return [entry.key for entry in sorted_entries]


class TagStyle(Style):
    """Plain entries with their keys as labels."""

    default_label_style = Tags


register_plugin("pybtex.style.formatting", "tags", TagStyle)


# The methods that users call, in the order in which they call them; others follow by name.
FIRST = (
    *("fit", "partial_fit", "predict", "fit_predict", "score"),
    *("learn_one", "predict_one", "learn_many", "predict_many"),
)
# What scikit-learn adds to every estimator is left out, except for these.
INHERITED = {"fit_predict", "sparsify", "densify"}
# For the parts of onmargin itself.
INTERNAL = {"get_params", "matrix_size", "plan"}


def home(method):
    """Return the name of the module that defines a method."""
    return str(getattr(method, "__module__", ""))


def own_methods(name):
    """Return the public methods of a class that onmargin defines, also those that it inherits from another one."""
    module, _, cls = name.rpartition(".")
    cls = getattr(import_module(module), cls)
    names = [
        name
        for name, method in inspect.getmembers(cls, inspect.isroutine)
        if not name.startswith("_")
        and name not in INTERNAL
        and not name.endswith("_request")
        and home(method).startswith(
            ("onmargin", "sklearn.base", "sklearn.linear_model") if name in INHERITED else "onmargin"
        )
    ]
    return sorted(names, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))


autosummary_context = {"own_methods": own_methods}


def with_learners(text):
    """Replace ``.. classifiers:: MODULES`` and ``.. regressors:: MODULES`` by the learners of modules of estimators.

    Each is listed for matrices, for streams and for river.
    """

    def listed(found):
        homes = [f"onmargin.estimators.{module}" for module in found[2].split(", ")]
        names = [
            name
            for home in homes
            for name in onmargin.__all__
            if onmargin._HOME[name] == home and name.endswith("Regressor") == (found[1] == "regressors")
        ]
        faces = [("", onmargin), ("stream.", onmargin.stream), ("river.", onmargin.river)]
        lines = [f"   {prefix}{name}" for name in names for prefix, face in faces if name in face.__all__]
        return "\n".join([".. autosummary::", "   :toctree: generated", "", *lines])

    return re.sub(r"^\.\. (classifiers|regressors):: (.*)$", listed, text, flags=re.MULTILINE)


def include_learners(app, docname, content):
    if docname.startswith("api/"):
        content[0] = with_learners(content[0])


plain_find = generate.find_autosummary_in_lines
# The pages of classes are generated before sources are read.
generate.find_autosummary_in_lines = lambda lines, **rest: plain_find(
    with_learners("\n".join(lines)).splitlines(), **rest
)


def as_described(self, param, desc, fake_autosummary):
    """Show attributes as the class describes them: numpydoc would show the docstrings of shared properties instead."""
    return f"**{self._escape_args_and_kwargs(param.strip())}**", desc


SphinxDocString._process_param = as_described


def include_changelog(app, docname, content):
    """The page "changelog" is CHANGELOG.md, its little Markdown turned into reStructuredText."""
    if docname != "changelog":
        return
    path = Path(app.srcdir).parent / "CHANGELOG.md"
    app.env.note_dependency(path)
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"^\[[^]]+\]: .*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\[([^]]+)\]\(([^)]+)\)", r"`\1 <\2>`__", re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", text))
    for marker, line in ("####", "^"), ("###", "~"), ("##", "-"), ("#", "="):
        text = re.sub(rf"^{marker} \[?([^]\n]+)\]?(.*)$", rf"\1\2\n{line * 40}", text, flags=re.MULTILINE)
    content[0] = f":nosearch:\n\n{text}"  # the search finds the pages that describe what is in use now


def include_option_table(app, docname, content):
    """The page "options" shows the table by which options are refused."""
    if docname != "options":
        return
    from onmargin.models.compatible import TABLE

    lines = [".. list-table::", "   :header-rows: 1", ""]
    lines += ["   * - Learners of", "     - Option", "     - Needs", "     - Because"]
    for row in TABLE:
        lines += [
            f"   * - {row.of}",
            f"     - ``{row.words}``",
            f"     - ``{'``, ``'.join(need.words for need in row.needs)}``",
            f"     - {row.why}",
        ]
    content[0] = content[0].replace(".. option-table::", "\n".join(lines))


def include_module_map(app, docname, content):
    """Replace ``.. module-map::`` by tables of all Python modules with the first line of their docstrings."""
    if docname != "modules":
        return
    package = Path(app.srcdir).parent / "src/onmargin"
    lines = []
    for folder in sorted({path.parent for path in package.rglob("*.py")}):
        if folder.is_relative_to(package / "_core"):
            continue
        name = folder.relative_to(package.parent).as_posix()
        lines += [f".. list-table:: ``{name}``", "   :widths: 30 70", ""]
        for path in sorted(folder.glob("*.py")):
            app.env.note_dependency(path)
            docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            first = docstring.partition("\n\n")[0].replace("\n", " ")
            lines += [f"   * - ``{path.name}``", f"     - {first}"]
        lines.append("")
    content[0] = content[0].replace(".. module-map::", "\n".join(lines))


def include_source_table(app, docname, content):
    """Replace ``.. source-table::`` by one table per source: statements, code, tests, commands and corrections."""
    if docname != "theory/sources":
        return
    path = Path(app.srcdir) / "papers/sources.csv"
    app.env.note_dependency(path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = []
    for source in dict.fromkeys(row["source"] for row in rows):
        lines += [f".. list-table:: [{source}]", "   :header-rows: 1", "   :widths: 12 26 26 26 10", ""]
        lines += ["   * - where", "     - what", "     - code", "     - test, command", "     - corrected"]
        for row in rows:
            if row["source"] == source:
                code = ", ".join(f"``{name.removeprefix('onmargin.')}``" for name in row["code"].split())
                test = row["test"].removeprefix("tests/").replace("::", ", ")
                command = f"; ``onmargin lab {row['experiment']}``" if row["experiment"] else ""
                lines += [f"   * - {row['item']}", f"     - {row['content']}", f"     - {code}"]
                lines += [f"     - ``{test}``{command}", f"     - {row['corrected']}"]
        lines.append("")
    content[0] = content[0].replace(".. source-table::", "\n".join(lines))


def setup(app):
    app.connect("source-read", include_changelog)
    app.connect("source-read", include_learners)
    app.connect("source-read", include_option_table)
    app.connect("source-read", include_module_map)
    app.connect("source-read", include_source_table)
