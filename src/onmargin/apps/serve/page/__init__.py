"""The page that watches models: three files, and the script of plotly as its package ships it."""

import gzip
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

# Nothing comes from elsewhere, nothing is said elsewhere, and no other page may show this one. The hash is that of an
# empty style sheet, to which plotly's script adds its rules.
POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
KINDS = {"page.html": "text/html", "page.css": "text/css", "page.js": "text/javascript", "plotly.js": "text/javascript"}


def _content(name: str) -> bytes | None:
    """Return a file of the page, or None if it is plotly's and plotly is not installed."""
    if name != "plotly.js":
        return files(__name__).joinpath(name).read_bytes()
    found = find_spec("plotly")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / "package_data/plotly.min.js"
    return path.read_bytes() if path.exists() else None


@cache
def _compressed(name: str) -> bytes | None:
    body = _content(name)
    return None if body is None else gzip.compress(body, 6, mtime=0)


def _takes_gzip(request: Request) -> bool:
    """Whether a client accepts gzip: it names gzip, and not with a quality of 0."""
    for part in request.headers.get("accept-encoding", "").lower().split(","):
        coding, _, parameter = part.replace(" ", "").partition(";")
        if coding == "gzip":
            return parameter.removeprefix("q=").strip("0.") != "" or not parameter
    return False


def page_routes() -> list[Route]:
    return [Route("/", _file("page.html")), *(Route(f"/{name}", _file(name)) for name in KINDS if name != "page.html")]


def _file(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        zipped = _takes_gzip(request)
        body = _compressed(name) if zipped else _content(name)
        if body is None:
            return Response(
                "plotly is not installed: pip install '.[serve]' in a clone of onmargin", 404, media_type="text/plain"
            )
        headers = {
            **({"content-encoding": "gzip"} if zipped else {}),
            "vary": "accept-encoding",
            "content-security-policy": POLICY,
            "referrer-policy": "no-referrer",
            "cache-control": "max-age=3600" if name == "plotly.js" else "no-cache",
        }
        return Response(body, media_type=KINDS[name], headers=headers)

    return answer
