"""The rules of `lint` that need no machine. Each function is one rule: it takes a pod and yields what it finds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numalign.analysis.lint.finding import Finding
from numalign.analysis.lint.subject import Part, Subject
from numalign.model.quantity import NANO, QuantityError, canonical, from_int, parse
from numalign.model.resources import is_hugepages, page_size

MILLI = 10**6
"""Billionths in a thousandth."""


def not_guaranteed(subject: Subject) -> Iterator[Finding]:
    """CPU Manager and Memory Manager serve Guaranteed pods alone (docs/rules/topology-manager.md 11.1)."""
    if subject.guaranteed:
        return
    devices = any(amount for demand in subject.demand.containers for _, amount in demand.devices)
    left = "only its devices are aligned" if devices else "nothing of it is aligned"
    yield Finding(
        f"the pod is {subject.pod.qos}, not Guaranteed: it runs in the shared pool, and {left}",
        "give every container, init containers too, limits for cpu and memory, and requests equal to them or none",
        "spec",
        "unaligned",
    )


def limit_missing(subject: Subject) -> Iterator[Finding]:
    """Without limits for cpu and memory in every container a pod is not Guaranteed; a limit of 0 is none."""
    for part in subject.parts:
        missing = [name for name in ("cpu", "memory") if not _has_limit(part, name)]
        if "memory" in missing and _huge_pages(part):
            missing.remove("memory")  # the rule about huge pages says it
        if missing:
            yield Finding(
                f"no limit for {' and '.join(missing)}: the pod cannot be Guaranteed",
                f"set {' and '.join(_limit_to_set(part, name) for name in missing)}",
                part.field("limits"),
                "unaligned",
                part.container.name,
            )


def request_not_limit(subject: Subject) -> Iterator[Finding]:
    """A request below its limit makes a pod Burstable."""
    for part in subject.parts:
        for name in ("cpu", "memory"):
            request = part.container.requests.get(name)
            limit = part.container.limits.get(name)
            if request is not None and limit is not None and limit.nano > 0 and request.nano != limit.nano:
                both = f"{canonical(request)} differs from the limit {canonical(limit)}"
                yield Finding(
                    f"the {name} request {both}: the pod cannot be Guaranteed",
                    f"set requests.{name} to {canonical(limit)}, or leave it out",
                    part.field("requests", name),
                    "unaligned",
                    part.container.name,
                )


def fractional_cpus(subject: Subject) -> Iterator[Finding]:
    """A container whose CPUs are no whole number runs in the shared pool (docs/rules/cpu-manager.md 5.1)."""
    for part in subject.parts:
        which = "limits" if "cpu" in part.container.limits else "requests"
        quantity = getattr(part.container, which).get("cpu")
        if part.container.kind != "app" or quantity is None or -(-quantity.nano // MILLI) % 1000 == 0:
            continue
        whole = -(-quantity.nano // NANO)
        yield Finding(
            f"{canonical(quantity)} CPUs is no whole number: the container runs in the shared pool, its CPUs unaligned",
            f"set limits.cpu to {whole}" + (f" or {whole - 1}" if whole > 1 else ""),
            part.field(which, "cpu"),
            "unaligned",
            part.container.name,
        )


def sidecar_cpus(subject: Subject) -> Iterator[Finding]:
    """A sidecar holds its exclusive CPUs beside the app containers' as long as the pod lives."""
    for part in subject.parts:
        if part.container.kind == "sidecar" and part.demand.cpus:
            cpus = part.demand.cpus
            yield Finding(
                f"the sidecar holds {cpus} exclusive CPU{'s' * (cpus > 1)} of its own as long as the pod lives",
                f"if the shared pool will do for it, set its limits.cpu to a fraction such as {1000 * cpus - 100}m",
                part.field("limits", "cpu"),
                "note",
                part.container.name,
            )


def dra_claim(subject: Subject) -> Iterator[Finding]:
    """Devices of dynamic resource allocation give the Topology Manager no hints (docs/rules/dra.md)."""
    used = False
    for part, manifest in zip(subject.parts, _manifests(subject), strict=True):
        names = [claim["name"] for claim in (manifest.get("resources") or {}).get("claims") or ()]
        used = used or bool(names)
        if names:
            yield Finding(
                f"claim{'s' * (len(names) > 1)} {', '.join(names)}: what is claimed takes no part in the alignment",
                "ask for the device by a device plugin's resource, such as limits: {nvidia.com/gpu: 1}",
                f"{part.path}.resources.claims",
                "unaligned",
                part.container.name,
            )
    if subject.pod.spec.get("resourceClaims") and not used:
        yield Finding(
            "resourceClaims that no container uses: what is claimed takes no part in the alignment",
            "leave spec.resourceClaims out",
            "spec.resourceClaims",
            "note",
        )


def pod_level_resources(subject: Subject) -> Iterator[Finding]:
    """CPU Manager and Memory Manager skip pods with resources for the whole pod (docs/rules/kubelet-versions.md 6)."""
    resources = subject.pod.spec.get("resources") or {}
    named = {name for which in ("requests", "limits") for name in resources.get(which) or {}}
    if any(name in ("cpu", "memory") or is_hugepages(name) for name in named):
        yield Finding(
            "resources for the whole pod: CPU Manager and Memory Manager pin nothing of it (1.34 to 1.36 by default)",
            "give each container requests and limits of its own, and leave spec.resources out",
            "spec.resources",
            "unaligned",
        )


def hugepages_without_memory(subject: Subject) -> Iterator[Finding]:
    """Huge pages are aligned by the Memory Manager, which serves Guaranteed pods alone: a memory limit is needed."""
    for part in subject.parts:
        pages = _huge_pages(part)
        if pages and not _has_limit(part, "memory"):
            yield Finding(
                f"{', '.join(pages)} without a memory limit: the pod cannot be Guaranteed, huge pages are not aligned",
                f"set {_limit_to_set(part, 'memory')}",
                part.field("limits", pages[0]),
                "unaligned",
                part.container.name,
            )


def hugepages_name(subject: Subject) -> Iterator[Finding]:
    """Nodes offer huge pages under one name a size, and names are compared as text (memory-manager.md 19)."""
    for part in subject.parts:
        for name in _huge_pages(part):
            size = page_size(name)
            try:
                known = canonical(from_int(parse(size).nano // NANO, "BinarySI"))
            except QuantityError:
                continue
            if known != size:
                yield Finding(
                    f"no node offers {name}: huge pages of this size are named hugepages-{known}",
                    f"write hugepages-{known}",
                    part.field("limits", name),
                    "impossible",
                    part.container.name,
                )


def _has_limit(part: Part, name: str) -> bool:
    limit = part.container.limits.get(name)
    return limit is not None and limit.nano > 0


def _limit_to_set(part: Part, name: str) -> str:
    request = part.container.requests.get(name)
    if request is not None and request.nano > 0:
        return f"limits.{name} to {canonical(request)}, the request"
    return f"limits.{name} to " + ("a whole number of CPUs" if name == "cpu" else "what it needs")


def _huge_pages(part: Part) -> list[str]:
    return sorted(name for name in part.container.requests if is_hugepages(name))


def _manifests(subject: Subject) -> list[Any]:
    spec = subject.pod.spec
    return [*(spec.get("initContainers") or ()), *spec["containers"]]
