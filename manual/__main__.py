"""`python -m manual FILE`: write the page of all commands, which the site takes; `make site` runs it."""

from __future__ import annotations

import sys
from pathlib import Path

from manual.markdown import reference

Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
