"""Who may do what: bearer tokens, of which the service knows only digests."""

import hmac
import secrets
from hashlib import sha256
from pathlib import Path

SCOPES = ("read", "learn", "admin")  # each may do what those before it may


class TokenFileError(ValueError):
    """A file of tokens that cannot be read."""


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(32)


def line(scope: str, token: str) -> str:
    """The line of a file of tokens that lets one in."""
    return f"{scope} {sha256(token.encode()).hexdigest()}"


class Tokens:
    """Digests and scopes; without any, everybody may do everything."""

    def __init__(self, known: list[tuple[bytes, int]] | None = None) -> None:
        self._known = known

    @classmethod
    def read(cls, path: Path) -> "Tokens":
        """From lines of a scope and a digest; what follows # is a comment."""
        known = []
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            words = text.partition("#")[0].split()
            if not words:
                continue
            try:
                scope, digest = words
                known.append((bytes.fromhex(digest), SCOPES.index(scope)))
            except ValueError:
                known.append((b"", 0))
            if len(known[-1][0]) != sha256().digest_size:
                raise TokenFileError(
                    f"{path}, line {number}: expected read, learn or admin and the digest of a token, as `onmargin "
                    "token` prints them"
                )
        if not known:
            raise TokenFileError(f"{path} has no tokens: add a line that `onmargin token` prints")
        return cls(known)

    @property
    def known(self) -> list[tuple[bytes, int]] | None:
        """Digests and their scopes; None if everybody may do everything."""
        return self._known

    def __bool__(self) -> bool:
        return self._known is not None

    def level(self, header: bytes | None) -> int:
        """How far the scope of an Authorization header goes; -1: it is none.

        The digest is compared with all that are known, each in constant time, so that how long it takes says nothing.
        """
        if self._known is None:
            return len(SCOPES) - 1
        scheme, _, token = (header or b"").partition(b" ")
        digest = sha256(token.strip()).digest()
        level = -1
        for known, scope in self._known:
            if hmac.compare_digest(known, digest):
                level = max(level, scope)
        return level if scheme.lower() == b"bearer" else -1
