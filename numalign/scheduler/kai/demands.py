"""What KAI believes that a pod asks of NUMA nodes (docs/rules/scheduling.md K-2 to K-4)."""

from __future__ import annotations

from collections.abc import Collection

from numalign.scheduler.kai.topology import ACTING_POLICIES, KaiTopology
from numalign.scheduler.request import ContainerRequest, PodRequest, node_level
from numalign.scheduler.resources import Amounts, is_affine, is_whole
from numalign.values import NamedTuple


class Demands(NamedTuple):
    """What one pod asks, as KAI splits it."""

    pod: Amounts
    """For scope `pod`: one demand."""
    concurrent: tuple[Amounts, ...]
    """For scope `container`: sidecars, then app containers; they share the zones."""
    serial: tuple[Amounts, ...]
    """For scope `container`: ordinary init containers; each meets the untouched zones."""

    def of_scope(self, scope: str) -> tuple[tuple[Amounts, ...], tuple[Amounts, ...]]:
        """Return the concurrent and the serial demands of a scope."""
        return ((self.pod,), ()) if scope == "pod" else (self.concurrent, self.serial)


def demands(pod: PodRequest) -> Demands:
    """Split a pod into demands. For pods that are not Guaranteed only devices and other names count (K-2)."""
    by_kind: dict[str, list[Amounts]] = {"init": [], "sidecar": [], "app": []}
    for container in pod.containers:
        by_kind[container.kind].append(_container(pod, container))
    whole = {name: amount for name, amount in node_level(pod).items() if pod.guaranteed or not is_affine(name)}
    if "cpu" in whole:
        whole["cpu"] = _pod_cpus(pod)
    return Demands(whole, (*by_kind["sidecar"], *by_kind["app"]), tuple(by_kind["init"]))


def _container(pod: PodRequest, container: ContainerRequest) -> Amounts:
    """Return the demand of one container (K-3)."""
    return {
        name: _cpus(amount) if name == "cpu" else amount
        for name, amount in container.items
        if pod.guaranteed or not is_affine(name)
    }


def _cpus(amount: int) -> int:
    """Count the CPUs of a container of a Guaranteed pod: whole ones only (K-3)."""
    return amount if is_whole(amount) else 0


def _pod_cpus(pod: PodRequest) -> int:
    """Count the CPUs of a Guaranteed pod by the kubelet's own formula (docs/rules/cpu-manager.md 5.7)."""
    peak = sidecars = apps = 0
    for container in pod.containers:
        amount = _cpus(container.amounts.get("cpu", 0))
        if container.kind == "app":
            apps += amount
        elif container.kind == "sidecar":
            sidecars += amount
        else:
            peak = max(peak, sidecars + amount)
    return max(peak, apps + sidecars)


def asks_device(pod: PodRequest, aware: Collection[str]) -> bool:
    """Tell whether a pod asks for an aware resource other than CPU, memory and huge pages."""
    return any(
        amount and name in aware and not is_affine(name)
        for container in pod.containers
        for name, amount in container.items
    )


def filter_acts(pod: PodRequest, machine: KaiTopology | None) -> bool:
    """Tell whether KAI filters a machine for a pod (K-2, K-10)."""
    if machine is None or machine.policy not in ACTING_POLICIES:
        return False
    return pod.guaranteed or asks_device(pod, machine.aware)
