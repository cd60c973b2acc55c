"""Conversion of records and texts to features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import combinations_with_replacement, product
from typing import Any, ClassVar

from onmargin._core.text.names import Hashed, Index, Names
from onmargin._core.text.reader import Reader
from onmargin._core.text.words import Frequencies, Text
from onmargin._numbers import number_parser
from onmargin.models.options import check_options, option, optional
from onmargin.models.rules import FLAG, NONE, Character, Instance, Number, PowerOfTwo, Span, Strings, Word

# The options that concern texts.
TEXT_OPTIONS = ("lowercase", "symbols", "ngrams", "weighting", "normalize", "idf")
_MOST_KEPT = 10_000  # maximum number of column names that a converter remembers


class _Pairs:
    """The rule for pairs of names."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, tuple | list) and all(Strings().accepts(pair) and len(pair) == 2 for pair in value)

    def __str__(self) -> str:
        return "a tuple of pairs of names"


@dataclass(frozen=True, kw_only=True, repr=False)
class RecordFeatures:
    """Options for how a learner of ``onmargin.stream`` or ``onmargin.river`` converts examples to features.

    Use it to change the defaults: to hash the names of features, to use pairs of words from texts, or to keep weights
    in single precision.

    In a dict, a number is the value of a feature, and a string is a category: ``{"town": "Ulm"}`` is the feature
    "town=Ulm" with value 1. If the feature "size" was learned with numbers before, ``{"size": "3.5"}`` is the
    number 3.5, too; `numbers` declares such columns from the start. Without either, fractions and many different
    integers in strings are learned as categories, with a warning. A duration is its number of seconds; dates and times
    are left out, with a warning. None and NaN are missing values, equivalent to omitting the name. A missing
    feature contributes nothing to a score; for the standardizing experts of the Auto learners it counts as its mean.

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
    symbols : bool, default=True
        Whether symbols of a text, such as punctuation and emoji, are words, each by itself, and single letters and
        digits, too. If False, words have at least two letters, digits or underscores.
    ngrams : tuple of int, default=(1, 1)
        The minimum and maximum number of words in the word n-grams that are features of a text.
    weighting : {"log", "tf", "binary"}, default="log"
        Value of a feature of a text: "log" is one plus the logarithm of its count, "tf" is the count, and "binary" is
        1.
    normalize : bool, default=True
        Whether to scale the feature vectors of texts to length 1.
    idf : bool, default=False
        Whether to multiply the features of a text by the inverse document frequency 1 + ln((n + 1) / (d + 1)), where d
        of the n texts learned so far contain the feature.
    text : str or tuple of str, default=()
        Columns of a dict that contain text. The words of a text are the features "column=word", and examples that are
        texts themselves are refused. If a string, each example is the text in this column, and other columns are
        ignored.
    ignore : tuple of str, default=()
        Columns of a dict that are not features.
    only : tuple of str, default=()
        Columns of a dict that are features. If empty, all that are not in `ignore`. A name also covers "name:inner".
    cross : tuple of pairs of str, default=()
        Pairs of columns whose product is one more feature, called "first*second". If one of the columns is a category,
        each category has its own feature. A name may also be a namespace of Vowpal Wabbit's format: then all its
        features, "name^...", are multiplied, as by ``-q`` there.
    numbers : tuple of str, default=()
        Columns of a dict that contain numbers. A string in them is parsed, and is a missing value if it is not a
        number.
    mixed : tuple of str, default=()
        Columns of a dict that contain numbers and categories. A string in them is parsed, and is a category if it is
        not a number.
    decimal : str, default="."
        The decimal mark in strings of `numbers` and `mixed`.
    thousands : str or None, default=None
        The mark between groups of three digits in these strings. If None, digits are not grouped.
    missing : tuple of str, default=()
        Strings in a dict that denote a missing value, such as "" or "NA".
    n_jobs : int or None, default=None
        Maximum number of threads of `learn_many`; the result is the same, bit for bit. If None, one per core. Texts are
        split into words and looked up by several threads while the rounds run in order. Records are read by one
        thread while another runs the rounds of those before, if both take long enough. Threads are only started for
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

    # The values of parameters in model files that were written before there were such parameters.
    _values_before: ClassVar[dict[str, Any]] = {"symbols": False}

    n_features: int | None = option(None, NONE, PowerOfTwo())
    separator: str | None = option(None, NONE, Character())
    dtype: str = option("float64", Word("float64", "float32"))
    lowercase: bool = option(True, FLAG)
    symbols: bool = option(True, FLAG)
    ngrams: tuple[int, int] = option((1, 1), Span())
    weighting: str = option("log", Word("log", "tf", "binary"))
    normalize: bool = option(True, FLAG)
    idf: bool = option(False, FLAG)
    text: str | Sequence[str] = option((), Instance(str, "a string"), Strings())
    ignore: Sequence[str] = option((), Strings())
    only: Sequence[str] = option((), Strings())
    cross: Sequence[Sequence[str]] = option((), _Pairs())
    numbers: Sequence[str] = option((), Strings())
    mixed: Sequence[str] = option((), Strings())
    decimal: str = option(".", Character())
    thousands: str | None = option(None, NONE, Character())
    missing: Sequence[str] = option((), Strings())
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

    def reader(self, names: Index, frequencies: Frequencies | None = None, known: Index | None = None) -> Reader:
        """Return a reader of examples.

        Parameters
        ----------
        names : Index
            The index of feature names; new names are added to it.
        frequencies : Frequencies or None, default=None
            Document frequencies of the features, for `idf`.
        known : Index or None, default=None
            Names of the features learned with numbers, whose strings may be numbers. If None, those of `names`.

        Returns
        -------
        reader : Reader
            Converts examples to rows.
        """
        return Reader(
            names,
            grow=True,
            dtype=self.dtype,
            separator=self.separator,
            text=None if self.text and not isinstance(self.text, str) else self._text(),  # texts are in columns
            frequencies=frequencies,
            convert=self.converter(),
            parsers=self._parsers(),
            missing_values=frozenset(self.missing),
            known=known,
        )

    def _text(self) -> Text:
        shortest, longest = self.ngrams
        return Text(
            lowercase=bool(self.lowercase),
            symbols=bool(self.symbols),
            shortest=int(shortest),
            longest=int(longest),
            weighting=self.weighting,
            normalize=bool(self.normalize),
        )

    def _parsers(self) -> dict[str, Callable[[str], float | str | None]]:
        """Return the function for the strings of each column that has numbers."""
        if not self.numbers and not self.mixed:
            return {}
        parse = number_parser(self.decimal, self.thousands)

        def parse_mixed(cell: str) -> float | str:
            number = parse(cell)
            return cell if number is None else number

        return {**dict.fromkeys(self.mixed, parse_mixed), **dict.fromkeys(self.numbers, parse)}

    def converter(self) -> Callable[[Any], Any] | None:
        """Return the function that selects columns, splits texts into words and multiplies columns.

        Returns
        -------
        convert : callable or None
            Returns the dict or the text that is read in place of a dict. None if dicts are read unchanged.
        """
        return _Columns(self) if self.text or self.ignore or self.only or self.cross else None

    def read(self, x: Any, *, zeros: bool = False, known: Index | None = None) -> dict[str, float]:
        """Return the features of an example by name, before any hashing.

        Parameters
        ----------
        x : dict, list of str or str
            The example, as for `learn_one` of a learner.
        zeros : bool, default=False
            Whether to include features of value 0.
        known : Index or None, default=None
            The names of the features that a model has learned, as for `reader`.

        Returns
        -------
        values : dict
            The value of each feature. `weighting` and `normalize` are applied to texts, but not `idf`, which depends on
            the texts learned before.
        """
        names = Names()
        reader = self.reader(names, known=known)
        reader.zeros = zeros
        reader.read(x)
        values, places, _ = reader.arrays()
        return {names.names[place]: float(value) for place, value in zip(places, values, strict=True)}


@dataclass
class _Columns:
    """Converter of a dict to the dict or text that is read: kept columns, words of texts, and products of columns."""

    features: RecordFeatures
    kept: dict[str, bool] = field(default_factory=dict)  # whether each column seen lately is kept

    def __post_init__(self) -> None:
        options = {name: getattr(self.features, name) for name in TEXT_OPTIONS if name != "idf"}
        self.words = RecordFeatures(**options).read
        self.parsers = self.features._parsers()
        self.ignored = frozenset(self.features.ignore)
        self.selects = bool(self.features.text or self.features.only or self.features.cross)

    def _keeps(self, name: str) -> bool:
        if len(self.kept) >= _MOST_KEPT:
            self.kept.clear()
        given, only = {name, str(name).partition(":")[0]}, self.features.only
        kept = self.kept[name] = name not in self.ignored and (not only or not given.isdisjoint(only))
        return kept

    def __call__(self, row: Any) -> Any:
        features, kept = self.features, self.kept
        if isinstance(features.text, str):
            text = row.get(features.text, "")
            return "" if text in features.missing else str(text)
        if not self.selects and self.ignored.isdisjoint(row):
            return row
        x = {name: v for name, v in row.items() if (kept[name] if name in kept else self._keeps(name))}
        pairs = [self._product(x, *pair) for given in features.cross for pair in self._members(x, *given)]
        for name in features.text:
            if (text := x.pop(name, None)) is not None and text not in features.missing:
                x.update({f"{name}={word}": value for word, value in self.words(str(text)).items()})
        for pair in pairs:
            x.update(pair)
        return x

    def _members(self, x: Mapping[str, Any], first: str, second: str) -> Iterable[tuple[str, str]]:
        """Return the pairs of features to multiply: two columns, or all features of two namespaces."""
        left, right = (
            [name] if name in x else [one for one in x if one.startswith(f"{name}^")] for name in (first, second)
        )
        return combinations_with_replacement(left, 2) if first == second else product(left, right)

    def _product(self, x: Mapping[str, Any], first: str, second: str) -> dict[str, Any]:
        """Return the crossed feature of two columns: a product of numbers, category pair, or number by category."""
        a, b = self._value(x, first), self._value(x, second)
        name = f"{first}*{second}"
        if a is None or b is None:
            return {}
        if isinstance(a, str) and isinstance(b, str):
            return {name: f"{a}*{b}"}
        if isinstance(a, str) or isinstance(b, str):
            category, number = (a, b) if isinstance(a, str) else (b, a)
            return {f"{name}={category}": number}
        return {name: a * b}

    def _value(self, x: Mapping[str, Any], name: str) -> Any:
        value = x[name]
        if isinstance(value, str) and value in self.features.missing:
            return None
        return self.parsers[name](value) if isinstance(value, str) and name in self.parsers else value


DEFAULT_FEATURES = RecordFeatures()


def reading() -> Any:
    """Declare the option `features` of a learner.

    Returns
    -------
    field : Field
        An optional `RecordFeatures`.
    """
    return optional(None, Instance(RecordFeatures, "a RecordFeatures"))
