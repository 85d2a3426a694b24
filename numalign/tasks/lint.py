"""Tell what in manifests keeps pods from being aligned; a machine makes more of it certain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING

from numalign.analysis.lint.check import Report, check_ignored
from numalign.analysis.lint.check import lint as lint_pod
from numalign.errors import InputError
from numalign.results.lint import LintedPod, LintResult
from numalign.tasks.setup import file_of

if TYPE_CHECKING:
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
    session = None if on is None else _empty_node(on)
    claims = None
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


def _empty_node(on: Setup) -> Session:
    from numalign.kubelet.admission import open_session

    return open_session(on)


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
            raise document.error(error.message, source.place(error.where)) from None
    places = [
        [source.path, *(source.place(finding.path) for finding in report.findings)]
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
