"""Taggers that update against several wrong labelings at once, compared with one rival: quality and time of learning.

CONLL is a folder with the train.txt and test.txt of CoNLL-2000, EWT one with the train and test files of words and tags
of English Universal Dependencies.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

from corrections import Corpus, chunks, words

from onmargin import SequenceTagger
from onmargin.evaluate import tagging_report

RIVALS = {"conproj": (5,), "simproj": (5,), "simopt": (5,), "exact": (2, 5, 10)}


def corpora(options: argparse.Namespace) -> Iterator[tuple[str, Corpus, Corpus, str | None]]:
    yield "CoNLL-2000", *(chunks(options.conll / f"{part}.txt") for part in ("train", "test")), "bio"
    yield "EWT", *(words(options.ewt / f"en-ud-tag.v2.{part}.txt", 0, 1) for part in ("train", "test")), None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conll", type=Path, required=True, help="folder of CoNLL-2000")
    parser.add_argument("--ewt", type=Path, required=True, help="folder of English EWT")
    options = parser.parse_args()
    settings = [{"update": "prediction"}, {"update": "max_loss", "cost": "squared_hamming"}]
    settings += [{"update": update, "n_rivals": n} for update, many in RIVALS.items() for n in many]
    print(
        "| corpus | passes | update | n_rivals | F1 or accuracy, % | CPU s |\n| --- | ---: | --- | ---: | ---: | ---: |"
    )
    for name, train, test, scheme in corpora(options):
        for passes in (1, 10):
            for setting in settings:
                tagger = SequenceTagger(separator=None, random_state=0, max_iter=passes, tol=None, **setting)
                start = time.process_time()
                tagger.fit(*train)
                seconds = time.process_time() - start
                report = tagging_report(test[1], tagger.predict(test[0]), scheme=scheme)
                quality = 100 * (report.accuracy if scheme is None else report.f1)
                n = setting.get("n_rivals", 1)
                print(f"| {name} | {passes} | {setting['update']} | {n} | {quality:.2f} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
