"""Quasi-additive classifiers: the Perceptron, the p-norm Perceptron, Winnow and their aggressive kin ([PD])."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onmargin._core.steps.step import Aggressive, Fixed, Optimal, Step
from onmargin.models import options as shared
from onmargin.models.columns import intercept_value
from onmargin.models.links import LINKS, half, link, norm
from onmargin.models.options import option
from onmargin.models.plan import Plan
from onmargin.models.rules import FLAG, NONE, Number, Word
from onmargin.models.updates import class_task

STEPS = {"fixed": Fixed, "aggressive": Aggressive, "optimal": Optimal}
POSITIVE = Number(0, above=True, below=True)


def size_of_step() -> Any:
    return option(1.0, POSITIVE)


def geometry() -> Any:
    return option("euclidean", Word(*LINKS))


def margin() -> Any:
    return option(None, POSITIVE, NONE)


@dataclass(kw_only=True, eq=False, repr=False)
class QuasiAdditiveOptions:
    r"""The options of the quasi-additive classifier, in every face.

    Parameters
    ----------
    geometry : {"euclidean", "entropic", "pnorm"}, default="euclidean"
        How weights follow from the sum of examples: they are the sum itself, on the simplex, or in between.
    p : float or None, default=None
        Of "pnorm", from 2 to 500: 2 is plain weights, larger ones are nearer to the entropic. If None, 2 ln(n_features)
        of the first call.
    step : {"fixed", "aggressive", "optimal"}, default="optimal"
        :math:`\alpha_t`: "fixed" is C for a mistake and nothing otherwise; "aggressive" is min(C, loss), for rows of
        curvature at most 1; "optimal" the maximizer of the dual over [0, C].
    C : float, default=1.0
        The largest step, above 0. "fixed" has a mistake bound for C below twice the margin.
    margin : float or None, default=None
        The margin asked for, above 0. If None, 1, or 0.1 for the entropic geometry, whose scores are at most the
        largest number of a row.
    balanced : bool, default=True
        Whether the entropic weights have either sign: they are then those of the features less those of their
        negatives, which are on the simplex together. If False, they are on the simplex, and rows that are never
        negative have no negative scores.
    fit_intercept : bool, default=False
        Whether to learn an intercept; for the Euclidean geometry. For others append a constant feature.
    intercept_scaling : "auto" or float, default="auto"
        Value of its coordinate, above 0. "auto" is 0.3 times the norm of the first non-zero row seen, then fixed.
    class_weight : dict, "balanced" or None, default=None
        Factors on C by class. "balanced" is ``n_samples / (n_classes * count)``; in `partial_fit` from the counts so
        far.
    """

    geometry: str = geometry()
    p: float | None = norm()
    step: str = option("optimal", Word(*STEPS))
    C: float = size_of_step()
    margin: float | None = margin()
    balanced: bool = option(True, FLAG)
    fit_intercept: bool = option(False, FLAG)
    intercept_scaling: float | str = shared.intercept_scaling()
    class_weight: Mapping[Any, float] | str | None = shared.class_weight()

    def plan(self) -> Plan:
        """Return how these options learn."""
        return in_geometry(self, STEPS[self.step](self.C))


@dataclass(kw_only=True, eq=False, repr=False)
class PerceptronOptions:
    """The options of the Perceptron, in every face.

    Parameters
    ----------
    C : float, default=1.0
        The size of a step, above 0. Predictions do not depend on it.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each row, inside its norm.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first non-zero row seen, then fixed.
    class_weight : dict, "balanced" or None, default=None
        Factors on C by class. "balanced" is ``n_samples / (n_classes * count)``; in `partial_fit` from the counts so
        far.
    """

    C: float = size_of_step()
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    class_weight: Mapping[Any, float] | str | None = shared.class_weight()

    def plan(self) -> Plan:
        """Return how these options learn."""
        return of_classes(self, Fixed(self.C), margin=1.0, weights=link("euclidean", bias=bias(self)))


@dataclass(kw_only=True, eq=False, repr=False)
class PNormPerceptronOptions:
    """The options of the p-norm Perceptron, in every face.

    Parameters
    ----------
    p : float or None, default=None
        From 2 to 500. If None, 2 ln(n_features) of the first call, and 2 for a few features.
    C : float, default=1.0
        The size of a step, above 0. Predictions do not depend on it.
    class_weight : dict, "balanced" or None, default=None
        Factors on C by class. "balanced" is ``n_samples / (n_classes * count)``; in `partial_fit` from the counts so
        far.
    """

    p: float | None = norm()
    C: float = size_of_step()
    class_weight: Mapping[Any, float] | str | None = shared.class_weight()

    def plan(self) -> Plan:
        """Return how these options learn."""
        return of_classes(self, Fixed(self.C), margin=1.0, weights=link("pnorm", p=self.p), fixed={"p": self.p})


@dataclass(kw_only=True, eq=False, repr=False)
class WinnowOptions:
    r"""The options of Winnow, in every face.

    Parameters
    ----------
    rate : float or None, default=None
        :math:`\eta`, above 0. If None, 4 times `margin`, or `margin` itself if balanced: the rates of the bounds for
        two classes and numbers up to 1.
    margin : float, default=0.1
        The margin that a good target has, above 0.
    threshold : float, default=0.5
        What a score must be above for the second class, above 0; there is none if balanced, or for more than two
        classes.
    balanced : bool, default=False
        Whether weights have either sign. If False, rows must not be negative.
    class_weight : dict, "balanced" or None, default=None
        Factors on the rate by class. "balanced" is ``n_samples / (n_classes * count)``; in `partial_fit` from the
        counts so far.
    """

    rate: float | None = option(None, POSITIVE, NONE)
    margin: float = option(0.1, POSITIVE)
    threshold: float = option(0.5, POSITIVE)
    balanced: bool = option(False, FLAG)
    class_weight: Mapping[Any, float] | str | None = shared.class_weight()

    def plan(self) -> Plan:
        """Return how these options learn."""
        proven = float(self.margin) * (1 if self.balanced else 4)
        return of_classes(
            self,
            Fixed(proven if self.rate is None else float(self.rate)),
            margin=float(self.margin),
            simplex=True,
            weights=link("entropic", balanced=self.balanced, threshold=float(self.threshold)),
            fixed={"balanced": self.balanced, "threshold": self.threshold},
            nonnegative=None if self.balanced else NEGATIVE,
        )


NEGATIVE = (
    "Winnow needs rows that are not negative; got {:g}. Set balanced=True for weights of either sign, or shift the "
    "features."
)


def asked(options: Any) -> float:
    """Return the margin: far below 1 on the simplex, where scores are at most the largest number of a row."""
    return (0.1 if options.geometry == "entropic" else 1.0) if options.margin is None else float(options.margin)


def bias(options: Any) -> float:
    return intercept_value(fit=options.fit_intercept, scaling=options.intercept_scaling)


def in_geometry(options: Any, step: Step, **rest: Any) -> Plan:
    """Return the plan of options with a `geometry`."""
    return of_classes(
        options,
        step,
        margin=asked(options),
        simplex=options.geometry == "entropic",
        weights=link(options.geometry, bias=bias(options), p=options.p, balanced=options.balanced),
        fixed={name: getattr(options, name) for name in ("geometry", "p", "balanced")},
        **rest,
    )


def of_classes(
    options: Any, step: Step, *, margin: float, weights: dict[str, Any], simplex: bool = False, **rest: Any
) -> Plan:
    """Return how classes are learned, one column each, or one for two of them."""
    return Plan(
        task=lambda labels: class_task(len(labels), update="max", strategy="joint", margin=margin),
        step=step,
        half=half,
        calibrated=True,
        labels_at_once=True,
        simplex_margin_of_classes=margin if simplex else None,
        **weights | rest,
    )
