"""Verdicts follow from tables: each claim can be upheld, and each can be refuted."""

from math import isnan, log10

import pytest

from onmargin import lab
from onmargin.lab import mail
from onmargin.lab.errata import ERRATA
from onmargin.lab.table import Table
from tests.lab.small import result

JUDGES = mail.better_than_max, mail.better_than_optimal
GOOD = {lab.Verdict.REPRODUCED, lab.Verdict.CORRECTED}

# Tables that support a claim, where those of a small run do not.
IDEAL = {
    "With little noise, PA, PA-I and PA-II perform alike.": lambda row: {"error": 0.1},
    "The more noise, the smaller the best C of PA-II.": lambda row: {
        "error": abs(log10(row["C"]) + 1 + 20 * row["flipped"])
    },
    "PA makes slightly fewer mistakes than MIRA.": lambda row: {"mistakes": 10 + (row["learner"] == "MIRA")},
    "SimProj.A and SimOpt.A do better with larger blocks.": lambda row: {"imperfect": 100 - row["size"]},
    "Mistakes of SimProj grow linearly with the noise.": lambda row: {"imperfect": row["contaminated"]},
    "Mistakes of MaxPA.A grow super-linearly with the noise.": lambda row: {"imperfect": row["contaminated"] ** 2},
    "In blocks of 20 every simultaneous projections variant does better than any MaxPA.": lambda row: {
        "imperfect": 1 + row["learner"].startswith("MaxPA")
    },
    "SimProj always does better than MaxPA.": lambda row: {"imperfect": 1 + row["learner"].startswith("MaxPA")},
    "SimOpt does worse than SimProj under noise.": lambda row: {"imperfect": 10 + (row["learner"] == "SimOpt.A")},
    "SimProj makes no more mistakes than SimPerc and ConProj, for every user.": lambda row: {
        "error": 2 - (row["learner"] == "SimProj")
    },
    "SimProj and SimOpt are consistently better than MaxPA.": lambda row: {
        "error": 2 - row["learner"].startswith("Sim")
    },
    "Sopopo makes no more mistakes than MaxPA with a prototype per folder, for every user.": lambda row: {
        "error": 2 - (row["learner"] == "Sopopo")
    },
    "Between SimPerc and ConProj there is no winner.": lambda row: {
        "error": abs((row["learner"] == "SimPerc") - (row["user"] == "lokay-m"))
    },
    "SimProj costs about as much as MaxPA.": lambda row: {"seconds": 3 - 2 * (row["learner"] == "SimProj")},
    "Multiplicative learners are on par or slightly worse.": lambda row: {"error": 1 + row["learner"].endswith(".M")},
    "Multiplicative learners are less sensitive to C.": lambda row: {"spread": 2 - row["learner"].endswith(".M")},
    "SimProj beats the optimal solver for 3 of 7 users.": lambda row: {"error": 2 - (row["learner"] == "SimProj")},
    "SimProj is better than Sopopo for 4 of 7 users.": lambda row: {"error": 2 - (row["learner"] == "SimProj")},
    "MaxPA.A does much worse than any other learner.": lambda row: {"imperfect": 1 + (row["learner"] == "MaxPA.A")},
    "SimProj and SimOpt are on par with the optimal solver.": lambda row: {"error": 10.0},
    "Multiplicative learners prefer larger values of C.": lambda row: {"C": 1.0 + row["learner"].endswith(".M")},
}


def changed(table, change):
    return Table({**row, **change(row)} for row in table)


def tampered(table, measures):
    """Return tables with measures mirrored, all equal, in the wrong order, increasing, and far beyond any bound.

    In one more table C is mirrored, on a logarithmic scale.
    """
    sums = {name: max(table[name]) + min(table[name]) for name in measures if not any(map(isnan, table[name]))}
    yield changed(table, lambda row: {name: total - row[name] for name, total in sums.items()})
    yield changed(table, lambda row: dict.fromkeys(measures, 1.0))
    yield Table(
        {**row, **{name: other[name] for name in measures}}
        for row, other in zip(table, reversed(table.rows), strict=True)
    )
    yield Table({**row, **dict.fromkeys(measures, float(place))} for place, row in enumerate(table))
    yield changed(table, lambda row: {measures[0]: row[measures[0]] + 1e9})
    yield changed(table, lambda row: {"C": 1 / row["C"]} if "C" in row else {})


@pytest.mark.parametrize("name", lab.EXPERIMENTS)
def test_claims_can_be_upheld_and_refuted(name, data):
    table, measures = result(name, data).table, lab.EXPERIMENTS[name].measures
    for claim in lab.EXPERIMENTS[name].claims:
        ideal = changed(table, IDEAL.get(claim.statement, lambda row: {}))
        found = claim.judge(ideal)
        assert found.verdict in GOOD, (claim.statement, found.numbers)
        verdicts = {claim.judge(other).verdict for other in tampered(ideal, measures)}
        assert lab.Verdict.NOT_REPRODUCED in verdicts, claim.statement


@pytest.mark.parametrize("name", ERRATA)
@pytest.mark.parametrize(
    ("printed", "ours", "verdict"),
    [(2, 2, "not reproduced"), (2, 1, "corrected"), (1, 1, "reproduced"), (1, 2, "reproduced")],
)
def test_an_erratum_is_corrected_if_only_our_reading_holds(name, printed, ours, verdict, data):
    claim = lab.EXPERIMENTS["errata"].claims[list(ERRATA).index(name)]
    suffered = {"as printed": printed, "as corrected": ours}
    table = changed(result("errata", data).table, lambda row: {"suffered": suffered[row["reading"]], "allowed": 1.0})
    assert claim.judge(table).verdict == verdict


@pytest.mark.parametrize("name", ERRATA)
def test_errata_fail_as_printed_and_hold_as_corrected(name, data):
    claim = lab.EXPERIMENTS["errata"].claims[list(ERRATA).index(name)]
    assert claim.judge(result("errata", data).table).verdict == "corrected"


def test_the_mail_is_compared_with_that_in_print(data):
    table = result("mail", data).table
    same = changed(table, lambda row: {"error": row["published"]})
    assert mail.near(same).startswith("the same users are hard to predict")
    assert mail.near(changed(table, lambda row: {"error": -row["published"]})).startswith("other users")
    assert result("mail", data).check in result("mail", data).markdown()
    assert result("errata", data).check == ""


def test_statements_about_printed_tables_are_checked(data, monkeypatch):
    """Tables that agree with the text are reproduced."""
    table = changed(result("mail", data).table, lambda row: {"error": 2 - row["learner"].startswith("Sim")})
    better, optimal = (c for c in lab.EXPERIMENTS["mail"].claims if c.judge in JUDGES)
    assert [better.judge(table).verdict, optimal.judge(table).verdict] == ["corrected", "corrected"]
    # SimProj and SimOpt are better than MaxPA for all, SimProj is better than OptSolv for three.
    users = dict.fromkeys(list(mail.PUBLISHED)[:3], (3, 3, 3, 1, 1, 2)) | dict.fromkeys(
        list(mail.PUBLISHED)[3:], (3, 3, 3, 1, 1, 1)
    )
    monkeypatch.setattr(mail, "PUBLISHED", users)
    assert [better.judge(table).verdict, optimal.judge(table).verdict] == ["reproduced", "reproduced"]
