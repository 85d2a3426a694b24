"""What scripts read: JSON as promised in docs/json.md, as plain data for `json.dumps` and `yaml.dump`.

Here is what every document begins and ends with, and what several have inside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numalign.analysis.closeness import Neighbours
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


def closeness_json(pairs: Iterable[Neighbours]) -> list[Data]:
    """Write how close devices are on the PCI bus, each with the nearest of another resource, and pairs of GPUs."""
    return [{key: value for key, value in plain(pair).items() if value is not None} for pair in pairs]


def plain(value: object) -> Any:
    """Write a value as it is: the fields of a record in camelCase, tuples as lists; names that people gave stay."""
    if isinstance(value, tuple):
        written = list(map(plain, value))
        return dict(zip(map(camel, value._fields), written, strict=True)) if hasattr(value, "_fields") else written
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    return round(value, 6) if isinstance(value, float) else value


@cache
def camel(name: str) -> str:
    """Turn `pending_at_end` into `pendingAtEnd`, and `wait_s` into `waitSeconds`."""
    return re.sub(r"_(\w)", lambda match: match[1].upper(), re.sub(r"_s$", "_seconds", name))
