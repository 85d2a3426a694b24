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
from tests.conformance.sched import pod as read
from tests.kubelet.regular import regular
from tests.scheduler.nrt.nodes import guaranteed, static, with_pods

SETUP = static(regular(), topology_manager_policy="single-numa-node")
SESSION = open_session(SETUP)
FULL = with_pods(SETUP, [guaranteed(name, {"cpu": "6", "memory": "1Gi"}) for name in "qr"])
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


def test_a_node_that_is_not_known_is_judged_by_its_object() -> None:
    """Its kubelet judges it, as nothing is published of it; where nobody can make a node of it, it passes unjudged."""
    other = ClusterNode("other", TOTALS, SESSION, "exact")
    known = Extender([NODE], unknown=lambda thing: other if thing["of"] == "known hardware" else None)
    things = {"new": {"of": "known hardware"}, "odd": {"of": "nothing known"}}

    found = known.filter(asked("9"), ["n", "new", "odd", "nobody"], objects=things)

    assert (found.passed, found.unknown, found.judged, len(known)) == (("odd", "nobody"), 2, 2, 1)
    assert found.unresolvable["new"].startswith("TopologyAffinityError: ")
    assert known.filter(asked("8500m"), ["new"], objects=things).passed == ("new",)


def test_a_node_without_a_known_kubelet_is_judged_by_its_object() -> None:
    extender = Extender([NODE._replace(session=None)], judge="kubelet")
    assert extender.filter(asked("4"), ["n"]).passed == ("n",)
    assert extender.filter(asked("9"), ["n"]).unresolvable["n"].startswith("cannot align container")
    assert Extender([NODE._replace(session=None, nrt=None)]).filter(asked("9"), ["n"]).passed == ("n",)


def test_old_data_of_a_node_matter_to_pods_that_the_plugin_looks_at() -> None:
    nothing, old = read({"containers": [{"name": "c"}]}, "p"), frozenset({"n"})
    found = [Extender([NODE], judge="nrt").filter(pod, ["n"], old).passed for pod in (asked("4"), nothing)]
    assert found == [(), ("n",)]


@pytest.mark.parametrize(
    ("node", "pod"),
    [
        pytest.param(NODE, read({"containers": [{"name": "c"}]}, "p"), id="a pod that the plugin passes unseen"),
        pytest.param(NODE._replace(session=None, nrt=None), asked("9"), id="a node of which nothing is published"),
    ],
)
def test_where_nothing_is_looked_at_nothing_is_judged(node: ClusterNode, pod: Pod) -> None:
    found = Extender([node]).filter(pod, ["n"])
    assert (found.passed, found.judged, found.unaligned, found.unknown) == (("n",), 0, 0, 0)


def test_nodes_that_look_alike_are_judged_once() -> None:
    alike, less = NODE._replace(name="m"), NODE._replace(name="o", nrt=export(FULL, "o"))
    extender = Extender([NODE, alike, less])
    assert extender.filter(asked("4"), ["n", "m", "o"]).passed == ("n", "m")
    assert len(extender) == 3


def test_a_kubelet_without_a_view_of_its_node_judges_by_its_numa_nodes_alone() -> None:
    assert FULL.view is None
    full = Extender([NODE._replace(session=FULL)], judge="kubelet")
    assert full.filter(asked("2"), ["n"]).passed == ("n",)
    assert full.filter(asked("3"), ["n"]).failed["n"].startswith("TopologyAffinityError: ")


def test_the_kubelet_s_answer_is_told_and_counted() -> None:
    found = answer("kubelet", asked("9"))
    assert found.unresolvable["n"].startswith("TopologyAffinityError: ")
    assert (found.judged, found.unaligned, found.unknown) == (1, 1, 0)
