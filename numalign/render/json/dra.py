"""What `dra check` prints for programs, and slices as the API has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.dra.writing import Written, written_class, written_slice
from numalign.model.cpuset import format_set
from numalign.render.json import closeness_json, head, plain, warnings

if TYPE_CHECKING:
    from numalign.dra.changes import ClaimChange
    from numalign.dra.why import Why
    from numalign.errors import Notice
    from numalign.results.dra import (
        ClaimsCheck,
        ContainerClaims,
        DeviceGot,
        DraCheckResult,
        DraSlicesResult,
        NodeCheck,
        NodeClaims,
        PodClaims,
    )


def check_json(result: DraCheckResult, notices: Sequence[Notice]) -> Written:
    """Write a result (product contract: keys are only ever added)."""
    return {
        **head("DraCheckResult"),
        "release": result.features.release,
        "allocator": result.features.copy,
        "deterministic": result.deterministic,
        "nodes": result.nodes,
        "slices": result.slices,
        "devices": result.devices,
        "checks": [_check(check) for check in result.checks],
        "warnings": warnings(notices),
    }


def _check(check: ClaimsCheck) -> Written:
    return {
        "kind": check.kind,
        "name": check.name,
        "namespace": check.namespace,
        "origin": check.origin,
        "fits": check.fits,
        "endedBy": check.ended.node if check.ended is not None else None,
        "claims": list(check.claims),
        "allocated": list(check.allocated),
        "absent": list(check.absent),
        "nodes": [_node(node) for node in check.nodes],
    }


def _node(node: NodeCheck) -> Written:
    return {
        "node": node.node,
        "fits": node.fits,
        "gaveUp": node.outcome.gave_up,
        "error": node.outcome.error,
        "endsCycle": node.outcome.ends_cycle,
        "selector": node.outcome.selector,
        "score": node.score,
        "devices": [device_json(one) for one in node.devices],
        "why": _why(node.why) if node.why is not None else None,
        "changes": [_change(change) for change in node.changes],
    }


def device_json(one: DeviceGot) -> Written:
    """Write a device that a request gets."""
    return {
        "claim": one.claim,
        "request": one.request,
        "driver": one.device.driver,
        "pool": one.device.pool,
        "device": one.device.device,
        "numaNodes": list(one.numa) if one.numa is not None else None,
        "shared": one.shared,
        "adminAccess": one.admin,
        "consumedCapacity": dict(one.consumed),
    }


def _why(why: Why) -> Written:
    constraint = None
    if why.constraint is not None:
        kind = "matchAttribute" if why.constraint.match else "distinctAttribute"
        constraint = {
            kind: why.constraint.match or why.constraint.distinct,
            "requests": list(why.constraint.requests),
            "publishers": [one._asdict() for one in why.publishers],
        }
    return {
        "claim": why.claim,
        "request": why.request,
        "found": why.found,
        "wanted": why.wanted,
        "failedAt": dict(why.gates),
        "constraint": constraint,
    }


def _change(change: ClaimChange) -> Written:
    return {
        "kind": change.kind,
        "text": change.text,
        "devices": [str(one.device) for claim in change.claims for one in claim.devices],
    }


def claims_json(claims: NodeClaims) -> Written:
    """Write what pods hold by claim on a node."""
    written: Written = {
        "node": claims.node,
        "source": claims.source,
        "scheduler": claims.release,
        "deterministic": claims.deterministic,
        "pods": [pod_claims_json(pod) for pod in claims.pods],
    }
    return written if claims.copies is None else {**written, "copies": claims.copies}


def pod_claims_json(pod: PodClaims) -> Written:
    """Write what one pod holds by claim."""
    return {
        "name": pod.pod,
        "namespace": pod.namespace,
        "allocated": pod.allocated,
        "absent": list(pod.absent),
        "error": pod.outcome.error if pod.outcome is not None else "",
        "why": _why(pod.why) if pod.why is not None else None,
        "containers": [_container_claims(container) for container in pod.containers],
    }


def _container_claims(container: ContainerClaims) -> Written:
    return {
        "name": container.container,
        "verdict": container.verdict,
        "reason": container.reason,
        "keptBy": container.kept_by,
        **({"closeness": closeness_json(container.neighbours)} if container.neighbours else {}),
        "waysOut": [{**plain(way), "write": "\n".join(way.write)} for way in container.ways_out],
        "devices": [
            {
                **device_json(one.got),
                "numaNodes": list(one.numa) if one.numa is not None else None,
                "toldBy": one.told_by,
                "cpus": None if one.cpus is None else format_set(one.cpus),
            }
            for one in container.devices
        ],
    }


def slices_json(result: DraSlicesResult) -> Written:
    """Write slices and classes as a List that kubectl would take, and `--slices` does."""
    published = result.published
    items = [*map(written_class, published.classes), *map(written_slice, published.slices)]
    return {"apiVersion": "v1", "kind": "List", "items": items}
