"""Structured prediction: rounds that call a user's model for features, search and costs ([JMLR] sec. 8 and 9)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from onmargin._core.geometries.geometry import Euclidean, Geometry
from onmargin._core.tasks.task import Structured
from onmargin.learner import Learner, Vector
from onmargin.models import compatible
from onmargin.models import options as shared
from onmargin.models.ensemble import Kind, first_averaged
from onmargin.models.joint_features import Features
from onmargin.models.options import needs, option
from onmargin.models.plan import Plan, Shape
from onmargin.models.rules import Number, Word
from onmargin.models.structure_checks import Inspector, StructureModel, cost_of
from onmargin.models.updates import projection

# An input and its right structure.
Example = tuple[Any, Any]


@dataclass(kw_only=True, eq=False, repr=False)
class StructureOptions:
    r"""Options of the structured predictor.

    Parameters
    ----------
    model : object
        Object that defines the structures, with the methods

        - ``joint_features(x, y)``: the features of a structure. Either a dict of name: value, in which new names may
          appear at any time; or a vector, a sparse row or a pair ``(indices, values)``, for which the model must have
          an attribute ``n_features``, the number of features;
        - ``argmax(weights, x)``: a structure of highest score. `weights` is a mapping for named features
          (``weights[name]`` is 0 for an unknown name, ``weights.score(features)`` is the score of some features),
          otherwise an array. Do not modify the weights; they change as learning continues;
        - ``cost(y, z)``: a number of at least 0, which is 0 if z is right;
        - for ``update="max_loss"``, ``cost_augmented_argmax(weights, x, y)``: the structure z of highest score plus
          :math:`\sqrt{\rho(y, z)}`, the square root of its cost.
    C : float, default=1.0
        Aggressiveness, above 0: the largest step (PA-I) or the price of squared slack (PA-II). Smaller values are more
        cautious and better under noise; ``inf`` gives plain PA.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        "hinge" gives PA-I, "squared_hinge" gives PA-II.
    update : {"prediction", "max_loss"}, default="prediction"
        The structure to update against. "prediction" uses the predicted structure, so a right prediction changes
        nothing. "max_loss" uses the structure of largest loss, which also enforces a margin but takes a second search.
    check_rounds : int, default=20
        Number of first rounds in which the results of the model's methods are checked against each other. An error
        reports what is inconsistent: a search that misses the right structure although it scores higher, features that
        change, or a right structure with a cost above 0. Set it to 0 for an approximate search.
    """

    model: StructureModel = needs()
    C: float = option(1.0, Number(0, above=True))
    loss: str = option("hinge", Word("hinge", "squared_hinge"))
    update: str = option("prediction", Word("prediction", "max_loss"))
    average: bool | int = shared.average()
    check_rounds: int = option(20, Number(0, whole=True))

    round_of: ClassVar[str] = compatible.STRUCTURES

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        average = first_averaged(self.average)

        def weights(shape: Shape, kind: Kind | None, n_columns: int) -> Geometry:
            return Euclidean(shape.n_features, n_columns, shape.dtype, sparse=shape.sparse, average=average)

        return Plan(task=lambda labels: Structured(), step=projection(self.C, self.loss), weights=weights)


def note(error: Exception, example: int) -> None:
    """Add the index of the example to an error."""
    error.add_note(f"This was example {example} of the call, counted from 0.")


@contextmanager
def name_example(example: int) -> Iterator[None]:
    """Add the index of the example to any error."""
    try:
        yield
    except Exception as error:
        note(error, example)
        raise


def run_round(
    options: StructureOptions,
    features: Features,
    learner: Learner[Euclidean],
    example: Example,
    weight: Vector | None = None,
) -> None:
    """Predict, find the rival and learn. Everything that may raise comes before the update of the weights."""
    model: Any = options.model
    x, y = example
    weights = features.weights_that_learn(learner.geometry)
    inspector = Inspector(model, features, weights, x, y) if learner.rounds < options.check_rounds else None
    rival = predicted = model.argmax(weights, x)
    if inspector:
        inspector.check_prediction(predicted)
    rival_cost = cost = cost_of(model, y, predicted)
    if options.update == "max_loss":
        rival = model.cost_augmented_argmax(weights, x, y)
        if inspector:
            inspector.check_rival(rival, predicted)
        rival_cost = cost_of(model, y, rival)
    right = features.read(model.joint_features(x, y))
    wrong = features.read(model.joint_features(x, rival))
    features.learn(learner, right, wrong, np.array([sqrt(rival_cost), cost]), weight)
