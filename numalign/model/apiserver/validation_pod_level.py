"""What the API server rejects in pod-level resources and names of claims (docs/rules/pod-validation.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numalign.model.apiserver import amount, amounts
from numalign.model.apiserver.types import Problem
from numalign.model.path import child, shown
from numalign.model.pod import Container, Manifest
from numalign.model.quantity import NANO, canonical, from_int
from numalign.model.resources import CPU, MEMORY, is_hugepages, is_label, is_subdomain


def pod_level(spec: Manifest, containers: Sequence[Container]) -> Iterator[Problem]:
    """Yield what is wrong in `spec.resources`, as far as it is not wrong for containers too."""
    resources = spec.get("resources") or {}
    if resources.get("claims"):
        yield Problem("spec.resources.claims", "not allowed: claims are listed in the resources of containers")
    requests, limits = amounts(resources.get("requests") or {}), amounts(resources.get("limits") or {})
    for which, written in (("limits", limits), ("requests", requests)):
        for name in written:
            if name not in (CPU, MEMORY) and not is_hugepages(name):
                wrong = f"expected cpu, memory or hugepages-SIZE, got {name}"
                yield Problem(child(f"spec.resources.{which}", name), wrong)
    for name in dict.fromkeys((*requests, *limits)):
        total, asked, limit = aggregate(containers, name), requests.get(name), limits.get(name)
        place = child("spec.resources.limits", name)
        if asked is not None and total > asked.nano:
            less = f"{canonical(asked)} is less than the containers' sum, {_text(name, total)}"
            yield Problem(child("spec.resources.requests", name), less)
        elif limit is not None and asked is None and total > limit.nano:
            yield Problem(place, f"{canonical(limit)} is less than the containers' requests, {_text(name, total)}")
        for container in containers:
            own = container.limits.get(name) if container.kind == "app" else None  # only these are compared
            if limit is not None and own is not None and own.nano > limit.nano:
                less = f"{canonical(limit)} is less than the limit of container {container.name}, {canonical(own)}"
                yield Problem(place, less)


def aggregate(containers: Sequence[Container], name: str) -> int:
    """Add up what containers request of a resource, in billionths: all that run, or an init container."""
    running = sidecars = peak = 0
    for container in containers:
        asked = container.requests[name].nano if name in container.requests else 0
        if container.kind == "init":
            peak = max(peak, asked + sidecars)
            continue
        running += asked
        sidecars += asked * (container.kind == "sidecar")
    return max(running, peak)


def _text(name: str, nano: int) -> str:
    return canonical(amount(f"{nano // 1_000_000}m") if name == CPU else from_int(-(-nano // NANO), "BinarySI"))


# Claims of dynamic resource allocation


def claims(spec: Manifest) -> Iterator[Problem]:
    """Yield what is wrong in a pod's list of claims, and where containers name them."""
    known: set[str] = set()
    for index, claim in enumerate(spec.get("resourceClaims") or ()):
        path = f"spec.resourceClaims[{index}]"
        yield from _claim(claim, path)
        if claim["name"] in known:
            yield Problem(f"{path}.name", f"duplicate {shown(claim['name'])}")
        elif not is_label(claim["name"]):
            yield Problem(f"{path}.name", f"{shown(claim['name'])} is no name: lower-case letters, digits and '-'")
        known.add(claim["name"])
    for which in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(which) or ()):
            yield from _mentions(container, known, f"spec.{which}[{index}].resources.claims")


def _claim(claim: Manifest, path: str) -> Iterator[Problem]:
    """Judge one entry: it names either a claim or a template."""
    if claim.get("source") is not None:
        yield Problem(f"{path}.source", "unknown field: write resourceClaimName or resourceClaimTemplateName itself")
        return
    given = [key for key in ("resourceClaimName", "resourceClaimTemplateName") if claim.get(key) is not None]
    if len(given) != 1:
        has = "has both" if given else "has neither"
        yield Problem(path, f"needs one of resourceClaimName and resourceClaimTemplateName, {has}")
    for key in given:
        if not is_subdomain(claim[key]):
            yield Problem(f"{path}.{key}", f"{shown(claim[key])} is no name: lower-case letters, digits, '-' and '.'")


def _mentions(container: Manifest, known: set[str], path: str) -> Iterator[Problem]:
    seen: dict[str, set[str]] = {}
    for number, claim in enumerate((container.get("resources") or {}).get("claims") or ()):
        name, request = claim["name"], claim.get("request") or ""
        before = seen.setdefault(name, set())
        if name not in known:
            yield Problem(f"{path}[{number}].name", f"{shown(name)} is not among spec.resourceClaims")
        elif request in before or "" in before or (before and not request):
            yield Problem(f"{path}[{number}]", f"duplicate {shown('/'.join(filter(None, (name, request))))}")
        if request and not is_label(request):
            text = f"{shown(request)} is no name: lower-case letters, digits and '-'"
            yield Problem(f"{path}[{number}].request", text)
        before.add(request)
