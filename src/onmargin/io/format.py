"""File formats: the object of a format recognizes, reads, describes and writes its files."""

import io
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import IO, Any, ClassVar, Literal, NamedTuple, Self

from onmargin._frames import list_names as list_names  # noqa: PLC0414
from onmargin._numbers import number_parser as number_parser  # noqa: PLC0414  # for the command line, as two others
from onmargin.io._reader import Reader, ReadError
from onmargin.io._reader import grouped as grouped  # noqa: PLC0414
from onmargin.io._source import Place, RecordError, opened
from onmargin.io._source import peek_pipe as peek_pipe  # noqa: PLC0414
from onmargin.io.csv_dialect import DELIMITERS, is_aligned

BLOCK = 1 << 16  # number of bytes at the beginning of a file to look at

Kind = Literal["rows", "records", "sequences"]
Options = Mapping[str, Any]


class FormatError(ValueError):
    """Error for a file that cannot be read as requested; the message names the remedy."""


class OptionError(ValueError):
    """Error for an option that does not go with a file or with other options."""


def is_pipe(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is the standard input, a pipe or a device, which can be read once."""
    if path == "-":
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def pipe_name(path: str) -> str:
    """Return the name of a pipe for error messages."""
    return "the standard input" if path == "-" else path


class _PipeHead(io.BytesIO):
    """The first bytes of a pipe. It is not seekable, since the directory of a zip archive is at its end."""

    def seekable(self) -> bool:
        return False


class Head:
    """The first bytes of a file, decompressed and converted to UTF-8; those of a pipe can still be read afterwards."""

    def __init__(self, path: str, encoding: str = "utf-8") -> None:
        self.path, self.encoding = path, encoding

    @cached_property
    def data(self) -> bytes:
        source: Any = self.path
        if is_pipe(self.path):
            source = _PipeHead(peek_pipe(self.path))
        data = b""
        try:
            with opened(source, Place(self.path, self.encoding)) as stream:
                while len(data) < BLOCK and (more := stream.read1(BLOCK)):  # type: ignore[attr-defined]
                    data += more
        except RecordError as error:
            # The bytes received through a pipe so far may end within compressed data.
            if not data:
                raise ReadError(str(error), self.path, 1) from error.__cause__
        return data

    @cached_property
    def lines(self) -> list[str]:
        """The complete lines, without line endings, and at least one line if there are any bytes."""
        if found := re.match(rb"((?:[^\0]\0){8})|(?:\0[^\0]){8}", self.data):
            encoding = "utf-16-le" if found[1] else "utf-16-be"
            raise FormatError(f"{self.path} looks like UTF-16 without a byte order mark: set --encoding {encoding}")
        lines = re.split(r"\r\n|\n|\r", self.data.decode("utf-8-sig", "replace"))
        if lines[-1] == "":
            lines.pop()
        return lines[:-1] if len(lines) > 1 and not self.data.endswith((b"\n", b"\r")) else lines

    @cached_property
    def filled(self) -> list[str]:
        """The lines that are not blank."""
        return [line for line in self.lines if line.strip()]

    @property
    def first(self) -> str:
        """The first line that is not a comment."""
        return next((line for line in self.filled if not line.startswith("#")), "")

    @cached_property
    def aligned(self) -> bool:
        """Whether the lines are a table whose columns are separated by whitespace."""
        return is_aligned(self.filled, categories=len(self.filled) == len(self.lines))

    @cached_property
    def is_table(self) -> bool:
        return self.aligned or any(mark in self.filled[0] for mark in DELIMITERS)

    @cached_property
    def has_sequences(self) -> bool:
        """Whether blank lines separate groups of lines; one at the end of a table does not."""
        blank = [k for k, line in enumerate(self.lines) if not line.strip()]
        return bool(blank) and len(self.filled) > 1 and (blank[0] < len(self.filled) or not self.is_table)

    def mostly(self, pattern: str) -> bool:
        """Return whether the lines match a pattern; a few may be damaged, but not the first."""
        matches = [re.match(pattern, line) is not None for line in self.filled]
        return matches[0] and sum(matches) >= 0.9 * len(matches)

    def complete_records(self) -> io.BytesIO:
        """Return the complete lines as a stream."""
        return io.BytesIO(("\n".join(self.lines) + "\n").encode("utf-8", "replace"))


_OF_MODEL_OR_FILE = {"features", "renamed", "selected"}  # parts of a recipe that are not stored with it


@dataclass(frozen=True)
class Recipe:
    """How the examples of files are read. A model file stores it, so that later files are read in the same way.

    Attributes
    ----------
    format : str
        Name of the format.
    label, weight : str or None
        Columns of a table, or the column of the labels of tokens.
    labels : sequence of str
        Columns of a table, each of which says whether an example has the label of that name.
    label_separator : str or None
        Separator of several labels in one column.
    encoding : str
        Encoding of the text.
    dialect : dict
        Options of the reader of the format, such as the delimiter of a table.
    table : sequence of str
        Columns of a table that were used in training.
    features : dict
        Options of the features that are made of columns: those of `RecordFeatures`, or of `WindowFeatures` for tokens.
        The model stores them.
    renamed : dict
        Text columns of this file that have other names in the model.
    selected : bool
        Whether the features leave out columns of this file that the model does not.
    """

    format: str
    label: str | None = None
    weight: str | None = None
    labels: Sequence[str] = ()
    label_separator: str | None = None
    encoding: str = "utf-8"
    dialect: Options = field(default_factory=dict)
    table: Sequence[str] = ()
    features: Options = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    selected: bool = False

    @classmethod
    def from_notes(cls, notes: Options, features: Options) -> Self:
        """Return the recipe stored in a model file, for the features of its model."""
        return cls(**notes, features=features)

    def to_notes(self) -> dict[str, Any]:
        """Return the recipe as JSON, without what the model stores."""
        stored = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in _OF_MODEL_OR_FILE}
        return _as_lists(stored) | {"dialect": _as_lists(self.dialect)}

    @property
    def kind(self) -> Kind:
        """The kind of the records."""
        return self._format.kind

    @property
    def is_table(self) -> bool:
        """Whether records are rows of a table."""
        return self._format.is_table(self)

    @property
    def _format(self) -> "Format":
        from onmargin.io.formats import FORMATS

        return FORMATS[self.format]

    @property
    def target_columns(self) -> list[str]:
        """The columns of a table that are not features."""
        return [*self.labels, *(name for name in (self.label, self.weight) if name is not None)]

    @property
    def text(self) -> Sequence[str]:
        """The columns with texts."""
        text = self.features.get("text", ())
        return (text,) if isinstance(text, str) else text

    def with_dialect(self, **options: Any) -> Self:
        return replace(self, dialect={**self.dialect, **options})

    def with_features(self, **options: Any) -> Self:
        return replace(self, features={**self.features, **options})


def _as_lists(values: Options) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


class FileProfile(NamedTuple):
    """How to read a file, and what else to say of it.

    These are the ignored columns with the reasons, whether there are texts, a remark on the label, and other remarks.
    """

    recipe: Recipe
    left_out: Mapping[str, str] = {}
    has_texts: bool = False
    remark: str = ""
    notes: Sequence[str] = ()


Write = Callable[[Any, Any, float], None]


class UnwritableError(Exception):
    """Error for an example that a format cannot represent."""


class Format:
    """A file format. Subclasses answer what differs; the defaults are those of a format without columns."""

    name: ClassVar[str]
    kind: ClassVar[Kind] = "records"
    # The options that have an effect on files of this format.
    options: ClassVar[frozenset[str]] = frozenset({"encoding"})
    # Whether examples are texts, whether files can be read as a stream, and whether a record that cannot be read can be
    # skipped.
    is_text: ClassVar[bool] = False
    is_stream: ClassVar[bool] = True
    can_skip: ClassVar[bool] = True
    # Whether the number of labels and features is that of a file, so that `--names` and `--labels` keep the names.
    numbers_labels: ClassVar[bool] = False
    numbers_features: ClassVar[bool] = False

    def matches(self, head: Head) -> bool:
        """Return whether the first bytes of a file look like this format."""
        return False

    def read(self, source: Any, recipe: Recipe, *, labeled: bool = True) -> Reader[Any]:
        """Return a reader of the records of a source; without `labeled`, the source has no labels."""
        raise NotImplementedError

    def records(self, source: Any, recipe: Recipe, *, labeled: bool = True) -> Reader[Any]:
        """Return the same reader, for the encoding of the recipe."""
        reader = self.read(source, recipe, labeled=labeled)
        if self.is_stream:
            reader.encoding = recipe.encoding
        return reader

    def profile(self, path: str, recipe: Recipe, given: Options) -> FileProfile:
        """Return how to read a file of training data; options that are not given are detected."""
        if self.is_text:  # a dict is read as JSON lines are, by its key "text"
            recipe = recipe.with_features(text="text")
        return FileProfile(recipe, has_texts=self.is_text)

    def adapt(self, path: str, recipe: Recipe, trained: Recipe, given: Options) -> Recipe:
        """Return how to read another file for a model whose training data were read by the recipe `trained`."""
        return recipe

    def columns(self, path: str, recipe: Recipe) -> list[str]:
        """Return the names of the columns of a file; empty if there are none."""
        return []

    def is_table(self, recipe: Recipe) -> bool:
        """Return whether records are rows of a table."""
        return False

    def missing_columns(self, path: str, recipe: Recipe) -> list[str]:
        """Return the columns used in training that a file lacks."""
        return []

    def has_labels(self, path: str, recipe: Recipe) -> bool:
        """Return whether a file has labels, from its first line or columns; most formats make it explicit."""
        return True

    def to_predict(self, recipe: Recipe, *, labeled: bool) -> tuple[Recipe, bool]:
        """Return how to read a file to predict, and whether labels are read; columns of targets may be empty."""
        return recipe, labeled

    def verbatim(self, path: str, recipe: Recipe) -> Recipe:
        """Return how to read the cells of a file as they are written; a model parses those that it has learned from."""
        return recipe

    def raw_rows(self, path: str, recipe: Recipe) -> Iterator[Mapping[str, str]] | None:
        """Return the rows with their original text, or None if rows have no other text than their values."""
        return None

    def passes_columns(self, path: str, recipe: Recipe) -> Sequence[str]:
        """Return the columns that predictions are written next to; empty if only the rows tell them."""
        return ()

    def describe(self, recipe: Recipe) -> list[str]:
        """Return what was detected, in words."""
        return []

    def writer(self, out: IO[str], names: IO[str] | None, labels: "LabelNumbers") -> Write:
        """Return a function that writes an example; `names` and `labels` are files for names replaced by numbers."""
        raise NotImplementedError


class LabelNumbers:
    """Labels as numbers: numeric labels unchanged, others as line numbers in a file of names."""

    def __init__(self, out: IO[str] | None) -> None:
        self._out = out
        self._numbers: dict[Any, int] = {}

    def text(self, y: Any) -> str:
        if isinstance(y, list):
            return ",".join(map(self.text, y))
        if self._out is not None:
            if y not in self._numbers:
                self._numbers[y] = len(self._numbers) + 1
                self._out.write(f"{as_integer(y)}\n")
            return str(self._numbers[y])
        if isinstance(y, bool) or not isinstance(y, int | float):
            raise UnwritableError(
                f"labels are numbers in this format; got {y!r:.60}. Number them with --labels FILE, which keeps names"
            )
        return repr(as_integer(y))


def as_integer(label: Any) -> Any:
    """Convert an integral number to int: files often have 1.0 or 1 as a class label."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def named_values(x: Any) -> dict[str, float]:
    """Return features by name: a category is the feature "name=category", and a name alone has value 1."""
    if isinstance(x, str):
        raise UnwritableError("a text has no features until a model makes some: write it as jsonl or text")
    if isinstance(x, list):
        return dict.fromkeys(x, 1.0)
    return {f"{name}={v}" if isinstance(v, str) else name: 1.0 if isinstance(v, str) else v for name, v in x.items()}
