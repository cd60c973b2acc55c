"""Vowpal Wabbit on a workload, as its command line runs it: one pass over a binary cache file, or over text."""

from pathlib import Path

import numpy as np
import vowpalwabbit
from sklearn.datasets import dump_svmlight_file
from workloads import Workload


class VowpalWabbit:
    """Vowpal Wabbit's default adaptive updates, with hinge loss or, for regression, the quantile loss of the median."""

    def __init__(self, work: Workload, folder: Path) -> None:
        n_classes = 0 if work.classes is None else len(work.classes)
        if n_classes > 2:
            task, labels = ["--loss_function", "hinge", "--oaa", str(n_classes)], work.y + 1
        elif n_classes == 2:
            task, labels = ["--loss_function", "hinge", "--binary"], 2 * work.y - 1
        else:
            task, labels = ["--loss_function", "quantile"], work.y
        # All weights share one table, of 2^18 by default. Make it large enough to keep features and classes apart.
        bits = max(18, (work.X.shape[1] * max(1, n_classes - 1) - 1).bit_length())
        self.work = work
        self.options = ["-b", str(bits), *task]
        self.cache, self.text = folder / "cache", folder / "text"
        self._write_cache(labels, folder)

    def _write_cache(self, labels: np.ndarray, folder: Path) -> None:
        """Write a cache by a pass over Vowpal Wabbit's text, which is svmlight text with a bar after the label."""
        svmlight = folder / "svmlight"
        dump_svmlight_file(self.work.X, labels, str(svmlight))
        with svmlight.open("rb") as lines, self.text.open("wb") as out:
            out.writelines(line.replace(b" ", b" | ", 1) for line in lines)
        self._run("-d", str(self.text), "--cache_file", str(self.cache))

    def _run(self, *options: str) -> vowpalwabbit.Workspace:
        return vowpalwabbit.Workspace(arg_list=["--quiet", *options, *self.options])

    def learn(self) -> vowpalwabbit.Workspace:
        """Make one pass; the time of the thread that decodes the cache is included."""
        return self._run("--cache_file", str(self.cache), "--passes", "1")

    def learn_text(self) -> vowpalwabbit.Workspace:
        """Make one pass over the text, which a second thread parses."""
        return self._run("-d", str(self.text))

    def progressive_error(self) -> float:
        """Return the error rate, or mean absolute error, on each row before it is learned."""
        mean_loss = self.learn().get_sum_loss() / len(self.work.y)
        # The loss of a classifier is its number of mistakes; that of the median is half the absolute error.
        return 2 * mean_loss if self.work.classes is None else mean_loss
