"""What the families of scheduling cases share: their short forms of pods, objects and amounts.

How the cases are written is in tests/vectors/sched.README.md. Quantities are compared as numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from numalign.model.apiserver import amount
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod
from numalign.model.quantity import Quantity, canonical
from numalign.scheduler import cache, fingerprint
from numalign.scheduler.config import CacheConfig, Kind, SchedulerConfig
from numalign.scheduler.kai.topology import Around
from numalign.scheduler.nrt.copy import Copy, copy_of
from numalign.scheduler.nrt.value import NodeResourceTopology, NUMAZone, Zone, ZoneResource
from numalign.scheduler.record import Belief, PodEntry, Scheduler
from numalign.scheduler.request import ContainerRequest, PodRequest, exclusive_containers, read_request
from numalign.scheduler.schedulers import SCHEDULERS
from numalign.scheduler.score import Strategy
from numalign.scheduler.verdict import Verdict


def nano(written: Any) -> int:
    return amount(written).nano


def amounts(written: Mapping[str, Any]) -> dict[str, int]:
    return {name: nano(text) for name, text in written.items()}


def items(written: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(amounts(written).items()))


def said(value: Any, expected: Any) -> Any:
    """Write amounts: with the expected text where the number is the expected one, else with its own."""
    if isinstance(value, Mapping):
        known = expected if isinstance(expected, Mapping) else {}
        return {key: said(inner, known.get(key)) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        known_list = list(expected) if isinstance(expected, list) else []
        known_list += [None] * len(value)
        return [said(inner, other) for inner, other in zip(value, known_list, strict=False)]
    if isinstance(expected, str) and nano(expected) == value:
        return expected
    return canonical(Quantity(value, "DecimalSI", None))


def only(answer: Mapping[str, Any], expect: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what the case does not ask for; what it asks for must be there."""
    return {key: answer[key] for key in expect}


def pod(written: Mapping[str, Any], name: str = "pod", namespace: str = "default", qos: str | None = None) -> Pod:
    """Read a pod in the cases' short form."""
    spec: dict[str, Any] = {}
    for group in ("initContainers", "containers"):
        spec[group] = [
            {
                "name": one.get("name") or f"{group}-{place}",
                "resources": {"requests": one.get("requests") or {}, "limits": one.get("limits") or {}},
                **({"restartPolicy": one["restartPolicy"]} if one.get("restartPolicy") else {}),
            }
            for place, one in enumerate(written.get(group) or [])
        ]
    if written.get("overhead"):
        spec["overhead"] = written["overhead"]
    manifest: dict[str, Any] = {"metadata": {"name": name, "namespace": namespace}, "spec": spec}
    stated = qos or written.get("qos")
    if stated:
        manifest["status"] = {"qosClass": stated}
    return read_pod(manifest)


def request(written: Mapping[str, Any], qos: str | None = None) -> PodRequest:
    return read_request(pod(written, qos=qos))


def container(written: Mapping[str, Any], name: str = "c") -> ContainerRequest:
    return ContainerRequest(name, "app", items(written))


def attributes(written: Iterable[Mapping[str, str]] | None) -> tuple[tuple[str, str], ...]:
    return tuple((one["name"], one["value"]) for one in written or ())


def nrt(written: Mapping[str, Any] | None) -> NodeResourceTopology | None:
    """Read an object in the cases' short form."""
    if written is None:
        return None
    return NodeResourceTopology(
        written.get("name", ""),
        tuple(_zone(one) for one in written.get("zones") or ()),
        attributes(written.get("attributes")),
        tuple(written.get("topologyPolicies") or ()),
        written.get("annotations") or {},
    )


def _zone(written: Mapping[str, Any]) -> Zone:
    resources = {
        one["name"]: ZoneResource(
            *(nano(one[field]) if field in one else None for field in ("capacity", "allocatable", "available"))
        )
        for one in written.get("resources") or ()
    }
    costs = {one["name"]: one["value"] for one in written.get("costs") or ()}
    return Zone(written["name"], written.get("type", "Node"), resources, costs, attributes(written.get("attributes")))


def numa_nodes(written: Iterable[Mapping[str, Any]]) -> tuple[NUMAZone, ...]:
    return tuple(
        NUMAZone(
            one["numa_id"],
            amounts(one["resources"]),
            {int(node): cost for node, cost in (one.get("costs") or {}).items()},
        )
        for one in written
    )


def said_numa_nodes(zones: Iterable[NUMAZone], expected: Any) -> list[dict[str, Any]]:
    wanted = {one["numa_id"]: one["resources"] for one in expected or ()}
    return [{"numa_id": zone.id, "resources": said(zone.available, wanted.get(zone.id))} for zone in zones]


def zones_available(found: NodeResourceTopology) -> list[dict[str, int]]:
    return [{name: one.available or 0 for name, one in zone.resources.items()} for zone in found.zones]


def described(config: CacheConfig, copy: Copy, pods: Iterable[tuple[PodEntry, str]], only_exclusive: bool) -> bool:
    """Tell whether an object describes pods, each with its phase, by its fingerprint."""
    text = fingerprint.published(copy.layout.nrt).text
    known = {(one.pod.namespace, one.pod.name): (one, phase) for one, phase in pods if phase != "Pending"}
    return cache.describes_pods(
        config,
        frozenset(known),
        running=lambda pod: known[pod][1] == "Running",
        exclusive=lambda pod: bool(exclusive_containers(known[pod][0].request, copy.layout.listed)),
        says=lambda some: fingerprint.check_fingerprint(text, some) == "match",
        only_exclusive=only_exclusive,
    )


def scored(
    found: NodeResourceTopology | None, asked: PodRequest, strategy: Strategy, weights: Mapping[str, int] | None = None
) -> float:
    """Score a machine as today's plugin does."""
    config, scheduler = SchedulerConfig(strategy=strategy, weights=weights or {}), SCHEDULERS["nrt"]
    assert scheduler.score is not None
    return float(scheduler.score(config, scheduler.see(config, opened(scheduler, config, found)), asked))


def opened(scheduler: Scheduler, config: SchedulerConfig, found: NodeResourceTopology | None) -> Belief:
    """Begin with a published object."""
    return scheduler.opened(config, Around(), copy_of(found), ())


def checked(kind: Kind, found: NodeResourceTopology | None, total: Mapping[str, int], asked: PodRequest) -> Verdict:
    """Filter a machine as a scheduler does."""
    config, scheduler = SchedulerConfig(kind), SCHEDULERS[kind]
    return scheduler.check(config, scheduler.see(config, opened(scheduler, config, found)), total, asked)
