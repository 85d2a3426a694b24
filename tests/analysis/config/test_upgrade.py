"""What stops the next kubelet is told before the upgrade."""

from __future__ import annotations

import pytest

from numalign.analysis.config.upgrade import upgrade_notices
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from tests.kubelet.regular import regular

CASES = [
    ("nothing is set", (1, 36), {}, (), ""),
    (
        "pod-level resources are off",
        (1, 36),
        {"PodLevelResources": False, "InPlacePodLevelResourcesVerticalScaling": False},
        (),
        (
            "kubelet 1.37 crashes at its start: PodLevelResourcesFixDefaulting, PodLevelResourcesFixKubeletQOSClass "
            "need PodLevelResources; fix: also set these to false"
        ),
    ),
    (
        "several are off that others need",
        (1, 34),
        {"UserNamespacesSupport": False, "GracefulNodeShutdown": False},
        (),
        (
            "kubelet 1.35 crashes at its start: GracefulNodeShutdownBasedOnPodPriority, ProcMountType, "
            "WindowsGracefulNodeShutdown need GracefulNodeShutdown, UserNamespacesSupport; fix: also set these to false"
        ),
    ),
    (
        "each for another",
        (1, 36),
        {"DRADeviceTaints": False, "ClusterTrustBundle": False},
        (),
        (
            "kubelet 1.37 crashes at its start: ClusterTrustBundleProjection, DRADeviceTaintRules need "
            "ClusterTrustBundle, DRADeviceTaints; fix: also set these to false"
        ),
    ),
    (
        "all that they need is off",
        (1, 37),
        {
            "PodLevelResources": False,
            "InPlacePodLevelResourcesVerticalScaling": False,
            "PodLevelResourcesFixDefaulting": False,
            "PodLevelResourcesFixKubeletQOSClass": False,
        },
        (),
        "",
    ),
    (
        "a gate is named that is gone",
        (1, 36),
        {"SidecarContainers": True},
        (),
        "kubelet 1.37 crashes at its start with SidecarContainers in featureGates; fix: remove it",
    ),
    (
        "of the first release that was recorded, too",
        (1, 32),
        {"CPUManager": True},
        (),
        "kubelet 1.33 crashes at its start with CPUManager in featureGates; fix: remove it",
    ),
    ("earlier releases are known in part", (1, 31), {"CPUManager": True}, (), ""),
    (
        "a gate is named that will be gone",
        (1, 37),
        {"KubeletTracing": True, "DynamicResourceAllocation": True},
        (),
        (
            "kubelet 1.38 will not know DynamicResourceAllocation and crash; fix: remove it before that upgrade|"
            "kubelet 1.38 will not know KubeletTracing and crash; fix: remove it before that upgrade"
        ),
    ),
    (
        "the host runs cgroup v1",
        (1, 34),
        {},
        ("cgroup-v1",),
        (
            "kubelet 1.35 does not start: kubelet is configured to not run on a host using cgroup v1. cgroup v1 "
            "support is unsupported and will be removed in a future release"
        ),
    ),
    (
        "a flag of cAdvisor is given",
        (1, 36),
        {},
        ("housekeeping-interval", "v"),
        "kubelet 1.37 does not start with --housekeeping-interval; fix: remove the flags",
    ),
    (
        "several flags of cAdvisor are given",
        (1, 36),
        {},
        ("storage-driver-user", "machine-id-file", "containerd", "housekeeping-interval", "boot-id-file"),
        (
            "kubelet 1.37 does not start with --boot-id-file, --containerd, --housekeeping-interval, "
            "--machine-id-file, --storage-driver-user; fix: remove the flags"
        ),
    ),
    ("it does not start today", (1, 36), {"SidecarContainers": False}, (), ""),
]


@pytest.mark.parametrize(
    ("release", "gates", "flags", "told"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_an_upgrade_is_warned_of(
    release: tuple[int, int], gates: dict[str, bool], flags: tuple[str, ...], told: str
) -> None:
    machine = regular(nodes=1, cores=2)._replace(cgroup_v1="cgroup-v1" in flags)
    setup = Setup(machine, KubeletConfig(feature_gates=gates), "ideal", kubelet(release))

    assert "|".join(notice.message for notice in upgrade_notices(setup, flags)) == told
