"""What the API server would refuse in a pod, as far as it matters for where the pod can run.

Types and unknown fields come first (`model.apiserver.types`), then the rules about names and amounts. Each problem
names the field, says what is wrong and what would be right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from numalign.model.apiserver import amount, amounts
from numalign.model.apiserver.defaulting import containers_of
from numalign.model.apiserver.types import Problem, misfits
from numalign.model.path import child, shown
from numalign.model.pod import Container, Manifest
from numalign.model.quantity import NANO, Quantity, QuantityError, canonical, parse
from numalign.model.resources import (
    NATIVE,
    is_extended,
    is_hugepages,
    is_label,
    is_port,
    is_qualified,
    is_subdomain,
    page_size,
)


def validate(manifest: Manifest, *, named: bool = True) -> tuple[Problem, ...]:
    """Collect what the API server would refuse.

    Args:
        manifest: a pod, or a template.
        named: False for a template, whose pods get their names later, and their namespace from its owner.
    """
    problems = tuple(misfits(manifest))
    if problems:
        return problems
    spec = manifest["spec"]
    return (*_names(manifest, named), *_pod(spec), *_containers(spec), *_claims(spec), *_placing(spec))


# Names


def _names(manifest: Manifest, named: bool) -> Iterator[Problem]:
    metadata = manifest.get("metadata") or {}
    name = metadata.get("name")
    if name and named and not is_subdomain(name):
        text = f"{shown(name)} is no name: lower-case letters, digits, '-' and '.', at most 253, ends alphanumeric"
        yield Problem("metadata.name", text)
    elif not name and named and not metadata.get("generateName"):
        yield Problem("metadata.name", "missing; a pod needs a name or a generateName")
    if metadata.get("namespace") and named and not is_label(metadata["namespace"]):
        yield Problem("metadata.namespace", f"{shown(metadata['namespace'])} is no name: {_LABEL_RULE}")
    if metadata.get("labels") or metadata.get("annotations"):
        from numalign.model.apiserver.validation_placing import annotation_keys, labels

        yield from labels(metadata.get("labels") or {}, "metadata.labels")
        yield from annotation_keys(metadata.get("annotations") or {})
    given = (manifest.get("status") or {}).get("qosClass")
    if given and given not in ("Guaranteed", "Burstable", "BestEffort"):
        yield Problem("status.qosClass", f"expected Guaranteed, Burstable or BestEffort, got {shown(given)}")


_PLACING: Final = (
    "nodeSelector",
    "nodeName",
    "tolerations",
    "affinity",
    "topologySpreadConstraints",
    "schedulingGates",
)
"""Fields of a pod that `validation_placing` looks at."""
_LABEL_RULE: Final = "lower-case letters, digits and '-', at most 63, begins and ends alphanumeric"


# The pod


RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
_CHOICES: Final = {"restartPolicy": RESTART_POLICIES, "preemptionPolicy": ("PreemptLowerPriority", "Never")}


def _pod(spec: Manifest) -> Iterator[Problem]:
    for field, allowed in _CHOICES.items():
        if spec.get(field) and spec[field] not in allowed:
            yield Problem(f"spec.{field}", f"expected {', '.join(allowed)}, got {shown(spec[field])}")
    system = (spec.get("os") or {}).get("name")
    if system is not None and system not in ("linux", "windows"):
        yield Problem("spec.os.name", f"expected linux or windows, got {shown(system)}")
    for field in ("runtimeClassName", "priorityClassName"):
        if spec.get(field) and not is_subdomain(spec[field]):
            yield Problem(f"spec.{field}", f"{shown(spec[field])} is no name: lower-case letters, digits, '-' and '.'")
    read = containers_of(spec)
    if spec.get("resources"):
        from numalign.model.apiserver.validation_pod_level import pod_level

        yield from pod_level(spec, read)
        requests, limits = (amounts(spec["resources"].get(key) or {}) for key in ("requests", "limits"))
        whole = Container("", "app", requests, limits)
        yield from _resources(spec["resources"], whole, "spec.resources")
    overhead = spec.get("overhead") or {}
    yield from _amounts(overhead, "spec.overhead")


def _claims(spec: Manifest) -> Iterator[Problem]:
    every = (*(spec.get("initContainers") or ()), *spec["containers"])
    if spec.get("resourceClaims") or any((one.get("resources") or {}).get("claims") for one in every):
        from numalign.model.apiserver.validation_pod_level import claims

        yield from claims(spec)


def _placing(spec: Manifest) -> Iterator[Problem]:
    if any(spec.get(field) for field in _PLACING):
        from numalign.model.apiserver.validation_placing import placing

        yield from placing(spec)


# Containers


def _containers(spec: Manifest) -> Iterator[Problem]:
    if not spec["containers"]:
        yield Problem("spec.containers", "a pod needs at least one container")
    seen: dict[str, str] = {}
    read = iter(containers_of(spec))
    for which in ("initContainers", "containers"):
        for index, manifest in enumerate(spec.get(which) or ()):
            path = f"spec.{which}[{index}]"
            yield from _container_name(manifest["name"], f"{path}.name", seen)
            yield from _restart_policy(manifest, path)
            yield from _resources(manifest.get("resources") or {}, next(read), f"{path}.resources")
            host = which == "containers" and bool(spec.get("hostNetwork"))
            yield from _ports(manifest.get("ports") or (), host, f"{path}.ports")
    yield from _host_ports(spec)


def _container_name(name: str, path: str, seen: dict[str, str]) -> Iterator[Problem]:
    if name in seen:
        yield Problem(path, f"{shown(name)} is also the name of {seen[name]}; names of containers are unique in a pod")
    elif not is_label(name):
        yield Problem(path, f"{shown(name)} is no container name: {_LABEL_RULE}")
    seen.setdefault(name, path.removesuffix(".name"))


def _restart_policy(manifest: Manifest, path: str) -> Iterator[Problem]:
    policy = manifest.get("restartPolicy")
    if policy and policy not in RESTART_POLICIES:
        yield Problem(f"{path}.restartPolicy", f"expected {', '.join(RESTART_POLICIES)}, got {shown(policy)}")
    if manifest.get("restartPolicyRules") and not policy:
        yield Problem(f"{path}.restartPolicyRules", "needs a restartPolicy of the container beside it")


def container_policies(spec: Manifest) -> Iterator[str]:
    """List the paths of restart policies that an API server refuses where ContainerRestartRules is off.

    docs/rules/admission-fit.md 10: there an init container may have Always, which makes it a sidecar, and no other one.
    """
    for which in ("initContainers", "containers"):
        for index, manifest in enumerate(spec.get(which) or ()):
            policy = manifest.get("restartPolicy")
            if policy and (which == "containers" or policy != "Always"):
                yield f"spec.{which}[{index}].restartPolicy"


def _ports(ports: Iterable[Manifest], host: bool, path: str) -> Iterator[Problem]:
    ports = list(ports)
    yield from _port_names(ports, path)
    for index, port in enumerate(ports):
        place = child(path, index)
        inside, outside = port["containerPort"], port.get("hostPort") or 0
        if not 0 < inside < 65536:
            yield Problem(f"{place}.containerPort", f"expected a port from 1 to 65535, got {shown(inside)}")
        if not 0 <= outside < 65536:
            yield Problem(f"{place}.hostPort", f"expected a port from 1 to 65535, got {shown(outside)}")
        elif host and outside and outside != inside:
            yield Problem(f"{place}.hostPort", f"must be the containerPort, {inside}, on the host's network")
        if (port.get("protocol") or "TCP") not in ("TCP", "UDP", "SCTP"):
            yield Problem(f"{place}.protocol", f"expected TCP, UDP or SCTP, got {shown(port['protocol'])}")


def _host_ports(spec: Manifest) -> Iterator[Problem]:
    """Find host ports that two containers want, or that one, which runs by itself, wants twice."""
    apart = [[(f"spec.initContainers[{index}]", one)] for index, one in enumerate(spec.get("initContainers") or ())]
    together = [(f"spec.containers[{index}]", one) for index, one in enumerate(spec["containers"])]
    for group in (*apart, together):
        seen: dict[tuple[object, ...], str] = {}
        for path, container in group:
            for number, port in enumerate(container.get("ports") or ()):
                key = port.get("hostIP") or "", port.get("hostPort"), port.get("protocol") or "TCP"
                place = f"{path}.ports[{number}].hostPort"
                if port.get("hostPort") and seen.setdefault(key, place) != place:
                    yield Problem(place, f"duplicate {port['hostPort']}, also in {seen[key]}")


def _port_names(ports: Iterable[Manifest], path: str) -> Iterator[Problem]:
    seen = set()
    for index, port in enumerate(ports):
        name = port.get("name")
        place = f"{path}[{index}].name"
        if name and not is_port(name):
            yield Problem(place, f"{shown(name)} is no port name: {_PORT_RULE}")
        elif name and name in seen:
            yield Problem(place, f"duplicate {shown(name)} in this container")
        seen.add(name)


_PORT_RULE: Final = "at most 15 lower-case letters, digits and single '-', with a letter"


# Amounts


def _amounts(written: Manifest, path: str) -> Iterator[Problem]:
    for name, text in written.items():
        place = child(path, name)
        yield from _resource_name(name, place)
        if amount(text).nano < 0:
            yield Problem(place, f"{shown(text)} is negative; amounts are zero or more")
        yield from _granularity(name, amount(text), place)


def _resources(resources: Manifest, container: Container, path: str) -> Iterator[Problem]:
    for which in ("limits", "requests"):
        yield from _amounts(resources.get(which) or {}, f"{path}.{which}")
    for name in resources.get("requests") or {}:
        place = child(f"{path}.requests", name)
        yield from _against_limit(name, container.requests[name], container.limits.get(name), place)
    asked = container.requests.keys() | container.limits.keys()
    if any(map(is_hugepages, asked)) and not asked & {"cpu", "memory"}:
        yield Problem(path, "huge pages need a request or limit of cpu or memory beside them")


def _resource_name(name: str, path: str) -> Iterator[Problem]:
    prefix, slash, rest = name.rpartition("/")
    if not slash:
        if name not in NATIVE and not is_hugepages(name):
            yield Problem(
                path,
                f"{shown(name)} is no resource of a container: expected cpu, memory, ephemeral-storage, "
                "hugepages-SIZE or a full name such as nvidia.com/gpu",
            )
        return
    native = "kubernetes.io/" in name
    if not (is_subdomain(prefix) and is_qualified(rest)) or (
        not native and (name.startswith("requests.") or len(prefix) > 253 - len("requests."))
    ):
        yield Problem(path, f"{shown(name)} is no resource name: expected DOMAIN/NAME such as nvidia.com/gpu")


def _granularity(name: str, quantity: Quantity, path: str) -> Iterator[Problem]:
    if is_hugepages(name):
        try:
            page = parse(page_size(name)).nano
        except QuantityError:
            page = 0
        if page <= 0 or page % NANO:
            yield Problem(path, f"{shown(name)} names no page size: expected hugepages-2Mi or hugepages-1Gi")
        elif quantity.nano % page:
            yield Problem(path, f"{canonical(quantity)} is no multiple of the page size {page_size(name)}")
    elif is_extended(name) and quantity.nano % NANO:
        yield Problem(path, f"{canonical(quantity)} is no whole number; extended resources are counted in whole units")


def _against_limit(name: str, request: Quantity, limit: Quantity | None, path: str) -> Iterator[Problem]:
    exact = is_hugepages(name) or is_extended(name)
    if limit is None:
        if exact:
            yield Problem(path, f"a request without a limit; {name} needs a limit equal to the request")
    elif exact and request.nano != limit.nano:
        text = f"{canonical(request)} and limit {canonical(limit)} differ; fix: write the same amount for both"
        yield Problem(path, text)
    elif request.nano > limit.nano:
        yield Problem(path, f"{canonical(request)} is more than the limit {canonical(limit)}")
