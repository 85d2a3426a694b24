"""Short forms for tests: zones, objects and pods in a line each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numalign.scheduler.nrt.value import NodeResourceTopology, NUMAZone, Zone, ZoneResource
from numalign.scheduler.record import PodEntry, entry_of
from numalign.scheduler.request import PodRequest
from tests.conformance.sched import amounts, request
from tests.conformance.sched import pod as read


def zone(number: int, costs: Mapping[str, int] | None = None, **free: str) -> Zone:
    resources = {
        name: ZoneResource(amount, amount, amount)
        for name, amount in amounts({key.replace("__", "/"): text for key, text in free.items()}).items()
    }
    return Zone(f"node-{number}", resources=resources, costs=costs or {})


def object_of(*zones: Zone, policy: str = "single-numa-node", scope: str = "container") -> NodeResourceTopology:
    attributes = (("topologyManagerPolicy", policy), ("topologyManagerScope", scope))
    return NodeResourceTopology("node", zones, attributes)


def numa(number: int, costs: Mapping[int, int] | None = None, **free: str) -> NUMAZone:
    return NUMAZone(number, amounts(free), costs or {})


def pod(*containers: Mapping[str, str], init: tuple[Mapping[str, str], ...] = (), **fields: Any) -> PodRequest:
    """Make a pod whose limits are its requests, so Guaranteed where CPU and memory are asked."""
    return request(
        {
            "containers": [
                {"name": f"c{place}", "requests": one, "limits": one} for place, one in enumerate(containers)
            ],
            "initContainers": [{"name": f"i{place}", "requests": one, "limits": one} for place, one in enumerate(init)],
            **fields,
        }
    )


def cpus(*counts: int | str, memory: str = "1Gi") -> PodRequest:
    return pod(*({"cpu": str(count), "memory": memory} for count in counts))


def asking(count: int | str, memory: str = "1Gi", name: str = "pod") -> PodEntry:
    """Make a Guaranteed pod of one container, as a scheduler knows it."""
    amounts = {"cpu": str(count), "memory": memory}
    return entry_of(read({"containers": [{"name": "c", "requests": amounts, "limits": amounts}]}, name))
