"""`python -m manual.links SITE`: every link of the built site leads to a page, a file or an anchor that is there.

What leaves the site is only looked at, never fetched: an address with a scheme and a host. `make site` runs it after
the strict build, which knows the Markdown alone: links in menus, headings, raw HTML and to files are told here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from manual.site import addresses
from numalign.version import ADDRESS

_HERE = "http://site"
_ATTRIBUTES = ("href", "src", "data-src", "poster")


class Links(NamedTuple):
    """What one page has."""

    anchors: frozenset[str]
    targets: tuple[tuple[int, str], ...]
    """Line and link, as they are written."""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: list[tuple[int, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            elif name in _ATTRIBUTES:
                self.targets.append((self.getpos()[0], value))


def read(text: str) -> Links:
    """Read the links and the anchors of a page."""
    reader = _Reader()
    reader.feed(text)
    return Links(frozenset(reader.anchors), tuple(reader.targets))


def problems(site: Path, address: str = ADDRESS) -> Iterator[str]:
    """Tell every link that leads nowhere, as `page:line: what`; the site is below its address's path."""
    root = urlsplit(addresses(address).get("SITE_ADDRESS", "/")).path
    pages = {
        str(path.relative_to(site)): read(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))
    }
    if not pages:
        yield f"{site}: no page"
    for name, page in pages.items():
        for line, target in page.targets:
            wrong = _wrong(site, pages, root, name, target)
            if wrong:
                yield f"{name}:{line}: {target}: {wrong}"


def _wrong(site: Path, pages: Mapping[str, Links], root: str, page: str, target: str) -> str | None:
    """Tell what is wrong with a link of a page; None: nothing."""
    if target.startswith(("data:", "javascript:", "mailto:")):
        return None
    parts = urlsplit(urljoin(f"{_HERE}{root}{page}", target.strip()))
    if parts.netloc != "site":
        well = parts.scheme in ("http", "https") and "." in parts.netloc and not set(target) & set(' <>"')
        return None if well else "no address"
    file = unquote(parts.path).removeprefix(root).lstrip("/")
    if (site / file).is_dir():
        file = f"{file.rstrip('/')}/index.html".lstrip("/")
    if not (site / file).is_file():
        return "no such page or file"
    anchor = unquote(parts.fragment)
    if file == "playground/index.html" and anchor.startswith("1."):
        return None  # a question: `playground.link`
    if anchor and file in pages and anchor not in pages[file].anchors and not anchor.startswith("__"):
        return "no such anchor"
    return None


def main(site: str) -> int:
    """Tell the problems; the exit status is 1 when there is one."""
    found = list(problems(Path(site)))
    for problem in found:
        sys.stderr.write(f"{problem}\n")
    pages = [read(path.read_text(encoding="utf-8")) for path in Path(site).rglob("*.html")]
    sys.stdout.write(
        f"{len(pages)} pages, {sum(len(page.targets) for page in pages)} links, {len(found)} lead nowhere\n"
    )
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
