"""`python -m manual.weight SITE`: what a page weighs as it is sent, compressed; `make site` holds it to a limit.

Counted is what a page names: styles, scripts, pictures. Apart are the search index and the playground, which brings
Python.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

MOST: Final = 400_000
"""Bytes of a page."""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.files: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        loaded = values.get("rel") in ("stylesheet", "icon")
        name = values.get("href") if tag == "link" and loaded else values.get("src")
        if name and not urlsplit(name).scheme and not name.startswith("/"):
            self.files.add(unquote(urlsplit(name).path))


def weights(site: Path) -> Iterator[tuple[str, int]]:
    """Give each page and its bytes."""
    for path in sorted(site.rglob("index.html")):
        if path.parent.name != "playground":
            reader = _Reader()
            reader.feed(path.read_text(encoding="utf-8"))
            files = {path, *((path.parent / name).resolve() for name in reader.files)}
            yield path.relative_to(site).as_posix(), sum(map(_sent, files))


@cache
def _sent(path: Path) -> int:
    return len(gzip.compress(path.read_bytes(), 6))


def main(site: str) -> int:
    """Tell the heaviest page; the exit status is 1 when one is too heavy."""
    found = sorted(weights(Path(site)), key=lambda one: -one[1])
    heavy = [one for one in found if one[1] > MOST]
    for name, size in heavy or found[:1]:
        sys.stdout.write(f"{name}: {size / 1000:.0f} KB as sent, at most {MOST // 1000} KB\n")
    return int(bool(heavy or not found))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
