"""KAI's search for zones: would the kubelet align this pod, and where (docs/rules/scheduling.md K-2 to K-7, K-9).

First comes what KAI believes that a pod asks of NUMA nodes (K-2 to K-4), last its score: the fewer zones the predicted
placement uses, the better the score.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Final, TypeGuard

from numalign.scheduler.kai.topology import ACTING_POLICIES, Around, KaiTopology
from numalign.scheduler.request import ContainerRequest, PodRequest, node_level
from numalign.scheduler.resources import Amounts, is_affine, is_whole
from numalign.scheduler.verdict import PASS, Verdict
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
    pinned = [one._replace(items=tuple(_container(pod, one).items())) for one in pod.containers]
    alone = pod._replace(containers=tuple(pinned), overhead=(), level=(), counted=None)
    return node_level(alone).get("cpu", 0)


def asks_device(pod: PodRequest, aware: Collection[str]) -> bool:
    """Tell whether a pod asks for an aware resource other than CPU, memory and huge pages."""
    return any(
        amount and name in aware and not is_affine(name)
        for container in pod.containers
        for name, amount in container.items
    )


def filter_acts(machine: KaiTopology | None, pod: PodRequest) -> TypeGuard[KaiTopology]:
    """Tell whether KAI filters a machine for a pod (K-2, K-10)."""
    if machine is None or machine.policy not in ACTING_POLICIES:
        return False
    return pod.guaranteed or asks_device(pod, machine.aware)


CANNOT_ALIGN: Final = "node cannot NUMA-align the pod's resources under its Topology Manager policy"

ZoneAmounts = Mapping[int, Amounts]
"""Zone number -> amounts that a pod takes there."""
_NOTHING: Final[ZoneAmounts] = {}


class Evaluation(NamedTuple):
    """KAI's answer."""

    admit: bool
    placement: ZoneAmounts = _NOTHING
    """What the pod would take from which zone; empty: nothing that KAI looks at."""


def check_kai(pod: PodRequest, machine: KaiTopology | None) -> Verdict:
    """Decide whether KAI's filter lets a pod onto a machine (K-2)."""
    if not filter_acts(machine, pod) or evaluate(pod, machine).admit:
        return PASS
    return Verdict(False, CANNOT_ALIGN)


def evaluate(pod: PodRequest, machine: KaiTopology | None) -> Evaluation:
    """Predict the kubelet's answer and placement; a machine without NRT takes everything (K-4, K-10)."""
    if machine is None:
        return Evaluation(True)
    concurrent, serial = demands(pod).of_scope(machine.scope)
    together = solve(machine, concurrent)
    fit_first = all(solve(machine, (demand,)).admit for demand in serial)
    return together if fit_first else Evaluation(False)


def solve(machine: KaiTopology, concurrent: Sequence[Amounts]) -> Evaluation:
    """Place demands one after the other, each out of what the earlier ones left (K-7)."""
    free = [dict(zone.available) for zone in machine.zones]
    placement: dict[int, dict[str, int]] = {}
    for demand in concurrent:
        wanted = {name: amount for name, amount in demand.items() if amount > 0 and name in machine.aware}
        chosen = _zones(machine, free, wanted) if wanted else ()
        if chosen is None:
            return Evaluation(False)
        for name, amount in wanted.items():
            for zone in chosen:
                taken = min(amount, free[zone].get(name, 0))
                if taken > 0:
                    free[zone][name] -= taken
                    amount -= taken
                    placed = placement.setdefault(zone, {})
                    placed[name] = placed.get(name, 0) + taken
    return Evaluation(True, dict(sorted(placement.items())))


def _zones(machine: KaiTopology, free: Sequence[Amounts], wanted: Amounts) -> tuple[int, ...] | None:
    """Choose the zones of one demand by the machine's policy; None: no choice holds it."""
    if machine.policy == "single-numa-node":
        return _first_set(free, wanted, 1)  # K-5
    if machine.policy == "restricted":
        widths = {
            _width([zone.allocatable[name] for zone in machine.zones if name in zone.allocatable], amount)
            for name, amount in wanted.items()
        }
        width = widths.pop()
        return None if widths or width is None else _first_set(free, wanted, width)  # K-6
    return _greedy(free, wanted)


def _width(allocatable: Sequence[int], amount: int) -> int | None:
    """Count the fullest zones that an amount needs on an empty machine; None: all together are too small (K-6)."""
    total = 0
    for count, most in enumerate(sorted(allocatable, reverse=True), start=1):
        total += most
        if total >= amount:
            return count
    return None


def _first_set(free: Sequence[Amounts], wanted: Amounts, size: int) -> tuple[int, ...] | None:
    """Find the lexicographically first set of zones that holds together what is wanted.

    A set that is begun is given up where even the fullest later zones would not complete it.
    """
    columns = [([zone.get(name, 0) for zone in free], amount) for name, amount in wanted.items()]
    stack: list[tuple[int, ...]] = [()]
    while stack:
        picked = stack.pop()
        missing, first = size - len(picked), picked[-1] + 1 if picked else 0
        if not all(_can_reach(column, amount, picked, first, missing) for column, amount in columns):
            continue
        if not missing:
            return picked
        stack.extend([(*picked, zone) for zone in range(len(free) - missing, first - 1, -1)])
    return None


def _can_reach(column: Sequence[int], amount: int, picked: Sequence[int], first: int, missing: int) -> bool:
    return sum([column[zone] for zone in picked]) + sum(sorted(column[first:], reverse=True)[:missing]) >= amount


def _greedy(free: Sequence[Amounts], wanted: Amounts) -> tuple[int, ...] | None:
    """Take, round by round, the zone that covers most of what is missing, the first on ties (K-9)."""
    missing = dict(wanted)
    chosen: list[int] = []
    while any(missing.values()):
        covers = [
            0 if zone in chosen else sum(min(amount, have.get(name, 0)) for name, amount in missing.items())
            for zone, have in enumerate(free)
        ]
        most = max(covers)
        if most <= 0:
            return None
        zone = covers.index(most)
        chosen.append(zone)
        for name in missing:
            missing[name] -= min(missing[name], max(free[zone].get(name, 0), 0))
    return tuple(sorted(chosen))


WEIGHT: Final = 100
"""The weight of this score among KAI's."""


def is_scored(pod: PodRequest, around: Around) -> bool:
    """Tell whether a pod takes part in scoring: it is Guaranteed, or asks for a device that some zone lists."""
    return pod.guaranteed or asks_device(pod, around.aware)


def score(pod: PodRequest, machine: KaiTopology | None, around: Around) -> Fraction:
    """Score one machine; None: it has no NRT."""
    span = _span(pod, machine, around.zones) if is_scored(pod, around) else 0
    return Fraction(WEIGHT, span) if span else Fraction(0)


def _span(pod: PodRequest, machine: KaiTopology | None, most: int) -> int:
    """Count the zones of the predicted placement; 0: none is possible. `most` is the cluster's largest zone count."""
    if machine is None:
        return most
    if machine.policy == "none":
        return len(machine.zones)
    answer = evaluate(pod, machine)
    return max(len(answer.placement), 1) if answer.admit else 0
