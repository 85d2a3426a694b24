"""What scripts read: JSON as promised in docs/json.md, as plain data for `json.dumps` and `yaml.dump`.

Here is what every document begins and ends with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numalign.errors import Notice

Data = dict[str, Any]
"""An object of JSON; docs/json.md describes each."""


def head(kind: str) -> Data:
    """Begin a document: the version of its format, and its kind. Keys are only ever added to a kind."""
    return {"apiVersion": "numalign/v1", "kind": kind}


def warnings(notices: Iterable[Notice]) -> list[Data]:
    """Write what was said on standard error, too, for those who only read the document."""
    found = tuple(notices)
    if not found:
        return []
    from numalign.notices import with_fix

    return [with_fix(notice)._asdict() for notice in found]
