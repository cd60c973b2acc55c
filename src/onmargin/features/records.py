"""Conversion of records and texts to features."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from onmargin._core.text.names import Hashed, Index, Names
from onmargin._core.text.reader import Reader
from onmargin._core.text.words import Frequencies, Text
from onmargin.models.options import check_options, option, optional
from onmargin.models.rules import FLAG, NONE, Character, Instance, Number, PowerOfTwo, Span, Word


@dataclass(frozen=True, kw_only=True, repr=False)
class RecordFeatures:
    """Options for how a learner of ``onmargin.stream`` or ``onmargin.river`` converts examples to features.

    Use it to change the defaults: to hash the names of features, to use pairs of words from texts, or to keep weights
    in single precision.

    In a dict, a number is the value of a feature, and a string is a category: ``{"town": "Ulm"}`` is the feature
    "town=Ulm" with value 1. None and NaN are missing values, equivalent to omitting the name. A missing feature
    contributes nothing to a score; for the standardizing experts of the Auto learners it counts as its mean.

    Parameters
    ----------
    n_features : int or None, default=None
        If None, names of features are stored, and the weights grow with them. If a power of two, such as ``2**18``,
        names are hashed to this many indices, and memory stays constant; names with the same index share a weight.
    separator : str or None, default=None
        The character between name and value in a list of names, such as ":" for ``["length:3"]``. If None, the whole
        string is the name.
    dtype : {"float64", "float32"}, default="float64"
        Type of the weights.
    lowercase : bool, default=True
        Whether to convert texts to lower case.
    ngrams : tuple of int, default=(1, 1)
        The minimum and maximum number of words in the word n-grams that are features of a text.
    weighting : {"tf", "binary", "log"}, default="tf"
        Value of a feature of a text: "tf" is its count, "binary" is 1, and "log" is one plus the logarithm of its
        count.
    normalize : bool, default=True
        Whether to scale the feature vectors of texts to length 1.
    idf : bool, default=False
        Whether to multiply the features of a text by the inverse document frequency 1 + ln((n + 1) / (d + 1)), where d
        of the n texts learned so far contain the feature.
    n_jobs : int or None, default=None
        Maximum number of threads of `learn_many`; the result is the same, bit for bit. If None, one per core. Texts are
        split into words and looked up by several threads while the rounds are played in order. Records are read by one
        thread while another plays the rounds of those before, if both take long enough. Threads are only started for
        lists of several hundred texts or a few thousand records. Use 1 if other processes need the cores.

    See Also
    --------
    onmargin.stream.PassiveAggressiveClassifier : A learner that accepts it as ``features=``.

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
    n_jobs: int | None = option(None, NONE, Number(1, whole=True))

    def __post_init__(self) -> None:
        self._check_parameters()

    def _check_parameters(self) -> None:
        check_options(self)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Not used, present for compatibility with scikit-learn.

        Returns
        -------
        parameters : dict
            The parameters of the constructor.
        """
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __repr__(self) -> str:
        given = (f"{one.name}={value!r}" for one in fields(self) if (value := getattr(self, one.name)) != one.default)
        return f"{type(self).__name__}({', '.join(given)})"

    def index(self) -> Index:
        """Return an empty index of feature names, for a new learner.

        Returns
        -------
        names : Index
            An index that stores names, or one that hashes them.
        """
        return Names() if self.n_features is None else Hashed(int(self.n_features).bit_length() - 1)

    def reader(self, names: Index, frequencies: Frequencies | None = None) -> Reader:
        """Return a reader of examples.

        Parameters
        ----------
        names : Index
            The index of feature names; new names are added to it.
        frequencies : Frequencies or None, default=None
            Document frequencies of the features, for `idf`.

        Returns
        -------
        reader : Reader
            Converts examples to rows.
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
            The value of each feature. `weighting` and `normalize` are applied to texts, but not `idf`, which depends on
            the texts learned before.
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
