"""Answers of a published release that rest on a rule which was only concluded (docs/rules/kubelet-1.37.md, rules C)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.kubelet.admission import Outcome, admit, open_session
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.inferred import CODE
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.cpuset import parse
from tests.kubelet.cpu.support import DISTNUMA, TEN_NODES

E9 = ",".join(f"{5 * node + (node > 3)}-{5 * node + 4}" for node in range(10))
LIMITS = {"limits": {"cpu": "20", "memory": "1Gi"}}


def came(release: tuple[int, int], free: str = "0-49", *options: str, **more: Any) -> Outcome:
    config = KubeletConfig(
        cpu_manager_policy="static",
        cpu_manager_policy_options=dict.fromkeys(options, "true"),
        feature_gates={"CPUManagerPolicyAlphaOptions": True},
        eviction_hard={},
    )
    session = open_session(Setup(TEN_NODES, config, "ideal", kubelet(release)), fit_check=False)
    device, _, memory = session.state.states
    session = session._replace(state=session.state._replace(states=(device, CPUState(parse(free)), memory)))
    shares = {"name": "d", "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}}}
    containers = [{"name": "c", "resources": LIMITS}, *([shares] if more.pop("shared", False) else [])]
    manifest = {"metadata": {"name": "p", **more}, "spec": {"containers": containers}}
    if "annotations" in more:
        manifest["spec"]["resources"] = LIMITS
    return admit(session, read_pod(manifest))


def codes(outcome: Outcome) -> list[str]:
    """What is told, of the pod alone."""
    assert {notice.path for notice in outcome.notices} <= {"p"}
    return [notice.code for notice in outcome.notices]


def test_a_hang_that_nobody_has_reported_is_told_as_possible() -> None:
    older, newer = came((1, 36), E9, DISTNUMA), came((1, 37), E9, DISTNUMA)

    assert codes(came((1, 37), E9, DISTNUMA, shared=True)) == codes(newer)
    assert older.stage == "allocate"
    assert CODE not in codes(older)
    assert newer.stage == "hang"
    assert "may hang" in newer.notices[-1].message
    assert codes(newer) == ["kubelet-hang", CODE]


@pytest.mark.parametrize("options", [(), (DISTNUMA,), (DISTNUMA, "align-by-socket")])
def test_an_answer_that_rests_on_no_such_rule_is_told_plainly(options: tuple[str, ...]) -> None:
    assert codes(came((1, 37), "0-49", *options)) == []


def test_a_static_pod_gets_no_defaults_which_is_concluded() -> None:
    source = {"kubernetes.io/config.source": "file"}

    assert CODE in codes(came((1, 37), annotations=source))
    assert CODE not in codes(came((1, 36), annotations=source))
