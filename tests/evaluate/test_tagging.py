"""Reports of tagged sequences: the rules of the conlleval script, by hand and against a reimplementation of it."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin.evaluate import Matches, spans, tagging_report

KINDS = ["NP", "VP"]


def labels_of(tags, kinds=KINDS):
    return st.sampled_from(["O", *(f"{tag}-{kind}" for tag in tags for kind in kinds)])


def sequences(tags):
    return st.lists(labels_of(tags), max_size=8)


def pairs(tags):
    """Draw two taggings of the same few sequences."""
    pair = st.lists(st.tuples(labels_of(tags), labels_of(tags)), max_size=8)
    return st.lists(pair, max_size=4).map(
        lambda rows: ([[a for a, _ in row] for row in rows], [[b for _, b in row] for row in rows])
    )


# The script walks through both taggings at once without building spans: it counts their starts, and keeps a flag for
# whether the two have agreed since they started together.
ENDS = {("B", "B"), ("B", "S"), ("B", "O"), ("I", "B"), ("I", "S"), ("I", "O")}
STARTS = {("E", "E"), ("E", "I"), ("S", "E"), ("S", "I"), ("O", "E"), ("O", "I")}


def split(label):
    tag, hyphen, kind = label.partition("-")
    return (tag, kind) if hyphen else (label, "")


def end_of_chunk(last, this):
    return last[0] in {"E", "S", "[", "]"} or (last[0], this[0]) in ENDS or (last[0] not in "O." and last[1] != this[1])


def start_of_chunk(last, this):
    return (
        this[0] in {"B", "S", "[", "]"} or (last[0], this[0]) in STARTS or (this[0] not in "O." and last[1] != this[1])
    )


def conlleval(y_true, y_pred):
    true, found, correct = Counter(), Counter(), Counter()
    agree, last_true, last_pred = False, ("O", ""), ("O", "")
    for labels_true, labels_pred in zip(y_true, y_pred, strict=True):
        for a, b in zip([*map(split, labels_true), ("O", "")], [*map(split, labels_pred), ("O", "")], strict=True):
            end_true, end_pred = end_of_chunk(last_true, a), end_of_chunk(last_pred, b)
            if agree and end_true and end_pred and last_true[1] == last_pred[1]:
                agree = False
                correct[last_true[1]] += 1
            elif agree and (end_true != end_pred or a[1] != b[1]):
                agree = False
            start_true, start_pred = start_of_chunk(last_true, a), start_of_chunk(last_pred, b)
            agree = agree or (start_true and start_pred and a[1] == b[1])
            true[a[1]] += start_true
            found[b[1]] += start_pred
            last_true, last_pred = a, b
    return {kind: Matches(true[kind], found[kind], correct[kind]) for kind in sorted((+true) | (+found))}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("", []),
        ("O O", []),
        ("B-NP I-NP O", [("NP", 0, 2)]),
        ("B-NP B-NP", [("NP", 0, 1), ("NP", 1, 2)]),
        ("O I-NP I-NP", [("NP", 1, 3)]),  # IOB1: I after O starts
        ("I-NP B-NP I-NP", [("NP", 0, 1), ("NP", 1, 3)]),  # IOB1: B separates neighbors of one type
        ("I-NP I-VP", [("NP", 0, 1), ("VP", 1, 2)]),  # the type changes
        ("B-NP I-VP I-VP", [("NP", 0, 1), ("VP", 1, 3)]),
        ("I-NP E-NP I-NP E-NP", [("NP", 0, 2), ("NP", 2, 4)]),  # IOE2
        ("I-NP I-NP O E-NP E-NP", [("NP", 0, 2), ("NP", 3, 4), ("NP", 4, 5)]),  # IOE1
        ("S-NP B-NP E-NP S-VP", [("NP", 0, 1), ("NP", 1, 3), ("VP", 3, 4)]),
        ("S-NP I-NP O E-NP", [("NP", 0, 1), ("NP", 1, 2), ("NP", 3, 4)]),
        ("B-NP E-NP B-NP", [("NP", 0, 2), ("NP", 2, 3)]),
        ("[-NP . ]-NP ]-NP", [("NP", 0, 1), ("NP", 2, 3), ("NP", 3, 4)]),
        ("B I O I", [("", 0, 2), ("", 3, 4)]),  # without types
        ("B-NP-SBJ I-NP-SBJ", [("NP-SBJ", 0, 2)]),  # the first hyphen separates tag and type
    ],
)
def test_spans_by_hand(labels, expected):
    assert spans(labels.split()) == expected


def test_report_by_hand():
    report = tagging_report([["B-NP", "I-NP", "O"], ["B-VP"], ["O"]], [["B-NP", "B-NP", "O"], ["B-VP"], ["B-PP"]])
    assert report.spans == Matches(true=2, found=4, correct=1)
    assert report.types == {"NP": Matches(1, 2, 0), "PP": Matches(0, 1, 0), "VP": Matches(1, 1, 1)}
    assert report.labels["B-NP"] == Matches(1, 2, 1)
    assert report.labels["I-NP"] == Matches(1, 0, 0)
    assert (report.n_tokens, report.n_sequences) == (5, 3)
    assert report.accuracy == 3 / 5
    assert report.sequence_accuracy == 1 / 3
    assert (report.precision, report.recall, report.f1) == (1 / 4, 1 / 2, 1 / 3)
    assert dict(report)["types"] is report.types


def test_printed_report_has_the_layout_of_the_script():
    report = tagging_report([["B-NP", "I-NP", "O", "B-VP"], ["B-NP", "O"]], [["B-NP"] * 4, ["B-NP", "O"]])
    assert str(report).splitlines() == [
        "processed 6 tokens with 3 phrases; found: 5 phrases; correct: 1.",
        "accuracy:  50.00%; precision:  20.00%; recall:  33.33%; FB1:  25.00",
        "               NP: precision:  20.00%; recall:  50.00%; FB1:  28.57  5",
        "               VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  0",
    ]


def test_without_a_scheme():
    report = tagging_report([np.array([1, 2]), [3]], [[1, 1], (3,)], scheme=None)
    assert report.labels == {1: Matches(1, 2, 1), 2: Matches(1, 0, 0), 3: Matches(1, 1, 1)}
    assert str(report).startswith("processed 3 tokens in 2 sequences.\naccuracy:  66.67%; sequences:  50.00%\n")
    assert report.spans is None
    with pytest.raises(AttributeError, match="scheme='bio'"):
        _ = report.f1


@pytest.mark.parametrize("scheme", ["bio", "iobes", None])
def test_nothing_to_report(scheme):
    report = tagging_report([[], []], [[], []], scheme)
    assert (report.accuracy, report.sequence_accuracy, report.n_sequences) == (0, 1, 2)
    assert tagging_report([], [], scheme).sequence_accuracy == 0


@pytest.mark.parametrize("tags", ["BI", "IE", "BIES", "[]."])
def test_counts_are_those_of_the_script(tags):
    @given(pairs(tags))
    def check(pair):
        assert tagging_report(*pair, scheme="iobes").types == conlleval(*pair)

    check()


@given(pairs("BIES"))
def test_counts_are_consistent(pair):
    report = tagging_report(*pair, scheme="iobes")
    for matches in (*report.types.values(), *report.labels.values(), report.spans):
        assert 0 <= matches.correct <= min(matches.true, matches.found)
        assert 0 <= matches.f1 <= 1
        mean = (matches.precision + matches.recall) / 2
        assert not mean or matches.f1 == pytest.approx(matches.precision * matches.recall / mean)
    assert report.spans.true == sum(len(spans(labels)) for labels in pair[0])
    assert (
        sum(m.true for m in report.labels.values()) == sum(m.found for m in report.labels.values()) == report.n_tokens
    )
    assert report.accuracy == (
        sum(m.correct for m in report.labels.values()) / report.n_tokens if report.n_tokens else 0
    )


@given(st.lists(sequences("BIES"), max_size=4))
def test_perfect_predictions(y):
    report = tagging_report(y, [list(labels) for labels in y], "iobes")
    assert all(matches.f1 == 1 for matches in (*report.types.values(), *report.labels.values()))
    assert report.f1 == bool(report.types)
    assert report.sequence_accuracy == bool(y)


def as_bio(marked, n):
    labels = ["O"] * n
    for kind, start, stop in marked:
        labels[start:stop] = [f"B-{kind}"] + [f"I-{kind}"] * (stop - start - 1)
    return labels


def as_iobes(marked, n):
    labels = as_bio(marked, n)
    for kind, start, stop in marked:
        labels[stop - 1] = f"S-{kind}" if stop - start == 1 else f"E-{kind}"
    return labels


@given(sequences("BIES"))
def test_schemes_mark_the_same_spans(labels):
    marked = spans(labels)
    assert spans(as_bio(marked, len(labels))) == spans(as_iobes(marked, len(labels))) == marked
    covered = {j for _, start, stop in marked for j in range(start, stop)}
    assert covered == {j for j, label in enumerate(labels) if label != "O"}


@pytest.mark.parametrize(
    ("y_true", "y_pred", "scheme", "message"),
    [
        ([["O"], ["O"]], [["O"]], "bio", "as many sequences; got 2 and 1"),
        ([["O"], ["O", "O"]], [["O"], ["O"]], None, "sequence 1 has 2 labels in y_true and 1 in y_pred"),
        ([["O"]], [[0]], "bio", r"y_pred\[0\]\[0\] is 0"),
        ([["O", "E-NP"]], [["O", "O"]], "bio", r"y_true\[0\]\[1\] is 'E-NP'"),
        ([["NN"]], [["NN"]], "iobes", "scheme=None"),
        (["O", "B-NP"], ["O", "B-NP"], "bio", r"y_true\[0\] is 'O'"),
        ([1], [1], None, r"y_true\[0\] is 1"),
        ([["O"]], [["O"]], "bilou", "'bio', 'iobes' or None; got 'bilou'"),
    ],
)
def test_errors(y_true, y_pred, scheme, message):
    with pytest.raises(ValueError, match=message):
        tagging_report(y_true, y_pred, scheme)
