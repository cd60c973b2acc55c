"""Small data files, and the program as a user calls it."""

import json
import random
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from onmargin.apps.cli import main

CODE = "import sys; from onmargin.apps.cli import main; main(sys.argv[1:], 'onmargin')"


def onmargin(*arguments, stdin=None, code=0):
    """Return the standard output of a command, which must exit with `code`."""
    result = CliRunner().invoke(main, [str(a) for a in arguments], input=stdin)
    assert result.exit_code == code, result.output
    if code:
        assert isinstance(result.exception, SystemExit), result.exception
        return result.stderr
    return result.stdout


def said(*arguments, code=0):
    """Return the messages of a command on stderr."""
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result.stderr


def report(*arguments, **options):
    return json.loads(onmargin(*arguments, "--json", **options))


def start(*arguments, **options):
    """Run the program in a separate process."""
    return subprocess.Popen([sys.executable, "-c", CODE, *map(str, arguments)], stderr=subprocess.PIPE, **options)


def numbers(seed, n, n_features=20, per_row=6):
    """Return rows {index from 1: value} and their scores by a hidden rule."""
    random_ = random.Random(seed)
    rule = [random_.gauss(0, 1) for _ in range(n_features + 1)]
    for _ in range(n):
        row = {k: round(random_.gauss(0, 1), 3) for k in sorted(random_.sample(range(1, n_features + 1), per_row))}
        yield row, sum(rule[k] * value for k, value in row.items())


def svmlight(path: Path, n=300, seed=0, label=lambda score: 1 if score > 0 else -1, n_features=20):
    rows = numbers(seed, n, n_features)
    path.write_text("".join(f"{label(score)} {' '.join(f'{k}:{v}' for k, v in row.items())}\n" for row, score in rows))
    return path


def jsonl(path: Path, n=300, seed=0, label=lambda score: "yes" if score > 0 else "no", n_features=20):
    rows = numbers(seed, n, n_features)
    records = ({"x": {f"f{k}": v for k, v in row.items()}, "y": label(score)} for row, score in rows)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


SENTENCES = (
    "the DT B-NP\ndog NN I-NP\nbarks VBZ B-VP\n\n"
    "a DT B-NP\ncat NN I-NP\nsleeps VBZ B-VP\n\n"
    "dogs NNS B-NP\nbark VBP B-VP\n\n"
)


def conll(path: Path, n=10):
    path.write_text(SENTENCES * n)
    return path
