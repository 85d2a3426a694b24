"""What pasted outputs say of one machine, gathered from all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numalign.errors import InputError
from numalign.model import cpuset
from numalign.model.hardware import PCIFunction
from numalign.model.machine import NodeObject
from numalign.model.path import shown
from numalign.sources.machine.sections import MAX_NODES


@dataclass(slots=True)
class Told:
    """One machine, as far as it is told; what is missing is empty or None."""

    where: str
    tools: list[str] = field(default_factory=list)
    """The outputs that were recognised, in the order in which they were read."""
    nodes: dict[int, int] = field(default_factory=dict)
    """NUMA node -> CPUs."""
    memory: dict[int, int] = field(default_factory=dict)
    pages: dict[int, dict[str, int]] = field(default_factory=dict)
    distances: dict[int, tuple[int, ...]] = field(default_factory=dict)
    sockets: dict[int, int] = field(default_factory=dict)
    cores: tuple[int, ...] = ()
    caches: tuple[int, ...] | None = None
    """CPUs of each last-level cache; None: not told."""
    socket_count: int | None = None
    threads: int | None = None
    """Of a core."""
    cache_count: int | None = None
    adjacent: bool | None = None
    """Whether the threads of a core are neighbours; None: not told."""
    online: int | None = None
    model: str | None = None
    gpus: dict[str, dict[str, tuple[int, ...] | None]] = field(default_factory=dict)
    """Resource -> device -> the nodes it is near; None: not told."""
    near_cpus: dict[str, int] = field(default_factory=dict)
    """Device -> the CPUs it is near, where the output is not known to be cut."""
    near_gpus: dict[str, str] = field(default_factory=dict)
    """Network port -> a GPU of its NUMA node."""
    near_nodes: dict[int, int] = field(default_factory=dict)
    """NUMA node -> CPUs, of an output that lists some of the nodes only."""
    functions: tuple[PCIFunction, ...] = ()
    links: dict[str, tuple[tuple[str, str, int], ...]] = field(default_factory=dict)
    kubelet: dict[str, Any] = field(default_factory=dict)
    kubelet_version: str = ""
    node: NodeObject | None = None
    total_memory: int | None = None
    notes: list[tuple[str, str]] = field(default_factory=list)
    """(code, text) of what is not told, and what was made of it."""

    def error(self, text: str) -> InputError:
        """Make the error of an output that cannot be used."""
        return InputError(text, self.where)

    def note(self, code: str, text: str) -> None:
        """Say something once."""
        if (code, text) not in self.notes:
            self.notes.append((code, text))

    def say_nodes(self, tool: str, nodes: Mapping[int, int]) -> None:
        """Take in which CPUs are on which NUMA node.

        Raises:
            InputError: another output says something else.
        """
        if len(nodes) > MAX_NODES:
            raise self.error(f"{tool}: expected at most {MAX_NODES} NUMA nodes, got {len(nodes)}")
        for node, cpus in nodes.items():
            if self.nodes and self.nodes.get(node, cpus) != cpus:
                theirs, ours = cpuset.format_set(self.nodes[node]), cpuset.format_set(cpus)
                raise self.error(f"NUMA node {node} has CPUs {theirs or 'none'}, and {ours or 'none'} in {tool}")
        if self.nodes and self.nodes.keys() != nodes.keys():
            few, many = sorted((len(self.nodes), len(nodes)))
            raise self.error(f"one output has {few} NUMA nodes, another ({tool}) {many}: are they of one machine?")
        self.nodes = dict(nodes)

    def say_rows(self, tool: str, rows: Iterable[tuple[int, int, int, int, int | None]]) -> None:
        """Take in (CPU, node, socket, core, L3 cache) of every CPU; cores have their number within a socket."""
        nodes: dict[int, int] = {}
        sockets: dict[int, int] = {}
        cores: dict[tuple[int, ...], int] = {}
        caches: dict[int, int] = {}
        for cpu, node, socket, core, cache in rows:
            bit = 1 << cpu
            for known, key in ((nodes, node), (sockets, socket)):
                known[key] = known.get(key, 0) | bit
            cores[node, socket, core] = cores.get((node, socket, core), 0) | bit
            if cache is not None:
                caches[cache] = caches.get(cache, 0) | bit
        if not nodes:
            raise self.error(f"{tool}: it lists no CPU")
        self.say_nodes(tool, nodes)
        self.sockets, self.cores = sockets, tuple(cores.values())
        self.caches = tuple(caches.values()) or self.caches

    def cpus(self, tool: str, text: str) -> int:
        """Read a list of CPUs.

        Raises:
            InputError: it is none.
        """
        try:
            return cpuset.parse(text.strip().replace(" ", ""))
        except cpuset.CPUSetError:
            raise self.error(f"{tool}: expected a list of CPUs like 0-3,8, got {shown(text)}") from None
