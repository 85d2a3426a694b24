"""Why a scheduler and the kubelet disagree about a pod on a node (docs/rules/scheduling.md 1.5, 10).

Each known cause is taken back alone: if both then agree, it is the cause. The first one in the order of the rules wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

from numalign.errors import StartError
from numalign.kubelet import admission
from numalign.kubelet.admission import Session
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.node import start
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.model.resources import CPU, MEMORY
from numalign.scheduler import filter_kep, filter_nrt
from numalign.scheduler.attempt import Kind
from numalign.scheduler.kai import evaluate
from numalign.scheduler.kai.topology import KaiTopology
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.nrt.export import ExportOptions, export
from numalign.scheduler.nrt.value import (
    CPU_MANAGER,
    MEMORY_MANAGER,
    NodeResourceTopology,
    NUMAZone,
    attribute,
    manager_config,
    numa_zones,
    number_of,
)
from numalign.scheduler.request import ContainerRequest, PodRequest
from numalign.scheduler.resources import Amounts, is_affine, is_whole
from numalign.values import NamedTuple

Distrust = Literal["", "reserved", "foreign"]


class Cause(NamedTuple):
    """Why two answers differ."""

    code: str
    """`X-1` … `X-9`, `XK-1` … `XK-8`, `KEP` (today's plugin knows better), `blind` or `unknown`."""
    text: str
    """One clause."""


UNKNOWN: Final = Cause("unknown", "no known cause makes the two agree")
_TEXTS: Final = {
    "blind": "the scheduler sees the node as one bag of resources",
    "X-1": "the published object is old",
    "X-2": "the kubelet does not pin fractional CPUs, the filter still looks for a zone that has them",
    "X-3": "pods in the shared pool are not in the object: only the node as a whole is short",
    "X-4": "the filter puts containers into other zones than the kubelet",
    "X-5": "the filter does not count sidecars beside the other containers",
    "X-6": "the filter never looks at nodes with this policy",
    "X-7": "options of the CPU Manager, or reserved CPUs, leave less than the object counts",
    "X-8": "the filter adds the pod's overhead, the kubelet's hints do not",
    "X-9": "somebody else placed pods there, and the plugin's cache waits for an object that counts them",
    "T-14": "no zone lists what the pod asks, so the filter finds none; without its manager the kubelet does not look",
    "KEP": "the proposal compares no memory and subtracts nothing; today's plugin agrees with the kubelet",
    "XK-1": "KAI takes the width from what is allocatable, the kubelet from all CPUs, reserved ones too",
    "XK-2": "NUMA nodes that the Memory Manager uses as a group take no other blocks",
    "XK-3": "the object lists a resource whose manager is off",
    "XK-4": "options of the CPU or Topology Manager that KAI does not know",
    "XK-5": "a device of several NUMA nodes is counted on each of them",
    "XK-6": "KAI's records have pods in other zones, or with other amounts, than the kubelet gave them",
    "XK-7": "the kubelet takes init containers in order and reuses what they held",
    "XK-8": "KAI adds the pod's overhead in scope pod",
}


def text_of(code: str) -> str:
    """Say a cause in words."""
    return _TEXTS.get(code, UNKNOWN.text)


class Case(NamedTuple):
    """One disagreement."""

    node: ClusterNode
    pod: Pod
    request: PodRequest
    nrt: NodeResourceTopology | None
    """What the scheduler read."""
    kai: KaiTopology | None
    passes: bool
    """What the scheduler says."""
    admits: bool
    """What the kubelet says."""
    distrust: Distrust = ""
    """Why the plugin's cache does not trust what it has (T-3): a pod on its way there, or a pod of somebody else."""


def cause(kind: Kind, case: Case) -> Cause:
    """Find the first known cause."""
    for code, taken_back in _CAUSES[kind]:
        if taken_back(case):
            return Cause(code, _TEXTS[code])
    return UNKNOWN


def _plugin(case: Case, nrt: NodeResourceTopology | None = None, request: PodRequest | None = None) -> bool:
    """Tell whether today's plugin passes, with another object or request; not while its cache trusts nothing (T-3)."""
    request = request or case.request
    if case.distrust and not filter_nrt.passes_unseen(request):
        return False
    return filter_nrt.check(nrt or case.nrt, case.node.totals.allocatable, request).passed


def _agrees(kind: Kind, case: Case, nrt: NodeResourceTopology | None = None, request: PodRequest | None = None) -> bool:
    """Tell whether the filter, asked with another object or request, agrees with the kubelet."""
    if kind == "kep":
        return filter_kep.check(nrt or case.nrt, request or case.request).passed == case.admits
    return _plugin(case, nrt, request) == case.admits


def _now(case: Case) -> NodeResourceTopology | None:
    """Write the object that the node would publish now; None: nobody knows."""
    if case.node.session is None:
        return None
    return export(case.node.session, case.node.name, ExportOptions(fingerprint=False))


def _fresh(kind: Kind) -> Callable[[Case], bool]:
    """X-1: the object as the node would publish it now, and nothing on its way there."""

    def taken_back(case: Case) -> bool:
        now = _now(case)
        if now is None or case.node.known != "exact" or case.node.nrt is None:
            return False
        on_its_way = case.distrust == "reserved"
        settled = case._replace(distrust="") if on_its_way else case
        return (on_its_way or now.zones != case.node.nrt.zones) and _agrees(kind, settled, now)

    return taken_back


def _nobody_else(case: Case) -> bool:
    """X-9: without pods of another scheduler, which the cache knows to be missing in the object."""
    now = _now(case)
    return case.distrust == "foreign" and now is not None and _agrees("nrt", case._replace(distrust=""), now)


def _whole_cpus(kind: Kind) -> Callable[[Case], bool]:
    """X-2: the pod without CPUs that the kubelet does not pin."""

    def without(one: ContainerRequest) -> ContainerRequest:
        kept = tuple([(name, amount) for name, amount in one.items if name != CPU or is_whole(amount)])
        return one._replace(items=kept)

    def taken_back(case: Case) -> bool:
        if not case.request.guaranteed:
            return False
        containers = tuple(map(without, case.request.containers))
        return containers != case.request.containers and _agrees(
            kind, case, request=case.request._replace(containers=containers)
        )

    return taken_back


def _shared_pool(case: Case) -> bool:
    """X-3: the kubelet refuses at the check of the whole node, not for NUMA's sake."""
    if case.node.session is None or case.admits:
        return False
    return admission.admit(case.node.session._replace(view=None), case.pod).admit


def _any_zone(case: Case) -> bool:
    """X-4: containers may take any zone that holds them, as the kubelet might choose."""
    if case.nrt is None or len(case.request.containers) < 2 or manager_config(case.nrt).scope == "pod":
        return False
    return _in_kubelets_zones(case) if case.passes else _assignable(case)


def _in_kubelets_zones(case: Case) -> bool:
    """Tell whether the filter would fail had it put the first containers where the kubelet puts them."""
    if case.node.session is None or case.nrt is None:
        return False
    hints = admission.admit(case.node.session, case.pod).result.hints
    zones: Sequence[NUMAZone] | None = numa_zones(case.nrt)
    for one in case.request.containers:
        mask = hints[one.name].numa_affinity if one.name in hints else None
        if zones is None or one.kind != "app":
            continue
        found = filter_nrt.pick_zone(zones, case.node.totals.allocatable, one.items, guaranteed=case.request.guaranteed)
        if not isinstance(found, int):
            return True
        chosen = mask.bit_length() - 1 if mask and not mask & (mask - 1) else found
        zones = filter_nrt.subtract(zones, chosen, one, guaranteed=case.request.guaranteed)
    return zones is None


def _assignable(case: Case) -> bool:
    """Tell whether some choice of zones holds all containers: tried by putting them in another order."""
    apps = [one for one in case.request.containers if one.kind == "app"]
    rest = tuple([one for one in case.request.containers if one.kind != "app"])
    ordered = sorted(apps, key=lambda one: -one.amounts.get(CPU, 0))
    return _plugin(case, request=case.request._replace(containers=(*rest, *ordered)))


def _sidecars(kind: Kind) -> Callable[[Case], bool]:
    """X-5: sidecars counted as containers that run beside the others."""

    def taken_back(case: Case) -> bool:
        if not any(one.kind == "sidecar" for one in case.request.containers):
            return False
        containers = tuple(
            [one._replace(kind="app") if one.kind == "sidecar" else one for one in case.request.containers]
        )
        return _agrees(kind, case, request=case.request._replace(containers=containers))

    return taken_back


def _other_policy(case: Case) -> bool:
    """X-6: the node's policy is one that is never filtered."""
    return case.passes and case.nrt is not None and manager_config(case.nrt).policy == "restricted"


def _no_options(case: Case) -> bool:
    """X-7: the kubelet without options of the CPU Manager."""
    return _kubelet_with(case, cpu_manager_policy_options=None) != case.admits


def _no_overhead(kind: Kind) -> Callable[[Case], bool]:
    """X-8: the pod without overhead."""

    def taken_back(case: Case) -> bool:
        return bool(case.request.overhead) and _agrees(kind, case, request=case.request._replace(overhead=()))

    return taken_back


def _knows_better(case: Case) -> bool:
    """Tell whether today's plugin, with sidecars counted, agrees with the kubelet where the proposal does not."""
    containers = tuple([one._replace(kind="app") if one.kind == "sidecar" else one for one in case.request.containers])
    return any(
        _plugin(case, request=case.request._replace(containers=some)) == case.admits
        for some in (case.request.containers, containers)
    )


def _kubelet_with(case: Case, **settings: object) -> bool:
    """Tell whether the kubelet would admit the pod with other settings; as it did, where it would not start so."""
    session = case.node.session
    if session is None:
        return case.admits
    config: KubeletConfig = session.node.config._replace(**settings)  # type: ignore[arg-type]  # fields of its own
    if config == session.node.config:
        return case.admits
    try:
        node, empty = start(Setup(session.node.machine, config, "ideal", session.node.kubelet))
    except StartError:
        return case.admits
    state = session.state
    if config.memory_manager_policy == "None":
        state = state._replace(states=(state.device, state.cpu, empty.memory))
    return admission.admit(Session(node, state, session.view, session.pods), case.pod).admit


def _kai(case: Case, machine: KaiTopology | None = None, request: PodRequest | None = None) -> bool:
    """Tell whether KAI, asked about another machine or request, agrees with the kubelet."""
    return evaluate.check(request or case.request, machine or case.kai).passed == case.admits


def _all_cpus(case: Case) -> bool:
    """XK-1: the width from all CPUs."""
    if case.kai is None or case.nrt is None:
        return False
    capacity = {zone.name: zone.resources[CPU].capacity for zone in case.nrt.zones if CPU in zone.resources}

    def widened(name: str, allocatable: Amounts) -> Amounts:
        more = capacity.get(name)
        return {**allocatable, CPU: more} if more is not None and CPU in allocatable else allocatable

    zones = [zone._replace(allocatable=widened(zone.name, zone.allocatable)) for zone in case.kai.zones]
    return _kai(case, case.kai._replace(zones=tuple(zones)))


def _no_groups(case: Case) -> bool:
    """XK-2: the kubelet without the Memory Manager."""
    return _kubelet_with(case, memory_manager_policy="None", reserved_memory=()) != case.admits


def _managers_off(case: Case) -> bool:
    """XK-3: without resources whose manager is off."""
    if case.kai is None or case.nrt is None:
        return False
    off = {CPU} if attribute(case.nrt.attributes, CPU_MANAGER) == "none" else set()
    if attribute(case.nrt.attributes, MEMORY_MANAGER) == "None":
        off |= {name for name in case.kai.aware if name == MEMORY or name.startswith("hugepages-")}
    return bool(off & case.kai.aware) and _kai(case, case.kai._replace(aware=case.kai.aware - off))


def _no_kubelet_options(case: Case) -> bool:
    """XK-4: the kubelet without options of the CPU and Topology Manager."""
    changed = _kubelet_with(case, cpu_manager_policy_options=None, topology_manager_policy_options=None)
    return changed != case.admits


def _spanning_devices(case: Case) -> bool:
    """XK-5: the machine has devices of several NUMA nodes that the pod asks for."""
    if case.node.session is None:
        return False
    machine = case.node.session.node.machine
    asked = {name for one in case.request.containers for name, amount in one.items if amount}
    return any(len(device.numa_nodes or ()) > 1 for name in asked for device in machine.devices.get(name, ()))


def _real_places(case: Case) -> bool:
    """XK-6: the free amounts as the kubelet's own split of earlier pods left them."""
    now = _now(case)
    if case.kai is None or now is None:
        return False
    real = {number_of(zone.name): zone.resources for zone in now.zones}
    free = []
    for zone in case.kai.zones:
        here = real.get(number_of(zone.name), {})
        free.append(
            {name: (here[name].available or 0) if name in here else one for name, one in zone.available.items()}
        )
    return tuple(free) != case.kai.available and _kai(case, case.kai.with_available(free))


def _no_init(case: Case) -> bool:
    """XK-7: both asked about the pod without its ordinary init containers."""
    kept = tuple([one for one in case.request.containers if one.kind != "init"])
    if kept == case.request.containers or case.node.session is None:
        return False
    pod = case.pod._replace(containers=tuple([one for one in case.pod.containers if one.kind != "init"]))
    admits = admission.admit(case.node.session, pod).admit
    return _kai(case._replace(admits=admits), request=case.request._replace(containers=kept))


def _no_kai_overhead(case: Case) -> bool:
    """XK-8: the pod without overhead."""
    return bool(case.request.overhead) and _kai(case, request=case.request._replace(overhead=()))


def _unlisted(kind: Kind) -> Callable[[Case], bool]:
    """T-14, S-5: the pod without CPU, memory and huge pages that no zone lists."""

    def taken_back(case: Case) -> bool:
        listed = case.nrt.listed if case.nrt else frozenset()
        containers = tuple(
            [
                one._replace(items=tuple([item for item in one.items if item[0] in listed or not is_affine(item[0])]))
                for one in case.request.containers
            ]
        )
        return containers != case.request.containers and _agrees(
            kind, case, request=case.request._replace(containers=containers)
        )

    return taken_back


def _always(_: Case) -> bool:
    return True


def _of_filter(kind: Kind) -> list[tuple[str, Callable[[Case], bool]]]:
    return [
        ("X-1", _fresh(kind)),
        ("X-2", _whole_cpus(kind)),
        ("X-3", _shared_pool),
        ("X-4", _any_zone),
        ("X-5", _sidecars(kind)),
        ("X-6", _other_policy),
        ("X-7", _no_options),
        ("X-8", _no_overhead(kind)),
        ("X-9", _nobody_else),
        ("T-14", _unlisted(kind)),
    ]


_CAUSES: Final[dict[Kind, Sequence[tuple[str, Callable[[Case], bool]]]]] = {
    "unaware": [("X-3", _shared_pool), ("blind", _always)],
    "kep": [("KEP", _knows_better), *_of_filter("kep")],
    "nrt": _of_filter("nrt"),
    "kai": [
        ("XK-1", _all_cpus),
        ("XK-2", _no_groups),
        ("XK-3", _managers_off),
        ("XK-4", _no_kubelet_options),
        ("XK-5", _spanning_devices),
        ("XK-6", _real_places),
        ("XK-7", _no_init),
        ("XK-8", _no_kai_overhead),
    ],
}
