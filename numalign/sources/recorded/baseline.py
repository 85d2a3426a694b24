"""A baseline of `numalign lint`: the findings that a repository has already, in a file beside its manifests."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Final

from numalign.model.document import as_dict, field, fixed, record
from numalign.model.document.schema import schema_line
from numalign.model.document.values import integer, list_of, text
from numalign.results.lint import KnownFinding
from numalign.sources.text.yaml import read_one

KIND: Final = "LintBaseline"
_MAX_COUNT: Final = 1_000_000
_HEAD: Final = """\
# What `numalign lint --baseline` passes over: findings that were there before. Lines may move; a further finding of the
# same code counts as new. `numalign lint --baseline FILE --write-baseline …` writes it anew.
apiVersion: numalign/v1
kind: LintBaseline
"""


def read_baseline(path: str) -> Counter[KnownFinding]:
    """Read how often each finding was there.

    Raises:
        InputError: the file cannot be read, or is no baseline.
    """
    found: Counter[KnownFinding] = Counter()
    for one in read_one(path, BASELINE):
        count = one.pop("count")
        found[KnownFinding(**one)] += count
    return found


def written(findings: Mapping[KnownFinding, int]) -> str:
    """Write a baseline: a line a finding, in order, so that a change of it reads well in a diff."""
    rows = [{**one._asdict(), "count": count} for one, count in sorted(findings.items()) if count]
    lines = [f"- {json.dumps(row)}\n" for row in rows]
    return f"{schema_line('baseline')}{_HEAD}findings:{' []' * (not lines)}\n{''.join(lines)}"


_FINDING: Final = record(
    as_dict,
    field("file", text(), says="From the baseline's folder on."),
    field("pod", text(), says="Kind, namespace and name."),
    field("container", text(empty=True), "", says="Empty: the pod as a whole."),
    field("code", text()),
    field("count", integer(1, _MAX_COUNT), 1),
)
BASELINE: Final = record(
    lambda *, findings: findings,
    fixed("apiVersion"),
    fixed("kind", KIND),
    field("findings", list_of(_FINDING, "a list of findings")),
    wanted=f"a {KIND}: a mapping",
)
"""A baseline."""
