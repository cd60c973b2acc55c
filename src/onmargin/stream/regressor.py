"""Passive-aggressive regression of streams."""

from dataclasses import dataclass

from onmargin.models.described import described
from onmargin.models.expert_results import GridResults
from onmargin.models.passive_aggressive import RegressorOptions
from onmargin.stream._linear_regressor import LinearRegressor


@described
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveRegressor(GridResults, LinearRegressor, RegressorOptions):
    r"""Passive-aggressive regressor for streams; new features may appear at any time.

    An example predicted within `epsilon` of its target does not change the weights. Any other example moves them just
    far enough, to the solution of

    .. math::
        \min_w \tfrac12 \|w - w_t\|^2 + C\,\xi \quad\text{s.t.}\quad |y_t - w \cdot x_t| - \epsilon \le \xi,\ \xi \ge 0

    (PA-I; PA-II has :math:`C\,\xi^2`).

    Use it where records arrive one by one, as dicts or text, and their features are not known in advance. For matrices,
    :class:`onmargin.PassiveAggressiveRegressor` is faster and has `fit`. Scale the features first.

    Attributes
    ----------
    grid_ : ExpertResults
        With several values of C: losses, votes and weights of each model, and which one leads.
    averages_ : ExpertResults
        With ``average="best"``: losses and coefficients of the current and of the averaged weights.
    totals_ : Totals
        Rounds, mistakes, updates, losses, dual value and largest squared norm so far, of the current weights, not of
        the averaged ones.

    See Also
    --------
    onmargin.PassiveAggressiveRegressor : The estimator for matrices.
    PassiveAggressiveClassifier : Passive-aggressive classification.

    Notes
    -----
    [JMLR] sec. 5. The weights are bit for bit those of :class:`onmargin.PassiveAggressiveRegressor`, which documents
    the bounds, trained on the same examples as a CSR matrix or, for vectors, as a dense matrix. Features that were
    never learned have weight 0.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.PassiveAggressiveRegressor(C=0.1, epsilon=0.05)
    >>> for i in range(300):
    ...     x = {"size": i % 7 / 7, "town": "Ulm" if i % 2 else "Bonn"}
    ...     model = model.learn_one(x, 2 * x["size"] + (x["town"] == "Ulm"))
    >>> round(model.predict_one({"size": 0.5, "town": "Ulm"}), 1)
    2.0
    """
