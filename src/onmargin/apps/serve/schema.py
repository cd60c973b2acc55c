"""What is sent and answered, as types: JSON is checked against them before anything looks at it.

JSON has no NaN and no infinity, and a type has an end: what is nested deeper than an example can be is refused while it
is read.
"""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Label = str | Whole
# Squares of larger numbers, and sums of them, would no longer be finite, and a model would never recover.
Number = Annotated[float, Meta(ge=-1e100, le=1e100)]
Feature = Number | str
# Text, features by name, a vector, names alone, or the tokens of a sequence: which of them, the model says.
X = str | dict[str, Feature] | list[Number | str | list[str] | dict[str, Feature]]
Y = str | Whole | Number | list[Label] | None
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$(?!\n)")]
Key = Annotated[str, Meta(min_length=1, max_length=128)]
Task = Literal["classify", "regress", "rank", "ordinal", "novelty", "tag"]
Scalar = bool | Whole | float | str | None

Parameter = Scalar | list[Scalar | list[float]] | dict[str, float]

MOST_EXAMPLES = 10_000  # of one request
MOST_EXPLAINED = 100  # the same of a request to explain


class Request(Struct, forbid_unknown_fields=True):
    """What a client sends. Unknown fields are refused, with `shape`: what an accepted request looks like."""

    shape: ClassVar[str] = "{}"

    def scope(self) -> int:
        """The scope that is needed for what is asked, at least; it is an index of `tokens.SCOPES`."""
        return 0


class Create(Request):
    """A new model: its task, or the name of its learner, and parameters of that; C may be "inf"."""

    shape: ClassVar[str] = '{"name": "mail", "model": "AROWClassifier", "parameters": {"r": 0.5}}'
    name: Name
    task: Task | None = None
    model: Annotated[str, Meta(max_length=64)] | None = None
    parameters: dict[str, Parameter] = field(default_factory=dict)
    coverage: Annotated[float, Meta(gt=0, lt=1)] | None = None


class Example(Request):
    """An example to learn: features, target, and a factor on C.

    In the place of the features, `id` names a prediction that was kept.
    """

    x: X | UnsetType = UNSET
    y: Y = None
    weight: Annotated[float, Meta(ge=0, le=1e100)] = 1.0
    id: Annotated[str, Meta(max_length=64)] | UnsetType = UNSET


class Given(Struct):
    """What was predicted of an example when its prediction was kept."""

    prediction: Any


class Recorded(Example):
    """An example as the journal has it."""

    given: Given | UnsetType = UNSET


class Learn(Request):
    """Examples to learn in this order, all or none. A request that is sent again with its key is learned once."""

    shape: ClassVar[str] = '{"examples": [{"x": ..., "y": ...}]}'
    examples: Annotated[list[Example], Meta(min_length=1, max_length=MOST_EXAMPLES)]
    key: Key | None = None


class Asked(Request):
    """An example to predict or to explain: features alone."""

    x: X


class Predict(Request):
    """Examples to predict.

    `scores` adds the scores of the labels, `probabilities` the probabilities of the classes, and `sets` a set of labels
    or an interval, if the model was created with a coverage. With `keep` the examples are kept for their labels, which
    can be learned later by the ids in the answer.
    """

    shape: ClassVar[str] = '{"examples": [{"x": ...}]}'
    examples: Annotated[list[Asked], Meta(min_length=1, max_length=MOST_EXAMPLES)]
    scores: bool = False
    probabilities: bool = False
    sets: bool = False
    keep: bool = False

    def scope(self) -> int:
        return int(self.keep)


class Explain(Request):
    """Examples whose scores are taken apart by feature. Without a label, the score of the predicted label is."""

    shape: ClassVar[str] = '{"examples": [{"x": ...}]}'
    examples: Annotated[list[Asked], Meta(min_length=1, max_length=MOST_EXPLAINED)]
    label: Label | None = None
    top: Annotated[int, Meta(ge=1, le=1000)] = 20


class Compact(Request):
    """Nothing more is said."""


class Rewind(Request):
    """The sequence number or the time to go back to: all learned after it is undone."""

    shape: ClassVar[str] = '{"seq": 1000} or {"time": "2026-01-31T12:00:00Z"}'
    seq: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    time: Annotated[datetime, Meta(tz=True)] | None = None


class Named(Request):
    """The name of a new model, or a new name."""

    shape: ClassVar[str] = '{"name": "mail2"}'
    name: Name


class Learned(Struct):
    """The sequence numbers of what was learned, and what was predicted of each example before it was.

    A request that was learned before is answered with its numbers, and with its predictions if they are still known.
    """

    first: int
    last: int
    predictions: list[Any] | None
    repeated: bool = False


class Predicted(Struct):
    """Predictions by the model as it was after `seq` examples."""

    seq: int
    predictions: list[Any]
    scores: list[Any] | None = None
    probabilities: list[Any] | UnsetType = UNSET
    sets: list[Any] | UnsetType = UNSET
    ids: list[str] | UnsetType = UNSET


class Part(Struct):
    """What a feature adds to a score, or weighs; a vector's goes by position."""

    feature: str | int
    value: float


class Explanation(Struct):
    """A prediction, and what each feature adds to the score of a label; with the intercept it is their sum."""

    prediction: Any
    label: Any
    intercept: float | None
    parts: list[Part]


class Explained(Struct):
    """One explanation per example, by the model as it was after `seq` examples."""

    seq: int
    explanations: list[Explanation]


class Totals(Struct):
    """Totals of the rounds, each predicted before it was learned."""

    rounds: int
    mistakes: int
    updates: int
    loss: float
    squared_loss: float
    dual_value: float


class Progressive(Struct):
    """How well examples were predicted, each before it was learned; by the prediction that was kept, if one was.

    Labels are counted by mistakes, numbers by the sum of absolute errors.
    """

    examples: int
    mistakes: int | None
    absolute_error: float | None


class Coverage(Struct):
    """How often sets or intervals contained the target, as was asked, and their mean size."""

    asked: float
    examples: int
    covered: float | None
    size: float | None


class Model(Struct):
    """A model: its learner, how far it has come, and from which number on it can be rewound."""

    name: str
    task: Task
    model: str
    parameters: dict[str, Any]
    seq: int
    earliest: int
    classes: list[Any]
    features: int
    totals: Totals
    progressive: Progressive
    coverage: Coverage | None = None


class Models(Struct):
    """All models."""

    models: list[Model]


class Condition(Struct):
    """What a theorem asks for, what was measured, and whether that will do."""

    needs: str
    measured: str
    met: bool


class Certificate(Struct):
    """What a theorem allows on the examples of the journal, and what a new learner suffers on them.

    `curve` has the bound after some of the rounds: their number, and what is allowed up to there.
    """

    theorem: str
    counted: str
    rounds: int
    suffered: float
    bound: float
    holds: bool
    conditions: list[Condition]
    curve: list[tuple[int, float]]


class Weights(Struct):
    """The heaviest features of a label."""

    label: Any
    parts: list[Part]


class Health(Struct):
    """Whether the service learns; if not, why, without the details that a token is needed for.

    Damaged models are not served.
    """

    learning: bool
    models: int
    damaged: int
    waiting: int
    problem: str | None = None


class Problem(Struct):
    """What was wrong, and what to do."""

    error: str


class Expert(Struct):
    """One of several models that learn side by side: its mistakes, losses or costs, and what its vote counts for."""

    name: str
    lost: float
    vote: float
    leads: bool


class Progress(Struct):
    """How a model does: sums of mistakes and losses after some numbers of examples, and its confusions.

    `experts` are the models that learn side by side, where there are several.

    `rates` are the examples that the model has learned and predicted in the last second, `history` the same per second
    in the last ten minutes, each with how many seconds ago that was. `latency` has the median and the 99th percentile
    in seconds of all requests to learn and to predict in the last second.
    """

    model: Model
    curve: list[tuple[int, int, float]]
    confusion: list[tuple[Any, Any, int]]
    experts: list[Expert] = field(default_factory=list)
    rates: tuple[float, float] = (0.0, 0.0)
    history: list[tuple[float, float, float]] = field(default_factory=list)
    latency: dict[str, tuple[float | None, float | None]] = field(default_factory=dict)
