"""Training directly from files, with the code of `onmargin train`, compared with Vowpal Wabbit on the same text.

The learner is `--model PassiveAggressiveClassifier`, or `PassiveAggressiveRegressor` for numbers; the default one
trains several kinds of learners at once.

Both learn in this process, so the startup time of the programs is not included; it is in the last lines.
"""

import argparse
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import vowpalwabbit
from sklearn.datasets import dump_svmlight_file
from timing import race, ratios
from vowpal_wabbit import VowpalWabbit
from workloads import WORKLOADS, Workload

from onmargin.apps.train import train
from onmargin.apps.training_options import TrainingOptions

ROWS = 50_000
DOCUMENTS = 20_000
CLASSIFIER = "PassiveAggressiveClassifier"
CODE = "import sys; from onmargin.apps.cli import main; main(sys.argv[1:], 'onmargin')"


def onmargin(path: Path, out: Path, model: str = CLASSIFIER, **parameters: object) -> Callable[[], object]:
    """Return a training run of the passive-aggressive learner, one model as in Vowpal Wabbit."""
    options = TrainingOptions((str(path),), parameters=parameters, model=model)
    return lambda: train(options, str(out), resume=False, start=None, every=None, quiet=True)


def measure(title: str, megabytes: float, learning: dict[str, Callable[[], object]], repeats: int) -> None:
    """Print a row."""
    wall, cpu = race(learning, repeats, perf_counter), race(learning, repeats)
    cells = [f"{cpu['onmargin']:.3f}", f"{cpu['vw']:.3f}", f"{ratios(cpu, 'onmargin')['vw']:.1f}"]
    cells += [f"{wall['onmargin']:.3f}", f"{wall['vw']:.3f}", f"{ratios(wall, 'onmargin')['vw']:.1f}"]
    print(f"| {title}, {megabytes:.0f} MB | {' | '.join(cells)} |", flush=True)


def rows(name: str, digits: str, folder: Path, repeats: int) -> None:
    """Measure a workload as svmlight text, with values in full precision or with six digits."""
    whole = WORKLOADS[name]()
    X, y = whole.X[:ROWS], whole.y[:ROWS]
    if digits == "six":
        round_to_six(X if isinstance(X, np.ndarray) else X.data)
    work = Workload(whole.title, X, y, whole.classes)
    path = folder / "rows.svm"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    if digits == "six":
        shorten(path)
    vw = VowpalWabbit(work, folder)
    if digits == "six":
        shorten(vw.text)
    model = "PassiveAggressiveRegressor" if work.classes is None else CLASSIFIER
    runs = {"onmargin": onmargin(path, folder / "model", model), "vw": vw.learn_text}
    measure(f"{name}, {digits} digits", path.stat().st_size / 1e6, runs, repeats)


def round_to_six(values: np.ndarray) -> None:
    values[...] = [float(f"{value:.6g}") for value in values.ravel()] if values.ndim == 1 else np.round(values, 6)


def shorten(path: Path) -> None:
    """Shorten the values of a file of pairs to six digits."""
    out = path.with_name("short")
    with path.open() as lines, out.open("w") as short:
        for line in lines:
            label, *pairs = line.split()
            words = (f"{k}:{float(v):.6g}" for k, _, v in (pair.partition(":") for pair in pairs if pair != "|"))
            short.write(" ".join([label, *(["|"] if "|" in pairs else []), *words]) + "\n")
    out.replace(path)


def documents(folder: Path, repeats: int) -> None:
    """Measure texts of a hundred words, in two classes with different words."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{k}" for k in range(50_000)])
    labels = rng.integers(2, size=DOCUMENTS)
    ranks = np.exp(rng.random((DOCUMENTS, 100)) * np.log(len(words) - 1)).astype(int)
    ranks = np.where(rng.random(ranks.shape) < 0.1, (ranks + 1000 * (1 + labels[:, None])) % len(words), ranks)
    tsv, jsonl, text = folder / "texts", folder / "texts.jsonl", folder / "texts.vw"
    with tsv.open("w") as a, jsonl.open("w") as b, text.open("w") as c:
        for label, row in zip(labels, ranks, strict=True):
            document = " ".join(words[row])
            a.write(f"c{label}\t{document}\n")
            b.write(f'{{"text": "{document}", "y": "c{label}"}}\n')
            c.write(f"{2 * label - 1} | {document}\n")
    options = ["--quiet", "-d", str(text), "-b", "18", "--loss_function", "hinge", "--binary"]

    def vw() -> object:
        return vowpalwabbit.Workspace(arg_list=options)

    for name, path, parameters in (
        ("texts, label and tab", tsv, {}),
        ("texts, label and tab, --hash 18", tsv, {"hash": 18}),
        ("texts, JSON lines, --hash 18", jsonl, {"hash": 18}),
    ):
        learning = {"onmargin": onmargin(path, folder / "model", **parameters), "vw": vw}
        measure(name, path.stat().st_size / 1e6, learning, repeats)


def program(*arguments: str) -> tuple[float, float]:
    """Return CPU seconds and peak memory in MB of the program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # A process passes its peak memory on to the processes that it starts; VmHWM is the program's own.
    code = f"import atexit, sys; atexit.register(lambda: sys.stderr.write(open('/proc/self/status').read())); {CODE}"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, int(done.stderr.partition("VmHWM:")[2].split()[0]) / 1024


def memory(folder: Path) -> None:
    """Measure the program on a file, and on a file eight times as long."""
    work = WORKLOADS["A"]()
    path, model = folder / "once.svm", str(folder / "model")
    dump_svmlight_file(work.X[:20_000], work.y[:20_000], str(path), zero_based=False)
    eight = folder / "eight.svm"
    eight.write_bytes(path.read_bytes() * 8)
    print("\n| program | CPU s | peak memory, MB |\n| --- | ---: | ---: |")
    print("| `onmargin --help` | {:.2f} | {:.0f} |".format(*program("--help")))
    for file in (path, eight):
        seconds, megabytes = program("train", str(file), "-o", model, "-q")
        print(f"| `onmargin train`, {file.stat().st_size / 1e6:.0f} MB | {seconds:.2f} | {megabytes:.0f} |", flush=True)
    short = folder / "short.svm"
    short.write_bytes(b"".join(path.open("rb").readlines()[:10]))
    print("| `onmargin predict`, ten rows | {:.2f} | {:.0f} |".format(*program("predict", model, str(short))))


def main() -> None:
    """Print Markdown tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    print("| file | onmargin, CPU s | vw, CPU s | ratio | onmargin, wall s | vw, wall s | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in ("A", "D"):
        for digits in ("all", "six"):
            with TemporaryDirectory() as folder:
                rows(name, digits, Path(folder), arguments.repeats)
    with TemporaryDirectory() as folder:
        documents(Path(folder), arguments.repeats)
    with TemporaryDirectory() as folder:
        memory(Path(folder))


if __name__ == "__main__":
    main()
