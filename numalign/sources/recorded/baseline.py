"""A baseline of `numalign lint`: the findings that a repository has already, in a file beside its manifests."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Final

from numalign.errors import InputError
from numalign.results.lint import KnownFinding
from numalign.sources.text import fields
from numalign.sources.text.fields import FieldError
from numalign.sources.text.yaml import load_file

KIND: Final = "LintBaseline"
_MAX_COUNT: Final = 1_000_000
_HEAD: Final = """\
# What `numalign lint --baseline` passes over: findings that were there before. Lines may move; a further finding of the
# same code counts as new. `numalign lint --baseline FILE --write-baseline …` writes it anew.
apiVersion: numalign/v1
kind: LintBaseline
"""


def read(path: str) -> Counter[KnownFinding]:
    """Read how often each finding was there.

    Raises:
        InputError: the file cannot be read, or is no baseline.
    """
    documents = load_file(path)
    if len(documents) != 1:
        raise InputError(f"expected one {KIND}, got {len(documents)} documents", path)
    try:
        return _findings(documents[0].data)
    except FieldError as error:
        raise InputError(error.message, documents[0].where(error.path)) from None


def _findings(data: object) -> Counter[KnownFinding]:
    top = fields.mapping(data, (), f"a {KIND}: a mapping")
    fields.only(top, ("apiVersion", "kind", "findings"), ())
    if top.get("kind") != KIND:
        raise FieldError(("kind",), f"expected {KIND}, got {fields.shown(top.get('kind'))}")
    found: Counter[KnownFinding] = Counter()
    for at, one in enumerate(fields.sequence(top.get("findings"), ("findings",), "a list of findings")):
        path = ("findings", at)
        row = fields.mapping(one, path)
        fields.only(row, (*KnownFinding._fields, "count"), path)
        texts = [
            fields.text(row.get(name, ""), (*path, name), empty=name == "container") for name in KnownFinding._fields
        ]
        found[KnownFinding(*texts)] += fields.integer(row.get("count", 1), (*path, "count"), 1, _MAX_COUNT)
    return found


def written(findings: Mapping[KnownFinding, int]) -> str:
    """Write a baseline: a line a finding, in order, so that a change of it reads well in a diff."""
    rows = [{**one._asdict(), "count": count} for one, count in sorted(findings.items()) if count]
    lines = [f"- {json.dumps(row)}\n" for row in rows]
    return f"{_HEAD}findings:{' []' * (not lines)}\n{''.join(lines)}"
