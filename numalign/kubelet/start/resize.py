"""A running pod that asks for other amounts: in-place resize beside exclusive CPUs and pinned memory.

docs/rules/kubelet-files.md 80 and 81.
"""

from __future__ import annotations

from collections.abc import Mapping

from numalign.kubelet import node as twin
from numalign.kubelet.demand import PodDemand
from numalign.kubelet.node import Node, NodeState
from numalign.kubelet.topology.hints import TopologyHint
from numalign.model.pod import Pod
from numalign.model.quantity import Quantity
from numalign.values import NamedTuple

_EXCLUSIVE = (
    ("cpu", "InPlacePodVerticalScalingExclusiveCPUs", "CPU Manager", "static"),
    ("memory", "InPlacePodVerticalScalingExclusiveMemory", "Memory Manager", "Static"),
)
"""Resource, the gate that allows to resize it, whose policy forbids it without, and which."""


class Resized(NamedTuple):
    """What a kubelet says of new amounts."""

    state: NodeState
    changed: bool = True
    admit: bool = False
    reason: str = ""
    message: str = ""
    stage: str = ""
    """`hang` or `panic` where the kubelet does not survive."""
    hints: Mapping[str, TopologyHint] = {}
    """Container -> the hint that it has from now on, also where one behind it was refused."""


def resize(node: Node, state: NodeState, before: Pod, pod: Pod, demand: PodDemand) -> Resized:
    """Judge a pod of the node that asks for other amounts; what it holds stays as it is.

    Args:
        node: the kubelet.
        state: what pods hold.
        before: the pod as it was admitted.
        pod: the pod as it is wanted.
        demand: what that asks of the managers.
    """
    if _amounts(before) == _amounts(pod):
        return Resized(state, changed=False)
    for resource, gate, manager, policy in _EXCLUSIVE:
        of = node.cpu.policy if resource == "cpu" else node.memory.policy
        if (
            pod.qos == "Guaranteed"
            and of == policy
            and not node.gate(gate)
            and _of(before, resource) != _of(pod, resource)
        ):
            message = f'Resize is infeasible for Guaranteed Pods alongside {manager} policy "{policy}"'
            return Resized(state, reason="Infeasible", message=message)
    after, result = twin.admit(node, state, demand)
    if not result.admit:
        # What containers before the refused one got stays; the pod goes on with the amounts that it had.
        kept = after._replace(pods=state.pods, leftovers=state.leftovers)
        return Resized(kept, reason=result.reason, message=result.message, stage=result.stage, hints=result.hints)
    return Resized(after, admit=True, hints=result.hints)


def _amounts(pod: Pod) -> list[object]:
    return [(one.name, _numbers(one.requests), _numbers(one.limits)) for one in pod.containers]


def _numbers(amounts: Mapping[str, Quantity]) -> Mapping[str, int]:
    return {resource: amount.nano for resource, amount in amounts.items()}


def _of(pod: Pod, resource: str) -> list[object]:
    return [(one.name, _numbers(one.requests).get(resource)) for one in pod.containers]
