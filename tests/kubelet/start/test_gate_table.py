"""The table of feature gates: its own laws, and what the releases before and after the recorded one make of it."""

from __future__ import annotations

import pytest

from numalign.errors import StartPanicError
from numalign.kubelet.releases.release import Kubelet
from numalign.kubelet.releases.table import between, known_kubelets, kubelet, without
from numalign.kubelet.start.feature_gates import (
    bad_gates,
    check_feature_gates,
    doubtful_gates,
    gate_of,
    unmet_gates,
)
from numalign.kubelet.start.gate_table import gone_in, table


def test_rows_are_sorted_and_their_steps_ascend() -> None:
    names = list(table())
    assert names == sorted(names, key=str.lower)
    for name, row in table().items():
        releases = [since for since, _ in row.steps]
        assert releases == sorted(set(releases)), name


def test_no_gate_stands_in_two_places() -> None:
    own = {name for one in known_kubelets() for name in one.gates}
    assert not own & set(table())


def test_a_gate_needs_gates_that_there_are() -> None:
    own = {name for one in known_kubelets() for name in one.gates}
    assert {name for row in table().values() for name in row.needs} <= own | set(table())


@pytest.mark.parametrize("of", known_kubelets(), ids=lambda one: f"1.{one.version[1]}")
def test_no_release_crashes_with_its_own_defaults(of: Kubelet) -> None:
    given = {name: gate.default for name in (*table(), *of.gates) if (gate := gate_of(of, name))}
    assert not bad_gates(of, given)
    assert not unmet_gates(of, given)


def test_what_a_release_leaves_unmet_itself_is_no_fault_of_the_configuration() -> None:
    """As in an upgrade without one change, which a comparison asks of: NodeDeclaredFeatures is off, and needed."""
    [change] = [one for one in between((1, 35), (1, 36)) if one.topic == "gate NodeDeclaredFeatures"]
    odd = without((1, 36), [change])
    assert unmet_gates(odd, {}) == {}
    assert unmet_gates(odd, {"PodLevelResources": False}) == {
        "InPlacePodLevelResourcesVerticalScaling": ["PodLevelResources", "NodeDeclaredFeatures"]
    }


CASES = [
    ((1, 33), {"AllowParsingUserUIDFromCertAuth": False}, ""),
    ((1, 33), {"NodeSwap": False}, ""),
    ((1, 34), {"NodeSwap": False}, "cannot set feature gate NodeSwap to false, feature is locked to true"),
    ((1, 34), {"EnvFiles": True}, ""),
    ((1, 33), {"EnvFiles": True}, "unrecognized feature gate: EnvFiles"),
    ((1, 34), {"ClusterTrustBundleProjection": True}, ""),
    (
        (1, 35),
        {"ClusterTrustBundleProjection": True},
        "ClusterTrustBundleProjection is enabled, but depends on features that are disabled: [ClusterTrustBundle]",
    ),
    ((1, 36), {"WorkloadAwarePreemption": False}, ""),
    ((1, 37), {"WorkloadAwarePreemption": False}, "unrecognized feature gate: WorkloadAwarePreemption"),
    ((1, 37), {"MemoryQoS": False, "DRADeviceTaintRules": False, "DRADeviceTaints": False}, ""),
    (
        (1, 37),
        {"DRADeviceTaints": False},
        "DRADeviceTaintRules is enabled, but depends on features that are disabled: [DRADeviceTaints]",
    ),
    (
        (1, 37),
        {"CompositePodGroup": True, "GenericWorkload": True},
        "CompositePodGroup is enabled, but depends on features that are disabled: [TopologyAwareWorkloadScheduling]",
    ),
    ((1, 37), {"DRAPrioritizedList": False}, "cannot set feature gate DRAPrioritizedList to false, feature is locked"),
    ((1, 36), {"DRAPrioritizedList": False}, ""),
]


@pytest.mark.parametrize(("release", "given", "cause"), CASES)
def test_a_release_starts_or_crashes(release: tuple[int, int], given: dict[str, bool], cause: str) -> None:
    if not cause:
        check_feature_gates(kubelet(release), given)
        return
    with pytest.raises(StartPanicError) as error:
        check_feature_gates(kubelet(release), given)
    assert cause in error.value.message


def test_what_is_not_certain_is_doubtful() -> None:
    """A gate that is new, or that the documentation alone calls stable, may be locked or not."""
    assert doubtful_gates(kubelet((1, 37)), {"SELinuxMount": False, "NoSuchGate": True, "MemoryQoS": False}) == [
        "NoSuchGate",
        "SELinuxMount",
    ]
    assert doubtful_gates(kubelet((1, 36)), {"NoSuchGate": True}) == []
    assert doubtful_gates(kubelet((1, 37)), {"SELinuxMount": True}) == []


@pytest.mark.parametrize(
    ("release", "gate", "value", "doubtful"),
    [
        ((1, 33), "AllowServiceLBStatusOnNonLB", True, False),
        ((1, 34), "AllowServiceLBStatusOnNonLB", True, True),
        ((1, 35), "AllowServiceLBStatusOnNonLB", False, True),
        ((1, 36), "AllowServiceLBStatusOnNonLB", True, False),
        ((1, 35), "AtomicWriteVolumeUserFields", True, False),
        ((1, 36), "AtomicWriteVolumeUserFields", True, True),
        ((1, 37), "AtomicWriteVolumeUserFields", True, False),
        ((1, 36), "ClusterTrustBundle", False, False),
        ((1, 37), "ClusterTrustBundle", False, True),
        ((1, 37), "ClusterTrustBundle", True, False),
        ((1, 37), "MemoryManager", False, False),
        ((1, 37), "AllAlpha", True, False),
        ((1, 31), "AllAlpha", True, False),
        ((1, 31), "EnvFiles", True, True),
        ((1, 32), "EnvFiles", True, False),
        ((1, 32), "NoSuchGate", True, True),
        ((1, 33), "NoSuchGate", True, False),
        ((1, 37), "NoSuchGate", True, True),
        ((1, 36), "NoSuchGate", True, False),
    ],
)
def test_a_gate_that_may_be_there_or_not_is_doubtful(
    release: tuple[int, int], gate: str, value: bool, doubtful: bool
) -> None:
    """It stops no kubelet."""
    assert doubtful_gates(kubelet(release), {gate: value}) == [gate] * doubtful
    assert not (doubtful and bad_gates(kubelet(release), {gate: value}))


def test_what_the_next_release_drops_is_known() -> None:
    assert gone_in("KubeletTracing", (1, 38))
    assert gone_in("DynamicResourceAllocation", (1, 38))
    assert not gone_in("MemoryQoS", (1, 38))


def test_what_an_early_kubelet_knows_is_doubtful_and_stops_none() -> None:
    early = kubelet((1, 25))
    given = {"AllBeta": True, "Something": True}
    assert doubtful_gates(early, given) == ["Something"]
    assert bad_gates(early, given) == {}
    assert list(bad_gates(kubelet((1, 36)), given)) == ["Something"]
