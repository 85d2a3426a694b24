"""What `lint` says of the claims of pods: names that never match, classes without devices, CPUs told twice or not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from numalign.analysis.lint.check import IGNORE, check_ignored
from numalign.analysis.lint.finding import Finding
from numalign.dra.claim_objects import ClaimObjects
from numalign.dra.features import features
from numalign.dra.lint import driver_of_class, lint_claim, lint_claim_on, requests_of
from numalign.dra.publish.cpus import CAPACITY, DRIVER
from numalign.dra.selection import MAX_SELECTOR_COST, Selection
from numalign.dra.values import Claim, Node
from numalign.errors import InputError
from numalign.model.path import child
from numalign.model.pod import Container, Pod, container_paths
from numalign.model.quantity import NANO, value
from numalign.results.lint import LintedPod
from numalign.sources.cluster.claims import read_beside_pods, read_slices
from numalign.sources.text.yaml import STDIN, Document, FilePath
from numalign.worlds.pod_claims import references, users


class ClaimRules:
    """Judges the claims of pods by the files they stand in, and by a cluster's slices if there are any."""

    def __init__(self, files: Iterable[FilePath], slices: FilePath | None, documents: Iterable[Document]) -> None:
        self.broken: list[InputError] = []
        """Objects in the files that are none, if there are several inputs; else the first of them is raised."""
        names = list(files)
        several = len(names) > 1 or any(os.path.isdir(name) for name in names)
        given = read_beside_pods(names, self.broken if several else None, documents)
        self._objects: ClaimObjects = given if slices is None else given.over(read_slices(slices, names))
        self._published = slices is not None
        self._given = given
        self._cost_left = MAX_SELECTOR_COST
        """What selectors may still cost, over all claims."""
        self._used: set[tuple[str, str, str]] = set()
        """What pods use: (`ResourceClaim NAME`, namespace, where it stands)."""

    def findings(self, pod: Pod, file: str) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
        """Judge the claims of a pod that stands in a file: findings, and codes that a claim's annotation passes over.

        Raises:
            InputError: the annotation names an unknown code.
        """
        named = list(references(pod, self._objects.near(file)))
        self._used |= {(one.wanted, pod.namespace, one.origin) for one in named}
        found: list[Finding] = []
        ignored: list[str] = []
        for index, one in enumerate(named):
            path = child("spec.resourceClaims", index)
            if one.claim is not None:
                codes = _passed_over(one.annotations, one.origin)
                for finding in self._claim(one.claim, path):
                    if finding.code in codes:
                        ignored.append(finding.code)
                    else:
                        found.append(finding)
            elif self._published:
                message = f"{one.wanted} is neither in these files nor in the cluster"
                found.append(Finding(message, "create it, or name another", path, "impossible", code="claim-absent"))
        claims = {one.name: one.claim for one in named if one.claim is not None}
        return (*found, *self._cpus(pod, claims)), tuple(ignored)

    def alone(self) -> Iterator[LintedPod]:
        """Judge the claims and templates of the files that no pod used so far."""
        for kind, known in (("ResourceClaim", self._given.claims), ("ResourceClaimTemplate", self._given.templates)):
            for key, first in known.items():
                for placed in (first, *self._given.again.get((kind, key), ())):
                    if (f"{kind} {key[1]}", key[0], placed.origin) in self._used:
                        continue
                    findings = tuple(self._claim(placed.claim, "spec.devices"))
                    line = int(placed.origin.rpartition(":")[2])
                    alone = LintedPod(
                        name=key[1],
                        namespace=key[0],
                        qos=None,
                        kind=kind,
                        owner=key[1],
                        file=placed.file,
                        is_file=placed.file != STDIN,
                        line=line,
                        findings=findings,
                        lines=(line,) * len(findings),
                        ignored=(),
                    )
                    yield alone.without(_passed_over(placed.annotations, placed.origin))

    def _claim(self, claim: Claim, path: str) -> Iterator[Finding]:
        objects = self._objects
        seen = list(lint_claim(claim, objects.classes))
        if self._published:
            selection = Selection(Node(""), features(), self._cost_left)
            known = [one for one in seen if one.code == "claim-selector"]
            seen = [*known, *lint_claim_on(claim, objects.classes, objects.slices, selection)]
            self._cost_left = max(0, self._cost_left - selection.cost)
        for one in seen:
            yield Finding(one.message, one.advice, path, one.effect, code=one.code)

    def _cpus(self, pod: Pod, claims: dict[str, Claim]) -> Iterator[Finding]:
        """CPUs that a claim takes have to be asked for in the container too, until 1.37 (docs/rules/dra.md D-24)."""
        if pod.spec.get("resources"):
            return
        used = users(pod)
        shared: dict[str, list[str]] = {}
        for container in pod.containers:
            names = [name for name, _ in used.get(container.name, ())]
            wanted = sum(self._cpus_of(claims[name]) for name in names if name in claims)
            for name in names:
                if name in claims and self._cpus_of(claims[name]):
                    shared.setdefault(name, []).append(container.name)
            yield from _unmirrored(container, wanted, pod)
            if names and not wanted:
                yield from _mixed(container, names, pod)
        for name, containers in shared.items():
            if len(containers) > 1:
                both = " and ".join(containers)
                yield Finding(
                    f"claim {name} of CPUs is used by {both}: dra.cpu prepares a claim for 1 container",
                    "one claim for each container",
                    "spec.resourceClaims",
                    "unaligned",
                    code="claim-cpus",
                )

    def _cpus_of(self, claim: Claim) -> int:
        """Give how many CPUs a claim takes, in billionths."""
        return sum(
            form.capacity[CAPACITY].nano * form.number
            for _, form in requests_of(claim)
            if form.capacity
            and CAPACITY in form.capacity
            and driver_of_class(form.device_class, self._objects.classes) == DRIVER
        )


def _passed_over(annotations: Mapping[str, object], origin: str) -> tuple[str, ...]:
    """Read which codes a claim's own annotation passes over, as a pod's does."""
    text = annotations.get(IGNORE)
    codes = [code.strip() for code in text.split(",")] if isinstance(text, str) else []
    for code in filter(None, codes):
        check_ignored(code, f"{origin}: {child('metadata.annotations', IGNORE)}")
    return tuple(filter(None, codes))


def _unmirrored(container: Container, wanted: int, pod: Pod) -> Iterator[Finding]:
    asked = container.requests.get("cpu")
    if not wanted or (asked is not None and asked.nano >= wanted):
        return
    has = "nothing" if asked is None else f"{value(asked) if asked.nano % NANO == 0 else asked.nano / NANO}"
    number = -(-wanted // NANO)
    yield Finding(
        f"its claims take {number} CPUs and requests.cpu is {has}: CPUs and QoS class are counted wrong",
        f"set requests.cpu and limits.cpu to {number} (until drivers publish nodeAllocatableResources, 1.37)",
        f"{_path(container, pod)}.resources",
        "unaligned",
        container.name,
        code="claim-cpus",
    )


def _path(container: Container, pod: Pod) -> str:
    """Give a container's place in its pod."""
    return container_paths(pod)[pod.containers.index(container)]


def _mixed(container: Container, names: Iterable[str], pod: Pod) -> Iterator[Finding]:
    """CPUs that the kubelet gives and devices by claim are together by luck (docs/dra.md)."""
    asked = container.limits.get("cpu")
    if pod.qos == "Guaranteed" and asked is not None and asked.nano and asked.nano % NANO == 0:
        yield Finding(
            f"{asked.nano // NANO} CPUs come from the kubelet, {', '.join(names)} from a claim: nothing aligns the two",
            "claim the CPUs too (docs/dra.md), or compare with numalign admit --slices",
            f"{_path(container, pod)}.resources.claims",
            "unaligned",
            container.name,
            code="claim-and-cpus",
        )
