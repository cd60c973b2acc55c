"""How records and texts become features."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from onmargin._core.text.names import Hashed, Index, Names
from onmargin._core.text.reader import Reader
from onmargin._core.text.words import Frequencies, Text
from onmargin.models.options import check_options, option, optional
from onmargin.models.rules import FLAG, NONE, Character, Instance, PowerOfTwo, Span, Word


@dataclass(frozen=True, kw_only=True, repr=False)
class RecordFeatures:
    """How a learner of ``onmargin.stream`` or ``onmargin.river`` reads examples.

    Use it where the defaults do not suit: to hash the names of features, to take pairs of words from texts, or to keep
    weights in single precision.

    In a dict a number is the value of a feature, and a string is a category: ``{"town": "Ulm"}`` is the feature
    "town=Ulm" of value 1. None and NaN are missing values, as if the name were not there. A missing feature contributes
    nothing to a score; for the standardizing experts of the Auto learners it counts as its mean.

    Parameters
    ----------
    n_features : int or None, default=None
        None: names of features are kept, and weights grow with them. A power of two, such as ``2**18``: names are
        hashed to so many places, and memory stays what it is; names that share a place share a weight.
    separator : str or None, default=None
        The character between name and value in a list of names, such as ":" for ``["length:3"]``. None: names stand for
        themselves.
    dtype : {"float64", "float32"}, default="float64"
        Type of the weights.
    lowercase : bool, default=True
        Whether texts are taken in lower case.
    ngrams : tuple of int, default=(1, 1)
        The shortest and the longest run of words of a text that is a feature.
    weighting : {"tf", "binary", "log"}, default="tf"
        What a feature of a text counts: how often it occurs, 1, or one plus the logarithm of how often.
    normalize : bool, default=True
        Whether texts have length 1.
    idf : bool, default=False
        Whether a feature of a text counts by one plus the logarithm of n / d, of the d among the n texts learned so far
        that have it, each plus one.

    See Also
    --------
    onmargin.stream.PassiveAggressiveClassifier : A learner that takes it as ``features=``.

    Examples
    --------
    >>> from onmargin import stream
    >>> from onmargin.features import RecordFeatures
    >>> model = stream.PassiveAggressiveClassifier(features=RecordFeatures(n_features=2**18, ngrams=(1, 2)))
    >>> for text, label in [("not good", "bad"), ("good", "fine"), ("not bad", "fine"), ("bad", "bad")] * 5:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("it is not good")
    'bad'
    """

    n_features: int | None = option(None, NONE, PowerOfTwo())
    separator: str | None = option(None, NONE, Character())
    dtype: str = option("float64", Word("float64", "float32"))
    lowercase: bool = option(True, FLAG)
    ngrams: tuple[int, int] = option((1, 1), Span())
    weighting: str = option("tf", Word("tf", "binary", "log"))
    normalize: bool = option(True, FLAG)
    idf: bool = option(False, FLAG)

    def __post_init__(self) -> None:
        self._check_parameters()

    def _check_parameters(self) -> None:
        check_options(self)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Not used, present for scikit-learn's sake.

        Returns
        -------
        parameters : dict
            What the object was made with.
        """
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __repr__(self) -> str:
        given = (f"{one.name}={value!r}" for one in fields(self) if (value := getattr(self, one.name)) != one.default)
        return f"{type(self).__name__}({', '.join(given)})"

    def index(self) -> Index:
        """Return a table of names that has none, for a learner that begins.

        Returns
        -------
        names : Index
            Names that are kept, or places of a table.
        """
        return Names() if self.n_features is None else Hashed(int(self.n_features).bit_length() - 1)

    def reader(self, names: Index, frequencies: Frequencies | None = None) -> Reader:
        """Return what reads examples.

        Parameters
        ----------
        names : Index
            The places of names; new ones are added.
        frequencies : Frequencies or None, default=None
            How many texts have each feature, for `idf`.

        Returns
        -------
        reader : Reader
            Makes rows of examples.
        """
        shortest, longest = self.ngrams
        text = Text(
            lowercase=bool(self.lowercase),
            shortest=int(shortest),
            longest=int(longest),
            weighting=self.weighting,
            normalize=bool(self.normalize),
        )
        return Reader(names, grow=True, dtype=self.dtype, separator=self.separator, text=text, frequencies=frequencies)

    def read(self, x: Any, *, zeros: bool = False) -> dict[str, float]:
        """Return the features of an example by name, before any hashing.

        Parameters
        ----------
        x : dict, list of str or str
            The example, as for `learn_one` of a learner.
        zeros : bool, default=False
            Whether to include features of value 0.

        Returns
        -------
        values : dict
            The value of each feature. Words of a text count as `weighting` and `normalize` say, and not by `idf`, which
            depends on the texts learned before.
        """
        names = Names()
        reader = self.reader(names)
        reader.zeros = zeros
        reader.read(x)
        values, places, _ = reader.arrays()
        return {names.names[place]: float(value) for place, value in zip(places, values, strict=True)}


AS_THEY_COME = RecordFeatures()


def reading() -> Any:
    """Declare the option `features` of a learner.

    Returns
    -------
    field : Field
        An optional `RecordFeatures`.
    """
    return optional(None, Instance(RecordFeatures, "a RecordFeatures"))
