"""The functions and methods of the environment, put together from their libraries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from numalign.dra.cel import library_kubernetes, library_lists, library_standard, library_texts, library_times
from numalign.dra.cel.overload import Overload, Table


def _joined(parts: Iterable[Table]) -> Table:
    table: dict[str, tuple[Overload, ...]] = {}
    for part in parts:
        for name, overloads in part.items():
            table[name] = table.get(name, ()) + overloads
    return table


_LIBRARIES: Final = (library_standard, library_texts, library_lists, library_kubernetes, library_times)

FUNCTIONS: Final = _joined(library.FUNCTIONS for library in _LIBRARIES)
METHODS: Final = _joined(library.METHODS for library in _LIBRARIES)

UNSUPPORTED: Final = frozenset(
    """
    strings.quote format.named validate image isImage
    """.split()  # noqa: SIM905  # one name a line would be a page
)
"""What Kubernetes' environment has and numalign does not; refused by name (docs/rules/dra.md D-21)."""
