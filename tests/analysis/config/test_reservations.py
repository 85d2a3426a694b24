"""What clouds keep when nobody says how much: worked numbers (docs/rules/clouds.md 2.10)."""

from __future__ import annotations

import pytest

from numalign.analysis.config import reservations as kept
from numalign.analysis.config.system import Facts, System
from numalign.analysis.config.system_bases import flags_alone, openshift, talos
from numalign.analysis.config.systems import (
    AKS,
    BOTTLEROCKET,
    FLAGS,
    GARDENER,
    GKE,
    K3S,
    KOPS,
    KUBEADM,
    KUBESPRAY,
    NODECONFIG,
    config_of,
)
from numalign.kubelet.start.reservation import thresholds
from numalign.model.quantity import MEBI, NANO, parse


@pytest.mark.parametrize(("minor", "threshold"), [(25, "100Mi"), (26, None)])
def test_without_a_file_nothing_is_evicted_from_1_26_on(minor: int, threshold: str | None) -> None:
    """docs/rules/clouds.md 0.3."""
    base = flags_alone(Facts(version=(1, minor)), {})
    assert thresholds(config_of(base.fields)).get("memory.available") == threshold


EKS_CPU = {
    0: 0,
    1: 60,
    2: 70,
    3: 75,
    4: 80,
    5: 82,
    6: 85,
    8: 90,
    16: 110,
    32: 150,
    47: 187,
    48: 190,
    64: 230,
    96: 310,
    128: 390,
    192: 550,
    224: 630,
}


@pytest.mark.parametrize(("cpus", "thousandths"), EKS_CPU.items())
def test_cpus_of_eks(cpus: int, thousandths: int) -> None:
    assert kept.eks_cpu(cpus) == f"{thousandths}m"


EKS = {
    "m5.large": (2, 3, 10, 29, 574),
    "m5.xlarge": (4, 4, 15, 58, 893),
    "m5.4xlarge": (16, 8, 30, 234, 2829),
    "m5.24xlarge": (96, 15, 50, 737, 8362),
    "p4d.24xlarge": (96, 15, 50, 737, 8362),
    "p5.48xlarge": (192, 2, 50, 100, 1355),
    "p5en.48xlarge": (192, 4, 50, 198, 2433),
    "p6-b200.48xlarge": (192, 4, 50, 198, 2433),
    "g6e.48xlarge": (192, 10, 50, 492, 5667),
}


@pytest.mark.parametrize(("instance", "row"), EKS.items())
def test_an_instance_of_eks(instance: str, row: tuple[int, ...]) -> None:
    cpus, enis, addresses, pods, memory = row
    assert kept.eni_pods(enis, addresses) == pods
    assert total(NODECONFIG, Facts(cpus, 1 << 40, instance=instance)) == memory + 100


@pytest.mark.parametrize(("pods", "memory"), [(29, 574), (58, 893), (110, 1465), (250, 3005)])
def test_bottlerocket_counts_the_pods_in_force(pods: int, memory: int) -> None:
    base = BOTTLEROCKET.base(Facts(4, 1 << 40), {"maxPods": pods})
    assert base.fields["kubeReserved"]["memory"] == f"{memory}Mi"
    assert "kubeReserved.memory" in BOTTLEROCKET.base(Facts(4, 1 << 40), {}).unknown


GKE_ROWS = [
    *(
        (1000, 1, 255),
        (1001, 1, 250),
        (1024, 1, 256),
        (4096, 2, 1019),
        (8192, 2, 1819),
        (16384, 4, 2623),
        (32768, 8, 3606),
        (65536, 16, 5572),
    ),
    *((131072, 32, 9381), (262144, 64, 12002), (524288, 128, 17245), (1916928, 208, 45098)),
]


@pytest.mark.parametrize(("mebibytes", "cpus", "memory"), GKE_ROWS)
def test_gke_is_estimated(mebibytes: int, cpus: int, memory: int) -> None:
    assert total(GKE, Facts(cpus, mebibytes << 20)) == memory + 100
    assert kept.cpu_share(cpus, kept.EKS_CPU) == kept.eks_cpu(cpus)


AKS_OLD = [
    *(
        (4, 2, 100, 1024),
        (7, 2, 100, 1638),
        (8, 2, 100, 1843),
        (16, 4, 140, 2662),
        (64, 3, 120, 5611),
        (64, 8, 180, 5611),
    ),
    *((112, 16, 260, 8560), (256, 32, 420, 12165), (900, 96, 1060, 25354)),
]


@pytest.mark.parametrize(("gibibytes", "cpus", "thousandths", "memory"), AKS_OLD)
def test_aks_up_to_1_28(gibibytes: int, cpus: int, thousandths: int, memory: int) -> None:
    facts = Facts(cpus, gibibytes << 30, (1, 28))
    assert AKS.base(facts, {}).fields["kubeReserved"]["cpu"] == f"{thousandths}m"
    assert total(AKS, facts) == memory + 750


@pytest.mark.parametrize(
    ("gibibytes", "pods", "memory"), [(7, 250, 1792), (8, 30, 650), (4, 70, 1024), (16, 110, 2250), (900, 110, 2250)]
)
def test_aks_from_1_29(gibibytes: int, pods: int, memory: int) -> None:
    assert total(AKS, Facts(2, gibibytes << 30, (1, 29), pods=pods)) == memory + 100


OPENSHIFT = [
    *(
        (7, 4, "0.5", 1),
        (15, 4, "0.5", 1),
        (31, 8, "0.5", 2),
        (62, 16, "0.5", 4),
        (125, 32, "0.5", 8),
        (128, 32, "0.5", 8),
    ),
    *(
        (129, 32, "0.5", 8),
        (251, 64, "0.82", 10),
        (503, 96, "1.2", 15),
        (1007, 128, "1.58", 25),
        (2015, 224, "2.74", 46),
    ),
    *((0, 1, "0.5", 1), (16, 84, "1.06", 1), (17, 83, "1.04", 2), (32, 44, "0.58", 2), (33, 43, "0.56", 3)),
    *((49, 42, "0.55", 3), (50, 9, "0.5", 4), (158, 89, "1.12", 8), (159, 88, "1.1", 9), (209, 18, "0.5", 10)),
]


@pytest.mark.parametrize(("gibibytes", "cpus", "share", "memory"), OPENSHIFT)
def test_the_sizing_of_openshift_from_4_21(gibibytes: int, cpus: int, share: str, memory: int) -> None:
    facts = Facts(cpus, gibibytes << 30, (1, 34))
    reserved = openshift(facts, {}, sizing=None).fields["systemReserved"]
    assert (reserved["cpu"], reserved["memory"]) == (share, f"{memory}Gi")


@pytest.mark.parametrize(
    ("gibibytes", "memory"), [(1, 0), (2, 1), (3, 1), (8, 2), (15, 3), (16, 3), (31, 4), (64, 5), (128, 9), (512, 17)]
)
def test_the_sizing_of_openshift_up_to_4_20(gibibytes: int, memory: int) -> None:
    facts = Facts(8, gibibytes << 30, (1, 33))
    assert openshift(facts, {}, sizing=True).fields["systemReserved"]["memory"] == f"{memory}Gi"
    assert openshift(facts, {}, sizing=None).fields["systemReserved"]["memory"] == "1Gi"


@pytest.mark.parametrize(("cpus", "share"), [(1, "0.06"), (3, "0.08"), (4, "0.1"), (64, "0.82")])
def test_the_cpus_of_that_sizing_up_to_4_20(cpus: int, share: str) -> None:
    """0.06 of the first CPU, 0.012 of each other one (docs/rules/clouds.md 61)."""
    assert kept.openshift_cpu(cpus, newer=False) == share


@pytest.mark.parametrize(("minor", "cpu"), [(30, "110m"), (31, "0.24"), (33, "0.24"), (34, "0.5")])
def test_the_cpus_of_that_sizing_by_release(minor: int, cpu: str) -> None:
    assert openshift(Facts(16, 1 << 36, (1, minor)), {}, sizing=True).fields["systemReserved"]["cpu"] == cpu


SUMS: dict[str, tuple[System, int]] = {
    "OpenShift": (System("OpenShift", openshift), 1124),
    "a worker of Talos": (System("Talos", lambda facts, given: talos(facts, given, role="worker")), 484),
    "a control plane of Talos": (System("Talos", lambda facts, given: talos(facts, given, role="controlplane")), 612),
    "K3s": (K3S, 0),
    "a kubelet without a file": (FLAGS, 0),
    "Gardener": (GARDENER, 1124),
    "kubespray": (KUBESPRAY, 868),
    "kops": (KOPS, 100),
    "kubeadm": (KUBEADM, 100),
    "Bottlerocket on metal": (BOTTLEROCKET, 100),
}


@pytest.mark.parametrize("name", SUMS)
def test_what_reserved_memory_has_to_add_up_to(name: str) -> None:
    system, expected = SUMS[name]
    assert total(system, Facts(64, 1 << 38)) == expected


UNKNOWN: dict[str, tuple[System, str]] = {
    "GKE": (GKE, "kubeReserved"),
    "AKS": (AKS, "kubeReserved"),
    "OpenShift": (System("", lambda facts, given: openshift(facts, given, sizing=True)), "systemReserved"),
}


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize("facts", [Facts(), Facts(cpus=4), Facts(memory=1 << 40)], ids=["neither", "CPUs", "memory"])
def test_what_depends_on_a_machine_that_nobody_named_is_unknown(name: str, facts: Facts) -> None:
    system, setting = UNKNOWN[name]
    found = system.base(facts, {})
    assert found.unknown == {setting: "add --machine"}
    assert setting not in found.fields


def test_what_eks_keeps_is_known_part_by_part() -> None:
    assert NODECONFIG.base(Facts(), {}).unknown.keys() == {"kubeReserved.cpu", "kubeReserved.memory"}
    assert NODECONFIG.base(Facts(4), {}).unknown.keys() == {"kubeReserved.memory"}
    assert NODECONFIG.base(Facts(pods=58), {}).unknown == {"kubeReserved.cpu": "add --machine"}
    assert AKS.base(Facts(4, 1 << 34, (1, 29)), {}).unknown == {"kubeReserved.memory": "add --max-pods N"}


def test_before_1_26_a_kubelet_without_a_file_has_thresholds() -> None:
    assert total(FLAGS, Facts(64, 1 << 38, (1, 25))) == 100


def total(system: System, facts: Facts) -> int:
    """Add up, in Mi, what a system keeps by itself."""
    config = config_of(system.base(facts, {}).fields)
    texts = [config.kube_reserved.get("memory"), config.system_reserved.get("memory")]
    texts.append(thresholds(config).get("memory.available"))
    return sum(parse(text).nano // NANO for text in texts if text) // MEBI
