"""Estimates of the time to compute an example and the size of an answer, made in advance.

One example is computed in one step that cannot be interrupted: one that would take too long is refused. Requests with
many examples are computed in slices, between which other requests run, up to a time limit.
"""

from itertools import chain
from math import inf
from typing import Any

from msgspec.json import encode

from onmargin.apps.serve.problems import BadExampleError, ProblemError
from onmargin.models.dual_ascent import MOST_GRAM_ROWS, MOST_SWEEPS

MOST_WORK = 250_000_000  # maximum work of one example, in units of about a nanosecond
SLICE = 5_000_000  # maximum work before other requests run, in the same units
MOST_ANSWER = 2**26  # bytes
LONGEST_NAME = 512  # characters, also of a word in a text
LONGEST_LABEL = 256
LONGEST_NGRAM = 10  # words
# Upper bounds of measured times in nanoseconds: a feature read, a feature looked up for a label, a word of an n-gram, a
# pair of labels of a token, an example of one of several models, an example of a kernel, a support vector, a number
# in a support vector, and a row of a window in a sweep.
READ, SCORED, WORD, PAIR, BASE, KERNEL, SUPPORT, VALUE, VISIT = 75, 2, 25, 0.5, 10_000, 1_000_000, 1000, 25, 500


class Costs:
    """Upper bounds of costs for the current model of a learner."""

    def __init__(self, learner: Any) -> None:
        self._learner = learner
        self._has_supports = getattr(learner.model, "kernel", None) is not None
        self._has_window = hasattr(learner.model, "sweeps")
        self._measured = (-1, 0, 0)
        self._prices: tuple[int, float, float, float, float] = (-1, 0.0, 0.0, 0.0, 0.0)

    def work(self, x: Any) -> float:
        """Return the work to predict an example, of which `JsonLearner.expand` made the features."""
        _, base, feature, words, token = self._current()
        if self._has_supports:
            base += self.of_supports(*self._learner.model.support_size_)
        if isinstance(x, str):
            return base + (len(x) + 1) // 2 * words
        if token and isinstance(x, list):
            return base + sum(map(len, x) if _are_tokens(x) else ()) * feature + len(x) * token
        return base + len(x) * feature

    def total(self, examples: list[Any]) -> float:
        """Return the work to predict examples; an example that takes too long is refused."""
        expand = self._learner.expand
        total = sum(self.work(expand(x)) for x in examples)
        if total > MOST_WORK:
            for k, x in enumerate(examples):
                try:
                    self.check(expand(x))
                except ValueError as error:
                    raise BadExampleError(f"example {k}: {error}") from error
        return total

    def _current(self) -> tuple[int, float, float, float, float]:
        """Return the number of labels, and the costs of an example, a feature, a word of a text and a token."""
        learner = self._learner
        columns = len(learner.classes) or 1
        if self._prices[0] == columns:
            return self._prices
        n_models = int(learner.n_models)
        base = (BASE + SCORED * columns) * n_models
        feature = READ + SCORED * columns * n_models
        shortest, longest = map(int, learner.reading.ngrams)
        words = (longest - shortest + 1) * ((shortest + longest) / 2 * WORD + feature)
        self._prices = columns, base, feature, words, columns**2 * PAIR if learner.task == "tag" else 0
        return self._prices

    def of_supports(self, n: int, values: int) -> float:
        """Return the work to compare an example with `n` support vectors of a kernel."""
        return KERNEL + n * (SUPPORT + SCORED * self._current()[0]) + values * VALUE if n else 0.0

    def check_supports(self, n_new: int, n_numbers: int, most: int) -> None:
        """Refuse new support vectors of a kernel, if their numbers would take too much time or memory."""
        if not self._has_supports:
            return
        model = self._learner.model
        n, values = model.support_size_
        n, values = min(n + n_new, model.budget or n + n_new), values + n_numbers
        time, memory = self.of_supports(n, values), values + n * max(1, len(self._learner.classes))
        if time > MOST_WORK / 2 or memory > most:
            raise BadExampleError(
                f"the kernel would have up to {n} supports with {values} numbers, and an example would take up to "
                f"{time / 1e9:.2f} s; {most} numbers and {MOST_WORK / 2e9:g} s are allowed here: create the model with "
                'a "budget"'
            )

    def check_learning(self, x: Any, before: int = 0) -> None:
        """Refuse an example that takes too long to learn after `before` others."""
        self.check(x, self._in_window(x, before) if self._has_window else 0)

    def allows_learning(self, x: Any) -> bool:
        """Return whether an example can be learned within the limit of time."""
        try:
            self.check_learning(x)
        except ValueError:
            return False
        return True

    def _in_window(self, x: Any, before: int) -> float:
        """Return the work of the sweeps over a window."""
        model = self._learner.model
        rows = float(min(model.totals_.rounds + before + 1, model.window or inf))
        columns = len(self._learner.classes)
        sweeps = model.sweeps or MOST_SWEEPS
        if rows > MOST_GRAM_ROWS or getattr(model, "geometry", "euclidean") != "euclidean":
            steps = 30 if columns > 2 and model.C > 10 else 1  # rivals exchange a large C many times
            return rows * sweeps * self.work(x) * steps
        # Each row changes the scores of all. Without a number of sweeps, each solves for a single column by a matrix.
        solved = rows**3 / 5 if model.sweeps is None and columns < 3 else 0.0
        return sweeps * (rows * (VISIT + SCORED * rows * max(1, columns)) + solved)

    def check(self, x: Any, more: float = 0) -> None:
        """Refuse an example that takes too long, with some work besides that of its features."""
        work = self.work(x) + more
        if work > MOST_WORK:
            why = ", its window and sweeps" if more else ""
            raise ValueError(
                f"the example is too large for this model{why}: it would take up to {work / 1e9:.1f} s, and "
                f"{MOST_WORK / 1e9:g} s are allowed"
            )

    def check_lengths(self, x: Any, y: Any) -> None:
        """Refuse names and labels that are too long to be kept."""
        _check_names(x.split() if isinstance(x, str) else x)
        for label in y if isinstance(y, list) else (y,):
            if isinstance(label, str) and len(label) > LONGEST_LABEL:
                raise ValueError(f"a label has at most {LONGEST_LABEL} characters; got one of {len(label)}")

    def check_answer(self, examples: list[Any], *, scores: bool = False) -> None:
        """Refuse a request whose answer could be too long."""
        learner = self._learner
        classes = learner.classes
        if self._measured[0] != len(classes):
            sizes = [len(encode(label)) for label in classes]
            self._measured = len(classes), sum(sizes), max(sizes, default=0)
        _, total, longest = self._measured
        if scores or learner.task == "rank":
            n, size = len(examples), total + 28 * len(classes)  # a score takes up to 24 characters
        elif learner.task == "tag":
            n, size = sum(map(len, examples)), longest + 1
        else:
            n, size = len(examples), longest + 25
        if n * size > MOST_ANSWER:
            raise ProblemError(
                f"the answer could have {n * size} bytes, and {MOST_ANSWER} are allowed: send fewer examples at a time",
                413,
            )


def _are_tokens(x: list[Any]) -> bool:
    return set(map(type, x)) <= {list, dict}


def _check_names(x: list[Any] | dict[str, Any]) -> None:
    """Refuse names that are too long, in features, words or tokens."""
    parts = chain(x, x.values()) if isinstance(x, dict) else x
    for part in parts:
        kind = type(part)
        if kind is str:
            if len(part) > LONGEST_NAME:
                raise ValueError(f"names and words have at most {LONGEST_NAME} characters; got one of {len(part)}")
        elif kind is list or kind is dict:
            _check_names(part)
