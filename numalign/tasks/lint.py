"""Tell what in manifests keeps pods from being aligned; a machine makes more of it certain.

Findings that a repository has already (its baseline) are passed over, and told when they are gone.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import PurePosixPath
from posixpath import normpath
from typing import TYPE_CHECKING

from numalign.analysis.lint.check import Report, check_ignored
from numalign.analysis.lint.check import lint as lint_pod
from numalign.errors import InputError
from numalign.results.lint import KnownFinding, LintedPod, LintResult
from numalign.tasks.loaded_pods import file_of

if TYPE_CHECKING:
    from numalign.analysis.lint.finding import Finding
    from numalign.kubelet.admission import Session
    from numalign.kubelet.setup import Setup
    from numalign.sources.pods.manifest import PodSource
    from numalign.sources.text.yaml import Document
    from numalign.tasks.dra_lint import ClaimRules


def lint(
    sources: Sequence[PodSource],
    *,
    on: Setup | None = None,
    ignore: Sequence[str] = (),
    files: Sequence[str] = (),
    slices: str | None = None,
    documents: Sequence[Document] = (),
    claims_alone: bool = False,
) -> LintResult:
    """Examine pods, manifest by manifest.

    Args:
        sources: the pods and where they stand.
        on: the machine to judge by, with its kubelet; None: what depends on it is a note.
        ignore: codes (or `code@container`) to pass over, beside those of the pods' own annotations.
        files: where the pods come from; claims, templates and classes in them are judged too.
        slices: a dump of what is published, to judge claims by.
        documents: those of standard input that have claims.
        claims_alone: the files have claims or templates; those that no pod uses are judged too.

    Raises:
        InputError: an unknown code, or a claim or slice that is none.
        StartError: the kubelet would refuse to start on the machine.
    """
    for code in ignore:
        check_ignored(code, "--ignore")
    session = claims = None
    if on is not None:
        from numalign.kubelet.admission import open_session

        session = open_session(on)
    if claims_alone or slices is not None or any(source.pod.spec.get("resourceClaims") for source in sources):
        from numalign.tasks.dra_lint import ClaimRules

        claims = ClaimRules(files, slices, documents)
    pods: list[LintedPod] = []
    # Pods of one document get their lines together: a large one is read for them once.
    for _, members in groupby(sources, key=lambda source: id(source.document)):
        pods += _linted(tuple(members), session, ignore, claims)
    if claims is not None and claims_alone:
        pods += (one.without(ignore) for one in claims.alone())
    return LintResult(on.machine.name if on else None, tuple(pods), tuple(claims.broken) if claims else ())


def _linted(
    sources: Sequence[PodSource], on: Session | None, ignore: Sequence[str], claims: ClaimRules | None
) -> Iterator[LintedPod]:
    """Examine the pods of one document."""
    document = sources[0].document
    reports: list[Report] = []
    for source in sources:
        try:
            about_claims, passed_over = claims.findings(source.pod, document.name) if claims is not None else ((), ())
            report = lint_pod(source.pod, on, ignore, about_claims)
            reports.append(report._replace(ignored=tuple(dict.fromkeys((*report.ignored, *passed_over)))))
        except InputError as error:
            raise document.error(error.message, source.template.place(error.where)) from None
    places = [
        [source.template.path, *(source.template.place(finding.path) for finding in report.findings)]
        for source, report in zip(sources, reports, strict=True)
    ]
    lines = iter(document.lines(place for of_pod in places for place in of_pod))
    for source, report in zip(sources, reports, strict=True):
        yield LintedPod(
            name=source.pod.name,
            namespace=source.pod.namespace,
            qos=source.pod.qos,
            kind=source.kind,
            owner=source.owner,
            file=document.name,
            is_file=file_of(source) is not None,
            line=next(lines),
            findings=report.findings,
            lines=tuple(islice(lines, len(report.findings))),
            ignored=report.ignored,
            judged=report.judged,
        )


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
