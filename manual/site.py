"""`python -m manual.site SITE`: build the site strictly, with the addresses that `numalign/version.py` gives.

Canonical addresses, the sitemap, previews of links and links to edit a page need one; without it there are none.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from numalign.version import ADDRESS

CONFIGURATION: Final = Path(__file__).parent.parent / "mkdocs.yml"
SHORTEST: Final = 60
LONGEST: Final = 200
"""Characters of a page's description: it says enough, and is not cut."""


def addresses(address: str) -> dict[str, str]:
    """Give what `mkdocs.yml` takes from the environment; nothing without an address."""
    return {"SITE_ADDRESS": f"{address}/docs/", "SOURCE_ADDRESS": f"{address}/source"} if address else {}


def described(page: str, common: str) -> str:
    """Describe a page by its first paragraph, where the theme writes the description of the whole site."""
    title, _, article = page.partition("<h1")[2].partition("</h1>")
    found = re.search(r"<p>(.*?)</p>", article, re.DOTALL)
    text = " ".join(_text(found[1] if found else "").split())[:LONGEST]
    text = text[: text.rfind(".") + 1]
    if len(text) < SHORTEST:
        text = f"{_text(title.partition('>')[2]).rstrip('¶')}. {common}."
    return page.replace(f'content="{common}"', f'content="{html.escape(text)}"')


def _text(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", markup))


def build(site: Path, address: str = ADDRESS) -> None:
    """Build the pages into a folder, and describe each but the first."""
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "--config-file", str(CONFIGURATION)]
    subprocess.run(command, env={**os.environ, **addresses(address), "SITE_FOLDER": str(site.resolve())}, check=True)  # noqa: S603 (the project's own)
    common = html.escape(_description(), quote=False)
    for path in site.rglob("*.html"):
        if path.parent != site:
            path.write_text(described(path.read_text(encoding="utf-8"), common), encoding="utf-8")


def _description() -> str:
    found = re.search(r"^site_description: (.*)$", CONFIGURATION.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""


if __name__ == "__main__":
    build(Path(sys.argv[1]))
