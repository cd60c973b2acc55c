"""[SIMPROJ] Tables 1 to 3 and Fig. 10: classification of mail into folders, compared with the published numbers.

The paper does not specify whether folders compete before their first message. Both interpretations are run: in "mail",
all folders of a user compete from the first message on; in "mail-seen", only folders that already have a message, and
the folder of the current message.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.feature_extraction.text import CountVectorizer

from onmargin import ClassFeatureClassifier, PassiveAggressiveClassifier
from onmargin.features import ClassTermFeatures
from onmargin.lab import data
from onmargin.lab.experiment import Claim, Experiment, Finding, Settings, Wide, corrected, reproduced
from onmargin.lab.table import Row, Table, correlation

SHARED = {
    "MaxPA": "max",
    "SimPerc": "simperc",
    "ConProj": "conproj",
    "SimProj": "simproj",
    "SimOpt": "simopt",
    "OptSolv": "exact",
}
SIMPLEX = {"MaxPA.M": "max", "SimPerc.M": "simperc", "ConProj.M": "conproj", "SimProj.M": "simproj"}
PROTOTYPES = {"MaxPA prototypes": "max", "Sopopo": "exact"}
LEARNERS = (*SHARED, *SIMPLEX, *PROTOTYPES)

# Tables 1 to 3, % of mistakes: columns 1 to 6 are Table 1, 7 to 10 Table 2, and the last two Table 3.
PUBLISHED = {
    "beck-s": (48.2, 48.4, 48.8, 43.4, 46.9, 45.5, 45.0, 43.7, 43.6, 45.8, 56.0, 53.2),
    "farmer-d": (25.8, 28.8, 28.4, 25.0, 24.2, 27.5, 33.1, 35.1, 34.8, 33.0, 24.0, 23.0),
    "kaminski-v": (48.0, 47.2, 47.6, 46.0, 44.4, 44.0, 50.0, 49.8, 49.8, 49.8, 45.9, 43.4),
    "kitchen-l": (42.5, 45.1, 43.8, 41.4, 42.4, 40.3, 46.8, 47.3, 47.2, 46.5, 42.2, 40.9),
    "lokay-m": (20.8, 24.1, 23.9, 18.6, 20.6, 20.3, 21.8, 22.9, 22.9, 21.4, 20.0, 19.0),
    "sanders-r": (18.6, 20.9, 22.2, 17.7, 19.3, 18.2, 17.8, 17.9, 17.9, 19.3, 27.9, 26.9),
    "williams-w3": (2.8, 3.5, 3.4, 2.7, 2.8, 2.6, 2.6, 2.7, 2.6, 2.7, 4.1, 4.1),
}


class Recorded:
    """Features that are computed once and shared by several learners; X holds message numbers."""

    def __init__(self, kind: str, terms: Any, folders: NDArray[np.str_], compete: str) -> None:
        features = ClassTermFeatures(kind=kind)
        classes = np.unique(folders) if compete == "all" else None
        self._rows, self._ends, self._codes = features.learn_transform(terms, folders, classes=classes)
        self.classes_ = features.classes_

    def __sklearn_clone__(self) -> "Recorded":
        return self

    def learn_transform(self, X: NDArray[np.intp], y: Any, classes: Any = None, live: Any = None) -> tuple[Any, ...]:
        """Return the rows of consecutive messages."""
        first, last = int(X[0, 0]), int(X[-1, 0]) + 1
        start, stop = self._ends[first], self._ends[last]
        return self._rows[start:stop], self._ends[first : last + 1] - start, self._codes[first:last]


Model = ClassFeatureClassifier | PassiveAggressiveClassifier


def repeat(settings: Settings, random: Generator) -> Iterator[Row]:
    """Run every learner on the messages of each user, in order of arrival; nothing is random."""
    for user in settings["users"]:
        published = dict(zip(LEARNERS, PUBLISHED[user], strict=True))
        texts, folders = data.messages(Path(settings["data"]), user)
        terms = CountVectorizer(binary=True, dtype=np.float64).fit_transform(texts)
        runs: dict[str, list[Row]] = {name: [] for name in LEARNERS}
        for name, chosen, model, X in learners(terms, folders, settings):
            began = process_time()
            totals = model.partial_fit(X, folders, np.unique(folders)).totals_
            seconds, error = process_time() - began, 100 * totals.mistakes / totals.rounds
            runs[name].append({**chosen, "error": error, "seconds": seconds})
        for name, rows in runs.items():
            # Sensitivity to C: the error of the worst minus that of the best C, each with its best margin.
            of_C = [min(row["error"] for row in rows if row["C"] == C) for C in settings["C"]]
            spread = max(of_C) - min(of_C)
            for row in rows:
                yield {"user": user, "learner": name, "published": published[name], **row, "spread": spread}


def learners(
    terms: Any, folders: NDArray[np.str_], settings: Settings
) -> Iterator[tuple[str, dict[str, float], Model, Any]]:
    """Yield learners with their C and margin, and the data they learn from."""
    numbers, grid, compete = np.arange(len(folders))[:, None], settings["C"], settings["compete"]
    made = Recorded("additive", terms, folders, compete)
    for (name, update), C in product(SHARED.items(), grid):
        yield name, {"C": C, "margin": 1.0}, ClassFeatureClassifier(phi=made, update=update, C=C), numbers
    made = Recorded("multiplicative", terms, folders, compete)
    for (name, update), C in product(SIMPLEX.items(), grid):
        # Predictions of SimPerc do not depend on the margin.
        for margin in settings["margins"][: 1 if update == "simperc" else None]:
            model = ClassFeatureClassifier(phi=made, update=update, C=C, geometry="entropic", margin=margin)
            yield name, {"C": C, "margin": margin}, model, numbers
    # The prototype of a folder without messages is zero, and it competes in both interpretations.
    for (name, update), C in product(PROTOTYPES.items(), grid):
        own = PassiveAggressiveClassifier(update=update, C=C, fit_intercept=False)
        yield name, {"C": C, "margin": 1.0}, own, terms


Errors = Callable[[str, str], float]


def ours(table: Table) -> tuple[list[str], Errors]:
    """Return the users, and a function that gives the error of a learner on a user."""
    return table.distinct("user"), lambda user, name: float(table.one("error", user=user, learner=name))


def printed() -> tuple[list[str], Errors]:
    """Return the same from the paper's tables."""
    return list(PUBLISHED), lambda user, name: PUBLISHED[user][LEARNERS.index(name)]


def beaten(users: list[str], error: Errors, winner: str, loser: str) -> list[str]:
    """Return the users for whom the winner has the lower error."""
    return [user for user in users if error(user, winner) < error(user, loser)]


def never_beaten(winner: str, losers: tuple[str, ...], table: Table) -> Finding:
    """No other learner has a lower error for any user; the paper's table has one tie."""
    users, error = ours(table)
    counts = {loser: len(beaten(users, error, loser, winner)) for loser in losers}
    told = ", ".join(f"{loser} for {n}" for loser, n in counts.items())
    mine = ", ".join(f"{user} {error(user, winner):.1f}" for user in users)
    return reproduced(
        max(counts.values()) == 0,
        f"of {len(users)} users {winner} has a higher error than {told}; {winner} in %: {mine}",
    )


def better_than_max(table: Table) -> Finding:
    """The paper's text claims this for both; its own table contradicts it for SimOpt."""
    users, error = printed()
    without = [user for user in users for name in ("SimProj", "SimOpt") if error(user, name) >= error(user, "MaxPA")]
    here, mine = ours(table)
    counts = {name: len(beaten(here, mine, name, "MaxPA")) for name in ("SimProj", "SimOpt")}
    numbers = (
        f"the paper's table has SimOpt no better for {', '.join(without)}; here SimProj is better than MaxPA for "
        f"{counts['SimProj']} of {len(here)} users, SimOpt for {counts['SimOpt']}"
    )
    return corrected(not without and min(counts.values()) == len(here), counts["SimProj"] == len(here), numbers)


def better_than_optimal(table: Table) -> Finding:
    """The paper's text claims this for 3 of 7 users, its table shows 4; here it must hold for 3 in 7 at least."""
    users, error = printed()
    theirs = beaten(users, error, "SimProj", "OptSolv")
    here, mine = ours(table)
    found = beaten(here, mine, "SimProj", "OptSolv")
    numbers = (
        f"in the paper's table it does for {len(theirs)} ({', '.join(theirs)}); here it does for {len(found)} of "
        f"{len(here)} ({', '.join(found) or 'none'})"
    )
    enough = 7 * len(found) >= 3 * len(here)
    return corrected(len(theirs) == 3 and enough, enough, numbers)


def better_than_sopopo(table: Table) -> Finding:
    """The paper's table shows this for 4 of 7 users, as its text claims; here it must hold for 4 in 7 at least."""
    users, error = printed()
    theirs = beaten(users, error, "SimProj", "Sopopo")
    here, mine = ours(table)
    found = beaten(here, mine, "SimProj", "Sopopo")
    pairs = ", ".join(f"{user} {mine(user, 'SimProj'):.1f} and {mine(user, 'Sopopo'):.1f}" for user in here)
    return reproduced(
        len(theirs) == 4 and 7 * len(found) >= 4 * len(here),
        f"in print for {len(theirs)} of {len(users)} users, here for {len(found)} of {len(here)}; SimProj and Sopopo "
        f"in %: {pairs}",
    )


def no_winner(table: Table) -> Finding:
    """SimPerc and ConProj each have the lower error for some user."""
    users, error = ours(table)
    counts = {
        winner: len(beaten(users, error, winner, loser))
        for winner, loser in (("SimPerc", "ConProj"), ("ConProj", "SimPerc"))
    }
    pairs = ", ".join(f"{user} {error(user, 'SimPerc'):.1f} and {error(user, 'ConProj'):.1f}" for user in users)
    numbers = "; ".join(f"{name} has the lower error for {n} of {len(users)} users" for name, n in counts.items())
    return reproduced(min(counts.values()) > 0, f"{numbers}; SimPerc and ConProj in %: {pairs}")


def on_par(table: Table) -> Finding:
    """The mean over users and learners of error.M - error.A is from -2 to 5 points; in the paper it is 1.3."""

    def difference(users: list[str], error: Errors) -> float:
        pairs = product(users, SIMPLEX)
        return float(np.mean([error(user, name) - error(user, name.removesuffix(".M")) for user, name in pairs]))

    here, print_ = difference(*ours(table)), difference(*printed())
    numbers = f"on average over users and learners {here:+.1f} points here, {print_:+.1f} in print"
    return reproduced(-2 <= here <= 5, numbers)


def near_optimal(table: Table) -> Finding:
    """On average over users, SimProj and SimOpt are within a twentieth of the error of the optimal solver."""

    def excess(users: list[str], error: Errors, name: str) -> float:
        return float(np.mean([error(user, name) / error(user, "OptSolv") - 1 for user in users]))

    here, print_ = (
        {name: excess(*source, name) for name in ("SimProj", "SimOpt")} for source in (ours(table), printed())
    )
    told = ", ".join(f"{name} {here[name]:+.1%} here and {print_[name]:+.1%} in print" for name in here)
    return reproduced(max(map(abs, here.values())) <= 0.05, f"errors relative to OptSolv, on average: {told}")


def prefer_large_c(table: Table) -> Finding:
    """The best C of each multiplicative learner is above that of the additive one, as geometric means over users."""
    names = [name for name in SIMPLEX if name != "SimPerc.M"]  # SimPerc does not depend on C
    best = {
        one: float(np.exp(np.mean(np.log(table.where(learner=one)["C"]))))
        for name in names
        for one in (name.removesuffix(".M"), name)
    }
    holds = all(best[name] > best[name.removesuffix(".M")] for name in names)
    told = ", ".join(f"{name} {C:.2g}" for name, C in best.items())
    return reproduced(holds, f"best C, as geometric means over users: {told}")


def less_sensitive(table: Table) -> Finding:
    """Compare the error range between the best and the worst C, averaged over users; SimPerc does not depend on C."""
    names = [name for name in SIMPLEX if name != "SimPerc.M"]
    spread = {
        name: float(np.mean(table.where(learner=name)["spread"]))
        for kind in ([name.removesuffix(".M") for name in names], names)
        for name in kind
    }
    holds = all(spread[name] < spread[name.removesuffix(".M")] for name in names)
    told = ", ".join(f"{name} {points:.1f}" for name, points in spread.items())
    return reproduced(holds, f"points between the best and the worst C, on average over users: {told}")


def same_cost(table: Table) -> Finding:
    """CPU seconds with the best C, summed over users: SimProj takes at most twice as long as MaxPA."""
    seconds = {name: float(np.sum(table.where(learner=name)["seconds"])) for name in SHARED}
    told = ", ".join(f"{name} {taken:.2f}" for name, taken in seconds.items())
    return reproduced(seconds["SimProj"] <= 2 * seconds["MaxPA"], f"CPU seconds for the mail of all users: {told}")


def near(table: Table) -> str:
    """Compare the data with the paper's: every learner should find the same users hard, here and in print."""
    agreed = []
    for name in LEARNERS:
        rows = table.where(learner=name)
        agreed.append(correlation(rankdata(rows["error"]), rankdata(rows["published"])))
    differences = [row["error"] - row["published"] for row in table]
    return (
        f"{'the same' if min(agreed) >= 0.8 else 'other'} users are hard to predict as in print: the rank correlation "
        f"of the users' errors is {min(agreed):.2f} to {max(agreed):.2f} (at least 0.8 counts as the same); errors "
        f"here are {min(differences):+.1f} to {max(differences):+.1f} points from those in print, on average "
        f"{np.mean(differences):+.1f}"
    )


def figure(table: Table) -> Any:
    """Plot errors here against the published errors, one panel per user."""
    from onmargin.lab.pictures import panels

    users = table.distinct("user")
    drawn, axes = panels(len(users), columns=3, size=(3.3, 3.2))
    for ax, user in zip(axes, users, strict=True):
        rows = table.where(user=user)
        places = np.arange(len(rows))[::-1]
        ax.barh(places + 0.2, rows["error"], 0.4, label="here")
        ax.barh(places - 0.2, rows["published"], 0.4, label="in print", color="#b0b0b0")
        ax.set_yticks(places, rows["learner"], fontsize=7)
        ax.set_title(user)
        ax.set_xlabel("% of mistakes")
    axes[0].legend()
    return drawn


_CLAIMS = (
    Claim(
        "SIMPROJ",
        "Table 1",
        "SimProj makes no more mistakes than SimPerc and ConProj, for every user.",
        partial(never_beaten, "SimProj", ("SimPerc", "ConProj")),
    ),
    Claim("SIMPROJ", "Table 1, text", "SimProj and SimOpt are consistently better than MaxPA.", better_than_max),
    Claim("SIMPROJ", "Table 1, text", "SimProj beats the optimal solver for 3 of 7 users.", better_than_optimal),
    Claim("SIMPROJ", "Table 1, text", "Between SimPerc and ConProj there is no winner.", no_winner),
    Claim("SIMPROJ", "Table 1, text", "SimProj costs about as much as MaxPA.", same_cost),
    Claim("SIMPROJ", "Table 2, text", "Multiplicative learners are on par or slightly worse.", on_par),
    Claim("SIMPROJ", "Table 2, text", "Multiplicative learners are less sensitive to C.", less_sensitive),
    Claim(
        "SIMPROJ",
        "Table 3",
        "Sopopo makes no more mistakes than MaxPA with a prototype per folder, for every user.",
        partial(never_beaten, "Sopopo", ("MaxPA prototypes",)),
    ),
    Claim("SIMPROJ", "Table 3, text", "SimProj is better than Sopopo for 4 of 7 users.", better_than_sopopo),
)


# Judged in the first interpretation only.
_FURTHER = (
    Claim("SIMPROJ", "sec. 9.2", "SimProj and SimOpt are on par with the optimal solver.", near_optimal),
    Claim("SIMPROJ", "Table 2, text", "Multiplicative learners prefer larger values of C.", prefer_large_c),
)


def _tables(name: str, compete: str, reading: str, claims: tuple[Claim, ...]) -> Experiment:
    return Experiment(
        name=name,
        paper="SIMPROJ",
        section="Tables 1 to 3",
        title=f"Filing mail, {reading} compete",
        shows="Progressive mistakes in % on each user's mail, with the best C, and the published ones. The data "
        "differ: they have about four fifths of the messages, with reconstructed folders, and two users are "
        f"missing. The paper does not say which folders compete; here {reading} do.",
        settings={
            "users": list(data.USERS),
            "compete": compete,
            "C": [2.0**k for k in range(-5, 6)],
            "margins": [0.001, 0.003, 0.01, 0.03],
        },
        repeat=repeat,
        keys=("user", "learner", "published", "C", "margin"),
        measures=("error", "spread", "seconds"),
        best=("C", "margin"),
        figure=figure,
        claims=claims,
        check=near,
        wide=Wide(("user",), "learner", "error"),
        repetitions=1,
        split="users",
        data=data.MAIL,
    )


MAIL = _tables("mail", "all", "all folders", (*_CLAIMS, *_FURTHER))
SEEN = _tables("mail-seen", "seen", "folders seen so far", _CLAIMS)
POINTS = 40


def course(model: ClassFeatureClassifier, folders: NDArray[np.str_], stops: list[int]) -> list[int]:
    """Return the mistakes of a learner after the numbers of messages in `stops`."""
    numbers, mistakes = np.arange(len(folders))[:, None], []
    for start, stop in pairwise([0, *stops]):
        mistakes.append(model.partial_fit(numbers[start:stop], folders[start:stop]).totals_.mistakes)
    return mistakes


def repeat_course(settings: Settings, random: Generator) -> Iterator[Row]:
    """Yield mistakes so far minus those of the optimal solver, each learner with the C of its fewest final mistakes."""
    for user in settings["users"]:
        texts, folders = data.messages(Path(settings["data"]), user)
        terms = CountVectorizer(binary=True, dtype=np.float64).fit_transform(texts)
        made = Recorded("additive", terms, folders, settings["compete"])
        stops = np.linspace(0, len(folders), POINTS + 1).astype(int)[1:].tolist()
        courses = {}
        for name, update in SHARED.items():
            models = [ClassFeatureClassifier(phi=made, update=update, C=C) for C in settings["C"]]
            courses[name] = min((course(model, folders, stops) for model in models), key=lambda mistakes: mistakes[-1])
        for name, place in product(SHARED, range(POINTS)):
            behind = courses[name][place] - courses["OptSolv"][place]
            yield {"user": user, "learner": name, "messages": stops[place], "behind": behind}


def draw_course(table: Table) -> Any:
    """Plot one panel per user; below 0 a learner has made fewer mistakes than the optimal solver."""
    from onmargin.lab.pictures import draw, panels

    users = table.distinct("user")
    drawn, axes = panels(len(users), columns=3, size=(3.3, 2.8))
    for ax, user in zip(axes, users, strict=True):
        draw(ax, table.where(user=user), x="messages", measure="behind", line="learner")
        ax.set_title(user)
        ax.set_xlabel("messages")
    axes[0].set_ylabel("mistakes less those of OptSolv")
    axes[0].legend()
    return drawn


COURSE = Experiment(
    name="mail-course",
    paper="SIMPROJ",
    section="Fig. 10",
    title="Filing mail, message by message",
    shows="Mistakes so far minus those of the optimal solver, each learner with its best C in hindsight. The data are "
    "those of the tables above, and not the paper's; folders seen so far compete.",
    settings={"users": list(data.USERS), "compete": "seen", "C": [2.0**k for k in range(-5, 6)]},
    repeat=repeat_course,
    keys=("user", "learner", "messages"),
    measures=("behind",),
    figure=draw_course,
    claims=(),
    wide=Wide(("user", "messages"), "learner", "behind"),
    repetitions=1,
    split="users",
    data=data.MAIL,
)
EXPERIMENTS = (MAIL, SEEN, COURSE)
