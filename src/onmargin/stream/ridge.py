"""Online ridge regression on streams."""

from dataclasses import dataclass

from onmargin.models.described import described
from onmargin.models.ridge import OnlineRidgeOptions
from onmargin.stream._linear_regressor import LinearRegressor


@described
@dataclass(kw_only=True, eq=False, repr=False)
class OnlineRidgeRegressor(LinearRegressor, OnlineRidgeOptions):
    r"""Online ridge regression (recursive least squares) for streams, with a regret bound.

    Use it for records with few features, which may be correlated or have different scales. New features may appear, up
    to 1000 in total: an example with one more raises an error. The time per record grows with the square of their
    number; :class:`AROWRegressor` takes any number. For matrices, :class:`onmargin.OnlineRidgeRegressor` is faster and
    has `fit`.

    Attributes
    ----------
    totals_ : Totals
        Rounds, mistakes (targets not predicted exactly), updates and losses so far, of the predictions before each
        update.

    See Also
    --------
    onmargin.OnlineRidgeRegressor : The estimator for matrices.

    Notes
    -----
    [PD] sec. 3, [PLG], [AW]. The weights are bit for bit those of :class:`onmargin.OnlineRidgeRegressor`, which
    documents the bound, trained on the same examples as a CSR matrix. With ``forecast=True`` the prediction is the sum
    of `explain` and `intercept`, divided by :math:`1 + x^\top A x`.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.OnlineRidgeRegressor(alpha=0.1)
    >>> for i in range(100):
    ...     x = {"size": i % 7, "town": "Ulm" if i % 2 else "Bonn"}
    ...     model = model.learn_one(x, 2 * x["size"] + (x["town"] == "Ulm"))
    >>> round(model.predict_one({"size": 3.5, "town": "Ulm"}), 1)
    8.0
    """
