"""Every change since 1.32 is needed: taken back alone, it makes a recorded case or one of ours come out otherwise."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from numalign.errors import StartError
from numalign.kubelet import node
from numalign.kubelet.admission import admit, open_session
from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.kubelet.reading import reader
from numalign.kubelet.releases.release import Change, Kubelet, version_text
from numalign.kubelet.releases.since_1_33 import NEWER_CHANGES
from numalign.kubelet.releases.since_1_37 import PUBLISHED_CHANGES
from numalign.kubelet.releases.table import kubelet, without
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from tests import conformance
from tests.conformance import Case, versions
from tests.kubelet.regular import regular

Key = tuple[int, str]
"""(minor release, topic)."""

VECTORS = Path(__file__).parents[2] / "vectors" / "versions"

RECORDED: dict[Key, tuple[str, str]] = {
    (33, "option full-pcpus-only"): ("e2e-1.33", "e2e-1.33-s-gates-0002"),
    (33, "option distribute-cpus-across-numa"): ("lifecycle-1.33", "lifecycle-d-00379@1.33"),
    (33, "option strict-cpu-reservation"): ("lifecycle-1.33", "lifecycle-1.33-s-podlevel-0004"),
    (33, "text for an option that is not enabled"): ("e2e-1.33", "e2e-1.33-s-gates-0019"),
    (33, "gate CPUManagerPolicyOptions"): ("e2e-1.34", "e2e-1.34-s-gates-0020"),
    (33, "gate CPUManager"): ("e2e-1.34", "e2e-1.34-s-gates-0012"),
    (33, "gate SidecarContainers"): ("e2e-1.33", "e2e-1.33-s-gates-0091"),
    (33, "gate DisableCPUQuotaWithExclusiveCPUs"): ("e2e-1.33", "e2e-1.33-s-gates-0007"),
    (33, "gate InPlacePodVerticalScaling"): ("e2e-1.33", "e2e-1.33-s-resized-0001"),
    (33, "requests of a pod with a status"): ("e2e-1.33", "e2e-1.33-s-resized-0008"),
    (33, "setting mergeDefaultEvictionSettings"): ("e2e-1.33", "e2e-1.33-s-evict-0001"),
    (34, "option prefer-align-cpus-by-uncorecache"): ("lifecycle-1.34", "lifecycle-1.34-s-podlevel-0015"),
    (34, "CPUs from an uncore cache"): ("cpu-1.34", "cpu-d-00043@1.34"),
    (34, "gate PodLevelResources"): ("cpuhints-1.34", "cpuhints-1.34-s-podlevel-0007"),
    (34, "pinning of pods with pod-level resources"): ("cpuhints-1.34", "cpuhints-1.34-s-podlevel-0001"),
    (34, "gate DRAExtendedResource"): ("e2e-1.34", "e2e-1.34-s-gates-0003"),
    (34, "gate InPlacePodVerticalScalingExclusiveMemory"): ("e2e-1.34", "e2e-1.34-s-gates-0031"),
    (35, "option strict-cpu-reservation"): ("e2e-1.36", "e2e-1.36-s-gates-0006"),
    (35, "option max-allowable-numa-nodes"): ("e2e-1.35", "e2e-1.35-s-gates-0035"),
    (35, "requests of a pod with a status"): ("e2e-1.35", "e2e-1.35-s-resized-0001"),
    (35, "devices of a ResourceClaim"): ("e2e-1.35", "e2e-1.35-s-dra-0001"),
    (35, "feature gates that need others"): ("lifecycle-1.36", "lifecycle-1.36-s-podlevel-0011"),
    (35, "gate InPlacePodVerticalScaling"): ("e2e-1.35", "e2e-1.35-s-gates-0048"),
    (36, "option prefer-align-cpus-by-uncorecache"): ("e2e-1.36", "e2e-1.36-s-gates-0009"),
    (36, "device hints"): ("lifecycle-1.36", "lifecycle-d-00021@1.36"),
    (36, "pinning with PodLevelResources off"): ("cpuhints-1.36", "cpuhints-1.36-s-podlevel-0012"),
    (36, "gate PodLevelResourceManagers"): ("cpuhints-1.36", "cpuhints-1.36-s-podlevel-0003"),
    (36, "gate DRAExtendedResource"): ("e2e-1.36", "e2e-1.36-s-dra-0001"),
    (36, "gate InPlacePodLevelResourcesVerticalScaling"): ("lifecycle-1.36", "lifecycle-1.36-s-podlevel-0011"),
    (36, "feature gates that need others"): ("e2e-1.36", "e2e-1.36-s-gates-0003"),
    (36, "gate TopologyManagerPolicyOptions"): ("e2e-1.36", "e2e-1.36-s-gates-0021"),
    (37, "distribute-cpus-across-numa with align-by-socket"): ("cpu-1.37", "cpu-1.37r-socket-00006"),
    (37, "full-pcpus-only after a restart"): ("cpu-1.37", "cpu-1.37r-again-04930"),
}
"""A recorded case that the kubelet without the change gets wrong: (family, id)."""


CHANGES = (*NEWER_CHANGES, *PUBLISHED_CHANGES)


def _key(change: Change) -> Key:
    return change.since[1], change.topic


def _name(change: Change) -> str:
    return f"{version_text(change.since)} {change.topic}"


BY_RECORD = [change for change in CHANGES if _key(change) in RECORDED]


@pytest.mark.parametrize("change", BY_RECORD, ids=_name)
def test_a_recorded_case_needs_the_change(change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    family, name = RECORDED[_key(change)]
    case = conformance.find(name, VECTORS / f"{family}.jsonl.gz")
    module = importlib.import_module(f"tests.conformance.families.{conformance.module_of(family)}")
    expected = conformance.expected(module, case)
    assert conformance.matches(expected, module.decide(case))

    monkeypatch.setattr(versions, "kubelet", lambda version: without(version, [change]))
    assert not _same(module, expected, case)


def _same(module: Any, expected: Any, case: Case) -> bool:
    try:
        return bool(conformance.matches(expected, module.decide(case)))
    except Exception:  # a kubelet of no release may not even be able to answer
        return False


AT_FAULT = "failed to merge global and in-flight KubeletConfiguration while setting defaults, error: "


def _start(of: Kubelet, *, cgroup_v1: bool = False, **gates: bool) -> str:
    """Start a kubelet; return its error."""
    machine = regular(nodes=1, cores=2)._replace(cgroup_v1=cgroup_v1)
    try:
        node.start(Setup(machine, KubeletConfig(feature_gates=gates), "ideal", of))
    except StartError as error:
        return error.message.removeprefix(AT_FAULT)
    return ""


PAGES = {"cpu": "1", "memory": "1Gi", "hugepages-2Mi": "4Mi"}


def _hugepages(of: Kubelet, **requests: str) -> str | None:
    """Tell which limit of huge pages a pod with pod-level resources ends with, whose container has 4Mi of them."""
    own = {"requests": {"cpu": "1", **requests}, "limits": {"cpu": "1"}}
    pod = read_pod({"spec": {"resources": own, "containers": [{"name": "c", "resources": {"limits": PAGES}}]}})
    assert pod.level is not None
    found = of.reading.complete(of.gates_with({}))(pod, pod.level).limits.get("hugepages-2Mi")
    return None if found is None else str(found.int64)


def _ports(of: Kubelet) -> tuple[int, ...]:
    """Tell which host ports of a sidecar a kubelet sees."""
    sidecar = {"name": "s", "restartPolicy": "Always", "ports": [{"containerPort": 80, "hostPort": 8080}]}
    pod = of.reading.see(read_pod({"spec": {"initContainers": [sidecar], "containers": [{"name": "c"}]}}))
    return tuple(port["hostPort"] for port in pod.containers[0].ports)


def _qos(of: Kubelet, level: dict[str, Any]) -> str:
    """Tell the class of a pod whose container has requests equal to its limits."""
    limits = {"limits": {"cpu": "1", "memory": "1Gi"}}
    pod = read_pod({"spec": {"resources": level, "containers": [{"name": "c", "resources": limits}]}})
    return reader(of.reading, of.gates_with({})).read(pod)[0].qos


def _counted(of: Kubelet) -> float:
    """Count the CPUs of a pod of which one container grows by as much as another shrinks."""
    asked, statuses = {"a": "1", "b": "2"}, {"a": "2", "b": "1"}
    spec = {"containers": [{"name": name, "resources": {"requests": {"cpu": cpu}}} for name, cpu in asked.items()]}
    status = {
        "containerStatuses": [
            {"name": name, "allocatedResources": {"cpu": cpu}, "resources": {"requests": {"cpu": cpu}}}
            for name, cpu in statuses.items()
        ]
    }
    pod, _ = reader(of.reading, of.gates_with({})).read(read_pod({"spec": spec, "status": status}))
    return (pod.counted or {})["cpu"] / 10**9


def _shared_memory(of: Kubelet) -> bool:
    """Tell whether policy none admits a Guaranteed pod with pod-level resources and a container that has none."""
    amounts = {"cpu": "2", "memory": "1Gi"}
    spec = {"resources": {"requests": amounts, "limits": amounts}, "containers": [{"name": "c"}]}
    config = KubeletConfig(
        cpu_manager_policy="static",
        memory_manager_policy="Static",
        reserved_memory=(MemoryReservation(0, {"memory": "100Mi"}),),
        feature_gates={"PodLevelResourceManagers": True},
    )
    session = open_session(Setup(regular(nodes=1, cores=4), config, "ideal", of), fit_check=False)
    return admit(session, read_pod({"spec": spec})).admit


UNKNOWN = "unrecognized feature gate: "
LOCKED = "cannot set feature gate {} to false, feature is locked to true"
CGROUP_V1 = "kubelet is configured to not run on a host using cgroup v1"

OURS: dict[Key, tuple[Callable[[Kubelet], object], object, object]] = {
    (33, "pod-level huge pages"): (_hugepages, None, str(4 << 20)),
    (34, "pod-level huge pages requested"): (
        lambda of: _hugepages(of, **{"hugepages-2Mi": "2Mi"}),
        str(4 << 20),
        None,
    ),
    (34, "gate DynamicResourceAllocation"): (lambda of: of.gates_with({})("DynamicResourceAllocation"), False, True),
    (35, "gate DynamicResourceAllocation"): (
        lambda of: _start(of, DynamicResourceAllocation=False)[:25],
        "[DRAAdminAccess is enable",
        LOCKED.format("DynamicResourceAllocation")[:25],
    ),
    (33, "host ports of sidecars"): (_ports, (), (8080,)),
    (34, "gate ContainerRestartRules"): (
        lambda of: _start(of, ContainerRestartRules=True),
        UNKNOWN + "ContainerRestartRules",
        "",
    ),
    (35, "restart policies of containers"): (lambda of: of.gates_with({})("ContainerRestartRules"), False, True),
    (35, "gate InPlacePodLevelResourcesVerticalScaling"): (
        lambda of: _start(of, InPlacePodLevelResourcesVerticalScaling=False),
        UNKNOWN + "InPlacePodLevelResourcesVerticalScaling",
        "",
    ),
    (35, "gate NodeDeclaredFeatures"): (
        lambda of: _start(of, NodeDeclaredFeatures=False),
        UNKNOWN + "NodeDeclaredFeatures",
        "",
    ),
    (35, "setting failCgroupV1"): (lambda of: _start(of, cgroup_v1=True)[: len(CGROUP_V1)], "", CGROUP_V1),
    (36, "gate NodeDeclaredFeatures"): (lambda of: of.gates_with({})("NodeDeclaredFeatures"), False, True),
    (36, "gate MemoryManager"): (lambda of: _start(of, MemoryManager=True), "", UNKNOWN + "MemoryManager"),
    (36, "gate ResourceHealthStatus"): (lambda of: of.gates_with({})("ResourceHealthStatus"), False, True),
    (36, "gate DisableCPUQuotaWithExclusiveCPUs"): (
        lambda of: of.gates_with({"AllBeta": False})("DisableCPUQuotaWithExclusiveCPUs"),
        False,
        True,
    ),
    (37, "memory of containers that share"): (_shared_memory, False, True),
    (37, "pod-level defaults"): (
        lambda of: _qos(of, {"requests": {"cpu": "1", "memory": "1Gi"}}),
        "Burstable",
        "Guaranteed",
    ),
    (37, "QoS class of empty pod-level lists"): (lambda of: _qos(of, {}), "BestEffort", "Guaranteed"),
    (37, "requests of pods that are resized"): (_counted, 4, 3),
    (37, "feature gates that need others"): (
        lambda of: _start(of, PodLevelResources=False, InPlacePodLevelResourcesVerticalScaling=False)[:32],
        "",
        "[PodLevelResourcesFixDefaulting is"[:32],
    ),
    (37, "gate PodLevelResourceManagers"): (
        lambda of: of.gates_with({"AllBeta": True})("PodLevelResourceManagers"),
        False,
        True,
    ),
    (37, "gate NodeDeclaredFeatures"): (
        lambda of: _start(of, NodeDeclaredFeatures=False)[:20],
        "[ExtendWebSocketsToKubelet"[:20],
        LOCKED.format("NodeDeclaredFeatures")[:20],
    ),
    (37, "gate DRAExtendedResource"): (
        lambda of: _start(of, DRAExtendedResource=False),
        "",
        LOCKED.format("DRAExtendedResource"),
    ),
    (37, "gate DisableCPUQuotaWithExclusiveCPUs"): (
        lambda of: _start(of, DisableCPUQuotaWithExclusiveCPUs=False),
        "",
        LOCKED.format("DisableCPUQuotaWithExclusiveCPUs"),
    ),
    (37, "gate SidecarContainers"): (
        lambda of: _start(of, SidecarContainers=True),
        "",
        UNKNOWN + "SidecarContainers",
    ),
}
"""What no recorded case shows: (question, answer without the change, answer with it)."""


@pytest.mark.parametrize("change", [change for change in CHANGES if _key(change) in OURS], ids=_name)
def test_a_case_of_ours_needs_the_change(change: Change) -> None:
    ask, before, after = OURS[_key(change)]

    assert ask(kubelet(change.since)) == after
    assert ask(without(change.since, [change])) == before


def test_every_change_has_a_case() -> None:
    assert sorted([*RECORDED, *OURS]) == sorted(map(_key, CHANGES))
