"""What keeps a pod from being aligned, told from its manifest: a table of rules, each a code, an effect and a function.

docs/lint.md is the manual page. A new rule is a function, a row here, a page in `pages` and its cases in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from numalign.analysis.lint import in_manifest as lint_manifest
from numalign.analysis.lint import on_machine as lint_machine
from numalign.analysis.lint import pod_level as lint_pod_level
from numalign.analysis.lint.finding import Effect, Finding
from numalign.analysis.lint.subject import Subject, subject
from numalign.errors import InputError
from numalign.kubelet.admission import Session
from numalign.model.path import child
from numalign.model.pod import Pod
from numalign.model.words import nearest
from numalign.values import NamedTuple

IGNORE = "numalign/ignore"
"""The annotation of a pod, or of a template, that names codes to pass over."""


class Rule(NamedTuple):
    """One rule."""

    code: str
    """Stable, kebab-case."""
    effect: Effect
    """The worst it can come to."""
    check: Callable[[Subject], Iterator[Finding]]


RULES: tuple[Rule, ...] = (
    Rule("not-guaranteed", "unaligned", lint_manifest.not_guaranteed),
    Rule("limit-missing", "unaligned", lint_manifest.limit_missing),
    Rule("request-not-limit", "unaligned", lint_manifest.request_not_limit),
    Rule("fractional-cpus", "unaligned", lint_manifest.fractional_cpus),
    Rule("sidecar-cpus", "note", lint_manifest.sidecar_cpus),
    Rule("injected-proxy", "note", lint_manifest.injected_proxy),
    Rule("network-devices", "note", lint_manifest.network_devices),
    Rule("fractional-bytes", "rejected", lint_machine.fractional_bytes),
    Rule("odd-cpus", "rejected", lint_machine.odd_cpus),
    Rule("unequal-widths", "rejected", lint_machine.unequal_widths),
    Rule("dra-claim", "unaligned", lint_manifest.dra_claim),
    Rule("pod-level-resources", "unaligned", lint_pod_level.pod_level_resources),
    Rule("static-pod-level", "note", lint_pod_level.static_pod_level),
    Rule("restart-device", "note", lint_manifest.restart_device),
    Rule("restart", "note", lint_machine.restart),
    Rule("hugepages-without-memory", "unaligned", lint_manifest.hugepages_without_memory),
    Rule("hugepages-name", "impossible", lint_manifest.hugepages_name),
    Rule("device-missing", "impossible", lint_machine.device_missing),
    Rule("exceeds-machine", "impossible", lint_machine.exceeds_machine),
)
"""In the order in which findings are told."""

CLAIM_CODES: tuple[str, ...] = (
    "claim-absent",
    "claim-attribute",
    "claim-class",
    "claim-selector",
    "claim-devices",
    "claim-cpus",
    "claim-and-cpus",
)
"""Codes of findings about what a pod claims, which are told from more than the pod (`tasks.dra_lint`)."""

CODES: tuple[str, ...] = (*(rule.code for rule in RULES), *CLAIM_CODES)


class Report(NamedTuple):
    """What is to be said of one pod."""

    pod: Pod
    judged: bool
    """Whether any container wants alignment."""
    findings: tuple[Finding, ...]
    ignored: tuple[str, ...]
    """Codes that would have been found, had nobody said to pass over them."""


def lint(
    pod: Pod, on: Session | None = None, ignore: Collection[str] = (), about_claims: Sequence[Finding] = ()
) -> Report:
    """Examine one pod.

    Only a pod with a container that wants alignment is judged: one that asks for devices, claims, huge pages or whole
    CPUs, or whose pod says so (`subject.ALIGN`).

    Args:
        pod: as the API server accepts it.
        on: an empty node with a kubelet, to judge by; None: what depends on it is a note, or is not told.
        ignore: codes to pass over, or `code@container`, beside those of the pod's own annotation.
        about_claims: findings about what the pod claims.

    Raises:
        InputError: the annotation names an unknown code; `where` is its path in the pod.
    """
    passed = {*ignore, *_annotated(pod)}
    looked_at = subject(pod, on)
    found = [
        finding._replace(code=rule.code)
        for rule in (RULES if looked_at.judged else ())
        for finding in rule.check(looked_at)
    ]
    found += about_claims
    kept = tuple(one for one in found if not passed & {one.code, f"{one.code}@{one.container}"})
    ignored = dict.fromkeys(one.code for one in found if one not in kept)
    return Report(pod, looked_at.judged or bool(about_claims), kept, tuple(ignored))


def _annotated(pod: Pod) -> Sequence[str]:
    text = pod.annotations.get(IGNORE)
    if text is None:
        return ()
    codes = [code.strip() for code in text.split(",") if code.strip()]
    for code in codes:
        check_ignored(code, child("metadata.annotations", IGNORE))
    return codes


def check_ignored(text: str, where: str) -> None:
    """Refuse to pass over a code that no rule has; `code@container` is one in one container.

    Raises:
        InputError: with the nearest code that there is.
    """
    code, at, container = text.partition("@")
    check_code(code, where)
    if at and not container:
        raise InputError(f'expected {code}@CONTAINER, got "{text}"', where)


def check_code(code: str, where: str) -> None:
    """Refuse a code that no rule has.

    Raises:
        InputError: with the nearest code that there is.
    """
    if code not in CODES:
        near = nearest(code, CODES, 0.0)
        raise InputError(f'unknown rule "{code}"; hint: similar: {near}', where)
