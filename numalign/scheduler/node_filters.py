"""kube-scheduler's filters that ask nothing of NUMA nodes: labels, taints, nodes that take no pods, then room."""

from __future__ import annotations

from typing import Final

from numalign.kubelet.fit import predicates
from numalign.model.machine import Taint
from numalign.model.pod import Pod
from numalign.scheduler import node_fit
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.request import NodeLoad
from numalign.scheduler.verdict import PASS, Verdict

UNSCHEDULABLE: Final = "node(s) were unschedulable"
UNSCHEDULABLE_TAINT: Final = "node.kubernetes.io/unschedulable"
WRONG_NAME: Final = "node(s) didn't match the requested node name"
WRONG_LABELS: Final = "node(s) didn't match Pod's node affinity/selector"
EFFECTS: Final = ("NoSchedule", "NoExecute")


def check_node(node: ClusterNode, pod: Pod, load: NodeLoad) -> Verdict:
    """Decide whether kube-scheduler's default filters let a pod onto a node, in its own words."""
    allowed = allows(node, pod)
    return node_fit.check_totals(node.totals, load) if allowed.passed else allowed


def allows(node: ClusterNode, pod: Pod) -> Verdict:
    """Decide whether name, labels and taints of a node allow a pod, whatever room there is."""
    wanted = pod.spec.get("nodeName")
    if wanted and wanted != node.name:
        return Verdict(False, WRONG_NAME)

    if node.unschedulable and not predicates.tolerates(pod, [Taint(UNSCHEDULABLE_TAINT, "", "NoSchedule")], EFFECTS):
        return Verdict(False, UNSCHEDULABLE)
    if not predicates.matches_node(pod, node.labels, node.name):
        return Verdict(False, WRONG_LABELS)
    for taint in node.taints:
        if not predicates.tolerates(pod, [taint], EFFECTS):
            return Verdict(False, f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}")
    return PASS
