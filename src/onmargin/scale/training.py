"""Training on shards: epochs of parallel passes, mixed, with a checkpoint after each."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onmargin._core.text.names import Names
from onmargin.io.model_file import from_bytes, load_with_notes, to_bytes, write_bytes
from onmargin.io.sharding import Shard
from onmargin.scale._batches import batch_learner, check_mixable, check_model
from onmargin.scale._findings import Findings
from onmargin.scale._mixing import MIXINGS, Learned, Mixture
from onmargin.scale._opened import opened
from onmargin.scale.engine import Engine

Bytes = NDArray[np.uint8]


class Report(NamedTuple):
    """What the pass of a shard came to.

    Attributes
    ----------
    epoch : int
        Which epoch it was, from 1.
    shard : str
        The name of the shard.
    place : int
        Its place among the shards, from 0.
    rounds, mistakes, updates : int
        Examples learned, those predicted wrong before, and those that moved the weights.
    loss, squared_loss : float
        Sums of the losses before each update, and of their squares.
    weight : float
        How much the shard counts in the mix, relative to the others.
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
    model: Any,
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
) -> Any:
    r"""Train a model on shards in parallel, by iterative parameter mixing.

    In each epoch every shard is learned in its order, online, from the weights that all share; the result is
    mixed in the order of the shards, and the next epoch starts from the mix,

    .. math:: w \leftarrow w + \sum_k \mu_k (w_k - w), \qquad \sum_k \mu_k = 1.

    The result depends on the shards and their order alone: any number of workers and any engine give the same, bit for
    bit, and so does a run in which workers died or that was resumed. Before the first epoch the shards are read once to
    find what features and labels there are, and files that cannot be read.

    Use it when one machine does not suffice. An epoch over S shards often does not get as far as a serial pass over the
    same examples, because what the shards have learned is averaged: with the data on one machine try `partial_fit` in
    a loop, or ``onmargin train``, first. One shard gives what a serial run does.

    Parameters
    ----------
    model : object
        A classifier, regressor, label ranker or tagger with plain weights, with variances, or with an adaptive or
        normalized geometry; or such a learner of ``onmargin.stream``. It may train several models at once: experts,
        several C, ``average="best"``. With ``warm_start=True``, and of streams, it goes on from what it has learned.
    shards : sequence of shards
        Such as :func:`onmargin.io.shards` makes of files.
    engine : "local", "ray" or Engine, default="local"
        Who does the work: processes of this machine, a Ray cluster, or an object with a method `map` as
        :class:`Engine` has it.
    epochs : int, default=5
        How many passes to make over each shard.
    mixing : "updates", "uniform" or "examples", default="updates"
        What a shard counts: how often it moved the weights, the same as others, or how many examples it has.
    workers : int or None, default=None
        Processes, or tasks of Ray that run at the same time. None: one a core.
    address : str or None, default=None
        For Ray: that of a cluster. None: the one this process is connected to, or else one is started here.
    checkpoint : str, path-like or None, default=None
        A model file that is written after each epoch, in one step.
    resume : bool, default=False
        Whether to go on from the checkpoint, if it is there. Its shards and mixing must be these; there may be more
        epochs.
    notes : dict or None, default=None
        What else the checkpoint should say, as for :func:`onmargin.save`.
    progress : callable or None, default=None
        Called with a :class:`Report` when a shard was learned, in the order of the shards.

    Returns
    -------
    model : object
        The same model, having learned. If anything raises, it is as it was, and the checkpoint is that of the last
        epoch that was whole.

    Raises
    ------
    ReadError
        If a file cannot be read; the error names it.
    ValueError
        If the shards do not go together or with the model, or a checkpoint does not with them; and, before any shard
        is read, if the weights of the model cannot be mixed.
    ConnectionError
        If there is no cluster at the address.

    See Also
    --------
    compare : Trains many models at the same time.

    Notes
    -----
    [IPM]. If some u has margin 1 on all examples, the squared losses of PA over all epochs, those of shard k in an
    epoch weighed by its :math:`\mu_k`, are at most :math:`R^2 \|u\|^2`, whatever the mixing; so are the mistakes of the
    Perceptron. With "uniform" the mistakes are at most S times those that are guaranteed to a serial run.

    ``totals_`` are those of all shards. Their dual value is a lower bound of that of the mixed weights. Averaged
    weights are the mean over all rounds of all shards; with ``average=N`` each shard counts N rounds of its own.

    Models that are trained side by side are mixed one by one, with the same :math:`\mu_k`; "updates" are then the
    rounds in which any of them was updated. Their mistakes and losses are sums over the shards, and their votes follow
    from these sums.

    Parameters about passes, such as ``max_iter``, ``tol``, ``shuffle`` and ``early_stopping``, have no effect.

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
    done = run.resumed(model) if resume and checkpoint is not None and os.path.exists(checkpoint) else None
    with opened(engine, workers, address) as opened_engine:
        trained, first = done or (run.prepared(model, opened_engine), 0)
        for epoch in range(first, epochs):
            run.epoch(trained, epoch + 1, opened_engine)
    _hand_over(trained, model)
    return model


class _Run:
    """What stays the same from epoch to epoch."""

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

    def prepared(self, model: Any, engine: Engine) -> Any:
        """A copy of the model that knows all features and labels, and has learned what it may keep."""
        begin = not hasattr(model, "_learner") or not getattr(model, "warm_start", True)
        trained = type(model)(**deepcopy(model.get_params(deep=False))) if begin else deepcopy(model)
        found = Findings()
        for findings in engine.map(_survey, self._shards, _sent(trained)):
            found.merge(findings)
        if not found.begun:
            raise ValueError(f"there are no examples with a feature in {', '.join(s.name for s in self._shards[:3])}")
        learner = batch_learner(trained)
        if begin:
            learner.begin(found)
            check_mixable(trained)
            Learned.nothing(trained).put_into(trained)
        else:
            if hasattr(trained, "densify"):
                trained.densify()
            check_mixable(trained)
            known = set(np.asarray(getattr(trained, "classes_", [])).tolist())
            new = [label for label in found.labels if label not in known]
            if new:
                raise ValueError(
                    f"{found.labels[new[0]]} has the label {new[0]!r}, and this model has learned others: fit again, "
                    "or let it meet the label by partial_fit or learn_one first"
                )
            learner.extend(found)
        learner.finish()
        return trained

    def epoch(self, trained: Any, epoch: int, engine: Engine) -> None:
        """One pass over every shard, mixed into the trained model."""
        start = Learned.of(trained)
        mixture = Mixture(start, trained._learner.geometry, trained._learner.task)
        for place, learned in enumerate(engine.map(_learn, self._shards, _sent(trained))):
            shard = self._shards[place].name
            if learned.shapes() != start.shapes():
                raise ValueError(f"{shard} has features or labels that it had not when it was first read")
            came_to = learned.since(start)
            count = MIXINGS[self._mixing](came_to)
            mixture.add(learned, count)
            if self._progress is not None:
                self._progress(Report(epoch, shard, place, *came_to, count))
        mixture.result().put_into(trained)
        if hasattr(trained, "n_iter_"):
            trained.n_iter_ = epoch
        if self._checkpoint is not None:
            notes = self._notes | {"scale": self._identity() | {"epochs": epoch}}
            write_bytes(to_bytes(trained, notes), self._checkpoint)

    def resumed(self, model: Any) -> tuple[Any, int]:
        """The model of the checkpoint, and how many epochs it has learned."""
        trained, notes = load_with_notes(self._checkpoint or "")
        path = os.fspath(self._checkpoint or "")
        if "scale" not in notes:
            raise ValueError(f"{path} is no checkpoint of scale.fit: give another name, or resume=False to replace it")
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
        """What a run must have in common with one that it goes on from."""
        return {"shards": [shard.name for shard in self._shards], "mixing": self._mixing}


def _sent(trained: Any) -> Bytes:
    """A model as workers are sent it: the bytes of a model file, as an array, which engines do not copy."""
    return np.frombuffer(to_bytes(trained), np.uint8)


@contextmanager
def _naming(shard: Shard) -> Iterator[None]:
    """Say in which shard something was wrong, unless that was said."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if type(error) in (TypeError, ValueError):
            raise type(error)(f"{shard.name}: {error}") from error
        raise


def _survey(shard: Shard, sent: Bytes) -> Findings:
    """In a worker: what a shard holds."""
    learner = batch_learner(from_bytes(sent.data))
    found, names = Findings(), Names()
    with _naming(shard):
        for batch in shard.batches():
            if batch.y is None:
                raise ValueError("its examples have no labels to learn")
            if not hasattr(batch.X, "indptr"):
                learner.read_names(batch.X, names)
                found.names = names.names
            found.note(batch, learner.labels(batch.y), shard.name)
    return found


def _learn(shard: Shard, sent: Bytes) -> Learned:
    """In a worker: one pass over a shard, from the model that all share."""
    learner = batch_learner(from_bytes(sent.data))
    with _naming(shard):
        for batch in shard.batches():
            learner.learn(batch)
    return Learned.of(learner.model)


def _hand_over(trained: Any, model: Any) -> None:
    """Put what was trained into the model of the caller."""
    vars(model).clear()
    vars(model).update(vars(trained))
    if hasattr(type(model), "_player"):
        model._player = None
