"""Tell what in manifests keeps pods from being aligned; a machine makes more of it certain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.analysis.lint.check import check_code
from numalign.analysis.lint.check import lint as lint_pod
from numalign.errors import InputError
from numalign.results.lint import LintedPod, LintResult
from numalign.tasks.setup import file_of

if TYPE_CHECKING:
    from numalign.kubelet.admission import Session
    from numalign.kubelet.setup import Setup
    from numalign.sources.pods.manifest import PodSource


def lint(sources: Sequence[PodSource], *, on: Setup | None = None, ignore: Sequence[str] = ()) -> LintResult:
    """Examine pods, manifest by manifest.

    Args:
        sources: the pods and where they stand.
        on: the machine to judge by, with its kubelet; None: what depends on it is a note.
        ignore: codes to pass over, beside those of the pods' own annotations.

    Raises:
        InputError: an unknown code.
        StartError: the kubelet would refuse to start on the machine.
    """
    for code in ignore:
        check_code(code, "--ignore")
    session = None if on is None else _empty_node(on)
    return LintResult(on.machine.name if on else None, tuple(_linted(source, session, ignore) for source in sources))


def _empty_node(on: Setup) -> Session:
    from numalign.kubelet.admission import open_session

    return open_session(on)


def _linted(source: PodSource, on: Session | None, ignore: Sequence[str]) -> LintedPod:
    document, place = source.document, source.place
    try:
        report = lint_pod(source.pod, on, ignore)
    except InputError as error:
        raise document.error(error.message, place(error.where)) from None
    return LintedPod(
        name=source.pod.name,
        namespace=source.pod.namespace,
        qos=source.pod.qos,
        kind=source.kind,
        owner=source.owner,
        file=document.name,
        is_file=file_of(source) is not None,
        line=document.line(source.path),
        findings=report.findings,
        lines=tuple(document.line(place(finding.path)) for finding in report.findings),
        ignored=report.ignored,
    )
