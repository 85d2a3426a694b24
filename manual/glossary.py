"""Writes the site's glossary, of the words that the tests hold every sentence to."""

from __future__ import annotations

import tomllib
from pathlib import Path

WORDS = Path(__file__).parent.parent / "tests" / "words.toml"
HEAD = "| word | means |\n| --- | --- |\n"


def glossary() -> str:
    """Write the page: a row a word."""
    rows = tomllib.loads(WORDS.read_text(encoding="utf-8"))["glossary"]
    table = "".join(f"| {row['word']} | {row['means']} |\n" for row in rows)
    return f"# Glossary\n\nOne word for one thing, in outputs and on these pages.\n\n{HEAD}{table}"
