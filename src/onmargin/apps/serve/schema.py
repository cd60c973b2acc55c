"""Types of requests and answers; JSON is validated against them before it is used.

JSON has no NaN or infinity, and the types are not recursive: anything nested deeper than an example can be is refused
during parsing.
"""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, field

from onmargin.apps.serve.tokens import Right

Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Label = str | Whole
# Squares of larger numbers, and their sums, could overflow, and a model would never recover.
Number = Annotated[float, Meta(ge=-1e100, le=1e100)]
Feature = bool | Number | str | None  # null is a missing value; true is 1
# A text, features by name, a vector, a list of names, or the tokens of a sequence, depending on the model.
X = str | dict[str, Feature] | list[Number | str | list[str] | dict[str, Feature]]
Y = str | Whole | Number | list[Label] | None
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$(?!\n)"
NAME_RULE = "a name begins with a letter or digit and has up to 64 of letters, digits, _, . and -"
Name = Annotated[str, Meta(pattern=NAME_PATTERN)]
Key = Annotated[str, Meta(min_length=1, max_length=128)]
Task = Literal["classify", "regress", "rank", "ordinal", "novelty", "tag"]
TASK_RULE = f"task must be one of {', '.join(get_args(Task))}; got"
Scalar = bool | Whole | float | str | None

Parameter = Scalar | list[Scalar | list[float]] | dict[str, float]

MOST_EXAMPLES = 10_000  # per request
MOST_EXPLAINED = 100  # per request to explain


class Body(Struct, forbid_unknown_fields=True):
    """The body of a request. Unknown fields are refused with `shape`, an example of an accepted request."""

    shape: ClassVar[str] = "{}"

    def needs(self) -> Right:
        """Return the least right that the request needs."""
        return Right.READ


class Create(Body):
    """A new model: its task or the name of its learner, and the parameters of the learner; C may be "inf"."""

    shape: ClassVar[str] = '{"name": "mail", "model": "AROWClassifier", "parameters": {"r": 0.5}}'
    name: Name
    task: Task | None = None
    model: Annotated[str, Meta(max_length=64)] | None = None
    parameters: dict[str, Parameter] = field(default_factory=dict)
    coverage: Annotated[float, Meta(gt=0, lt=1)] | None = None


class Example(Body):
    """An example to learn: features, target, and a weight that multiplies C.

    Instead of the features, `id` may name a prediction that was kept.
    """

    x: X | UnsetType = UNSET
    y: Y = None
    weight: Annotated[float, Meta(ge=0, le=1e100)] = 1.0
    id: Annotated[str, Meta(max_length=64)] | UnsetType = UNSET


class Given(Struct):
    """The prediction for an example when it was kept."""

    prediction: Any


class Recorded(Example):
    """An example in the journal."""

    given: Given | UnsetType = UNSET


class Learn(Body):
    """Examples to learn in this order, all or none. A request sent again with the same key is learned only once."""

    shape: ClassVar[str] = '{"examples": [{"x": ..., "y": ...}]}'
    examples: Annotated[list[Example], Meta(min_length=1, max_length=MOST_EXAMPLES)]
    key: Key | None = None


class Asked(Body):
    """An example to predict or explain: features without a target."""

    x: X


class Predict(Body):
    """Examples to predict.

    `scores` adds the scores of the labels, `probabilities` the class probabilities, and `sets` prediction sets or
    intervals, if the model was created with a coverage. With `keep` the examples are kept until their labels arrive;
    the labels can be learned later with the ids in the answer. `columns` are those of a table whose rows the examples
    are: the answer names the columns of the model that the table lacks.
    """

    shape: ClassVar[str] = '{"examples": [{"x": ...}]}'
    examples: Annotated[list[Asked], Meta(min_length=1, max_length=MOST_EXAMPLES)]
    scores: bool = False
    probabilities: bool = False
    sets: bool = False
    keep: bool = False
    columns: Annotated[list[str], Meta(max_length=MOST_EXAMPLES)] | None = None

    def needs(self) -> Right:
        return Right.LEARN if self.keep else Right.READ


class Explain(Body):
    """Examples whose scores to explain by feature. Without a label, the score of the predicted label is explained."""

    shape: ClassVar[str] = '{"examples": [{"x": ...}]}'
    examples: Annotated[list[Asked], Meta(min_length=1, max_length=MOST_EXPLAINED)]
    label: Label | None = None
    top: Annotated[int, Meta(ge=1, le=1000)] = 20


class Compact(Body):
    """An empty request."""


class Rewind(Body):
    """The sequence number or time to rewind to: all later examples are removed."""

    shape: ClassVar[str] = '{"seq": 1000} or {"time": "2026-01-31T12:00:00Z"}'
    seq: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    time: Annotated[datetime, Meta(tz=True)] | None = None


class Named(Body):
    """The name of a new model."""

    shape: ClassVar[str] = '{"name": "mail2"}'
    name: Name


class Rename(Body):
    """The new name of a model; with `replace`, a model of that name is deleted in the same transaction."""

    shape: ClassVar[str] = '{"name": "mail", "replace": true}'
    name: Name
    replace: bool = False


class Learned(Struct):
    """The sequence numbers of the learned examples, and the prediction for each before it was learned.

    A repeated request is answered with its original numbers, and with its predictions if they are still stored.
    `warnings` are given once, such as about strings of numbers that are learned as categories.
    """

    first: int
    last: int
    predictions: list[Any] | None
    repeated: bool = False
    warnings: list[str] | UnsetType = UNSET


class Predicted(Struct):
    """Predictions of the model after `seq` examples; `lacking` are columns of the model that the table lacks."""

    seq: int
    predictions: list[Any]
    scores: list[Any] | None = None
    probabilities: list[Any] | UnsetType = UNSET
    sets: list[Any] | UnsetType = UNSET
    ids: list[str] | UnsetType = UNSET
    lacking: list[str] | UnsetType = UNSET


class Part(Struct):
    """The contribution of a feature to a score, or its weight; features of a vector are identified by position."""

    feature: str | int
    value: float


class Explanation(Struct):
    """A prediction, and the contribution of each feature to the score of a label; intercept plus parts is the score."""

    prediction: Any
    label: Any
    intercept: float | None
    parts: list[Part]


class Explained(Struct):
    """One explanation per example, from the model after `seq` examples."""

    seq: int
    explanations: list[Explanation]


class Totals(Struct):
    """Totals of the rounds; each example is predicted before it is learned."""

    rounds: int
    mistakes: int
    updates: int
    loss: float
    squared_loss: float
    dual_value: float


class Progressive(Struct):
    """Progressive error: the errors of predictions made before each example was learned, or when they were kept.

    For labels it counts mistakes; for numbers it is the sum of absolute errors.
    """

    examples: int
    mistakes: int | None
    absolute_error: float | None


class Coverage(Struct):
    """Observed and requested coverage of prediction sets or intervals, and their mean size."""

    asked: float
    examples: int
    covered: float | None
    size: float | None


class ModelDescription(Struct):
    """A model: its learner, its sequence number, and the earliest number that it can be rewound to.

    `kept` is the number of predictions whose labels have not arrived. A reader keeps none.
    """

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
    kept: int = 0


class Models(Struct):
    """All models."""

    models: list[ModelDescription]


class Condition(Struct):
    """A condition of a theorem, the measured value, and whether the condition holds."""

    needs: str
    measured: str
    met: bool


class Certificate(Struct):
    """The bound of a theorem on the examples of the journal, and the result of a new learner on them.

    `curve` has the bound after some of the rounds, as pairs of the number of rounds and the bound.
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
    """The features of a label with the largest weights."""

    label: Any
    parts: list[Part]


class Health(Struct):
    """Whether the service can learn, and if not, the reason, without details that require a token.

    Damaged models are not served.
    """

    learning: bool
    models: int
    damaged: int
    waiting: int
    problem: str | None = None


class Problem(Struct):
    """The problem with a request, and how to fix it."""

    error: str


class Expert(Struct):
    """One of several models trained side by side: its mistakes, losses or costs, and the weight of its vote."""

    name: str
    lost: float
    vote: float
    leads: bool


class Progress(Struct):
    """Progress of a model: sums of mistakes and losses after some numbers of examples, and its confusion matrix.

    `experts` are the models trained side by side, if there are several.

    `rates` are the examples that the model learned and predicted in the last second. `history` has the same rates per
    second over the last ten minutes, each with its age in seconds. `latency` has the median and the 99th percentile in
    seconds of all requests to learn and to predict in the last second.
    """

    model: ModelDescription
    curve: list[tuple[int, int, float]]
    confusion: list[tuple[Any, Any, int]]
    experts: list[Expert] = field(default_factory=list)
    rates: tuple[float, float] = (0.0, 0.0)
    history: list[tuple[float, float, float]] = field(default_factory=list)
    latency: dict[str, tuple[float | None, float | None]] = field(default_factory=dict)
