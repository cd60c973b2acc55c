"""Starting and stopping the service; waiting requests are learned and answered before it stops."""

import asyncio
import gc
import ipaddress
import os
import signal
import socket
from collections import deque
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, cast

import click
import uvicorn

from onmargin.apps.failure import Failure
from onmargin.apps.serve.access_log import AccessLog
from onmargin.apps.serve.app import App
from onmargin.apps.serve.backup import unpack
from onmargin.apps.serve.client import Client
from onmargin.apps.serve.connection import ServiceError
from onmargin.apps.serve.journal_file import JournalError
from onmargin.apps.serve.json_learner import Room
from onmargin.apps.serve.limits import Limits
from onmargin.apps.serve.protocol import Guarded
from onmargin.apps.serve.readers import Readers
from onmargin.apps.serve.repair import Report, check, repair
from onmargin.apps.serve.service import Service, Settings
from onmargin.apps.serve.tokens import TokenFileError, Tokens
from onmargin.learner import collect_warnings


def serve(
    folder: Path,
    address: tuple[str, int],
    tokens: Path | None,
    limits: Limits,
    settings: Settings,
    *,
    access_log: str | None = None,
    readers: tuple[int, int] | None = None,
) -> None:
    """Serve until a signal arrives; `readers` is the number of readers and their port."""
    host, port = address
    if tokens is None and not _local(host):
        raise click.UsageError(
            f"{host} can be reached from elsewhere: give --tokens FILE, with lines that `onmargin token` prints"
        )
    try:
        known = Tokens() if tokens is None else Tokens.read(tokens)
        with collect_warnings(deque(maxlen=0)):  # models warned about this when it was sent
            service = Service.open(folder, settings)
    except (JournalError, TokenFileError) as error:
        raise Failure(str(error)) from error
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise Failure(f"cannot listen on {host}, port {port}: {error.strerror or error}") from error
    try:
        log = None if access_log is None else AccessLog(access_log)
    except OSError as error:
        raise Failure(f"cannot write the access log {access_log}: {error.strerror or error}") from error
    name = f"[{host}]" if ":" in host else host
    for words in (*service.damaged.values(), *filter(None, [service.problem and service.detail])):
        click.echo(f"warning: {words}", err=True)
    click.echo(f"onmargin serves {len(service.models)} models at http://{name}:{listening.getsockname()[1]}/", err=True)
    app = App(service, known, limits, log)
    if readers is not None:
        app.readers = _readers(service, (host, readers[1]), readers[0], (known, limits, access_log))
        click.echo(f"readers ({readers[0]}) at http://{name}:{app.readers.port}/", err=True)
    if tokens is not None and hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, lambda *_: _reload(known, tokens))
    gc.freeze()  # objects loaded so far are permanent, and need not be scanned in every collection
    configured(app).run(sockets=[listening])


def _reload(known: Tokens, path: Path) -> None:
    """Read the tokens again."""
    try:
        known.load(path)
    except (OSError, ValueError) as error:
        click.echo(f"warning: the tokens stay as they were: {error}", err=True)
    else:
        click.echo(f"the tokens were read again from {path}", err=True)


def _readers(service: Service, address: tuple[str, int], n: int, given: tuple[Any, ...]) -> Readers:
    if os.name != "posix":
        raise click.UsageError("--readers needs a POSIX system, such as Linux")
    try:
        return Readers(service, address, n, given)
    except OSError as error:
        host, port = address
        raise Failure(f"readers cannot listen on {host}, port {port}: {error.strerror or error}") from error


def configured(app: App) -> "_Server":
    """Return the server of an application."""
    config = uvicorn.Config(
        app,
        http=partial(Guarded, seconds=app.context.limits.seconds),  # type: ignore[arg-type]
        log_level="warning",
        access_log=False,
        lifespan="on",
        ws="none",
        proxy_headers=False,
        server_header=False,
        date_header=False,
        limit_concurrency=1024,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=int(app.context.limits.seconds) + 1,
    )
    return _Server(config, app)


def _local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Server(uvicorn.Server):
    """Server that closes late connections, and ends the event streams of pages when it stops."""

    def __init__(self, config: uvicorn.Config, app: App) -> None:
        super().__init__(config)
        self._app = app

    async def on_tick(self, counter: int) -> bool:
        """Close late connections; called ten times per second."""
        now = asyncio.get_running_loop().time()
        for connection in tuple(self.server_state.connections):
            cast(Guarded, connection).end_if_late(now)
        return await super().on_tick(counter)

    def end(self) -> None:
        """Stop as after a signal."""
        self.should_exit = True
        self._app.context.stopping.set()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._app.context.stopping.set()


def check_folder(folder: Path, room: Room) -> None:
    """Print the state of a folder; the exit status is 1 if something is damaged."""
    try:
        _print(check(folder, room))
    except JournalError as error:
        raise Failure(str(error)) from error


def repair_folder(folder: Path, target: Path, room: Room) -> None:
    """Recover the intact data of a folder to a new one, and print a report."""
    try:
        _print(repair(folder, target, room))
    except JournalError as error:
        raise Failure(str(error)) from error


def fetch_backup(url: str, target: Path, token: str | None) -> None:
    """Write a backup of a running service to a new folder, check it, and print its content."""
    target.parent.mkdir(parents=True, exist_ok=True)
    packed = target.with_name(f"{target.name}.tar")
    try:
        if target.exists() and any(target.iterdir()):
            raise JournalError(f"{target} must be a folder that is empty or does not exist")
        with Client(url, token=token) as client:
            client.backup(packed)
        _print(unpack(packed, target, Room()))
    except (JournalError, ServiceError, OSError, ValueError) as error:
        raise Failure(str(error)) from error
    finally:
        packed.unlink(missing_ok=True)


def _print(report: Report) -> None:
    for line in report.lines or ["no models"]:
        click.echo(line)
    if not report.good:
        raise Failure("the folder is damaged, as the lines above say")
