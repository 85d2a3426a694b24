"""Policy and scope by annotation: what a pod may choose, and that nobody listens unless asked to."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.errors import InputError
from numalign.kubelet.admission import Outcome, admit_in_order, open_session
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.proposals.per_pod import POLICY, SCOPE, Choice, choice
from numalign.kubelet.proposals.table import PER_POD_POLICY, with_proposals
from numalign.kubelet.releases.release import Kubelet
from numalign.kubelet.releases.table import LATEST
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod
from tests.kubelet.releases.test_releases import machine

ASKED = with_proposals(LATEST, [PER_POD_POLICY])


def pod(annotations: dict[str, str], *cpus: str) -> Pod:
    containers: list[dict[str, Any]] = [
        {"name": f"c{number}", "resources": {"limits": {"cpu": amount, "memory": "1Mi"}}}
        for number, amount in enumerate(cpus or ("1",))
    ]
    return read_pod(
        {"metadata": {"name": "p", "uid": "p", "annotations": annotations}, "spec": {"containers": containers}}
    )


def admit(one: Pod, policy: str, kubelet: Kubelet = ASKED, scope: str = "container") -> Outcome:
    config = KubeletConfig(policy, scope, cpu_manager_policy="static", eviction_hard={})
    session = open_session(Setup(machine(), config, "ideal", kubelet), fit_check=False)
    (outcome,) = admit_in_order(session, [one])
    return outcome


class TestReading:
    CASES: tuple[tuple[str, dict[str, str], Choice], ...] = (
        ("nothing said, the node decides", {}, Choice()),
        ("a policy for the pod", {POLICY: "restricted"}, Choice("restricted")),
        ("a policy of the feedback document", {POLICY: "proposed-strict"}, Choice("proposed-strict")),
        ("a scope", {SCOPE: "pod"}, Choice(None, "pod")),
        (
            "a container of its own",
            {POLICY: "best-effort, c1 = single-numa-node"},
            Choice("best-effort", None, (("c1", "single-numa-node"),)),
        ),
    )

    @pytest.mark.parametrize(("annotations", "chosen"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
    def test_row(self, annotations: dict[str, str], chosen: Choice) -> None:
        assert choice(pod(annotations, "1", "1")) == chosen

    WRONG: tuple[tuple[dict[str, str], str], ...] = (
        ({POLICY: "stict"}, "expected one of none, best-effort"),
        ({POLICY: ""}, "expected one of none, best-effort"),
        ({POLICY: "restricted,none"}, "the pod has two policies"),
        ({POLICY: "c0=none,c0=restricted"}, "c0 has two policies"),
        ({POLICY: "c9=none"}, "there is no container 'c9'"),
        ({POLICY: "c0=none", SCOPE: "pod"}, "in scope pod the pod has one policy"),
        ({SCOPE: "node"}, "expected one of container, pod, got 'node'"),
    )

    @pytest.mark.parametrize(("annotations", "text"), WRONG, ids=[case[1] for case in WRONG])
    def test_refuses(self, annotations: dict[str, str], text: str) -> None:
        with pytest.raises(InputError, match=text) as error:
            choice(pod(annotations))
        assert error.value.where.startswith("pod p: metadata.annotations[numalign/topology-")


class TestAdmission:
    """Nodes of four CPUs: five CPUs never fit one."""

    def test_a_pod_chooses_a_stricter_policy(self) -> None:
        assert admit(pod({}, "5"), "best-effort").admit
        refused = admit(pod({POLICY: "single-numa-node"}, "5"), "best-effort")
        assert (refused.admit, refused.reason) == (False, "TopologyAffinityError")
        assert refused.before.node.policy == "single-numa-node", "explanations speak of the pod's own policy"
        assert refused.then.node.policy == "best-effort", "the next pod finds the node's"

    def test_a_pod_chooses_to_be_left_alone(self) -> None:
        assert not admit(pod({}, "5"), "single-numa-node").admit
        assert admit(pod({POLICY: "none"}, "5"), "single-numa-node").admit

    def test_a_container_chooses(self) -> None:
        assert admit(pod({POLICY: "c0=single-numa-node"}, "4", "2"), "best-effort").admit
        refused = admit(pod({POLICY: "c1=single-numa-node"}, "3", "5"), "best-effort")
        assert (refused.admit, refused.result.container) == (False, "c1")

    def test_a_container_is_left_alone(self) -> None:
        admitted = admit(pod({POLICY: "c0=none"}, "5", "2"), "single-numa-node")

        assert admitted.admit
        assert admitted.result.hints["c0"] == (None, False)
        assert admitted.result.hints["c1"] == (0b10, True)

    def test_a_pod_chooses_the_scope(self) -> None:
        assert admit(pod({}, "3", "3"), "single-numa-node").admit
        assert not admit(pod({SCOPE: "pod"}, "3", "3"), "single-numa-node").admit
        assert admit(pod({SCOPE: "container"}, "3", "3"), "single-numa-node", scope="pod").admit

    def test_a_container_s_policy_means_scope_container(self) -> None:
        assert admit(pod({POLICY: "c0=single-numa-node"}, "3", "3"), "single-numa-node", scope="pod").admit

    def test_nobody_listens_unless_asked_to(self) -> None:
        assert admit(pod({POLICY: "single-numa-node", SCOPE: "nonsense"}, "5"), "best-effort", LATEST).admit
