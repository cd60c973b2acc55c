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


@cache
def content(name: str) -> bytes | None:
    """A file of the page, compressed; None: plotly is not installed."""
    if name == "plotly.js":
        found = find_spec("plotly")
        if found is None or found.origin is None:
            return None
        path = Path(found.origin).parent / "package_data/plotly.min.js"
        return gzip.compress(path.read_bytes(), 6, mtime=0) if path.exists() else None
    return gzip.compress(files(__name__).joinpath(name).read_bytes(), 9, mtime=0)


def page_routes() -> list[Route]:
    return [Route("/", _file("page.html")), *(Route(f"/{name}", _file(name)) for name in KINDS if name != "page.html")]


def _file(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_: Request) -> Response:
        body = content(name)
        if body is None:
            return Response("plotly is not installed: pip install 'onmargin[serve]'", 404, media_type="text/plain")
        headers = {
            "content-encoding": "gzip",
            "content-security-policy": POLICY,
            "referrer-policy": "no-referrer",
            "cache-control": "max-age=3600" if name == "plotly.js" else "no-cache",
        }
        return Response(body, media_type=KINDS[name], headers=headers)

    return answer
