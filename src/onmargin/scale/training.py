"""Parallel training on shards: epochs of passes with averaged weights, and a checkpoint after each epoch."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from onmargin._core.text.names import Names
from onmargin.io.model_file import from_bytes, load_with_notes, to_bytes, write_bytes
from onmargin.io.sharding import Shard
from onmargin.learner import mark_fitted
from onmargin.scale._batches import batch_learner, check_mixable, check_model
from onmargin.scale._findings import Findings
from onmargin.scale._mixing import MIXINGS, Learned, Mixture
from onmargin.scale._opened import open_engine
from onmargin.scale.engine import Engine

Bytes = NDArray[np.uint8]
Model = TypeVar("Model")


class Report(NamedTuple):
    """Report of one pass over a shard.

    Attributes
    ----------
    epoch : int
        Number of the epoch, from 1.
    shard : str
        The name of the shard.
    place : int
        Index of the shard, from 0.
    rounds, mistakes, updates : int
        Numbers of examples learned, of wrong predictions before learning, and of updates of the weights.
    loss, squared_loss : float
        Sums of the losses before each update, and of their squares.
    weight : float
        Weight of the shard in the average, relative to the others.
    """

    epoch: int
    shard: str
    place: int
    rounds: int
    mistakes: int
    updates: int
    loss: float
    squared_loss: float
    weight: float


def fit(
    model: Model,
    shards: Sequence[Shard],
    *,
    engine: str | Engine = "local",
    epochs: int = 5,
    mixing: str = "updates",
    workers: int | None = None,
    address: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    notes: Mapping[str, Any] | None = None,
    progress: Callable[[Report], object] | None = None,
) -> Model:
    r"""Train a model on shards in parallel, by iterative parameter mixing.

    In each epoch every shard is learned online, in its own order, starting from the same weights. The results are
    averaged in the order of the shards, and the next epoch starts from the average,

    .. math:: w \leftarrow w + \sum_k \mu_k (w_k - w), \qquad \sum_k \mu_k = 1.

    The result depends only on the shards and their order: it is the same, bit for bit, for any number of workers and
    any engine, and also if workers died or the run was resumed. Before the first epoch the shards are read once, to
    find all features and labels, and files that cannot be read.

    Use it if one machine is not enough. An epoch over S shards often makes less progress than a serial pass over the
    same examples, because the weights of the shards are averaged. If the data is on one machine, first try
    `partial_fit` in a loop, or ``onmargin train``. With one shard, the result is that of a serial run.

    Parameters
    ----------
    model : object
        A classifier, regressor, label ranker or tagger with plain weights, with variances, or with an adaptive or
        normalized geometry; or such a learner of ``onmargin.stream``. It may train several models at once: experts,
        several C, ``average="best"``. With ``warm_start=True``, and for stream learners, training continues from the
        current state.
    shards : sequence of shards
        The data, such as :func:`onmargin.io.shards` returns for files.
    engine : "local", "ray" or Engine, default="local"
        The engine that runs the workers: processes on this machine, a Ray cluster, or an object with the method `map`
        of :class:`Engine`.
    epochs : int, default=5
        Number of passes over each shard.
    mixing : "updates", "uniform" or "examples", default="updates"
        Weight of a shard in the average: its number of updates, the same for all shards, or its number of examples.
    workers : int or None, default=None
        Number of processes, or of Ray tasks that run at the same time. If None, one per core.
    address : str or None, default=None
        Address of a Ray cluster. If None, the cluster this process is connected to; if there is none, one is started
        here.
    checkpoint : str, path-like or None, default=None
        A model file that is written atomically after each epoch.
    resume : bool, default=False
        Whether to continue from the checkpoint, if it exists. Its shards and mixing must be the same; the number of
        epochs may be larger.
    notes : dict or None, default=None
        Notes to store in the checkpoint, as for :func:`onmargin.save`.
    progress : callable or None, default=None
        Function called with a :class:`Report` after each shard, in the order of the shards.

    Returns
    -------
    model : object
        The same model, trained. If anything raises, it is unchanged, and the checkpoint is that of the last complete
        epoch.

    Raises
    ------
    ReadError
        If a file cannot be read; the error names it.
    ValueError
        If the shards do not match each other, the model or the checkpoint; and, before any shard is read, if the
        weights of the model cannot be mixed.
    ConnectionError
        If there is no cluster at the address.

    See Also
    --------
    compare : Train several models in parallel.

    Notes
    -----
    The algorithm is that of [IPM]. If some u has margin 1 on all examples, the sum of the squared losses of PA over all
    epochs, with those of shard k weighted by its :math:`\mu_k`, is at most :math:`R^2 \|u\|^2` for any mixing; so is
    the number of mistakes of the Perceptron. With "uniform", the number of mistakes is at most S times the bound of a
    serial run.

    ``totals_`` are those of all shards. Their dual value is a lower bound of that of the mixed weights. Averaged
    weights are the mean over all rounds of all shards; with ``average=N`` each shard counts N rounds of its own.

    Models that are trained side by side are mixed one by one, with the same :math:`\mu_k`; "updates" are then the
    rounds in which any of them was updated. Their mistakes and losses are sums over the shards, and their votes follow
    from these sums.

    Parameters that control passes, such as ``max_iter``, ``tol``, ``shuffle`` and ``early_stopping``, have no effect.

    References
    ----------
    [IPM] R. McDonald, K. Hall, G. Mann, *Distributed Training Strategies for the Structured Perceptron*, NAACL-HLT
    2010.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from onmargin import io, scale, stream
    >>> folder = tempfile.TemporaryDirectory()
    >>> for k, line in enumerate(["a\tgood film\nb\tbad film\n", "b\tbad play\na\tgood play\nc\tno idea\n"]):
    ...     _ = pathlib.Path(folder.name, f"part{k}.txt").write_text(line * 20)
    >>> model = scale.fit(stream.PassiveAggressiveClassifier(), io.shards(f"{folder.name}/*.txt"), workers=1, epochs=3)
    >>> model.classes_, model.predict_one("good idea"), model.totals_.rounds
    (['a', 'b', 'c'], 'a', 300)
    >>> folder.cleanup()
    """
    if mixing not in MIXINGS:
        raise ValueError(f"mixing must be one of {', '.join(map(repr, MIXINGS))}; got {mixing!r}")
    if isinstance(epochs, bool) or not isinstance(epochs, int) or epochs < 1:
        raise ValueError(f"epochs must be an integer at least 1; got {epochs!r}")
    check_model(model)
    run = _Run(shards, mixing, checkpoint, dict(notes or {}), progress)
    done = run.resume_from(model) if resume and checkpoint is not None and os.path.exists(checkpoint) else None
    with open_engine(engine, workers, address) as opened_engine:
        trained, first = done or (run.prepare(model, opened_engine), 0)
        for epoch in range(first, epochs):
            run.epoch(trained, epoch + 1, opened_engine)
    _hand_over(trained, model)
    return model


class _Run:
    """The settings of a run, which are the same in all epochs."""

    def __init__(
        self,
        shards: Sequence[Shard],
        mixing: str,
        checkpoint: str | os.PathLike[str] | None,
        notes: dict[str, Any],
        progress: Callable[[Report], object] | None,
    ) -> None:
        self._shards = list(shards)
        if not self._shards:
            raise ValueError("shards must be at least one part of the data; got none")
        if checkpoint is not None and not os.path.isdir(folder := os.path.dirname(os.path.realpath(checkpoint))):
            raise ValueError(f"there is no folder {folder} for the checkpoint {os.fspath(checkpoint)}")
        self._mixing = mixing
        self._checkpoint = checkpoint
        self._notes = notes
        self._progress = progress

    def prepare(self, model: Any, engine: Engine) -> Any:
        """Return a copy of the model with all features and labels, and the learned state if it is kept."""
        begin = not hasattr(model, "_learner") or not getattr(model, "warm_start", True)
        trained = type(model)(**deepcopy(model.get_params(deep=False))) if begin else deepcopy(model)
        found = Findings()
        for findings in engine.map(_survey, self._shards, _to_bytes(trained)):
            found.merge(findings)
        if not found.begun:
            raise ValueError(f"there are no examples with a feature in {', '.join(s.name for s in self._shards[:3])}")
        learner = batch_learner(trained)
        if begin:
            learner.begin(found)
            check_mixable(trained)
            Learned.untrained(trained).put_into(trained)
        else:
            if hasattr(trained, "densify"):
                trained.densify()
            check_mixable(trained)
            known = set(np.asarray(getattr(trained, "classes_", [])).tolist())
            new = [label for label in found.labels if label not in known]
            if new:
                raise ValueError(
                    f"{found.labels[new[0]]} has the label {new[0]!r}, and this model has learned others: fit again, "
                    "or learn an example of it with partial_fit or learn_one first"
                )
            learner.extend(found)
        learner.finish()
        return trained

    def epoch(self, trained: Any, epoch: int, engine: Engine) -> None:
        """Make one pass over every shard, and mix the results into the trained model."""
        mark_fitted(trained, fitted=False)
        start = Learned.of(trained)
        mixture = Mixture(start, trained._learner.geometry, trained._learner.task)
        learn = _learn if epoch == 1 else _learn_again
        for place, learned in enumerate(engine.map(learn, self._shards, _to_bytes(trained))):
            shard = self._shards[place].name
            if learned.shapes() != start.shapes():
                raise ValueError(f"{shard} has features or labels that it did not have when it was first read")
            came_to = learned.since(start)
            count = MIXINGS[self._mixing](came_to)
            mixture.add(learned, count)
            if self._progress is not None:
                self._progress(Report(epoch, shard, place, *came_to, count))
        mixture.result().put_into(trained)
        mark_fitted(trained, fitted=True)
        if hasattr(trained, "n_iter_"):
            trained.n_iter_ = epoch
        if self._checkpoint is not None:
            notes = self._notes | {"scale": self._identity() | {"epochs": epoch}}
            write_bytes(to_bytes(trained, notes), self._checkpoint)

    def resume_from(self, model: Any) -> tuple[Any, int]:
        """Return the model of the checkpoint and its number of epochs."""
        trained, notes = load_with_notes(self._checkpoint or "")
        path = os.fspath(self._checkpoint or "")
        if "scale" not in notes:
            raise ValueError(
                f"{path} is not a checkpoint of scale.fit: give another name, or set resume=False to replace it"
            )
        mine, old = self._notes | self._identity(), notes | notes["scale"]
        changed = [name for name in mine if mine[name] != old.get(name)]
        if not changed and repr(trained.get_params(deep=False)) != repr(model.get_params(deep=False)):
            changed = ["parameters"]
        if changed:
            raise ValueError(
                f"{path} is the checkpoint of a run with other {changed[0]}: resume it with the same ones, or begin "
                "from scratch with resume=False"
            )
        return trained, notes["scale"]["epochs"]

    def _identity(self) -> dict[str, Any]:
        """Return the settings that a run must share with the checkpoint it continues from."""
        return {"shards": [shard.name for shard in self._shards], "mixing": self._mixing}


def _to_bytes(trained: Any) -> Bytes:
    """Return the bytes of a model file as an array, which engines send without a copy."""
    return np.frombuffer(to_bytes(trained), np.uint8)


@contextmanager
def _name_error(shard: Shard) -> Iterator[None]:
    """Add the name of the shard to errors that do not have it."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if type(error) in (TypeError, ValueError):
            raise type(error)(f"{shard.name}: {error}") from error
        raise


def _survey(shard: Shard, sent: Bytes) -> Findings:
    """Return the features and labels of a shard; runs in a worker."""
    learner = batch_learner(from_bytes(sent.data))
    found, names = Findings(), Names()
    with _name_error(shard):
        for batch in shard.batches():
            if batch.y is None:
                raise ValueError("its examples have no labels to learn")
            if not hasattr(batch.X, "indptr"):
                learner.read_names(batch.X, names)
                found.names = names.names
            found.note(batch, learner.labels(batch.y), shard.name)
    return found


def _learn(shard: Shard, sent: Bytes, *, seen: bool = False) -> Learned:
    """Make one pass over a shard, starting from the shared model; runs in a worker."""
    learner = batch_learner(from_bytes(sent.data))
    learner.model._learner.mark_seen(seen=seen)
    with _name_error(shard):
        for batch in shard.batches():
            learner.learn(batch)
    return Learned.of(learner.model)


def _learn_again(shard: Shard, sent: Bytes) -> Learned:
    """Make another pass over a shard."""
    return _learn(shard, sent, seen=True)


def _hand_over(trained: Any, model: Any) -> None:
    """Copy the trained state into the caller's model."""
    vars(model).clear()
    vars(model).update(vars(trained))
    if hasattr(type(model), "_loop"):
        model._loop = None
