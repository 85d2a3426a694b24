"""Judges what a container has from both worlds: the kubelet's CPUs and memory, and claimed devices (docs/dra.md)."""

from __future__ import annotations

from collections.abc import Sequence

from numalign.dra.constraints import RequestName, covers
from numalign.dra.values import Constraint
from numalign.model.cpuset import format_set, ids, union
from numalign.model.machine import Machine
from numalign.model.pod import QoS
from numalign.results.admit import ContainerResult
from numalign.results.dra import ClaimedDevice, Verdict
from numalign.values import NamedTuple


class Held(NamedTuple):
    """What a container has."""

    container: ContainerResult
    qos: QoS
    devices: tuple[ClaimedDevice, ...]
    constraints: tuple[tuple[str, Constraint], ...]
    """Of all claims of its pod: claim and constraint."""


class Judgement(NamedTuple):
    """What is to be said of a container."""

    verdict: Verdict
    reason: str
    """A sentence."""
    kept_by: str = ""
    """The constraints that keep all of it together."""
    cpu_nodes: frozenset[int] | None = None
    """NUMA nodes of the CPUs that the CPU Manager gave, which nothing keeps where its devices are; None: not so."""


def judge(held: Held, machine: Machine) -> Judgement:
    """Judge a container."""
    by_claim = [one for one in held.devices if one.cpus is not None]
    plain = [one for one in held.devices if one.cpus is None]
    cpus = union(one.cpus or 0 for one in by_claim)
    own = held.container.holding.cpus or 0
    where = f"{_devices_said(plain)} by claim, " if plain else ""
    if not cpus and not own:
        why = f"the pod is {held.qos}" if held.qos != "Guaranteed" else "the container has no exclusive CPUs"
        return Judgement("floating", f"{where}CPUs anywhere: {why}")
    if cpus and own:
        both = f"CPUs {format_set(cpus)} by claim and {format_set(own)} from the CPU Manager"
        return Judgement("floating", f"{where}{both}: dra.cpu needs cpuManagerPolicy none on its nodes")
    nodes = frozenset(node.id for node in machine.numa_nodes if node.cpus & (cpus | own))
    whose = "by claim" if cpus else "from the CPU Manager"
    reason = f"{where}CPUs {format_set(cpus | own)} on {_nodes_said(nodes)} {whose}"
    devices = frozenset(node for one in plain for node in one.numa or ())
    alignment = held.container.alignment
    touched = nodes | devices | frozenset(ids(alignment.nodes))
    kept = _kept_by(held) if cpus else ""
    if not plain:
        return Judgement("aligned" if len(touched) <= max(1, alignment.least) else "spread", reason, kept)
    several = sum(1 for node in machine.numa_nodes if node.cpus) > 1
    if any(one.numa is None for one in plain) and several and devices <= nodes and not kept:
        unsaid = ", ".join(one.got.device.device for one in plain if one.numa is None)
        return Judgement("unknown", f"{reason}: NUMA node unknown for {unsaid}", cpu_nodes=None if cpus else nodes)
    verdict: Verdict = "aligned" if devices <= nodes and len(touched) <= max(1, alignment.least) else "spread"
    if kept:
        return Judgement(verdict, f"{reason}: kept together by {kept}", kept)
    tail = _tail(verdict, by_claim=bool(cpus))
    return Judgement(verdict, f"{reason}: {tail}", cpu_nodes=None if cpus else nodes)


def _tail(verdict: Verdict, *, by_claim: bool) -> str:
    """Say what keeps them together where no constraint ties all of it."""
    if verdict != "aligned":
        return "no constraint aligns them"
    if by_claim:
        return "together by their selectors, or this time: no matchAttribute ties them"
    return "together this time, but no constraint aligns them"


def _devices_said(devices: Sequence[ClaimedDevice]) -> str:
    """Say devices with their nodes: `gpu-4 on NUMA node 1, mlx5-0 on node 0`."""
    groups: dict[tuple[int, ...] | None, list[str]] = {}
    for one in devices:
        groups.setdefault(one.numa, []).append(one.got.device.device)
    return ", ".join(
        f"{', '.join(names)} on {_nodes_said(frozenset(numa))}" if numa is not None else f"{', '.join(names)} somewhere"
        for numa, names in groups.items()
    )


def _nodes_said(nodes: frozenset[int]) -> str:
    listed = ", ".join(map(str, sorted(nodes)))
    return f"NUMA node{'s' * (len(nodes) != 1)} {listed}"


Wanted = tuple[str, RequestName]
"""A request of a claim: the claim's name, and the request's."""


def wanted_of(one: ClaimedDevice) -> Wanted:
    """Name the request that a device was given for."""
    return one.got.claim, RequestName(*one.got.request.partition("/")[::2])


def _kept_by(held: Held) -> str:
    """Name the constraints that tie all requests of a container together, one to the next; empty: they do not."""
    wanted = list(dict.fromkeys(map(wanted_of, held.devices)))
    together, used = {wanted[0]}, []
    for claim, written in held.constraints * len(held.constraints):
        covered = covered_by(wanted, claim, written)
        if written.match is not None and covered & together and not covered <= together:
            together |= covered
            used.append(written.match)
    if len(wanted) == 1:
        used = [
            written.match for claim, written in held.constraints if written.match and covered_by(wanted, claim, written)
        ]
    return " and ".join(f"matchAttribute {name}" for name in used) if together == set(wanted) else ""


def covered_by(wanted: Sequence[Wanted], claim: str, written: Constraint) -> set[Wanted]:
    """Give the requests that a constraint of a claim is about."""
    return {one for one in wanted if one[0] == claim and covers(written, one[1])}
