"""The sections of a machine in full: NUMA nodes, sockets, cores, caches, devices (product form and recorded form)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numalign.model.cpuset import ids
from numalign.model.machine import Device, NodeObject, NUMANode, Taint, Unit
from numalign.model.resources import NATIVE, is_hugepages
from numalign.sources.text import fields
from numalign.sources.text.fields import FieldError, Path

MAX_NODES = 1024
"""As many as Linux can have."""

HARDWARE = ("numaNodes", "sockets", "cores", "uncoreCaches")
"""The sections that say what CPUs and memory there are."""

_NOT_DEVICES = (*NATIVE, "pods", "storage")


def numa_nodes(value: object, path: Path) -> tuple[NUMANode, ...]:
    """Read `numaNodes`; the order is kept."""
    entries = fields.sequence(value, path, "a list of NUMA nodes")
    if len(entries) > MAX_NODES:
        raise FieldError(path, f"expected at most {MAX_NODES} NUMA nodes, got {len(entries)}")
    return tuple([_numa_node(entry, (*path, index)) for index, entry in enumerate(entries)])


def _numa_node(value: object, path: Path) -> NUMANode:
    data = fields.mapping(value, path, 'a NUMA node like {id: 0, cpus: "0-3", memory: 16Gi}')
    fields.only(data, ("id", "cpus", "memory", "hugepages", "distances"), path)
    if "id" not in data:
        raise FieldError((*path, "id"), "expected the NUMA node's id, got nothing")
    given = data.get("hugepages")
    return NUMANode(
        id=_node_id(data["id"], (*path, "id")),
        cpus=fields.cpus(data.get("cpus", ""), (*path, "cpus")),
        memory=fields.amount(data.get("memory", 0), (*path, "memory")),
        hugepages=fields.hugepages(given, (*path, "hugepages")) if given is not None else {},
        distances=_distances(data.get("distances"), (*path, "distances")),
    )


def _distances(value: object, path: Path) -> tuple[int, ...] | None:
    if value is None:
        return None
    row = fields.sequence(value, path, "a row of distances like [10, 21]")
    for index, distance in enumerate(row):
        if type(distance) is not int or not 0 <= distance <= 2**31:
            fields.integer(distance, (*path, index), 0, 2**31, "a distance")
    return tuple(row)


def units(value: object, path: Path) -> tuple[Unit, ...]:
    """Read `sockets` or `uncoreCaches`: CPU sets, whose id is their index, or `{id, cpus}`."""
    result = []
    for index, entry in enumerate(fields.sequence(value, path, "a list of CPU sets")):
        here = (*path, index)
        if isinstance(entry, Mapping):
            fields.only(entry, ("id", "cpus"), here)
            for key in ("id", "cpus"):
                if key not in entry:
                    raise FieldError((*here, key), 'expected {id: 0, cpus: "0-3"}, got nothing')
            number = fields.integer(entry["id"], (*here, "id"), -fields.MAX_NODE_ID, fields.MAX_NODE_ID, "an id")
            result.append(Unit(number, fields.cpus(entry["cpus"], (*here, "cpus"))))
        else:
            result.append(Unit(index, fields.cpus(entry, here)))
    return tuple(result)


def cores(value: object, path: Path) -> tuple[int, ...]:
    """Read `cores`: one CPU set a core."""
    entries = fields.sequence(value, path, "a list of CPU sets, one a core")
    return tuple([fields.cpus(entry, (*path, index)) for index, entry in enumerate(entries)])


def default_sockets(nodes: Sequence[NUMANode]) -> tuple[Unit, ...]:
    """Give each NUMA node with CPUs a socket of its own."""
    return tuple(Unit(index, cpus) for index, cpus in enumerate(node.cpus for node in nodes if node.cpus))


def default_cores(nodes: Sequence[NUMANode]) -> tuple[int, ...]:
    """Make every CPU a core."""
    everything = 0
    for node in nodes:
        everything |= node.cpus
    return tuple(1 << cpu for cpu in ids(everything))


def devices(value: object, path: Path, nodes: Sequence[NUMANode]) -> dict[str, tuple[Device, ...]]:
    """Read `devices`: resource -> list of devices (docs/rules/device-manager.md 1.3)."""
    result = {}
    for resource, entries in fields.mapping(value, path, "a mapping of resources to devices").items():
        here = resource_name(resource, path)
        listed = fields.sequence(entries, here, "a list of devices")
        result[resource] = tuple([_device(entry, (*here, index), nodes) for index, entry in enumerate(listed)])
    return result


def resource_name(resource: str, path: Path) -> Path:
    """Check that a name can be an extended resource's; give the path to it."""
    here = (*path, resource)
    domain, slash, rest = resource.partition("/")
    if resource in _NOT_DEVICES or is_hugepages(resource) or not (slash and domain and rest):
        raise FieldError(here, 'expected the name of an extended resource like "nvidia.com/gpu"')
    fields.text(resource, here)
    return here


def _device(value: object, path: Path, nodes: Sequence[NUMANode]) -> Device:
    wanted = "a device like {id: gpu0, numaNodes: [0]}"
    if not isinstance(value, Mapping):
        label = fields.name(value, path, wanted)
        return Device(label, _only_node(label, path, nodes))
    fields.only(value, ("id", "numaNodes", "numaNode", "unhealthy"), path)
    if "id" not in value:
        raise FieldError((*path, "id"), f"expected {wanted}, got no id")
    label = fields.name(value["id"], (*path, "id"), "a device id")
    on: tuple[int, ...] | None
    if "numaNode" in value:
        if "numaNodes" in value:
            raise FieldError((*path, "numaNode"), "expected numaNode or numaNodes, got both")
        on = (_node_id(value["numaNode"], (*path, "numaNode")),)
    elif "numaNodes" not in value:
        on = _only_node(label, path, nodes)
    elif value["numaNodes"] is None:
        on = None
    else:
        here = (*path, "numaNodes")
        given = fields.sequence(value["numaNodes"], here, "a list of NUMA node ids, or null for no topology")
        on = tuple([_node_id(node, (*here, index)) for index, node in enumerate(given)])
    unhealthy = value.get("unhealthy", False)
    return Device(label, on, not fields.boolean(unhealthy, (*path, "unhealthy")))


def _node_id(value: object, path: Path) -> int:
    return fields.integer(value, path, -fields.MAX_NODE_ID, fields.MAX_NODE_ID, "a NUMA node id")


def _only_node(label: str, path: Path, nodes: Sequence[NUMANode]) -> tuple[int, ...]:
    if len(nodes) == 1:
        return (nodes[0].id,)
    raise FieldError(
        path,
        f"expected {{id: {label}, numaNode: N}} (or numaNodes: null for a device without topology): "
        f"the machine has {len(nodes)} NUMA nodes",
    )


def preferred_allocation(value: object, path: Path) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Read `preferredAllocation`: resource -> list of lists of device ids."""
    result = {}
    for resource, sets in fields.mapping(value, path, "a mapping of resources to lists of device sets").items():
        here = (*path, resource)
        listed = fields.sequence(sets, here, "a list of lists of device ids")
        result[resource] = tuple([_device_set(one, (*here, index)) for index, one in enumerate(listed)])
    return result


def _device_set(value: object, path: Path) -> tuple[str, ...]:
    listed = fields.sequence(value, path, "a list of device ids")
    return tuple([fields.name(one, (*path, index), "a device id") for index, one in enumerate(listed)])


Links = dict[str, tuple[tuple[str, str, int], ...]]


def links(value: object, path: Path, known: Mapping[str, Sequence[Device]]) -> Links:
    """Read `links`: resource -> `[device, device, number]`s, or such a list alone if one resource has these ids."""
    if isinstance(value, Mapping):
        result = {}
        for resource, entries in fields.mapping(value, path).items():
            here = (*path, resource)
            if resource not in known:
                raise FieldError(
                    here, f"expected a resource with devices: {', '.join(sorted(known)) or 'there is none'}"
                )
            result[resource] = _link_list(entries, here, known[resource])
        return result
    entries = fields.sequence(value, path, "a list of links like [gpu0, gpu3, 2]")
    if not entries:
        return {}
    named = {str(end) for entry in entries if isinstance(entry, list | tuple) for end in entry[:2]}
    owners = [name for name, devices_ in known.items() if named <= {device.id for device in devices_}]
    if len(owners) != 1:
        found = f"{len(owners)} have" if owners else "none has"
        raise FieldError(
            path, f"expected ids of exactly one resource, {found} all of them; write links: {{RESOURCE: […]}}"
        )
    return {owners[0]: _link_list(entries, path, known[owners[0]])}


def _link_list(value: object, path: Path, known: Sequence[Device]) -> tuple[tuple[str, str, int], ...]:
    own = {device.id for device in known}
    result: dict[frozenset[str], tuple[str, str, int]] = {}
    for index, entry in enumerate(fields.sequence(value, path, "a list of links like [gpu0, gpu3, 2]")):
        here = (*path, index)
        if len(fields.sequence(entry, here, "a link like [gpu0, gpu3, 2]")) != 3:
            raise FieldError(here, f"expected a link like [gpu0, gpu3, 2], got {len(entry)} elements")
        one, other = (fields.name(entry[end], (*here, end), "a device id") for end in (0, 1))
        for label in (one, other):
            if label not in own:
                raise FieldError(here, f"no device has the id {fields.shown(label)}")
        pair = frozenset((one, other))
        if len(pair) == 1:
            raise FieldError(here, f"expected two different devices, got {one} twice")
        if pair in result:
            raise FieldError(here, f"the link between {one} and {other} is given twice")
        result[pair] = (one, other, fields.integer(entry[2], (*here, 2), 1, 1024, "a number of links"))
    return tuple(result.values())


def node_object(value: object, path: Path) -> NodeObject:
    """Read `node`: name, labels, taints and extended resources of the Node object."""
    data = fields.mapping(value, path)
    fields.only(data, ("name", "labels", "taints", "extendedResources"), path)
    label = data.get("name")
    labels = data.get("labels")
    return NodeObject(
        name=None if label is None else fields.text(label, (*path, "name"), "the node's name"),
        labels=None if labels is None else _labels(labels, (*path, "labels")),
        taints=_taints(data.get("taints") or (), (*path, "taints")),
        extended_resources=_extended(data.get("extendedResources") or {}, (*path, "extendedResources")),
    )


def _labels(value: object, path: Path) -> dict[str, str]:
    data = fields.mapping(value, path)
    return {key: fields.text(one, (*path, key), "a label's text", empty=True) for key, one in data.items()}


def _taints(value: object, path: Path) -> tuple[Taint, ...]:
    result = []
    for index, entry in enumerate(fields.sequence(value, path, "a list of taints")):
        here = (*path, index)
        data = fields.mapping(entry, here, "a taint like {key: gpu, effect: NoSchedule}")
        fields.only(data, ("key", "value", "effect", "timeAdded"), here)
        texts = [
            fields.text(data.get(key, ""), (*here, key), empty=key == "value") for key in ("key", "value", "effect")
        ]
        result.append(Taint(*texts))
    return tuple(result)


def _extended(value: object, path: Path) -> dict[str, int]:
    data = fields.mapping(value, path)
    return {key: fields.amount(one, resource_name(key, path), "devices") for key, one in data.items()}


def raw(value: object, path: Path) -> Mapping[str, object] | None:
    """Take a section that is kept as read."""
    return None if value is None else fields.mapping(value, path)


OPTION_FIELDS = ("topologyManagerPolicyOptions", "cpuManagerPolicyOptions")


def suggests(value: object, path: Path) -> dict[str, dict[str, str]]:
    """Read `suggests`: policy options that help on the machine, which nobody applies unasked."""
    data = fields.mapping(value, path)
    fields.only(data, OPTION_FIELDS, path)
    result = {}
    for field, options in data.items():
        here = (*path, field)
        listed = fields.mapping(options, here, 'options such as {max-allowable-numa-nodes: "16"}')
        result[field] = {name: fields.name(text, (*here, name), "an option's value") for name, text in listed.items()}
    return result
