"""Quasi-additive classifiers: the Perceptron, the p-norm Perceptron, Winnow and their aggressive variants ([PD])."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from onmargin._core.steps.step import Aggressive, Fixed, Optimal, Step
from onmargin.models import options as shared
from onmargin.models.columns import intercept_value
from onmargin.models.links import LINKS, link, norm
from onmargin.models.options import option
from onmargin.models.plan import ClassRules, Plan
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
    r"""Options of the quasi-additive classifier, shared by all interfaces.

    Parameters
    ----------
    geometry : {"euclidean", "entropic", "pnorm"}, default="euclidean"
        How the weights are computed from the sum of the examples: "euclidean" weights are the sum itself, "entropic"
        weights are on the simplex, and "pnorm" lies in between.
    p : float or None, default=None
        The norm p of ``geometry="pnorm"``, from 2 to 500: 2 gives plain weights, larger values are closer to the
        entropic geometry. If None, p is 2 ln(n_features) in the first call.
    step : {"fixed", "aggressive", "optimal"}, default="optimal"
        Step size :math:`\alpha_t`. "fixed" is C for a mistake and 0 otherwise; "aggressive" is min(C, loss), for rows
        of curvature at most 1; "optimal" maximizes the dual over [0, C].
    C : float, default=1.0
        The largest step, above 0. "fixed" has a mistake bound for C below twice the margin.
    margin : float or None, default=None
        Required margin, above 0. If None, 1, or 0.1 for the entropic geometry, whose scores are at most the largest
        value of a row.
    balanced : bool, default=True
        Whether the entropic weights can have either sign. If True, a weight is that of the feature minus that of its
        negative, and both together are on the simplex. If False, the weights themselves are on the simplex, so rows
        without negative values have no negative scores.
    fit_intercept : bool, default=False
        Whether to learn an intercept; only for the Euclidean geometry. For the others, append a constant feature.
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
        """Return the learning plan of these options."""
        return in_geometry(self, STEPS[self.step](self.C))


@dataclass(kw_only=True, eq=False, repr=False)
class PerceptronOptions:
    """Options of the Perceptron, shared by all interfaces.

    Parameters
    ----------
    C : float, default=1.0
        Step size, above 0. Predictions do not depend on it.
    """

    C: float = size_of_step()
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    class_weight: Mapping[Any, float] | str | None = shared.class_weight()

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        return of_classes(self, Fixed(self.C), margin=1.0, weights=link("euclidean", bias=bias(self)))


@dataclass(kw_only=True, eq=False, repr=False)
class PNormPerceptronOptions:
    """Options of the p-norm Perceptron, shared by all interfaces.

    Parameters
    ----------
    p : float or None, default=None
        The norm p, from 2 to 500. If None, p is 2 ln(n_features) in the first call, but at least 2.
    C : float, default=1.0
        Step size, above 0. Predictions do not depend on it.
    """

    p: float | None = norm()
    C: float = size_of_step()
    class_weight: Mapping[Any, float] | str | None = shared.class_weight()

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        return of_classes(self, Fixed(self.C), margin=1.0, weights=link("pnorm", p=self.p), fixed={"p": self.p})


@dataclass(kw_only=True, eq=False, repr=False)
class WinnowOptions:
    r"""Options of Winnow, shared by all interfaces.

    Parameters
    ----------
    rate : float or None, default=None
        Learning rate :math:`\eta`, above 0. If None, 4 times `margin`, or `margin` itself if `balanced`: the rates of
        the bounds for two classes and values up to 1.
    margin : float, default=0.1
        Margin that good weights are assumed to have, above 0.
    threshold : float, default=0.5
        Threshold above which a score predicts the second class, above 0. Not used if `balanced`, or with more than two
        classes.
    balanced : bool, default=False
        Whether weights can have either sign. If False, rows must not have negative values.
    """

    rate: float | None = option(None, POSITIVE, NONE)
    margin: float = option(0.1, POSITIVE)
    threshold: float = option(0.5, POSITIVE)
    balanced: bool = option(False, FLAG)
    class_weight: Mapping[Any, float] | str | None = shared.class_weight("the rate")

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
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


def margin_of(options: Any) -> float:
    """Return the margin: far below 1 on the simplex, where scores are at most the largest number of a row."""
    return (0.1 if options.geometry == "entropic" else 1.0) if options.margin is None else float(options.margin)


def bias(options: Any) -> float:
    return intercept_value(fit=options.fit_intercept, scaling=options.intercept_scaling)


def in_geometry(options: Any, step: Step, **rest: Any) -> Plan:
    """Return the plan of options with a `geometry`."""
    return of_classes(
        options,
        step,
        margin=margin_of(options),
        simplex=options.geometry == "entropic",
        weights=link(options.geometry, bias=bias(options), p=options.p, balanced=options.balanced),
        fixed={name: getattr(options, name) for name in ("geometry", "p", "balanced")},
        **rest,
    )


def of_classes(
    options: Any,
    step: Step,
    *,
    margin: float,
    weights: dict[str, Any],
    simplex: bool = False,
    nonnegative: str | None = None,
    **rest: Any,
) -> Plan:
    """Return how classes are learned, one column each, or one for two of them."""
    rows = replace(weights["rows"], nonnegative=nonnegative, simplex_margin=margin if simplex else None)
    return Plan(
        task=lambda labels: class_task(len(labels), update="max", strategy="joint", margin=margin),
        step=step,
        classes=ClassRules(calibrated=True),
        **weights | {"rows": rows} | rest,
    )
