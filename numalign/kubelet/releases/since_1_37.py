"""What Kubernetes 1.37 changed: from published changes, not recorded (docs/rules/kubelet-1.37.md)."""

from __future__ import annotations

from numalign.kubelet.cpu.provider import CPU
from numalign.kubelet.pod_level import complete, complete_in_1_34, names_a_resource
from numalign.kubelet.reading import counted_by_sum
from numalign.kubelet.releases.release import Change, Kubelet, with_reading


def _state_before_checks(kubelet: Kubelet) -> Kubelet:
    return kubelet._replace(cpu=kubelet.cpu._replace(allocate=CPU.allocate))


def _one_socket_first(kubelet: Kubelet) -> Kubelet:
    return kubelet._replace(cpu=kubelet.cpu._replace(start=CPU.start))


PUBLISHED_CHANGES: tuple[Change, ...] = (
    Change(
        topic="CPUs over NUMA nodes and sockets",
        since=(1, 37),
        older="",
        newer="",
        apply=_one_socket_first,
    ),
    Change(
        topic="order",
        since=(1, 37),
        older="",
        newer="",
        apply=_state_before_checks,
    ),
    Change(
        topic="requests of pods that are resized",
        since=(1, 37),
        older="the largest amounts of each container are added up",
        newer="the largest of three sums counts: of the spec, of what is set aside, of what is in force",
        apply=with_reading(lambda reading: reading._replace(counted=counted_by_sum)),
    ),
)
