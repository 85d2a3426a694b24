"""How much a file that people write may ask of its reader."""

from __future__ import annotations

from typing import Final

MAX_DEPTH: Final = 200
"""Deepest nesting of lists and mappings."""
MAX_EXPANDED: Final = 200_000
"""Most nodes that the aliases of one document may stand for."""
