"""What a pod asks, read once into exact amounts; everything a scheduler asks of a pod starts here.

Equal pods give equal values: `PodRequest` has no name in it, so it is also the key under which pods share work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from numalign.model.pod import ContainerKind, Pod, QoS
from numalign.model.quantity import NANO, Quantity
from numalign.model.resources import CPU, MEMORY, is_memory
from numalign.scheduler.resources import Amounts, is_native, is_whole
from numalign.values import NamedTuple

Items = tuple[tuple[str, int], ...]
"""(resource, amount in billionths) pairs, sorted by name."""


class ContainerRequest(NamedTuple):
    """What one container asks, zero amounts included."""

    name: str
    kind: ContainerKind
    items: Items

    @property
    def amounts(self) -> dict[str, int]:
        """The same as a mapping."""
        return dict(self.items)


class PodRequest(NamedTuple):
    """What a pod asks."""

    qos: QoS
    containers: tuple[ContainerRequest, ...]
    """Init containers first (sidecars among them), then app containers, each in the order of the spec."""
    overhead: Items
    level: Items
    """Requests of the pod as a whole (`spec.resources`); the scheduler's plugins for NUMA nodes do not know them."""
    counted: Items | None
    """What it counts for on its node without overhead, where its status, too, decides (a pod that is resized)."""

    @property
    def guaranteed(self) -> bool:
        """Tell whether the pod's QoS class is Guaranteed."""
        return self.qos == "Guaranteed"


class NodeLoad(NamedTuple):
    """What a pod takes of its node as one bag of resources."""

    asked: Items
    """For kube-scheduler's own fit check."""
    beyond: Items
    """What its score counts for the pod beyond that (2.5)."""


def node_load(pod: PodRequest) -> NodeLoad:
    """Add up what a pod takes of its node."""
    asked = node_level(pod)
    return NodeLoad(tuple(sorted(asked.items())), tuple(_scored_beyond(pod, asked).items()))


def read_request(pod: Pod) -> PodRequest:
    """Read a pod as the API server delivers it. The QoS class is the one in its status, where that has one."""
    containers = tuple([ContainerRequest(one.name, one.kind, _items(one.requests)) for one in pod.containers])
    if pod.status.claimed:  # resources that the node's claims give are none of the node (docs/rules/dra.md D-53)
        containers = tuple([_without(one, pod.status.claimed) for one in containers])
    level = {**pod.level.limits, **pod.level.requests} if pod.level else {}
    counted = None if pod.counted is None else tuple(sorted(pod.counted.items()))
    return PodRequest(pod.qos, containers, _items(pod.overhead), _items(level), counted)


def _without(container: ContainerRequest, claimed: frozenset[tuple[str, str]]) -> ContainerRequest:
    kept = [(name, amount) for name, amount in container.items if (container.name, name) not in claimed]
    return container._replace(items=tuple(kept))


def _items(quantities: Mapping[str, Quantity]) -> Items:
    return tuple(sorted([(name, quantity.nano) for name, quantity in quantities.items()]))


def effective(pod: PodRequest) -> dict[str, int]:
    """Add up what the topology plugin asks of a machine for the whole pod (scheduling.md T-9).

    App containers are summed; init containers and sidecars alike count only as peaks; then comes the overhead.
    """
    total: dict[str, int] = {}
    peaks: dict[str, int] = {}
    for container in pod.containers:
        for name, amount in container.items:
            if container.kind == "app":
                total[name] = total.get(name, 0) + amount
            else:
                peaks[name] = max(peaks.get(name, 0), amount)
    for name, peak in peaks.items():
        total[name] = max(total.get(name, 0), peak)
    return add(total, pod.overhead)


def node_level(pod: PodRequest) -> dict[str, int]:
    """Add up what kube-scheduler's own fit check asks of a machine: sidecars are summed as well.

    The sum over app containers and sidecars, but at least the peak of each init container together with the sidecars
    before it (docs/rules/topology-manager.md 11.2). What the pod asks as a whole takes the place of that; then comes
    the overhead. A pod that is being resized counts for what `resized` made of its status.
    """
    if pod.counted is not None:
        return add(dict(pod.counted), pod.overhead)
    total: dict[str, int] = {}
    sidecars: dict[str, int] = {}
    peaks: dict[str, int] = {}
    for container in pod.containers:
        for name, amount in container.items:
            if container.kind == "init":
                peaks[name] = max(peaks.get(name, 0), amount + sidecars.get(name, 0))
                continue
            total[name] = total.get(name, 0) + amount
            if container.kind == "sidecar":
                sidecars[name] = sidecars.get(name, 0) + amount
    for name, peak in peaks.items():
        total[name] = max(total.get(name, 0), peak)
    total.update(pod.level)
    return add(total, pod.overhead)


SCORED_BY_DEFAULT: Final = {CPU: NANO // 10, MEMORY: 200 * 2**20 * NANO}
"""What kube-scheduler's score counts for a container that has no such request at all: 100m and 200Mi (2.5)."""


def _scored_beyond(pod: PodRequest, asked: Amounts) -> dict[str, int]:
    """Give what the score counts beyond requests; pod-level requests need none."""
    if pod.counted is not None:  # the sum for its status takes the place of its requests
        return {}
    lacking = [
        name
        for name in SCORED_BY_DEFAULT
        if all(name != known for known, _ in pod.level)
        and any(all(name != known for known, _ in one.items) for one in pod.containers)
    ]
    if not lacking:
        return {}
    filled = [
        one._replace(items=(*one.items, *[(name, SCORED_BY_DEFAULT[name]) for name in lacking if name not in known]))
        for one in pod.containers
        for known in [one.amounts]
    ]
    counted = node_level(pod._replace(containers=tuple(filled)))
    return {name: counted[name] - asked.get(name, 0) for name in lacking}


def add(total: dict[str, int], items: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Add amounts to a total, in place, and return it."""
    for name, amount in items:
        total[name] = total.get(name, 0) + amount
    return total


def has_devices(pod: PodRequest) -> bool:
    """Tell whether some container or init container names a resource that is not native (scheduling.md T-1, T-2)."""
    return any(not is_native(name) for container in pod.containers for name, _ in container.items)


def exclusive_amounts(
    guaranteed: bool, container: ContainerRequest, listed: Amounts | frozenset[str]
) -> dict[str, int]:
    """Return what a container holds for itself once it runs (scheduling.md 3.4).

    Args:
        guaranteed: whether its pod is Guaranteed.
        container: the container.
        listed: the names that some zone of the machine's NRT lists.

    Returns:
        Non-native resources that some zone lists; for a Guaranteed pod whole CPUs, memory and huge pages above 0.
    """
    result = {}
    for name, amount in container.items:
        if not is_native(name):
            kept = name in listed
        elif name == CPU:
            kept = guaranteed and is_whole(amount)
        else:
            kept = guaranteed and amount > 0 and is_memory(name)
        if kept:
            result[name] = amount
    return result


def exclusive_containers(pod: PodRequest, listed: frozenset[str]) -> tuple[str, ...]:
    """Name the containers that hold something of their own in steady state: app containers and sidecars (3.4)."""
    return tuple(
        container.name
        for container in pod.containers
        if container.kind != "init" and exclusive_amounts(pod.guaranteed, container, listed)
    )
