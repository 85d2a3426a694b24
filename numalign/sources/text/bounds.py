"""How much a file that people write may ask of its reader."""

from __future__ import annotations

from typing import Final

MAX_DEPTH: Final = 200
"""Deepest nesting of lists and mappings."""
MAX_EXPANDED: Final = 200_000
"""Most nodes that the aliases of one document may stand for."""
MAX_VALUES: Final = 5_000_000
"""Most values and keys of one document; a dump of 64 MiB has three to four million."""
MAX_DOCUMENTS: Final = 1_000_000
"""Most documents of one file."""
MAX_YAML_VALUES: Final = 1_000_000
"""Most values and keys of one document in YAML, twenty times as slow to read as JSON: some three seconds."""
