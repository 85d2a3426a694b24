"""`python -m manual FOLDER`: write the pages that the site makes of the tool itself; `make site` runs it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from manual.fields import fields
from manual.glossary import glossary
from manual.issues import page as issues
from manual.markdown import reference

PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "commands.md": reference,
    "json-fields.md": fields,
    "glossary.md": glossary,
    "issues.md": issues,
}
"""Page -> what writes it."""

HEAD: Final = "---\nmade: true\n---\n\n"
"""Tells the theme that there is nothing to edit."""

if __name__ == "__main__":
    for name, write in PAGES.items():
        (Path(sys.argv[1]) / name).write_text(HEAD + write(), encoding="utf-8")
