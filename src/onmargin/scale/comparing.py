"""Many models at once, each trained by one worker."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from onmargin.io.model_file import from_bytes, to_bytes
from onmargin.io.sharding import Batch, Shard, Shards
from onmargin.scale._opened import opened
from onmargin.scale.engine import Engine, LocalEngine
from onmargin.scale.training import Report, fit


class Outcome(NamedTuple):
    """What a model came to.

    Attributes
    ----------
    model : object
        The model, trained.
    error : float
        The part of the examples of the first epoch that it predicted wrong before it learned them.
    loss : float
        The mean loss on them, before they were learned.
    reports : list of Report
        One for each epoch.
    """

    model: Any
    error: float
    loss: float
    reports: list[Report]


@dataclass(frozen=True)
class _Joined:
    """Shards one after the other."""

    shards: Sequence[Shard]

    @property
    def name(self) -> str:
        return f"{len(self.shards)} shards from {self.shards[0].name} on"

    def batches(self) -> Iterator[Batch]:
        for shard in self.shards:
            yield from shard.batches()


class _Order(NamedTuple):
    """A model to be trained."""

    model: bytes
    shards: Sequence[Shard]


def compare(
    models: Sequence[Any],
    shards: Shards | Sequence[Shards],
    *,
    engine: str | Engine = "local",
    epochs: int = 1,
    workers: int | None = None,
    address: str | None = None,
) -> list[Outcome]:
    """Train several models at the same time, each by one worker, over all shards one after the other.

    Use it to choose parameters, or for many tasks on the same machines. Nothing is mixed: each model is what a serial
    run over the shards would have made of it.

    Parameters
    ----------
    models : sequence of objects
        Models as :func:`fit` takes them. They stay as they are.
    shards : Shards or sequence of Shards
        The data of all models; or those of each, as many as there are models.
    engine : "local", "ray" or Engine, default="local"
        Who does the work, as for :func:`fit`.
    epochs : int, default=1
        How many passes to make.
    workers : int or None, default=None
        As for :func:`fit`.
    address : str or None, default=None
        As for :func:`fit`.

    Returns
    -------
    outcomes : list of Outcome
        One for each model, in their order.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from onmargin import PassiveAggressiveClassifier, io, scale
    >>> folder = tempfile.TemporaryDirectory()
    >>> for k in range(2):
    ...     _ = pathlib.Path(folder.name, f"part{k}.svm").write_text("1 1:0.5 3:1\\n-1 2:1\\n-1 3:1\\n" * 100)
    >>> models = [PassiveAggressiveClassifier(C=C) for C in (0.001, 1.0)]
    >>> outcomes = scale.compare(models, io.shards(f"{folder.name}/*.svm"), workers=1)
    >>> [round(outcome.loss, 2) for outcome in outcomes]
    [0.96, 0.04]
    >>> folder.cleanup()
    """
    each = [shards] * len(models) if isinstance(shards, Shards) else list(shards)
    if len(each) != len(models):
        raise ValueError(f"shards must be one Shards, or one for each of {len(models)} models; got {len(each)}")
    orders = [_Order(to_bytes(model), own) for model, own in zip(models, each, strict=True)]
    with opened(engine, workers, address) as opened_engine:
        return [_outcome(*result) for result in opened_engine.map(_train, orders, epochs)]


def _train(order: _Order, epochs: int) -> tuple[bytes, list[Report]]:
    """In a worker: one model over all shards, which are one shard to it."""
    reports: list[Report] = []
    joined = [_Joined(order.shards)]
    model = fit(from_bytes(order.model), joined, engine=LocalEngine(1), epochs=epochs, progress=reports.append)
    return to_bytes(model), reports


def _outcome(model: bytes, reports: list[Report]) -> Outcome:
    rounds = max(1, reports[0].rounds)
    return Outcome(from_bytes(model), reports[0].mistakes / rounds, reports[0].loss / rounds, reports)
