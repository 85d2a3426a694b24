"""One container's plan against its control group, threads, memory and devices (docs/rules/verify.md W-6 to W-18)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from numalign.analysis import Verdict as PlannedVerdict
from numalign.analysis.alignment import Alignment
from numalign.analysis.holding import Holding
from numalign.analysis.verify.observed import Group, Observed, Process
from numalign.model.cpuset import format_set, from_ids, ids, union
from numalign.model.words import few_of
from numalign.values import NamedTuple

Verdict = PlannedVerdict | Literal["drifted"]
VERDICTS: tuple[Verdict, ...] = ("drifted", "incomplete", "unknown", "floating", "spread", "aligned", "none")
"""From worst to best."""

RECONCILE_SECONDS = 10.0
"""After so long the kubelet has written what it planned (W-8)."""
REMOTE_SHARE = 0.05
REMOTE_BYTES = 64 << 20
"""Memory elsewhere counts above this share and this many bytes (W-13)."""
MAX_SHOWN = 5
"""How many threads one finding names."""


class Plan(NamedTuple):
    """What the kubelet decided for one container."""

    uid: str
    pod: str
    """NAMESPACE/NAME, or the UID."""
    container: str
    cpus: int | None
    """CPUs it runs on; None: no plan (CPU manager `none`)."""
    exclusive: bool
    """They are its own."""
    nodes: int | None
    """NUMA nodes of its memory; None: no plan."""
    holding: Holding
    alignment: Alignment

    @property
    def own(self) -> int:
        """The exclusive CPUs, as a set; 0: it has none."""
        return self.cpus or 0 if self.exclusive else 0


class Deviation(NamedTuple):
    """One thing that is not as planned."""

    code: str
    drift: bool
    """The plan is not kept."""
    file: str
    message: str


class Machine(NamedTuple):
    """What has to be known of the machine."""

    online: int
    """All CPUs, as a set."""
    node_cpus: Mapping[int, int]
    """NUMA node -> its CPUs."""

    def nodes_of(self, cpus: int) -> int:
        """Return the mask of the NUMA nodes that a set of CPUs lies on."""
        return sum(1 << node for node, members in self.node_cpus.items() if node >= 0 and members & cpus)


class Judged(NamedTuple):
    """One container, compared."""

    plan: Plan
    group: Group | None
    """None: it was not found among the control groups."""
    verdict: Verdict
    findings: tuple[Deviation, ...]
    remote: Mapping[int, int] | None = None
    """NUMA node -> bytes of its memory that are not where they belong; None: not measured, or they belong nowhere."""
    remote_devices: frozenset[str] = frozenset()
    """Devices on NUMA nodes where it has no exclusive CPU, by where they are now."""


def judge(plan: Plan, group: Group | None, machine: Machine, observed: Observed, exclusive: int) -> Judged:
    """Compare one container.

    Args:
        plan: what was decided.
        group: what was measured; None: nothing.
        machine: the machine.
        observed: everything that was measured.
        exclusive: all CPUs that somebody owns, as a set.
    """
    findings, remote = list(_missing(plan, machine)), None
    if group is not None:
        # Where its memory belongs: the planned NUMA nodes, else those of its exclusive CPUs; 0: anywhere.
        wanted = plan.nodes or machine.nodes_of(plan.own)
        remote = _remote(group, wanted)
        findings += _cpus(plan, group, observed, exclusive)
        findings += _threads(plan, group, machine)
        findings += _memory(plan, group, remote, wanted)
    findings += _devices(plan, observed)
    return Judged(
        plan=plan,
        group=group,
        verdict=_verdict(plan, group, findings),
        findings=tuple(findings),
        remote=remote,
        remote_devices=_remote_devices(plan, machine, observed) if plan.exclusive else frozenset(),
    )


def _verdict(plan: Plan, group: Group | None, findings: list[Deviation]) -> Verdict:
    """Choose the one word (W-18)."""
    if any(one.drift for one in findings):
        return "drifted"
    if group is None or group.cpus is None:
        return "unknown"
    return plan.alignment.verdict


def _missing(plan: Plan, machine: Machine) -> Iterator[Deviation]:
    """W-10."""
    gone = plan.own & ~machine.online
    if gone:
        text = f"CPUs {format_set(gone)} of the plan are offline or not on this machine"
        yield Deviation("missing-cpu", True, "cpu_manager_state", text)


def _cpus(plan: Plan, group: Group, observed: Observed, exclusive: int) -> Iterator[Deviation]:
    """W-7 to W-9: the folder's set."""
    measured = group.cpus or group.effective_cpus
    if plan.cpus is None or measured is None or measured == plan.cpus:
        return
    file = f"{group.path}/cpuset.cpus"
    told = f"CPUs {format_set(measured)} allowed, {format_set(plan.cpus) or 'none'} planned"
    if observed.plan_age is not None and observed.plan_age < RECONCILE_SECONDS:
        yield Deviation(
            "waiting", False, file, f"{told}; the kubelet corrects the cpuset within {RECONCILE_SECONDS:g} s"
        )
    elif plan.exclusive:
        yield Deviation("cpuset-differs", True, file, told)
    elif measured & exclusive:
        text = f"runs in the shared pool, but may use exclusive CPUs {format_set(measured & exclusive)}"
        yield Deviation("cpuset-differs", True, file, f"{text}; {told}")
    else:
        yield Deviation("cpuset-differs", True, file, told)


def _threads(plan: Plan, group: Group, machine: Machine) -> Iterator[Deviation]:
    """W-7: a program may narrow its threads' sets, never widen them; what its folder allows is told of the folder."""
    if plan.cpus is None:
        return
    allowed = plan.cpus | (group.cpus or group.effective_cpus or 0)
    outside = [
        (process.pid, thread)
        for process in group.processes
        for thread in process.threads
        if thread.cpus & ~allowed & machine.online
    ]
    if outside:
        pid, first = outside[0]
        shown = few_of([str(thread.tid) for _, thread in outside], MAX_SHOWN)
        who = f"thread{'s' * (len(outside) > 1)} {shown}"
        text = f"{who} may run on CPUs {format_set(first.cpus)}"
        yield Deviation("thread-outside", True, f"/proc/{pid}/task/{first.tid}/status", text)


def _remote(group: Group, wanted: int) -> Mapping[int, int] | None:
    used = pages(group)
    if not wanted or used is None:
        return None
    return {node: size for node, size in used.items() if not wanted >> node & 1 and size}


def _memory(plan: Plan, group: Group, remote: Mapping[int, int] | None, wanted: int) -> Iterator[Deviation]:
    """W-11 to W-14."""
    mems = group.mems or group.effective_mems
    if plan.nodes is not None and plan.holding.memory and mems is not None and mems != plan.nodes:
        text = f"memory from {_nodes(mems)} allowed, {_nodes(plan.nodes)} planned"
        yield Deviation("mems-differ", True, f"{group.path}/cpuset.mems", text)
    away = remote or {}
    total, elsewhere = sum((pages(group) or {}).values()), sum(away.values())
    if elsewhere > REMOTE_BYTES and elsewhere > REMOTE_SHARE * total:
        where = ", ".join(f"{size >> 20}Mi on NUMA {node}" for node, size in sorted(away.items()))
        text = f"{elsewhere * 100 // total} % of its memory is not on {_nodes(wanted)}: {where}"
        yield Deviation("memory-remote", plan.nodes is not None, f"{group.path}/memory.numa_stat", text)


def _nodes(mask: int) -> str:
    return f"NUMA {format_set(mask)}"


def pages(group: Group) -> Mapping[int, int] | None:
    """Return NUMA node -> bytes: of the processes where their pages were counted, else of the group."""
    counted = [process.pages for process in group.processes if process.pages is not None]
    if not counted:
        return group.memory
    total: dict[int, int] = {}
    for one in counted:
        for node, size in one.items():
            total[node] = total.get(node, 0) + size
    return total


def _devices(plan: Plan, observed: Observed) -> Iterator[Deviation]:
    """W-16, W-17."""
    for held in plan.holding.devices:
        nodes = {node for node in held.per_numa if node >= 0}
        for device in held.ids:
            now = observed.device_nodes.get(device)
            if now is not None and nodes and now not in nodes:
                counted = ", ".join(map(str, sorted(nodes)))
                text = f"{held.resource} {device} is on NUMA {now}; the kubelet counted NUMA {counted}"
                yield Deviation("device-moved", True, "kubelet_internal_checkpoint", text)
            handled = observed.interrupts.get(device)
            if handled and plan.own and not handled & plan.own:
                text = f"interrupts of {device} run on CPUs {format_set(handled)}, not on CPUs of the container"
                yield Deviation("irq-elsewhere", False, "/proc/irq", text)


def _remote_devices(plan: Plan, machine: Machine, observed: Observed) -> frozenset[str]:
    """Name the devices that are away from the container's CPUs: by where they are now, else as planned."""
    here = machine.nodes_of(plan.own)
    held = {device for one in plan.holding.devices for device in one.ids}
    now = {device: observed.device_nodes[device] for device in held & observed.device_nodes.keys()}
    planned = {device for part in plan.alignment.remote for device in part.ids}
    return frozenset(
        planned - now.keys() | {device for device, node in now.items() if node >= 0 and not here >> node & 1}
    )


def intruders(plans: Mapping[tuple[str, str], Plan], observed: Observed) -> Iterator[tuple[Plan, int, Deviation]]:
    """Find who takes CPUs that are somebody else's own: it ran there, or it may run nowhere else (W-8).

    Args:
        plans: (pod UID, container) -> plan.
        observed: everything that was measured.

    Yields:
        Whose CPUs, the process, and what to say of it.
    """
    owners = {cpu: plan for plan in plans.values() for cpu in ids(plan.own)}
    exclusive = from_ids(owners)
    for group in observed.groups:
        plan = plans.get((group.uid, group.name))
        foreign = exclusive & ~(plan.cpus or 0 if plan else 0)
        who = f"of container {group.name or group.id[:12]}"
        for process in group.processes if not group.sandbox else ():
            yield from _intrusion(process, who, foreign, owners)
    for process in observed.others:
        if not process.kernel:
            yield from _intrusion(process, "of the host", exclusive, owners)


def _intrusion(
    process: Process, who: str, foreign: int, owners: Mapping[int, Plan]
) -> Iterator[tuple[Plan, int, Deviation]]:
    bound = union(thread.cpus for thread in process.threads if not thread.cpus & ~foreign)
    ran = union(1 << thread.last_cpu for thread in process.threads if thread.ran and thread.last_cpu >= 0) & foreign
    if not bound and not ran:
        return
    name = f" ({process.name})" if process.name else ""
    taken = [*ids(bound | ran)]
    owner = owners[taken[0]]
    cpus = f"CPU{'s' * (len(taken) > 1)} {format_set(bound | ran)}"
    whose = "this container" if all(owners[cpu] is owner for cpu in taken) else "this container and others"
    text = f"process {process.pid}{name} {who} {'is bound to' if bound else 'ran on'} {cpus}, exclusive to {whose}"
    yield owner, process.pid, Deviation("intruder", False, f"/proc/{process.pid}/task", text)


def allowed_everywhere(plans: Mapping[tuple[str, str], Plan], observed: Observed, found: Collection[int]) -> int:
    """Count the host's processes that are merely allowed on exclusive CPUs: told in one line (W-8).

    Args:
        plans: (pod UID, container) -> plan.
        observed: everything that was measured.
        found: processes that are told by themselves.
    """
    exclusive = union(plan.own for plan in plans.values())
    return sum(
        not process.kernel and process.pid not in found and any(one.cpus & exclusive for one in process.threads)
        for process in observed.others
    )
