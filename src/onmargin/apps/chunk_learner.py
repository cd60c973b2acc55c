"""Learner of chunks of examples from files."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from onmargin.apps.chunks import Chunk
from onmargin.apps.failure import Failure
from onmargin.apps.learners import (
    AUTOMATIC,
    is_fitted,
    leading,
    model_in,
    n_features,
)
from onmargin.apps.tasks import TARGETS
from onmargin.errors import ExampleError
from onmargin.io.svmlight import SparseRows
from onmargin.learner import check_learns, mark_seen

if TYPE_CHECKING:  # importing them takes time that a prediction need not wait for
    from onmargin.confidence import Coverage
    from onmargin.io.sharding import Batch

# The name of the mean size of prediction sets or intervals in reports, by task.
SIZES = {"classify": "mean_set_size", "rank": "mean_set_size", "regress": "mean_interval_width"}

_CELLS, _FEW_CELLS = 100, 10  # maximum and minimum number of cells that are compared with the features of a model


def make_batch(task: str, chunk: Chunk) -> "Batch":
    """Return the examples of a chunk as one batch for a model."""
    from onmargin.io.sharding import Batch

    if isinstance(chunk.X, SparseRows):
        return Batch(chunk.X, _row_labels(task, chunk))
    if task == "tag":
        return Batch(chunk.X, chunk.y)
    return Batch(chunk.X, None if chunk.y is None else list(map(TARGETS[task], chunk.y)), chunk.weights)


def _row_labels(task: str, chunk: Chunk) -> Any:
    """Return the labels of rows of numbers; class labels are integers."""
    if task not in {"classify", "ordinal"}:
        return chunk.y
    whole = chunk.y.astype("int64")
    return whole if (whole == chunk.y).all() else chunk.y


class ChunkLearner:
    """A model for a task, which learns and predicts chunks of examples.

    Parameters
    ----------
    task : str
        The task of the model.
    saved : object
        The content of the model file: the model, or prediction sets or intervals around it.
    """

    def __init__(self, task: str, saved: Any) -> None:
        self.task = task
        self.saved = saved
        self.model = model_in(saved)
        self.wrapper: Any = None if self.model is saved else saved
        self.n_tokens = 0  # number of tokens in the sequences learned
        self._last: list[Any] = []  # features of the sequences in the last call

    @property
    def n_examples(self) -> int:
        return int(self.model.totals_.rounds) if is_fitted(self.model) else 0

    def check_learns(self, path: str) -> None:
        """Refuse to continue with a model file that can only predict."""
        try:
            if is_fitted(self.model):
                check_learns(self.model)
        except ValueError as error:
            raise Failure(f"{path}: {error}") from error

    def learn(self, chunk: Chunk, *, judge: bool = True) -> None:
        """Learn examples in order; an `ExampleError` names the first one refused, and those before it are learned.

        With `judge` the examples are new, and prediction sets or intervals are updated with each before it is learned.
        """
        if is_fitted(self.model):
            mark_seen(self.model, seen=not judge)
        learn = self._learn_judged if judge and self.wrapper is not None else self._learn_many
        if self.task == "tag":
            self._learn_sequences(chunk)
        elif isinstance(chunk.X, SparseRows):
            learn(chunk.X, _row_labels(self.task, chunk), None)
        else:
            self._learn_records(chunk, learn)

    def _learn_records(self, chunk: Chunk, learn: Callable[..., None]) -> None:
        labels = [None] * len(chunk) if chunk.y is None else chunk.y
        targets: list[Any] = []
        problem = None
        try:
            # Strings are class labels and need no conversion.
            classes = self.task == "classify" and set(map(type, labels)) == {str}
            targets.extend(labels if classes else map(TARGETS[self.task], labels))
        except ValueError as error:
            problem = error
        n = len(targets)
        learn(chunk.X[:n], targets, None if chunk.weights is None else chunk.weights[:n])
        if problem is not None:
            raise ExampleError(str(problem), n) from problem

    def _learn_many(self, X: Any, y: Any, weights: Any) -> None:
        try:
            self.model.learn_many(X, y, weights)
        except ExampleError:
            raise
        except (TypeError, ValueError) as error:
            # The error concerns the chunk as a whole, and none of its examples is learned.
            raise ExampleError(str(error), 0) from error

    def _learn_judged(self, X: Any, y: Any, weights: Any) -> None:
        """Learn examples one by one; prediction sets or intervals are updated before each."""
        wrapper = self.wrapper
        for k in range(len(y)):
            try:
                if isinstance(X, SparseRows):  # rows of later files may be wider than the model
                    x = X.part(k, k + 1)
                    wrapper.observe_one(self._examples(x), y[k])
                    self.model.learn_many(x, y[k : k + 1], None)
                else:
                    wrapper.learn_one(X[k], y[k], **({} if weights is None else {"weight": weights[k]}))
            except (TypeError, ValueError) as error:
                raise ExampleError(error.reason if isinstance(error, ExampleError) else str(error), k) from error

    def _learn_sequences(self, chunk: Chunk) -> None:
        labels = [None] * len(chunk) if chunk.y is None else chunk.y
        tokens: Any = chunk.X
        if isinstance(chunk.X, list):
            window = self.model.window
            tokens = self._last = list(chunk.X if window is None else map(window, chunk.X))
        try:
            self.model.partial_fit(tokens, labels)
            self.n_tokens += sum(map(len, labels))
        except (TypeError, ValueError):
            # None of the sequences is learned. Find the one that was refused.
            for k, (x, y) in enumerate(zip(tokens, labels, strict=True)):
                try:
                    self.model.partial_fit([x], [y])
                except (TypeError, ValueError) as error:
                    raise ExampleError(str(error), k) from error
                self.n_tokens += len(y or ())

    def looked_up(self, chunk: Chunk) -> Chunk:
        """Return the sequences of the last call with their features looked up."""
        return Chunk(self.model.read(self._last), chunk.y)

    def familiar(self, chunk: Chunk) -> tuple[bool, bool]:
        """Return whether the model knows any feature of the examples, and whether the examples have any features."""
        if isinstance(chunk.X, SparseRows):
            indices = chunk.X.indices
            return bool((indices < self.model.n_features_).any()), len(indices) > 0
        met = False
        for x in chunk.X:
            names = self.model.names_one(x)
            if (
                self.model.task == "tag" and self.model.window is not None
            ):  # every sentence has the features "first" and "last"
                names = [name for name in names if name not in {"first", "last"}]
            met = met or bool(names)
            if any(map(self.model.knows, names)):
                return True, True
        return False, met

    def strange_columns(self, chunk: Chunk, columns: Sequence[str]) -> dict[str, Any]:
        """Return the columns whose first cells have no features that the model knows, with an example of a cell."""
        found = {}
        for name in columns:
            cells = [x[name] for x in chunk.X if isinstance(x, dict) and name in x][:_CELLS]
            if len(cells) >= _FEW_CELLS and not any(self._knows_cell(name, cell) for cell in cells):
                found[name] = cells[0]
        return found

    def _knows_cell(self, column: str, cell: Any) -> bool:
        names = self.model.names_one({column: cell})
        return any(map(self.model.knows, names if names or isinstance(cell, str) else [column]))  # 0 has no feature

    def predict(self, chunk: Chunk) -> list[Any]:
        """Return the predictions: a label, a number, a tuple of labels, or a list of the labels of a sequence."""
        if self.task == "tag":
            return list(self.model.predict(chunk.X))
        predicted = self.model.predict_many(self._examples(chunk.X))
        return [tuple(sorted(labels)) for labels in predicted] if self.task == "rank" else list(predicted)

    def scores(self, chunk: Chunk) -> list[Any]:
        """Return scores by label, or the distance inside the ball (novelty detection); None if there are no scores."""
        if self.task in {"regress", "tag"}:
            return [None] * len(chunk)
        return [self.model.scores_one(x) for x in self._singles(chunk)]

    def covers(self, chunk: Chunk) -> list[Any]:
        """Return the prediction set of each example, most likely label first, or the two ends of its interval."""
        ask = self.wrapper.predict_interval_one if self.task == "regress" else self.wrapper.predict_set_one
        return [ask(x) for x in self._singles(chunk)]

    def probabilities(self, chunk: Chunk) -> list[dict[Any, float]]:
        """Return the probability of each class."""
        if not hasattr(self.model, "predict_proba_one"):
            raise Failure(f"{type(self.model).__name__} has no probabilities: leave --proba out")
        return [self.model.predict_proba_one(x) for x in self._singles(chunk)]

    def label_probabilities(self, chunk: Chunk) -> list[list[dict[Any, float]]]:
        """Return the probabilities of the labels of each token of each sequence."""
        marginals = self.model.predict_marginals(chunk.X)
        return [[dict(zip(self.model.classes_, row, strict=True)) for row in part.tolist()] for part in marginals]

    def _singles(self, chunk: Chunk) -> Any:
        X = self._examples(chunk.X)
        return [X.part(k, k + 1) for k in range(len(chunk))] if isinstance(X, SparseRows) else X

    def _examples(self, X: Any) -> Any:
        """Return the examples for prediction; features that were never learned are ignored."""
        return X.fitted(self.model.n_features_) if isinstance(X, SparseRows) and is_fitted(self.model) else X

    def mark(self) -> "Mark":
        """Return the sums over all rounds so far."""
        if not is_fitted(self.model):
            return Mark()
        totals = self.model.totals_
        cost = float(totals.cost) if self._counts_tokens else 0.0
        return Mark(totals.rounds, totals.mistakes, totals.loss, totals.squared_loss, cost, self.n_tokens)

    @property
    def _counts_tokens(self) -> bool:
        """Return whether the cost of a labeling is the number of wrong tokens."""
        return self.task == "tag" and self.model.cost == "hamming" and self.model.label_cost is None

    def scores_of(self, since: "Mark", until: "Mark") -> dict[str, float]:
        """Return the progressive error and loss between two marks."""
        rounds = max(1, until.rounds - since.rounds)
        loss = (until.loss - since.loss) / rounds
        if self.task == "tag":
            tokens = until.tokens - since.tokens
            scores = {"sequence_error": (until.mistakes - since.mistakes) / rounds, "loss": loss}
            if self._counts_tokens and tokens:
                return {"token_accuracy": 1 - (until.cost - since.cost) / tokens, **scores}
            return scores
        if self.task == "regress" and type(self.model).__name__ == AUTOMATIC["regress"]:
            # The loss is the absolute error.
            rmse = (max(0.0, until.squared_loss - since.squared_loss) / rounds) ** 0.5
            return {"mae": loss, "rmse": rmse, "loss": loss}
        if self.task in {"regress", "novelty"}:
            return {"loss": loss}
        return {"error": (until.mistakes - since.mistakes) / rounds, "loss": loss}

    def measure(self, since: "Mark") -> str:
        """Return a short text with the progressive error since a mark."""
        scores = self.scores_of(since, self.mark())
        if "token_accuracy" in scores:
            return f"token accuracy {scores['token_accuracy']:.2%}"
        if "sequence_error" in scores:
            return f"error per sequence {scores['sequence_error']:.2%}"
        if "mae" in scores:
            return f"MAE {scores['mae']:.4g}"
        return f"error {scores['error']:.2%}" if "error" in scores else f"mean loss {scores['loss']:.4g}"

    def summary(self, marks: Sequence["Mark"]) -> dict[str, Any]:
        """Return the results for a report; `marks` are those of the start and of the end of each pass."""
        totals = self.model.totals_
        classes = list(getattr(self.model, "classes_", []))
        leader = leading(self.model)
        first, *later = (self.scores_of(*pair) for pair in pairwise(marks))
        names = {"error": "progressive_error", "loss": "progressive_loss"}
        passes = {f"pass {k}": scores for k, scores in enumerate(later, 2)}
        return {
            "examples": totals.rounds,
            "learner": type(self.model).__name__,
            **({} if leader is None else {"leading_model": leader}),
            **({"classes": len(classes)} if classes else {}),
            "features": n_features(self.model),
            "updates": totals.updates,
            **{names.get(name, name): value for name, value in first.items()},
            **({"later_passes": passes} if passes else {}),
            **({} if self.wrapper is None else self._coverage(self.wrapper.coverage_)),
        }

    def _coverage(self, found: "Coverage") -> dict[str, Any]:
        """Return the coverage of examples, each evaluated before it was learned."""
        report = {"asked_coverage": found.asked, "coverage": found.covered, "coverage_bound": found.bound}
        report[SIZES[self.task]] = found.size
        return {name: value if isfinite(value) else None for name, value in report.items()}


class Mark(NamedTuple):
    """Sums over the rounds up to some point; `cost` and `tokens` are for sequences."""

    rounds: int = 0
    mistakes: int = 0
    loss: float = 0.0
    squared_loss: float = 0.0
    cost: float = 0.0
    tokens: int = 0
