"""Limits on the resources that a client can use."""

import time
from collections import OrderedDict
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any

from onmargin.apps.serve.problems import BusyError

Network = IPv4Network | IPv6Network


@dataclass(frozen=True)
class Limits:
    """Limits on requests."""

    body: int = 4 * 2**20  # bytes
    file: int = 2**26  # bytes of a model file
    seconds: float = 30.0  # time limit to send a request, and to answer it
    computing: float = 5.0  # seconds to compute the answer
    rate: float = 0.0  # requests per second and client; 0 means no limit
    in_flight: int = 2**25  # bytes of all requests that are not answered yet
    watchers: int = 32  # pages that watch at the same time
    certified: int = 20_000  # examples
    proxies: tuple[Network, ...] = ()  # proxies whose X-Forwarded-For is trusted

    def trusts(self, address: str) -> bool:
        """Return whether an address is that of a trusted proxy."""
        if not self.proxies:
            return False
        try:
            found = ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self.proxies)


SMALL = 2**14  # bytes of a body that is not counted if it arrives at once, since connections are limited, too


class InFlight:
    """Bytes of all requests that are being read, waiting or being computed, with budgets.

    Requests that need no more than the scope to read get at most half of all bytes, and one client a quarter for each
    of the two kinds, but always enough for one request: whoever only reads cannot keep others from learning.
    """

    def __init__(self, most: int, body: int) -> None:
        self.most = max(most, body)
        self._shares = max(self.most // 2, body), max(self.most // 4, body)
        self.held: dict[Any, int] = {}

    def budgets(self, client: str, *, reads: bool) -> list[tuple[Any, int]]:
        """Return the budgets that a request counts for, each with its maximum."""
        shared, own = self._shares
        return [("all", self.most), ("reads", shared), ((client, reads), own)][:: 1 if reads else 2]


class Claim:
    """The bytes of one request."""

    def __init__(self, in_flight: InFlight, client: str, *, reads: bool) -> None:
        self._held = in_flight.held
        self._budgets = in_flight.budgets(client, reads=reads)
        self._size = 0

    def add(self, size: int) -> None:
        """Count bytes, or refuse them."""
        held = self._held
        for key, most in self._budgets:
            if held.get(key, 0) + size > most:
                raise BusyError(f"more than {most} bytes of requests are waiting for an answer: try again later")
        for key, _ in self._budgets:
            held[key] = held.get(key, 0) + size
        self._size += size

    def release(self) -> None:
        for key, _ in self._budgets:
            if left := self._held.pop(key, 0) - self._size:
                self._held[key] = left
        self._size = 0


class Rate:
    """Token bucket per client: `rate` requests per second, with a burst of two seconds' worth."""

    _MOST = 10_000  # maximum number of clients in memory

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._full = max(2 * rate, 1.0)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> None:
        """Count a request, or refuse it."""
        now = time.monotonic()
        left, then = self._buckets.pop(client, (self._full, now))
        left = min(self._full, left + (now - then) * self._rate)
        self._buckets[client] = max(left - 1, 0.0) if left >= 1 else left, now
        while len(self._buckets) > self._MOST:
            self._buckets.popitem(last=False)
        if left < 1:
            wait = int((1 - left) / self._rate) + 1
            raise BusyError(f"more than {self._rate:g} requests per second: try again later", wait)
