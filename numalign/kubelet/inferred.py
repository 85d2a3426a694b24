"""Which answers rest on a rule that was only concluded from what is published of a release.

docs/rules/kubelet-1.37.md marks such rules with a C: 3.3 and 3.4 (shares that are lowered late, and hangs), 4.2 (static
pods). Whether an answer rests on one is found out by deciding again without it, where it may matter at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from numalign.errors import Notice
from numalign.kubelet import node as twin
from numalign.kubelet.cpu.manager import distribute_once
from numalign.kubelet.demand import PodDemand
from numalign.kubelet.node import AdmitResult, Node, NodeState
from numalign.kubelet.releases.release import version_text
from numalign.model.pod import Pod

CODE = "inferred"


def inferred(
    node: Node, before: NodeState, after: NodeState, pod: Pod, demand: PodDemand, result: AdmitResult
) -> Iterator[Notice]:
    """Warn where a decision of a release that is known from published changes alone rests on such a rule.

    Args:
        node: the node.
        before: what the pod found.
        after: the state after the decision.
        pod: the pod as the kubelet sees it.
        demand: what it asks.
        result: the decision.
    """
    release = version_text(node.kubelet.version)
    if pod.is_static and pod.level is not None:
        text = (
            f"that kubelet {release} fills in no pod-level defaults of a static pod is concluded, not stated anywhere"
        )
        yield Notice(CODE, text, pod.name)
    if not (node.cpu.options.distribute_cpus_across_numa and any(one.cpus for one in demand.containers)):
        return
    if result.stage == "hang":
        text = f"kubelet {release} may hang here: concluded from its published changes, no report exists"
        yield Notice(CODE, text, pod.name)
    elif _decided_otherwise(node, before, after, demand, result):
        text = f"which CPUs kubelet {release} takes here is concluded from its published changes, not checked"
        yield Notice(CODE, text, pod.name)


def _decided_otherwise(node: Node, before: NodeState, after: NodeState, demand: PodDemand, result: AdmitResult) -> bool:
    """Tell whether the kubelet would decide otherwise if it did not lower shares late."""
    device, (provider, manager), memory = node.topology.providers
    once = provider, manager._replace(distribute=distribute_once)
    without = node._replace(topology=node.topology._replace(providers=(device, once, memory)))
    state, other = twin.admit(without, before, demand)
    return (other.admit, other.message, state.cpu) != (result.admit, result.message, after.cpu)
