"""The commands of the service: serve, backup and token."""

from pathlib import Path

import click

from onmargin.apps.failure import Failure


@click.command(context_settings={"auto_envvar_prefix": "ONMARGIN_SERVE"})
@click.option(
    "--data",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of journal and snapshots.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need --tokens.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8700,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@click.option(
    "--tokens",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File of access tokens with their scopes: read, learn or admin.",
)
@click.option(
    "--rate", type=click.FloatRange(0), default=0, help="Maximum requests per second and address; 0 means no limit."
)
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="Address or network of a proxy whose X-Forwarded-For is believed, for --rate; may be repeated.",
)
@click.option(
    "--max-body", type=click.IntRange(1024), default=4 * 2**20, show_default=True, help="Maximum bytes of a request."
)
@click.option(
    "--timeout", type=click.FloatRange(1), default=30, show_default=True, help="Maximum seconds for a request."
)
@click.option(
    "--max-features", type=click.IntRange(1), default=2**20, show_default=True, help="Maximum feature names of a model."
)
@click.option(
    "--max-weights", type=click.IntRange(1), default=2**25, show_default=True, help="Maximum weights of a model."
)
@click.option(
    "--max-waiting", type=click.IntRange(1), default=8192, show_default=True, help="Maximum examples in the queue."
)
@click.option(
    "--snapshot-every",
    type=click.IntRange(1),
    default=50_000,
    show_default=True,
    help="Number of examples between snapshots.",
)
@click.option("--compact", is_flag=True, help="Delete journal entries before the second-to-last snapshot.")
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
    help="Hours to keep predictions that wait for their labels.",
)
@click.option(
    "--keep-number",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="Maximum predictions per model that wait for their labels.",
)
@click.option(
    "--max-file",
    type=click.IntRange(1024),
    default=2**26,
    show_default=True,
    help="Maximum bytes of an uploaded model file.",
)
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
    """Run an HTTP service whose models learn the examples posted to them.

    Every example is in the journal before it is learned and acknowledged. The page is at /, the OpenAPI document at
    /openapi.json. Every option can be set by an environment variable, such as ONMARGIN_SERVE_MAX_BODY.
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


@click.command()
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
    help="File with a token of scope admin, if the service requires one.",
)
def backup(*, url: str, out: Path, token_file: Path | None) -> None:
    """Copy the folder of the service at URL while it runs, and check the copy.

    The copy has everything that was acknowledged before. Learning waits while the copy is made; predictions continue.
    """
    try:
        from onmargin.apps.serve.run import fetch_backup
    except ModuleNotFoundError as error:
        raise Failure(f"{error.name} is not installed: pip install '.[serve]' in a clone of onmargin") from error

    try:
        token = None if token_file is None else token_file.read_text(encoding="ascii").strip()
    except UnicodeDecodeError:  # the error would show the token
        raise Failure(f"{token_file} must have a token as `onmargin token` prints it, in one line") from None
    fetch_backup(url, out, token)


@click.command()
@click.argument("scope", type=click.Choice(["read", "learn", "admin"]))
def token(scope: str) -> None:
    """Make a token for `onmargin serve`: SCOPE is what it may do.

    The token is printed once. The line goes into the file of --tokens, which holds no token.
    """
    from onmargin.apps.serve.tokens import line, new_token

    made = new_token()
    click.echo(f"token: {made}\nline:  {line(scope, made)}")
