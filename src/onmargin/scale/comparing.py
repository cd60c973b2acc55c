"""Parallel training of several models, one worker per model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from onmargin.io.model_file import from_bytes, to_bytes
from onmargin.io.sharding import Batch, Shard, Shards
from onmargin.scale._opened import open_engine
from onmargin.scale.engine import Engine, LocalEngine
from onmargin.scale.training import Report, fit


class Outcome(NamedTuple):
    """Result of training one model.

    Attributes
    ----------
    model : object
        The trained model.
    error : float
        The fraction of wrong predictions in the first epoch, each made before the example was learned.
    loss : float
        The mean loss in the first epoch, measured before each example was learned.
    reports : list of Report
        One report per epoch.
    """

    model: Any
    error: float
    loss: float
    reports: list[Report]


@dataclass(frozen=True)
class _Joined:
    """Several shards as one."""

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
    """Train several models in parallel, each by one worker over all shards in order.

    Use it to compare parameters, or to train many tasks on the same machines. Nothing is mixed: each model is the same
    as after a serial run over the shards.

    Parameters
    ----------
    models : sequence of objects
        Models that :func:`fit` accepts. They are not modified.
    shards : Shards or sequence of Shards
        The data for all models, or a sequence with the data of each model.
    engine : "local", "ray" or Engine, default="local"
        The engine, as for :func:`fit`.
    epochs : int, default=1
        Number of passes over the data.
    workers : int or None, default=None
        As for :func:`fit`.
    address : str or None, default=None
        As for :func:`fit`.

    Returns
    -------
    outcomes : list of Outcome
        One outcome per model, in the order of the models.

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
    with open_engine(engine, workers, address) as opened_engine:
        return [_outcome(*result) for result in opened_engine.map(_train, orders, epochs)]


def _train(order: _Order, epochs: int) -> tuple[bytes, list[Report]]:
    """Train one model over all shards, treated as one shard; runs in a worker."""
    reports: list[Report] = []
    joined = [_Joined(order.shards)]
    model = fit(from_bytes(order.model), joined, engine=LocalEngine(1), epochs=epochs, progress=reports.append)
    return to_bytes(model), reports


def _outcome(model: bytes, reports: list[Report]) -> Outcome:
    rounds = max(1, reports[0].rounds)
    return Outcome(from_bytes(model), reports[0].mistakes / rounds, reports[0].loss / rounds, reports)
