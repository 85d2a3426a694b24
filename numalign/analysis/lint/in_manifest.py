"""The rules of `lint` that need no machine. Each function is one rule: it takes a pod and yields what it finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from numalign.analysis.lint.finding import Finding
from numalign.analysis.lint.subject import Part, Subject
from numalign.model.path import child
from numalign.model.pod import NETWORKS, pending_networks
from numalign.model.quantity import MILLI, NANO, QuantityError, canonical, from_int, parse
from numalign.model.resources import is_hugepages, page_size


def not_guaranteed(subject: Subject) -> Iterator[Finding]:
    """CPU Manager and Memory Manager serve Guaranteed pods alone (docs/rules/topology-manager.md 11.1)."""
    if subject.guaranteed:
        return
    devices = any(amount for demand in subject.demand.containers for _, amount in demand.devices)
    left = "only its devices are aligned" if devices else "nothing is aligned"
    yield Finding(
        f"the pod is {subject.pod.qos}: it runs in the shared pool and {left}",
        "give every (init) container equal cpu and memory requests and limits",
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
            knobs = [knob for name in missing if (knob := _knob(part, name, "…"))]
            yield Finding(
                f"the pod is not Guaranteed: no limit for {' and '.join(missing)}",
                "; ".join(knobs) or f"set {' and '.join(_limit_to_set(part, name) for name in missing)}",
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
            if request is not None and limit is not None and request.nano != limit.nano:
                both = f"{canonical(request)} and limit {canonical(limit)} differ"
                leave_out = f"remove requests.{name}"
                knob = _knob(part, name, canonical(limit))
                shares = name == "cpu" and part.wants and not _is_whole(limit.nano)
                yield Finding(
                    f"the pod is not Guaranteed: {name} request {both}",
                    knob or (leave_out if shares else f"set requests.{name} to {canonical(limit)}"),
                    part.field("requests", name),
                    "unaligned",
                    part.container.name,
                )


def fractional_cpus(subject: Subject) -> Iterator[Finding]:
    """A container whose CPUs are no whole number runs in the shared pool (docs/rules/cpu-manager.md 5.1).

    For one that wants alignment this is a fault; a helper may run there, beside one with CPUs of its own.
    """
    exclusive = [part.container.name for part in subject.parts if part.demand.cpus]
    for part in subject.parts:
        which = "limits" if "cpu" in part.container.limits else "requests"
        quantity = getattr(part.container, which).get("cpu")
        if part.container.kind != "app" or quantity is None or _is_whole(quantity.nano):
            continue
        if part.wants:
            yield Finding(
                f"{canonical(quantity)} is not a whole CPU: the container runs in the shared pool, not aligned",
                f"set limits.cpu to {_whole_cores(quantity.nano)}",
                part.field(which, "cpu"),
                "unaligned",
                part.container.name,
            )
        elif exclusive:
            yield Finding(
                f"{part.container.name} runs in the shared pool ({canonical(quantity)} CPUs) beside {exclusive[0]}, "
                "which has exclusive CPUs",
                _knob(part, "cpu", str(_whole_cores(quantity.nano)))
                or f"none needed if a helper may share CPUs; else set limits.cpu to {_whole_cores(quantity.nano)}",
                part.field(which, "cpu"),
                "note",
                part.container.name,
            )


def injected_proxy(subject: Subject) -> Iterator[Finding]:
    """Istio adds a container to the pod, whose requests differ from its limits unless annotations set them."""
    pod = subject.pod
    injected = {**pod.labels, **pod.annotations}.get("sidecar.istio.io/inject") == "true"
    if not injected or any(part.container.name == PROXY for part in subject.parts):
        return
    pairs = _KNOBS[PROXY].values()
    if all(pod.annotations.get(one) and pod.annotations.get(one) == pod.annotations.get(other) for one, other in pairs):
        return
    yield Finding(
        f"Istio adds the container {PROXY} with requests below its limits: the pod is not Guaranteed",
        f"annotate the pod with {ISTIO}proxyCPU and proxyCPULimit, proxyMemory and proxyMemoryLimit, equal in pairs",
        "metadata",
        "note",
    )


def network_devices(subject: Subject) -> Iterator[Finding]:
    """A network of Multus may bring a device that an injector adds to the pod's requests, unseen in the manifest."""
    text = pending_networks(subject.pod)
    if text:
        yield Finding(
            f"Multus attaches {text}: an injector may add devices that the manifest omits",
            "request the networks' devices, such as limits: {vendor.com/sriov: 1}, or judge the pod from the cluster",
            child("metadata.annotations", NETWORKS),
            "note",
        )


PROXY = "istio-proxy"
ISTIO = "sidecar.istio.io/"
_ISTIO = {"cpu": "CPU", "memory": "Memory"}
_KNATIVE = "queue.sidecar.serving.knative.dev/"
_KNOBS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    PROXY: {name: (f"{ISTIO}proxy{what}", f"{ISTIO}proxy{what}Limit") for name, what in _ISTIO.items()},
    "queue-proxy": {
        name: (f"{_KNATIVE}{name}-resource-request", f"{_KNATIVE}{name}-resource-limit") for name in ("cpu", "memory")
    },
}
"""Container that an injector adds -> resource -> the annotations that set its request and its limit."""


def _knob(part: Part, name: str, amount: str) -> str:
    """Say how the injector of a container is told to ask for an amount; empty where nobody injected it."""
    if part.container.name not in _KNOBS:
        return ""
    request, limit = _KNOBS[part.container.name][name]
    return f'annotate the pod with {request}: "{amount}" and {limit}: "{amount}"'


def _is_whole(nano: int) -> bool:
    """Tell whether CPUs, rounded up to thousandths, are a whole number (docs/rules/cpu-manager.md 5.1)."""
    return -(-nano // MILLI) % 1000 == 0


def _whole_cores(nano: int) -> int:
    """Round CPUs up to a number that cores of two threads give, too; one stays one."""
    cpus = -(-nano // NANO)
    return cpus if cpus == 1 else cpus + cpus % 2


def sidecar_cpus(subject: Subject) -> Iterator[Finding]:
    """A sidecar holds its exclusive CPUs beside the app containers' as long as the pod lives."""
    cpu = subject.on.node.cpu if subject.on else None
    handed_out = cpu.topology.cpus_per_core if cpu and cpu.options.full_pcpus_only else 1
    for part in subject.parts:
        cpus = part.demand.cpus
        if part.container.kind != "sidecar" or not cpus:
            continue
        if cpus % handed_out:
            continue  # `odd-cpus` says that the pod is refused, and names the fraction, too.
        yield Finding(
            f"the sidecar holds {cpus} exclusive CPU{'s' * (cpus > 1)} for the life of the pod",
            f"if shared CPUs are enough, set limits.cpu to a fraction, such as {1000 * cpus - 100}m",
            part.field("limits", "cpu"),
            "note",
            part.container.name,
        )


def dra_claim(subject: Subject) -> Iterator[Finding]:
    """Devices of dynamic resource allocation give the Topology Manager no hints (docs/rules/dra.md)."""
    used = False
    for part, manifest in zip(subject.parts, _manifests(subject), strict=True):
        names = [claim["name"] for claim in (manifest.get("resources") or {}).get("claims") or ()]
        if names:
            used = True
            yield Finding(
                f"the kubelet does not align devices of ResourceClaim {', '.join(names)}",
                "claim the CPUs too, or add matchAttribute (test: numalign admit --slices)",
                f"{part.path}.resources.claims",
                "unaligned",
                part.container.name,
            )
    if subject.pod.spec.get("resourceClaims") and not used:
        yield Finding(
            "no container uses the resourceClaims, and the kubelet does not align their devices",
            "remove spec.resourceClaims",
            "spec.resourceClaims",
            "note",
        )


def restart_device(subject: Subject) -> Iterator[Finding]:
    """A container that does not run needs its devices anew when the kubelet restarts (kubelet-files.md 74)."""
    for part in subject.parts:
        if part.container.kind == "init":
            for name in (name for name, amount in part.demand.devices if amount):
                yield Finding(
                    f"the init container holds {name}: a kubelet restart rejects the running pod if the device plugin "
                    "registers later",
                    f"request {name} in a sidecar or app container",
                    part.field("limits", name),
                    "note",
                    part.container.name,
                )


def hugepages_without_memory(subject: Subject) -> Iterator[Finding]:
    """Huge pages are aligned by the Memory Manager, which serves Guaranteed pods alone: a memory limit is needed."""
    for part in subject.parts:
        pages = _huge_pages(part)
        if pages and not _has_limit(part, "memory"):
            yield Finding(
                f"{', '.join(pages)} without a memory limit: the pod is not Guaranteed, huge pages are not aligned",
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
                    f"no node has {name}: the name of this page size is hugepages-{known}",
                    f"write hugepages-{known}",
                    part.field("limits", name),
                    "impossible",
                    part.container.name,
                )


def _has_limit(part: Part, name: str) -> bool:
    limit = part.container.limits.get(name)
    return bool(limit and limit.nano)


def _limit_to_set(part: Part, name: str) -> str:
    request = part.container.requests.get(name)
    if request and request.nano:
        if name == "cpu" and part.wants and not _is_whole(request.nano):
            return f"limits.cpu to {_whole_cores(request.nano)}, also the request"
        return f"limits.{name} to {canonical(request)}, the request"
    return f"limits.{name} to " + ("a whole number of CPUs" if name == "cpu" else "what it needs")


def _huge_pages(part: Part) -> list[str]:
    return sorted(name for name in part.container.requests if is_hugepages(name))


def _manifests(subject: Subject) -> list[Any]:
    spec = subject.pod.spec
    return [*(spec.get("initContainers") or ()), *spec["containers"]]
