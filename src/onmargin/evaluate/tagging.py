"""How good tagged sequences are: label by label, sequence by sequence, and by the spans that labels mark."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

# The tags that a scheme's labels may start with. IOB1 and IOB2 share theirs; IOE and brackets belong to "iobes".
_TAGS = {"bio": frozenset("BIO"), "iobes": frozenset("BIOES[].")}
_SINGLE = frozenset("S[]")  # conlleval: "these chunks are assumed to have length 1"

Span = tuple[str, int, int]
Placed = tuple[tuple[int, ...], Any]  # where something is, and its kind


@dataclass(frozen=True, slots=True)
class Matches:
    """How many of a kind there are, how many were predicted, and how many of those are right.

    Attributes
    ----------
    true : int
        How many there are.
    found : int
        How many were predicted.
    correct : int
        How many predicted ones are there.
    """

    true: int
    found: int
    correct: int

    @property
    def precision(self) -> float:
        """Part of those predicted that are right; 0 if none was.

        Returns
        -------
        precision : float
            Between 0 and 1.
        """
        return self.correct / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Part of those there are that were predicted; 0 if there are none.

        Returns
        -------
        recall : float
            Between 0 and 1.
        """
        return self.correct / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 if both are.

        Returns
        -------
        f1 : float
            Between 0 and 1.
        """
        return 2 * self.correct / (self.true + self.found) if self.correct else 0.0


@dataclass(frozen=True, slots=True)
class TaggingReport:
    """Measures of tagged sequences; ``dict(report)`` for a plain mapping, ``print(report)`` for a table.

    Attributes
    ----------
    n_tokens : int
        Number of tokens.
    n_sequences : int
        Number of sequences.
    accuracy : float
        Part of the tokens whose label is right.
    sequence_accuracy : float
        Part of the sequences all of whose labels are right.
    spans : Matches or None
        Spans of all types together, for the precision, recall and F1 that papers report; None without a scheme.
    types : dict of str to Matches
        Spans by type; empty without a scheme.
    labels : dict of label to Matches
        Tokens by label.
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
        """Part of the spans predicted that are right.

        Returns
        -------
        precision : float
            Between 0 and 1.
        """
        return self._all_spans().precision

    @property
    def recall(self) -> float:
        """Part of the true spans that were predicted.

        Returns
        -------
        recall : float
            Between 0 and 1.
        """
        return self._all_spans().recall

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall of spans.

        Returns
        -------
        f1 : float
            Between 0 and 1.
        """
        return self._all_spans().f1

    def keys(self) -> Iterator[str]:
        """The names of the fields.

        Returns
        -------
        names : iterator of str
            In their order.
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
    """Measure how well sequences were tagged.

    Parameters
    ----------
    y_true : iterable of sequences of labels
        The right labels, one sequence of them a sequence of tokens.
    y_pred : iterable of sequences of labels
        Those predicted, such as the predictions of a sequence tagger.
    scheme : {"bio", "iobes"} or None, default="bio"
        What labels mark. "bio": spans, by the tags B, I and O (IOB1 or IOB2), as in "B-NP", "I-NP", "O". "iobes": also
        E and S, for the last token of a span and for spans of one token, and the brackets "[" and "]". None: nothing
        but themselves; no spans are counted, and labels need not be strings.

    Returns
    -------
    report : TaggingReport
        Token and sequence accuracy; true, found and correct spans with precision, recall and F1, in all and by type;
        the same of tokens by label.

    Raises
    ------
    ValueError
        If the two differ in length anywhere, or a label does not belong to the scheme.

    See Also
    --------
    spans : The spans that labels mark.

    Notes
    -----
    Spans are counted as the conlleval script of the CoNLL shared tasks counts them: one is correct if its type, its
    first and its last token are. By which rules labels mark spans, :func:`spans` says. The printed report has the
    script's layout.

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
    """The spans that the labels of one sequence mark.

    Parameters
    ----------
    labels : sequence of str
        A tag, and after a hyphen a type: "B-NP". "O" and "." are outside of spans; a label without a hyphen has the
        empty type.

    Returns
    -------
    spans : list of (type, start, stop)
        In order; the tokens of a span are those from start up to stop, which is not among them.

    Notes
    -----
    The rules are conlleval's, with E and S as its successors read them. A span starts at B and S; at I and E after O,
    E or S; and wherever the type differs from that of the token before. It ends after E and S; before B, S and O; and
    where the type changes. A bracket, "[" or "]", is a span of one token, like S. So IOB1, IOB2, IOE1, IOE2 and IOBES
    need not be told apart, and no sequence of labels is wrong.

    Examples
    --------
    >>> from onmargin.evaluate import spans
    >>> spans(["B-NP", "I-NP", "B-NP", "O", "I-VP"])
    [('NP', 0, 2), ('NP', 2, 3), ('VP', 4, 5)]
    """
    found: list[Span] = []
    start, last_tag, last_kind = -1, "O", ""  # start is -1 outside of spans
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
    """Whether a span that the last token belongs to ends before this one."""
    return changed or last_tag == "E" or last_tag in _SINGLE or tag in {"B", "O"} or tag in _SINGLE


def _starts(last_tag: str, tag: str, changed: bool) -> bool:
    """Whether a span starts with this token, which is not outside."""
    return changed or tag == "B" or tag in _SINGLE or (tag in {"I", "E"} and last_tag in {"O", "E", "S"})


def _tokens_of(rows: list[list[Any]]) -> set[Placed]:
    return {((i, j), label) for i, labels in enumerate(rows) for j, label in enumerate(labels)}


def _spans_of(rows: list[list[str]]) -> set[Placed]:
    return {((i, start, stop), kind) for i, labels in enumerate(rows) for kind, start, stop in spans(labels)}


def _count(true: set[Placed], found: set[Placed]) -> dict[Any, Matches]:
    """Matches by kind."""
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
