"""The gate: authorization, rate limits and size limits of requests, and their answers."""

from contextlib import suppress
from ipaddress import IPv6Address
from typing import Any, NamedTuple

import msgspec

from onmargin.apps.serve import schema
from onmargin.apps.serve.limits import Limits, Rate
from onmargin.apps.serve.problems import ProblemError
from onmargin.apps.serve.tokens import Right, Tokens

LOCAL = {"localhost", "127.0.0.1", "[::1]"}
HEADERS = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_JSON = [(b"content-type", b"application/json"), *HEADERS]
_encode = msgspec.json.Encoder().encode
_DECODERS: dict[type, Any] = {kind: msgspec.json.Decoder(kind) for kind in schema.Body.__subclasses__()}


class Answer(NamedTuple):
    """An answer: status, headers and body."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


def granted(answer: Any, status: int = 200) -> Answer:
    """Return a successful answer as JSON."""
    return sized(status, _JSON, _encode(answer))


def refused(problem: ProblemError) -> Answer:
    """Return the answer for a problem."""
    headers = list(_JSON)
    if problem.retry_after is not None:
        headers.append((b"retry-after", b"%d" % problem.retry_after))
    if problem.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    return sized(problem.status, headers, _encode(schema.Problem(str(problem))))


def sized(status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> Answer:
    """Return an answer with the length of its body."""
    return Answer(status, [*headers, (b"content-length", b"%d" % len(body))], body)


def _local(host: str) -> bool:
    """Return whether this is a name of this machine, with or without a port."""
    return host in LOCAL or host.rpartition(":")[0] in LOCAL


def too_large(kind: type, most: int, given: str = "") -> ProblemError:
    """Return the problem with a body that is too large."""
    option = "--max-file" if kind is bytes else "--max-body"
    return ProblemError(f"a request has at most {most} bytes here ({option} of the service){given}", 413)


def allow(right: Right, needed: Right) -> None:
    """Refuse a token whose right is not sufficient."""
    if right < needed:
        raise ProblemError(f"this token may {right.word}, and {needed.word} is needed", 403)


class Gate:
    """Check of requests, which raises problems. Without tokens, only requests from and to this machine are accepted."""

    def __init__(self, tokens: Tokens, limits: Limits) -> None:
        self._tokens = tokens
        self._limits = limits
        self._rate = Rate(limits.rate)

    def let_in(self, headers: dict[bytes, bytes], client: tuple[str, int] | None, needed: Right | None) -> Right:
        """Refuse clients that are not authorized or exceed the rate; return the right of the others."""
        if self._limits.rate:
            self._rate.take(self.client(headers, client))
        if not self._tokens:
            # A page of another site can point its own host name to this machine and send requests on behalf of its
            # visitor (DNS rebinding). If it uses a name of this machine, the browser sends the origin of the page.
            host = headers.get(b"host", b"").decode("latin-1")
            if not _local(host):
                raise ProblemError(f"this service answers as localhost or 127.0.0.1 only; got Host {host!r:.80}", 421)
            origin = headers.get(b"origin")
            if origin is not None and origin != b"http://" + headers[b"host"]:
                raise ProblemError(f"only this service's own page is answered; got Origin {origin!r:.80}", 403)
            site = headers.get(b"sec-fetch-site", b"none")
            if site not in {b"same-origin", b"none"}:
                raise ProblemError(f"only this service's own page is answered; got Sec-Fetch-Site {site!r:.80}", 403)
        elif needed is not None:
            right = self._tokens.right(headers.get(b"authorization"))
            if right is None:
                given = b"authorization" in headers
                words = "the token is not known to this service" if given else "a token is needed"
                raise ProblemError(f"{words}: send a token as Authorization: Bearer ...", 401)
            allow(right, needed)
            return right
        return Right.ADMIN

    def address(self, headers: dict[bytes, bytes], client: tuple[str, int] | None) -> str:
        """Return the address of a client: behind trusted proxies, the last address that is not a trusted proxy."""
        address = client[0] if client else ""
        if not self._limits.proxies:
            return address
        forwarded = headers.get(b"x-forwarded-for", b"").decode("latin-1").split(",")
        while self._limits.trusts(address) and forwarded and (before := forwarded.pop().strip()):
            address = before[:64]
        return address

    def client(self, headers: dict[bytes, bytes], client: tuple[str, int] | None) -> str:
        """Return what limits apply to: an IPv4 address, or the first 64 bits of an IPv6 one, whose rest is free."""
        address = self.address(headers, client)
        if ":" not in address:
            return address
        with suppress(ValueError):
            found = IPv6Address(address)
            return str(found.ipv4_mapped or found.packed[:8].hex())
        return address

    def announced(self, headers: dict[bytes, bytes], kind: type) -> int:
        """Check the headers of a body; return its maximum number of bytes."""
        limits = self._limits
        most, media = (
            (limits.file, b"application/octet-stream") if kind is bytes else (limits.body, b"application/json")
        )
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > most:
            raise too_large(kind, most, f"; got {length.decode('latin-1'):.40}")
        # Browsers send a preflight request for either media type to another origin, and it is refused.
        if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != media:
            what = "a model file" if kind is bytes else "JSON"
            raise ProblemError(f"the body must be {what}, with Content-Type: {media.decode()}", 415)
        return most

    def decoded(self, kind: type[schema.Body], body: bytes) -> Any:
        """Return the parsed and validated body."""
        try:
            return _DECODERS[kind].decode(body)
        except msgspec.ValidationError as error:
            words = str(error).replace(f"Expected `str` matching regex {schema.NAME_PATTERN!r}", schema.NAME_RULE)
            words = words.replace("Invalid enum value", schema.TASK_RULE)
            raise ProblemError(f"{words}. Send a body like {kind.shape}", 422) from error
        except (ValueError, RecursionError) as error:
            raise ProblemError(f"the body is not valid JSON: {error}", 400) from error
