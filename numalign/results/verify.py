"""The result of `verify`: the plan of each container, what was measured, and whether the one is the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.node.finding import NodeFinding
    from numalign.analysis.verify.compare import Judged, Verdict
    from numalign.errors import Notice


class VerifyResult(NamedTuple):
    """A node, measured."""

    machine: str
    origin: str
    containers: tuple[Judged, ...]
    """By pod and container."""
    ended: int
    """Init containers that have ended; their CPUs stay with their pod."""
    host_allowed: int
    """Processes of the host that are allowed on exclusive CPUs, without having been seen there."""
    left_out: tuple[str, ...]
    """Checks that could not be made, with the reason."""
    unknown: tuple[str, ...]
    """What the source does not tell."""
    findings: tuple[NodeFinding, ...]
    """What is odd about the plan itself."""
    notices: tuple[Notice, ...]


class ProcessResult(NamedTuple):
    """One process by itself, without any plan (`--pid`, `--self`)."""

    machine: str
    pid: int
    cpus: int
    """CPUs that its threads may run on together, as a set."""
    mems: int
    """NUMA nodes that it may have memory from, as a mask."""
    cpu_nodes: int
    """NUMA nodes of its CPUs, as a mask."""
    pages: Mapping[int, int] | None
    """NUMA node -> bytes of its own memory; None: may not be counted."""
    devices: Mapping[str, int]
    """Device seen in its environment -> its NUMA node; -1: none."""
    verdict: Verdict
    reason: str
    """The verdict in words."""
