"""A model of the service, with the keys of the requests that it has learned."""

import asyncio
from collections.abc import Iterable
from typing import Any

import msgspec

from onmargin.apps.serve import schema
from onmargin.apps.serve.journal import ModelRow
from onmargin.apps.serve.metrics import Throughput
from onmargin.apps.serve.restoring import learner_of
from onmargin.apps.serve.state import State, encode
from onmargin.evaluate import ChangeAlarm

MOST_KEYS = 65_536  # maximum number of keys for recognizing retries
_decode = msgspec.json.Decoder(schema.Learned).decode
LONG = 128  # maximum bytes of the predictions of a request that are kept for a retry


class ServedModel:
    """A model by name; its state is replaced as a whole when it is rewound."""

    def __init__(
        self, kept: ModelRow, state: State, n_keys: int = 0, keys: Iterable[tuple[str, int, int]] = ()
    ) -> None:
        self.id = kept.id
        self.task: Any = kept.task
        self.parameters = learner_of(kept).parameters
        self.kept = kept
        self.state = state
        self.n_keys = n_keys  # number of requests with a key
        self.saved = state.seq  # number of examples in the last snapshot
        self.deleted = False
        self.writing = asyncio.Lock()  # held while a snapshot is written
        self.certified: tuple[tuple[int, int], schema.Certificate] | None = None
        self.throughput = Throughput()
        self.n_held = 0  # number of the last kept prediction
        self.n_kept = 0  # kept predictions whose labels have not arrived
        self.changes = 0  # how often mistakes became more frequent since the service started
        self._alarm, self._mistakes = ChangeAlarm(), state.progressive.mistakes or 0
        self.claimed: set[int] = set()  # kept predictions whose labels are being learned
        # Answers of learned requests by key, as JSON, which takes less memory than objects.
        self.keys = {key: encode(schema.Learned(first, last, None, repeated=True)) for key, first, last in keys}

    @property
    def name(self) -> str:
        return self.kept.name

    @property
    def earliest(self) -> int:
        return self.kept.earliest

    def watch(self) -> bool:
        """Note whether the last example was a mistake; return whether mistakes have become more frequent."""
        mistakes = self.state.progressive.mistakes
        if mistakes is None:  # numbers have no mistakes
            return False
        lost = mistakes > self._mistakes
        self._mistakes = mistakes
        changed = self._alarm.update(lost)
        self.changes += changed
        return changed

    def known(self, key: str) -> schema.Learned:
        """Return the answer of a request that was learned before."""
        return _decode(self.keys[key])

    def remember(self, key: str, learned: schema.Learned) -> None:
        """Store the key of a request, to recognize it when it is sent again."""
        predictions = learned.predictions if len(encode(learned.predictions)) <= LONG else None
        self.n_keys += 1
        self.keys[key] = encode(schema.Learned(learned.first, learned.last, predictions, repeated=True))
        while len(self.keys) > MOST_KEYS:
            del self.keys[next(iter(self.keys))]

    def keys_until(self, seq: int) -> dict[str, bytes]:
        """Return the keys of the requests that were learned up to an example."""
        return {key: learned for key, learned in self.keys.items() if _decode(learned).last <= seq}

    @property
    def keys_from(self) -> int:
        """The number of the first request whose key is stored."""
        return self.n_keys - len(self.keys) + 1

    def describe(self) -> schema.ModelDescription:
        state = self.state
        return schema.ModelDescription(
            self.name,
            self.task,
            type(state.learner.model).__name__,
            self.parameters,
            state.seq,
            self.earliest,
            state.learner.classes,
            state.learner.features,
            state.totals,
            state.progressive,
            None if state.covering is None else state.covering.describe(),
            self.n_kept,
        )
