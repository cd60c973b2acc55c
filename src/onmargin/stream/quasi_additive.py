"""Quasi-additive classification of streams in any geometry, with a fixed, an aggressive or an optimal step."""

from dataclasses import dataclass

from onmargin.models.described import described
from onmargin.models.quasi_additive import QuasiAdditiveOptions
from onmargin.stream._linear_classifier import LinearClassifier


@described
@dataclass(kw_only=True, eq=False, repr=False)
class QuasiAdditiveClassifier(LinearClassifier, QuasiAdditiveOptions):
    """Quasi-additive classifier for streams: the weights are a link function of a weighted sum of the examples.

    Use the entropic or a p-norm geometry where few of very many features matter. They depend on the number of features:
    the entropic geometry requires hashed names or vectors, and ``geometry="pnorm"`` requires one of these or `p`. Where
    most features matter a little, plain weights are better, and :class:`onmargin.stream.AROWClassifier` is better
    still. For matrices, :class:`onmargin.QuasiAdditiveClassifier` is faster and has `fit`.

    See Also
    --------
    onmargin.QuasiAdditiveClassifier : The estimator for matrices.

    Notes
    -----
    [PD]. The weights are bit for bit those of :class:`onmargin.QuasiAdditiveClassifier` trained on the same examples as
    a CSR matrix, row by row; for a p-norm with new names they are the same up to rounding. A new label does not change
    the margins between the others or, on the simplex, their order.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.QuasiAdditiveClassifier()
    >>> for text, label in [("cheap pills", "spam"), ("lunch at noon", "ham"), ("cheap flights", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    """
