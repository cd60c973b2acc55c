"""Limits on the resources that a client can use."""

import time
from collections import OrderedDict
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address

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


class InFlight:
    """Counter of the bytes of all requests that are being read, waiting or being computed."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0


class Held:
    """The bytes of one request."""

    def __init__(self, all_: InFlight) -> None:
        self._all = all_
        self._size = 0

    def add(self, size: int) -> None:
        """Count bytes, or refuse them."""
        if self._all.held + size > self._all.most:
            raise BusyError(f"more than {self._all.most} bytes of requests are waiting for an answer: try again later")
        self._all.held += size
        self._size += size

    def release(self) -> None:
        self._all.held -= self._size
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
