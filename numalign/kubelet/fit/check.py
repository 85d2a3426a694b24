"""The check after the managers: does the pod fit into what is left of the node as a whole.

Stands for docs/rules/admission-fit.md. It knows nothing of NUMA. The kubelet reports one failure; this keeps all of
them, and says which checks it could not make for want of knowledge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.demand import add_overhead, of_node
from numalign.kubelet.fit import ActivePods, allocatable, predicates
from numalign.kubelet.fit.predicates import Refusal
from numalign.kubelet.start.reservation import Reservation
from numalign.model.machine import Machine, Taint
from numalign.model.pod import Pod
from numalign.model.quantity import Quantity
from numalign.model.resources import EPHEMERAL_STORAGE, NATIVE, in_order, is_countable, is_extended, unit_of, whole
from numalign.values import NamedTuple


class NodeView(NamedTuple):
    """The node as the fit check sees it. None means not known, so not judged."""

    allocatable: Mapping[str, Quantity]
    name: str | None
    labels: Mapping[str, str] | None
    taints: tuple[Taint, ...] = ()
    unjudged: frozenset[str] = frozenset()
    """Resources whose amount nobody told us."""


class Shortage(NamedTuple):
    """A resource that does not suffice: CPU in milli-CPUs, others in whole units."""

    resource: str
    requested: int
    used: int
    capacity: int

    @property
    def refusal(self) -> Refusal:
        """Word it as the kubelet does (3.4.1)."""
        return Refusal(
            f"OutOf{self.resource}",
            f"Node didn't have enough resource: {self.resource}, requested: {self.requested}, "
            f"used: {self.used}, capacity: {self.capacity}",
        )


class FitResult(NamedTuple):
    """The decision."""

    admit: bool
    reason: str = ""
    message: str = ""
    failures: tuple[Shortage | Refusal, ...] = ()
    """Every check that failed, in the kubelet's order, also those it would not tell."""
    preempted: tuple[Pod, ...] = ()
    """Pods evicted to admit this one."""
    notes: tuple[str, ...] = ()
    """What was not judged, or passed over, and why."""


NOTHING: Final[Mapping[str, int]] = {}


def view(config: KubeletConfig, machine: Machine, reservation: Reservation) -> NodeView:
    """Make the node object of a machine of which so much is kept back (6)."""
    unjudged = machine.storage is None and config.local_storage_capacity_isolation
    return NodeView(
        allocatable=allocatable(config, machine, reservation),
        name=machine.node.name,
        labels=machine.node.labels,
        taints=machine.node.taints,
        unjudged=frozenset({EPHEMERAL_STORAGE} if unjudged else ()),
    )


def check_node_fit(
    pod: Pod,
    others: ActivePods,
    node: NodeView,
    *,
    allocated: Mapping[str, int] = NOTHING,
) -> FitResult:
    """Decide whether a pod fits beside others.

    Args:
        pod: the pod, after the managers let it in.
        others: every other active pod, whatever its QoS class.
        node: the node.
        allocated: device plugin resource -> number of devices given out, to this pod, to others and to dead pods; none
            where this pod was given no device (3.2).
    """
    system = predicates.wrong_system(pod)
    if system:
        return FitResult(False, *system, failures=(system,))
    have = _have(node)
    for resource, number in allocated.items():
        have[resource] = max(have.get(resource, number), number)
    requested, notes = _requested(pod, have, node)
    shortages = _shortages(requested, others, have)
    refusals = _refusals(pod, others, node, notes)
    return _report(pod, others, shortages, refusals)._replace(notes=tuple(notes))


def _have(node: NodeView) -> dict[str, int]:
    """Return what a node has, in the units of the check."""
    return {resource: whole(resource, quantity.nano) for resource, quantity in node.allocatable.items()}


def exceeded(pods: ActivePods, node: NodeView) -> Iterator[Shortage]:
    """Yield what pods together request more of than the node has, the number of pods included."""
    have = _have(node)
    for resource, used in {"pods": len(pods), **pods.used}.items():
        if used > have.get(resource, used):
            yield Shortage(resource=resource, requested=0, used=used, capacity=have[resource])


def forecast(pod: Pod, others: ActivePods, node: NodeView, devices: Mapping[str, int]) -> bool | None:
    """Tell what `check` will decide, if that is the same whatever the managers give out; None: it depends.

    False holds beside more pods, too. It takes no allocation, so who tries very many amounts asks here first.

    Args:
        pod: the pod.
        others: every other active pod.
        node: the node.
        devices: device plugin resource -> the most that can be given out of it (3.2).
    """
    ahead = _ahead(pod, others, node, devices)
    if ahead is None:
        return None
    short, sure, notes = ahead
    if short:
        return False if sure else None
    if not (devices.keys() - node.allocatable.keys()).isdisjoint(of_node(pod)):
        return None
    return predicates.wrong_system(pod) is None and not _refusals(pod, others, node, notes)


def forecaster(
    pod: Pod, others: ActivePods, node: NodeView, devices: Mapping[str, int]
) -> Callable[[Pod], bool | None]:
    """Return `forecast` for the same pod with other amounts, or none, of what it asks for: many times as quick.

    What does not hang on the amounts is worked out once. The arguments are those of `forecast`.
    """
    least = pod._replace(containers=tuple([one._replace(requests={}) for one in pod.containers]))
    if pod.overhead or not forecast(least, others, node, devices):
        return lambda asked: forecast(asked, others, node, devices)
    have = _have(node)
    names = _requested(pod, have, node)[0]

    def left(most: Mapping[str, int]) -> dict[str, int]:
        return {name: max(most.get(name, 0) - others.used.get(name, 0), 0) * unit_of(name) for name in names}

    free, freed = left(have), left({name: max(number, devices.get(name, number)) for name, number in have.items()})
    unlisted = devices.keys() - have.keys()

    def told(asked: Pod) -> bool | None:
        nano = of_node(asked)
        short = [name for name, amount in nano.items() if name in free and amount > free[name]]
        if short:
            return False if any(nano[name] > freed[name] for name in short) else None
        return None if not unlisted.isdisjoint(nano) else True

    return told


def lacks(pod: Pod, others: ActivePods, node: NodeView, devices: Mapping[str, int]) -> tuple[Shortage, ...]:
    """List what the node has too little of, whatever the managers give out; nothing of a pod that evicts others.

    The arguments are those of `forecast`.
    """
    ahead = _ahead(pod, others, node, devices)
    return ahead[1] if ahead is not None else ()


def _ahead(
    pod: Pod, others: ActivePods, node: NodeView, devices: Mapping[str, int]
) -> tuple[list[Shortage], tuple[Shortage, ...], list[str]] | None:
    """Look for shortages before the managers are asked; None of a pod that evicts others.

    Returns what is short while nothing is given out, which of it stays so whatever is, and what `_requested` notes.
    """
    from numalign.kubelet.fit import preemption

    if preemption.is_critical(pod):
        return None
    have = _have(node)
    requested, notes = _requested(pod, have, node)
    short = _shortages(requested, others, have)
    most = have | {name: max(have[name], number) for name, number in devices.items() if name in have}
    stay = {one.resource for one in _shortages(requested, others, most)}
    return short, tuple([one for one in short if one.resource in stay]), notes


def _report(pod: Pod, others: ActivePods, shortages: list[Shortage], refusals: list[Refusal]) -> FitResult:
    """Say what the kubelet says (5)."""
    failures: tuple[Shortage | Refusal, ...] = tuple(shortages) + tuple(refusals)
    if not failures:
        return FitResult(True)
    from numalign.kubelet.fit import preemption

    if not preemption.is_critical(pod):
        told = shortages[0].refusal if shortages else refusals[0]
        return FitResult(False, *told, failures=failures)
    if refusals:
        return FitResult(False, *refusals[0], failures=failures)
    needs = {one.resource: one.requested - (one.capacity - one.used) for one in shortages}
    evicted, rest = preemption.victims(pod, others, needs)
    if not rest:
        return FitResult(True, failures=failures, preempted=evicted)
    missing = "".join(f"(res: {resource}, q: {number}), " for resource, number in rest.items())
    return FitResult(
        admit=False,
        reason="UnexpectedAdmissionError",
        message="Unexpected error while attempting to recover from admission failure: preemption: error finding a set "
        f"of pods to preempt: no set of running pods found to reclaim resources: [{missing}]",
        failures=failures,
    )


def _requested(pod: Pod, have: Mapping[str, int], node: NodeView) -> tuple[dict[str, int], list[str]]:
    """Return the pod's request, in the order in which it is checked, and what could not be judged of it (3.1, 3.3)."""
    nano = of_node(pod)
    for resource in [name for name in nano if name not in have and is_extended(name)]:
        # The kubelet passes over it: the pod runs without such a device, and no scheduler would send it here.
        del nano[resource]
    add_overhead(nano, pod)
    notes = [
        f"{resource}: not judged, the machine does not say how much there is"
        for resource in list(nano)
        if resource in node.unjudged and nano.pop(resource)
    ]
    counted = in_order(name for name in nano if name in NATIVE or is_countable(name))
    return {resource: whole(resource, nano[resource]) for resource in counted}, notes


def _shortages(requested: Mapping[str, int], others: ActivePods, have: Mapping[str, int]) -> list[Shortage]:
    """Make the checks of 3.4 in their order."""
    result = []
    pods = have.get("pods", 0)
    if len(others) + 1 > pods:
        result.append(Shortage(resource="pods", requested=1, used=len(others), capacity=pods))
    for resource, amount in requested.items():
        capacity = have.get(resource, 0)
        used = others.used.get(resource, 0)
        if amount > 0 and amount > capacity - used:
            result.append(Shortage(resource=resource, requested=amount, used=used, capacity=capacity))
    return result


def _refusals(pod: Pod, others: ActivePods, node: NodeView, notes: list[str]) -> list[Refusal]:
    """Make the checks of 4.2 to 4.5; what cannot be judged goes to `notes` (6.5)."""
    result = []
    labels_unknown = node.labels is None and predicates.selects_labels(pod)
    name_unknown = node.name is None and predicates.selects_fields(pod)
    if labels_unknown:
        notes.append("node selector and node affinity: not judged, the machine does not say which labels the node has")
    if name_unknown or (node.name is None and pod.spec.get("nodeName")):
        notes.append("node name: not judged, the machine does not say what the node is called")
    judged = not labels_unknown and not name_unknown
    if judged and not predicates.matches_node(pod, node.labels or {}, node.name or ""):
        result.append(predicates.NODE_AFFINITY)
    if node.name is not None and pod.spec.get("nodeName") and pod.spec["nodeName"] != node.name:
        result.append(predicates.NODE_NAME)
    if predicates.ports_taken(pod, others):
        result.append(predicates.NODE_PORTS)
    if not pod.is_static and not predicates.tolerates(pod, node.taints):
        result.append(predicates.TAINT_TOLERATION)
    return result
