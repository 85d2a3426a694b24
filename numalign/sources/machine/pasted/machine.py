"""Pasted outputs as a machine: recognised by what they hold, several of them together.

What an output does not say is said in a notice. What NUMA node something is on is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from numalign.errors import Notice
from numalign.model import machine_checks
from numalign.model.cpuset import format_set, from_ids, ids, union
from numalign.model.hardware import Hardware, PCIFunction
from numalign.model.machine import Device, Machine, NodeObject, NUMANode, Unit
from numalign.model.path import dotted
from numalign.model.words import few_of
from numalign.sources.machine import bundled
from numalign.sources.machine.pasted import kubernetes, lscpu, lstopo, matrix, nccl, numactl
from numalign.sources.machine.pasted.told import Told

_ESCAPES: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\[[0-9]{0,2}m")
_QUOTE: Final = re.compile(r"^(?:[ \t]*>)+ ?", re.M)
_JSON: Final = re.compile(r"^[ \t]*\{", re.M)
_SOME: Final = re.compile(r"^processor[ \t]*: \d|^[ \t]*physical id[ \t]*:", re.M)
_CPUS: Final = "the output of `lscpu`, or of `lscpu -p`"


def told_by(text: str, where: str) -> Told | None:
    """Read all outputs in a text; None: there is none.

    Raises:
        InputError: one is cut off, or two contradict each other.
    """
    text = plain(text)
    told = Told(where)
    for data in _json(text):
        lscpu.read_json(data, told)
        kubernetes.read_machine_info(data, told)
    lscpu.read_table(text, told)
    for read in (
        lscpu.read_text,
        numactl.read_text,
        kubernetes.read_log,
        lstopo.read_text,
        matrix.read_nvidia,
        matrix.read_amd,
        nccl.read_xml,
        kubernetes.read_node,
    ):
        read(text, told)
    if not told.tools and _SOME.search(text):
        told.tools.append("/proc/cpuinfo")
    return told if told.tools else None


def plain(text: str) -> str:
    """Take away what terminals and mails put around an output: quotes, and escapes, also without their first sign."""
    return _QUOTE.sub("", _ESCAPES.sub("", text.replace("\r", "").replace("\u00a0", " ")))


def _json(text: str) -> Iterator[object]:
    """Yield the JSON objects in a text; lscpu 2.38 writes a bare dash for what it does not know."""
    import json

    decoder = json.JSONDecoder()
    plain = re.sub(r":\s*-\s*(?=[,}])", ": null", text)
    at = _JSON.search(plain)
    while at:
        try:
            data, end = decoder.raw_decode(plain, plain.index("{", at.start()))
            yield data
        except (ValueError, RecursionError):
            end = at.end()
        at = _JSON.search(plain, end)


def machine_of(told: Told, name: str) -> tuple[Machine, tuple[Notice, ...]]:
    """Make the machine of what was told, and say what was not.

    Raises:
        InputError: it is not told which CPUs are on which NUMA node, or what is told cannot be a machine.
    """
    if not told.nodes:
        raise told.error(_not_enough(told))
    _check_places(told)
    cores = _cores(told)
    nodes = sorted(told.nodes)
    memory = {node: told.memory.get(node, 0) for node in nodes}
    if not any(memory.values()):
        add = "fix: add the output of numactl -H, or --memory-per-numa-node"
        told.note("paste-no-memory", f"memory of the NUMA nodes unknown: assumed 0; {add}")
    if not told.distances and len(nodes) > 1:
        told.note("paste-no-distances", "distances of the NUMA nodes unknown; fix: add the output of numactl -H")
    machine = Machine(
        name=name,
        numa_nodes=tuple(
            NUMANode(node, told.nodes[node], memory[node], told.pages.get(node, {}), told.distances.get(node))
            for node in nodes
        ),
        sockets=_sockets(told, cores),
        cores=cores,
        uncore_caches=_caches(told, cores),
        devices=_devices(told),
        links=told.links,
        total_memory=told.total_memory,
        node=told.node or NodeObject(),
        kubelet={"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", **told.kubelet}
        if told.kubelet
        else None,
        kubelet_version=told.kubelet_version,
    )
    functions = tuple(_functions(told))
    if functions or told.model:
        machine = machine._replace(hardware=Hardware(model=told.model, pci=functions))
    for finding in machine_checks.errors(machine):
        raise told.error(f"{dotted(finding.path)}: {finding.message}")
    odd = machine_checks.warnings(machine)
    notices = [Notice(code, text, told.where) for code, text in told.notes]
    return machine, (*notices, *(Notice(one.code, one.message, dotted(one.path)) for one in odd))


def _not_enough(told: Told) -> str:
    tools = " and ".join(dict.fromkeys(told.tools))
    if tools == "lscpu":
        return "lscpu: no line names the CPUs of a NUMA node; fix: paste the whole output of lscpu"
    text = f"{tools}: CPUs of the NUMA nodes unknown; fix: add {_CPUS} (one more --machine, or below it)"
    labels = (told.node.labels if told.node else None) or {}
    named = [labels[label] for label in kubernetes.MACHINE_LABELS if label in labels]
    known = [name for label in named for name in bundled.meant_by(label)]
    if known:
        return f"{text}; the node is a {named[0]}: --machine {known[0]}"
    return f"{text}; its labels name a {named[0]}" if named else text


def _check_places(told: Told) -> None:
    """Hold what outputs of some nodes say to those of all nodes."""
    for node, cpus in told.near_nodes.items():
        if not told.nodes.get(node, 0) & cpus:
            theirs = format_set(told.nodes.get(node, 0))
            raise told.error(f"NUMA node {node} has CPUs {theirs or 'none'}, and {format_set(cpus)} in {nccl.TOOL}")


def _cores(told: Told) -> tuple[int, ...]:
    """Return the CPUs of each core: as told, or as Linux numbers the threads of one."""
    if told.cores:
        return tuple(sorted(told.cores, key=lambda cpus: next(ids(cpus))))
    threads = told.threads or 1
    if told.threads is None:
        text = "threads of a core unknown: each CPU is assumed to be a core; fix: add the output of lscpu"
        told.note("paste-no-cores", text)
    cores = []
    with_cpus = [cpus for cpus in told.nodes.values() if cpus]
    for cpus in with_cpus:
        listed = list(ids(cpus))
        if len(listed) % threads:
            message = "CPUs are offline: each CPU is assumed to be a core; fix: add the output of lscpu -p"
            told.note("paste-no-cores", message)
            return tuple(1 << cpu for node in with_cpus for cpu in ids(node))
        size = len(listed) // threads
        whole = listed[-1] - listed[0] + 1 == len(listed)
        adjacent = threads > 1 and whole and (len(with_cpus) > 1 or told.adjacent is not False)
        if threads > 1 and whole and len(with_cpus) == 1:
            told.note("paste-no-cores", "CPUs of a core unknown: assumed as usual; fix: add the output of lscpu -p")
        for index in range(size):
            members = listed[index * threads : (index + 1) * threads] if adjacent else listed[index::size]
            cores.append(from_ids(members))
    return tuple(sorted(cores, key=lambda cpus: next(ids(cpus))))


def _by_node(told: Told, cores: Sequence[int]) -> list[int]:
    """List the cores node by node."""
    return [core for node in sorted(told.nodes) for core in cores if core & told.nodes[node]]


def _sockets(told: Told, cores: Sequence[int]) -> tuple[Unit, ...]:
    if told.sockets:
        return tuple(Unit(number, cpus) for number, cpus in sorted(told.sockets.items()))
    with_cpus = [told.nodes[node] for node in sorted(told.nodes) if told.nodes[node]]
    count = told.socket_count or len(with_cpus)
    if told.socket_count is None and len(with_cpus) > 1:
        text = "sockets unknown: each NUMA node is assumed to be one; fix: add the output of lscpu"
        told.note("paste-no-sockets", text)
    if count <= len(with_cpus) and len(with_cpus) % count == 0:
        return _units(with_cpus, count)
    ordered = _by_node(told, cores)
    if len(ordered) % count:
        told.note("paste-no-sockets", f"{count} sockets do not divide the NUMA nodes: each node is taken as one")
        return _units(with_cpus, len(with_cpus))
    return _units(ordered, count)


def _caches(told: Told, cores: Sequence[int]) -> tuple[Unit, ...]:
    """Return the last-level caches that are not a whole NUMA node's (docs/rules/discovery.md 1.11)."""
    count = told.cache_count
    ordered = _by_node(told, cores)
    if told.caches is not None:
        caches = [cpus for cpus in told.caches if cpus not in told.nodes.values()]
        return tuple(Unit(index, cpus) for index, cpus in enumerate(caches))
    if not count or len(ordered) % count:
        return ()
    return tuple(unit for unit in _units(ordered, count) if unit.cpus not in told.nodes.values())


def _units(sets: Sequence[int], count: int) -> tuple[Unit, ...]:
    """Join neighbours to so many sets."""
    size = len(sets) // count
    return tuple(Unit(index, union(sets[index * size : (index + 1) * size])) for index in range(count))


def _devices(told: Told) -> dict[str, tuple[Device, ...]]:
    made = {
        resource: tuple(Device(device, _node_of(device, near, told)) for device, near in devices.items())
        for resource, devices in told.gpus.items()
    }
    lost = [device.id for devices in made.values() for device in devices if device.numa_nodes is None]
    if lost:
        fix = "fix: add --device RESOURCE@NODE=N"
        told.note("paste-no-node", f"NUMA node unknown: {few_of(lost, 3)}; devices without one give no hints; {fix}")
    return made


def _node_of(device: str, near: tuple[int, ...] | None, told: Told) -> tuple[int, ...] | None:
    """Tell the NUMA node of a device: the only one of its list with CPUs; without a list that of its CPUs."""
    if len(told.nodes) == 1:
        return tuple(told.nodes)
    with_cpus = [node for node in near or () if told.nodes.get(node)]
    if near is None:
        cpus = told.near_cpus.get(device, 0)
        with_cpus = [node for node, members in told.nodes.items() if members and members == cpus]
    if len(with_cpus) == 1:
        if (
            near is not None
            and len(near) == 1
            and told.near_cpus.get(device, told.nodes[near[0]]) & told.nodes[near[0]] == 0
        ):
            raise told.error(f"{device} is near CPUs that are not on NUMA node {near[0]}: are these of one machine?")
        return (with_cpus[0],)
    if near and len(near) == 1:
        raise told.error(f"{device} is on NUMA node {near[0]}, which has no CPUs or is not there: of another machine?")
    return None


def _functions(told: Told) -> Iterator[PCIFunction]:
    """Yield the PCI functions; a port is on the node of a GPU that it is near."""
    places = {
        device.id: device.numa_nodes[0]
        for devices in _devices(told).values()
        for device in devices
        if device.numa_nodes
    }
    for one in told.functions:
        node = places.get(told.near_gpus.get(one.address, one.address), one.numa_node)
        yield one._replace(numa_node=-1 if node is None else node)
