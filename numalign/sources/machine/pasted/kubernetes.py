"""What Kubernetes itself says: cAdvisor's machineinfo, a kubelet's log, a Node object."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from numalign.model.cpuset import MAX_ID
from numalign.model.machine import NodeObject
from numalign.sources.host.text import page_name
from numalign.sources.machine.pasted.told import Told

MACHINE_INFO, LOG, NODE = "cAdvisor's machineinfo", "the kubelet's log", "the Node object"
_TOPOLOGY: Final = re.compile(r'"?Detected CPU topology"?.*')
_CPU: Final = re.compile(
    r'"?(\d{1,5})"?:\s*\{"?NUMANodeID"?:(\d{1,5})[ ,]+"?SocketID"?:(-?\d{1,5})[ ,]+"?CoreID"?:(\d{1,5})'
    r'(?:[ ,]+"?UncoreCacheID"?:(-?\d{1,9}))?',
    re.ASCII,
)
_CONFIG: Final = re.compile(r"Creating Container Manager object based on Node Config.*")
_SETTING: Final = re.compile(
    r'\b(?:Experimental)?(CPUManagerPolicy|MemoryManagerPolicy|TopologyManager(?:Policy|Scope))"?:"?([A-Za-z-]+)'
)
_OPTIONS: Final = re.compile(r'\b(?:Experimental)?((?:CPU|Topology)ManagerPolicyOptions)"?:(?:map\[|\{)([^\]}]+)')
_FLAG: Final = re.compile(r'FLAG: --((?:cpu|memory|topology)-manager-(?:policy|scope)|reserved-cpus)="([^"\n]+)"')
_VERSION: Final = re.compile(r'kubeletVersion"?[:=] ?"?v?(1\.\d{1,3})')
_NODE: Final = re.compile(
    r"^[ \t]*(?:\"?kind\"?: \"?Node\"?,?[ \t\r]*|Allocatable:[ \t\r]*|allocatable:[ \t\r]*)$", re.M
)
_LABEL: Final = re.compile(
    r"^[ \t\"]*(?:Labels:[ \t]*)?((?:[a-z0-9.-]+/)[\w.-]+)\"?[=:][ \t]*\"?([\w.-]*)\"?,?[ \t\r]*$", re.M
)
MACHINE_LABELS: Final = ("node.kubernetes.io/instance-type", "nvidia.com/gpu.machine")
"""Labels that name what machine a node is."""


def read_machine_info(data: Any, told: Told) -> None:
    """Read what `/api/v1.3/machine` of cAdvisor, or `/spec` of an old kubelet, answers: what a kubelet knows."""
    if not isinstance(data, dict) or not isinstance(data.get("topology"), list) or "num_cores" not in data:
        return
    told.tools.append(MACHINE_INFO)
    try:
        rows = list(_rows(data["topology"]))
        for node in data["topology"]:
            _node(node, told)
        told.total_memory = int(data["memory_capacity"]) if "memory_capacity" in data else None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise told.error(f"{MACHINE_INFO}: expected a topology of nodes with cores, and {error} is not so") from None
    if not all(0 <= cpu <= MAX_ID for cpu, *_ in rows):
        raise told.error(f"{MACHINE_INFO}: expected CPU numbers up to {MAX_ID}")
    nodes = {int(node["node_id"]): 0 for node in data["topology"]}
    told.say_rows(MACHINE_INFO, rows)
    told.nodes = nodes | told.nodes


def _rows(topology: list[Any]) -> Iterator[tuple[int, int, int, int, int | None]]:
    for node in topology:
        for index, core in enumerate(node.get("cores") or ()):
            caches = core.get("uncore_caches") or ()
            cache = int(caches[0]["id"]) if caches else None
            for cpu in core["thread_ids"]:
                # Core ids repeat; the kubelet takes each entry as one.
                yield int(cpu), int(node["node_id"]), int(core.get("socket_id", 0)), index, cache


def _node(node: Mapping[str, Any], told: Told) -> None:
    number = int(node["node_id"])
    told.memory[number] = int(node.get("memory", 0))
    told.pages[number] = {
        page_name(int(page["page_size"])): int(page["page_size"]) * 1024 * int(page["num_pages"])
        for page in node.get("hugepages") or ()
    }
    if node.get("distances"):
        told.distances[number] = tuple(map(int, node["distances"]))


def read_log(text: str, told: Told) -> None:
    """Read a kubelet's log: the CPUs that its CPU manager found, and the settings that it started with."""
    topology = [found[0] for found in _TOPOLOGY.finditer(text)]
    settings = [found[0] for found in _CONFIG.finditer(text)]
    flags = _FLAG.findall(text)
    if not topology and not settings and not flags:
        return
    told.tools.append(LOG)
    for name, value in flags:
        first, *rest = name.split("-")
        key = first + "".join(map(str.capitalize, rest))
        told.kubelet["reservedSystemCPUs" if name == "reserved-cpus" else key] = value
    for line in settings:
        told.kubelet |= _settings(line)
    version = _VERSION.search(text)
    told.kubelet_version = version[1] if version else told.kubelet_version
    if not topology:
        return
    found = [tuple(map(int, one)) for one in (cpu[:4] for cpu in _CPU.findall(topology[-1]))]
    caches = [int(one[4]) if one[4] else None for one in _CPU.findall(topology[-1])]
    count = re.search(r'"?NumCPUs"?:(\d{1,5})', topology[-1])
    if not found or (count and int(count[1]) != len(found)):
        raise told.error(f"{LOG} is cut off in the line of the CPU topology: paste the whole line")
    split = len({cache for cache in caches if cache is not None}) > len({row[2] for row in found})
    rows = [
        (cpu, node, socket, core, cache if split else None)
        for (cpu, node, socket, core), cache in zip(found, caches, strict=True)
    ]
    told.say_rows(LOG, rows)


def _settings(line: str) -> dict[str, Any]:
    found: dict[str, Any] = {_key(name): value for name, value in _SETTING.findall(line)}
    for name, text in _OPTIONS.findall(line):
        found[_key(name)] = dict(re.findall(r'"?([a-z-]+)"?:"?([\w-]+)', text))
    reserved = re.search(r'"?ReservedSystemCPUs"?:"?([\d,-]+)"', line)
    if reserved:
        found["reservedSystemCPUs"] = reserved[1]
    return found


def _key(name: str) -> str:
    return name.replace("CPU", "cpu", 1) if name.startswith("CPU") else name[0].lower() + name[1:]


def read_node(text: str, told: Told) -> None:
    """Read a Node object, or what `kubectl describe node` prints of one: labels, release, and no NUMA node."""
    labels = {key: value for key, value in _LABEL.findall(text) if value}
    if not _NODE.search(text) and not any(key in labels for key in MACHINE_LABELS):
        return
    told.tools.append(NODE)
    name = re.search(r"^(?:Name:[ \t]+|[ \t]*\"?kubernetes\.io/hostname\"?[:=][ \t]*\"?)([\w.-]+)", text, re.M)
    told.node = NodeObject(name=name[1] if name else None, labels=labels or None)
    version = re.search(r"[kK]ubelet ?Version\"?:[ \t]*\"?v?(1\.\d{1,3})", text)
    told.kubelet_version = told.kubelet_version or (version[1] if version else "")
