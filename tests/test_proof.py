"""docs/proof.md counts what numalign is held against; the counts are the tests' own.

`NUMALIGN_UPDATE_GOLDEN=1` writes the table anew.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator

from tests.cli.running import ROOT
from tests.cli.test_public_issues import ISSUES
from tests.conformance import _lines, family_files
from tests.node.test_live import CHANGES, judged
from tests.sources.host.snapshots import names

PAGE = ROOT / "docs/proof.md"
HEAD = "| how many | what | held by |\n| --- | --- | --- |\n"
KINDS = {
    "dra": "choices of the claims' allocator of 1.36 and 1.34, and of its selectors",
    "sched": "cases of NUMA-aware schedulers, from public tests or from the rules",
    "1.37": "cases of kubelet 1.37, from its development or its published changes",
}


def kind(family: str) -> str:
    """Name what a family of recorded decisions shows."""
    release = "1.37" if family == "podrequests" else family.rpartition("-")[2] if "-" in family else "1.32"
    return KINDS.get(family.partition("_")[0]) or KINDS.get(release) or f"recorded cases of kubelet {release}"


def rows() -> Iterator[tuple[int, str, str]]:
    counts: Counter[str] = Counter()
    for family, path in family_files(ROOT / "tests/vectors"):
        counts[kind(family)] += sum(1 for _ in _lines(path))
    for what in sorted(counts, key=lambda one: (one in KINDS.values(), one)):
        yield counts[what], what, "test_conformance.py"
    yield len(list(judged())), "pods that running kubelets admitted or rejected", "node/test_live.py"
    yield len(CHANGES), "starts of a running kubelet after its node changed", "node/test_live.py"
    yield len(names()), "machines, with what other tools print there", "sources/host/test_sysfs_facts.py"
    yield len(ISSUES), "questions of public issues, as the threads ended", "cli/test_public_issues.py"


def test_the_counts_are_those_of_the_tests() -> None:
    table = HEAD + "".join(f"| {count} | {what} | `tests/{test}` |\n" for count, what, test in rows())
    page = PAGE.read_text(encoding="utf-8")
    written = re.search(re.escape(HEAD) + r"(\|.*\n)*", page)
    assert written is not None
    if os.environ.get("NUMALIGN_UPDATE_GOLDEN"):
        PAGE.write_text(page.replace(written[0], table), encoding="utf-8")
    else:
        assert written[0] == table
