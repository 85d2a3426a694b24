"""Nodes, pods and settings of schedulers by chance, of which each number gives the same ones on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from numalign.kubelet import admission
from numalign.kubelet.admission import Session
from numalign.kubelet.config import MemoryReservation
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Device, Machine, Taint
from numalign.model.pod import Pod
from numalign.scheduler.config import CacheConfig, ExporterConfig, Kind, SchedulerConfig
from numalign.scheduler.kai.records import of_annotations
from numalign.scheduler.kai.topology import KaiOptions
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.export import ExportOptions, export
from numalign.scheduler.nrt.value import NodeResourceTopology, Zone, ZoneResource
from numalign.scheduler.record import QUEUE
from numalign.scheduler.request import node_load, read_request
from tests.conformance.sched import amounts
from tests.dice import Dice
from tests.kubelet.regular import GI, regular
from tests.scheduler.nrt.nodes import static

GPU, NIC = "example.com/gpu", "example.com/nic"
PAGES = "hugepages-2Mi"
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
POLICIES = ("single-numa-node", "single-numa-node", "restricted", "best-effort", "none")
KINDS: tuple[Kind, ...] = ("unaware", "kep", "nrt", "nrt", "kai")


def dice(number: int, what: str = "") -> Dice:
    """Give dice that roll alike for a number."""
    return Dice(Random(f"{what}{number}").randbytes(6000))


def seldom(one: Dice) -> bool:
    """Say yes once in four times."""
    return one.below(4) == 3


def machine(one: Dice) -> Machine:
    """Make a small machine, with devices of one NUMA node, of several, of none, and one that is not well."""
    nodes = one.pick((1, 2, 2, 4))
    gpus = [Device(f"g{place}", (place % nodes,)) for place in range(one.below(5))]
    nics = [Device(f"n{place}", one.pick(((0,), (nodes - 1,), (0, nodes - 1), (), None))) for place in range(3)]
    sick = [Device("ill", (0,), healthy=False)] if one.flag() else []
    return regular(
        nodes=nodes,
        cores=one.pick((4, 6)),
        threads=one.pick((1, 2)),
        hugepages={"2Mi": one.pick((1, 4)) * GI} if one.flag() else None,
        distances=one.flag(),
        devices={name: tuple(found) for name, found in ((GPU, gpus + sick), (NIC, nics)) if found and not seldom(one)},
    )


def kubelet(one: Dice, made: Machine) -> Session:
    """Start a kubelet on a machine."""
    settings: dict[str, Any] = {
        "topology_manager_policy": one.pick(POLICIES),
        "topology_manager_scope": one.pick(("container", "pod")),
    }
    if one.below(8) == 7:
        settings |= {"cpu_manager_policy": "none", "reserved_system_cpus": "", "kube_reserved": {"cpu": "500m"}}
    elif seldom(one):
        settings["cpu_manager_policy_options"] = {"full-pcpus-only": "true"}
    if seldom(one):
        settings |= {"memory_manager_policy": "None", "reserved_memory": ()}
    elif seldom(one):
        kept = tuple(MemoryReservation(node.id, {"memory": "512Mi"}) for node in made.numa_nodes[:2])
        settings |= {"reserved_memory": kept, "system_reserved": {"memory": f"{512 * len(kept)}Mi"}}
    if seldom(one) and "kube_reserved" not in settings:
        settings["reserved_system_cpus"] = "0-1"
    return admission.open_session(static(made, **settings))


def container(one: Dice, name: str, wide: bool = True, plain: bool = True) -> dict[str, Any]:
    """Make a container as a manifest has it."""
    wanted = {
        "cpu": one.pick(("1", "2", "3", "5", "500m", "2500m") if wide else ("1", "2", "500m")),
        "memory": one.pick(("1Gi", "2Gi", "20Gi", "40Gi") if wide and seldom(one) else ("1Gi", "512Mi")),
    }
    if not plain:
        if seldom(one):
            wanted[one.pick((GPU, GPU, NIC))] = one.pick(("1", "1", "2", "3"))
        if one.below(8) == 7:
            wanted[PAGES] = one.pick(("1Gi", "512Mi"))
    resources = {"requests": wanted, "limits": wanted}
    if one.below(6) == 5:
        resources = {"requests": {key: amount for key, amount in wanted.items() if key != "memory"}}
        resources["limits"] = {key: amount for key, amount in wanted.items() if "/" in key or key == PAGES}
    return {"name": name, "resources": resources}


def manifest(one: Dice) -> dict[str, Any]:
    """Make a pod as a manifest has it, with now and then something of all that schedulers look at."""
    spec: dict[str, Any] = {
        "containers": [container(one, f"c{place}", plain=False) for place in range(one.pick((1, 1, 1, 2, 3)))]
    }
    if seldom(one):
        spec["initContainers"] = [container(one, f"i{place}", wide=False) for place in range(one.between(1, 2))]
        if one.flag():
            spec["initContainers"][0]["restartPolicy"] = "Always"
    if one.below(6) == 5:
        spec["overhead"] = one.pick(({"cpu": "1", "memory": "1Gi"}, {"cpu": "250m"}))
    if one.below(6) == 5:
        spec["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    if one.below(6) == 5:
        kind = one.pick(("podAffinity", "podAntiAffinity"))
        term = {"topologyKey": one.pick((HOST, ZONE)), "labelSelector": {"matchLabels": {"app": one.pick("ab")}}}
        spec["affinity"] = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if one.below(8) == 7:
        selector = {"matchLabels": {"app": "a"}}
        spread = {"topologyKey": one.pick((HOST, ZONE)), "maxSkew": 1, "labelSelector": selector}
        spec["topologySpreadConstraints"] = [{**spread, "whenUnsatisfiable": "DoNotSchedule"}]
    if seldom(one):
        spec["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
    if one.below(8) == 7:
        spec["nodeSelector"] = {ZONE: one.pick("xy")}
    spec["priority"] = one.pick((0, 0, 0, 1, 5, 50, 200))
    labels = {"app": one.pick("abc"), QUEUE: one.pick(("red", "blue"))}
    return {"metadata": {"name": "p", "namespace": one.pick(("default", "other")), "labels": labels}, "spec": spec}


def pod(one: Dice, name: str = "p") -> Pod:
    """Make a pod."""
    made = read_pod(manifest(one))
    return made._replace(name=name, uid=f"{made.namespace}/{name}")


def important(one: Dice, name: str) -> Pod:
    """Make a pod for which others go, with nothing but amounts."""
    cpus = one.pick(("2", "4", "6"))
    spec = {"containers": [container(one, "c0"), {**container(one, "c1"), "name": "c1"}], "priority": 90}
    spec["containers"][0]["resources"]["requests"]["cpu"] = cpus
    made = read_pod({"metadata": {"name": name, "labels": {QUEUE: one.pick(("red", "blue"))}}, "spec": spec})
    return made._replace(uid=made.full_name)


def bare(one: Dice, name: str) -> ClusterNode:
    """Make a node without pods."""
    session = kubelet(one, machine(one))
    assert session.view is not None
    totals = NodeTotals({name: amount.nano for name, amount in session.view.allocatable.items()}, {}, 0)
    return ClusterNode(
        name,
        totals,
        session,
        "exact",
        labels={HOST: name, ZONE: one.pick("xxy")},
        taints=(Taint("gpu", "yes", "NoSchedule"),) if one.below(10) == 9 else (),
        unschedulable=one.below(16) == 15,
        exporter=exporter(one),
    )


def exporter(one: Dice) -> ExporterConfig:
    """Choose how a node's exporter publishes."""
    return ExporterConfig(
        mode=one.pick(("both", "event", "periodic", "instant", "instant", "none")),
        period_s=one.pick((10, 30)),
        phase_s=one.pick((None, 3)),
        event_delay_s=one.pick((1, 0, 4)),
        publish_delay_s=one.pick((0.1, 2)),
        jitter_s=one.pick((0, 0, 3)),
        loss=one.pick((0, 0, 0.4)),
        fingerprint=one.pick(("all", "all", "exclusive", "none")),
        count_terminal_pods=one.flag(),
        touch_on_period=seldom(one),
    )


def occupied(one: Dice, node: ClusterNode, pods: Sequence[Pod]) -> ClusterNode:
    """Put pods on a node; those that its kubelet rejects stay away. KAI has records of some."""
    placed = []
    for each in pods:
        assert node.session is not None
        outcome = admission.admit(node.session, each)
        if outcome.admit:
            totals = node.totals.with_pod(node_load(read_request(each)))
            node = node._replace(totals=totals, session=outcome.then)
            if one.flag():
                record = f'[{{"zone": "node-{one.below(2)}", "amount": {{"cpu": "2", "memory": "1Gi"}}}}]'
                known = {"kai.scheduler/numa-placement-" + one.pick(("observed", "predicted")): record}
                placed.append(of_annotations(known, one.pick(("Running", "Bound", "Succeeded"))))
    return node._replace(placed=tuple(placed))


def object_of(one: Dice, node: ClusterNode) -> NodeResourceTopology | None:
    """Choose what is published of a node: nothing, the truth, an old object, or one that says less or odd things."""
    assert node.session is not None
    kind = one.below(8)
    options = ExportOptions(one.pick(("numalign", "rte", "nfd")), one.flag(), one.flag(), one.flag())
    found = export(node.session if kind < 6 else node.session.empty(), node.name, options)
    if kind == 0:
        return None
    if kind == 5:
        return found._replace(zones=tuple([odd(one, zone) for zone in found.zones]))
    if kind == 4:
        left = [pair for pair in found.attributes if one.flag()]
        legacy = (one.pick(("SingleNUMANodePodLevel", "RestrictedContainerLevel", "Restricted", "BestEffort", "?")),)
        return found._replace(attributes=tuple(left), topology_policies=legacy)
    return found


def odd(one: Dice, zone: Zone) -> Zone:
    """Change something of a zone: its name, its type, what it lists and what it leaves out."""
    kind = one.below(6)
    if kind == 0:
        return zone._replace(name=one.pick(("numa-7", "node-1", "left", "node-64")))
    if kind == 1:
        return zone._replace(type=one.pick(("Core", "Node")), costs={}, parent=one.pick(("", "node-0")))
    if kind == 2:
        return zone._replace(resources={name: each for name, each in zone.resources.items() if one.flag()})
    if kind == 3:
        return zone._replace(resources={name: vague(one, each) for name, each in zone.resources.items()})
    return zone


def vague(one: Dice, found: ZoneResource) -> ZoneResource:
    """Leave amounts out, or have them otherwise than they can be."""
    return ZoneResource(*[one.pick((each, each, None, each and each // 3 * 2)) for each in found])


def scheduler(one: Dice, kind: Kind) -> SchedulerConfig:
    """Choose the settings of a scheduler."""
    deserved = {"red": amounts({"cpu": "4"}), "blue": amounts({"cpu": "6", "memory": "20Gi"})}
    return SchedulerConfig(
        kind=kind,
        node_fit=one.below(8) != 7,
        node_score=one.pick(("LeastAllocated", "LeastAllocated", "MostAllocated", None)),
        strategy=one.pick(("LeastAllocated", "MostAllocated", "BalancedAllocation", "LeastNUMANodes")),
        weights=one.pick(({}, {"cpu": 3, GPU: 2})),
        cache=CacheConfig(
            mode=one.pick(("passthrough", "discard_reserved", "over_reserve", "over_reserve")),
            resync_s=one.pick((2, 5)),
            foreign_pods=one.pick(("All", "OnlyExclusiveResources", "None")),
            method=one.pick(("Autodetect", "All", "OnlyExclusiveResources")),
            informer=one.pick(("Dedicated", "Shared")),
            resync_scope=one.pick(("All", "OnlyResources")),
        ),
        preemption_mode=one.pick(("Disabled", "Disabled", "Enabled")),
        prefilter=one.flag(),
        preempts=not seldom(one),
        seed_memory=one.pick(("literal", "lenient")),
        tie_break=one.pick(("first", "random")),
        node_sampling=one.pick(("all", "all", "kube")),
        seed=one.below(1 << 16),
        kai=KaiOptions(
            ignored=one.pick(((), ("memory",))),
            reconstruct=one.pick((None, True, False)),
            deserved=one.pick(({}, deserved)),
        ),
    )
