"""The page that shows the models: a few files without external dependencies."""

import gzip
from functools import cache
from importlib.resources import files

from onmargin.apps.serve.gate import Answer, sized

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


def _takes_gzip(accepted: str) -> bool:
    """Return whether a client accepts gzip, with a quality other than 0."""
    for part in accepted.lower().split(","):
        coding, _, parameter = part.replace(" ", "").partition(";")
        if coding == "gzip":
            return parameter.removeprefix("q=").strip("0.") != "" or not parameter
    return False


def page_answer(path: str, accepted: bytes) -> Answer | None:
    """Return a file of the page, compressed if the client accepts it; None if there is no such file."""
    name = "page.html" if path == "/" else path[1:]
    if name not in KINDS or path == "/page.html":
        return None
    zipped = _takes_gzip(accepted.decode("latin-1"))
    headers = {
        **({"content-encoding": "gzip"} if zipped else {}),
        "content-type": f"{KINDS[name]}; charset=utf-8",
        "vary": "accept-encoding",
        "content-security-policy": POLICY,
        "referrer-policy": "no-referrer",
        "cache-control": "no-cache",
        "x-content-type-options": "nosniff",
    }
    encoded = [(key.encode(), value.encode()) for key, value in headers.items()]
    return sized(200, encoded, _compressed(name) if zipped else _content(name))
