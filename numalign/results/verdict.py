"""When the answer is no: what `--fail-on` asks about the result of a pod (exit status 1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, get_args

from numalign.errors import Notice

if TYPE_CHECKING:
    from numalign.analysis.closeness import Rail
    from numalign.model.machine import Machine
    from numalign.results.admit import PodResult
    from numalign.results.dra import NodeClaims, PodClaims

FailOn = Literal["rejected", "unaligned", "rail", "impossible", "nothing"]
"""What makes the answer no: a pod is refused, or goes without a device it asks for; or what it got is not aligned;
or, beside that, a GPU of a container shares no PCI switch with a NIC of it, or nobody knows; only a pod that an empty
node refuses too (the result has to know, see `tasks.admit`), or that lacks a device; never."""

FAIL_ON: tuple[FailOn, ...] = get_args(FailOn)


def fails(pod: PodResult, fail_on: FailOn, machine: Machine, claims: NodeClaims | None = None) -> bool:
    """Tell whether what became of a pod makes the answer no; `claims` may give its containers CPUs of their own."""
    if fail_on == "nothing":
        return False
    if not pod.admitted:
        return fail_on != "impossible" or pod.impossible is not False
    if pod.missing or fail_on not in ("unaligned", "rail"):
        return bool(pod.missing)
    if rail_notices((pod,), machine, fail_on, claims):
        return True
    pinned = pinned_by_claims(pod, claims)
    return any(one.aligned is False and one.name not in pinned for one in pod.containers)


OFF_THE_RAILS: Mapping[Rail | None, tuple[str, str]] = {
    "far": ("rail-apart", "holds a GPU that shares no PCI switch with a NIC of the container"),
    "unknown": ("rail-unknown", "holds a GPU and a NIC, and the PCI switch of one is unknown"),
}


def rail_notices(
    pods: Iterable[PodResult], machine: Machine, fail_on: FailOn, claims: NodeClaims | None
) -> tuple[Notice, ...]:
    """Say of which containers a GPU shares no PCI switch with a NIC of them, or nobody knows, where that was asked."""
    if fail_on != "rail":
        return ()
    from numalign.analysis.closeness import rail

    by_claim = [(pod, one) for pod in (claims.pods if claims is not None else ()) for one in pod.containers]
    rails = {(pod.namespace, pod.pod, one.container): one.rail for pod, one in by_claim}
    found = [
        (pod, one, OFF_THE_RAILS.get(rails.get((pod.namespace, pod.name, one.name), rail(machine, one.holding))))
        for pod in pods
        for one in pod.containers
    ]
    return tuple([Notice(told[0], f"container {one.name} {told[1]}", pod.name) for pod, one, told in found if told])


def pinned_by_claims(pod: PodResult, claims: NodeClaims | None) -> frozenset[str]:
    """Name the containers whose CPUs float for the kubelet, and come by claim, where all else is."""
    aligned = {
        container.container
        for held in (claims.pods if claims is not None else ())
        if (held.namespace, held.pod) == (pod.namespace, pod.name)
        for container in held.containers
        if container.verdict == "aligned"
    }
    return frozenset(one.name for one in pod.containers if one.name in aligned and not one.alignment.too_large)


def claims_fail(claims: NodeClaims | None, fail_on: FailOn) -> bool:
    """Tell whether what pods hold by claim makes the answer no: a claim without devices here counts as a refusal."""
    return claims is not None and any(pod_claims_fail(pod, fail_on) for pod in claims.pods)


def pod_claims_fail(pod: PodClaims, fail_on: FailOn) -> bool:
    """Tell whether what one pod holds by claim makes the answer no."""
    if fail_on == "nothing":
        return False
    if fail_on != "impossible" and not pod.allocated:
        return True
    return fail_on in ("unaligned", "rail") and pod.aligned is False
