"""The command train."""

import json
from typing import TYPE_CHECKING, Any

import click

from onmargin.apps.commands.options import as_json, check_reading, chosen, files, force, format_option, quiet, reading

if TYPE_CHECKING:
    from onmargin.apps.training_options import TrainingOptions

TASKS = ("classify", "regress", "rank", "ordinal", "novelty", "tag")


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


@click.command()
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
    nargs=2,
    multiple=True,
    metavar="COLUMN COLUMN",
    help="Add the product of two columns as a feature, or all products of the features of two namespaces of Vowpal "
    "Wabbit's format; may be repeated.",
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
    type=click.IntRange(1, 31),
    metavar="BITS",
    help="Hash features to 2^BITS columns, which bounds the memory.",
)
@click.option(
    "--template",
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
@click.option(
    "--predict-only",
    is_flag=True,
    help="Write a smaller model file that predicts, but cannot continue to learn; checkpoints are complete.",
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
    force: bool,
    resume: bool,
    start: str | None,
    every: int | None,
    predict_only: bool,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Train a model on FILES, one example at a time.

    Each example is predicted before it is learned. The progressive error is the error of these predictions.
    """
    from onmargin.apps import report
    from onmargin.apps.outputs import check_output
    from onmargin.apps.train import train as run
    from onmargin.io.model_file import is_model_file

    check_output(out, files, ours=is_model_file, force=force)
    place = {name: given.pop(name) for name in ("engine", "workers", "address", "mixing")}
    options = _training_options(files, given)
    if place["engine"] is None:
        elsewhere = [f"--{name}" for name, value in place.items() if value is not None]
        if elsewhere:
            raise click.UsageError(f"{elsewhere[0]} is for --engine local or --engine ray")
        done = run(options, out, resume=resume, start=start, every=every, quiet=quiet)
    else:
        from onmargin.apps import scaled

        if place["address"] is not None and place["engine"] != "ray":
            raise click.UsageError("--address is for --engine ray")
        if options.coverage is not None:
            raise click.UsageError("--coverage follows one stream of examples: leave --engine out")
        if start is not None or every is not None:
            raise click.UsageError("--engine starts over and saves after each pass: no --from, no --checkpoint-every")
        place["mixing"] = place["mixing"] or "updates"
        done = scaled.train(options, out, scaled.Place(**place), resume=resume, quiet=quiet)
    if predict_only:
        done.save(predict_only=True)
    for warning in done.warnings():
        report.tell(f"warning: {warning}")
    found = done.report()
    report.show(found if as_json else {name: found[name] for name in found if name != "recipe"}, as_json=as_json)


def _training_options(files: tuple[str, ...], given: dict[str, Any]) -> "TrainingOptions":
    """Return the options of a run from those of the command; those left after it are for reading files."""
    from onmargin.apps.training_options import TrainingOptions

    take = given.pop
    common = {name: take(name) for name in ("C", "loss", "update", "hash")} | {"average": take("average") or None}
    run = {name: take(name) for name in ("passes", "model", "shuffle", "coverage")}
    return TrainingOptions(
        files,
        task=chosen(take("task")),
        format=chosen(take("format")),
        parameters=_parameters(common, take("others")),
        holdout=take("holdout") or 0,
        skip_errors=take("on_error") == "skip",
        **run,
        reading=check_reading(**given),
    )
