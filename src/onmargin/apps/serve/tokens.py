"""Authorization with bearer tokens, of which the service stores only digests."""

import hmac
import secrets
from enum import IntEnum
from hashlib import sha256
from pathlib import Path


class Right(IntEnum):
    """What a token allows; each right includes those before it."""

    READ = 0
    LEARN = 1
    ADMIN = 2

    @property
    def word(self) -> str:
        """The right as it is written in the file of tokens."""
        return self.name.lower()


class TokenFileError(ValueError):
    """Error for a token file that cannot be read."""


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(32)


def line(scope: str, token: str) -> str:
    """Return the line of the token file for a token."""
    return f"{scope} {sha256(token.encode()).hexdigest()}"


class Tokens:
    """Digests and scopes of tokens; without any, all requests are allowed."""

    def __init__(self, known: list[tuple[bytes, Right]] | None = None) -> None:
        self._known = known

    @classmethod
    def read(cls, path: Path) -> "Tokens":
        """Read a file with one scope and digest per line; # starts a comment."""
        tokens = cls()
        tokens.load(path)
        return tokens

    def load(self, path: Path) -> None:
        """Replace the tokens by those of a file; if it cannot be read, nothing changes."""
        known = []
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            words = text.partition("#")[0].split()
            if not words:
                continue
            try:
                scope, digest = words
                known.append((bytes.fromhex(digest), Right[scope.upper()]))
            except (KeyError, ValueError):
                known.append((b"", Right.READ))
            if len(known[-1][0]) != sha256().digest_size:
                raise TokenFileError(
                    f"{path}, line {number}: expected read, learn or admin and the digest of a token, as `onmargin "
                    "token` prints them"
                )
        if not known:
            raise TokenFileError(f"{path} has no tokens: add a line that `onmargin token` prints")
        self._known = known

    @property
    def known(self) -> list[tuple[bytes, Right]] | None:
        """Digests with their scopes; None if all requests are allowed."""
        return self._known

    def __bool__(self) -> bool:
        return self._known is not None

    def right(self, header: bytes | None) -> Right | None:
        """Return the right of an Authorization header; None if it is not valid.

        The digest is compared with all known digests, each in constant time, so that the timing reveals nothing.
        """
        if self._known is None:
            return Right.ADMIN
        scheme, _, token = (header or b"").partition(b" ")
        digest = sha256(token.strip()).digest()
        found = [right for known, right in self._known if hmac.compare_digest(known, digest)]
        return max(found) if found and scheme.lower() == b"bearer" else None
