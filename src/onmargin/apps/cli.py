"""The command line. Commands import their modules when they run, so that the program starts fast."""

import gc
import json
import os
from pathlib import Path
from typing import Any

import click

from onmargin.apps.failure import Failure

FORMATS = (
    *("svmlight", "csv", "jsonl", "json", "arff", "vw", "text", "arrow", "folder", "mbox"),
    *("conll", "conllu", "crfsuite"),
)
TASKS = ("classify", "regress", "rank", "ordinal", "novelty", "tag")
WRITTEN = ("svmlight", "csv", "jsonl", "vw", "text")


class Program(click.Group):
    """Command group that reports problems with files and models in one line."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader of the output has stopped
            raise
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise Failure(f"{where}{error.strerror or error}") from error
        except ImportError as error:
            raise Failure(str(error)) from error
        except ValueError as error:
            # ReadError and ModelFileError name the location. They are compared by name to avoid importing them.
            if type(error).__name__ not in {"ReadError", "ModelFileError"}:
                raise
            raise Failure(str(error)) from error


files = click.argument("files", nargs=-1, required=True, metavar="FILES...")
model_file = click.argument("model", type=click.Path())
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
force = click.option("--force", is_flag=True, help="Replace an existing output file.")
quiet = click.option("-q", "--quiet", is_flag=True, help="Do not show progress.")
format_option = click.option(
    "--format", "format", type=click.Choice(["auto", *FORMATS]), default="auto", help="File format (default: detected)."
)
label_option = click.option(
    "--label",
    metavar="COLUMN",
    help="Column or JSON key of the label, header of a mail, or column number of CoNLL (default: the last column).",
)
text_option = click.option(
    "--text",
    multiple=True,
    metavar="COLUMN",
    help="Column of a table that contains text (default: detected); may be repeated.",
)
ignore_option = click.option(
    "--ignore",
    multiple=True,
    metavar="COLUMN",
    help="Column of a table to leave out (default: ids, dates, row numbers); may be repeated.",
)
only_option = click.option(
    "--only",
    multiple=True,
    metavar="COLUMN",
    help="Column of a table to keep; all others are left out; may be repeated.",
)
abstain_option = click.option(
    "--abstain",
    type=click.FloatRange(0),
    metavar="COST",
    help="Give no class where the probability of a mistake is more than this cost, that of a mistake being 1.",
)
strict_option = click.option(
    "--strict", is_flag=True, help="Fail if a file has no known features, or lacks columns that the model learned from."
)


def table_options(command: Any) -> Any:
    """Add the options for the columns of the files that a model is used on."""
    for option in (only_option, ignore_option, text_option, label_option):
        command = option(command)
    return command


def reading(command: Any) -> Any:
    """Add the options for reading files."""
    for option in (
        click.option("--zero-based", is_flag=True, help="Indices of svmlight files start at 0."),
        click.option(
            "--thousands", metavar="MARK", help="Thousands separator in numbers of CSV files (default: detected)."
        ),
        click.option("--decimal", metavar="MARK", help="Decimal mark in numbers of CSV files (default: detected)."),
        click.option(
            "--header/--no-header",
            default=None,
            help="Whether the first row of a CSV file has the column names (default: detected). Without a header the "
            "columns are named 0, 1 and so on.",
        ),
        click.option("--delimiter", help="CSV field separator (default: detected)."),
        click.option("--weight", metavar="COLUMN", help="Column of a table with the weights of the examples."),
    ):
        command = option(command)
    return table_options(command)


def _reading(**given: Any) -> dict[str, Any]:
    """Check and return the given options for reading files."""
    for name in ("delimiter", "decimal", "thousands"):
        if given.get(name) is not None:
            given[name] = {"\\t": "\t", "tab": "\t", "space": " "}.get(given[name], given[name])
            if len(given[name]) != 1:
                raise click.BadParameter(f"one character; got {given[name]!r}", param_hint=f"--{name}")
    if given.get("decimal") is not None and given["decimal"] == given.get("thousands"):
        raise click.UsageError("--decimal and --thousands must be two marks")
    return given


def _chosen(word: str) -> str | None:
    return None if word == "auto" else word


def _value(text: str) -> Any:
    """Parse a value in JSON or Python notation, such as 0.5, true, [1, 2], (1, 2) or inf; else return the string."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    import ast

    try:
        return float(text) if text in {"inf", "-inf"} else ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


class Aggressiveness(click.ParamType):  # type: ignore[type-arg]
    """A number, or "auto"."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | str:
        try:
            return "auto" if value == "auto" else float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor auto", param, ctx)


def _parameters(options: dict[str, Any], others: tuple[str, ...]) -> dict[str, Any]:
    parameters = {name: value for name, value in options.items() if value is not None}
    for pair in others:
        name, equals, value = pair.partition("=")
        if not equals:
            raise click.BadParameter(f"NAME=VALUE; got {pair!r}", param_hint="--set")
        parameters[name] = _value(value)
    return parameters


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="onmargin")
def main() -> None:
    """Online learning on the margin.

    FILES may be svmlight, CSV, TSV, JSON, JSON lines, ARFF, Vowpal Wabbit text, lines of label, tab and text, Parquet,
    Arrow, folders of texts, mailboxes, CoNLL or CRFsuite files, compressed or not. Use - for the standard input.
    """
    # OpenBLAS threads are not used here, and starting them takes a sixth of the time of a prediction.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imports and records create many objects and hardly any cycles; collecting cycles would take a tenth of the time.
    gc.set_threshold(50_000, 20, 20)


@main.command()
@files
@click.option("-o", "--out", required=True, type=click.Path(dir_okay=False), help="File to write the model to.")
@click.option(
    "--task",
    type=click.Choice(["auto", *TASKS]),
    default="auto",
    help="What to learn (default: detected by the labels).",
)
@click.option(
    "--model",
    metavar="NAME",
    help="Learner of rows in onmargin.stream, such as AROWClassifier, or SequenceTagger (default: AutoClassifier or "
    "AutoRegressor, or the passive-aggressive learner if one of its parameters is given, such as --C).",
)
@format_option
@reading
@click.option(
    "--cross",
    "cross",
    nargs=2,
    multiple=True,
    metavar="COLUMN COLUMN",
    help="Add the product of two columns as a feature; may be repeated.",
)
@click.option("--passes", type=click.IntRange(1), default=1, show_default=True, help="Number of passes over the files.")
@click.option(
    "--shuffle", is_flag=True, help="Shuffle the examples of all files before each pass; they must fit in memory."
)
@click.option(
    "--holdout",
    type=click.IntRange(2),
    metavar="N",
    help="Hold out every N-th example, and measure the model on them after each pass.",
)
@click.option(
    "--on-error",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="What to do with a record that cannot be read or learned. Skipped records are counted, and the first "
    "are shown.",
)
@click.option(
    "--C",
    "C",
    type=Aggressiveness(),
    help="Aggressiveness of the passive-aggressive learner, greater than 0. With auto, one model per value of "
    "a grid is trained, and the best so far predicts.",
)
@click.option(
    "--loss",
    help="Loss: hinge (PA-I) or squared_hinge (PA-II); epsilon_insensitive or squared_epsilon_insensitive for "
    "regression.",
)
@click.option("--update", help="Update of multiclass and ranking learners, such as max, simproj or exact.")
@click.option("--average", is_flag=True, help="Predict with averaged weights (taggers always do).")
@click.option(
    "--hash",
    "bits",
    type=click.IntRange(1, 31),
    metavar="BITS",
    help="Hash features to 2^BITS columns, which bounds the memory.",
)
@click.option(
    "--template",
    "templates",
    multiple=True,
    metavar="TEMPLATE",
    help="Features of CoNLL tokens, such as 'w[-1]|pos[0]', or 'w[0][-3:]' for the last three letters; the columns are "
    "w, pos, c2, c3 and so on.",
)
@click.option(
    "--coverage",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="FRACTION",
    help="Keep prediction sets (or intervals, for numbers) that contain the truth in this fraction of the examples, "
    "such as 0.9. The model file has them; predict and evaluate show them.",
)
@click.option(
    "--set",
    "others",
    multiple=True,
    metavar="NAME=VALUE",
    help="Any other parameter of the learner or of its features, such as 'ngrams=(1, 2)'.",
)
@click.option("--from", "start", type=click.Path(), metavar="MODEL", help="Continue training this model with new data.")
@click.option(
    "--checkpoint-every",
    "every",
    type=click.IntRange(1),
    metavar="N",
    help="Write the model after every N examples (default: every minute).",
)
@force
@click.option("--resume", is_flag=True, help="Continue the interrupted run whose checkpoint is --out, if there is one.")
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    help="Train on the files in parallel and average the models after each pass, with local processes or Ray.",
)
@click.option(
    "--workers", type=click.IntRange(1), metavar="N", help="For --engine: number of processes (default: one per core)."
)
@click.option("--address", help="For --engine ray: address of the cluster (default: started on this machine).")
@click.option(
    "--mixing",
    type=click.Choice(["updates", "uniform", "examples"]),
    help="For --engine: the weight of each file in the average (default: its number of updates).",
)
@quiet
@as_json
def train(
    *,
    files: tuple[str, ...],
    out: str,
    task: str,
    model: str | None,
    format: str,
    cross: tuple[tuple[str, str], ...],
    passes: int,
    shuffle: bool,
    holdout: int | None,
    on_error: str,
    C: float | str | None,
    loss: str | None,
    update: str | None,
    average: bool,
    bits: int | None,
    templates: tuple[str, ...],
    coverage: float | None,
    others: tuple[str, ...],
    start: str | None,
    every: int | None,
    force: bool,
    resume: bool,
    engine: str | None,
    workers: int | None,
    address: str | None,
    mixing: str | None,
    quiet: bool,
    as_json: bool,
    **where: Any,
) -> None:
    """Train a model on FILES, one example at a time.

    Each example is predicted before it is learned. The progressive error is the error of these predictions.
    """
    from onmargin.apps import report
    from onmargin.apps.outputs import check_output
    from onmargin.apps.train import Request
    from onmargin.apps.train import train as run
    from onmargin.io.model_file import is_model_file

    check_output(out, files, ours=is_model_file, force=force)
    options = {"C": C, "loss": loss, "update": update, "average": average or None, "hash": bits}
    request = Request(
        files,
        _chosen(task),
        _chosen(format),
        _reading(**where, cross=cross, template=templates),
        _parameters(options, others),
        passes,
        model,
        holdout or 0,
        shuffle,
        on_error == "skip",
        coverage,
    )
    elsewhere = {"--workers": workers, "--address": address, "--mixing": mixing}
    given = [name for name, value in elsewhere.items() if value is not None]
    if engine is None:
        if given:
            raise click.UsageError(f"{given[0]} is for --engine local or --engine ray")
        done = run(request, out, resume=resume, start=start, every=every, quiet=quiet)
    else:
        from onmargin.apps import scaled

        if address is not None and engine != "ray":
            raise click.UsageError("--address is for --engine ray")
        if coverage is not None:
            raise click.UsageError("--coverage follows one stream of examples: leave --engine out")
        if start is not None or every is not None:
            raise click.UsageError("--engine starts over and saves after each pass: no --from, no --checkpoint-every")
        place = scaled.Place(engine, workers, address, mixing or "updates")
        done = scaled.train(request, out, place, resume=resume, quiet=quiet)
    for warning in done.warnings():
        click.echo(f"warning: {warning}", err=True)
    report.show(done.report(), as_json=as_json)


@main.command()
@model_file
@files
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, allow_dash=True),
    default="-",
    help="File for the predictions (default: standard output). A .csv, .tsv or .jsonl file gets the columns "
    "of FILES, too.",
)
@click.option(
    "--keep", multiple=True, metavar="COLUMN", help="For -o: column to pass through, such as an id (default: all)."
)
@click.option("--proba", is_flag=True, help="Add the probability of the prediction.")
@abstain_option
@strict_option
@force
@format_option
@table_options
@as_json
def predict(
    *,
    model: str,
    files: tuple[str, ...],
    out: str,
    keep: tuple[str, ...],
    proba: bool,
    abstain: float | None,
    strict: bool,
    force: bool,
    format: str,
    as_json: bool,
    **where: Any,
) -> None:
    """Predict the examples of FILES with MODEL, one line per example.

    The files may have labels or not. --json adds the scores of the classes. A model that was trained with --coverage
    adds prediction sets or intervals.
    """
    from onmargin.apps.outputs import check_output, written
    from onmargin.apps.predict import Order
    from onmargin.apps.predict import predict as run

    if out != "-":
        check_output(out, (*files, model), ours=lambda _: False, force=force)
    elif force:
        raise click.UsageError("--force is for -o FILE")
    if keep and not out.endswith((".csv", ".tsv", ".jsonl")):
        raise click.UsageError("--keep is for -o with a .csv, .tsv or .jsonl file")
    order = Order(model, files, _chosen(format), _reading(**where), as_json, proba, abstain, strict, keep)
    with written(out) as file:
        run(order, out, file)


@main.command()
@model_file
@files
@abstain_option
@strict_option
@format_option
@table_options
@as_json
def evaluate(
    *,
    model: str,
    files: tuple[str, ...],
    abstain: float | None,
    strict: bool,
    format: str,
    as_json: bool,
    **where: Any,
) -> None:
    """Measure the predictions of MODEL on labeled FILES.

    A model that was trained with --coverage has its prediction sets or intervals measured too.
    """
    from onmargin.apps import report
    from onmargin.apps.evaluate import evaluate as run

    found = run(model, files, _chosen(format), _reading(**where), abstain=abstain, strict=strict)
    report.show(found, as_json=as_json)


@main.command()
@model_file
@click.option(
    "--top",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="Number of features to show, those with the largest weights.",
)
@as_json
def inspect(model: str, top: int, as_json: bool) -> None:
    """Show the parameters, totals, classes and heaviest features of MODEL."""
    from onmargin.apps import report
    from onmargin.apps.inspect import inspect as run

    report.show(run(model, top), as_json=as_json)


@main.command()
@files
@click.option("--to", "target", type=click.Choice(WRITTEN), required=True, help="Format to write.")
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, allow_dash=True),
    default="-",
    help="Output file (default: standard output).",
)
@click.option(
    "--names",
    type=click.Path(dir_okay=False),
    help="For svmlight: file for the names of the features, one per line; features are numbered by lines, from 1.",
)
@click.option(
    "--labels",
    type=click.Path(dir_okay=False),
    help="For svmlight and vw: file for the names of the labels, one per line; labels are numbered by lines, from 1.",
)
@force
@format_option
@reading
def convert(
    *,
    files: tuple[str, ...],
    target: str,
    out: str,
    names: str | None,
    labels: str | None,
    force: bool,
    format: str,
    **where: Any,
) -> None:
    """Write the examples of FILES in another format."""
    from onmargin.apps.convert import Files
    from onmargin.apps.convert import convert as run
    from onmargin.apps.outputs import check_output, written

    places: dict[str, str] = {}
    for flag, path in {"--out": out, "--names": names, "--labels": labels}.items():
        if path not in {None, "-"}:
            check_output(path, files, ours=lambda _: False, force=force)
            other = places.setdefault(os.path.realpath(path), flag)
            if other != flag:
                raise click.UsageError(f"{other} and {flag} must be two files")
    if force and not places:
        raise click.UsageError("--force is for -o FILE, --names FILE and --labels FILE")
    given = Files(files, _chosen(format), _reading(**where))
    with written(out) as file, written(names) as names_file, written(labels) as labels_file:
        run(given, target=target, out=file, names=names_file, labels=labels_file)


@main.command()
@click.option(
    "--data",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of journal and snapshots.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need --tokens.")
@click.option("--port", type=click.IntRange(0, 65535), default=8700, show_default=True, help="0: any that is free.")
@click.option(
    "--tokens", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="File of who may read, learn, admin."
)
@click.option("--rate", type=click.FloatRange(0), default=0, help="Requests a second of one address; 0: no limit.")
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="Address or network of a proxy whose X-Forwarded-For is believed, for --rate; may be repeated.",
)
@click.option("--max-body", type=click.IntRange(1024), default=4 * 2**20, show_default=True, help="Bytes of a request.")
@click.option("--timeout", type=click.FloatRange(1), default=30, show_default=True, help="Seconds for a request.")
@click.option("--max-features", type=click.IntRange(1), default=2**20, show_default=True, help="Names kept by a model.")
@click.option("--max-weights", type=click.IntRange(1), default=2**25, show_default=True, help="Weights of a model.")
@click.option("--max-waiting", type=click.IntRange(1), default=8192, show_default=True, help="Examples in the queue.")
@click.option(
    "--snapshot-every", type=click.IntRange(1), default=50_000, show_default=True, help="Examples between snapshots."
)
@click.option("--compact", is_flag=True, help="Keep of the journal only what came after the snapshot before the last.")
@click.option(
    "--readers",
    type=click.IntRange(0, 64),
    default=0,
    show_default=True,
    help="Processes that answer predictions on other cores, at most 1 s behind.",
)
@click.option(
    "--read-port", type=click.IntRange(0, 65535), help="Port of the readers. By default the one after --port."
)
@click.option(
    "--keep-hours",
    type=click.FloatRange(0, min_open=True),
    default=168,
    show_default=True,
    help="Hours that predictions are kept for their labels.",
)
@click.option(
    "--keep-number",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="Predictions per model that are kept for their labels.",
)
@click.option("--max-file", type=click.IntRange(1024), default=2**26, show_default=True, help="Bytes of a model file.")
@click.option(
    "--access-log",
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write one line of JSON per request to a file, or to - (standard output). By default there is no log.",
)
@click.option("--check", is_flag=True, help="Check all files of the folder, print its state, and do not start.")
@click.option(
    "--repair",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="NEW",
    help="Write what can be kept of a damaged folder to a new one, and do not start.",
)
def serve(
    *,
    data: Path,
    host: str,
    port: int,
    tokens: Path | None,
    rate: float,
    proxies: tuple[str, ...],
    max_body: int,
    timeout: float,
    max_features: int,
    max_weights: int,
    max_waiting: int,
    snapshot_every: int,
    compact: bool,
    readers: int,
    read_port: int | None,
    keep_hours: float,
    keep_number: int,
    max_file: int,
    access_log: str | None,
    check: bool,
    repair: Path | None,
) -> None:
    """Serve models that learn what is posted to them, with a page to watch them.

    Every example is in the journal before it is learned and acknowledged. The page is at /, the OpenAPI document at
    /openapi.json.
    """
    try:
        from onmargin.apps.serve.run import check_folder, repair_folder
        from onmargin.apps.serve.run import serve as run
    except ModuleNotFoundError as error:
        raise Failure(f"{error.name} is not installed: pip install '.[serve]' in a clone of onmargin") from error
    from ipaddress import ip_network

    from onmargin.apps.serve.held import HeldLimits
    from onmargin.apps.serve.json_learner import Room
    from onmargin.apps.serve.limits import Limits
    from onmargin.apps.serve.service import Settings

    room = Room(features=max_features, weights=max_weights)
    if check and repair is not None:
        raise click.UsageError("--check and --repair do not go together: the repair checks all that it keeps")
    if check:
        check_folder(data, room)
    elif repair is not None:
        repair_folder(data, repair, room)
    else:
        held = HeldLimits(seconds=3600 * keep_hours, number=keep_number)
        settings = Settings(room=room, waiting=max_waiting, snapshot_every=snapshot_every, compact=compact, held=held)
        try:
            trusted = tuple(map(ip_network, proxies))
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--proxy") from error
        limits = Limits(body=max_body, file=max_file, seconds=timeout, rate=rate, proxies=trusted)
        follow = (readers, (port and port + 1) if read_port is None else read_port) if readers else None
        run(data, (host, port), tokens, limits, settings, access_log=access_log, readers=follow)


@main.command()
@click.argument("url")
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="A new folder for the copy, which `onmargin serve --data` can serve.",
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with a token that may admin, if the service asks for one.",
)
def backup(*, url: str, out: Path, token_file: Path | None) -> None:
    """Copy the folder of the service at URL while it runs, and check the copy.

    The copy has everything that was acknowledged before. Learning waits while it is made, and predictions go on.
    """
    try:
        from onmargin.apps.serve.run import fetch_backup
    except ModuleNotFoundError as error:
        raise Failure(f"{error.name} is not installed: pip install '.[serve]' in a clone of onmargin") from error

    fetch_backup(url, out, None if token_file is None else token_file.read_text(encoding="utf-8").strip())


@main.command()
@click.argument("scope", type=click.Choice(["read", "learn", "admin"]))
def token(scope: str) -> None:
    """Make a token for `onmargin serve`: SCOPE is what it may do.

    The token is printed once. The line goes into the file of --tokens, which holds no token.
    """
    from onmargin.apps.serve.tokens import line, new_token

    made = new_token()
    click.echo(f"token: {made}\nline:  {line(scope, made)}")


@main.command()
def demo() -> None:
    """Train on a real data set and show the results."""
    from onmargin.apps.demo import run

    run()


@main.command()
@click.argument("name")
@click.option(
    "-o", "--out", type=click.Path(file_okay=False), default="lab", show_default=True, help="Folder for the results."
)
@click.option("--data", type=click.Path(), help="Folder of the data sets, for experiments that read some.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all random numbers.")
@click.option("--repetitions", type=click.IntRange(1), help="Number of repetitions (default: set by each experiment).")
@click.option(
    "--jobs", type=click.IntRange(1), help="Number of processes, which changes no result (default: one per core)."
)
@quiet
def lab(
    *, name: str, out: str, data: str | None, seed: int, repetitions: int | None, jobs: int | None, quiet: bool
) -> None:
    """Run the experiment NAME of the papers, all of them, or list them.

    Each leaves a figure, a table and its settings in --out, and verdicts on what the papers say. With all, a report of
    one page holds everything.
    """
    from pathlib import Path

    from onmargin.apps import lab as run

    order = run.Order(Path(out), None if data is None else Path(data), seed, repetitions, jobs, quiet)
    if name == "list":
        run.show_list()
    elif name == "all":
        run.run_all(order)
    else:
        run.run_one(name, order)
