"""Compare the kubelet's plan of a node with what its processes may do and do; or judge one process by itself."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from numalign.analysis.alignment import alignment
from numalign.analysis.holding import Holding, holding
from numalign.analysis.verify import compare
from numalign.analysis.verify.compare import Judged, Machine, Plan, Verdict, allowed_everywhere, intruders, judge
from numalign.errors import HostError, InputError
from numalign.kubelet.demand import ContainerDemand
from numalign.kubelet.memory.state import STATIC
from numalign.model.cpuset import format_set, union
from numalign.results.node import ProcessResult, VerifyResult
from numalign.tasks.status import findings, open_node, outlook_of

if TYPE_CHECKING:
    from numalign.analysis.verify.observed import Group, Observed, Process
    from numalign.kubelet.admission import Session
    from numalign.model import machine as hardware
    from numalign.tasks.requests import KubeletRequest, NodeRequest

NOTHING = Holding(None, (), ())
Key = tuple[str, str]
"""(pod UID, container)."""


def verify(
    request: NodeRequest,
    machine: str | None,
    kubelet: KubeletRequest,
    *,
    host_root: str | None = None,
    interval: float = 0.0,
    deep: bool = False,
    outlook: bool = False,
) -> VerifyResult:
    """Read a node's plan, measure the node, compare.

    Args:
        request: where the plan is.
        machine: a machine by name, in place of the source's own.
        kubelet: settings over those that were found.
        host_root: the tree that stands for the host, where it is not the source of the plan.
        interval: seconds between two readings of what runs on the live host; 0: one reading.
        deep: count the pages of every process.
        outlook: say also what free CPUs and devices are good for, and what a restart of the kubelet does.

    Raises:
        InputError: the source tells of no node, or not enough of it.
        HostError: nothing of it could be measured.
        StartError: its kubelet would not come up with its settings, whatever the files.
    """
    from numalign.sources.node.observe import observe
    from numalign.sources.tree.opening import open_tree

    opened = open_node(request, machine, kubelet)
    facts, there = opened.facts, opened.there
    tree = open_tree(host_root) if host_root else facts.tree
    if tree is None:
        raise InputError("has a plan, but no processes; fix: add --host-root DIR", request.source)
    names = {pod.uid: pod.full_name if pod.name != pod.uid else pod.uid for pod in there.pods}
    plans = {(plan.uid, plan.container): plan for plan in _plans(there, names)}
    devices = (device for plan in plans.values() for held in plan.holding.devices for device in held.ids)
    observed = observe(tree, facts, devices, interval=interval, deep=deep)
    if not observed.groups and not observed.others:
        raise HostError(f"nothing is measurable: {'; '.join(observed.left_out)}", opened.on.origin)
    judged, told = _judged(plans, observed, _machine(there.node.machine), there, names)
    ended = _ended(there, judged)
    shown = [one for one in judged if (one.plan.uid, one.plan.container) not in ended]
    odd = tuple(findings(opened))
    return VerifyResult(
        machine=there.node.machine.name,
        origin=opened.on.origin,
        containers=tuple(sorted(shown, key=lambda one: (one.plan.pod, one.plan.container))),
        ended=len(ended),
        host_allowed=allowed_everywhere(plans, observed, told),
        left_out=observed.left_out,
        unknown=facts.unknown,
        findings=odd,
        notices=opened.on.notices,
        at=time.time(),
        outlook=outlook_of(opened, odd) if outlook else None,
    )


def _machine(machine: hardware.Machine) -> Machine:
    return Machine(machine.cpus, {numa.id: numa.cpus for numa in machine.numa_nodes})


def _plans(there: Session, names: Mapping[str, str]) -> Iterable[Plan]:
    """Say what the kubelet planned for each container that it knows (W-6, W-11)."""
    for uid, demand in there.state.pods.items():
        for container in demand.containers:
            yield _plan(there, uid, names.get(uid, uid), container)


def _plan(there: Session, uid: str, pod: str, container: ContainerDemand) -> Plan:
    node, state = there.node, there.state
    held = holding(node, state, uid, container)
    nodes = union(block.mask for block in held.memory if block.size)
    cpus = (state.cpu.default if held.cpus is None else held.cpus) if node.cpu.static else None
    return Plan(
        uid=uid,
        pod=pod,
        container=container.name,
        cpus=cpus,
        exclusive=held.cpus is not None,
        nodes=nodes or None if node.memory.policy == STATIC else None,
        holding=held,
        alignment=alignment(node, held, container),
    )


def _judged(
    plans: dict[Key, Plan], observed: Observed, machine: Machine, there: Session, names: Mapping[str, str]
) -> tuple[list[Judged], set[int]]:
    """Judge the containers, and name the processes that take CPUs of others."""
    exclusive = union(plan.own for plan in plans.values())
    groups: dict[Key, Group] = {}
    for group in observed.groups:
        if group.sandbox:
            continue
        key = _key(group, plans, observed)
        groups[key] = group._replace(name=key[1])
        if key not in plans:
            plans[key] = _unlisted(there, groups[key], names.get(group.uid, group.uid), named=bool(group.name))
    renamed = observed._replace(groups=tuple(groups.values()))
    found = {key: judge(plan, groups.get(key), machine, renamed, exclusive) for key, plan in plans.items()}
    told = set()
    for plan, pid, finding in intruders(plans, renamed):
        key = (plan.uid, plan.container)
        told.add(pid)
        found[key] = found[key]._replace(findings=(*found[key].findings, finding))
    # What neither holds anything nor runs is nobody's business: a container of a pod that is not there yet.
    return [one for one in found.values() if one.group is not None or one.plan.holding != NOTHING], told


def _ended(there: Session, judged: Iterable[Judged]) -> set[Key]:
    """Find init containers that have ended: others of their pod run, and they do not; the plan keeps their CPUs."""
    run = {one.plan.uid for one in judged if one.group is not None}
    kinds = {
        (uid, container.name): container.kind for uid, pod in there.state.pods.items() for container in pod.containers
    }
    keys = ((one.plan.uid, one.plan.container) for one in judged if one.group is None and one.plan.uid in run)
    return {key for key in keys if kinds.get(key) == "init"}


def _unlisted(there: Session, group: Group, pod: str, *, named: bool) -> Plan:
    """Say what is planned for a container that the kubelet's files do not list: it runs in the shared pool.

    Where nobody names it, it could be one that is listed, so only the shared pool's own set tells.
    """
    plan = _plan(there, group.uid, pod, ContainerDemand(group.name, "app", 0, (), ()))
    return plan if named or group.cpus == there.state.cpu.default else plan._replace(cpus=None)


def _key(group: Group, plans: Mapping[Key, Plan], observed: Observed) -> Key:
    """Name a container: as its runtime does, else by its CPUs where these are only one container's in the pod (W-4)."""
    if group.name:
        return group.uid, group.name
    taken = {other.name for other in observed.groups if other.uid == group.uid}
    fitting = [
        key
        for key, plan in plans.items()
        if key[0] == group.uid and plan.exclusive and plan.cpus == group.cpus and key[1] not in taken
    ]
    # An init container that has ended leaves its CPUs to another, and its memory is gone.
    fitting = [key for key in fitting if plans[key].nodes] or fitting
    return fitting[0] if len(fitting) == 1 else (group.uid, group.id[:12])


def verify_process(pid: int, host_root: str) -> ProcessResult:
    """Judge one process by what it may do and what it has, without any plan.

    Args:
        pid: the process.
        host_root: the tree in whose /proc it is.

    Raises:
        HostError: it cannot be read.
    """
    from numalign.sources.host.discovery import discover
    from numalign.sources.node.observe import devices_of
    from numalign.sources.node.processes import process_of
    from numalign.sources.tree.opening import open_tree

    tree = open_tree(host_root)
    found = process_of(tree, pid, {}, deep=True)
    if found is None:
        raise HostError("cannot be read; fix: name a process that runs", f"/proc/{pid}")
    machine = discover(tree).machine
    if machine is None:
        raise HostError("the NUMA nodes of the machine are not readable", tree.name)
    facts = _machine(machine)
    cpus = union(thread.cpus for thread in found.threads) & facts.online
    devices = devices_of(tree, pid)
    verdict, reason = _verdict(found, facts, cpus, devices)
    return ProcessResult(
        machine=machine.name,
        pid=pid,
        cpus=cpus,
        mems=union(thread.mems for thread in found.threads),
        cpu_nodes=facts.nodes_of(cpus),
        pages=found.pages,
        devices=devices,
        verdict=verdict,
        reason=reason,
    )


def _verdict(process: Process, machine: Machine, cpus: int, devices: Mapping[str, int]) -> tuple[Verdict, str]:
    """Choose the word from the measured sets; it is never `drifted` (W-18)."""
    if cpus == machine.online and len(machine.node_cpus) > 1:
        word: Verdict = "floating" if devices else "none"
        return word, "the process may run on every CPU of the machine"
    nodes = machine.nodes_of(cpus)
    where = f"its CPUs are on NUMA {format_set(nodes)}"
    if nodes.bit_count() > 1:
        return "spread", where
    away = sorted(name for name, node in devices.items() if node >= 0 and not nodes >> node & 1)
    if away:
        return "spread", f"{where}, {', '.join(away)} elsewhere"
    remote = {node: size for node, size in (process.pages or {}).items() if not nodes >> node & 1}
    total, elsewhere = sum((process.pages or {}).values()), sum(remote.values())
    if elsewhere > compare.REMOTE_BYTES and elsewhere > compare.REMOTE_SHARE * total:
        return "spread", f"{where}, {elsewhere * 100 // total} % of its memory elsewhere"
    return "aligned", where
