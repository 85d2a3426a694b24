"""The extender's verdicts: the plugin's, or that of the kubelet whose node is known."""

from __future__ import annotations

import pytest

from numalign.kubelet.admission import open_session
from numalign.model.machine import Taint
from numalign.model.pod import Pod
from numalign.scheduler.extender import Extender, FilterAnswer, Judge
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.export import export
from tests.conformance.sched import amounts
from tests.kubelet.regular import regular
from tests.scheduler.nrt.nodes import guaranteed, static

SESSION = open_session(static(regular(), topology_manager_policy="single-numa-node"))
TOTALS = NodeTotals(amounts({"cpu": "16", "memory": "100Gi", "pods": "10"}), {}, 0)
NODE = ClusterNode("n", TOTALS, SESSION, "exact", export(SESSION, "n"))


def asked(cpus: str) -> Pod:
    return guaranteed("p", {"cpu": cpus, "memory": "1Gi"})


def answer(judge: Judge, pod: Pod) -> FilterAnswer:
    return Extender([NODE], judge=judge).filter(pod, ["n"])


@pytest.mark.parametrize(
    ("judge", "cpus", "passes"),
    [
        pytest.param("kubelet", "4", True, id="the kubelet admits it"),
        pytest.param("kubelet", "8500m", True, id="the kubelet pins no CPU of it"),
        pytest.param("nrt", "8500m", False, id="the plugin looks for them on one NUMA node"),
        pytest.param("kubelet", "9", False, id="no NUMA node has so many"),
    ],
)
def test_who_judges(judge: Judge, cpus: str, passes: bool) -> None:
    assert bool(answer(judge, asked(cpus)).passed) is passes


def test_what_kube_scheduler_judges_itself_is_not_judged_again() -> None:
    """The node has no such label, and a taint that the pod does not tolerate."""
    assert SESSION.view is not None
    view = SESSION.view._replace(name="n", labels={"disk": "slow"}, taints=(Taint("gpu", "yes", "NoExecute"),))
    nodes = [NODE._replace(session=SESSION._replace(view=view))]
    elsewhere = asked("4")._replace(spec={"nodeSelector": {"disk": "fast"}, "nodeName": "m"})
    assert Extender(nodes, judge="kubelet").filter(elsewhere, ["n"]).passed == ("n",)


def test_the_kubelet_s_answer_is_told_and_counted() -> None:
    found = answer("kubelet", asked("9"))
    assert found.unresolvable["n"].startswith("TopologyAffinityError: ")
    assert (found.judged, found.unaligned, found.unknown) == (1, 1, 0)
