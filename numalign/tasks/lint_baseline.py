"""Findings of `lint` that a repository has already: passed over, and told when they are gone."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from posixpath import normpath
from typing import TYPE_CHECKING

from numalign.results.lint import KnownFinding, LintedPod, LintResult

if TYPE_CHECKING:
    from numalign.analysis.lint.finding import Finding


def pass_over(result: LintResult, known: Counter[KnownFinding], baseline: str, names: Sequence[str]) -> LintResult:
    """Take the known findings out, and name those that are no longer there.

    Args:
        result: what was found now.
        known: the baseline, as often as each finding was there.
        baseline: its file; paths in it start at its folder.
        names: the files and folders that were looked at; of others nothing is said to be gone, unless there is no such
            file any more.
    """
    left = Counter(known)
    pods = []
    for pod in result.pods:
        kept: list[tuple[Finding, int]] = []
        codes: list[str] = []
        for finding, line in pod.found:
            key = _key(pod, finding, baseline)
            if left[key] > 0:
                left[key] -= 1
                codes.append(finding.code)
            else:
                kept.append((finding, line))
        findings, lines = tuple(one for one, _ in kept), tuple(line for _, line in kept)
        pods.append(pod._replace(findings=findings, lines=lines, known=tuple(codes)))
    looked_at = _LookedAt(baseline, names)
    gone = {one: count for one, count in sorted(left.items()) if count > 0 and one in looked_at}
    return result._replace(pods=tuple(pods), gone=tuple(gone.items()))


def brought_up_to_date(
    result: LintResult, known: Counter[KnownFinding], baseline: str, names: Sequence[str]
) -> Counter[KnownFinding]:
    """Make the baseline of what was found now; of files that were not looked at it keeps what it had."""
    looked_at = _LookedAt(baseline, names)
    kept = Counter({one: count for one, count in known.items() if one not in looked_at})
    return kept + Counter(_key(pod, finding, baseline) for pod in result.pods for finding in pod.findings)


def _key(pod: LintedPod, finding: Finding, baseline: str) -> KnownFinding:
    file = os.path.relpath(pod.file, os.path.dirname(baseline) or ".") if pod.is_file else "-"
    return KnownFinding(file, f"{pod.kind} {pod.namespace}/{pod.name}", finding.container, finding.code)


class _LookedAt:
    """Tells of which findings one would have heard, if they were still there."""

    def __init__(self, baseline: str, names: Sequence[str]) -> None:
        self._folder = os.path.dirname(baseline)
        self._names = {name if name == "-" else normpath(name) for name in names}

    def __contains__(self, one: KnownFinding) -> bool:
        if one.file == "-":
            return "-" in self._names
        path = PurePosixPath(normpath(os.path.join(self._folder, one.file)))
        return any(str(near) in self._names for near in (path, *path.parents)) or not os.path.exists(path)
