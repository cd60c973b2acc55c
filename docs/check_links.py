"""Check a built site: every internal link leads somewhere, and nothing is loaded from another machine.

Usage: python docs/check_links.py HTML_FOLDER. Prints one line per broken link and exits with code 1 if there are any.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src"}  # fetched when the page is shown


class Page(HTMLParser):
    """The links of a page, what it loads, and the anchors that others may point to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors = {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value is not None}
        self.anchors.update(values[name] for name in ("id", "name") if name in values)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and "stylesheet" in values.get("rel", ""):
            self.loaded.append(values["href"])
        if LOADED.get(tag) in values:
            self.loaded.append(values[LOADED[tag]])


def problems(folder: Path) -> list[str]:
    """One line per link that leads nowhere or resource that is loaded from elsewhere."""
    pages = {path.resolve(): Page(path) for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts}
    found = []
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        for url in page.links + page.loaded:
            parts = urlsplit(url)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                if url in page.loaded:
                    found.append(f"{name}: loads {url} from another machine")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                found.append(f"{name}: {url} does not exist")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{name}: {url} has no such anchor")
    if not pages:
        found.append(f"{folder}: no pages")
    return found


def main(folder: str) -> int:
    found = problems(Path(folder))
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
