"""Size F of weights in each geometry, its conjugate potential G, and the link between them."""

from collections.abc import Callable
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from onmargin.reference.additive import balanced, entropic, pnorm

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Size:
    """F, which raises ValueError outside its domain, its conjugate G and the gradient of G."""

    size: Callable[[Vector], float]
    potential: Callable[[Vector], float]
    weights: Callable[[Vector], Vector]
    largest: float = float("inf")  # upper bound on F
    scales: bool = False  # whether F(s u) = s² F(u) for all s > 0


def euclidean() -> Size:
    def half_square(u: Vector) -> float:
        return float(u @ u) / 2

    return Size(half_square, half_square, lambda theta: theta, scales=True)


def of_pnorm(p: float) -> Size:
    link, q = pnorm(p), p / (p - 1)
    return Size(lambda u: float(np.linalg.norm(u, q)) ** 2 / 2, link.potential, link.weights, scales=True)


def of_simplex(n: int) -> Size:
    def size(u: Vector) -> float:
        if u.min() < 0 or abs(u.sum() - 1) > 1e-9:
            raise ValueError(
                f"competitor must be on the simplex, numbers of at least 0 with sum 1; got a smallest of {u.min():g} "
                f"and a sum of {u.sum():g}"
            )
        return _divergence(u)

    link = entropic()
    return Size(size, link.potential, link.weights, log(n))


def of_balanced(n: int) -> Size:
    """Signed weights u = w+ - w-: F is the minimum over all pairs; at the minimum all products w+ w- are equal."""

    def size(u: Vector) -> float:
        total = float(np.abs(u).sum())
        if total > 1 + 1e-9:
            raise ValueError(f"competitor must have numbers whose sizes sum to at most 1; got a sum of {total:g}")

        def excess(c: float) -> float:
            return float(np.sqrt(u**2 + c**2).sum()) - 1

        c = brentq(excess, 0.0, 1.0, xtol=1e-15) if total < 1 else 0.0
        root = np.sqrt(u**2 + c**2)
        return _divergence(np.concatenate([root + u, root - u]) / 2)

    link = balanced()
    return Size(size, link.potential, link.weights, log(2 * n))


def _divergence(w: Vector) -> float:
    """Return KL(w | uniform)."""
    some = w[w > 0]
    return max(float((some * np.log(len(w) * some)).sum()), 0.0)
