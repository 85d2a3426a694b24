"""Refusals taken apart: at which stage, by which resources, for ever or only now."""

from __future__ import annotations

import pytest

from numalign.analysis.memory_together import Joint
from numalign.analysis.reasons.needed import effects
from numalign.analysis.refusal import refusal
from numalign.analysis.settings import GATES, MEMORY_POLICY, POLICY, TOPOLOGY_POLICY_OPTIONS
from numalign.analysis.situation import Situation, arrivals, with_amounts
from numalign.analysis.whatif.changes import changes
from numalign.analysis.whatif.past import moved, without
from numalign.analysis.whatif.tries import Tries
from numalign.kubelet.admission import admit
from numalign.kubelet.config import IDEAL, KubeletConfig
from numalign.kubelet.demand import NANO
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Device
from numalign.model.pod import Pod
from tests.analysis.support import GPU, PAGES, STATIC, config, limits, machine, outcome, pod, pod_of

MI, GI = 1 << 20, 1 << 30
CROSSED = (pod("left", 3), pod("right", 2, gpu=1))
"""On figure-1 they leave one CPU and the GPU of node 0, two CPUs of node 1."""


@pytest.mark.parametrize(
    ("settings", "before", "asked", "stage", "resources", "never"),
    [
        pytest.param(
            config("single-numa-node"), CROSSED, pod("p", 2, gpu=1), "merge", ["cpu", GPU], False, id="they never meet"
        ),
        pytest.param(
            config("single-numa-node"),
            CROSSED,
            pod("p", 1, gpu=2),
            "hints",
            [GPU],
            True,
            id="there are not enough left, and two never come from one node",
        ),
        pytest.param(
            config("single-numa-node"), (), pod("p", 6), "policy", ["cpu"], True, id="six CPUs are on no node of four"
        ),
        pytest.param(
            config("restricted"),
            (pod("left", 3), pod("right", 3)),
            pod("p", 2),
            "policy",
            ["cpu"],
            False,
            id="two CPUs are left, but on two nodes",
        ),
        pytest.param(
            config("restricted"), (), pod("p", 6, gpu=1), "policy", ["cpu", GPU], True, id="widths differ for ever"
        ),
        pytest.param(
            config("none"),
            (),
            pod("p", 1, gpu=3),
            "allocation",
            [GPU],
            True,
            id="without a policy the plugin has too few",
        ),
        pytest.param(
            config("none", **STATIC), (), pod("p", 1, "40Gi"), "allocation", ["memory"], True, id="memory is too small"
        ),
        pytest.param(config("none"), (), pod("p", 1, "40Gi"), "fit", [], True, id="the node as a whole is too small"),
        pytest.param(
            config("restricted", **STATIC),
            (),
            pod("p", 1, "1Gi", pages="1536Mi"),
            "policy",
            ["cpu", PAGES],
            True,
            id="of memory and huge pages the wider one counts",
        ),
        pytest.param(
            config("single-numa-node", **STATIC),
            (pod("left", 1, pages="1Gi"), pod("right", 1, "14848Mi")),
            pod("p", 1, "1Gi", pages="512Mi"),
            "allocation",
            ["memory", PAGES],
            False,
            id="memory is on node 0 and huge pages on node 1",
        ),
        pytest.param(
            config("none", cpu_manager_policy_options={"full-pcpus-only": "true"}),
            (),
            pod("p", 9),
            "allocation",
            ["cpu"],
            True,
            id="nine CPUs of eight",
        ),
    ],
)
def test_stage_and_culprits(
    settings: KubeletConfig, before: tuple[Pod, ...], asked: Pod, stage: str, resources: list[str], never: bool
) -> None:
    situation = Situation(Setup(machine("figure-1"), settings, "ideal"), past=arrivals(before))
    refused = admit(situation.session(), asked)
    assert not refused.admit
    found = refusal(refused)
    assert (found.stage, [row.resource for row in found.culprits], found.never) == (stage, resources, never)
    assert (found.reason, found.message) == (refused.reason, refused.message)


def test_where_the_managers_cannot_be_asked_nothing_is_in_the_way() -> None:
    """Under policy none nobody asks for hints; the Memory Manager would fall over what node 1 does not know."""
    one, other = machine("figure-1").numa_nodes
    uneven = machine("figure-1")._replace(numa_nodes=(one, other._replace(hugepages={})))
    refused = outcome(config("none", **STATIC), pod("p", 9, pages="2Mi"), on=uneven, fit_check=False)
    found = refusal(refused)
    assert (refused.result.provider, found.stage, found.culprits, found.matrix) == ("cpu", "allocation", (), None)


def test_memory_that_one_node_would_have_is_refused_for_what_else_is_asked_of_it() -> None:
    """Node 0 has the memory, node 1 the pages of 2 Mi, each a page of 1 Gi: all that is asked of memory is named."""
    one, other = machine("figure-1").numa_nodes
    first = one._replace(memory=16 * GI, hugepages={"2Mi": 2 * MI, "1Gi": GI})
    second = other._replace(memory=3 * GI, hugepages={"2Mi": GI, "1Gi": GI})
    on = machine("figure-1")._replace(numa_nodes=(first, second))
    asked = pod_of("p", app={**limits(1, "4Gi", pages="512Mi"), "hugepages-1Gi": "1Gi"})
    found = refusal(outcome(config("single-numa-node", **STATIC), asked, on=on, fit_check=False))
    assert [row.resource for row in found.culprits] == ["memory", "hugepages-1Gi", PAGES]
    assert found.around.joint == Joint(("memory", PAGES), 2), "two of them are enough to need both nodes"


def test_a_device_that_is_called_as_cpus_are_is_in_the_way_alone() -> None:
    name = "acme.com/cpus"
    on = machine("figure-1")._replace(devices={name: (Device("0", (0,)),)})
    refused = outcome(config("none"), pod_of("p", app={**limits(1), name: "2"}), on=on, fit_check=False)
    assert [row.resource for row in refusal(refused).culprits] == [name]


def test_where_no_mask_holds_a_node_what_is_free_decides() -> None:
    """Under policy none, the only one that such a machine knows (docs/rules/topology-manager.md 2.3)."""
    one, other = machine("figure-1").numa_nodes
    negative = machine("figure-1")._replace(numa_nodes=(one, other._replace(id=-1)))
    refused = outcome(config("none"), pod("p", 9, gpu=1), on=negative, fit_check=False)
    found = refusal(refused)
    assert [row.resource for row in found.culprits] == ["cpu"]
    assert found.matrix is not None
    assert found.matrix.nodes == (-1, 0)
    assert [[cell.free for cell in row.cells] for row in found.matrix.rows] == [[4, 4], [0, 1]]


def test_a_pod_that_will_never_fit_tells_what_an_empty_machine_lacks_where_that_differs() -> None:
    situation = Situation(Setup(machine("figure-1"), config("single-numa-node"), "ideal"), past=arrivals(CROSSED))
    found = refusal(admit(situation.session(), pod("p", 6, gpu=1, nic=2)))
    assert found.never
    assert [row.resource for row in found.culprits] == ["cpu"]
    assert found.stage == "hints"
    assert found.empty is not None
    assert found.empty.stage == "policy"


def test_the_fewest_pods_go_and_the_youngest_of_those() -> None:
    """Node 0 has four pods of one CPU, node 1 one of four: for three CPUs one is enough."""
    there = (*(pod(name) for name in ("first", "second", "third", "fourth")), pod("whole", 4))
    situation = Situation(Setup(machine("figure-1"), config("single-numa-node"), "ideal"), past=arrivals(there))
    session = situation.session()
    found = moved(session, pod("p", 3))
    assert found is not None
    assert found.fewest
    assert [one.name for one in found.pods] == ["whole"]


def test_among_many_pods_a_set_is_found_that_none_can_be_left_out_of() -> None:
    """Sixty pods of four CPUs on eight nodes: six have to go from one node, more than are tried one by one."""
    there = tuple(pod(f"p{number}", 4) for number in range(60))
    situation = Situation(Setup(machine("xeon-8s"), config("single-numa-node"), "ideal"), past=arrivals(there))
    session, asked = situation.session(), pod("p", 28)
    found = moved(session, asked)
    assert found is not None
    assert not found.fewest
    assert admit(without(session, found.pods), asked).admit
    for kept in found.pods:
        assert not admit(without(session, [one for one in found.pods if one != kept]), asked).admit


def test_the_largest_request_is_the_largest() -> None:
    situation = Situation(
        Setup(machine("figure-1"), config("single-numa-node"), "ideal"), past=arrivals((pod("left", 3),))
    )
    session, asked = situation.session(), pod("p", 7)
    [change] = [one for one in changes(Tries(situation, admit(session, asked))) if one.kind == "request"]
    assert change.amounts == {("app", "cpu"): 4 * NANO}
    assert not admit(session, with_amounts(asked, {("app", "cpu"): 5 * NANO})).admit


def test_a_limit_that_equals_the_request_goes_along_and_another_stays() -> None:
    spec = {
        "containers": [
            {"name": "app", "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "4", "memory": "1Gi"}}}
        ]
    }
    changed = with_amounts(
        read_pod({"metadata": {"name": "p"}, "spec": spec}), {("app", "cpu"): NANO, ("app", "memory"): 2 * NANO}
    )
    [container] = changed.containers
    assert container.requests["cpu"].nano == NANO
    assert container.limits["cpu"].nano == 4 * NANO
    assert container.requests["memory"] == container.limits["memory"]


def test_what_a_status_says_of_a_class_is_over_with_the_amounts() -> None:
    """A Burstable pod with limits of all it asks for becomes Guaranteed where the requests grow to them."""
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "1Gi"}}
    spec = {"containers": [{"name": "app", "resources": resources}]}
    asked = read_pod({"metadata": {"name": "p"}, "spec": spec, "status": {"qosClass": "Burstable"}})
    asked = asked._replace(status=asked.status._replace(qos="Burstable"))
    changed = with_amounts(asked, {("app", "cpu"): 2 * NANO})
    assert (changed.qos, changed.status.qos) == ("Guaranteed", None)
    assert with_amounts(asked, {}).status.qos == "Burstable"


@pytest.mark.parametrize(
    ("flag", "text", "told"),
    [
        (POLICY, "restricted", True),
        (POLICY, "single-numa-node", False),
        (MEMORY_POLICY, "None", True),
        (MEMORY_POLICY, "Static", False),
        (TOPOLOGY_POLICY_OPTIONS, "max-allowable-numa-nodes=9", False),
        (TOPOLOGY_POLICY_OPTIONS, "prefer-closest-numa-nodes=true", True),
        (GATES, "CPUManagerPolicyAlphaOptions=true", False),
    ],
)
def test_what_a_setting_does_to_a_pod_is_told_unless_it_is_stricter_than_all_or_only_lets_others_in(
    flag: str, text: str, told: bool
) -> None:
    assert bool([*effects({flag: text}, IDEAL)]) is told
