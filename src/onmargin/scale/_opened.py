"""Engines by name."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from onmargin.scale.engine import Engine, LocalEngine


@contextmanager
def open_engine(engine: str | Engine, workers: int | None, address: str | None) -> Iterator[Engine]:
    """Yield an engine. One created by name is closed afterwards; one passed as an object stays open."""
    if not isinstance(engine, str):
        if not callable(getattr(engine, "map", None)):
            raise TypeError(f"engine must be 'local', 'ray' or an object with a method map; got {engine!r:.80}")
        if workers is not None or address is not None:
            raise ValueError(f"workers and address are for engine='local' and engine='ray'; got {engine!r:.80}")
        yield engine
        return
    if engine == "local" and address is None:
        own: Any = LocalEngine(workers)
    elif engine == "ray":
        from onmargin.scale.ray import RayEngine

        own = RayEngine(address, workers=workers)
    elif engine == "local":
        raise ValueError(f"address={address!r} is the address of a Ray cluster: set engine='ray' too")
    else:
        raise ValueError(f"engine must be 'local', 'ray' or an object with a method map; got {engine!r}")
    try:
        yield own
    finally:
        own.close()
