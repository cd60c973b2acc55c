"""The page that shows the models: a few files without external dependencies."""

import gzip
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

# The page loads nothing from other sites, sends nothing to them, and cannot be embedded in another page.
POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; style-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SCRIPTS = ("page.js", "prediction.js", "chart.js", "elements.js", "requests.js")
KINDS = {"page.html": "text/html", "page.css": "text/css", **dict.fromkeys(SCRIPTS, "text/javascript")}


@cache
def _content(name: str) -> bytes:
    return files(__name__).joinpath(name).read_bytes()


@cache
def _compressed(name: str) -> bytes:
    return gzip.compress(_content(name), 9, mtime=0)


def _takes_gzip(request: Request) -> bool:
    """Return whether a client accepts gzip, with a quality other than 0."""
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
        headers = {
            **({"content-encoding": "gzip"} if zipped else {}),
            "vary": "accept-encoding",
            "content-security-policy": POLICY,
            "referrer-policy": "no-referrer",
            "cache-control": "no-cache",
        }
        body = _compressed(name) if zipped else _content(name)
        return Response(body, media_type=KINDS[name], headers=headers)

    return answer
