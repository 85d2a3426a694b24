"""The result of `lint`: what in each manifest keeps its pods from being aligned."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.lint.finding import Finding
    from numalign.errors import InputError
    from numalign.model.pod import QoS


class LintedPod(NamedTuple):
    """One pod or template, or a claim that no pod uses, and where it stands."""

    name: str
    namespace: str
    qos: QoS | None
    """None: it is a claim."""
    kind: str
    """Of the object that carries the pod."""
    owner: str
    """That object's name."""
    file: str
    is_file: bool
    """False: standard input."""
    line: int
    findings: tuple[Finding, ...]
    lines: tuple[int, ...]
    """A line a finding."""
    ignored: tuple[str, ...]
    """Codes that would have been found, had nobody said to pass over them."""
    judged: bool = True
    """Whether any container wants alignment; else nothing is said of the pod."""
    known: tuple[str, ...] = ()
    """Codes of the findings that the baseline has and that are passed over, one a finding."""

    def without(self, codes: Collection[str]) -> LintedPod:
        """Pass over findings with some codes."""
        kept = [(finding, line) for finding, line in self.found if finding.code not in codes]
        return self._replace(
            findings=tuple(finding for finding, _ in kept),
            lines=tuple(line for _, line in kept),
            ignored=(*self.ignored, *(finding.code for finding in self.findings if finding.code in codes)),
        )

    @property
    def found(self) -> Iterable[tuple[Finding, int]]:
        """The findings with their lines."""
        return zip(self.findings, self.lines, strict=True)


class KnownFinding(NamedTuple):
    """A finding as a baseline knows it again: its line, and the amounts it is about, may change."""

    file: str
    """From the baseline's folder on; `-`: standard input."""
    pod: str
    """Kind, namespace and name: `Deployment shop/web`."""
    container: str
    """Name; empty: the pod as a whole."""
    code: str


class LintResult(NamedTuple):
    """All manifests."""

    machine: str | None
    """The machine they were judged by; None: judged without one."""
    pods: tuple[LintedPod, ...]
    broken: tuple[InputError, ...] = ()
    """Claims and classes beside the pods that are none; the pods are judged without them."""
    gone: tuple[tuple[KnownFinding, int], ...] = ()
    """What the baseline has and nobody found any more, with how often."""
