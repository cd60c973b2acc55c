"""Measures of sequence tagging: by token, by sequence and by span."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

# The tags of the labels of each scheme. "bio" includes IOB1 and IOB2; "iobes" includes IOE and brackets.
_TAGS = {"bio": frozenset("BIO"), "iobes": frozenset("BIOES[].")}
_SINGLE = frozenset("S[]")  # conlleval: "these chunks are assumed to have length 1"

Span = tuple[str, int, int]
Placed = tuple[tuple[int, ...], Any]  # position and kind of a token or span


@dataclass(frozen=True, slots=True)
class Matches:
    """Counts of true, predicted and correctly predicted items of one kind.

    Attributes
    ----------
    true : int
        Number of true items.
    found : int
        Number of predicted items.
    correct : int
        Number of predicted items that are correct.
    """

    true: int
    found: int
    correct: int

    @property
    def precision(self) -> float:
        """Fraction of the predicted items that are correct; 0 if none was predicted.

        Returns
        -------
        precision : float
            Between 0 and 1.
        """
        return self.correct / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Fraction of the true items that were predicted; 0 if there are none.

        Returns
        -------
        recall : float
            Between 0 and 1.
        """
        return self.correct / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 if both are 0.

        Returns
        -------
        f1 : float
            Between 0 and 1.
        """
        return 2 * self.correct / (self.true + self.found) if self.correct else 0.0


@dataclass(frozen=True, slots=True)
class TaggingReport:
    """Measures of sequence tagging; ``dict(report)`` is a plain mapping, and ``print(report)`` prints a table.

    Attributes
    ----------
    n_tokens : int
        Number of tokens.
    n_sequences : int
        Number of sequences.
    accuracy : float
        Fraction of the tokens with the correct label.
    sequence_accuracy : float
        Fraction of the sequences with only correct labels.
    spans : Matches or None
        Counts of spans of all types, for the precision, recall and F1 that papers report. None without a scheme.
    types : dict of str to Matches
        Counts of spans by type; empty without a scheme.
    labels : dict of label to Matches
        Counts of tokens by label.
    """

    n_tokens: int
    n_sequences: int
    accuracy: float
    sequence_accuracy: float
    spans: Matches | None
    types: dict[str, Matches]
    labels: dict[Any, Matches]

    @property
    def precision(self) -> float:
        """Fraction of the predicted spans that are correct.

        Returns
        -------
        precision : float
            Between 0 and 1.
        """
        return self._all_spans().precision

    @property
    def recall(self) -> float:
        """Fraction of the true spans that were predicted.

        Returns
        -------
        recall : float
            Between 0 and 1.
        """
        return self._all_spans().recall

    @property
    def f1(self) -> float:
        """Harmonic mean of the precision and recall of spans.

        Returns
        -------
        f1 : float
            Between 0 and 1.
        """
        return self._all_spans().f1

    def keys(self) -> Iterator[str]:
        """Return the names of the fields.

        Returns
        -------
        names : iterator of str
            The names, in order.
        """
        return (field.name for field in fields(self))

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __str__(self) -> str:
        accuracy = f"accuracy: {100 * self.accuracy:6.2f}%; "
        if self.spans is None:
            head = f"processed {self.n_tokens} tokens in {self.n_sequences} sequences."
            return "\n".join([head, f"{accuracy}sequences: {100 * self.sequence_accuracy:6.2f}%", *_rows(self.labels)])
        head = f"processed {self.n_tokens} tokens with {self.spans.true} phrases; "
        head += f"found: {self.spans.found} phrases; correct: {self.spans.correct}."
        return "\n".join([head, accuracy + _measures(self.spans), *_rows(self.types)])

    def _all_spans(self) -> Matches:
        if self.spans is None:
            raise AttributeError("no spans were counted: call tagging_report with scheme='bio' or 'iobes'")
        return self.spans


def tagging_report(
    y_true: Iterable[Sequence[Any]], y_pred: Iterable[Sequence[Any]], scheme: str | None = "bio"
) -> TaggingReport:
    """Evaluate sequence tagging by token, by sequence and by span.

    Parameters
    ----------
    y_true : iterable of sequences of labels
        The true labels, one sequence of labels per sequence of tokens.
    y_pred : iterable of sequences of labels
        The predicted labels, such as the predictions of a sequence tagger.
    scheme : {"bio", "iobes"} or None, default="bio"
        How labels mark spans. "bio" uses the tags B, I and O (IOB1 or IOB2), as in "B-NP", "I-NP", "O". "iobes" also
        has E and S, for the last token of a span and for spans of one token, and the brackets "[" and "]". If None, no
        spans are counted, and labels need not be strings.

    Returns
    -------
    report : TaggingReport
        Token and sequence accuracy; true, found and correct spans with precision, recall and F1, in total and by type;
        and the same counts of tokens by label.

    Raises
    ------
    ValueError
        If the sequences differ in number or length, or a label does not belong to the scheme.

    See Also
    --------
    spans : Return the spans marked by the labels of a sequence.

    Notes
    -----
    Spans are counted as in the conlleval script of the CoNLL shared tasks: a span is correct if its type, first token
    and last token are correct. :func:`spans` has the rules by which labels mark spans. The printed report has the
    layout of the script.

    Examples
    --------
    >>> from onmargin.evaluate import tagging_report
    >>> y_true = [["B-NP", "I-NP", "O", "B-VP"], ["B-NP", "O"]]
    >>> y_pred = [["B-NP", "I-NP", "O", "B-NP"], ["B-NP", "O"]]
    >>> report = tagging_report(y_true, y_pred)
    >>> report.f1, report.sequence_accuracy
    (0.666..., 0.5)
    >>> print(report)
    processed 6 tokens with 3 phrases; found: 3 phrases; correct: 2.
    accuracy:  83.33%; precision:  66.67%; recall:  66.67%; FB1:  66.67
                   NP: precision:  66.67%; recall: 100.00%; FB1:  80.00  3
                   VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  0
    """
    if scheme is not None and scheme not in _TAGS:
        raise ValueError(f"scheme must be 'bio', 'iobes' or None; got {scheme!r}")
    true, found = _sequences(y_true, "y_true"), _sequences(y_pred, "y_pred")
    if len(true) != len(found):
        raise ValueError(f"y_true and y_pred must have as many sequences; got {len(true)} and {len(found)}")
    for i, (a, b) in enumerate(zip(true, found, strict=True)):
        if len(a) != len(b):
            raise ValueError(f"sequence {i} has {len(a)} labels in y_true and {len(b)} in y_pred")
    if scheme is not None:
        _check_labels(true, "y_true", scheme)
        _check_labels(found, "y_pred", scheme)
    pairs = list(zip(true, found, strict=True))
    n_tokens = sum(map(len, true))
    by_label = _count(*map(_tokens_of, (true, found)))
    by_type = {} if scheme is None else _count(*map(_spans_of, (true, found)))
    return TaggingReport(
        n_tokens=n_tokens,
        n_sequences=len(pairs),
        accuracy=sum(m.correct for m in by_label.values()) / n_tokens if n_tokens else 0.0,
        sequence_accuracy=sum(a == b for a, b in pairs) / len(pairs) if pairs else 0.0,
        spans=None if scheme is None else _total(by_type.values()),
        types=by_type,
        labels=by_label,
    )


def spans(labels: Sequence[str]) -> list[Span]:
    """Return the spans marked by the labels of one sequence.

    Parameters
    ----------
    labels : sequence of str
        Labels, each a tag followed by a hyphen and a type, such as "B-NP". "O" and "." are outside spans. A label
        without a hyphen has the empty type.

    Returns
    -------
    spans : list of (type, start, stop)
        The spans in order. A span has the tokens from start up to, but not including, stop.

    Notes
    -----
    The rules are those of conlleval, with E and S as in its successors. A span starts at B and S; at I and E after O, E
    or S; and wherever the type differs from that of the previous token. It ends after E and S; before B, S and O; and
    where the type changes. A bracket, "[" or "]", is a span of one token, like S. So IOB1, IOB2, IOE1, IOE2 and IOBES
    need not be distinguished, and every sequence of labels is valid.

    Examples
    --------
    >>> from onmargin.evaluate import spans
    >>> spans(["B-NP", "I-NP", "B-NP", "O", "I-VP"])
    [('NP', 0, 2), ('NP', 2, 3), ('VP', 4, 5)]
    """
    found: list[Span] = []
    start, last_tag, last_kind = -1, "O", ""  # start is -1 outside spans
    for j, label in enumerate(labels):
        tag, _, kind = label.partition("-")
        tag = "O" if tag == "." else tag
        if start >= 0 and _ends(last_tag, tag, last_kind != kind):
            found.append((last_kind, start, j))
            start = -1
        if tag != "O" and _starts(last_tag, tag, last_kind != kind):
            start = j
        last_tag, last_kind = tag, kind
    if start >= 0:
        found.append((last_kind, start, len(labels)))
    return found


def _ends(last_tag: str, tag: str, changed: bool) -> bool:
    """Return whether the span of the last token ends before this token."""
    return changed or last_tag == "E" or last_tag in _SINGLE or tag in {"B", "O"} or tag in _SINGLE


def _starts(last_tag: str, tag: str, changed: bool) -> bool:
    """Return whether a span starts with this token, which is not outside spans."""
    return changed or tag == "B" or tag in _SINGLE or (tag in {"I", "E"} and last_tag in {"O", "E", "S"})


def _tokens_of(rows: list[list[Any]]) -> set[Placed]:
    return {((i, j), label) for i, labels in enumerate(rows) for j, label in enumerate(labels)}


def _spans_of(rows: list[list[str]]) -> set[Placed]:
    return {((i, start, stop), kind) for i, labels in enumerate(rows) for kind, start, stop in spans(labels)}


def _count(true: set[Placed], found: set[Placed]) -> dict[Any, Matches]:
    """Return the matches by kind."""
    counts = [Counter(kind for _, kind in things) for things in (true, found, true & found)]
    known = sorted(counts[0] | counts[1], key=str)
    return {kind: Matches(*(count[kind] for count in counts)) for kind in known}


def _total(parts: Collection[Matches]) -> Matches:
    return Matches(sum(m.true for m in parts), sum(m.found for m in parts), sum(m.correct for m in parts))


def _measures(m: Matches) -> str:
    return f"precision: {100 * m.precision:6.2f}%; recall: {100 * m.recall:6.2f}%; FB1: {100 * m.f1:6.2f}"


def _rows(kinds: dict[Any, Matches]) -> list[str]:
    return [f"{kind!s:>17}: {_measures(m)}  {m.found}" for kind, m in kinds.items()]


def _sequences(y: Iterable[Sequence[Any]], name: str) -> list[list[Any]]:
    rows = []
    for i, labels in enumerate(y):
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise ValueError(
                f"{name} must hold sequences of labels; {name}[{i}] is {labels!r}: put a single sequence into a list"
            )
        rows.append(list(labels))
    return rows


def _check_labels(rows: list[list[Any]], name: str, scheme: str) -> None:
    for i, labels in enumerate(rows):
        for j, label in enumerate(labels):
            if not isinstance(label, str) or label.partition("-")[0] not in _TAGS[scheme]:
                raise ValueError(
                    f"labels of scheme {scheme!r} must be strings that start with one of the tags "
                    f"{' '.join(sorted(_TAGS[scheme]))}, as 'B-NP' does; {name}[{i}][{j}] is {label!r}. "
                    "scheme=None takes any labels."
                )
