"""Kubelets 1.16, the Topology Manager's first, to 1.31, and what each release up to 1.32 changed.

docs/rules/topology-manager.md 13, docs/rules/device-manager.md 10, docs/rules/cpu-manager.md 15.1. The first kubelet is
described by what it did otherwise than 1.32; each change then puts the newer part in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from numalign.kubelet.config import Level
from numalign.kubelet.memory.provider import start_until_1_31 as start_memory_until_1_31
from numalign.kubelet.reading import without_sidecars
from numalign.kubelet.releases.early_merge import (
    SINGLE_NODES_ONLY,
    AfterGathering,
    EarlyMerge,
    admit_after_all_hints,
    admit_guaranteed_after_all_hints,
    as_given,
    combine_until_1_23,
    cpu_hints_without_reuse,
    device_hints_without_reuse,
    narrowest,
    prefer_single_nodes,
    start_without_asking,
)
from numalign.kubelet.releases.release import (
    OPTIONS,
    Change,
    Gate,
    Kubelet,
    MergeRules,
    Version,
    gate_switched_on,
    with_gate,
    with_option,
    with_reading,
    with_settings,
    without_gate,
)
from numalign.kubelet.releases.v1_32 import V1_32
from numalign.kubelet.topology.manager import Scope
from numalign.kubelet.topology.merge.lists import combine_2019

V1_16 = V1_32._replace(
    version=(1, 16),
    device=V1_32.device._replace(start=start_without_asking, container_hints=device_hints_without_reuse),
    cpu=V1_32.cpu._replace(container_hints=cpu_hints_without_reuse),
    memory=V1_32.memory._replace(start=start_memory_until_1_31),
    merging=MergeRules(merge=EarlyMerge(), combine=combine_2019, single_filter=prefer_single_nodes, ranked=False),
    scopes={"container": admit_guaranteed_after_all_hints},
    options={},
    gates={
        **V1_32.gates,
        "TopologyManager": Gate(default=False, stage="alpha"),
        "CPUManagerPolicyOptions": Gate(default=False, stage="alpha"),
        "TopologyManagerPolicyOptions": Gate(default=False, stage="alpha"),
        "TopologyManagerPolicyBetaOptions": Gate(default=False, stage="beta"),
    },
    settings=frozenset(),
    reading=V1_32.reading._replace(see=without_sidecars),
    refusal=("Topology Affinity Error", "Resources cannot be allocated with Topology Locality"),
)


def _early(kubelet: Kubelet) -> EarlyMerge:
    """Return the merge of a kubelet before 1.24, whose parts changed one by one."""
    merge = kubelet.merging.merge
    if not isinstance(merge, EarlyMerge):
        raise TypeError("this kubelet does not merge as the early ones did")
    return merge


def _narrowest_masks(kubelet: Kubelet) -> Kubelet:
    merge = replace(_early(kubelet), best=narrowest)
    return kubelet._replace(merging=kubelet.merging._replace(merge=merge, combine=combine_until_1_23))


def _a_list_a_resource(kubelet: Kubelet) -> Kubelet:
    merge = replace(_early(kubelet), gather=as_given)
    return kubelet._replace(merging=kubelet.merging._replace(merge=merge))


def _with_scope(name: str, scope: Scope) -> Callable[[Kubelet], Kubelet]:
    """Make a change: a pod is admitted another way in a scope."""
    return lambda kubelet: kubelet._replace(scopes={**kubelet.scopes, name: scope})


def _single_nodes_only(kubelet: Kubelet) -> Kubelet:
    merge = replace(_early(kubelet), single=SINGLE_NODES_ONLY)
    return kubelet._replace(merging=kubelet.merging._replace(merge=merge, single_filter=SINGLE_NODES_ONLY.filter))


def _hints_see_reuse(kubelet: Kubelet) -> Kubelet:
    return kubelet._replace(
        device=kubelet.device._replace(container_hints=V1_32.device.container_hints),
        cpu=kubelet.cpu._replace(container_hints=V1_32.cpu.container_hints),
    )


def _equal_masks(kubelet: Kubelet) -> Kubelet:
    gather = _early(kubelet).gather
    merge = V1_32.merging.merge if gather is as_given else AfterGathering(gather, V1_32.merging.merge)
    return kubelet._replace(merging=V1_32.merging._replace(merge=merge))


def _options(since: Version) -> Iterator[Change]:
    """Say which options a release brought or moved up, without the words of `release`: its gates were others then."""
    before: Mapping[Level, str] = {"Alpha": "unknown", "Beta": "alpha", "Stable": "beta"}
    for row in sorted(OPTIONS.values(), key=lambda row: row.manager != "topology"):
        if since not in row.levels:
            continue
        level = row.levels[since]
        words = row.appeared if since == min(row.levels) else None
        older, newer = words or (before[level], level.lower())
        yield Change(f"option {row.name}", since, older, newer, with_option(row.name, level))


CHANGES: tuple[Change, ...] = (
    Change(
        topic="empty intersections",
        since=(1, 17),
        older="two preferred hints on different nodes merge to a preferred hint of no node at all, "
        "which `restricted` admits",
        newer="hints without a common node never make a candidate",
        apply=_narrowest_masks,
    ),
    Change(
        topic="device hints",
        since=(1, 17),
        older="merged inside the Device Manager, so that no other manager sees which resource wants what",
        newer="one list of hints a resource",
        apply=_a_list_a_resource,
    ),
    Change(
        topic="QoS classes",
        since=(1, 17),
        older="only Guaranteed pods are aligned; the others pass without a hint",
        newer="pods of every class are aligned",
        apply=_with_scope("container", admit_after_all_hints),
    ),
    Change(
        topic="hints and allocation",
        since=(1, 18),
        older="hints of all containers are taken on the same state, allocation comes after the last one",
        newer="a container is allocated before the next one gets hints",
        apply=_with_scope("container", V1_32.scopes["container"]),
    ),
    Change(
        topic="single-numa-node",
        since=(1, 18),
        older="a hint of several nodes makes a combination not preferred",
        newer="only preferred hints of one node take part",
        apply=_single_nodes_only,
    ),
    Change(
        topic="rejection",
        since=(1, 18),
        older="reason `Topology Affinity Error`",
        newer="reason `TopologyAffinityError`",
        apply=lambda kubelet: kubelet._replace(refusal=V1_32.refusal),
    ),
    gate_switched_on((1, 18), "TopologyManager"),
    Change(
        topic="init containers",
        since=(1, 19),
        older="hints do not see the CPUs and devices that ended init containers leave",
        newer="hints count them as free for the pod, and must cover them",
        apply=_hints_see_reuse,
    ),
    Change(
        topic="device plugins",
        since=(1, 19),
        older="the kubelet takes any device of the right node",
        newer="the plugin may name the devices it prefers (GetPreferredAllocation)",
        apply=lambda kubelet: kubelet._replace(device=kubelet.device._replace(start=V1_32.device.start)),
    ),
    Change(
        topic="scope",
        since=(1, 20),
        older="containers are aligned one by one",
        newer="`topologyManagerScope: pod` aligns the pod as a whole",
        apply=lambda kubelet: with_settings("topologyManagerScope")(_with_scope("pod", V1_32.scopes["pod"])(kubelet)),
    ),
    Change(
        topic="memory",
        since=(1, 21),
        older="there is no Memory Manager",
        newer="the Memory Manager gives hints and pins memory and huge pages",
        apply=with_settings("memoryManagerPolicy", "reservedMemory"),
    ),
    Change(
        topic="CPU manager options",
        since=(1, 22),
        older="there are none",
        newer="`cpuManagerPolicyOptions`, behind the gate CPUManagerPolicyOptions",
        apply=with_settings("cpuManagerPolicyOptions"),
    ),
    *_options((1, 22)),
    gate_switched_on((1, 23), "CPUManagerPolicyOptions"),
    *_options((1, 23)),
    Change(
        topic="preferred hints",
        since=(1, 24),
        older="preferred hints of different masks merge to their intersection, preferred; else the narrowest mask wins",
        newer="a merged hint is preferred only if all masks are equal; "
        "else the widest of the narrowest masks is aimed at",
        apply=_equal_masks,
    ),
    *_options((1, 25)),
    Change(
        topic="topology manager options",
        since=(1, 26),
        older="there are none",
        newer="`topologyManagerPolicyOptions`, behind the gate TopologyManagerPolicyOptions",
        apply=with_settings("topologyManagerPolicyOptions"),
    ),
    *_options((1, 26)),
    Change(
        topic="gate TopologyManager",
        since=(1, 27),
        older="beta",
        newer="stable, always on",
        apply=with_gate("TopologyManager", Gate(default=True, stage="GA", locked=True)),
    ),
    gate_switched_on((1, 28), "TopologyManagerPolicyOptions"),
    gate_switched_on((1, 28), "TopologyManagerPolicyBetaOptions"),
    *_options((1, 28)),
    Change(
        topic="sidecars",
        since=(1, 28),
        older="`restartPolicy: Always` of an init container is not known: later containers take over what it has",
        newer="sidecars keep their CPUs and devices",
        apply=with_reading(lambda reading: reading._replace(see=V1_32.reading.see)),
    ),
    Change(
        topic="gate TopologyManager",
        since=(1, 29),
        older="stable, always on",
        newer="gone",
        apply=without_gate("TopologyManager"),
    ),
    *_options((1, 31)),
    Change(
        topic="gate TopologyManagerPolicyOptions",
        since=(1, 32),
        older="beta",
        newer="stable",
        apply=with_gate("TopologyManagerPolicyOptions", Gate(default=True, stage="GA")),
    ),
    Change(
        topic="memory file after a restart",
        since=(1, 32),
        older="memory that moved between NUMA nodes of a group stops the kubelet (kubernetes/kubernetes 113130)",
        newer="the sums over a group count",
        apply=lambda kubelet: kubelet._replace(memory=kubelet.memory._replace(start=V1_32.memory.start)),
    ),
    *_options((1, 32)),
)
"""Oldest first, up to what 1.32 changed."""
