"""Settings for reading files: the reader, and the columns of labels, weights and texts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, NamedTuple

from onmargin import io
from onmargin.apps.columns import RowFeatures
from onmargin.io import Reader
from onmargin.io.csv_look import MISSING

_BLOCK = 1 << 22  # bytes of svmlight text to parse at once

Kind = Literal["rows", "records", "sequences"]

TABLES = ("csv", "arrow", "arff", "json", "jsonl")
# The formats that each command-line option applies to. For other formats it would have no effect.
OPTIONS: dict[str, tuple[str, ...]] = {
    "label": (*TABLES, "mbox", "conll", "conllu"),
    "labels": TABLES,
    "label_separator": TABLES,
    "weight": TABLES,
    "text": TABLES,
    "ignore": TABLES,
    "only": TABLES,
    "cross": TABLES,
    "delimiter": ("csv",),
    "header": ("csv",),
    "decimal": ("csv",),
    "thousands": ("csv",),
    "zero_based": ("svmlight",),
    "template": ("conll", "conllu"),
    "encoding": ("csv", "arff", "json", "jsonl", "vw", "text", "folder", "conll", "conllu", "crfsuite"),
}
# Parameters of a learner that concern texts.
TEXT_PARAMETERS = ("lowercase", "ngrams", "weighting", "normalize", "idf")


@dataclass(frozen=True)
class Settings:
    """Settings for reading files. A model file stores them, so that later files are read in the same way.

    `label` and `weight` are columns of a table. If there are `labels`, each is a column that says whether an example
    has the label of that name; a `label_separator` separates several labels in one column. `texts`, `ignored`, `only`
    and `crossed` control the other columns (`RowFeatures`), `text_options` controls how texts are read, and `table` has
    the columns used in training. `flat` is for JSON: whether features are next to the label. `columns` is the number of
    columns of a token besides its label, and `templates` are the templates of its features; if empty, the default ones.
    `multilabel` means that rows of numbers have any number of labels, and `dtype` is the type of such rows. If `hash`
    is not 0, their indices are hashed to this many bits.
    """

    format: str
    label: str | None = None
    labels: Sequence[str] = ()
    label_separator: str | None = None
    weight: str | None = None
    texts: Sequence[str] = ()
    ignored: Sequence[str] = ()
    only: Sequence[str] = ()
    crossed: Sequence[Sequence[str]] = ()
    bare: str | None = None
    text_names: Mapping[str, str] = field(default_factory=dict)  # text columns that have other names in the model
    text_options: Mapping[str, Any] = field(default_factory=dict)
    table: Sequence[str] = ()
    flat: bool = False
    encoding: str = "utf-8"
    delimiter: str | None = None
    header: bool | Sequence[str] = True  # or the names of the columns of a file without header
    quote: str | None = '"'
    decimal: str = "."
    thousands: str | None = None
    row_names: bool = False
    strip: bool = False
    zero_based: bool = False
    columns: int = 0
    templates: Sequence[str] = ()
    multilabel: bool = False
    dtype: str = "float32"
    hash: int = 0

    @classmethod
    def from_notes(cls, notes: Mapping[str, Any]) -> "Settings":
        """Return the settings stored in a model file."""
        return cls(**notes)

    def to_notes(self) -> dict[str, Any]:
        notes = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        options = {name: list(v) if isinstance(v, tuple) else v for name, v in self.text_options.items()}
        return notes | {"crossed": [list(pair) for pair in self.crossed], "text_options": options}

    @property
    def kind(self) -> Kind:
        return FORMATS[self.format].kind

    @property
    def is_table(self) -> bool:
        return self.format in TABLES and (self.flat or self.format not in {"json", "jsonl"})

    @property
    def separated(self) -> list[str]:
        """Return the column that has several labels, if there is one."""
        return [] if self.label is None or self.label_separator is None else [self.label]

    def read(self, source: Any, *, labelled: bool = True) -> Reader[Any]:
        """Return a reader of the records of a source; without `labelled`, the source has no labels.

        Columns with sets of labels are read with the others, by `label_sets`.
        """
        reader = FORMATS[self.format].read(source, self, labelled and self.label_separator is None)
        if self.format != "folder":
            reader.encoding = self.encoding
        return reader

    def without_targets(self) -> "Settings":
        """Return the settings for a table to predict, whose columns of labels and weights may be empty."""
        columns = [*self.labels, *(name for name in (self.label, self.weight) if name is not None)]
        return replace(self, label=None, weight=None, label_separator=None, labels=columns)

    def row_features(self) -> RowFeatures | None:
        """Return the converter of rows to examples, or None if rows are used unchanged."""
        of_labels = [*self.labels, *self.separated]
        if not (self.texts or self.ignored or self.only or self.crossed or self.bare or of_labels):
            return None
        from onmargin.features.records import RecordFeatures

        options = dict(self.text_options)
        if "ngrams" in options:
            options["ngrams"] = tuple(options["ngrams"])
        return RowFeatures(
            frozenset({*self.ignored, *of_labels}),
            frozenset(self.only),
            {column: self.text_names.get(column, column) for column in self.texts},
            tuple(self.crossed),
            self.bare,
            RecordFeatures(**options).read,
            nested=self.flat or self.format == "arrow",
        )


class Format(NamedTuple):
    """A file format: the kind of its records, and its reader."""

    kind: Kind
    read: Callable[[Any, Settings, bool], Reader[Any]]


def _read_svmlight(source: Any, settings: Settings, labelled: bool) -> Reader[Any]:
    # Rows without labels are read as multilabel rows, which may have any number of labels.
    from onmargin.io.svmlight import read_rows

    several = settings.multilabel or not labelled
    return read_rows(
        source,
        n_features=2**settings.hash if settings.hash else None,
        hashed=settings.hash > 0,
        zero_based=settings.zero_based,
        multilabel=several,
        dtype=settings.dtype,
        block=_BLOCK,
    )


def _read_csv(source: Any, settings: Settings, labelled: bool) -> Reader[Any]:
    return io.read_csv(
        source,
        _place(settings.label, settings) if labelled else None,
        weight=_place(settings.weight, settings),
        delimiter=settings.delimiter or ",",
        header=settings.header,
        text=[*settings.texts, *settings.separated],
        quote=settings.quote,
        decimal=settings.decimal,
        thousands=settings.thousands,
        missing=MISSING,
        row_names=settings.row_names,
        strip=settings.strip,
    )


def _place(column: str | None, settings: Settings) -> str | int | None:
    """Return a column name, or its index if the table has no header."""
    return int(column) if column is not None and not settings.header and column.isdecimal() else column


def _read_json(name: str) -> Callable[[Any, Settings, bool], Reader[Any]]:
    def read(source: Any, settings: Settings, labelled: bool) -> Reader[Any]:
        reader: Reader[Any] = getattr(io, name)(
            source, label=settings.label, weight=settings.weight, flat=settings.flat, ignore=settings.ignored
        )
        return reader

    return read


def _read_conll(source: Any, settings: Settings, labelled: bool) -> Reader[Any]:
    return io.read_conll(source, label=int(settings.label or -1) if labelled else None)


FORMATS: dict[str, Format] = {
    "svmlight": Format("rows", _read_svmlight),
    "csv": Format("records", _read_csv),
    "jsonl": Format("records", _read_json("read_jsonl")),
    "json": Format("records", _read_json("read_json")),
    "arff": Format(
        "records",
        lambda source, settings, labelled: io.read_arff(
            source, settings.label if labelled else None, weight=settings.weight
        ),
    ),
    "vw": Format("records", lambda source, settings, labelled: io.read_vw(source)),
    "text": Format("records", lambda source, settings, labelled: io.read_text(source, label=labelled)),
    "arrow": Format(
        "records",
        lambda source, settings, labelled: io.read_arrow(
            source, settings.label if labelled else None, weight=settings.weight, ignore=settings.ignored
        ),
    ),
    "folder": Format(
        "records", lambda source, settings, labelled: io.read_folder(source, encoding=settings.encoding, random_state=0)
    ),
    "mbox": Format("records", lambda source, settings, labelled: io.read_mbox(source, label=settings.label)),
    "conll": Format("sequences", _read_conll),
    "conllu": Format(
        "sequences",
        lambda source, settings, labelled: io.read_conllu(source, label=settings.label if labelled else None),
    ),
    "crfsuite": Format("sequences", lambda source, settings, labelled: io.read_crfsuite(source)),
}
